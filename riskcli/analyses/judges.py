"""By how many judges a mark, a rank or a lost topic holds, where runs are scored under several."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np

from riskcli.analyses.block import Block
from riskcli.analyses.topic_summary import RunTopics
from riskcli.analyses.verdicts import about, called
from riskcli.core.arrays import Floats
from riskcli.core.messages import joined, listed
from riskcli.output.display import UNDEFINED, Display, Heading, in_title, span
from riskcli.output.measure_words import JUDGED, RANKED, weights, words_of
from riskcli.output.verdict import Statement
from riskcli.risk.measures import measures
from riskcli.scores.matrix import ScoreMatrix

_NAMED = 3
_SIDES = ("better", "worse")
_SHOWN = ("mean", "georisk")
"""The measures whose marks people are shown."""


def with_counts(parts: Sequence[RunTopics], matrices: Sequence[ScoreMatrix]) -> list[RunTopics]:
    """Runs topic by topic; with several judges, under how many of them each topic is lost."""
    plain = {matrix.measure: matrix.plain_measure for matrix in matrices if matrix.axes.judge}
    keys = [(plain.get(p.measure), p.baseline, p.alpha, p.run) for p in parts]
    lost = Counter(
        (key, topic)
        for key, part in zip(keys, parts, strict=True)
        for topic in compress(part.topics, part.lost)
    )
    found = []
    for key, part in zip(keys, parts, strict=True):
        counts = np.array([lost[key, topic] for topic in part.topics])
        columns = {**part.columns, "lost_judges": counts} if part.measure in plain else part.columns
        found.append(replace(part, columns=columns))
    return found


def with_judges(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, each saying by how many judges what is in it holds."""
    told = {id(block): block for block in blocks}
    for group in _groups(blocks):
        for block in group:
            columns = {**block.beside, **_columns(block, group)}
            told[id(block)] = replace(block, beside=columns)
        first = group[0]
        if first.said:
            said = replace(first.said, all=(_agreed(group), *first.said))
            told[id(first)] = replace(told[id(first)], said=said)
    return [*told.values()]


def _groups(blocks: Iterable[Block]) -> list[list[Block]]:
    """The blocks that differ in nothing but the judge."""
    groups: dict[tuple[object, ...], list[Block]] = {}
    for block in (block for block in blocks if block.judge):
        key = (block.plain_measure, block.baseline, block.population, block.alpha)
        groups.setdefault(key, []).append(block)
    return [*groups.values()]


def _columns(block: Block, group: Sequence[Block]) -> dict[str, Floats]:
    """By name: how many judges there are, and give the same mark; the best and worst ranks."""
    columns = {"judges": np.full(len(block.runs), float(len(group)))}
    compared = np.arange(len(block.runs)) != block.baseline_row
    for name in JUDGED:
        own, every = _by_run(block, f"{name}_flag"), [_by_run(b, f"{name}_flag") for b in group]
        if own:
            same = [sum(of.get(run) == mark for of in every) for run, mark in own.items()]
            columns[f"{name}_judges"] = np.where(compared, same, np.nan)
    for name in RANKED:
        every = [_by_run(each, f"rank_{name}") for each in group]
        for end, of_ranks in (("lo", np.min), ("hi", np.max)) if all(every) else ():
            ranks = [of_ranks([of[run] for of in every if run in of]) for run in block.runs]
            columns[f"rank_{name}_judges_{end}"] = np.array(ranks)
    return columns


def _by_run(block: Block, column: str) -> dict[str, Any]:
    """The cells of a column; none where the block does not have it."""
    cells = block.cells(column)
    return {} if cells is None else dict(zip(block.runs, cells.tolist(), strict=True))


def _marked(group: Sequence[Block], name: str, side: str) -> dict[str, int]:
    """By run: how many judges give it that mark."""
    every = [_by_run(block, f"{name}_flag") for block in group]
    return {run: sum(of.get(run) == side for of in every) for run in group[0].runs}


def by_count(counts: Mapping[str, int], number: int) -> str:
    """`a, b (3 of 3 judges), c (1 of 3 judges)`, without those of none."""
    return ", ".join(
        f"{listed([name for name, own in counts.items() if own == count], _NAMED)} "
        f"({count} of {number} judges)"
        for count in sorted({*counts.values()} - {0}, reverse=True)
    )


def _agreed(group: Sequence[Block]) -> Statement:
    """By how many judges a run's mean is better or worse than the baseline's."""
    first, number = group[0], len(group)
    whom = called(first.baseline, first.baseline_size)
    sides = {side: by_count(_marked(group, "mean", side), number) for side in _SIDES}
    told = "; ".join(f"{side} than {whom}: {who}" for side, who in sides.items() if who)
    text = told or f"by none of {number} judges a run is better or worse than {whom}"
    text = f"{text[0].upper()}{text[1:]}."
    return Statement("judges", text, about(first), numbers={"judges": number})


def tables(blocks: Sequence[Block]) -> list[Display]:
    """By how many judges marks, ranks and losses hold: a table a measure and baseline."""
    return [_table(g) for g in _groups(b for b in blocks if not b.own_names) if g[0].said]


def _table(group: Sequence[Block]) -> Display:
    first, number = group[0], len(group)
    columns: dict[str | Heading, Sequence[str]]
    columns = {Heading("run", left=True, names=True): first.runs}
    for measure in (m for m in measures() if m.id in _SHOWN and f"{m.id}_judges" in first.beside):
        title = words_of(measure).title
        for side in _SIDES:
            counts = _marked(group, measure.id, side).values()
            columns[f"{title}\n{side}"] = [f"{n} of {number}" if n else UNDEFINED for n in counts]
        ends = (first.beside[f"rank_{measure.id}_judges_{end}"].tolist() for end in ("lo", "hi"))
        columns[f"{title}\nranks"] = list(map(span, *ends))
    title = f"By how many judges it holds: {first.plain_measure}, baseline "
    title += f"{in_title(first.baseline)}, {weights([first.alpha], first.convention)}"
    caption = [
        f"Judges: {joined([block.judge for block in group])}. Better, worse: the judges under whom "
        "that mark stands; ranks: the best and the worst."
    ]
    return Display.of_rows(title, [*columns], list(zip(*columns.values(), strict=True)), caption)
