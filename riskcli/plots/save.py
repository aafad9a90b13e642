"""A figure as a file: one description, five formats, no browser and no network."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeAlias

import altair as alt
import vl_convert

import riskcli.plots.ecir20 as ecir20
import riskcli.plots.lines as lines
import riskcli.plots.points as points
import riskcli.plots.topics as topics
from riskcli.analyses import base
from riskcli.analyses.base import set_up as set_up
from riskcli.core.limits import COSTS, DRAWING_SPACE, address_space
from riskcli.core.messages import UsageError
from riskcli.output.escape import html, script_json, source_hash, visible
from riskcli.output.formats import emit
from riskcli.plots.in_words import alternative
from riskcli.plots.kinds import BY_GROUP, MEANINGS, WEIGHED
from riskcli.plots.panels import draw_by_group
from riskcli.plots.request import ExperimentRequest, Request, Size
from riskcli.plots.style import finished
from riskcli.trec.discovery import ALTERNATIVE

_PPI = 200
_VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
_STEPS = 6
_LEAST_PANEL = 60
_TITLE_LETTER = 7.0
_MARGINS = 20
_KEYS = {"bottom": {"anchor": "start", "direction": "vertical", "margin": 8, "offset": 10}}
"""Two keys below a figure stand one below the other: side by side they can be wider than it."""
_SVG_SIZE = re.compile(r'<svg[^>]*? width="(?P<width>[\d.]+)" height="(?P<height>[\d.]+)"[^>]*>')
_SVG_LENGTHS = re.compile(r'width="[\d.]+" height="[\d.]+"')
AnyRequest: TypeAlias = Request | ExperimentRequest
_MEMBERS = frozenset({
    "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString",
    "toString", "valueOf", "__proto__", "__defineGetter__", "__defineSetter__",
    "__lookupGetter__", "__lookupSetter__",
})  # fmt: skip
"""What every object of JavaScript has: Vega finds these where it looks up names. A blank helps."""
_ENTRIES = re.compile(rb"(?:^ +/\w+ \d+ 0 R\n){2,}", re.MULTILINE)
_IDS = re.compile(rb"((?:id=\"|url\(#)(?:gradient_|clip))(\d+)")


DRAWN: dict[str, Callable[[Any], Any]] = {
    "alpha": lines.draw_alpha, "curve": lines.draw_curve, "power": lines.draw_power,
    "profile": lines.draw_profile, "tradeoff": points.draw_tradeoff, "topics": topics.draw_topics,
    "wins": topics.draw_wins, "heatmap": topics.draw_heatmap, "churn": topics.draw_churn,
    "ecir14-1": points.draw_pca, "ecir14-2": points.draw_pca, "ecir14-3": topics.draw_pair,
    "ecir14-4": topics.draw_losses, "box": ecir20.draw_box, "ecir20-2": ecir20.draw_loss,
    "ecir20-3": ecir20.draw_qq, "ecir20-4": ecir20.draw_rbo,
}  # fmt: skip
"""What draws each kind, and each figure of a paper that is no kind."""


def refuse_much(kind: str, request: Request, format: str) -> None:
    """Refuse what this machine, or a limit on this process, lacks the memory for."""
    work = f"plot {kind}" if f"plot {kind}" in COSTS else "plot"
    base.refuse_much(work, [request.matrix], request.options)
    space = address_space()
    without_engine = format in ("json", "html") and request.size is None
    if space is not None and space < DRAWING_SPACE and not without_engine:
        raise UsageError(
            f"out-of-memory: what draws figures reserves {DRAWING_SPACE // 10**9} GB of address "
            f"space, most of it unused, and this process may have {space / 1e9:.1f} (ulimit -v); "
            "write .html or .json, or raise the limit"
        )


def drawn(kind: str, request: AnyRequest, format: str) -> bytes:
    """The figure of that kind in that format."""
    figure = _described(kind, request)
    if format == "json":
        return f"{json.dumps(figure, ensure_ascii=False, indent=2)}\n".encode()
    figure = _with_stacked_keys(figure)
    if format == "html":
        return web_page(figure)
    svg = _sized(vl_convert.vegalite_to_svg(figure, vl_version=_VEGA_LITE), request.size)
    if format == "svg":
        return _settled(_titled(svg, kind, request).encode())
    if format == "pdf":
        return _settled(vl_convert.svg_to_pdf(svg))
    return _settled(vl_convert.svg_to_png(svg, ppi=_PPI))


def write(kind: str, request: AnyRequest, format: str, output: Path) -> None:
    """Write the figure, and beside it what it shows in words."""
    emit(drawn(kind, request, format), output)
    emit(f"{alternative(kind, request)}\n", output.with_name(f"{output.name}{ALTERNATIVE}"))


def chart(kind: str, request: AnyRequest) -> alt.TopLevelMixin:
    """The same figure as an Altair chart."""
    made: alt.TopLevelMixin = alt.Chart.from_dict(_described(kind, request))
    return made


def _described(kind: str, request: AnyRequest) -> dict[str, Any]:
    """The figure in Vega-Lite, with what it shows in words."""
    alt.data_transformers.disable_max_rows()
    if isinstance(request, Request) and kind not in WEIGHED:
        base.refuse_weights([request.matrix], f"the figure {kind}")
    if request.size is not None:
        request = _fitted(kind, request, request.size)
    figure = _wrapped(kind, request)
    figure["description"] = visible(alternative(kind, request))
    return figure


def _with_stacked_keys(figure: dict[str, Any]) -> dict[str, Any]:
    """What Vega can do and the schema of Vega-Lite does not list; other programs get it without."""
    config = figure["config"]
    return {**figure, "config": {**config, "legend": {**config["legend"], "layout": _KEYS}}}


def _head(svg: str) -> re.Match[str]:
    """The beginning of a drawing, with its width and height in pixels."""
    found = _SVG_SIZE.match(svg)
    assert found is not None, svg[:200]
    return found


def _fitted(kind: str, request: AnyRequest, size: Size) -> AnyRequest:
    """The request with panels of such a width that the whole figure has the width asked for.

    The whole is as wide as its panels and what stands beside them: a line, near enough for a few
    steps of the secant method.
    """
    target = size.design

    def excess(panel: int) -> float:
        tried = replace(request, width=panel)
        if isinstance(tried, Request):
            tried = replace(tried, notes=[])
        figure = _with_stacked_keys(_wrapped(kind, tried))
        svg = vl_convert.vegalite_to_svg(figure, vl_version=_VEGA_LITE)
        return float(_head(svg)["width"]) - target

    panel, over = round(0.4 * target), excess(round(0.4 * target))
    slope = 1.0
    for _ in range(_STEPS):
        following = max(_LEAST_PANEL, round(panel - over / slope))
        if following == panel:
            break
        found = excess(following)
        if found != over:
            slope = max(0.5, (found - over) / (following - panel))
        panel, over = following, found
    return replace(request, width=panel)


def _wrapped(kind: str, request: AnyRequest) -> dict[str, Any]:
    """The figure with titles in as many lines as its width asks for."""
    figure = dict(_visible(finished(_drawing(kind, request)).to_dict()))
    if request.size is None:
        return figure
    if request.narrow:
        figure["config"]["legend"]["columns"] = 1
    return dict(_wrap(figure, request.size.design - _MARGINS))


def _drawing(kind: str, request: AnyRequest) -> Any:
    """One figure, or one for each group of topics."""
    if not isinstance(request, Request) or not request.matrix.axes.groups:
        return DRAWN[kind](request)
    if kind not in BY_GROUP:
        known = ", ".join(BY_GROUP)
        raise UsageError(f"panels by group are drawn of {known}: leave out --groups for {kind}")
    return draw_by_group(DRAWN[kind], request)


def _wrap(node: Any, width: float) -> Any:
    """Titles in lines; what is set equal to a value stays on one line with it."""
    if isinstance(node, list):
        return [_wrap(each, width) for each in node]
    if not isinstance(node, dict):
        return node
    said = node.get("width")
    own = said if isinstance(said, int | float) else width
    changed = {key: _wrap(each, own) for key, each in node.items()}
    room = max(18, int(own / _TITLE_LETTER))
    title = changed.get("title")
    if isinstance(title, str) and len(title) > room:
        changed["title"] = wrap(_held_together(title), room)
    elif isinstance(title, dict) and isinstance(title.get("text"), str):
        changed["title"] = {**title, "text": wrap(_held_together(title["text"]), room)}
    return changed


def _held_together(title: str) -> str:
    return title.replace(" = ", "\u00a0=\u00a0")


def _sized(svg: str, size: Size | None) -> str:
    """The drawing at the width in points that was asked for, or as it is."""
    if size is None:
        return svg
    found = _head(svg)
    scale = size.points / float(found["width"])
    height = float(found["height"]) * scale
    start = _SVG_LENGTHS.sub(f'width="{size.points:.2f}" height="{height:.2f}"', found[0], count=1)
    return start + svg[found.end() :]


def _titled(svg: str, kind: str, request: AnyRequest) -> str:
    """The drawing with a title and a description for those who cannot see it; lengths in points."""
    found = _head(svg)
    start = found[0]
    if request.size is not None:
        in_points = f'width="{found["width"]}pt" height="{found["height"]}pt"'
        start = _SVG_LENGTHS.sub(in_points, start, count=1)
    title = f"<title>{html(MEANINGS[kind])}</title>"
    return f"{start}{title}<desc>{html(alternative(kind, request))}</desc>{svg[found.end() :]}"


def _visible(node: Any) -> Any:
    """The description with control characters in names spelled out: XML and Vega have no place
    for them.
    """
    if isinstance(node, str):
        return f"{node}\u00a0" if node in _MEMBERS else visible(node)
    if isinstance(node, dict):
        return {_visible(key): _visible(value) for key, value in node.items()}
    return [_visible(value) for value in node] if isinstance(node, list | tuple) else node


def _settled(content: bytes) -> bytes:
    """The same bytes for the same figure.

    Ids in an SVG go on counting from one figure to the next. Entries of a PDF's dictionaries come
    in any order; a line moved within its object moves no object, so that offsets stay true.
    """
    if content.startswith(b"%PDF"):
        return _ENTRIES.sub(lambda match: b"".join(sorted(match[0].splitlines(True))), content)
    if not content.startswith(b"<svg"):
        return content
    known: dict[bytes, bytes] = {}
    return _IDS.sub(
        lambda match: known.setdefault(match[0], match[1] + b"%d" % len(known)), content
    )


# A figure as a web page of its own, with all scripts in it.
#
# vl-convert's own page would take a run's name for HTML; here names are data.


_SNIPPET = (
    'vegaEmbed("#figure", JSON.parse(document.getElementById("description").textContent), '
    '{renderer: "svg", actions: {source: false, compiled: false, editor: false}});'
)
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%(policy)s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>%(title)s</title>
</head>
<body>
<div id="figure"></div>
<script type="application/json" id="description">%(description)s</script>
<script>%(script)s</script>
</body>
</html>
"""


def web_page(described: dict[str, Any]) -> bytes:
    """The page. Vega compiles expressions, which needs unsafe-eval; nothing can be loaded."""
    bundle = vl_convert.javascript_bundle(_SNIPPET, vl_version=_VEGA_LITE)
    script = bundle.replace("</script", "<\\/script")
    policy = (
        f"default-src 'none'; script-src '{source_hash(script)}' 'unsafe-eval'; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": "riskeval",
        "description": script_json(json.dumps(described, ensure_ascii=False)),
        "script": script,
    }
    return (_PAGE % parts).encode()
