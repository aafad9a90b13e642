"""What is exactly as risky as a model on the very queries that it is looked at.

Elsewhere a blend, a selection or a coin is made as risky as a model on validation queries, since it
is a ranker that somebody might use. On test queries its risk is then another one than the model's,
and neither mean says which of the two is better. Here risk is matched on the test queries
themselves, so that the means alone can be compared (SIGIR'12, Figure 2, at the model's risk). What
looks at test queries serves for nothing else: it has no run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.learn.comparators import Judged, Matching, blended, selected


@dataclass(frozen=True)
class EqualRisk:
    """The effectiveness of blend and selection, by counted query, and the chance of a coin."""

    blend: Floats
    selection: Floats | None
    chance: float


def equally_risky(
    queries: Judged, matching: Matching, plain: Floats, risk: float, selector: str | None
) -> EqualRisk:
    """Made of the plain model's scores; `matching` knows them on these queries."""
    return EqualRisk(
        queries.effectiveness(blended(queries.part, plain, matching.weight(risk))),
        None if selector is None else queries.effectiveness(
            selected(queries.part, plain, selector, matching.threshold(selector, risk))
        ),
        matching.chance(risk),
    )  # fmt: skip


def pooled(folds: Sequence[EqualRisk]) -> tuple[Floats, Floats | None]:
    """Blend and selection on the queries of all folds, one after the other."""
    selections = [fold.selection for fold in folds if fold.selection is not None]
    blends = np.concatenate([fold.blend for fold in folds])
    return blends, np.concatenate(selections) if selections else None
