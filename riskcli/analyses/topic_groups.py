"""Losses topic by topic, put together by group of topics: which groups pay for the gains."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riskcli.analyses.topic_summary import RunTopics
from riskcli.core.arrays import Flags
from riskcli.core.messages import counted, natural_key
from riskcli.effectiveness.measures import is_logarithm
from riskcli.output import display
from riskcli.output.display import Cell, Column, Display, Heading
from riskcli.output.measure_words import GROUP
from riskcli.risk.paired import loses_a_fifth
from riskcli.risk.rounding import equal_digits
from riskcli.scores.matrix import ScoreMatrix

MOST_GROUPS = 8
"""Of more groups the worst are shown."""


def columns_in(matrix: ScoreMatrix) -> dict[str, Flags]:
    """The groups of the topics as columns: `group`, or one for each of several groupings."""
    groupings = matrix.axes.groups_of(matrix.topics)
    one = len(groupings) == 1
    return {GROUP if one else f"{GROUP}_{n}": np.array(g) for n, g in groupings.items()}


def are_groups(name: str) -> bool:
    """Whether a column of topics holds their groups."""
    return name == GROUP or name.startswith(f"{GROUP}_")


def columns_of(part: RunTopics) -> list[Column]:
    """The groups of a run's topics beside these."""
    return [column_of(part, name) for name in part.columns if are_groups(name)]


def column_of(part: RunTopics, name: str) -> Column:
    """One of them; the line of all topics is in no group."""
    title = name.removeprefix(f"{GROUP}_")
    cells = [Cell(group) for group in part.columns[name].tolist()]
    return Column(Heading(title, left=True, optional=True), [*cells, Cell("")])


@dataclass(frozen=True)
class GroupLosses:
    """What the topics of a group lose, on average over the runs."""

    group: str
    topics: int
    losing: float
    ruined: float | None
    """Topics that lose over a fifth; None where scores have no fifths."""
    change: float
    worst_topic: str


@dataclass(frozen=True)
class LossesByGroup:
    """The groups of one grouping, the worst first, of runs against one baseline."""

    title: str
    runs: tuple[str, ...]
    groups: tuple[GroupLosses, ...]

    def display(self) -> Display:
        """A row a group."""
        shown, places = self.groups[:MOST_GROUPS], 0 if len(self.runs) == 1 else 1
        columns = [
            Column.of(Heading("group", left=True, names=True), [each.group for each in shown]),
            Column.of("topics", [str(each.topics) for each in shown]),
            Column.of("lost", display.decimals((each.losing for each in shown), places)),
            Column.of("L>20%", display.decimals((each.ruined for each in shown), places)),
            Column.of("mean change", display.decimals((each.change for each in shown), 4)),
            Column.of(Heading("worst topic", left=True), [each.worst_topic for each in shown]),
        ]
        more = len(self.groups) - len(shown)
        lines = [f"{counted(more, 'group')} more: {GROUP} in -f tsv."] if more else []
        return Display(self.title, columns, lines)


def losses_of(parts: Sequence[RunTopics]) -> tuple[LossesByGroup, ...]:
    """Of the runs of each comparison, the losses by group; of several alphas the first."""
    compared: dict[str, dict[str, RunTopics]] = {}
    for part in parts:
        compared.setdefault(part.comparison, {}).setdefault(part.run, part)
    return tuple(each for runs in compared.values() for each in _of_runs([*runs.values()]))


def _of_runs(parts: Sequence[RunTopics]) -> Iterator[LossesByGroup]:
    first = parts[0]
    runs = tuple(part.run for part in parts)
    delta = np.array([part.columns["delta"] for part in parts], dtype=float)
    base = np.array(first.columns["baseline_score"], dtype=float)
    fifths = None if is_logarithm(first.measure) else loses_a_fifth(delta, base)
    who = runs[0] if len(runs) == 1 else f"mean of {counted(len(runs), 'run')}"
    for name, groups in _groupings(first.columns).items():
        found = [
            _losses(group, first.topics, groups == group, delta, fifths)
            for group in dict.fromkeys(groups.tolist())
        ]
        changes = equal_digits(np.array([each.change for each in found]))
        order = sorted(range(len(found)), key=lambda i: (changes[i], natural_key(found[i].group)))
        title = f"Losses by {name.removeprefix(f'{GROUP}_')}, {who}: {first.measure} against "
        title += display.in_title(first.baseline)
        yield LossesByGroup(title, runs, tuple(found[i] for i in order))


def _groupings(columns: Mapping[str, NDArray[np.generic]]) -> dict[str, NDArray[np.generic]]:
    return {name: column for name, column in columns.items() if are_groups(name)}


def _losses(
    group: str,
    topics: Sequence[str],
    members: NDArray[np.bool_],
    delta: NDArray[np.float64],
    fifths: NDArray[np.bool_] | None,
) -> GroupLosses:
    own = delta[:, members]
    lost = float((own < 0).sum(axis=1).mean())
    ruined = None if fifths is None else float(fifths[:, members].sum(axis=1).mean())
    worst = np.flatnonzero(members)[int(np.argmin(own.mean(axis=0)))]
    count = int(members.sum())
    return GroupLosses(group, count, lost, ruined, float(own.mean()), topics[int(worst)])
