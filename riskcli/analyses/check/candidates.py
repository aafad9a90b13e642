"""Candidates measured together, each with the figures that it has beside the baseline alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from riskcli.analyses.blocks import Block, blocks_against
from riskcli.analyses.cautions import NamingNote
from riskcli.analyses.check.rules import Rule
from riskcli.core.arrays import Mask, row_blocks
from riskcli.core.messages import Note
from riskcli.risk.comparison import Comparison
from riskcli.risk.measures import measures
from riskcli.scores.comparisons import Options, comparisons
from riskcli.scores.matrix import ScoreMatrix

_OF_OTHERS = ("rank", "urisk_lo", "urisk_hi")
"""What columns begin with that hang on the other runs: ranks, and variance that runs lend."""


@dataclass(frozen=True, repr=False)
class Candidates:
    """A score matrix whose first run is the baseline; all others are measured against it."""

    matrix: ScoreMatrix
    options: Options

    @property
    def _comparison(self) -> Comparison:
        """Of several candidates each has a population of two: the baseline and itself."""
        options = self.options
        if options.population is None and len(self.matrix.runs) > 2:
            options = replace(options, population="baselines")
        (comparison,) = comparisons(self.matrix, options)
        return comparison

    def pair(self, row: int) -> ScoreMatrix:
        """The baseline and the candidate of that row."""
        return self.matrix.of_runs([0, row])

    @cached_property
    def _tables(self) -> dict[float, tuple[Block, list[Note]]]:
        return {}

    def _table(self, alpha: float) -> tuple[Block, list[Note]]:
        if alpha not in self._tables:
            options, alone = replace(self.options, alphas=(alpha,)), len(self.matrix.runs) == 2
            (block,), notes = blocks_against(
                self.matrix, self._comparison, options, measures(), ranked=alone
            )
            self._tables[alpha] = block, notes
        return self._tables[alpha]

    def block(self, alpha: float) -> Block:
        """The risk table of all candidates."""
        return self._table(alpha)[0]

    def notes(self, alpha: float, row: int) -> Iterator[Note]:
        """The warnings of that table that are about one candidate and the baseline."""
        runs = self.matrix.runs[0], self.matrix.runs[row]
        for note in self._table(alpha)[1]:
            yield from note.only(runs) if isinstance(note, NamingNote) else [note]

    @cached_property
    def lost(self) -> tuple[Mask, Mask]:
        """By run, which topics lose beyond the noise of repeats, and which more than a fifth."""
        comparison = self._comparison
        return comparison.paired.lost, comparison.ruined


def tables(matrix: ScoreMatrix, options: Options, rules: Sequence[Rule]) -> Iterator[Candidates]:
    """All runs but the baseline, in their order: as many at a time as the cache holds.

    One at a time where the figures of one would hang on others, or notes count all scores.
    """
    base = matrix.runs.index(options.baselines[0])
    others = np.delete(np.arange(len(matrix.runs)), base)
    alone = _one_at_a_time(matrix, options, rules)
    for some in row_blocks(len(others), len(matrix.topics)):
        rows = others[some]
        single = alone or matrix.values[[base, *rows]].min() < 0
        for each in np.split(rows, len(rows)) if single else [rows]:
            yield Candidates(matrix.of_runs([base, *each.tolist()]), options)


def _one_at_a_time(matrix: ScoreMatrix, options: Options, rules: Sequence[Rule]) -> bool:
    judging, alphas = matrix.judging, [*options.alphas, *(rule.alpha for rule in rules)]
    return (
        0.0 in alphas
        or matrix.human is not None
        or matrix.has_logarithms
        or bool(matrix.axes.replicates)
        or (judging is not None and judging.documents is not None)
        or any(rule.quantity.startswith(_OF_OTHERS) for rule in rules)
    )
