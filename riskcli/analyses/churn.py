"""How far each run's rankings of documents are from the baseline's (SIGIR'12), topic by topic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskcli.analyses.base import Analysis, Names, set_up
from riskcli.analyses.churn_distances import SharedDocuments, agreement, kendall_distance
from riskcli.core.arrays import Counts, Floats, Rows
from riskcli.core.choices import Precision
from riskcli.core.messages import UsageError, counted
from riskcli.core.parallel import Progress, available_cores, in_order
from riskcli.effectiveness.ranking import JudgedDocuments, ranked
from riskcli.output.display import Display, Heading, folded, in_title
from riskcli.output.result import Result, tidy
from riskcli.risk.weights import Weights, weighed
from riskcli.scores.comparisons import Options, comparisons
from riskcli.scores.evaluation import Evaluation
from riskcli.trec.runs import Run, read_run
from riskcli.trec.source import MAX_BYTES

BINS = 10
MOVES = {
    "distance": ("distance", 3), "bin": ("bin", 0), "rbo": ("RBO", 3), "overlap": ("overlap", 3),
    "documents": ("docs", 0), "baseline_documents": ("base\ndocs", 0),
    "shared_documents": ("shared\ndocs", 0),
}  # fmt: skip
"""The columns of what moved: their headings and decimals in tables for people."""
USUAL_DEPTH = 10
USUAL_PERSISTENCE = 0.9
COLUMNS = ("run", "measure", "baseline", "topic", *MOVES, "score", "baseline_score", "delta")


@dataclass(frozen=True)
class Moves:
    """How far one run's rankings are from the baseline's: an array a figure, a cell a topic."""

    distance: Floats
    rbo: Floats
    overlap: Floats
    documents: Counts
    baseline_documents: Counts
    shared: Counts

    @property
    def bins(self) -> Rows:
        """Tenths of the distance, 0 to 9 (SIGIR'12, Figure 5)."""
        # A distance of 3/10 may come out as 0.3 less a rounding error.
        tenths = np.floor(self.distance * BINS + 1e-9).astype(np.intp)
        return np.minimum(tenths, BINS - 1)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """A cell a topic, by the name of the column."""
        lengths = (self.documents, self.baseline_documents, self.shared)
        arrays = (self.distance, self.bins, self.rbo, self.overlap, *lengths)
        return dict(zip(MOVES, arrays, strict=True))


@dataclass(frozen=True)
class RunChurn:
    """One run by one effectiveness measure: its moves, and its scores and the baseline's."""

    run: str
    measure: str
    baseline: str
    moves: Moves
    scores: Floats
    baseline_scores: Floats
    weights: Weights = None

    @property
    def delta(self) -> Floats:
        """Score less the baseline's, by topic."""
        return np.asarray(self.scores - self.baseline_scores)

    @property
    def columns(self) -> list[NDArray[Any]]:
        """What moved, the scores, and their differences."""
        return [*self.moves.columns.values(), self.scores, self.baseline_scores, self.delta]

    @property
    def bins(self) -> list[dict[str, int | float]]:
        """Of each bin its topics, and what they add to reward and to risk: the sums are the run's.

        SIGIR'12, Figure 5.
        """
        delta = weighed(self.delta, self.weights)
        gains, losses = np.maximum(delta, 0.0), np.maximum(-delta, 0.0)
        topics = len(self.delta)
        return [
            {
                "bin": number,
                "topics": int(here.sum()),
                "reward": float(gains[here].sum() / topics),
                "risk": float(losses[here].sum() / topics),
            }
            for number in range(BINS)
            for here in [self.moves.bins == number]
        ]


@dataclass(frozen=True, repr=False)
class ChurnTable(Analysis):
    """Every run but the baseline, by every effectiveness measure, and what it rests on."""

    parts: tuple[RunChurn, ...]
    topics: tuple[str, ...]
    at: int
    persistence: float
    depth: int | None

    def displays(self, width: int, /) -> Sequence[Display]:
        """A line a run: its rankings are the same under every effectiveness measure."""
        parts = {part.run: part for part in self.parts}.values()
        figures = ["distance\nmean", "median", "largest", "RBO", f"overlap\nat {self.at}"]
        run = Heading("run", left=True, names=True)
        headings: list[str | Heading] = [run, *figures, "topics\nin bin 0"]
        rows = [[part.run, *_summary(part.moves)] for part in parts]
        deep = "" if self.depth is None else f", first {counted(self.depth, 'document')}"
        title = f"How far rankings are from those of {in_title(self.parts[0].baseline)}{deep}"
        caption = [
            f"Over {counted(len(self.topics), 'topic')}. {self.legend}",
            "Bin 0: distance below 0.1.",
        ]
        return folded(Display.of_rows(title, headings, rows, caption), width)

    def of(self, measure: str, baseline: str) -> dict[str, RunChurn]:
        """By run; the baseline is the one that rankings were compared with."""
        parts = [p for p in self.parts if (p.measure, p.baseline) == (measure, baseline)]
        if not parts:
            raise UsageError(f"rankings were not compared with those of {baseline} by {measure}")
        return {part.run: part for part in parts}

    @property
    def depths(self) -> dict[str, Any]:
        """How deep rankings were compared, as settings record it."""
        return {"depth": self.depth, "at": self.at, "persistence": self.persistence}

    @property
    def legend(self) -> str:
        """What the figures are."""
        return (
            "Distance: share of the pairs of documents in another order (Kendall), 0 the same, 1 "
            "the reverse. A document missing from a ranking is placed below all others; a pair of "
            f"two missing documents counts one half. RBO: persistence {self.persistence:g}, "
            f"extrapolated. Overlap: of the first {counted(self.at, 'document')}."
        )

    def result(self) -> Result:
        """A row a run, measure and topic; what the bins add up to beside them."""
        rows = [
            (part.run, part.measure, part.baseline, *values)
            for part in self.parts
            for values in zip(self.topics, *map(tidy, part.columns), strict=True)
        ]
        bins = [{"run": p.run, "measure": p.measure, "bins": p.bins} for p in self.parts]
        return Result(COLUMNS, rows, self.provenance, {"bins": bins})


def _summary(moves: Moves) -> list[str]:
    distance = moves.distance
    figures = (distance.mean(), np.median(distance), distance.max(), moves.rbo.mean())
    texts = [f"{figure:.3f}" for figure in (*figures, moves.overlap.mean())]
    return [*texts, f"{(moves.bins == 0).mean():.0%}"]


def churn_table(
    scores: Evaluation,
    baseline: Names = None,
    *,
    depth: int | None = None,
    at: int = USUAL_DEPTH,
    persistence: float = USUAL_PERSISTENCE,
    jobs: int | None = None,
    max_bytes: int = MAX_BYTES,
    progress: Progress | None = None,
) -> ChurnTable:
    """How far the rankings of runs are from those of the baseline, which is a run.

    The run files of the evaluation are read again, for their documents: to `depth`, or as deep as
    they are. `at` is the depth of the overlap, `persistence` RBO's.
    """
    _check(scores, depth, at, persistence)
    setup = set_up(scores, Options(), baseline, noting=False)
    first = setup.matrices[0]
    compared = comparisons(first, setup.options)
    own = compared[0].baseline.own_row
    if len(compared) != 1 or own is None:
        raise UsageError("churn compares rankings: name one run as the baseline")
    settings = scores.provenance.settings
    reader = _Reader(
        first.topics, depth, settings.get("score_precision", "single"), max_bytes, at, persistence
    )
    moves = reader.moves(_files(scores, first.runs), own, jobs or available_cores(), progress)
    parts = [
        RunChurn(
            run,
            matrix.measure,
            matrix.runs[own],
            moves[row],
            scores_,
            matrix.values[own],
            matrix.weights,
        )
        for matrix in setup.matrices
        for row, (run, scores_) in enumerate(zip(matrix.runs, matrix.values, strict=True))
        if row != own
    ]
    if not parts:
        raise UsageError("there is no run but the baseline")
    table = ChurnTable(tuple(parts), first.topics, at, persistence, depth)
    settings = {"baselines": [first.runs[own]], **table.depths}
    return replace(table, provenance=setup.provenance.adding(settings))


def _check(scores: Evaluation, depth: int | None, at: int, persistence: float) -> None:
    if not isinstance(scores, Evaluation):
        raise UsageError("churn needs the runs themselves: give what `evaluate` returns")
    if at < 1 or (depth is not None and depth < 1):
        raise UsageError("a depth is 1 or more")
    if not 0 < persistence < 1:
        raise UsageError(f"the persistence is {persistence:g}, expected a number between 0 and 1")


def _files(evaluation: Evaluation, runs: Sequence[str]) -> list[Path]:
    """The file of each run."""
    lacking = [run for run in runs if run not in evaluation.files]
    if evaluation.systems:
        raise UsageError("churn compares documents, and repeats have no ranking of their own")
    if lacking:
        raise UsageError(
            f"churn compares documents: {lacking[0]} has scores alone, give the run itself"
        )
    return [evaluation.files[run] for run in runs]


@dataclass(frozen=True)
class _Reader:
    """Reads runs and compares their rankings with the baseline's."""

    topics: Sequence[str]
    depth: int | None
    precision: Precision
    max_bytes: int
    at: int
    persistence: float

    def moves(
        self, files: Sequence[Path], own: int, jobs: int, progress: Progress | None
    ) -> Mapping[int, Moves]:
        """By row, but for the baseline's own."""
        places = self._places(read_run(files[own], self.max_bytes))
        base = JudgedDocuments(places)
        lengths = np.array([len(places[topic]) for topic in self.topics])

        def compared(row: int) -> Moves:
            return self._compared(read_run(files[row], self.max_bytes), base, lengths)

        rows = [row for row in range(len(files)) if row != own]
        return dict(zip(rows, in_order(compared, rows, jobs, progress), strict=True))

    def _places(self, run: Run) -> dict[str, dict[str, int]]:
        """By topic, where each document stands in its ranking."""
        ranking = ranked(run, self.depth, self.precision)
        names = run.docnos.take(ranking.lines).as_strings()
        places: dict[str, dict[str, int]] = {topic: {} for topic in self.topics}
        bounds = zip(ranking.starts.tolist(), ranking.counts.tolist(), strict=True)
        for topic, (start, count) in zip(run.topics, bounds, strict=True):
            if topic in places:
                ordered = names[start : start + count]
                places[topic] = {name: index for index, name in enumerate(ordered)}
        return places

    def _compared(self, run: Run, base: JudgedDocuments, base_lengths: Counts) -> Moves:
        ranking = ranked(run, self.depth, self.precision)
        rows = np.array([base.topics.get(topic, -1) for topic in run.topics], dtype=np.intp)
        lengths = np.zeros(len(self.topics), dtype=np.int64)
        lengths[rows[rows >= 0]] = ranking.counts[rows >= 0]
        row_of_line = rows[ranking.codes]
        lines = np.flatnonzero(row_of_line >= 0)
        judged = base.find(run.docnos, ranking.lines[lines], row_of_line[lines])
        order = np.argsort(row_of_line[lines], kind="stable")
        order = order[judged[order] >= 0]
        lines, base_places = lines[order], base.grades[judged[order]].astype(np.intp)
        shared = SharedDocuments(
            lengths, base_lengths, row_of_line[lines], ranking.places[lines], base_places
        )
        overlap, rbo = agreement(shared, self.at, self.persistence)
        return Moves(kendall_distance(shared), rbo, overlap, lengths, base_lengths, shared.counts)
