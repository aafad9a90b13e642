"""The figures in docs/papers.md: what of the papers' cells comes out, and which do not.

    python -m tests.helpers.papers_page

puts counts, lists and tables between the page's marks.
"""

from __future__ import annotations

import re

from tests.helpers.console import ROOT
from tests.helpers.papers import Cell, cells

PAGE = ROOT / "docs" / "papers.md"
_MARK = re.compile(r"(<!--(\w+) ([\w-]+)-->).*?(<!--/-->)", re.DOTALL)


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


def filled(page: str) -> str:
    """The page with its counts, lists and tables."""
    makers = {"count": _count, "differ": _differ, "table": _table}
    return _MARK.sub(lambda m: f"{m[1]}{makers[m[2]](cells(m[3]))}{m[4]}", page)


def commands(page: str) -> list[str]:
    """The commands in the last column of the page's tables."""
    return re.findall(r"^\|.*\| `(riskeval .*)` \|$", page, re.MULTILINE)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
