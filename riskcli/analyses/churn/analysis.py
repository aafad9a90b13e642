"""How far each run's rankings moved from the baseline's, topic by topic, and what that brought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from riskcli.analyses.base import Analysis, Names, set_up
from riskcli.analyses.churn.display import displays
from riskcli.analyses.churn.distances import Shared, agreement, kendall_distance
from riskcli.analyses.churn.moves import Churn, Moves, RunChurn
from riskcli.core.arrays import Counts
from riskcli.core.choices import Precision
from riskcli.core.errors import UsageError
from riskcli.core.parallel import Progress, available_cores, in_order
from riskcli.effectiveness.judged import Judged
from riskcli.effectiveness.ranking import ranked
from riskcli.output.display import Display
from riskcli.output.result import Result, Value, tidy
from riskcli.risk.options import Options
from riskcli.risk.table import comparisons
from riskcli.scores.evaluation import Evaluation
from riskcli.trec.pieces import read_run
from riskcli.trec.runs import Run
from riskcli.trec.source import MAX_BYTES

USUAL_DEPTH = 10
USUAL_PERSISTENCE = 0.9
COLUMNS = (
    "run", "measure", "baseline", "topic", "distance", "bin", "rbo", "overlap", "documents",
    "baseline_documents", "shared_documents", "score", "baseline_score", "delta",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class ChurnTable(Analysis, Churn):
    """Every run but the baseline, by every effectiveness measure, and what it rests on."""

    def displays(self, width: int, /) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        return displays(self, width)

    def result(self) -> Result:
        """A row a run, measure and topic; what the bins add up to beside them."""
        rows = [row for part in self.parts for row in _rows(part, self.topics)]
        return Result(COLUMNS, rows, self.basis, {"bins": [*map(_bins_entry, self.parts)]})


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
    settings = scores.basis.settings
    reader = _Reader(
        first.topics, depth, settings.get("score_precision", "single"), max_bytes, at, persistence
    )
    moves = reader.moves(_files(scores, first.runs), own, jobs or available_cores(), progress)
    parts = [
        RunChurn(run, matrix.measure, matrix.runs[own], moves[row], scores_, matrix.values[own])
        for matrix in setup.matrices
        for row, (run, scores_) in enumerate(zip(matrix.runs, matrix.values, strict=True))
        if row != own
    ]
    if not parts:
        raise UsageError("there is no run but the baseline")
    record = {
        "baselines": [first.runs[own]], "depth": depth, "at": at, "persistence": persistence,
    }  # fmt: skip
    return ChurnTable(
        tuple(parts), first.topics, at, persistence, depth, basis=setup.basis.adding(record)
    )


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
        base = Judged(places)
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
                found = names[start : start + count]
                places[topic] = {name: index for index, name in enumerate(found)}
        return places

    def _compared(self, run: Run, base: Judged, base_lengths: Counts) -> Moves:
        ranking = ranked(run, self.depth, self.precision)
        rows = np.array([base.topics.get(topic, -1) for topic in run.topics], dtype=np.intp)
        lengths = np.zeros(len(self.topics), dtype=np.int64)
        lengths[rows[rows >= 0]] = ranking.counts[rows >= 0]
        row_of_line = rows[ranking.codes]
        asked = np.flatnonzero(row_of_line >= 0)
        found = base.find(run.docnos, ranking.lines[asked], row_of_line[asked])
        there = found >= 0
        asked, found = asked[there], found[there]
        order = np.argsort(row_of_line[asked], kind="stable")
        asked, found = asked[order], found[order]
        shared = Shared(
            lengths,
            base_lengths,
            row_of_line[asked],
            ranking.places[asked],
            base.grades[found].astype(np.intp),
        )
        overlap, rbo = agreement(shared, self.at, self.persistence)
        return Moves(kendall_distance(shared), rbo, overlap, lengths, base_lengths, shared.counts)


def _rows(part: RunChurn, topics: Sequence[str]) -> Iterator[tuple[Value, ...]]:
    moves = part.moves
    columns = [
        tidy(column)
        for column in (
            moves.distance, moves.bins, moves.rbo, moves.overlap, moves.documents,
            moves.baseline_documents, moves.shared, part.scores, part.baseline_scores, part.delta,
        )
    ]  # fmt: skip
    for topic, *values in zip(topics, *columns, strict=True):
        yield (part.run, part.measure, part.baseline, topic, *values)


def _bins_entry(part: RunChurn) -> dict[str, Value | list[dict[str, Value]]]:
    bins: list[dict[str, Value]] = [
        {"bin": number, "topics": topics, "reward": reward, "risk": risk}
        for number, topics, reward, risk in part.by_bin()
    ]
    return {"run": part.run, "measure": part.measure, "bins": bins}
