"""By how many judges a mark, a rank or a lost topic holds, where runs are scored under several."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from riskcli.analyses.blocks import Block
from riskcli.analyses.topic_summary import RunTopics
from riskcli.analyses.verdicts import about, called
from riskcli.core.arrays import Flags, Floats
from riskcli.core.messages import counted, joined, listed, naturally
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

Lost = Mapping[str, frozenset[str]]
"""By run the topics on which it is below the baseline."""


def lost_under_each(
    matrices: Iterable[ScoreMatrix], options: Options
) -> dict[tuple[str, str], dict[str, Lost]]:
    """By effectiveness measure and baseline, and then by judge: what each run loses."""
    found: dict[tuple[str, str], dict[str, Lost]] = {}
    for matrix in matrices:
        topics, judge = np.array(matrix.topics, dtype=object), matrix.axes.judge
        for comparison in comparisons(matrix, options) if judge else ():
            below = comparison.scores < comparison.baseline.scores
            lost = {r: frozenset(topics[b]) for r, b in zip(matrix.runs, below, strict=True)}
            found.setdefault((matrix.plain_measure, comparison.baseline.name), {})[judge] = lost
    return found


def held(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    """What is in all of them; nothing where there are none."""
    own = list(sets)
    return own[0].intersection(*own[1:]) if own else frozenset()


def with_counts(part: RunTopics, lost: Mapping[tuple[str, str], Mapping[str, Lost]]) -> RunTopics:
    """A run topic by topic, with the number of judges under which each topic is lost."""
    for (measure, baseline), by_judge in lost.items():
        if part.baseline == baseline and part.measure in {f"{measure} [{j}]" for j in by_judge}:
            own = [of[part.run] for of in by_judge.values() if part.run in of]
            counts = [sum(topic in topics for topics in own) for topic in part.topics]
            return replace(part, columns={**part.columns, "lost_judges": np.array(counts)})
    return part


def with_judges(
    blocks: Sequence[Block], matrices: Sequence[ScoreMatrix], options: Options
) -> list[Block]:
    """The blocks, each saying by how many judges what is in it holds."""
    if not any(block.judge for block in blocks):
        return list(blocks)
    lost, told = lost_under_each(matrices, options), dict[int, Block]()
    for group in _groups(blocks):
        first = group[0]
        by_judge = lost.get((first.plain_measure, first.baseline), {})
        for block in group:
            columns = _columns(block, group)
            if by_judge:
                each = [held(of[r] for of in by_judge.values() if r in of) for r in block.runs]
                columns["losses_judges"] = _off_baseline(block, [*map(len, each)])
            told[id(block)] = replace(block, beside={**block.beside, **columns})
        if first.said:
            said = replace(first.said, all=(_agreed(group), *first.said))
            told[id(first)] = replace(told[id(first)], said=said)
    return [told.get(id(block), block) for block in blocks]


def _groups(blocks: Iterable[Block]) -> list[list[Block]]:
    """The blocks that differ in nothing but the judge, of two or more."""
    groups: dict[tuple[object, ...], list[Block]] = {}
    for block in blocks:
        if block.judge:
            key = (block.plain_measure, block.baseline, block.population, block.alpha)
            groups.setdefault(key, []).append(block)
    return [group for group in groups.values() if len(group) > 1]


def _off_baseline(block: Block, counts: Sequence[int]) -> Floats:
    """Counts by run; a baseline's own row is compared with nothing."""
    cells = np.array(counts, dtype=float)
    if block.baseline_row is not None:
        cells[block.baseline_row] = np.nan
    return cells


def _columns(block: Block, group: Sequence[Block]) -> dict[str, Floats]:
    """By name: the judges with the same mark as here, and the best and the worst rank."""
    columns = {"judges": np.full(len(block.runs), float(len(group)))}
    for name in JUDGED:
        flags = [_by_run(each, f"{name}_flag") for each in group]
        own = flags[group.index(block)]
        if all(flags):
            same = [sum(of.get(run) == own[run] for of in flags) for run in block.runs]
            columns[f"{name}_judges"] = _off_baseline(block, same)
    for name in RANKED:
        ranks = [_by_run(each, f"rank_{name}") for each in group]
        if all(ranks):
            known = [[of[run] for of in ranks if run in of] for run in block.runs]
            for end, of_ranks in (("lo", min), ("hi", max)):
                columns[f"rank_{name}_judges_{end}"] = np.array([of_ranks(r) for r in known])
    return columns


def _by_run(block: Block, column: str) -> dict[str, Any]:
    """The cells of a column; none where the block does not have it."""
    cells: Floats | Flags | None = block.cells(column)
    return {} if cells is None else dict(zip(block.runs, cells.tolist(), strict=True))


