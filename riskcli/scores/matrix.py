"""The score matrix X: runs by topics, one effectiveness score a cell, and subsets of its topics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Mask, row_blocks
from riskcli.core.choices import TopicRule
from riskcli.core.files import LIST_MARK, listed_in
from riskcli.core.limits import LARGEST_SCORE, LEAST_SCORE, score_expected
from riskcli.core.messages import (
    Note,
    Provenance,
    UsageError,
    by_value,
    counted,
    is_number,
    listed,
    natural_order,
    naturally,
)
from riskcli.effectiveness.measures import highest_score, is_logarithm, unanswered_score
from riskcli.risk.comparison import column_mean
from riskcli.risk.weights import mean
from riskcli.scores.axes import Axes, Replicates
from riskcli.scores.judging import Judging
from riskcli.scores.plausibility import notes_on_scores
from riskcli.scores.systems import Systems, SystemsGiven

if TYPE_CHECKING:
    import pandas as pd

ONLY_TOPICS = "only_topics"
"""The setting that names them."""
_RANGE = re.compile(r"([0-9]*)-([0-9]*)")
_SEPARATOR = re.compile(r"[\s,]+")


def topics_asked(texts: str | Iterable[str]) -> tuple[str, ...]:
    """Each distinct item of lists whose items commas or white space separate."""
    given = [texts] if isinstance(texts, str) else list(map(str, texts))
    items = [item for text in given for item in _SEPARATOR.split(text) if item]
    if given and not items:
        raise UsageError("no topic is named: expected ids, ranges such as 151-160, or globs")
    return tuple(dict.fromkeys(items))


def topics_of_option(texts: Iterable[str]) -> tuple[str, ...]:
    """The same for an option, where @FILE is the list in a file; # begins a comment there."""
    return topics_asked([item for text in texts for item in _items_of(text)])


def _items_of(text: str) -> list[str]:
    if not text.startswith(LIST_MARK):
        return [text]
    return [item for _, item in listed_in(Path(text.removeprefix(LIST_MARK)), "topic")]


def some_topics(topics: Sequence[str], wanted: Sequence[str]) -> tuple[list[str], list[Note]]:
    """The topics that are asked for, in their order, and notes on the selection."""
    available = set(topics)
    matching = {item: {item} if item in available else _alike(item, topics) for item in wanted}
    chosen = set().union(*matching.values())
    unmatched = [item for item, topics_of in matching.items() if not topics_of]
    if not chosen:
        there = f"{counted(len(topics), 'topic')} to evaluate ({listed(topics, 3)})"
        raise UsageError(f"none of the topics asked for ({listed(unmatched)}) is among the {there}")
    message = f"{len(chosen)} of {counted(len(topics), 'topic')} evaluated, as asked for"
    notes = [Note("some-topics", message, warning=False)]
    if unmatched:
        message = f"asked for, but not among the topics to evaluate: {listed(unmatched)}"
        notes.append(Note("topics-not-found", message))
    return [topic for topic in topics if topic in chosen], notes


def _alike(item: str, topics: Sequence[str]) -> set[str]:
    """The topics in a range of numbers, or that fit a glob."""
    ends = _RANGE.fullmatch(item)
    if ends is None or item == "-":
        return {topic for topic in topics if fnmatchcase(topic, item)}
    low, high = (by_value(end) if end else None for end in ends.groups())
    return {
        topic
        for topic in topics
        if is_number(topic)
        and (low is None or low <= by_value(topic))
        and (high is None or by_value(topic) <= high)
    }


# The score matrix X: runs by topics, one effectiveness score a cell, rows and columns named.


UNANSWERED_TOPICS = "unanswered-topics"


