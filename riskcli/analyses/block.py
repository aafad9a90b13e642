"""A block of the risk table: what is known of every run against one baseline at one alpha."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from riskcli.analyses.replicates import FLOOR, SELF_RISK, ReplicateSpread
from riskcli.analyses.unjudged import Ranges
from riskcli.core.arrays import ALL, Flags, Floats, Rows, logarithms
from riskcli.core.choices import Convention
from riskcli.core.messages import counted
from riskcli.effectiveness.measures import is_logarithm
from riskcli.output.measure_words import GROUP, PRINTED, above, every_column, is_on_demand
from riskcli.output.verdict import Statements
from riskcli.risk.estimate import Estimate
from riskcli.risk.losses import Cubic
from riskcli.risk.measures import measures
from riskcli.risk.signed_ranks import wilcoxon_p

_TURNED = {
    SELF_RISK: SELF_RISK, FLOOR: FLOOR, "urisk_min": "urisk_max", "urisk_max": "urisk_min"
}  # fmt: skip
"""Columns of risk beside the measures, and of which the minus convention makes them."""
OWN = "its own baseline"
"""What the baseline of a block is called in which each run has the one that it declares."""


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
    said: Statements = field(default_factory=Statements)
    """What it says in sentences; that of several alphas stands at the first."""
    ranges_exact: bool = True
    """Whether their ranges are reached."""
    ranges: Ranges | None = None
    """Those of every topic, if they were asked for."""
    beside: Mapping[str, Floats | Flags] = field(default_factory=dict)
    """What unjudged documents may do, and labels of topics and runs add, by column, as far as it is
    known; the baselines where each run has its own."""
    scores: Floats | None = None
    """Of all runs, for what is computed only where it is asked for."""
    baseline_scores: Floats | None = None
    """Those that a test may compare them with, of each run where these differ; None where topics
    have weights."""
    rows: Rows | None = None
    """Which of all runs these are; None: all."""
    spread: ReplicateSpread | None = None
    """How much replicates differ, where runs are systems."""
    judge: str = ""
    """Whose judgements the scores rest on, where runs are scored under several."""

    @property
    def plain_measure(self) -> str:
        """The effectiveness measure without the judge."""
        return self.measure.removesuffix(f" [{self.judge}]")

    @property
    def group(self) -> str:
        """The group of topics that it is about, as the column has it; empty without groups."""
        return str(self.beside[GROUP][0]) if GROUP in self.beside else ""

    @property
    def own_names(self) -> list[str]:
        """The baseline that each run declares; nothing where all have the common one."""
        return [str(name)[len("own(") : -1] for name in self.beside.get("baseline", ())]

    def cells(self, name: str) -> Floats | Flags | None:
        """The cells of a column that a risk measure declares; None where it is empty."""
        if name in self.beside:
            return self.beside[name]
        if is_on_demand(name):
            return self._on_demand(name)
        column = every_column()[name]
        estimate = self.estimates.get(column.measure or "")
        if estimate is None:
            return None
        if column.field is None:
            return estimate.extra.get(name)
        cells: Floats | Flags | None = getattr(estimate, column.field)
        return cells

    def _on_demand(self, name: str) -> Floats | None:
        if self.scores is None:
            return None
        rows = ALL if self.rows is None else self.rows
        scores, bound, baseline = self.scores[rows], above(name), self.baseline_scores
        if bound is not None:
            if is_logarithm(self.measure):  # of scores, not of their logarithms
                bound = float(logarithms(np.array(bound), np.inf))
            return np.asarray((scores > bound).sum(axis=1), dtype=float)
        if baseline is None:
            return None
        p = wilcoxon_p(scores, baseline if baseline.ndim == 1 else baseline[rows])
        p[[] if self.baseline_row is None else self.baseline_row] = np.nan
        return p

    def numbers(self, name: str) -> list[float | None]:
        """A column that holds numbers; None where one is undefined."""
        cells = self.cells(name)
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

    def of_runs(self, rows: Sequence[int] | Rows) -> Self:
        """The block with only these runs, in this order."""
        indices = np.asarray(rows, dtype=np.intp)
        index = {row: number for number, row in enumerate(indices.tolist())}
        members = tuple(index[row] for row in self.baseline_members if row in index)
        own_row = None if self.baseline_row is None else index.get(self.baseline_row)
        return replace(
            self,
            runs=tuple(self.runs[row] for row in indices),
            estimates={name: each.of_runs(indices) for name, each in self.estimates.items()},
            beside={name: values[indices] for name, values in self.beside.items()},
            ranges=None if self.ranges is None else self.ranges.of_runs(indices),
            rows=indices if self.rows is None else self.rows[indices],
            baseline_row=own_row,
            baseline_members=members,
        )

    def turned(self, convention: Convention) -> Self:
        """The block in that convention."""
        if convention == "plain":
            return self
        signed = [m.id for m in measures() if m.signed and m.id in self.estimates]
        negated = {name: self.estimates[name].negated() for name in signed}
        for measure in measures() if convention == PRINTED else ():
            if measure.as_printed is not None and measure.id in negated:  # and no test is of it
                mean, z = self.estimates["mean"].value, self.estimates["zrisk"].value
                negated[measure.id] = Estimate(measure.as_printed(mean, z / self.topics))
        turned, beside = {**self.estimates, **negated}, {**self.beside}
        for name, of in _TURNED.items():
            if of in self.beside:
                beside[name] = np.negative(self.beside[of]) + 0.0
        return replace(self, estimates=turned, beside=beside, convention=convention)

    @property
    def topics_in_words(self) -> str:
        """How many topics there are, and as how many they count where they have weights."""
        said, effective = counted(self.topics, "topic"), self.beside.get("effective_topics")
        return said if effective is None else f"{said}, by weight (as {float(effective[0]):.3g})"

    @property
    def has_ranges(self) -> bool:
        """Whether the ranges of differences are known."""
        return "mean_diff_min" in self.beside
