"""Candidates measured together, each with the figures that it has beside the baseline alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from riskcli.analyses.blocks import Block, risk_blocks
from riskcli.analyses.check.rules import Rule
from riskcli.core.arrays import Mask
from riskcli.core.messages import Note
from riskcli.scores.comparisons import Options, comparisons
from riskcli.scores.matrix import ScoreMatrix

_OF_OTHERS = ("rank", "urisk_lo", "urisk_hi")
"""What columns begin with that hang on the other runs: ranks, and variance that runs lend."""
_AT_ONCE = 200
"""Intervals of ranks, which a table has, compare all pairs of its runs."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """A score matrix whose first run is the baseline; all others are measured against it."""

    matrix: ScoreMatrix
    options: Options
    _tables: dict[float, tuple[Block, list[Note]]] = field(default_factory=dict)

    def table(self, alpha: float) -> tuple[Block, list[Note]]:
        """The risk table, and its warnings."""
        if alpha not in self._tables:
            (block,), notes = risk_blocks(self.matrix, replace(self.options, alphas=(alpha,)))
            self._tables[alpha] = block, notes
        return self._tables[alpha]

    @cached_property
    def lost(self) -> tuple[Mask, Mask]:
        """By run, which topics lose beyond the noise of repeats, and which more than a fifth."""
        (comparison,) = comparisons(self.matrix, self.options)
        return comparison.paired.lost, comparison.ruined


def tables(matrix: ScoreMatrix, options: Options, rules: Sequence[Rule]) -> Iterator[Candidates]:
    """All runs but the baseline, in their order, many at a time.

    One at a time where figures hang on other candidates, or a warning counts all scores.
    """
    base = matrix.runs.index(options.baselines[0])
    others = np.delete(np.arange(len(matrix.runs)), base)
    of_two = replace(options, population=options.population or "baselines")
    alone = 0 in options.alphas or bool(matrix.axes.replicates)
    alone |= any(rule.alpha == 0 or rule.quantity.startswith(_OF_OTHERS) for rule in rules)
    for start in range(0, len(others), _AT_ONCE):
        rows = others[start : start + _AT_ONCE]
        if alone or len(rows) == 1 or matrix.values[[base, *rows]].min() < 0:
            yield from (Candidates(matrix.of_runs([base, row]), options) for row in rows)
        else:
            yield Candidates(matrix.of_runs([base, *rows]), of_two)
