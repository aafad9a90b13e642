"""Figures of what happens topic by topic: to differences, terms of URisk, z, and rankings."""

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

import riskcli.plots.style as style
from riskcli.analyses.topic_summary import RunTopics
from riskcli.analyses.topics import topic_table
from riskcli.core.arrays import Floats
from riskcli.core.messages import InputError, UsageError, naturally
from riskcli.effectiveness.ranking import rank
from riskcli.output.display import shortened
from riskcli.plots.request import ExperimentRequest, Request, falling
from riskcli.risk.paired import Paired
from riskcli.risk.rank_agreement import kendall_tau_b
from riskcli.trec.runs import read_run

# TR or TJ of every topic (SIGIR'14, Figure 2): a panel per run and alpha, with critical values.


_MOST_PANELS = 4
_STEP = 11
GAINED, LOST = "gain beyond the critical value", "loss beyond the critical value"
_SIDES = (GAINED, LOST, "within")


def topics_shown(request: Request) -> tuple[str, Sequence[RunTopics]]:
    """TR or TJ, and a part for each run and alpha; its values are in the matrix's order."""
    of = request.one_of(("tj", "tr"))
    rows = request.chosen(_MOST_PANELS, without=request.comparison.baseline.own_row)
    names = [request.matrix.runs[row] for row in rows]
    table = topic_table([request.matrix], runs=names, options=request.options, order="topic")
    return of, sorted(table.parts, key=lambda part: names.index(part.run))


def draw_topics(request: Request) -> Any:
    """Bars, one below the other, on one scale."""
    of, parts = topics_shown(request)
    topics = list(request.matrix.topics)
    sides = _sides_drawn(parts, of)
    columns = _columns_of_alphas(request, len({part.run for part in parts}))
    width = request.width or max(240, min(_STEP * len(topics), 1100 // columns))
    height = request.height or 120
    if columns > 1:  # a line an alpha
        alphas = list(dict.fromkeys(part.alpha for part in parts))
        parts = sorted(parts, key=lambda part: alphas.index(part.alpha))
    last_row = len(parts) - columns
    panels = []
    for index, part in enumerate(parts):
        axis = style.topic_axis(topics, width, "topic", index >= last_row, labelFontSize=10.5)
        bars = _bars(part, of, topics, sides).encode(x=axis)
        panels.append(_marked(bars.properties(width=width, height=height), part))
    return alt.concat(*panels, columns=columns).resolve_scale(y="shared")


def _columns_of_alphas(request: Request, runs: int) -> int:
    """A column a run where several alphas make a grid (SIGIR'14, Figure 2), else one."""
    grid = len(request.options.alphas) > 1 and 1 < runs <= _MOST_PANELS and not request.narrow
    return runs if grid else 1


def _sides_drawn(parts: Sequence[RunTopics], of: str) -> list[str]:
    """What the legend has to explain: only what some panel shows."""
    found = {side_of(value, part.critical) for part in parts for value in part.columns[of].tolist()}
    return [side for side in _SIDES if side in found]


def _bars(part: RunTopics, of: str, topics: list[str], sides: list[str]) -> Any:
    critical = part.critical
    found = part.columns[of].tolist()
    rows = [
        {
            "topic": topic,
            "value": value if value == value else None,
            "side": side_of(value, critical),
        }
        for topic, value in zip(topics, found, strict=True)
    ]
    scale = alt.Scale(domain=list(_SIDES), range=[style.GAIN, style.LOSS, style.QUIET])
    legend = alt.Legend(title=None, orient="bottom", values=sides)
    colour = alt.Color("side:N", scale=scale, legend=legend)
    y = alt.Y("value:Q", title=of.upper())
    return style.chart(rows).mark_bar().encode(y=y, color=colour)


def side_of(value: float, critical: float) -> str:
    """On which side of the two critical values, or between them."""
    gained, lost, within = _SIDES
    return gained if value > critical else lost if value < -critical else within


def _marked(panel: alt.Chart, part: RunTopics) -> Any:
    """The panel with its title and the two critical values."""
    alpha = "" if part.alpha is None else f", α = {part.alpha:g}"
    rules = []
    if part.critical == part.critical:
        dashed = style.chart([{}]).mark_rule(color=style.RULE, strokeDash=[4, 3])
        rules = [dashed.encode(y=alt.datum(sign * part.critical)) for sign in (1, -1)]
        rules += style.name_of_level(f"critical value {part.critical:.2f}", part.critical)
    title = f"{shortened(part.run, 40)} against {shortened(part.baseline, 40)}{alpha}"
    return alt.layer(panel, *rules).properties(title=title)


# How many topics gain and lose how much: the helped-hurt histogram of SIGIR'12, Figure 1.


_MOST_HISTOGRAMS = 8
_COLOURS = {"helped": style.GAIN, "hurt": style.LOSS}


def draw_wins(request: Request) -> Any:
    """A histogram of the differences to the baseline, a panel a run; ties are told in its title."""
    comparison = request.comparison
    rows = request.chosen(_MOST_HISTOGRAMS, without=comparison.baseline.own_row)
    delta = comparison.paired.delta[rows]
    step = bin_width(delta)
    reach = step * np.ceil(np.abs(delta).max() / step) if delta.any() else step
    width, height = request.panel(190, 120)
    columns = _columns_without_gaps(len(rows), request)
    panels = [
        _histogram(one, step, float(reach), titles).properties(
            width=width, height=height,
            title=alt.Title(_record(request, row, comparison.paired), fontSize=12, anchor="middle"),
        )
        for row, one, titles in zip(
            rows, delta, style.outer_titles(len(rows), columns, "difference", "topics"), strict=True
        )
    ]  # fmt: skip
    name = f"difference in {request.matrix.measure} to {shortened(comparison.baseline.name, 40)}"
    return style.grid(panels, columns, f"{name}; topics won/tied/lost", offset=12)


def _histogram(delta: Floats, step: float, reach: float, titles: style.Titles) -> Any:
    bars = histogram(delta, step)
    sides = [side for side in _COLOURS if any(bar["side"] == side for bar in bars)]
    legend = alt.Legend(title=None, orient="bottom", values=sides) if sides else None
    scale = alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values()))
    colour = alt.Color("side:N", scale=scale, legend=legend)
    drawn = style.bars_between(bars, "topics", [-reach, reach], titles, binSpacing=0)
    return drawn.encode(color=colour)


