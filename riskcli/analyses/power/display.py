"""What tests will see, for people: a table a measure, a line a risk measure and share of pairs."""

from __future__ import annotations

from collections.abc import Sequence

from riskcli.analyses.power.prospects import Answer, Asked, Prospect
from riskcli.core.notes import counted
from riskcli.output.display import Cell, Display, Heading, folded
from riskcli.risk.members import described
from riskcli.risk.power import MOST_TOPICS


def displays(
    prospects: Sequence[Prospect],
    asked: Asked,
    tests: int,
    width: int,
    population: str | None = None,
) -> list[Display]:
    """A table for each effectiveness measure."""
    below = []
    if population and not all(prospect.of.plain_mean for prospect in prospects):
        below = [f"Population of GeoRisk: {described(population)}."]
    by_measure = dict.fromkeys(prospect.measure for prospect in prospects)
    return [
        table
        for measure in by_measure
        for table in folded(
            _table([p for p in prospects if p.measure == measure], asked, tests, below),
            width,
            fixed=3,
        )
    ]


def _table(
    prospects: Sequence[Prospect], asked: Asked, tests: int, below: Sequence[str]
) -> Display:
    first = prospects[0]
    headings = [
        Heading("", left=True, names=True), Heading("pairs\nof runs", left=True, names=True),
        Heading("spread"), *map(_heading, first.answers),
    ]  # fmt: skip
    rows = [
        [
            Cell(prospect.of.title),
            Cell(share_in_words(prospect.share)),
            Cell(f"{prospect.spread:.4f}"),
            *(Cell(_shown(answer)) for answer in prospect.answers),
        ]
        for prospect in prospects
    ]
    title = f"{first.measure}: what a test detects with power {asked.power:g}"
    return Display.of_rows(title, headings, rows, [*_caption(prospects, asked, tests), *below])


def share_in_words(share: float) -> str:
    """`half`, `9 of 10`."""
    return {0.5: "half", 1.0: "the one"}.get(share, f"{share * 10:g} of 10")


def _heading(answer: Answer) -> Heading:
    if answer.question == "topics":
        return Heading(f"{answer.count}\ntopics")
    return Heading(f"{answer.question}\n{answer.size:g}")


def _shown(answer: Answer) -> str:
    if answer.question == "topics":
        return "–" if answer.size is None else f"{answer.size:.2g}"
    return f"> {MOST_TOPICS:.0e}" if answer.count is None else f"{answer.count}"


def _caption(prospects: Sequence[Prospect], asked: Asked, tests: int) -> list[str]:
    first = prospects[0]
    lines = [
        f"From {counted(first.pairs, 'pair')} of runs on {counted(first.topics, 'topic')}. Spread: "
        "standard deviation of the difference over topics (GeoRisk: its jackknife error times the "
        "root of the number of topics); half and 9 of 10 of the pairs have no larger one.",
    ]
    if asked.losses:
        lines.append("Loss: number of topics that detect a true loss of that size.")
    if asked.margins:
        lines.append("Margin: number of topics with which a candidate without a loss passes.")
    if asked.counts:
        lines.append("Topics: the smallest true loss that this number of topics detects.")
    level = f"{asked.level:.2g}"
    lines.append(
        f"One-sided t test at {level}"
        + (f", the level of the first of {tests} tests by Holm." if tests > 1 else ".")
    )
    return lines
