"""Execute the notebook of the documentation, and keep its outputs in it.

    python docs/notebook.py            # writes docs/first-half-hour.ipynb with its outputs
    python docs/notebook.py --check    # fails where it prints something else now

Needs the extras `docs` and `plots`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "docs" / "first-half-hour.ipynb"
_ADDRESS = re.compile(r"0x[0-9a-f]+")


def executed() -> Any:
    """The notebook as it runs now, in the checkout's folder, without times."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(ROOT)}})
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    return notebook


def texts(notebook: Any) -> list[list[str]]:
    """What each cell prints: one text for each output, figures by their kind."""
    return [
        [_text(output) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def _text(output: Any) -> str:
    if output.output_type == "stream":
        return str(output.text)
    return _ADDRESS.sub("0x", str(output.get("data", {}).get("text/plain", output.output_type)))


def main() -> int:
    """Write it, or say whether it is as it was."""
    now = executed()
    if "--check" in sys.argv[1:]:
        before = texts(nbformat.read(NOTEBOOK, as_version=4))
        wrong = [pair for pair in zip(before, texts(now), strict=True) if pair[0] != pair[1]]
        for old, new in wrong:
            print(f"was: {old}\nis:  {new}", file=sys.stderr)
        return 1 if wrong else 0
    nbformat.write(now, NOTEBOOK)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