def _counts(group: Sequence[Block], name: str, run: str) -> dict[str, int]:
    """How many judges mark the run as better, and as worse."""
    flags = [_by_run(each, f"{name}_flag").get(run) for each in group]
    return {side: flags.count(side) for side in _SIDES}


# In words.


def _agreed(group: Sequence[Block]) -> Statement:
    """By how many judges a run's mean is better or worse than the baseline's."""
    first, number = group[0], len(group)
    counts = {run: _counts(group, "mean", run) for run in first.runs}
    whom, every = called(first.baseline, first.baseline_size), all_judges(number)
    alike = {s: [run for run, c in counts.items() if c[s] == number] for s in _SIDES}
    agreed = [f"{_are(names)} {side}" for side, names in alike.items() if names]
    apart = {run: c for run, c in counts.items() if any(0 < c[side] < number for side in _SIDES)}
    text = f"{every} say that {' and '.join(agreed)} than {whom}" if agreed else ""
    if apart:
        named = [f"{run} ({_of(c, number)})" for run, c in apart.items()]
        text += f"{'; they' if text else 'The judges'} differ on {listed(named, _NAMED)}"
    text = text or f"Under none of {number} judges a run is shown to be better or worse than {whom}"
    runs = (*alike["better"], *alike["worse"], *apart)
    return Statement("judges", f"{text}.", about(first), runs, numbers={"judges": number})


def all_judges(number: int) -> str:
    """What they are called at the beginning of a sentence."""
    return "Both judges" if number == 2 else f"All {number} judges"


def _are(names: Sequence[str]) -> str:
    return f"{listed(names, _NAMED)} {'is' if len(names) == 1 else 'are'}"


def _of(counts: Mapping[str, int], number: int) -> str:
    """`better by 2 of 3`."""
    return joined([f"{side} by {count} of {number}" for side, count in counts.items() if count])


def lost_by_most(
    lost: Mapping[tuple[str, str], Mapping[str, Lost]], runs: Sequence[str]
) -> Iterator[Statement]:
    """On which topics most of these runs lose under every judge, and on how many under some."""
    for (measure, baseline), by_judge in lost.items():
        most = []
        for of in by_judge.values():
            topics = [topic for run in runs if run in of for topic in of[run]]
            most.append(frozenset(t for t in topics if 2 * topics.count(t) > len(runs)))
        every, some = held(most), frozenset[str]().union(*most)
        order = naturally(every)
        text = f"{all_judges(len(most))} say that most runs lose on {counted(len(order), 'topic')}"
        text += f" ({listed(order, _NAMED)})" if order else ""
        text += f", and some judge on {len(some - every)} more." if some - every else "."
        first = f"{measure} [{next(iter(by_judge))}], baseline {baseline}"
        if len(most) > 1 and len(runs) > 1:
            yield Statement("judges", text, first, topics=tuple(order))


def tables(blocks: Sequence[Block]) -> list[Display]:
    """By how many judges marks, ranks and losses hold: a table a measure and baseline."""
    return [_table(group) for group in _groups(blocks) if group[0].said]


def _table(group: Sequence[Block]) -> Display:
    first, number = group[0], len(group)
    shown = [m for m in measures() if m.id in _SHOWN and f"{m.id}_judges" in first.beside]
    headings = [Heading("run", left=True, names=True)]
    columns: list[list[str]] = [[*first.runs]]
    for measure in shown:
        counts = [_counts(group, measure.id, run) for run in first.runs]
        for side in _SIDES:
            headings.append(Heading(f"{words_of(measure).title}\n{side}"))
            columns.append([f"{c[side]} of {number}" if c[side] else UNDEFINED for c in counts])
        ends = (first.numbers(f"rank_{measure.id}_judges_{end}") for end in ("lo", "hi"))
        headings.append(Heading(f"{words_of(measure).title}\nranks"))
        columns.append([UNDEFINED if None in e else span(*e) for e in zip(*ends, strict=True)])
    if "losses_judges" in first.beside:
        headings.append(Heading("lost\nby all"))
        lost = first.numbers("losses_judges")
        columns.append([UNDEFINED if count is None else f"{count:g}" for count in lost])
    names = joined([block.judge for block in group])
    title = f"By how many judges it holds: {first.plain_measure}, baseline "
    title += f"{in_title(first.baseline)}, {weights([first.alpha], first.convention)}"
    caption = [
        f"Judges: {names}. Better, worse: the judges under which that mark stands; ranks: the best "
        "and the worst; lost by all: topics on which the run loses under every judge."
    ]
    return Display.of_rows(title, headings, list(zip(*columns, strict=True)), caption)
