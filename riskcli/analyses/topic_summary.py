"""A run topic by topic, and the topics on which most runs lose: what `topics` answers first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from riskcli.analyses.churn import RunChurn
from riskcli.analyses.query_texts import QueryTexts
from riskcli.core.arrays import Mask, Rows
from riskcli.core.choices import Convention
from riskcli.core.messages import counted, listed
from riskcli.effectiveness.measures import is_logarithm
from riskcli.output import display
from riskcli.output.display import Column, Display, Heading
from riskcli.output.verdict import Statement
from riskcli.risk.paired import loses_a_fifth

_FEW = 5
_LINES = 25
"""What a screen has, beside the line of the command."""
_LEAST_ROWS = 3
_FOR_QUERIES = 24
"""Columns of a terminal in which most queries say what they are about."""
_NOTHING = 1e-9
_FIFTHS = "L>20%"
_BELOW = (
    f"{_FIFTHS}: runs that lose over a fifth of the baseline's score. One run: --run NAME; every "
    "run and topic: --full."
)


@dataclass(frozen=True)
class RunTopics:
    """One run against one baseline at one alpha: an array a column, a cell a topic."""

    run: str
    measure: str
    baseline: str
    population: str
    alpha: float | None
    topics: tuple[str, ...]
    columns: Mapping[str, NDArray[Any]]
    totals: Mapping[str, float]
    """The run's values by every risk measure, as the risk table has them; means of churn."""
    baseline_mean: float
    of_topics: int
    """How many topics the totals are over, shown or not."""
    critical: float
    convention: Convention
    churn: RunChurn | None

    @property
    def about(self) -> str:
        """What tells it, at one alpha, from others."""
        return f"{self.run}, {self.comparison}"

    @property
    def comparison(self) -> str:
        """What tells the runs that are compared by it from others."""
        return f"{self.measure}, baseline {self.baseline}"

    def chosen(self, topics: Rows | Mask | slice) -> Self:
        """Only those topics, in that order."""
        columns = {name: column[topics] for name, column in self.columns.items()}
        names = np.array(self.topics, dtype=object)[topics]
        return replace(self, topics=tuple(names.tolist()), columns=columns)


@dataclass(frozen=True)
class TopicOfRuns:
    """What a topic does to the runs; `ruined` is None where scores have no fifths."""

    topic: str
    losing: int
    ruined: int | None
    mean_change: float
    worst_run: str
    worst_change: float


@dataclass(frozen=True)
class HardTopics:
    """The topics by how many runs lose on them, against one baseline by one measure."""

    measure: str
    baseline: str
    runs: tuple[str, ...]
    topics: tuple[TopicOfRuns, ...]
    failed: tuple[str, ...]
    """The topics on which every run, and the baseline, scores 0."""
    unjudged: tuple[Statement, ...] = ()
    """What is said of documents that nobody judged."""

    @property
    def about(self) -> str:
        """What tells it from others."""
        return f"{self.measure}, baseline {self.baseline}"


def answers(
    parts: Sequence[RunTopics], named: bool, unjudged: Sequence[Statement]
) -> tuple[tuple[HardTopics, ...], tuple[Statement, ...]]:
    """What all runs lose on, by measure and baseline; of runs that are named, or alone, theirs.

    With each goes what is said of `unjudged` documents.
    """
    compared: dict[str, dict[str, RunTopics]] = {}
    for part in parts:  # at every alpha the differences are the same
        compared.setdefault(part.comparison, {}).setdefault(part.run, part)
    if not named and all(len(runs) > 1 for runs in compared.values()):
        hard = [hard_topics([*runs.values()]) for runs in compared.values()]
        told = [tuple(each for each in unjudged if each.about == of.about) for of in hard]
        return tuple(replace(h, unjudged=t) for h, t in zip(hard, told, strict=True)), ()
    of_runs = (of_run(part) for runs in compared.values() for part in runs.values())
    return (), (*of_runs, *unjudged)


def hard_topics(parts: Sequence[RunTopics]) -> HardTopics:
    """Of runs in one comparison: the topics on which most lose first, then most over a fifth."""
    measure, topics, names = parts[0].measure, parts[0].topics, tuple(part.run for part in parts)
    scores, bases, deltas = (
        np.array([part.columns[name] for part in parts], dtype=float)
        for name in ("score", "baseline_score", "delta")
    )
    losing = np.count_nonzero(deltas < 0, axis=0)
    ruined = np.count_nonzero(loses_a_fifth(deltas, bases), axis=0)
    mean, worst = deltas.mean(axis=0), np.argmin(deltas, axis=0)
    logarithm = is_logarithm(measure)
    order = np.lexsort([mean, -ruined, -losing]).tolist()
    ranked = tuple(
        TopicOfRuns(
            topics[i], int(losing[i]), None if logarithm else int(ruined[i]), float(mean[i]),
            names[worst[i]], float(deltas[worst[i], i]),
        )
        for i in order
    )  # fmt: skip
    nothing = ~(scores.any(axis=0) | bases.any(axis=0)) & (not logarithm)
    failed = tuple(topics[i] for i in np.flatnonzero(nothing).tolist())
    return HardTopics(measure, parts[0].baseline, names, ranked, failed)


# Sentences, each by a rule of its own: hurts, ruins, fails; of one run: loses.


