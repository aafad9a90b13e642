"""A figure as a web page of its own, with all scripts in it.

vl-convert's own page would take a run's name for HTML; here names are data.
"""

from __future__ import annotations

import json
from typing import Any

import vl_convert

from riskcli.output.escape import script_json
from riskcli.page.document import source_hash

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


def web_page(described: dict[str, Any], version: str) -> bytes:
    """The page. Vega compiles expressions, which needs unsafe-eval; nothing can be loaded."""
    bundle = vl_convert.javascript_bundle(_SNIPPET, vl_version=version)
    script = bundle.replace("</script", "<\\/script")
    policy = (
        f"default-src 'none'; script-src '{source_hash(script)}' 'unsafe-eval'; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    description = json.dumps(described, ensure_ascii=False)
    parts = {
        "policy": policy,
        "title": "riskeval",
        "description": script_json(description),
        "script": script,
    }
    return (_PAGE % parts).encode()