def _columns_without_gaps(panels: int, request: Request) -> int:
    """So many that no panel of the last row is missing, where that can be; two in a column."""
    if request.narrow:
        return min(panels, 2)
    return next((columns for columns in (4, 3, 2) if panels % columns == 0), min(panels, 3))


def _record(request: Request, row: int, paired: Paired) -> list[str]:
    counts = (int(of[row]) for of in (paired.wins, paired.ties, paired.losses))
    return [shortened(request.matrix.runs[row], 18), "/".join(map(str, counts))]


def bin_width(delta: Floats) -> float:
    """A round width that parts the largest difference into about ten."""
    most = float(np.abs(delta).max())
    if most == 0:
        return 0.1
    power = 10.0 ** np.floor(np.log10(most / 10))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power * 10 >= most))


def histogram(delta: Floats, step: float) -> list[dict[str, Any]]:
    """A bar for each bin between its edges; what lies on an edge belongs to the bar nearer 0.

    Ties have no bar: they are no difference of any size.
    """
    found: list[dict[str, Any]] = []
    for sign, side in ((1, "helped"), (-1, "hurt")):
        sizes = sign * delta[sign * delta > 0]
        bins, counts = np.unique(np.ceil(np.round(sizes / step, 9)), return_counts=True)
        for number, count in zip(bins.tolist(), counts.tolist(), strict=True):
            low, high = sorted((sign * number * step, sign * (number - 1) * step))
            found.append({"side": side, "low": low, "high": high, "topics": count})
    return found


# z of every run on every topic: where scores depart from what run and topic lead to expect.


_MOST_ROWS = 150
_MOST_SHADED = 0.98
"""The shades reach this quantile of |z|: a single outlier would grey all else."""
_SHADES = ["#08204f", "#3c6fb0", "#adb8c0", "#f2c14e", "#fff0a8"]
"""From below expectation to above; lighter all the way, so that it is told in grey too."""


def draw_heatmap(request: Request) -> Any:
    """Runs by falling ZRisk, topics by falling mean; dark is below expectation, in grey too."""
    comparison, matrix = request.comparison, request.matrix
    if comparison.has_negative:
        raise UsageError("z needs scores of at least 0")
    z = comparison.population.z
    zrisk = comparison.population.zrisk(request.alpha)
    rows = sorted(request.chosen(_MOST_ROWS), key=lambda row: -float(zrisk[row]))
    columns = falling(matrix.values.mean(axis=0))
    runs = [shortened(matrix.runs[row], 30) for row in rows]
    topics = [matrix.topics[index] for index in columns]
    most = float(np.quantile(np.abs(z[rows]), _MOST_SHADED)) or float(np.abs(z).max()) or 1.0
    width = request.width or max(200, min(13 * len(topics), 1000))
    height = request.height or max(80, min(16 * len(runs), 1100))
    cells = [
        {"run": run, "topic": topic, "z": round(float(z[row, index]), 4)}
        for run, row in zip(runs, rows, strict=True)
        for topic, index in zip(topics, columns, strict=True)
    ]
    axis = alt.Axis(labelAngle=-90, values=style.room_for(topics, width), labelOverlap=False)
    beyond = float(np.abs(z[rows]).max()) > most
    title = f"z of {matrix.measure}, by ZRisk at α = {request.alpha:g}"
    return (
        style.chart(cells)
        .mark_rect()
        .encode(
            x=alt.X("topic:N", sort=topics, title="topic, from the highest mean score", axis=axis),
            y=alt.Y(
                "run:N", sort=runs, title=None, axis=alt.Axis(values=style.room_for(runs, height))
            ),
            color=_shade(most, height, beyond),
            tooltip=["run:N", "topic:N", "z:Q"],
        )
        .properties(width=width, height=height, title=title)
    )


