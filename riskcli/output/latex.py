r"""Tables for a paper: LaTeX with booktabs, as it is pasted into one.

A float holds what is needed to read it: its key is below each table. Ranks have columns of their
own, marks are daggers. A table that fits a column of text is a `table`, a wider one a `table*`; one
of very many rows is a `longtable`, for which a page of two columns is left and taken up again. What
may be wider than the text (LNCS's is the narrowest in use) is shrunk where it is, and only there.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from riskcli.core.messages import UsageError
from riskcli.output import escape
from riskcli.output.display import MARKS, Cell, Column, Display, Mark, key, with_marks, within

COLUMN_WIDTH = 46
"""Characters that fit one of two columns of text, in small type."""
LONG = 45
"""Rows that fit a page."""
_SURE_IN_COLUMN = 38
_SURE_ON_PAGE = 64
"""Characters that fit whatever the class: what is wider may have to be shrunk."""
_LONG_WIDTH = 72
"""Characters of a longtable, which cannot be shrunk: columns and names give way."""
_SENTENCE = 32
"""Texts that are longer get a column that breaks lines."""
_SIGNS: dict[str, str] = {
    "†": r"$^{\dagger}$", "‡": r"$^{\ddagger}$", "▲": r"$^{\blacktriangle}$",
    "▼": r"$^{\blacktriangledown}$",
}  # fmt: skip
_MINUS = re.compile(r"(?:(?<=[\s\[(])|^)-(?=[\d∞])")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_LABEL = re.compile(r"[A-Za-z0-9:._/+-]+")
_ENGINE = "% some names hold letters that only LuaLaTeX or XeLaTeX can print"


def as_latex(displays: Sequence[Display], label: str | None = None, siunitx: bool = False) -> str:
    """A table environment for each display; further ones have -2, -3, ... at their label."""
    if label is not None and not _LABEL.fullmatch(label):
        raise UsageError(f"label is {label!r}, expected letters, digits and : . _ / + -")
    tables = []
    for number, display in enumerate(displays, start=1):
        own = f"{label}-{number}" if label and number > 1 else label
        tables.append("\n".join(_Table(display, own, siunitx).lines()))
    text = "\n\n".join(tables)
    return "\n".join([*_needs(text), text, ""])


def _needs(text: str) -> Iterator[str]:
    """What the preamble must have, as comments."""
    packages = {
        "booktabs": r"\toprule", "longtable": r"{longtable}", "amssymb": r"\blacktriangle",
        "graphicx": r"\resizebox", "siunitx": "S[table-format",
    }  # fmt: skip
    wanted = [name for name, sign in packages.items() if sign in text]
    yield f"% needs \\usepackage{{{','.join(wanted) or 'booktabs'}}}"
    if escape.beyond_latex(text):
        yield _ENGINE


class _Table:
    def __init__(self, display: Display, label: str | None, siunitx: bool) -> None:
        self.long = len(display.rows) > LONG
        if self.long:
            display = within(display, _LONG_WIDTH)
        self.display = display
        self.label = label
        self.marks = MARKS[display.marks or "daggers"]
        self.columns = [_Column(column, self.marks, siunitx) for column in display.columns]

    def lines(self) -> Iterator[str]:
        """The float, or the table that runs over pages; what it says is the author's to write."""
        yield from (f"% {escape.visible(sentence)}" for sentence in self.display.verdict)
        if self.long:
            yield from self._long()
            return
        wide = self.display.width()
        kind = "table" if wide <= COLUMN_WIDTH else "table*"
        shrunk = wide > (_SURE_IN_COLUMN if kind == "table" else _SURE_ON_PAGE)
        yield rf"\begin{{{kind}}}"
        yield r"\centering"
        yield from self._caption()
        if self.display.rows:
            yield r"\small"
            if shrunk:
                yield r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
            yield rf"\begin{{tabular}}{{{self._format()}}}"
            yield from self._head()
            yield from self._body()
            yield r"\end{tabular}" + ("}" if shrunk else "")
        yield from self._notes(r"\linewidth")
        yield rf"\end{{{kind}}}"

    def _long(self) -> Iterator[str]:
        yield r"\makeatletter\if@twocolumn\onecolumn\let\riskevalback\twocolumn"
        yield r"\else\let\riskevalback\relax\fi\makeatother"
        size = "footnotesize" if self.display.width() <= _SURE_ON_PAGE else "scriptsize"
        yield rf"\begingroup\{size}\setlength{{\tabcolsep}}{{2pt}}"
        yield rf"\begin{{longtable}}{{{self._format()}}}"
        caption = "".join(self._caption())
        if caption:
            yield caption + r" \\"
        yield from self._head()
        yield r"\endhead"
        yield from self._body()
        yield r"\end{longtable}"
        yield r"\endgroup"
        yield from self._notes(r"\linewidth")
        yield r"\riskevalback"

    def _caption(self) -> Iterator[str]:
        lead = escape.latex_with_mathematics(self.display.lead)
        parts = [part for part in (lead, escape.latex(self.display.title)) if part]
        if parts:
            yield rf"\caption{{{': '.join(parts)}}}"
        if self.label:
            yield rf"\label{{{self.label}}}"

    def _format(self) -> str:
        return f"@{{}}{''.join(column.format for column in self.columns)}@{{}}"

    def _head(self) -> Iterator[str]:
        """The headings; above them, over all the columns that share it, a group's name."""
        yield r"\toprule"
        upper = [(column.group, column.count) for column in self.columns]
        if any(text for text, _ in upper):
            spans = [
                (text, sum(count for _, count in same))
                for text, same in groupby(upper, key=lambda pair: pair[0])
            ]
            yield _line(
                rf"\multicolumn{{{width}}}{{c}}{{{escape.latex(text)}}}" for text, width in spans
            )
            yield _rules(spans)
        yield _line(column.heading for column in self.columns)
        yield r"\midrule"

    def _body(self) -> Iterator[str]:
        for row in zip(*(column.cells for column in self.columns), strict=True):
            yield _line(row)
        yield r"\bottomrule"

    def _notes(self, width: str) -> Iterator[str]:
        """What the table says of itself, below it."""
        lines = [*self.display.caption, *key(self.display)]
        if lines:
            marks = self.display.marks or "daggers"
            yield r"\par\smallskip"
            yield rf"\noindent\parbox{{{width}}}{{\footnotesize\raggedright"
            yield "\n".join(_signed(escape.latex(with_marks(line, marks))) for line in lines) + "}"


