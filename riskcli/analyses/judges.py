"""By how many judges a mark, a rank or a lost topic holds, where runs are scored under several."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
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
from riskcli.scores.comparisons import Options, comparisons
from riskcli.scores.matrix import ScoreMatrix

_NAMED = 3
_SIDES = ("better", "worse")
_SHOWN = ("mean", "georisk")
"""The measures whose marks people are shown."""

Lost = Mapping[tuple[str, str], Mapping[str, Mapping[str, frozenset[str]]]]
"""By effectiveness measure and baseline, then by judge and run: the topics below the baseline."""


def lost_under_each(matrices: Iterable[ScoreMatrix], options: Options) -> Lost:
    """What each run loses; nothing where there are not several judges."""
    found: dict[tuple[str, str], dict[str, dict[str, frozenset[str]]]] = {}
    for matrix in (matrix for matrix in matrices if matrix.axes.judge):
        topics = np.array(matrix.topics, dtype=object)
        for comparison in comparisons(matrix, options):
            below = comparison.scores < comparison.baseline.scores
            lost = {r: frozenset(topics[b]) for r, b in zip(matrix.runs, below, strict=True)}
            key = (matrix.plain_measure, comparison.baseline.name)
            found.setdefault(key, {})[matrix.measure] = lost
    return found


def with_counts(part: RunTopics, lost: Lost) -> RunTopics:
    """A run topic by topic, with the number of judges under which each topic is lost."""
    for (_, baseline), by_judge in lost.items():
        if part.baseline == baseline and part.measure in by_judge:
            own = [of.get(part.run, ()) for of in by_judge.values()]
            counts = [sum(topic in topics for topics in own) for topic in part.topics]
            return replace(part, columns={**part.columns, "lost_judges": np.array(counts)})
    return part


def with_judges(
    blocks: Sequence[Block], matrices: Sequence[ScoreMatrix], options: Options
) -> list[Block]:
    """The blocks, each saying by how many judges what is in it holds."""
    lost, told = lost_under_each(matrices, options), {id(block): block for block in blocks}
    for group in _groups(blocks):
        first = group[0]
        by_judge = [*lost.get((first.plain_measure, first.baseline), {}).values()]
        for block in group:
            columns = _columns(block, group, by_judge)
            told[id(block)] = replace(block, beside={**block.beside, **columns})
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


def _columns(
    block: Block, group: Sequence[Block], lost: Sequence[Mapping[str, frozenset[str]]]
) -> dict[str, Floats]:
    """By name: the judges with the same mark, the topics lost under all, best and worst ranks."""
    counts: dict[str, list[int]] = {}
    for name in JUDGED:
        own, every = _by_run(block, f"{name}_flag"), [_by_run(b, f"{name}_flag") for b in group]
        if all(every):
            same = [sum(of.get(run) == own[run] for of in every) for run in block.runs]
            counts[f"{name}_judges"] = same
    if lost:
        of_all = [frozenset.intersection(*(of[r] for of in lost if r in of)) for r in block.runs]
        counts["losses_judges"] = [*map(len, of_all)]
    columns = {name: np.array(cells, dtype=float) for name, cells in counts.items()}
    for cells in columns.values():  # a baseline's own row is compared with nothing
        cells[[] if block.baseline_row is None else block.baseline_row] = np.nan
    for name in RANKED:
        ranks = [_by_run(each, f"rank_{name}") for each in group]
        for end, of_ranks in (("lo", min), ("hi", max)) if all(ranks) else ():
            known = [of_ranks(of[run] for of in ranks if run in of) for run in block.runs]
            columns[f"rank_{name}_judges_{end}"] = np.array(known)
    return {"judges": np.full(len(block.runs), float(len(group))), **columns}


def _by_run(block: Block, column: str) -> dict[str, Any]:
    """The cells of a column; none where the block does not have it."""
    cells = block.cells(column)
    return {} if cells is None else dict(zip(block.runs, cells.tolist(), strict=True))


def _marked(group: Sequence[Block], name: str, side: str) -> dict[str, int]:
    """By run: how many judges give it that mark."""
    every = [_by_run(block, f"{name}_flag") for block in group]
    return {run: sum(of.get(run) == side for of in every) for run in group[0].runs}


def sentence(verb: str, parts: Iterable[tuple[int, str]], number: int) -> str:
    """`all 3 judges pass a; 1 of 3 b`: by how many judges what holds, the most first."""
    everyone = "both" if number == 2 else f"all {number}"
    told = [
        f"{everyone if count == number else f'{count} of {number}'} judges {verb} {what}"
        for count, what in sorted(parts, key=lambda part: -part[0])
        if count
    ]
    return "; ".join([*told[:1], *(text.replace(f" judges {verb}", "", 1) for text in told[1:])])


def by_count(counts: Mapping[str, int]) -> Iterator[tuple[int, list[str]]]:
    """Each count, and of whom it is."""
    for count in {*counts.values()}:
        yield count, [name for name, own in counts.items() if own == count]


def _agreed(group: Sequence[Block]) -> Statement:
    """By how many judges a run's mean is better or worse than the baseline's."""
    first, number = group[0], len(group)
    whom = called(first.baseline, first.baseline_size)
    parts = [
        (count, f"that {listed(runs, _NAMED)} {'is' if len(runs) == 1 else 'are'} {side}")
        for side in _SIDES
        for count, runs in by_count(_marked(group, "mean", side))
    ]
    none = f"none of {number} judges says that a run is better or worse"
    text = f"Against {whom}, {sentence('say', parts, number) or none}."
    return Statement("judges", text, about(first), numbers={"judges": number})


def tables(blocks: Sequence[Block]) -> list[Display]:
    """By how many judges marks, ranks and losses hold: a table a measure and baseline."""
    return [_table(group) for group in _groups(blocks) if group[0].said]


def _table(group: Sequence[Block]) -> Display:
    first, number = group[0], len(group)
    columns: dict[str | Heading, list[str]] = {Heading("run", left=True, names=True): [*first.runs]}
    for measure in (m for m in measures() if m.id in _SHOWN and f"{m.id}_judges" in first.beside):
        title = words_of(measure).title
        for side in _SIDES:
            counts = _marked(group, measure.id, side).values()
            texts = [f"{count} of {number}" if count else UNDEFINED for count in counts]
            columns[f"{title}\n{side}"] = texts
        ends = (first.beside[f"rank_{measure.id}_judges_{end}"].tolist() for end in ("lo", "hi"))
        columns[f"{title}\nranks"] = list(map(span, *ends))
    lost = first.numbers("losses_judges")
    columns["lost\nby all"] = [UNDEFINED if each is None else f"{each:.0f}" for each in lost]
    title = f"By how many judges it holds: {first.plain_measure}, baseline "
    title += f"{in_title(first.baseline)}, {weights([first.alpha], first.convention)}"
    caption = [
        f"Judges: {joined([block.judge for block in group])}. Better, worse: the judges under whom "
        "that mark stands; ranks: the best and the worst; lost by all: topics on which the run "
        "loses under every judge."
    ]
    return Display.of_rows(title, [*columns], list(zip(*columns.values(), strict=True)), caption)