def _shade(most: float, height: int, beyond: bool) -> Any:
    """The shades, and a key that says where they end and whether anything lies beyond."""
    ends = [most * part for part in (-1, -0.5, 0, 0.5, 1)]
    scale = alt.Scale(domain=ends, range=_SHADES, interpolate="lab", clamp=True)
    low, high = (f"≤ −{most:.2g}", f"≥ {most:.2g}") if beyond else (f"−{most:.2g}", f"{most:.2g}")
    legend = alt.Legend(
        title="z",
        gradientLength=min(height, 160),
        values=[ends[0], 0, ends[-1]],
        labelExpr=f"datum.value > 0 ? '{high}' : datum.value < 0 ? '{low}' : '0'",
    )
    return alt.Color("z:Q", scale=scale, legend=legend)


# Ordered terms of URisk: ECIR'14, Figure 4.


_MOST_LOSSES = 3


def rows_of_losses(request: Request) -> list[int]:
    """The runs that are shown."""
    return request.chosen(_MOST_LOSSES, without=request.comparison.baseline.own_row)


def draw_losses(request: Request) -> Any:
    """A panel a run and alpha: runs side by side, alphas below each other, on one scale."""
    comparison, rows = request.comparison, rows_of_losses(request)
    columns = min(len(rows), 2 if request.narrow else _MOST_LOSSES)
    width, height = request.panel(230, 110)
    panels = []
    for alpha in request.options.alphas:
        terms = comparison.paired.weighted(alpha)
        for row in rows:
            bars = [{"place": i, "w": w} for i, w in enumerate(np.sort(terms[row]).tolist(), 1)]
            name = f"{shortened(request.matrix.runs[row], 24)}, α = {alpha:g}"
            drawn = _terms(bars, name).encode(x=alt.X("place:O", axis=None))
            panels.append(drawn.properties(width=width, height=height))
    against = shortened(comparison.baseline.name, 40)
    title = f"{request.matrix.measure}: terms of URisk against {against}, topics in ascending order"
    return style.grid(panels, columns, title)


def _terms(bars: list[dict[str, Any]], title: str) -> Any:
    """The terms of URisk as bars, gains and losses in their colours."""
    colour = alt.condition(alt.datum.w < 0, alt.value(style.LOSS), alt.value(style.GAIN))
    y = alt.Y("w:Q", title="w", axis=alt.Axis(tickCount=4))
    chart = style.chart(bars, title=alt.Title(title, fontSize=12))
    return chart.mark_bar().encode(y=y, color=colour)


# Two runs against each other (ECIR'14, Figure 3): scores, and what each loses to the other.


def pair_shown(request: Request) -> tuple[int, int]:
    """The two runs: those asked for, or one and the baseline."""
    own = request.comparison.baseline.own_row
    rows = request.chosen(2 if own is None else 1, without=None if request.runs else own)
    if len(rows) == 1 and own is not None and own != rows[0]:
        rows = [*rows, own]
    if len(rows) != 2:
        raise UsageError("this figure shows two runs: name two with --run, or one and --baseline")
    return rows[0], rows[1]


def draw_pair(request: Request) -> Any:
    """Per-topic scores of both runs, and URisk's terms with either as the baseline of the other."""
    matrix, rows = request.matrix, [*pair_shown(request)]
    second = matrix.values[rows[1]]
    order = sorted(range(len(matrix.topics)), key=lambda q: -float(second[q]))
    topics = [matrix.topics[q] for q in order]
    names = [shortened(matrix.runs[row], 24) for row in rows]
    width, height = request.panel(max(320, min(12 * len(topics), 900)), 120)
    panels = [_scores(matrix.values[rows][:, order], names, topics, matrix.measure)]
    for (row, name), (base, other) in permutations(zip(rows, names, strict=True)):
        paired = Paired(matrix.values[[row]], matrix.values[base])
        terms = paired.weighted(request.alpha)[0][order].tolist()
        bars = [{"topic": topic, "w": w} for topic, w in zip(topics, terms, strict=True)]
        title = f"{name}, baseline {other}: terms of URisk, α = {request.alpha:g}"
        panels.append(_terms(bars, title))
    by = f"topic, by falling score of {names[1]}"
    axes = (style.topic_axis(topics, width, by, panel is panels[-1]) for panel in panels)
    placed = [panel.encode(x=x).properties(width=width, height=height)
              for panel, x in zip(panels, axes, strict=True)]  # fmt: skip
    return alt.vconcat(*placed).resolve_scale(color="independent", shape="independent")


