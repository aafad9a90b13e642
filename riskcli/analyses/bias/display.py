"""The choice of a baseline for people: URisk under each, what it favours, and where runs lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskcli.analyses.bias.baselines import MatrixBias
from riskcli.core.choices import BiasPart
from riskcli.output.display import Cell, Display, Heading, decimal, folded, p_value


def displays(parts: Sequence[MatrixBias], part: BiasPart | None, width: int) -> list[Display]:
    """All parts, or the one asked for."""
    made: list[Display] = []
    for one in parts:
        order = [int(row) for row in np.argsort(-one.means, kind="stable")]
        if part in (None, "urisk"):
            made += folded(_matrix(one, order), width, fixed=2)
        if part in (None, "friedman"):
            made.append(_friedman(one))
        if part in (None, "baselines"):
            made.append(_baselines(one, order))
        if part in (None, "components"):
            made.append(_components(one, order))
    return made


def _matrix(one: MatrixBias, order: Sequence[int]) -> Display:
    """Runs by baselines, both from the best mean to the worst, virtual ones last."""
    places = [*order, *range(len(one.runs), len(one.baselines))]
    numbers = {row: str(number + 1) for number, row in enumerate(order)}
    headings = [Heading("#"), Heading("run", left=True, names=True)]
    headings += [Heading(numbers.get(p, one.baselines[p]), ranked=True) for p in places]
    rows = [
        [Cell(numbers[row]), Cell(one.runs[row]), *(_cell(one, row, index) for index in places)]
        for row in order
    ]
    caption = [
        "One column per baseline: the run of that number, or a virtual run. Beside URisk its rank "
        "under that baseline."
    ]
    title = f"URisk by {one.measure}, α = {one.alpha:g}, each run in turn as the baseline"
    return Display.of_rows(title, headings, rows, caption)


def _cell(one: MatrixBias, row: int, index: int) -> Cell:
    rank = one.ranks[row, index]
    value = None if row == index else float(one.found.urisk[row, index])
    return Cell(decimal(value, 3), rank=None if np.isnan(rank) else int(rank))


def _friedman(one: MatrixBias) -> Display:
    """The test, and what it does and does not say."""
    test = one.found.friedman
    equal = one.found.equal_runs
    headings = [
        Heading("χ²"), Heading("df"), Heading("p of χ²"), Heading("Kendall's W"),
        Heading("equal runs"), Heading("p of W"),
    ]  # fmt: skip
    row = [
        Cell(decimal(test.chi2, 2)),
        Cell(str(test.degrees)),
        Cell(p_value(test.p)),
        Cell(decimal(test.w, 3)),
        Cell(decimal(float(equal.w.mean[0]), 3)),
        Cell(p_value(float(equal.w.p[0]))),
    ]
    equally = (
        f" Equal runs have the W beside it on average ({equal.shuffles} shuffles of the runs "
        f"within topics, seed {equal.seed}): a small p of W says that the baselines agree on the "
        "runs more than chance makes them."
    )
    meaning = (
        f"W is 1 where every baseline ranks the runs alike.{equally if equal.shuffles else ''} "
        "The p of χ² (ECIR'14) has no such meaning, for the baselines are the runs themselves."
    )
    title = f"Friedman's test: {len(one.runs)} runs, each of them as baseline ({one.measure})"
    return Display.of_rows(title, headings, [row], [meaning])


def _baselines(one: MatrixBias, order: Sequence[int]) -> Display:
    found = one.found
    means = found.scores.mean(axis=1)
    rows = [
        [
            Cell(one.baselines[index]),
            Cell(decimal(float(means[index]), 4)),
            Cell(decimal(float(found.tau_b[index]), 3)),
            *(
                cell
                for value, equal in (
                    (found.bias, found.equal_runs.bias),
                    (found.partial, found.equal_runs.partial),
                )
                for cell in (
                    Cell(decimal(float(value[index]), 3)),
                    Cell(decimal(float(equal.mean[index]), 3)),
                    Cell(p_value(float(equal.p[index]))),
                )
            ),
        ]
        for index in [*order, *range(len(one.runs), len(one.baselines))]
    ]
    headings = [
        Heading("baseline", left=True), Heading("Mean"), Heading("τ_b"), Heading("bias r"),
        Heading("equal"), Heading("p"), Heading("partial"), Heading("equal"), Heading("p"),
    ]  # fmt: skip
    caption = [
        "τ_b: Kendall's, between the rankings of the other runs by mean and by URisk.",
        "bias r: correlation, over the other runs, between similarity to the baseline across "
        "topics and URisk less its linear part in the mean. partial: the mean taken out of the "
        "similarity too.",
        "equal: what equal runs have on average (shuffled within topics), for URisk falls with the "
        "distance to the baseline whatever the runs; p: two-sided, whether the runs differ from "
        "that. Only above the value of equal runs does a baseline favour runs that resemble it.",
    ]
    return Display.of_rows(f"Baselines ({one.measure}, α = {one.alpha:g})", headings, rows, caption)


def _components(one: MatrixBias, order: Sequence[int]) -> Display:
    explained = one.components.explained
    headings = [Heading("run", left=True, names=True)]
    headings += [Heading(f"PC{i + 1} ({share:.1%})") for i, share in enumerate(explained)]
    rows = [
        [
            Cell(one.baselines[index]),
            *(Cell(decimal(float(at), 3)) for at in one.components.coordinates[index]),
        ]
        for index in [*order, *range(len(one.runs), len(one.baselines))]
    ]
    caption = [
        "Runs as points in the space of topics, centred on the mean run; virtual runs projected. "
        "Runs near a baseline have its profile."
    ]
    return Display.of_rows(f"Principal components ({one.measure})", headings, rows, caption)