@dataclass(frozen=True, repr=False)
class ScoreMatrix:
    """Scores by one measure. A cell is NaN only before `join` has settled unanswered topics."""

    measure: str
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    values: NDArray[np.float64]
    provenance: Provenance = field(default=Provenance(), compare=False, kw_only=True)
    """What the scores rest on, where they were taken from an evaluation."""
    judging: Judging | None = field(default=None, compare=False, kw_only=True)
    """How far the documents behind the scores are judged, where that is known."""
    axes: Axes = field(default=Axes(), compare=False, kw_only=True)
    """What is known of topics and runs beside their names."""
    human: ScoreMatrix | None = field(default=None, compare=False, kw_only=True)
    """The scores under humans' judgements, where they judged some of the topics."""

    def __repr__(self) -> str:
        runs, topics = self.values.shape
        return f"ScoreMatrix({self.measure!r}, {counted(runs, 'run')}, {counted(topics, 'topic')})"

    def __post_init__(self) -> None:
        expected = (len(self.runs), len(self.topics))
        if self.values.shape != expected:
            raise UsageError(f"scores have shape {self.values.shape}, names say {expected}")

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, measure: str = "score") -> ScoreMatrix:
        """From a DataFrame of runs (index) by topics (columns), all cells finite numbers."""
        try:
            values = frame.to_numpy(dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise UsageError(f"the frame holds something that is not a number: {error}") from error
        runs = tuple(name_of(run, "run") for run in frame.index)
        topics = tuple(name_of(topic, "topic") for topic in frame.columns)
        for kind, names in (("run", runs), ("topic", topics)):
            refuse_repeated(kind, names)
        matrix = cls(measure, runs, topics, values)
        matrix.check_finite()
        notes_on_scores([matrix], "the frame")  # summaries and indices are no topics
        return matrix

    def to_frame(self) -> pd.DataFrame:
        """A DataFrame with the runs as index and a column for each topic."""
        import pandas as pd  # late: no command needs it

        index = pd.Index(self.runs, name="run")
        return pd.DataFrame(self.values, index=index, columns=pd.Index(self.topics, name="topic"))

    @property
    def has_logarithms(self) -> bool:
        """Whether the scores are logarithms, by their measure."""
        return is_logarithm(self.measure)

    @property
    def plain_measure(self) -> str:
        """The effectiveness measure without the judge whose judgements it rests on."""
        return self.measure.removesuffix(f" [{self.axes.judge}]")

    def shown_means(self) -> NDArray[np.float64]:
        """Each run's mean as it is shown: a geometric mean where the scores are logarithms."""
        means = mean(self.values, self.weights)
        return np.exp(means) if self.has_logarithms else means

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """How much each topic counts, 1 on average; None where all count the same."""
        return self.axes.weights_of(self.topics)

    def scaled(self, factor: float) -> ScoreMatrix:
        """The matrix with all scores multiplied by a factor; 0.01 makes exactly 0.57 of 57."""
        whole = round(1 / factor)
        exactly = whole and 1 / whole == factor
        return replace(self, values=self.values / whole if exactly else self.values * factor)

    def of_runs(self, rows: Sequence[int]) -> ScoreMatrix:
        """The matrix with only these runs, in this order."""
        runs = tuple(self.runs[row] for row in rows)
        return replace(self, runs=runs, values=self.values[list(rows)])

    def of_topics(self, columns: Sequence[int]) -> ScoreMatrix:
        """The matrix with only these topics, in this order."""
        topics = tuple(self.topics[column] for column in columns)
        values = np.ascontiguousarray(self.values[:, list(columns)])
        return replace(self, topics=topics, values=values)

    def labelled(
        self,
        groups: Mapping[str, Any] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> ScoreMatrix:
        """The matrix with groups ({topic: group}, or that by grouping) and weights of its topics.

        What does not fit is in the notes: topics without a group, labels of other topics.
        """
        axes, notes = self.axes.labelled(self.topics, groups, weights)
        provenance = self.provenance.adding(axes.settings(), notes)
        return replace(self, axes=axes, provenance=provenance)

    def of_systems(self, given: SystemsGiven | Systems) -> ScoreMatrix:
        """The matrix with a row a system, the mean of its replicates topic by topic.

        A pattern finds the system in a run's name (its first group, else its whole match), or a
        mapping has the system of each run. A run without one is a system of its own.
        """
        systems = given if isinstance(given, Systems) else Systems.of(self.runs, given)
        row = {run: index for index, run in enumerate(self.runs)}
        each = {
            name: Replicates(runs, self.topics, self.values[[row[run] for run in runs]])
            for name, runs in systems.members.items()
        }
        return replace(
            self,
            runs=tuple(each),
            values=np.array([column_mean(own.scores) for own in each.values()]),
            judging=self.judging and self.judging.averaged(systems.members),
            axes=replace(self.axes, replicates=each),
            human=self.human and self.human.of_systems(systems),
            provenance=self.provenance.adding(*systems.record()),
        )

    def check_finite(self) -> None:
        """Refuse NaN, infinite scores and those that are out of all bounds, naming the first."""
        for rows in row_blocks(*self.values.shape):
            bad = np.argwhere(~are_scores(self.values[rows]))
            if len(bad):
                run, topic = rows.start + bad[0][0], bad[0][1]
                raise UsageError(
                    f"run {self.runs[run]}, topic {self.topics[topic]}: the score is "
                    f"{self.values[run, topic]}, {score_expected(self.values[run, topic])}"
                )

    @property
    def has_negative(self) -> bool:
        """Whether a score is below 0, or a logarithm, so that ZRisk and GeoRisk are undefined."""
        return self.has_logarithms or bool(self.values.min(initial=0.0) < 0)

    def check_logarithms(self) -> None:
        """Refuse a score that cannot be the logarithm that its measure has for a score."""
        most = highest_score(self.measure)
        if self.has_logarithms and (self.values > most).any():
            run, topic = np.argwhere(self.values > most)[0]
            raise UsageError(
                f"run {self.runs[run]}, topic {self.topics[topic]}: found "
                f"{self.values[run, topic]:g}, {self.measure} is a logarithm of at most {most:.3g}"
            )


def of_one_run(name: str, matrices: Iterable[ScoreMatrix]) -> tuple[ScoreMatrix, ...]:
    """Matrices of a single run, with that name for it."""
    return tuple([ScoreMatrix(m.measure, (name,), m.topics, m.values) for m in matrices])


def are_scores(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where the values are effectiveness scores that can be computed with."""
    size = np.abs(values)
    return np.asarray((size == 0) | ((size >= LEAST_SCORE) & (size <= LARGEST_SCORE)))


def name_of(value: object, what: str) -> str:
    """The name of a run, topic or document: a text, or a whole number as programs hold topics."""
    if isinstance(value, str | int | np.integer) and not isinstance(value, bool):
        return str(value)
    kind = type(value).__name__
    raise UsageError(f"{what} {value!r:.60} is of type {kind}, expected text or a whole number")


def refuse_repeated(kind: str, names: Sequence[str]) -> None:
    """Refuse a name that occurs twice."""
    if len(set(names)) < len(names):
        repeated = next(name for name in names if list(names).count(name) > 1)
        raise UsageError(f"{kind} {repeated!r} occurs twice")


def from_cells(measure: str, cells: Iterable[tuple[str, str, float]]) -> ScoreMatrix:
    """The matrix of single scores (run, topic, score); what is not among them is NaN."""
    scored = list(cells)
    runs = tuple(dict.fromkeys(run for run, _, _ in scored))
    topics = tuple(naturally({topic for _, topic, _ in scored}))
    row = {run: index for index, run in enumerate(runs)}
    column = {topic: index for index, topic in enumerate(topics)}
    values = np.full((len(runs), len(topics)), np.nan)
    for run, topic, score in scored:
        values[row[run], column[topic]] = score
    return ScoreMatrix(measure, runs, topics, values)


def join_all(
    parts: Mapping[str, Sequence[ScoreMatrix]],
    universe: Sequence[str] | None,
    rule: TopicRule,
    only: Sequence[str] = (),
) -> tuple[tuple[ScoreMatrix, ...], list[Note]]:
    """`join` for the parts of each measure."""
    matrices, notes = [], list[Note]()
    for measure, members in parts.items():
        matrix, remarks = join(measure, members, universe, rule, only)
        matrices.append(matrix)
        notes += [note for note in remarks if note not in notes]
    return tuple(matrices), notes


def join(
    measure: str,
    parts: Sequence[ScoreMatrix],
    universe: Sequence[str] | None,
    rule: TopicRule = "relevant",
    only: Sequence[str] = (),
) -> tuple[ScoreMatrix, list[Note]]:
    """All parts in one matrix over the topics of `universe` (None: all topics that any part has).

    `only` asks for some of these; a run may answer none of them, if it answers others.

    This is the one place that decides about missing topics: a run's unanswered topic scores 0
    (or what the measure gives there), or, by the rule `common`, is left out for every run. What was
    filled or left out is counted in the notes.
    """
    if not parts:
        raise UsageError("no run to score")
    runs = [run for part in parts for run in part.runs]
    refuse_repeated("run", runs)
    answered = dict.fromkeys(part.topics for part in parts)
    topics = list(universe) if universe is not None else naturally(set().union(*answered))
    column = {topic: index for index, topic in enumerate(topics)}
    cells = {each: _cells(each, column) for each in answered}
    order = natural_order(runs)
    rows = np.empty(len(runs), dtype=np.intp)
    rows[order] = np.arange(len(runs))
    values = np.full((len(runs), len(topics)), np.nan)
    first = 0
    for part in parts:
        source, target = cells[part.topics]
        target_rows = rows[first : first + len(part.runs), None]
        values[target_rows, target] = part.values[:, source]
        first += len(part.runs)
    matrix = ScoreMatrix(measure, tuple(runs[i] for i in order), tuple(topics), values)
    _refuse_strangers(matrix)
    chosen, notes = some_topics(topics, only) if only else (topics, [])
    if only:
        columns = np.ascontiguousarray(values[:, [column[topic] for topic in chosen]])
        matrix = ScoreMatrix(measure, matrix.runs, tuple(chosen), columns)
    settle = _without_missing if rule == "common" else _filled
    matrix, remarks = settle(matrix)
    return matrix, [*notes, *remarks]


def _cells(topics: Sequence[str], column: Mapping[str, int]) -> tuple[list[int], list[int]]:
    """Which of a part's topics are among the columns, and where."""
    indices = [index for index, topic in enumerate(topics) if topic in column]
    return indices, [column[topics[index]] for index in indices]


def _without_missing(matrix: ScoreMatrix) -> tuple[ScoreMatrix, list[Note]]:
    """The matrix over the topics that every run answers."""
    missing = np.isnan(matrix.values).any(axis=0)
    topics = tuple(matrix.topics[index] for index in np.flatnonzero(~missing))
    if not topics:
        raise UsageError("no topic is answered by every run")
    common = ScoreMatrix(matrix.measure, matrix.runs, topics, matrix.values[:, ~missing])
    dropped = [matrix.topics[index] for index in np.flatnonzero(missing)]
    message = f"{counted(len(dropped), 'topic')} left out, not answered by every run: "
    return common, [Note("left-out-topics", message + listed(dropped))] if dropped else []


def _filled(matrix: ScoreMatrix) -> tuple[ScoreMatrix, list[Note]]:
    """The matrix without NaN; its values are changed in place, for they may take gigabytes."""
    missing = np.isnan(matrix.values)
    matrix.values[missing] = unanswered_score(matrix.measure)
    return matrix, unanswered_notes(matrix, dict(zip(matrix.runs, missing, strict=True)))


def unanswered_notes(matrix: ScoreMatrix, missing: Mapping[str, Mask]) -> list[Note]:
    """How many of the topics each run does not answer, and in full which."""
    lacking = {run: np.flatnonzero(row) for run, row in missing.items() if row.any()}
    told = f"unanswered topics score {unanswered_score(matrix.measure):.4g}: "
    message = told + listed(f"{run} ({len(own)})" for run, own in lacking.items())
    names = {run: listed(matrix.topics[index] for index in own) for run, own in lacking.items()}
    full = told + listed(f"{run} ({len(lacking[run])}: {own})" for run, own in names.items())
    return [Note(UNANSWERED_TOPICS, message, full=full)] if lacking else []


def _refuse_strangers(matrix: ScoreMatrix) -> None:
    """Refuse a run that answers none of the topics: its ids are hardly the same collection's."""
    if not matrix.topics:
        raise UsageError("no topic to evaluate: the qrels hold no relevant document")
    for run, row in zip(matrix.runs, matrix.values, strict=True):
        if np.isnan(row).all():
            raise UsageError(answers_nothing(run, matrix.topics))


def answers_nothing(run: str, topics: Sequence[str]) -> str:
    """Message for a run that answers none of the topics."""
    many = len(topics) > 1
    which = f"answers none of the {len(topics)} topics" if many else "does not answer the one topic"
    return f"run {run} {which} evaluated ({listed(topics, 3)}); are the topic ids the same?"
