"""What a figure shows, in words, for those who cannot see it (ACM asks for a Description)."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from riskcli.analyses.baseline_bias import principal_components
from riskcli.core.arrays import Floats
from riskcli.core.messages import counted, listed
from riskcli.plots.kinds import MEANINGS, WITHOUT_BASELINE
from riskcli.plots.panels import grouping_of
from riskcli.plots.request import ExperimentRequest, Request, falling
from riskcli.plots.topics import GAINED, LOST, pair_shown, rows_of_losses, side_of, topics_shown
from riskcli.risk.paired import Paired
from riskcli.scores.matrix import ScoreMatrix


def alternative(kind: str, request: Request | ExperimentRequest) -> str:
    """What kind of figure of what, and the facts that a glance at it would give."""
    what = MEANINGS[kind].split(" (")[0]
    if isinstance(request, ExperimentRequest):
        return f"{what[0].upper()}{what[1:]}. The experiment is {request.folder.name}."
    matrix = request.matrix
    parts = [
        f"{what[0].upper()}{what[1:]}.",
        f"{matrix.measure} of {counted(len(matrix.runs), 'run')} on "
        f"{counted(len(matrix.topics), 'topic')}"
        f"{'' if matrix.weights is None else ' with weights'}{_compared(kind, request)}.",
        *_panels(matrix),
        *([_FACTS[kind](request)] if kind in _FACTS and not matrix.axes.groups else []),
    ]
    return " ".join(parts)


def _panels(matrix: ScoreMatrix) -> Iterator[str]:
    """The groups of topics, where each has a panel."""
    if matrix.axes.groups:
        name, by_topic = grouping_of(matrix)
        groups = (f"{g} ({counted(n, 'topic')})" for g, n in Counter(by_topic).items())
        yield f"A panel for each group by {name}: {listed(groups)}."


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
    by_gain = falling(paired.reward - paired.risk)
    rows = [row for row in by_gain if row != comparison.baseline.own_row][:5]
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


_MOST_TOLD = 6
"""Panels that are told one by one."""


def _topics(request: Request) -> str:
    """How many topics stand out in each panel, and the one that costs most."""
    of, parts = topics_shown(replace(request, notes=[]))
    said = []
    for part in parts:
        values = part.columns[of]
        sides = [side_of(value, part.critical) for value in values.tolist()]
        alpha = "" if part.alpha is None else f" at alpha {part.alpha:g}"
        told = f"{part.run}{alpha} gains on {_count(sides, GAINED)} and loses on "
        told += f"{_count(sides, LOST)} beyond the critical value"
        if (values < 0).any():
            told += f", most on topic {request.matrix.topics[int(np.nanargmin(values))]}"
        said.append(told)
    more = f"; and {counted(len(said) - _MOST_TOLD, 'panel')} more" if said[_MOST_TOLD:] else ""
    return f"By {of.upper()}: {'; '.join(said[:_MOST_TOLD])}{more}."


def _count(sides: Sequence[str], side: str) -> str:
    return counted(sides.count(side), "topic")


def _losses(request: Request) -> str:
    """The losses of each run that is shown, and the largest."""
    comparison, matrix = request.comparison, request.matrix
    alpha = request.options.alphas[0]
    terms = comparison.paired.weighted(alpha)
    said = [
        f"{matrix.runs[row]} loses on {counted(int((terms[row] < 0).sum()), 'topic')}"
        f"{_lowest(terms[row], matrix.topics)}"
        for row in rows_of_losses(replace(request, notes=[]))
    ]
    return f"At alpha {alpha:g}: {'; '.join(said)}."


def _lowest(terms: Floats, topics: Sequence[str]) -> str:
    worst = int(np.argmin(terms))
    return f", most on topic {topics[worst]} ({terms[worst]:.4f})" if terms[worst] < 0 else ""


def _pair(request: Request) -> str:
    """Who scores higher on how many topics, and what each loses to the other."""
    matrix = request.matrix
    one, two = pair_shown(replace(request, notes=[]))
    paired = Paired(matrix.values[[one]], matrix.values[two])
    back = Paired(matrix.values[[two]], matrix.values[one])
    a, b = matrix.runs[one], matrix.runs[two]
    said = (
        f"{a} scores higher on {counted(int(paired.wins[0]), 'topic')}, {b} on "
        f"{paired.losses[0]}, both alike on {paired.ties[0]}"
    )
    for run, base, pair in ((a, b, paired), (b, a, back)):
        terms = pair.weighted(request.alpha)[0]
        said += f"; against {base}, {run} has a URisk of {terms.mean():.4f} at alpha "
        said += (
            f"{request.alpha:g}{_lowest(terms, matrix.topics).replace(', most', ', losing most')}"
        )
    return f"{said}."


def _axes(request: Request) -> str:
    """Which runs lie farthest apart, and which next to the baseline."""
    matrix, baseline = request.matrix, request.comparison.baseline
    found = principal_components(matrix.values, baseline.scores[None], 2)
    points, origin = found.coordinates[:-1], found.coordinates[-1]
    low, high = int(np.argmin(points[:, 0])), int(np.argmax(points[:, 0]))
    said = (
        f"On the first axis, {100 * found.explained[0]:.0f} % of the variance, "
        f"{matrix.runs[high]} and {matrix.runs[low]} lie farthest apart"
    )
    others = [row for row in range(len(matrix.runs)) if row not in baseline.members]
    away = np.linalg.norm(points - origin, axis=1)
    near = min(others, key=lambda row: float(away[row]), default=None)
    return said + ("." if near is None else f"; nearest to {baseline.name} is {matrix.runs[near]}.")


_FACTS: dict[str, Callable[[Request], str]] = {
    "alpha": _georisk, "wins": _records, "box": _records, "tradeoff": _extremes, "heatmap": _zrisk,
    "topics": _topics, "ecir14-1": _axes, "ecir14-2": _axes, "ecir14-3": _pair,
    "ecir14-4": _losses,
}  # fmt: skip
