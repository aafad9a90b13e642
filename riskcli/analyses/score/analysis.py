"""The risk table as an object of the library: its blocks, and all they rest on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Union, cast

from riskcli.analyses.base import Shown
from riskcli.core.arrays import Flags, Floats
from riskcli.core.errors import InputError, UsageError, nearest
from riskcli.core.notes import Note
from riskcli.core.order import natural_key
from riskcli.output.convention import MINUS, turned
from riskcli.output.result import Result, Value, tidy
from riskcli.risk.losses import FALLING_LOSS, LINEAR, SMOOTH_FIT, Cubic
from riskcli.risk.measures import all_columns, measure_ids
from riskcli.risk.options import Options
from riskcli.risk.table import Block, risk_blocks
from riskcli.scores.evaluation import Evaluation, based_on
from riskcli.scores.matrix import ScoreMatrix

if TYPE_CHECKING:
    import pandas as pd


Scores = Union[Evaluation, ScoreMatrix, Iterable[ScoreMatrix], "pd.DataFrame"]
"""Whatever holds scores."""


Fit = tuple[str, str, Cubic | None]
"""Effectiveness measure, baseline, and the loss between them (None: linear)."""


@dataclass(frozen=True, repr=False)
class RiskTable(Shown):
    """Every measure of every run for each effectiveness measure, baseline and alpha."""

    displayed_by: ClassVar[str] = "riskcli.analyses.score.display"

    blocks: tuple[Block, ...]
    options: Options
    settings: Mapping[str, Any]
    inputs: tuple[tuple[Path, str], ...] = ()
    notes: tuple[Note, ...] = ()
    skipped: tuple[InputError, ...] = ()
    """Errors of the files that were left out."""
    order: str | None = None
    """The column that the runs are sorted by; None: as they came."""

    def sorted_by(self, column: str = "mean") -> RiskTable:
        """The runs of each block by that column: names naturally, values highest first."""
        known = sortable_columns()
        if column not in known:
            raise UsageError(f"cannot sort by {column!r}{nearest(column, known)}")
        orders: dict[tuple[str, str], list[int]] = {}
        for block in self.blocks:
            orders.setdefault((block.measure, block.baseline), _order(block, column))
        blocks = [b.of_runs(orders[b.measure, b.baseline]) for b in self.blocks]
        return replace(self, blocks=tuple(blocks), order=column)

    def top(self, count: int) -> RiskTable:
        """Only the first runs of each block, as they are sorted."""
        blocks = [block.of_runs(range(min(count, len(block.runs)))) for block in self.blocks]
        return replace(self, blocks=tuple(blocks))

    @property
    def shown_blocks(self) -> tuple[Block, ...]:
        """The blocks in the table's convention."""
        if self.options.convention != MINUS:
            return self.blocks
        return tuple(turned(block) for block in self.blocks)

    def result(self) -> Result:
        """The tidy rows in the columns of the contract."""
        names = tuple(column.name for column in all_columns())
        rows = [row for block in self.shown_blocks for row in _rows(block)]
        return Result(names, rows, self.settings, self.inputs, self.notes, skipped=self.skipped)


def risk_table(
    scores: Scores,
    baseline: str | Sequence[str] = "@mean",
    *,
    options: Options | None = None,
) -> RiskTable:
    """URisk, TRisk, ZRisk and GeoRisk of every run of one or several score matrices.

    `scores` is an evaluation, a matrix or several, or a DataFrame of runs (index) by topics
    (columns). `baseline` is a run's name, a
    glob, several of them, or one of @mean, @median, @max, @min; `options` holds the rest.
    """
    options = options or Options()
    names = (baseline,) if isinstance(baseline, str) else tuple(baseline)
    options = replace(options, baselines=names)
    blocks: list[Block] = []
    gathered: list[Note] = []
    for matrix in as_matrices(scores):
        found, cautions = risk_blocks(matrix, options)
        blocks += found
        gathered += cautions
    record, doubts = loss_record(((b.measure, b.baseline, b.smooth) for b in blocks), options.loss)
    notes = tuple(dict.fromkeys([*gathered, *doubts]))
    settings = {**described(options), **record}
    table = RiskTable(tuple(blocks), options, settings, notes=notes)
    return based_on(table, scores) if isinstance(scores, Evaluation) else table


def sortable_columns() -> list[str]:
    """The columns that a table can be sorted by."""
    return ["run", *measure_ids(), "wins", "losses", "losses20", "reward", "risk", "mean_diff"]


def as_matrices(scores: Scores) -> list[ScoreMatrix]:
    """Whatever holds scores, as matrices."""
    if isinstance(scores, ScoreMatrix):
        return [scores]
    if isinstance(scores, Evaluation):
        return list(scores.matrices)
    if isinstance(scores, Iterable) and not hasattr(scores, "to_numpy"):
        return list(scores)
    return [ScoreMatrix.from_frame(cast("pd.DataFrame", scores))]


def _order(block: Block, column: str) -> list[int]:
    rows = sorted(range(len(block.runs)), key=lambda row: natural_key(block.runs[row]))
    if column == "run":
        return rows
    values = [block.number(column, row) for row in range(len(block.runs))]
    return sorted(rows, key=lambda row: (values[row] is None, -(values[row] or 0.0)))


def _rows(block: Block) -> Iterable[tuple[Value, ...]]:
    size = len(block.runs)
    fixed: dict[str, list[Value]] = {
        "run": list(block.runs),
        "measure": [block.measure] * size,
        "baseline": [block.baseline] * size,
        "population": [block.population] * size,
        "alpha": [block.alpha] * size,
        "topics": [block.topics] * size,
    }
    columns = [
        fixed.get(column.name) or _tidy_column(block.cells(column), column.kind, size)
        for column in all_columns()
    ]
    return zip(*columns, strict=True)


def _tidy_column(values: Floats | Flags | None, kind: str, size: int) -> list[Value]:
    if values is None:
        return ["" if kind == "flag" else None] * size
    return tidy(values.tolist(), whole=kind in ("count", "rank"))


def described(options: Options) -> dict[str, Any]:
    """The options as machine formats record them."""
    significance = options.significance
    found: dict[str, Any] = {
        "baselines": list(options.wanted),
        "pool": options.pool,
        "population": options.population or "auto",
        "alphas": list(options.alphas) if options.loss == LINEAR else None,
        "loss": options.loss,
        "convention": options.convention,
        "gamma": significance.gamma,
        "test": significance.test,
        "correction": significance.correction,
        "family": significance.family,
    }
    if significance.test == "swap":
        found |= {"swaps": significance.swaps, "seed": significance.seed}
    return found


def loss_record(fits: Iterable[Fit], loss: str) -> tuple[dict[str, Any], list[Note]]:
    """What the settings and the reader should know of the cubics in force."""
    used = {(measure, baseline): cubic for measure, baseline, cubic in fits if cubic is not None}
    notes = [
        Note("loss-falls", f"{measure}, baseline {baseline}: {FALLING_LOSS}")
        for (measure, baseline), cubic in used.items()
        if not cubic.rises
    ]
    if loss != SMOOTH_FIT:
        return {}, notes
    fitted = [
        {"measure": measure, "baseline": baseline, **asdict(cubic)}
        for (measure, baseline), cubic in used.items()
    ]
    return {"fitted": fitted}, notes
