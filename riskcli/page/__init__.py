"""The page: a leaderboard in one HTML file that computes in the reader's browser, offline.

Its formulas are a second implementation of those in `risk/`, in JavaScript, compared with the first
on random matrices in a real browser (tests/test_page_model.py). What is not a formula (ids, titles,
decimals, what depends on alpha) is read from the data. At the alphas of the table the page shows
the table's own numbers; at other alphas it computes only what agrees with them, and names the rest.

Style and script lie beside this module as files of their own. The page's Content-Security-Policy
names them by their hashes and forbids all else: no request, no other script, no inline handler.
All names reach the script as JSON, and the document as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from riskcli.analyses.score.analysis import RiskTable
from riskcli.analyses.score.display import displays
from riskcli.core.version import __version__
from riskcli.output.escape import html, script_json
from riskcli.output.html import as_html
from riskcli.page.data import page_data
from riskcli.scores.matrix import ScoreMatrix

SCRIPTS = (
    "statistics.js",
    "jackknife.js",
    "model.js",
    "answers.js",
    "draw.js",
    "figures.js",
    "table.js",
    "page.js",
)
STATIC_WIDTH = 120


@dataclass(frozen=True)
class Page:
    """What a page shows: scores, and the risk tables of their comparisons, the first one first."""

    title: str
    matrices: Sequence[ScoreMatrix]
    tables: Sequence[RiskTable]


def as_page(page: Page) -> str:
    """The page as one HTML document; the same inputs and settings give the same bytes."""
    style, script = _asset("page.css"), _script()
    data = json.dumps(
        page_data(page.matrices, page.tables),
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    )
    parts = {
        "policy": _policy(style, script),
        "title": html(page.title),
        "style": style,
        "about": _about(page.tables[0]),
        "static": as_html(displays(page.tables[0].sorted_by(), STATIC_WIDTH)),
        "data": script_json(data),
        "script": script,
    }
    return _filled(_asset("page.html"), parts)


def _asset(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _script() -> str:
    """All scripts as one, with no names in common with whatever surrounds the page."""
    body = "\n".join(map(_asset, SCRIPTS))
    return f'"use strict";\n(() => {{\n{body}\n}})();\n'


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{source_hash(style)}'; "
        f"script-src '{source_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def source_hash(text: str) -> str:
    """The name of a script or style in a Content-Security-Policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _filled(template: str, parts: dict[str, str]) -> str:
    """The template with each `{{name}}` replaced; what is put in is not looked at again."""
    pieces = template.split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        filled += [parts[name], rest]
    return "".join(filled)


def _about(table: RiskTable) -> str:
    """Settings, inputs with their checksums, and warnings."""
    found = table.result().envelope()
    settings = "".join(
        f"<dt>{html(name)}</dt><dd>{html(_shown(value))}</dd>"
        for name, value in found["settings"].items()
        if value is not None
    )
    inputs = "".join(
        f'<tr><th scope="row">{html(entry["path"])}</th><td>{html(entry["kind"])}</td>'
        f"<td><code>{entry['sha256']}</code></td></tr>\n"
        for entry in found["inputs"]
    )
    warnings = "".join(f"<li>{html(entry['message'])}</li>\n" for entry in found["warnings"])
    return "\n".join(
        [
            f"<h3>Warnings</h3>\n<ul>{warnings}</ul>" if warnings else "",
            f"<h3>Settings</h3>\n<dl>{settings}</dl>",
            '<h3>Inputs</h3>\n<div class="wide"><table class="inputs">'
            '<thead><tr><th scope="col">file</th><th scope="col">kind</th>'
            f'<th scope="col">SHA-256</th></tr></thead>\n<tbody>{inputs}</tbody></table></div>',
            f"<p>riskeval {html(__version__)}</p>",
        ]
    )


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    return str(value)
