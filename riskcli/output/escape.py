"""Names come from strangers: escaped for each output, so that they cannot inject commands."""

import re
from base64 import b64encode
from hashlib import sha256
from html import escape

_CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff"
    r"\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]"
)
"""What cannot be seen, or told from a blank, is spelled: names that differ must look different."""
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~&$!]|(?<!\w)@)")


def visible(text: str) -> str:
    """The text with control characters spelled out, so that a terminal only shows them."""
    return _CONTROL.sub(lambda match: _spelled(match[0]), text)


def all_visible(texts: list[str]) -> list[str]:
    """`visible` for many texts at once."""
    if _CONTROL.search("".join(texts)) is None:
        return texts
    return [visible(text) for text in texts]


def without_controls(text: str) -> str:
    """Lines and columns of text as they are, other control characters spelled out."""
    return _CONTROL.sub(lambda m: m[0] if m[0] in "\n\t" else _spelled(m[0]), text)


def _spelled(character: str) -> str:
    code = ord(character)
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def markdown(text: str) -> str:
    """The text as a Markdown table cell shows it."""
    return _MARKDOWN.sub(r"\\\1", visible(text))


_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"{\char34}",
    "`": r"\textasciigrave{}", "[": "{[}", "]": "{]}", "*": "{*}",
    **{character: f"\\{character}" for character in "{}$&%#_"},
}  # fmt: skip
"""Brackets and stars too: at the start of a row, `\\\\` would take them for its own argument."""
_LATEX_SYMBOLS = {
    "α\u0302": r"$\hat{\alpha}$", "α": r"$\alpha$", "γ": r"$\gamma$", "δ": r"$\delta$",
    "τ": r"$\tau$", "χ": r"$\chi$", "Φ": r"$\Phi$", "Σ": r"$\Sigma$", "√": r"$\surd$",
    "·": r"$\cdot$", "×": r"$\times$", "≥": r"$\geq$", "≤": r"$\leq$", "±": r"$\pm$",
    "∞": r"$\infty$", "−": "$-$", "⁻": "$^{-}$", "–": "--", "—": "---", "…": r"\ldots{}",
    "▲": r"$\uparrow$", "▼": r"$\downarrow$", "◆": r"$\diamond$", "†": r"$^{\dagger}$",
    "‡": r"$^{\ddagger}$", "→": r"$\rightarrow$", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
    "⋯": r"$\cdots$", "●": r"$\bullet$", "─": "--",
}  # fmt: skip
_LATEX = re.compile("|".join(map(re.escape, (*_LATEX_SYMBOLS, *_LATEX_SPECIAL))))
_LIGATURE = re.compile(r"(?<=([-',]))(?=\1)")
_BEYOND_LATEX = re.compile(r"[^\x00-\u017f]")


def latex(text: str) -> str:
    """The text as LaTeX prints it, in whatever font encoding; symbols of our own as mathematics."""
    known = {**_LATEX_SPECIAL, **_LATEX_SYMBOLS}
    parted = _LIGATURE.sub("\0", visible(text))
    return _LATEX.sub(lambda match: known[match[0]], parted).replace("\0", "{}")


_MATHEMATICS = re.compile(r"(?<!\\)(\$[^$]+\$)")


def latex_with_mathematics(text: str) -> str:
    """`latex` for a text in which `$...$` is mathematics, as in a caption of one's own."""
    parts = _MATHEMATICS.split(text)
    return "".join(part if i % 2 else latex(part) for i, part in enumerate(parts))


def beyond_latex(text: str) -> bool:
    """Whether escaped text holds letters that only LuaLaTeX and XeLaTeX can print."""
    return _BEYOND_LATEX.search(text) is not None


def html(text: str) -> str:
    """The text as an HTML element or a quoted attribute shows it."""
    return escape(visible(text), quote=True)


def script_json(data: str) -> str:
    """JSON that can stand within a script element: nothing in it ends the element or begins one."""
    for character in "<>&":
        data = data.replace(character, f"\\u{ord(character):04x}")
    return data


def source_hash(text: str) -> str:
    """The name of a script or style in a Content-Security-Policy."""
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def github(text: str) -> str:
    """The text as a message of GitHub's workflow commands."""
    return visible(text).replace("%", "%25")


def annotation(level: str, message: str, **properties: str | int | None) -> str:
    """A finding beside the line it speaks of: an error, warning or notice in a GitHub job's log."""
    named = ",".join(
        f"{name}={github(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in properties.items()
        if value is not None
    )
    return f"::{level} {named}::{github(message)}"
