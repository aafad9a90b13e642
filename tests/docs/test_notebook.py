"""The notebook of the documentation is executed, and prints what the site shows; nothing twice."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.helpers.console import ROOT

NOTEBOOK = ROOT / "docs" / "first-half-hour.ipynb"


def test_each_result_is_shown_once_and_whole() -> None:
    every = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    cells = [cell for cell in every if cell["cell_type"] == "code"]
    assert all(len(cell["outputs"]) == 1 for cell in cells) and len(cells) > 5
    shown = ["".join(cell["outputs"][0]["data"]["text/plain"]) for cell in cells]
    table = next(text for text in shown if "\nERR@20, baseline indriCASP, α = 5\n" in text)
    assert "neuralMix" in table and "losses weighted ×6" in table


def test_the_notebook_prints_what_it_shows() -> None:
    if any(find_spec(name) is None for name in ("nbclient", "ipykernel", "altair")):
        pytest.skip("nbclient, ipykernel or Altair is not installed (extras docs and plots)")
    ran = subprocess.run(
        [sys.executable, ROOT / "docs" / "notebook.py", "--check"],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
