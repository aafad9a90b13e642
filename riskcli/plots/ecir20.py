"""Figures of ECIR'20: both losses, bootstrap replicates, RBO of rankings by either loss."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np
from scipy.special import ndtri

import riskcli.plots.style as style
from riskcli.core.arrays import Floats
from riskcli.core.messages import UsageError
from riskcli.output.display import shortened
from riskcli.output.measure_words import words_of
from riskcli.plots.lines import run_lines
from riskcli.plots.request import Request, falling
from riskcli.risk.losses import PUBLISHED, SmoothPaired, fences
from riskcli.risk.measures import measures
from riskcli.risk.paired import Paired
from riskcli.risk.rank_agreement import rank_biased_overlap


def draw_loss(request: Request) -> Any:
    """l(x) and s(x), published or fitted; crosses at the points that s is fitted to."""
    comparison, alpha = request.comparison, request.alpha
    cubic = comparison.smooth or PUBLISHED
    x = np.linspace(-1, 1, 201)
    curves: dict[str, Callable[[Floats], Floats]] = {
        f"linear, 1 + α = {1 + alpha:g}": lambda d: np.where(d < 0, (1 + alpha) * d, d),
        "smooth": cubic,
    }
    names = list(curves)
    lines = [(name, curve(x)) for name, curve in curves.items()]
    rows = style.line_rows(lines, ("x", x.tolist()), "y")
    axes = (
        style.on_scale(alt.X, "x", "difference of scores", (-1, 1)),
        alt.Y("y:Q", title="what it counts for"),
    )
    layers = [style.rule_at(0.0, "x"), style.rule_at(0.0, "y"), *run_lines([], rows, names, *axes)]
    layers += [_crosses(request, axes), _curve_names(curves, axes)]
    width, height = request.panel(420, 320)
    return alt.layer(*layers).properties(width=width, height=height)


def _crosses(request: Request, axes: tuple[Any, Any]) -> Any:
    """The five points: the ends, 0, and the fences (published, or of the differences at hand)."""
    low, high = (-0.241, 0.292)
    if request.options.loss == "smooth:fit":
        comparison = request.comparison
        own, delta = comparison.baseline.own_row, comparison.paired.delta
        low, high = fences(delta if own is None else np.delete(delta, own, axis=0))
    points = [(-1.0, -2.0), (low, -0.05), (0.0, 0.0), (high, 0.05), (1.0, 1.0)]
    look = {"shape": "cross", "angle": 45, "size": 90, "color": style.RULE, "filled": True}
    mark = style.chart([{"x": x, "y": y} for x, y in points]).mark_point(**look)
    return mark.encode(x=axes[0], y=axes[1])


def _curve_names(curves: dict[str, Callable[[Floats], Floats]], axes: tuple[Any, Any]) -> Any:
    """Each name beside its curve, where the two are far apart."""
    layers = []
    for (name, curve), x, align, away, colour in zip(
        curves.items(),
        (-0.8, -0.62),
        ("left", "right"),
        ((9, 9), (-9, -5)),
        style.COLOURS,
        strict=False,
    ):
        row = {
            "shown": name, "x": x, "y": float(curve(np.array([x]))[0]),
            "align": align, "colour": colour,
        }  # fmt: skip
        look = {"align": align, "dx": away[0], "dy": away[1], "fontWeight": "bold"}
        mark = style.chart([row]).mark_text(**look, fontSize=11, color=colour)
        layers.append(mark.encode(x=axes[0], y=axes[1], text="shown:N"))
    return alt.layer(*layers)


# Bootstrap replicates of the mean w against the normal: ECIR'20, Figure 3.


_REPLICATES = 10_000
_SHOWN = 199


def draw_qq(request: Request) -> Any:
    """A panel a loss: unweighted, losses 1 + alpha times, smooth. On the line is normal."""
    comparison, matrix = request.comparison, request.matrix
    row, *more = request.chosen(1, without=comparison.baseline.own_row)
    if more:
        raise UsageError("this figure shows one run: name one with --run")
    scores, baseline = matrix.values[row : row + 1], comparison.baseline.scores
    plain = Paired(scores, baseline)
    alphas = [0.0, *(alpha for alpha in request.options.alphas if alpha)]
    counted = {_qq_title(alpha): plain.weighted(alpha)[0] for alpha in alphas}
    smooth = comparison.smooth or PUBLISHED
    counted["smooth loss"] = SmoothPaired(scores, baseline, smooth).weighted(0.0)[0]
    width, height = request.panel(200, 200)
    columns = 2 if request.narrow or len(counted) in (2, 4) else 3
    outer = style.outer_titles(
        len(counted), columns, "standard normal quantile", "mean weighted difference"
    )
    panels = [
        _qq_panel(title, mean_replicates(w, _REPLICATES, request.seed), titles).properties(
            width=width, height=height
        )
        for (title, w), titles in zip(counted.items(), outer, strict=True)
    ]
    against = f"{shortened(matrix.runs[row], 40)} against {shortened(comparison.baseline.name, 40)}"
    drawn_from = f"{_REPLICATES:,} bootstrap replicates, seed {request.seed}"
    title = alt.Title(f"{against}, {matrix.measure}: {drawn_from}", offset=14)
    return alt.concat(*panels, columns=columns).properties(title=title)


def _qq_title(alpha: float) -> str:
    return "no weight on losses" if alpha == 0 else f"losses weighted ×{1 + alpha:g}"


def _qq_panel(title: str, means: Floats, titles: style.Titles) -> Any:
    """Quantiles of the replicates over those of the normal, and the line of their mean and SD."""
    places = (np.arange(_SHOWN) + 0.5) / _SHOWN
    normal, found = ndtri(places), np.quantile(means, places)
    rows = [{"normal": float(x), "mean": float(y)} for x, y in zip(normal, found, strict=True)]
    middle, spread = float(means.mean()), float(means.std(ddof=1))
    ends = [{"normal": x, "mean": middle + spread * x} for x in (-2.9, 2.9)]
    x = alt.X("normal:Q", title=titles[0])
    y = alt.Y("mean:Q", title=titles[1], scale=alt.Scale(zero=False))
    line = style.chart(ends).mark_line(color=style.RULE, strokeWidth=1.2).encode(x=x, y=y)
    dots = style.chart(rows).mark_point(color=style.COLOURS[0], size=12, strokeWidth=1)
    heading = alt.Title(title, fontSize=12, fontWeight="normal")
    return alt.layer(line, dots.encode(x=x, y=y)).properties(title=heading)


# How alike the linear and the smooth loss rank runs (ECIR'20, Figure 4): RBO by number of runs.


PERSISTENCE = 0.9
_MOST_SIZES = 10


def draw_rbo(request: Request) -> Any:
    """A panel a risk measure: from the least RBO that is sure to the most that is possible."""
    comparison = request.comparison
    if len(comparison.scores) < 3 or comparison.has_negative:
        raise UsageError("this figure needs three runs or more, and scores of at least 0")
    smooth = replace(comparison, smooth=comparison.smooth or PUBLISHED)
    linear = replace(comparison, smooth=None)
    shown = [measure for measure in measures() if measure.depends_on_alpha]
    own = comparison.baseline.own_row
    width, height = request.panel(150, 180)
    panels = []
    columns = 2 if request.narrow else len(shown)
    for index, measure in enumerate(shown):
        values_of = (measure.values(each, request.alpha) for each in (linear, smooth))
        orders = [[row for row in falling(found) if row != own] for found in values_of]
        bars = _bars(*orders)
        panel = _rbo_panel(bars, words_of(measure).title, index % columns == 0)
        panels.append(panel.properties(width=width, height=height))
    title = f"RBO (p = {PERSISTENCE:g}) of linear (α = {request.alpha:g}) and smooth loss"
    return style.grid(panels, columns, title)


def _bars(one: list[int], other: list[int]) -> list[dict[str, Any]]:
    sizes = np.unique(np.linspace(2, len(one), _MOST_SIZES).round().astype(int)).tolist()
    found = []
    for size in sizes:
        rbo = rank_biased_overlap(one[:size], other[:size], PERSISTENCE)
        found.append({"runs": size, "least": rbo.least, "most": rbo.least + rbo.residual})
    return found


def _rbo_panel(bars: list[dict[str, Any]], title: str, first: bool) -> Any:
    whole = style.chart(bars, title=alt.Title(title, fontSize=12))
    x = alt.X("runs:O", title="runs", axis=alt.Axis(labelAngle=0))
    scale, axis = alt.Scale(domain=[0, 1]), alt.Axis(tickCount=5)
    y = alt.Y("least:Q", title="RBO" if first else None, scale=scale, axis=axis)
    return whole.mark_bar(width={"band": 0.7}, color=style.COLOURS[0]).encode(x=x, y=y, y2="most:Q")


# Replicates of a mean over topics, topics drawn with replacement.


def mean_replicates(values: Floats, count: int, seed: int) -> Floats:
    """Means over as many topics as there are, in rising order."""
    drawn = np.random.default_rng(seed).integers(0, len(values), (count, len(values)))
    return np.sort(values[drawn].mean(axis=1))


# Differences to the baseline, one box per run: ECIR'20, Figure 1.


ALL = "all runs"
_MOST_BOXES = 50


def draw_box(request: Request) -> Any:
    """Quartiles and median; whiskers to the last value within 1.5 quartile ranges; mean."""
    comparison, matrix = request.comparison, request.matrix
    own = comparison.baseline.own_row
    delta = comparison.paired.delta
    rows = request.chosen(_MOST_BOXES, without=own)
    everyone = np.delete(delta, own, axis=0) if own is not None else delta
    boxes = [_summary(ALL, everyone.ravel())] + [
        _summary(shortened(matrix.runs[row], 30), delta[row])
        for row in sorted(rows, key=lambda row: -float(delta[row].mean()))
    ]
    order = [box["run"] for box in boxes]
    outliers = [
        {"run": box["run"], "value": value} for box in boxes for value in box.pop("outliers")
    ]
    y = alt.Y("run:N", sort=order, title=None)
    name = f"difference in {matrix.measure} to {shortened(comparison.baseline.name)}"
    whole = style.chart(boxes)
    colour = alt.condition(alt.datum.run == ALL, alt.value("#e3d5bf"), alt.value("#bcd9ee"))
    layers = [
        style.chart([{}]).mark_rule(color=style.RULE, strokeDash=[4, 3]).encode(x=alt.datum(0)),
        whole.mark_rule(color="#333333").encode(x=alt.X("low:Q", title=name), x2="high:Q", y=y),
        whole.mark_bar(size=9, stroke="#333333", strokeWidth=0.8).encode(
            x="first:Q", x2="third:Q", y=y, color=colour
        ),
        whole.mark_tick(color="#111111", thickness=2, size=9).encode(x="median:Q", y=y),
        style.chart(outliers)
        .mark_point(size=9, color="#555555", strokeWidth=0.8, opacity=0.7)
        .encode(x="value:Q", y=y),
        whole.mark_point(
            shape="diamond", filled=True, fill=style.COLOURS[1], stroke="white", strokeWidth=0.7,
            size=42, opacity=1,
        ).encode(x="mean:Q", y=y),
    ]  # fmt: skip
    if not outliers:
        del layers[4]
    size = {"height": request.height} if request.height else {"height": alt.Step(16)}
    return alt.layer(*layers).properties(width=request.panel(460, 0)[0], **size)


def _summary(name: str, delta: Floats) -> dict[str, Any]:
    """What a box shows."""
    first, median, third = (float(x) for x in np.quantile(delta, [0.25, 0.5, 0.75]))
    low, high = fences(delta)
    within = delta[(delta >= low) & (delta <= high)]
    outside = delta[(delta < low) | (delta > high)]
    return {
        "run": name, "low": float(within.min()), "high": float(within.max()),
        "first": first, "third": third, "median": median, "mean": float(delta.mean()),
        "outliers": np.unique(outside).tolist(),
    }  # fmt: skip
