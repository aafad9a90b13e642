"""The figures in docs/papers.md: what of the papers' cells comes out, and which do not.

    python -m tests.helpers.papers_page

puts counts, lists and tables between the page's marks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.helpers.console import ROOT
from tests.helpers.papers import Cell, cells

PAGE = ROOT / "docs" / "papers.md"
TO_COME = (
    "subtopics", "own-baseline", "gm", "delta-sd", "wilcoxon", "g-squared", "minus-printed",
    "above",
)  # fmt: skip
"""Keys of rows that stand in the page as comments, for what the program cannot do yet."""

_MARK = re.compile(r"(<!--(\w+) ([\w-]+)-->).*?(<!--/-->)", re.DOTALL)
_ROW_TO_COME = re.compile(r"^<!--([\w-]+) (\|.*\| )(riskeval .*) -->$", re.MULTILINE)
_ROWS_TO_COME = re.compile(r"(?:^<!--[\w-]+ \|.*-->\n)+", re.MULTILINE)


def _count(cells: list[Cell]) -> str:
    return f"{sum(cell.agrees for cell in cells)} of {len(cells)}"


def _differ(cells: list[Cell]) -> str:
    lines = [f"- {cell.row}, {cell.column}: {cell.shown}" for cell in cells if not cell.agrees]
    return "\n".join(["", *lines, ""])


def _table(cells: list[Cell]) -> str:
    """The cells in the paper's layout."""
    columns, rows = (
        list(dict.fromkeys(getattr(c, name) for c in cells)) for name in ("column", "row")
    )
    found = {(cell.row, cell.column): cell.shown for cell in cells}
    lines = [["run", *columns], [":--", *("--:" for _ in columns)]]
    lines += [[row, *(found.get((row, column), "") for column in columns)] for row in rows]
    return "\n".join(["", *(f"| {' | '.join(line)} |" for line in lines), ""])


def _switched(rows: str, to_come: Sequence[str]) -> str:
    """Rows that are there before those to come, whose comments end the table."""
    rows = _ROW_TO_COME.sub(lambda m: m[0] if m[1] in to_come else f"{m[2]}`{m[3]}` |", rows)
    return "".join(sorted(rows.splitlines(keepends=True), key=lambda row: row.startswith("<!")))


def filled(page: str, to_come: Sequence[str] = TO_COME) -> str:
    """The page with its counts, lists and tables, and the rows that are no longer to come."""
    makers = {"count": _count, "differ": _differ, "table": _table}
    page = _ROWS_TO_COME.sub(lambda rows: _switched(rows[0], to_come), page)
    return _MARK.sub(lambda m: f"{m[1]}{makers[m[2]](cells(m[3]))}{m[4]}", page)


def commands(page: str) -> list[str]:
    """The commands in the last column of the page's tables."""
    return re.findall(r"^\|.*\| `(riskeval .*)` \|$", page, re.MULTILINE)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
