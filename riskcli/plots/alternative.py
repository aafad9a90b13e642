"""What a figure shows, in words, for those who cannot see it (ACM asks for a Description)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from riskcli.core.messages import counted, listed
from riskcli.plots.kinds import MEANINGS, WITHOUT_BASELINE
from riskcli.plots.request import ExperimentRequest, Request


def alternative(kind: str, request: Request | ExperimentRequest) -> str:
    """What kind of figure of what, and the facts that a glance at it would give."""
    what = MEANINGS[kind].split(" (")[0]
    if isinstance(request, ExperimentRequest):
        return f"{what[0].upper()}{what[1:]}. The experiment is {request.folder.name}."
    matrix = request.matrix
    parts = [
        f"{what[0].upper()}{what[1:]}.",
        f"{matrix.measure} of {counted(len(matrix.runs), 'run')} on "
        f"{counted(len(matrix.topics), 'topic')}{_compared(kind, request)}.",
        *([FACTS[kind](request)] if kind in FACTS else []),
    ]
    return " ".join(parts)


def _compared(kind: str, request: Request) -> str:
    """What runs are compared with, where they are."""
    if kind not in WITHOUT_BASELINE:
        return f"; baseline {request.comparison.baseline.name}"
    if kind == "power" and request.options.baselines:
        return f"; pairs with {listed(request.options.baselines)}"
    return ""


def _georisk(request: Request) -> str:
    comparison, runs = request.comparison, request.matrix.runs
    if comparison.has_negative or request.of not in (None, "georisk"):
        return ""
    ends = (0.0, 20.0)
    if request.ranged and len(request.options.alphas) > 1:
        ends = (min(request.options.alphas), max(request.options.alphas))
    best = [runs[int(np.argmax(comparison.population.georisk(alpha)))] for alpha in ends]
    said = f"{best[0]} has the highest GeoRisk at alpha {ends[0]:g}"
    if best[0] == best[1]:
        return f"{said} and at alpha {ends[1]:g}."
    return f"{said}, {best[1]} at alpha {ends[1]:g}."


def _records(request: Request) -> str:
    """Wins, ties and losses of the best runs."""
    comparison, paired = request.comparison, request.comparison.paired
    rows = [r for r in np.argsort(-paired.reward + paired.risk, kind="stable").tolist()
            if r != comparison.baseline.own_row][:5]  # fmt: skip
    said = [
        f"{request.matrix.runs[r]} {paired.wins[r]}/{paired.ties[r]}/{paired.losses[r]}"
        for r in rows
    ]
    return f"Topics won, tied and lost: {listed(said)}."


def _extremes(request: Request) -> str:
    paired = request.comparison.paired
    gain = paired.reward - paired.risk
    best = int(np.argmax(gain))
    return (
        f"The highest gain is {gain[best]:.4f}, of {request.matrix.runs[best]}, "
        f"with a risk of {paired.risk[best]:.4f}."
    )


def _zrisk(request: Request) -> str:
    zrisk = request.comparison.population.zrisk(request.alpha)
    runs = request.matrix.runs
    high, low = runs[int(np.argmax(zrisk))], runs[int(np.argmin(zrisk))]
    return f"ZRisk is highest for {high} and lowest for {low}."


FACTS: dict[str, Callable[[Request], str]] = {
    "alpha": _georisk, "wins": _records, "box": _records, "tradeoff": _extremes, "heatmap": _zrisk,
}  # fmt: skip
