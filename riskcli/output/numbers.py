"""Numbers as people read them."""

from __future__ import annotations

import math

from riskcli.output.display import UNDEFINED


def decimal(value: float | None, decimals: int) -> str:
    """The number with so many decimals, never `-0.00`; a dash where it is undefined."""
    if value is None or math.isnan(value):
        return UNDEFINED
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def p_value(p: float | None) -> str:
    """A p-value with two figures, small ones as a bound."""
    if p is None or math.isnan(p):
        return UNDEFINED
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"
