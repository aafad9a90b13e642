"""The page: a leaderboard in one HTML file that computes in the reader's browser, offline.

This is the room's door: what the page cannot show, and the page itself, whose scripts are read and
whose data are computed only when it is made.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riskcli.core.messages import UsageError
from riskcli.output.overwriting import refuse_to_replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from riskcli.analyses.score import ComparisonTable
    from riskcli.scores.matrix import ScoreMatrix

TITLE = "Risk-sensitive leaderboard"


def refuse_other_formats(page: Path) -> None:
    """Refuse the name of a file that would not be taken for a page."""
    if page.suffix.lower() not in ("", ".html", ".htm", ".gz"):
        raise UsageError(f"{page}: the page is HTML; end its name in .html")


def refuse_what_the_page_lacks(loss: str, convention: str, test: str, family: str) -> None:
    """Refuse what the page would silently do otherwise."""
    lacking = {
        "--loss": (loss, "linear"),
        "--convention": (convention, "plain"),
        "test": (test, "jackknife"),
        "family": (family, "column"),
    }
    for option, (found, known) in lacking.items():
        if found != known:
            raise UsageError(f"{option} is {found}, the page supports {known} only")


def write_page(
    path: Path,
    table: ComparisonTable,
    scores: Sequence[ScoreMatrix],
    also: Sequence[str],
    both_populations: bool,
    labels: tuple[str, str, str],
    queries: Mapping[str, str] | None = None,
) -> None:
    """Write the page of a risk table of these scores; `labels` are title, collection and date.

    `queries` are the texts of topics.
    """
    refuse_other_formats(path)
    refuse_to_replace(path, table.inputs)
    options = table.options
    significance = options.significance
    refuse_what_the_page_lacks(
        options.loss, options.convention, significance.test, significance.family
    )
    # Late: what is refused needs neither numpy nor the page's scripts.
    from riskcli.analyses.score import risk_table
    from riskcli.output.formats import emit
    from riskcli.page.document import comparisons_of

    title, collection, date = labels
    tables = comparisons_of(risk_table(scores, options=options), scores, also, both_populations)
    tables[0] = replace(tables[0], provenance=table.provenance)
    page = leaderboard(title, scores, tables, collection=collection, date=date, queries=queries)
    emit(page, path)


def leaderboard(
    title: str, scores: Sequence[ScoreMatrix], tables: Sequence[ComparisonTable], **parts: Any
) -> str:
    """The page as HTML; `parts` are the further fields of `Page`."""
    from riskcli.page.document import Page, as_page  # late, as above

    return as_page(Page(title, scores, tables, **parts))
