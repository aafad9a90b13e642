"""Churn for people: a line a run, then what each tenth of the distance brought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from riskcli.analyses.base import Analysis, Names, set_up
from riskcli.analyses.churn_distances import (
    BINS,
    Churn,
    Moves,
    RunChurn,
    Shared,
    agreement,
    kendall_distance,
)
from riskcli.core.arrays import Counts
from riskcli.core.choices import Precision
from riskcli.core.messages import UsageError, counted
from riskcli.core.parallel import Progress, available_cores, in_order
from riskcli.effectiveness.ranking import JudgedDocuments, ranked
from riskcli.output.display import Cell, Display, Heading, folded, in_title
from riskcli.output.result import Result, Value, tidy
from riskcli.scores.comparisons import Options, comparisons
from riskcli.scores.evaluation import Evaluation
from riskcli.trec.runs import Run, read_run
from riskcli.trec.source import MAX_BYTES

_MOST_RUNS = 12


def displays(table: Churn, width: int) -> list[Display]:
    """The summary of all runs, then the bins of each effectiveness measure."""
    measures = list(dict.fromkeys(part.measure for part in table.parts))
    made = folded(_summary(table, measures[0]), width)
    for measure in measures:
        made += folded(_bins(table, measure), width)
    return made


def _summary(table: Churn, measure: str) -> Display:
    headings = [
        Heading("run", left=True, names=True), Heading("distance\nmean"), Heading("median"),
        Heading("largest"), Heading("RBO"), Heading(f"overlap\nat {table.at}"),
        Heading("topics\nin bin 0"),
    ]  # fmt: skip
    rows = []
    for part in _of(table, measure):
        moves = part.moves
        rows.append(
            [
                Cell(part.run),
                Cell(f"{moves.distance.mean():.3f}"),
                Cell(f"{np.median(moves.distance):.3f}"),
                Cell(f"{moves.distance.max():.3f}"),
                Cell(f"{moves.rbo.mean():.3f}"),
                Cell(f"{moves.overlap.mean():.3f}"),
                Cell(f"{(moves.bins == 0).mean():.0%}"),
            ]
        )
    deep = "" if table.depth is None else f", first {counted(table.depth, 'document')}"
    base = in_title(table.parts[0].baseline)
    title = f"How far rankings are from those of {base}{deep}"
    caption = [
        f"Over {counted(len(table.topics), 'topic')}. Distance: share of the pairs of documents in "
        "another order (Kendall), 0 the same, 1 the reverse. A document missing from a "
        "ranking is placed below all others; a pair of two missing documents counts one half.",
        f"RBO: persistence {table.persistence:g}, extrapolated. Bin 0: distance below 0.1.",
    ]
    return Display.of_rows(title, headings, rows, caption)


def _bins(table: Churn, measure: str) -> Display:
    parts = _of(table, measure)
    shown = sorted({number for part in parts[:_MOST_RUNS] for number in part.moves.bins.tolist()})
    headings = [
        Heading("run", left=True, names=True),
        Heading("", left=True),
        *(Heading(f"{number / BINS:.1f}–\n{(number + 1) / BINS:.1f}") for number in shown),
    ]
    rows = [row for part in parts[:_MOST_RUNS] for row in _bin_rows(part, shown)]
    caption = [
        "Topics by distance (SIGIR'12, Figure 5), and what they add to the run's reward and risk; "
        "bins without a topic are left out."
    ]
    if len(parts) > _MOST_RUNS:
        caption.append(f"The first {_MOST_RUNS} of {len(parts)} runs; -f json has all.")
    return Display.of_rows(f"{measure}: topics by distance", headings, rows, caption)


def _bin_rows(part: RunChurn, shown: Sequence[int]) -> Iterator[list[Cell]]:
    """Only of the bins that are shown."""
    bins = list(part.by_bin())
    _, topics, reward, risk = zip(*(bins[number] for number in shown), strict=True)
    every = len(part.delta)
    yield [Cell(part.run), Cell("topics"), *(Cell(_blank(n, f"{n / every:.0%}")) for n in topics)]
    for word, values in (("reward", reward), ("risk", risk)):
        cells = [_blank(n, f"{value:.4f}") for n, value in zip(topics, values, strict=True)]
        yield [Cell(""), Cell(word), *map(Cell, cells)]


def _blank(topics: int, text: str) -> str:
    return text if topics else ""


def _of(table: Churn, measure: str) -> Sequence[RunChurn]:
    return [part for part in table.parts if part.measure == measure]


# How far each run's rankings moved from the baseline's, topic by topic, and what that brought.


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
        return Result(COLUMNS, rows, self.provenance, {"bins": [*map(_bins_entry, self.parts)]})


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
        tuple(parts),
        first.topics,
        at,
        persistence,
        depth,
        provenance=setup.provenance.adding(record),
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
                found = names[start : start + count]
                places[topic] = {name: index for index, name in enumerate(found)}
        return places

    def _compared(self, run: Run, base: JudgedDocuments, base_lengths: Counts) -> Moves:
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
