"""Names are hostile: each output gets them in a form that it cannot take for an order."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~&$!@:])")


def visible(text: str) -> str:
    """The text with control characters spelled out, so that a terminal only shows them."""
    return _CONTROL.sub(lambda match: _spelled(match[0]), text)


def _spelled(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def markdown(text: str) -> str:
    """The text as a Markdown table cell shows it."""
    return _MARKDOWN.sub(r"\\\1", visible(text))
