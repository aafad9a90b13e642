"""A figure as a file: one description, five forms, no browser and no network."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riskcli.core.errors import UsageError
from riskcli.output.escape import visible
from riskcli.plots import KINDS, OF_EXPERIMENTS

if TYPE_CHECKING:
    from riskcli.plots.curve import CurveRequest
    from riskcli.plots.request import Request

FORMS = {".svg": "svg", ".png": "png", ".pdf": "pdf", ".html": "html", ".json": "json"}
_SETTINGS: dict[str, dict[str, Any]] = {"png": {"ppi": 200}}
_ENTRIES = re.compile(rb"(?:^ +/\w+ \d+ 0 R\n){2,}", re.MULTILINE)
_IDS = re.compile(rb"((?:id=\"|url\(#)(?:gradient_|clip))(\d+)")


def form_of(output: Path) -> str:
    """The form that the file's suffix asks for."""
    form = FORMS.get(output.suffix.lower())
    if form is None:
        raise UsageError(f"{output}: a figure ends in one of {', '.join(FORMS)}")
    return form


def drawn(kind: str, request: Request | CurveRequest, form: str) -> bytes:
    """The figure of that kind in that form."""
    known = {**KINDS, **OF_EXPERIMENTS}
    if kind not in known:
        raise UsageError(f"no figure {kind!r}, expected one of {', '.join(known)}")
    try:
        import altair as alt
        import vl_convert
    except ImportError as error:
        raise UsageError(
            f"figures need {error.name}: pip install 'riskeval[plots]' brings it"
        ) from error
    from riskcli.plots.style import finished
    from riskcli.plots.web_page import web_page

    alt.data_transformers.disable_max_rows()
    module = import_module(f"{__package__}.{kind}")
    described = _visible(finished(module.draw(request)).to_dict())
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    if form == "json":
        return f"{json.dumps(described, ensure_ascii=False, indent=2)}\n".encode()
    if form == "html":
        return web_page(described, version)
    settings = _SETTINGS.get(form, {})
    convert = getattr(vl_convert, f"vegalite_to_{form}")
    content = convert(described, vl_version=version, **settings)
    return _settled(content if isinstance(content, bytes) else content.encode())


def _visible(node: Any) -> Any:
    """The description with control characters in names spelled out: XML and Vega have no place
    for them.
    """
    if isinstance(node, str):
        return visible(node)
    if isinstance(node, dict):
        return {_visible(key): _visible(value) for key, value in node.items()}
    return [_visible(value) for value in node] if isinstance(node, list) else node


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