def _signed(text: str) -> str:
    for sign, command in _SIGNS.items():
        text = text.replace(sign, command)
    return text


class _Column:
    """A column as LaTeX has it: one, or two where ranks stand beside the values."""

    def __init__(self, column: Column, marks: dict[Mark, str], siunitx: bool) -> None:
        heading = column.heading
        self.group = heading.text.rpartition("\n")[0].replace("\n", " ")
        self.count = 2 if heading.ranked else 1
        self._marks, self._heading = marks, heading
        self._aligned = siunitx and not heading.left and any(map(_is_number, column.cells))
        value = self._number_format(column) if self._aligned else self._text_format(column)
        self.format = rf"{value}@{{\hspace{{.35em}}}}r" if heading.ranked else value
        self.heading = self._shown_heading()
        self.cells = [self._shown(cell) for cell in column.cells]

    def _text_format(self, column: Column) -> str:
        if not self._heading.left:
            return "r"
        longest = max(map(len, column.texts), default=0)
        return "l" if column.heading.names or longest <= _SENTENCE else r"p{.42\linewidth}"

    def _number_format(self, column: Column) -> str:
        numbers = [cell.text for cell in column.cells if _is_number(cell)]
        whole = max(len(text.lstrip("-").partition(".")[0]) for text in numbers)
        decimals = max(len(text.partition(".")[2]) for text in numbers)
        minus = "-" if any(text.startswith("-") for text in numbers) else ""
        after = (
            rf",table-space-text-post={{{self._sign('better')}}}" if column.heading.marked else ""
        )
        return f"S[table-format={minus}{whole}.{decimals}{after}]"

    def _sign(self, mark: Mark) -> str:
        return _SIGNS.get(self._marks[mark], "")

    def _shown_heading(self) -> str:
        text = escape.latex(self._heading.text.rpartition("\n")[2])
        if self._aligned:
            text = f"{{{text}}}"
        elif self._heading.marked:
            text += rf"\phantom{{{self._sign('better')}}}"
        return text + r" & {\scriptsize\#}" if self._heading.ranked else text

    def _shown(self, cell: Cell) -> str:
        text = self._number(cell) if self._aligned else self._text(cell)
        if self._heading.ranked:
            rank = "" if cell.rank is None else str(cell.rank)
            text += rf" & {{\scriptsize {rank}}}"
        return text

    def _text(self, cell: Cell) -> str:
        text = cell.text if self._heading.left else _MINUS.sub("−", cell.text)
        shown = escape.latex(text)
        if cell.best:
            shown = rf"\textbf{{{shown}}}"
        if self._heading.marked:
            sign = self._sign(cell.mark)
            shown += sign or rf"\phantom{{{self._sign('better')}}}"
        return shown

    def _number(self, cell: Cell) -> str:
        if not _is_number(cell):
            return f"{{{escape.latex(_MINUS.sub('−', cell.text))}}}"
        bold = r"\bfseries " if cell.best else ""
        sign = f" {{{self._sign(cell.mark)}}}" if cell.mark and self._sign(cell.mark) else ""
        return f"{bold}{cell.text}{sign}"


def _is_number(cell: Cell) -> bool:
    return _NUMBER.fullmatch(cell.text) is not None


def _rules(spans: Sequence[tuple[str, int]]) -> str:
    rules, start = [], 1
    for text, width in spans:
        if text:
            rules.append(rf"\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    return " ".join(rules)


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"
