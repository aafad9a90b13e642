"""Losses topic by topic, put together by group of topics: which groups pay for the gains."""

from collections.abc import Sequence

import numpy as np

from riskcli.analyses.topic_summary import RunTopics
from riskcli.core.arrays import Flags
from riskcli.core.messages import counted, natural_key
from riskcli.output.display import Cell, Column, Display, Heading, decimal, in_title
from riskcli.output.escape import visible
from riskcli.output.measure_words import GROUP
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
    title = visible(name.removeprefix(f"{GROUP}_"))
    cells = [Cell(group) for group in part.columns[name].tolist()]
    return Column(Heading(title, left=True, optional=True), [*cells, Cell("")])


def losses_of(parts: Sequence[RunTopics]) -> tuple[Display, ...]:
    """Of the runs of each comparison, the losses by group; of several alphas the first."""
    compared: dict[str, dict[str, RunTopics]] = {}
    for part in parts:
        compared.setdefault(part.comparison, {}).setdefault(part.run, part)
    return tuple(
        _losses([*runs.values()], name)
        for runs in compared.values()
        for name in filter(are_groups, next(iter(runs.values())).columns)
    )


def _losses(parts: Sequence[RunTopics], name: str) -> Display:
    """A row a group, the worst first: what its topics lose, on average over the runs."""
    first, labels = parts[0], parts[0].columns[name]
    delta = np.mean([part.columns["delta"] for part in parts], axis=0)
    lost = np.mean([part.lost for part in parts], axis=0)
    weights = first.columns.get("weight", np.ones(len(labels)))
    places = 0 if len(parts) == 1 else 1
    rows: list[tuple[float, list[str]]] = []
    for group in sorted({*labels.tolist()}, key=natural_key):
        own = np.flatnonzero(labels == group)
        change, worst = np.average(delta[own], weights=weights[own]), own[np.argmin(delta[own])]
        cells = [group, str(len(own)), decimal(float(lost[own].sum()), places)]
        rows.append((change, [*cells, decimal(float(change), 4), first.topics[worst]]))
    rows.sort(key=lambda row: round(row[0], 12))
    headings: list[str | Heading] = [Heading("group", left=True, names=True)]
    headings += ["topics", "lost", "mean change", Heading("worst topic", left=True)]
    who = first.run if len(parts) == 1 else f"mean of {counted(len(parts), 'run')}"
    title = f"Losses by {name.removeprefix(f'{GROUP}_')}, {who}: {first.measure} against "
    more = len(rows) - MOST_GROUPS
    lines = [f"{counted(more, 'more group')}: -f tsv has all."] if more > 0 else []
    shown = [cells for _, cells in rows[:MOST_GROUPS]]
    return Display.of_rows(title + in_title(first.baseline), headings, shown, lines)
