"""The topics of a run for people: what was lost where, and what it adds up to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from riskcli.analyses.topics.parts import RunTopics
from riskcli.core.notes import counted
from riskcli.output.convention import MINUS, titled, weights
from riskcli.output.display import (
    Cell,
    Column,
    Display,
    Heading,
    decimal,
    decimals,
    in_title,
    width_of,
)
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


def displays(parts: Sequence[RunTopics], gamma: float, width: int) -> list[Display]:
    """A display for each run, measure, baseline and alpha."""
    last = len(parts) - 1
    return [
        _display(part, gamma, width, explained=index == last) for index, part in enumerate(parts)
    ]


def _display(part: RunTopics, gamma: float, width: int, explained: bool) -> Display:
    counting = weights([part.alpha], part.convention)
    title = f"{part.run} against {in_title(part.baseline)}: {part.measure}, {counting}"
    about = _totals_lines(part) + (_legend(part, gamma) if explained else [])
    topics = [*(Cell(topic) for topic in part.topics), Cell("all", strong=True)]
    paired = [Column(Heading("topic", left=True), topics)]
    paired += [_column(part, *column) for column in _PAIRED]
    wide = [*paired, *(_column(part, *column) for column in _CROWD)]
    if width_of(wide) > width:
        return Display(title, paired, about)
    return Display(title, wide, about + ([_CROWD_LEGEND] if explained else []))


def _column(part: RunTopics, name: str, title: str, places: int) -> Column:
    texts = decimals(part.columns[name].tolist(), places)
    marks = part.columns["flag"].tolist() if name == "tj" else [""] * len(texts)
    cells = [Cell(text, mark=mark) for text, mark in zip(texts, marks, strict=True)]
    return Column(Heading(title, marked=name == "tj"), [*cells, _foot(part, name, places)])


def _foot(part: RunTopics, name: str, places: int) -> Cell:
    """The risk table's figure that the column adds up to, over all topics, shown or not."""
    totals: dict[str, Callable[[], float | None]] = {
        "score": lambda: part.totals["mean"],
        "baseline_score": lambda: part.baseline_mean,
        "delta": lambda: part.totals["mean"] - part.baseline_mean,
        "w": lambda: part.totals["urisk"],
    }
    return Cell(decimal(totals[name](), places), strong=True) if name in totals else Cell("")


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
    counted_as = "s(δ)" if part.alpha is None else f"δ, losses weighted ×{1 + part.alpha:g}"
    return [
        f"w: {counted_as}; TR: w in standard deviations; TJ: what the topic does to URisk"
        f"{turned if part.convention == MINUS else ''}.",
        f"▲ ▼: TR or TJ beyond ±{decimal(part.critical, 2)} (significance level γ = "
        f"{gamma:g}, no correction: this is exploratory).",
    ]
