"""The topics of a run for people: what was lost where, and what it adds up to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from riskcli.analyses.score.display import shortened
from riskcli.analyses.topics.analysis import RunTopics, TopicTable
from riskcli.core.notes import counted
from riskcli.output.convention import MINUS, titled, weights
from riskcli.output.display import Cell, Display, Heading, Mark
from riskcli.output.numbers import decimal
from riskcli.risk.measures import measures

_PAIRED = (
    ("score", "score", 4),
    ("baseline_score", "base", 4),
    ("delta", "δ", 4),
    ("w", "w", 4),
    ("tr", "TR", 2),
    ("tj", "TJ", 2),
)
_CROWD_LEGEND = (
    "exp., z: the score expected in the population, the departure from it; share: the topic's "
    "part in ZRisk."
)
_CROWD = (("expected", "exp.", 4), ("z", "z", 2), ("zrisk_share", "share", 3))


def displays(table: TopicTable, width: int) -> list[Display]:
    """A display for each run, measure, baseline and alpha."""
    last = len(table.parts) - 1
    return [
        _display(part, table.gamma, width, explained=place == last)
        for place, part in enumerate(table.parts)
    ]


def _display(part: RunTopics, gamma: float, width: int, explained: bool) -> Display:
    about = _totals_lines(part) + (_legend(part, gamma) if explained else [])
    wide = _table(part, (*_PAIRED, *_CROWD), about + ([_CROWD_LEGEND] if explained else []))
    return wide if wide.width() <= width else _table(part, _PAIRED, about)


def _table(
    part: RunTopics, columns: Sequence[tuple[str, str, int]], caption: Sequence[str]
) -> Display:
    headings = [Heading("topic", left=True)]
    headings += [Heading(title, marked=name == "tj") for name, title, _ in columns]
    rows = [
        [Cell(topic), *(_cell(part, name, decimals, place) for name, _, decimals in columns)]
        for place, topic in enumerate(part.topics)
    ]
    rows.append([Cell("all", strong=True), *(_foot(part, *column) for column in columns)])
    counting = weights([part.alpha], part.convention)
    title = f"{part.run} against {shortened(part.baseline)}: {part.measure}, {counting}"
    return Display(title, headings, rows, caption)


def _cell(part: RunTopics, name: str, decimals: int, place: int) -> Cell:
    text = decimal(float(part.columns[name][place]), decimals)
    mark = cast(Mark, str(part.columns["flag"][place])) if name == "tj" else ""
    return Cell(text, mark=mark)


def _foot(part: RunTopics, name: str, _title: str, decimals: int) -> Cell:
    """The risk table's figure that the column adds up to, over all topics, shown or not."""
    totals: dict[str, Callable[[], float | None]] = {
        "score": lambda: part.totals["mean"],
        "baseline_score": lambda: part.baseline_mean,
        "delta": lambda: part.totals["mean"] - part.baseline_mean,
        "w": lambda: part.totals["urisk"],
    }
    return Cell(decimal(totals[name](), decimals), strong=True) if name in totals else Cell("")


def _totals_lines(part: RunTopics) -> list[str]:
    """The values of the risk table, over all topics."""
    found = [
        f"{titled(measure, part.convention)} {decimal(part.totals[measure.id], measure.decimals)}"
        for measure in measures()
        if measure.id in part.totals
    ]
    return [f"Over all {counted(part.of_topics, 'topic')}: {', '.join(found)}."]


def _legend(part: RunTopics, gamma: float) -> list[str]:
    turned = "; signs of w, TR, TJ and share turned, higher is riskier"
    counted_as = "s(δ)" if part.alpha is None else f"δ, a loss {1 + part.alpha:g} times"
    return [
        f"w: {counted_as}; TR: w in standard deviations; TJ: what the topic does to URisk"
        f"{turned if part.convention == MINUS else ''}.",
        f"▲ ▼: TR or TJ beyond ±{decimal(part.critical, 2)} (γ = {gamma:g}, no correction: this "
        "is exploratory).",
    ]
