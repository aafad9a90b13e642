"""Alphas on the command line: a list of them, or one."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

import click

from riskcli.cli.gathering import Command
from riskcli.core.limits import MOST_ALPHA


class Alphas(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """Numbers from `least` on: `1`, `0,1,5,10`, or a range with both ends, `0:20:5`."""

    name = "LIST"

    def __init__(self, least: int = 0) -> None:
        self._least = least

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return value
        try:
            found = [alpha for part in str(value).split(",") for alpha in _span(part, self._least)]
        except (InvalidOperation, ValueError) as error:
            reason = str(error) if isinstance(error, ValueError) else "not a number"
            self.fail(f"{value!r}: {reason}, written as 1 or 0,5,10 or 0:20:5", param, ctx)
        return tuple(dict.fromkeys(found))


_MOST_ALPHAS = 10_000


def _span(text: str, least: int) -> list[float]:
    """The values of `x`, `first:last` or `first:last:step`."""
    parts = [Decimal(part.strip()) for part in text.split(":")]
    if not all(part.is_finite() and least <= part <= MOST_ALPHA for part in parts):
        raise ValueError(f"expected numbers from {least} to {MOST_ALPHA:g}")
    if len(parts) == 1:
        return [float(parts[0])]
    if len(parts) > 3:
        raise ValueError("a range is first:last or first:last:step")
    first, last, step = parts if len(parts) == 3 else (*parts, Decimal(1))
    if step <= 0 or last < first:
        raise ValueError("a range needs a step above 0 and a last value not below the first")
    if last - first > step * (_MOST_ALPHAS - 1):
        raise ValueError(f"a range of more than {_MOST_ALPHAS} values")
    count = int((last - first) / step) + 1
    return [float(first + index * step) for index in range(count)]


def as_alpha(alpha_hat: float) -> float:
    """1 less, in decimals: 1.1 becomes 0.1."""
    return float(Decimal(repr(alpha_hat)) - 1)


def one_alpha(meaning: str) -> Callable[[Command], Command]:
    """--alpha of a command that takes a single one."""
    return click.option(
        "-a",
        "--alpha",
        type=click.FloatRange(0, MOST_ALPHA),
        default=1.0,
        show_default=True,
        help=meaning,
    )
