"""The two vocabularies: plain, and minus (ECIR'20), in which higher means riskier.

Numbers are computed in the plain one. The minus convention turns signs round where results leave
the library: a value, its difference and its interval; ranks and flags keep their meaning. GeoRisk-
is -GeoRisk (ECIR'20's Eq. 8 takes Phi of ZRisk-, which would turn the direction round twice).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from riskcli.core.choices import Convention
from riskcli.risk.measure import RiskMeasure
from riskcli.risk.measures import measures
from riskcli.risk.table import Block, Flags

Floats = NDArray[np.float64]

MINUS: Convention = "minus"


def turned(block: Block) -> Block:
    """The block in the minus convention."""
    columns = dict(block.columns)
    for measure in (m for m in measures() if m.signed):
        for name in (measure.id, f"{measure.id}_diff"):
            if name in columns:
                columns[name] = negative(columns[name])
        low, high = f"{measure.id}_lo", f"{measure.id}_hi"
        if low in columns:
            columns[low], columns[high] = negative(columns[high]), negative(columns[low])
    return replace(block, columns=columns, convention=MINUS)


def negative(values: Floats | Flags) -> Floats:
    """-x without a negative zero."""
    return np.asarray(0.0 - np.asarray(values, dtype=np.float64))


def titled(measure: RiskMeasure, convention: Convention) -> str:
    """The measure's title: URisk, or URisk with a superscript minus."""
    return f"{measure.title}⁻" if convention == MINUS and measure.signed else measure.title


def weights(alphas: Sequence[float | None], convention: Convention) -> str:
    """How losses count: `α = 1, 5`, `α̂ = 2, 6`, or `smooth loss`."""
    known = [alpha for alpha in alphas if alpha is not None]
    if not known:
        return "smooth loss"
    return f"{symbol(convention)} = {', '.join(f'{weight(a, convention):g}' for a in known)}"


def symbol(convention: Convention) -> str:
    """α, or α with a hat, which is 1 + α."""
    return "α̂" if convention == MINUS else "α"


def weight(alpha: float, convention: Convention) -> float:
    """The number that goes with the symbol."""
    return 1 + alpha if convention == MINUS else alpha