def sentences(of: HardTopics) -> Iterator[Statement]:
    """On which topics all lose, or most; where over half lose much; which every run fails."""
    number, about = len(of.runs), of.about
    hurt = [each.topic for each in of.topics if each.losing == number]
    most = of.topics[0]
    if hurt:
        text = f"{_topics(hurt, 'loses', 'lose')} in {number} of {number} runs: {_named(hurt)}."
    elif most.losing:
        alike = [each.topic for each in of.topics if each.losing == most.losing]
        does = "does" if len(alike) == 1 else "do"
        text = f"No topic loses in every run; {_named(alike)} {does} in {most.losing} of {number}."
    else:
        text = "No run loses on any topic."
    numbers = {"runs": number, "most": most.losing}
    yield Statement("hurts", text, about, topics=tuple(hurt), numbers=numbers)
    much = tuple(each.topic for each in of.topics if 2 * (each.ruined or 0) > number)
    if much:
        all_topics = counted(len(of.topics), "topic")
        text = f"More than half of the runs lose over a fifth on {len(much)} of {all_topics}."
        yield Statement("ruins", text, about, topics=much, numbers={"topics": len(of.topics)})
    if of.failed:
        text = f"{_topics(of.failed, 'is', 'are')} 0 for every run: {_named(of.failed)}."
        yield Statement("fails", text, about, topics=of.failed, numbers={"runs": number})
    yield from of.unjudged


def of_run(part: RunTopics) -> Statement:
    """On how many topics a run loses, and the worst of them."""
    topics, baseline = part.topics, part.baseline
    delta, base, score = (part.columns[name] for name in ("delta", "baseline_score", "score"))
    lost = [i for i in np.argsort(delta, kind="stable").tolist() if delta[i] < 0]
    fifths = np.flatnonzero(loses_a_fifth(delta, base))
    text = f"{part.run} loses on {len(lost)} of {counted(len(topics), 'topic')} against {baseline}"
    if lost:
        worst = lost[0]
        much = "" if is_logarithm(part.measure) else f", over a fifth on {len(fifths)}"
        text += f"{much}; most on {topics[worst]} ({base[worst]:.3f} to {score[worst]:.3f})"
    numbers = {
        "losses": len(lost),
        "lost_over_a_fifth": None if is_logarithm(part.measure) else len(fifths),
        "topics": len(topics),
        "largest_loss": -float(delta[lost[0]]) if lost else 0.0,
    }
    named = tuple(topics[i] for i in lost)
    return Statement("loses", f"{text}.", part.about, (part.run, baseline), named, numbers)


def _topics(names: Sequence[str], one: str, many: str) -> str:
    return f"{counted(len(names), 'topic')} {one if len(names) == 1 else many}"


def _named(names: Sequence[str]) -> str:
    return listed(names, _FEW)


# A table of the hardest topics, as long as a screen.


def tables_of(
    all_topics: Sequence[HardTopics], width: int, queries: QueryTexts, taken: int = 0
) -> list[Display]:
    """A table a measure and baseline, as many and as long as fit a screen with `taken` lines."""
    said = [[each.text for each in sentences(of)] for of in all_topics]
    fixed = [5 + sum(len(wrap(text, width)) for text in lines) for lines in said]
    below = len(wrap(_BELOW, width)) + 1
    fitting = 1
    while fitting < len(said) and (
        sum(fixed[: fitting + 1]) + below + _LEAST_ROWS * (fitting + 1) <= _LINES - taken
    ):
        fitting += 1
    rows = max((_LINES - taken - below - sum(fixed[:fitting])) // fitting, _LEAST_ROWS)
    made = [
        _table(of, lines, rows, width, queries)
        for of, lines in zip(all_topics[:fitting], said[:fitting], strict=True)
    ]
    more = len(said) - fitting
    told = [f"Not shown: {counted(more, 'measure or baseline', 'measures or baselines')} more."]
    made[-1] = replace(made[-1], caption=[*(told if more else []), _BELOW])
    return made


def _table(
    of: HardTopics, said: Sequence[str], rows: int, width: int, queries: QueryTexts
) -> Display:
    hurt = [each for each in of.topics if each.losing][:rows]
    columns = [
        Column.of(Heading("topic", left=True), [each.topic for each in hurt]),
        Column.of("runs that lose", [str(each.losing) for each in hurt]),
        Column.of(_FIFTHS, ["–" if each.ruined is None else str(each.ruined) for each in hurt]),
        Column.of("mean change", display.decimals((each.mean_change for each in hurt), 4)),
        Column.of(Heading("worst run", left=True, names=True), [each.worst_run for each in hurt]),
        Column.of("its change", display.decimals((each.worst_change for each in hurt), 4)),
    ]
    if all(abs(each.mean_change) < _NOTHING for each in hurt):  # by definition, against @mean
        columns = [column for column in columns if column.heading.text != "mean change"]
    topics = [each.topic for each in hurt]
    if queries.given and width - display.width_of(columns) < _FOR_QUERIES:
        columns.pop()  # what a topic asks says more than the change of its worst run
    columns = queries.beside(columns, topics, width)
    title = f"{of.measure} against {display.in_title(of.baseline)}, {len(of.runs)} runs"
    return Display(f"{title}: the topics on which most lose", columns, verdict=said)
