"""The risk table: every measure of every run, for each baseline and each alpha."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from riskcli.core.choices import Convention, is_virtual
from riskcli.core.errors import UsageError
from riskcli.core.notes import Note
from riskcli.risk.baselines import POOL_EACH, choose_baselines, matching_runs, refuse_virtual_names
from riskcli.risk.cautions import cautions
from riskcli.risk.comparison import Comparison, population_rule, with_loss
from riskcli.risk.correction import adjust
from riskcli.risk.inference import Inference
from riskcli.risk.losses import LINEAR, Cubic
from riskcli.risk.measures import all_columns, measures
from riskcli.risk.options import Options, Significance
from riskcli.scores.matrix import ScoreMatrix

Floats = NDArray[np.float64]
Flags = NDArray[np.str_]


@dataclass(frozen=True)
class Block:
    """The rows of one measure, baseline, population and alpha: an array a column, a cell a run."""

    measure: str
    baseline: str
    population: str
    alpha: float | None
    """None where the loss is smooth."""
    topics: int
    runs: tuple[str, ...]
    columns: Mapping[str, Floats | Flags]
    baseline_row: int | None
    baseline_members: tuple[int, ...]
    """Which of the rows shown are the baseline, or belong to it."""
    baseline_size: int
    """How many runs the baseline is made of, shown or not; 0 for a virtual one."""
    families: Mapping[str, int]
    """The number of tests that each p-value was corrected for."""
    convention: Convention = "plain"
    smooth: Cubic | None = None
    """The loss function where it is not linear."""

    def ordered(self, order: Sequence[int] | NDArray[np.intp]) -> Block:
        """The block with its runs in another order (or fewer of them)."""
        kept = [int(place) for place in order]
        position = {row: place for place, row in enumerate(kept)}
        members = tuple(position[row] for row in self.baseline_members if row in position)
        own_row = None if self.baseline_row is None else position.get(self.baseline_row)
        return replace(
            self,
            runs=tuple(self.runs[row] for row in kept),
            columns={name: column[kept] for name, column in self.columns.items()},
            baseline_row=own_row,
            baseline_members=members,
        )


def risk_blocks(matrix: ScoreMatrix, options: Options) -> tuple[list[Block], list[Note]]:
    """The blocks of one score matrix, and what to keep in mind when reading them."""
    blocks: list[Block] = []
    notes: list[Note] = []
    found = comparisons(matrix, options)
    for comparison in found:
        blocks += _blocks_of(matrix, comparison, options)
        notes += cautions(matrix, comparison, options.alphas if options.loss == LINEAR else ())
    if options.pool == POOL_EACH and len(found) > 1:
        named = found[0].named
        blocks += [_macro_average(blocks, alpha, named) for alpha in options.levels]
    if options.significance.family == "all":
        blocks = _adjusted_together(blocks, options.significance)
    return blocks, list(dict.fromkeys(notes))


def require_plain(options: Options, what: str) -> None:
    """Refuse a loss or a convention that this analysis does not know."""
    if options.loss != LINEAR or options.convention != "plain":
        raise UsageError(f"{what} knows the linear loss and the plain convention only")


def comparisons(matrix: ScoreMatrix, options: Options) -> list[Comparison]:
    """The matrix against each baseline, in the population and under the loss that were chosen."""
    if not matrix.runs or not matrix.topics:
        raise UsageError("the score matrix is empty")
    matrix.check_finite()
    refuse_virtual_names(matrix.runs)
    named = named_rows(matrix.runs, options.wanted)
    rule = population_rule(options.population, named)
    baselines = choose_baselines(matrix.runs, matrix.values, options.wanted, options.pool)
    return [
        with_loss(Comparison(matrix.values, baseline, rule, named), options.loss)
        for baseline in baselines
    ]


def named_rows(runs: Sequence[str], wanted: Sequence[str]) -> tuple[int, ...]:
    """The rows of all runs that the baselines name."""
    names = [name for name in wanted if not is_virtual(name)]
    return tuple(sorted({row for name in names for row in matching_runs(runs, name)}))


def _blocks_of(matrix: ScoreMatrix, comparison: Comparison, options: Options) -> list[Block]:
    inference = Inference(comparison, options.significance, options.levels)
    baseline = comparison.baseline
    made = []
    for alpha in options.levels:
        columns = _columns(comparison, alpha, inference)
        adjusted, families = _with_flags(columns, options.significance)
        block = Block(
            measure=matrix.measure,
            baseline=baseline.name,
            population=comparison.population,
            alpha=alpha if comparison.smooth is None else None,
            topics=comparison.topics,
            runs=matrix.runs,
            columns=adjusted,
            baseline_row=baseline.own_row,
            baseline_members=baseline.members,
            baseline_size=len(baseline.members),
            families=families,
            smooth=comparison.smooth,
        )
        made.append(block)
    return made


def _columns(comparison: Comparison, alpha: float, inference: Inference) -> dict[str, Floats]:
    """Values, details and ranks of every measure; NaN where a measure says nothing of a run."""
    columns: dict[str, Floats] = {}
    for measure in measures():
        values = measure.of(comparison, alpha)
        if values is None:
            continue
        columns[measure.id] = values
        columns.update(measure.details(comparison, alpha, inference))
        columns[f"rank_{measure.id}"] = rank(values)
    return columns


def rank(values: Floats) -> Floats:
    """1 for the highest; equal values share the smaller rank; NaN has none.

    Values that differ by rounding only, in the 13th digit, are equal.
    """
    ranks = np.full(len(values), np.nan)
    ranked = ~np.isnan(values)
    kept = _without_rounding(values[ranked])
    ranks[ranked] = np.searchsorted(np.sort(-kept), -kept, side="left") + 1
    return ranks


def _without_rounding(values: Floats) -> Floats:
    """The values to twelve digits, and 0 for what is nothing beside the others."""
    finite = np.isfinite(values)
    largest = float(np.abs(values[finite]).max(initial=0.0))
    kept = np.array([float(f"{value:.11e}") for value in values.tolist()])
    kept[finite & (np.abs(values) < 1e-14 * min(largest, 1.0))] = 0.0
    return kept


def _with_flags(
    columns: dict[str, Floats], significance: Significance
) -> tuple[dict[str, Floats | Flags], dict[str, int]]:
    """The columns with adjusted p-values and flags, and the size of each family of tests."""
    completed: dict[str, Floats | Flags] = dict(columns)
    families: dict[str, int] = {}
    for measure in measures():
        p = columns.get(f"{measure.id}_p")
        if p is None:
            continue
        adjusted, families[measure.id] = adjust(p, significance.correction)
        effect = columns.get(f"{measure.id}_diff", columns[measure.id])
        completed[f"{measure.id}_p_adj"] = adjusted
        completed[f"{measure.id}_flag"] = flags(effect, adjusted, significance.gamma)
    return completed, families


def flags(effect: Floats, p: Floats, gamma: float) -> Flags:
    """`better` or `worse` where p < gamma, by the sign of the effect; empty otherwise."""
    with np.errstate(invalid="ignore"):
        significant = p < gamma
        return np.where(
            significant & (effect > 0),
            "better",
            np.where(significant & (effect < 0), "worse", ""),
        )


def _adjusted_together(blocks: Sequence[Block], significance: Significance) -> list[Block]:
    """The blocks with every p-value of the table taken as one family."""
    places = [
        (block, f"{measure.id}_p")
        for block in blocks
        for measure in measures()
        if f"{measure.id}_p" in block.columns
    ]
    if not places:
        return list(blocks)
    p = np.concatenate([np.asarray(block.columns[name], dtype=float) for block, name in places])
    adjusted, size = adjust(p, significance.correction)
    changed: dict[int, dict[str, Floats | Flags]] = {id(b): dict(b.columns) for b in blocks}
    start = 0
    for block, name in places:
        part = adjusted[start : start + len(block.runs)]
        start += len(block.runs)
        measure = name.removesuffix("_p")
        columns = changed[id(block)]
        effect = np.asarray(columns.get(f"{measure}_diff", columns[measure]), dtype=float)
        columns[f"{name}_adj"] = part
        columns[f"{measure}_flag"] = flags(effect, part, significance.gamma)
    return [
        replace(block, columns=changed[id(block)], families=dict.fromkeys(block.families, size))
        for block in blocks
    ]


def _macro_average(blocks: Sequence[Block], alpha: float, named: tuple[int, ...]) -> Block:
    """The mean over baselines of every value (SIGIR'16, Table 7); a mean of tests is no test."""
    same_alpha = [block for block in blocks if block.alpha in (alpha, None)]
    first = same_alpha[0]
    untested = ("_p", "_p_adj", "_flag", "_lo", "_hi", "_se")
    kinds = {column.name: column.kind for column in all_columns()}
    columns: dict[str, Floats | Flags] = {}
    for name in first.columns:
        if name.endswith(untested) or kinds.get(name) == "rank":
            continue
        stacked = np.array([block.columns[name] for block in same_alpha], dtype=float)
        present = ~np.isnan(stacked)
        total = np.where(present, stacked, 0.0).sum(axis=0)
        count = present.sum(axis=0)
        columns[name] = np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)
    for measure in measures():
        if measure.id in columns:
            columns[f"rank_{measure.id}"] = rank(np.asarray(columns[measure.id], dtype=float))
    names = ",".join(first.runs[row] for row in named)
    return replace(
        first,
        baseline=f"each({names})",
        columns=columns,
        baseline_row=None,
        baseline_members=named,
        baseline_size=len(named),
        families={},
    )
