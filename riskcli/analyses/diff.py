"""What changed between two runs: topic by topic, and for a topic document by document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from riskcli.analyses import base
from riskcli.analyses.diff_documents import DocumentDiff, side_by_side
from riskcli.analyses.diff_topics import FIGURES, Pair, compared, rows_of, screen, sentences, table
from riskcli.analyses.query_texts import COLUMN, QueryTexts
from riskcli.core.choices import is_virtual
from riskcli.core.messages import UsageError, joined, listed, nearest
from riskcli.output.display import Display
from riskcli.output.result import Result, tidy
from riskcli.output.verdict import Statements
from riskcli.scores.comparisons import Options, as_names, matching_runs
from riskcli.scores.matrix import ScoreMatrix

COLUMNS = ("run", "baseline", "measure", "topic", COLUMN, *FIGURES)
_COMPARES = "diff compares documents"


@dataclass(frozen=True, repr=False)
class RunDiff(base.Analysis):
    """Every topic of two runs, by each effectiveness measure, most lost first."""

    pairs: tuple[Pair, ...]
    queries: QueryTexts = field(default_factory=QueryTexts)
    most: int | None = None
    """How many topics are shown; None: all."""

    def top(self, count: int) -> Self:
        """Only the topics that lost most."""
        return replace(self, most=count)

    @property
    def verdict(self) -> Statements:
        """How many topics lost and gained, by how much, and what is certain of it."""
        return Statements(tuple(s for pair in self.pairs for s in sentences(pair, self.queries)))

    def displays(self, width: int, /) -> Sequence[Display]:
        """All topics, a table a measure."""
        return self._answering(
            (pair.about, [table(pair, self.queries, self.most, width)]) for pair in self.pairs
        )

    def screen(self, width: int, /) -> Sequence[Display]:
        """Those that lost and gained most, by the first measure."""
        first, *others = self.pairs
        more = f" By {joined([pair.measure for pair in others])}, too: --full." if others else ""
        shown = screen(first, self.queries, self.most, width, more)
        return self._answering([(first.about, [shown])])

    def result(self) -> Result:
        """A row a measure and topic."""
        rows = [row for pair in self.pairs for row in rows_of(pair, self.queries, self.most)]
        of_measures = {pair.measure: tidy([pair.g_squared])[0] for pair in self.pairs}
        return Result(COLUMNS, rows, self.provenance, {"g_squared": of_measures})


def diff(
    scores: base.Scores,
    baseline: str,
    *,
    run: str | None = None,
    topic: base.Names = None,
    queries: Mapping[str, str] | None = None,
) -> RunDiff | DocumentDiff:
    """What changed from the baseline to the run (none: the only other one).

    Needs documents: `evaluate(..., rules=Rules(unjudged="bounds"))`. Where topics are named, both
    rankings of each are compared document by document. `queries` are the texts of topics.
    """
    setup = base.set_up(scores, Options(), baseline, noting=False, weighs=False)
    pairs = tuple(_pair(matrix, setup.options.baselines[0], run) for matrix in setup.matrices)
    first, named = pairs[0], list(dict.fromkeys(as_names(topic or ())))
    for name in named:
        _check_topic(first, name)
    texts = QueryTexts.of(queries, first.topics)
    settings = {"run": first.run, "baselines": [first.baseline], "topic": named or None}
    provenance = setup.provenance.adding(settings, texts.notes(named or first.topics))
    if not named:
        return RunDiff(pairs, texts, provenance=provenance)
    both = tuple(side_by_side(pair, name) for pair in pairs for name in named)
    return DocumentDiff(both, texts, provenance=provenance)


def _pair(matrix: ScoreMatrix, baseline: str, run: str | None) -> Pair:
    if is_virtual(baseline):
        raise UsageError(f"{_COMPARES}: {baseline} has none, name a run as the baseline")
    other = _one(matrix.runs, baseline)
    rest = [name for name in matrix.runs if name != other]
    if run is None and len(rest) != 1:
        raise UsageError(f"{_COMPARES} of two runs: name the run, one of {listed(rest)}")
    own = rest[0] if run is None else _one(matrix.runs, run)
    if own == other:
        raise UsageError(f"{own} is run and baseline: {_COMPARES} of two runs")
    judging = matrix.judging
    for name in (own, other):
        if judging is None or name not in judging.by_run:
            raise UsageError(f"{_COMPARES}: give the runs themselves, {name} has scores alone")
    if judging is None or judging.documents is None:
        raise UsageError(f"{_COMPARES}: evaluate the runs with Rules(unjudged='bounds')")
    return compared(matrix, judging, judging.documents, own, other)


def _one(runs: Sequence[str], name: str) -> str:
    rows = matching_runs(runs, name)
    if len(rows) != 1:
        raise UsageError(f"{_COMPARES} of two runs, {name!r} names {len(rows)}")
    return runs[rows[0]]


def _check_topic(pair: Pair, topic: str) -> None:
    """Refuse a topic that is none here, or that one of the runs does not answer."""
    if topic not in pair.topics:
        raise UsageError(f"no topic {topic!r}{nearest(topic, pair.topics)}")
    for run in (pair.run, pair.baseline):
        if not pair.documents.ranking(run, topic):
            raise UsageError(
                f"{run} has no document for topic {topic}, which scores 0: choose a topic that "
                "both runs answer"
            )