def _scores(scores: Floats, names: list[str], topics: list[str], measure: str) -> Any:
    rows = style.line_rows(zip(names, scores, strict=True), ("topic", topics), "score")
    legend = alt.Legend(title=None, orient="top")
    colour, shape = (each(names) for each in (style.colour_of, style.shape_of))
    for channel in (colour, shape):
        channel["legend"] = legend
    y = alt.Y("score:Q", title=measure, axis=alt.Axis(tickCount=4))
    mark = style.chart(rows).mark_point(filled=True, size=34, opacity=1)
    return mark.encode(y=y, color=colour, shape=shape)


# How far models turn the baseline's rankings round: SIGIR'12, Figure 5, from train's folder.


BINS = 10
_COMPARATORS = (".blend", ".select")
_TITLE = "Kendall distance of rankings to the baseline's; % of queries below 0.1"
Rankings = dict[str, dict[str, int]]
"""By query and document, its rank."""


def draw_churn(request: ExperimentRequest) -> Any:
    """A histogram of the distances, a panel a model; the title tells the share in the first bin.

    Comparators are drawn where they are asked for by name.
    """
    folder = request.folder / "runs"
    paths = {path.stem: path for path in sorted(folder.glob("*.run"))}
    baselines = [name for name in paths if name.startswith("baseline")]
    if not baselines or len(baselines) == len(paths):
        message = "no baseline and models are in it; expected a folder that `riskeval train` wrote"
        raise InputError(folder, "unreadable", message)
    known = naturally(name for name in paths if name not in baselines)
    models = [name for name in known if not name.endswith(_COMPARATORS)]
    names = request.chosen(known if request.runs else models, len(style.COLOURS))
    before = [_rankings(paths[name]) for name in baselines]
    columns = min(2 if request.narrow else 3, len(names))
    outer = style.outer_titles(len(names), columns, "distance", "% of queries")
    width, height = request.panel(190, 120)
    panels = []
    for name, titles in zip(names, outer, strict=True):
        model = _rankings(paths[name])
        distances = np.mean([_distances(paths[name], model, one) for one in before], axis=0)
        shares = shares_by_distance(distances).tolist()
        rows = [
            {"run": name, "low": number / BINS, "high": (number + 1) / BINS, "share": share}
            for number, share in enumerate(shares)
        ]
        title = alt.Title(f"{shortened(name, 18)}  {shares[0]:.0f} %", fontSize=12, anchor="middle")
        drawn = style.bars_between(rows, "share", [0, 1], titles, color=style.GAIN)
        panels.append(drawn.properties(title=title, width=width, height=height))
    whole = _TITLE if len(before) == 1 else f"{_TITLE}, mean over {len(before)} baselines"
    return style.grid(panels, columns, whole, offset=12)


def shares_by_distance(distances: Floats) -> Floats:
    """The share of the queries, in percent, in each tenth from 0 to 1."""
    bins = np.minimum(np.round(distances * BINS, 9).astype(np.int64), BINS - 1)
    return np.asarray(100 * np.bincount(bins, minlength=BINS) / len(distances))


def _rankings(path: Path) -> Rankings:
    """In trec_eval's order: scores that are equal in single precision by falling document id."""
    ranked = rank(read_run(path), None)
    return {topic: {docno: i for i, docno in enumerate(docnos)} for topic, docnos in ranked.items()}


def _distances(path: Path, model: Rankings, baseline: Rankings) -> Floats:
    """Of every query with two documents or more: the share of its pairs that changed sides."""
    distances = []
    for topic, ranks in model.items():
        others = baseline.get(topic, {})
        if ranks.keys() != others.keys():
            message = f"query {topic} has other documents than the baseline's run"
            raise InputError(path, "no-common-document", message)
        if len(ranks) > 1:
            before = np.array([others[docno] for docno in ranks], dtype=np.float64)
            after = np.arange(len(before), dtype=np.float64)
            distances.append((1 - kendall_tau_b(after, before)) / 2)
    if not distances:
        raise InputError(path, "no-common-document", "no query has two documents")
    return np.array(distances)
