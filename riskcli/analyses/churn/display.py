"""Churn for people: a line a run, then what each tenth of the distance brought."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from riskcli.analyses.churn.moves import BINS, Churn, RunChurn
from riskcli.core.notes import counted
from riskcli.output.display import Cell, Display, Heading, folded, in_title

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
