"""Each run in turn as the baseline: how far the verdict depends on that choice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from riskcli.analyses.base import Analysis, Scores, matrices_of, provenance_of, refuse_much
from riskcli.analyses.baseline_bias import (
    MatrixBias,
    each_as_baseline,
    principal_components,
    too_much_to_shuffle,
)
from riskcli.core.choices import BiasPart, check_words
from riskcli.core.limits import MOST_LISTED_PAIRS, refuse_many_pairs
from riskcli.core.messages import Note, UsageError
from riskcli.output.display import Cell, Display, Heading, decimal, folded, p_value
from riskcli.output.result import Result, Tables, Value, part_of, rows_of, tidy
from riskcli.risk.estimate import rank, rank_each
from riskcli.scores.comparisons import Options
from riskcli.scores.matrix import ScoreMatrix


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


# Each run in turn as the baseline: how far the verdict depends on that choice.


PARTS: tuple[BiasPart, ...] = get_args(BiasPart)

COLUMNS: Mapping[BiasPart, tuple[str, ...]] = {
    "urisk": (
        "run", "measure", "baseline", "alpha", "topics", "mean", "urisk", "rank_mean",
        "rank_urisk", "similarity",
    ),
    "baselines": (
        "baseline", "measure", "alpha", "mean", "runs", "tau_b", "bias", "bias_partial",
        "bias_equal", "bias_p", "bias_partial_equal", "bias_partial_p",
    ),
    "components": ("name", "measure", "kind", "component", "explained", "coordinate"),
    "friedman": ("measure", "alpha", "runs", "baselines", "chi2", "df", "p", "w", "w_equal", "w_p"),
}  # fmt: skip
DEFAULT_ALPHA = 10.0


@dataclass(frozen=True, repr=False)
class Bias(Analysis):
    """The matrices of a call, and what they rest on."""

    parts: tuple[MatrixBias, ...]
    part: BiasPart | None = None
    """What is shown: a table for people shows all parts where none is named."""

    def only(self, part: BiasPart | None) -> Bias:
        """Only that part (None: all)."""
        if part is not None:
            check_words(part=(part, BiasPart))
        return replace(self, part=part)

    def displays(self, width: int, /) -> Sequence[Display]:
        """The tables for people, given the width that they may take."""
        return displays(self.parts, self.part, width)

    def result(self) -> Result:
        """The rows of one part (of all: of urisk); JSON has the others beside them."""
        urisk = sum(one.found.urisk.size for one in self.parts)
        makers: Mapping[BiasPart, Callable[[MatrixBias], Iterator[list[Value]]]] = {
            "baselines": _baseline_rows,
            "components": _component_rows,
            "friedman": _friedman_rows,
        }
        tables: Tables = {
            "urisk": (
                COLUMNS["urisk"],
                rows_of(urisk, lambda: (row for one in self.parts for row in _urisk_rows(one))),
            ),
            **{
                name: (COLUMNS[name], [row for one in self.parts for row in make(one)])
                for name, make in makers.items()
            },
        }
        return part_of(self.provenance, tables, self.part or PARTS[0])


def baseline_bias(scores: Scores, *, alpha: float = DEFAULT_ALPHA, components: int = 2) -> Bias:
    """URisk of every run against every other, Friedman's test, and the bias of each baseline."""
    if not (np.isfinite(alpha) and alpha >= 0):
        raise UsageError(f"alpha is {alpha}, expected a number of at least 0")
    matrices = matrices_of(scores)
    for matrix in matrices:
        refuse_many_pairs(len(matrix.runs), "give fewer runs", MOST_LISTED_PAIRS)
    pairs = sum(len(matrix.runs) ** 2 // 2 for matrix in matrices)
    refuse_much("sweep --over baseline", matrices, Options(alphas=(alpha,)), pairs=pairs)
    parts = tuple(_matrix_bias(matrix, alpha, components) for matrix in matrices)
    equal = parts[0].found.equal_runs
    settings = {"alphas": [alpha], "components": components}
    settings |= {"shuffles": equal.shuffles, "seed": equal.seed}
    notes = [_not_shuffled(matrix) for matrix in matrices if too_much_to_shuffle(matrix.values)]
    return Bias(parts, provenance=provenance_of(scores).adding(settings, notes))


def _not_shuffled(matrix: ScoreMatrix) -> Note:
    runs, topics = matrix.values.shape
    message = (
        f"{matrix.measure}: {runs:,} runs by {topics:,} topics are too many to be shuffled, so "
        "that what equal runs have on average, and its p-values, are left empty"
    )
    return Note("not-shuffled", message)


def _matrix_bias(matrix: ScoreMatrix, alpha: float, components: int) -> MatrixBias:
    if len(matrix.runs) < 2 or not matrix.topics:
        raise UsageError(f"a sweep over baselines needs two runs or more, found {len(matrix.runs)}")
    found = each_as_baseline(matrix.values, alpha)
    compared = found.urisk.copy()
    np.fill_diagonal(compared[:, : len(matrix.runs)], np.nan)
    virtual = found.scores[len(matrix.runs) :]
    return MatrixBias(
        measure=matrix.measure,
        alpha=alpha,
        topics=len(matrix.topics),
        runs=matrix.runs,
        means=matrix.values.mean(axis=1),
        found=found,
        ranks=np.stack(rank_each(compared.T), axis=1),
        components=principal_components(matrix.values, virtual, components),
    )


def _urisk_rows(one: MatrixBias) -> Iterator[list[Value]]:
    rank_mean = tidy(rank(one.means), whole=True)
    for index, baseline in enumerate(one.baselines):
        columns = [
            tidy(one.means),
            tidy(one.found.urisk[:, index]),
            rank_mean,
            tidy(one.ranks[:, index], whole=True),
            tidy(one.found.similarity[:, index]),
        ]
        for run, *values in zip(one.runs, *columns, strict=True):
            yield [run, one.measure, baseline, one.alpha, one.topics, *values]


def _baseline_rows(one: MatrixBias) -> Iterator[list[Value]]:
    found = one.found
    means = tidy(found.scores.mean(axis=1))
    equal = found.equal_runs
    columns = [
        tidy(x)
        for x in (
            found.tau_b, found.bias, found.partial,
            equal.bias.mean, equal.bias.p, equal.partial.mean, equal.partial.p,
        )
    ]  # fmt: skip
    for index, (name, *values) in enumerate(zip(one.baselines, *columns, strict=True)):
        others = len(one.runs) - (index < len(one.runs))
        yield [name, one.measure, one.alpha, means[index], others, *values]


def _component_rows(one: MatrixBias) -> Iterator[list[Value]]:
    coordinates = one.components.coordinates.tolist()
    for component, explained in enumerate(one.components.explained.tolist()):
        for index, name in enumerate(one.baselines):
            kind = "run" if index < len(one.runs) else "virtual"
            at = coordinates[index][component]
            yield [name, one.measure, kind, component + 1, explained, at]


def _friedman_rows(one: MatrixBias) -> Iterator[list[Value]]:
    test = one.found.friedman
    equal = one.found.equal_runs.w
    chi2, p, *rest = tidy([test.chi2, test.p, test.w, *equal.mean.tolist(), *equal.p.tolist()])
    yield [one.measure, one.alpha, len(one.runs), len(one.runs), chi2, test.degrees, p, *rest]
