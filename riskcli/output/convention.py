"""The two vocabularies: plain, and minus (ECIR'20), in which higher means riskier.

Numbers are computed in the plain one. The minus convention turns signs round where results leave
the library: a value, its difference and its interval; ranks and flags keep their meaning. GeoRisk-
is -GeoRisk (ECIR'20's Eq. 8 takes Phi of ZRisk-, which would turn the direction round twice).
"""

from __future__ import annotations

from collections.abc import Sequence

from riskcli.core.choices import Convention
from riskcli.output.measure_words import words_of
from riskcli.risk.measure import RiskMeasure

MINUS: Convention = "minus"


def titled(measure: RiskMeasure, convention: Convention) -> str:
    """The measure's title: URisk, or URisk with a superscript minus."""
    return (
        f"{words_of(measure).title}⁻"
        if convention == MINUS and measure.signed
        else words_of(measure).title
    )


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
