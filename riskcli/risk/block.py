"""A block of the risk table: every run by every risk measure, for one baseline and alpha."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from riskcli.core.arrays import Flags, Floats, Rows
from riskcli.core.choices import Convention
from riskcli.risk.columns import Column
from riskcli.risk.estimate import Estimate
from riskcli.risk.losses import Cubic
from riskcli.risk.measures import columns_by_name


@dataclass(frozen=True)
class Block:
    """Every run by every risk measure, for one measure, baseline, population and alpha."""

    measure: str
    baseline: str
    population: str
    alpha: float | None
    """None where the loss is smooth."""
    topics: int
    runs: tuple[str, ...]
    estimates: Mapping[str, Estimate]
    """By the id of the risk measure; one that needs scores of at least 0 may be missing."""
    baseline_row: int | None
    baseline_members: tuple[int, ...]
    """Which of the rows shown are the baseline, or belong to it."""
    baseline_size: int
    """How many runs the baseline is made of, shown or not; 0 for a virtual one."""
    convention: Convention = "plain"
    smooth: Cubic | None = None
    """The loss function where it is not linear."""

    def cells(self, column: Column | str) -> Floats | Flags | None:
        """The cells of a column that a risk measure declares; None where it is empty."""
        if isinstance(column, str):
            column = columns_by_name()[column]
        estimate = self.estimates.get(column.measure or "")
        if estimate is None:
            return None
        if column.field is None:
            return estimate.extra.get(column.name)
        cells: Floats | Flags | None = getattr(estimate, column.field)
        return cells

    def number(self, column: Column | str, row: int) -> float | None:
        """One cell that holds a number; None where it is undefined."""
        cells = self.cells(column)
        return None if cells is None or np.isnan(cells[row]) else float(cells[row])

    def numbers(self, column: Column | str) -> list[float | None]:
        """A column that holds numbers; None where one is undefined."""
        cells = self.cells(column)
        if cells is None:
            return [None] * len(self.runs)
        return [None if value != value else value for value in cells.tolist()]

    @cached_property
    def families(self) -> dict[str, int]:
        """The number of tests that the p-values of each risk measure were corrected for."""
        return {
            name: estimate.family
            for name, estimate in self.estimates.items()
            if estimate.p_adjusted is not None
        }

    def of_runs(self, rows: Sequence[int] | Rows) -> Block:
        """The block with only these runs, in this order."""
        kept = np.asarray(rows, dtype=np.intp)
        index = {row: number for number, row in enumerate(kept.tolist())}
        members = tuple(index[row] for row in self.baseline_members if row in index)
        own_row = None if self.baseline_row is None else index.get(self.baseline_row)
        return replace(
            self,
            runs=tuple(self.runs[row] for row in kept),
            estimates={name: known.of_runs(kept) for name, known in self.estimates.items()},
            baseline_row=own_row,
            baseline_members=members,
        )
