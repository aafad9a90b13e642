"""How far apart the colours are, for all eyes: page and figures."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from riskcli.core.arrays import Floats
from tests.helpers.console import ROOT

SIMULATED = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
         [0.004733, 0.691367, 0.303900]]
    ),
}  # fmt: skip
"""In linear RGB, of full severity (Machado, Oliveira and Fernandes, 2009)."""
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
     [0.0193339, 0.1191920, 0.9503041]]
)  # fmt: skip


def linear(colour: str) -> Floats:
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb: Floats) -> Floats:
    t = XYZ @ rgb / XYZ.sum(axis=1)
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one: str, other: str, sight: str) -> float:
    """CIE 1976."""
    seen = [lab(np.clip(SIMULATED[sight] @ linear(colour), 0, 1)) for colour in (one, other)]
    return float(np.linalg.norm(seen[0] - seen[1]))


def contrast(one: str, other: str) -> float:
    light = sorted(float(XYZ[1] @ linear(colour)) for colour in (one, other))
    return (light[1] + 0.05) / (light[0] + 0.05)


def scheme(number: int) -> dict[str, str]:
    """The colours of the page's style: 0 light, 1 dark, 2 print."""
    style = (ROOT / "riskcli" / "page" / "page.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root \{(.*?)\}", style, flags=re.DOTALL)
    found = dict(re.findall(r"--([a-z0-9]+): (#[0-9a-f]{3,6})", blocks[number]))
    return {
        name: colour if len(colour) == 7 else "#" + "".join(2 * c for c in colour[1:])
        for name, colour in found.items()
    }


@pytest.mark.parametrize("sight", SIMULATED)
@pytest.mark.parametrize("number", [0, 1, 2])
def test_colours_of_the_page(sight: str, number: int) -> None:
    colours = scheme(number)
    runs = [colours[f"c{i}"] for i in range(6)]
    assert min(difference(*pair, sight) for pair in combinations(runs, 2)) >= 25
    assert difference(colours["gain"], colours["loss"], sight) >= 25
    for name in [*(f"c{i}" for i in range(6)), "gain", "loss", "other"]:
        assert contrast(colours[name], colours["paper"]) >= (3 if name == "other" else 4.5)


@pytest.mark.parametrize("sight", SIMULATED)
def test_colours_of_figures(sight: str) -> None:
    pytest.importorskip("altair", reason="altair is not installed (pip install riskeval[plots])")
    from riskcli.plots.style import COLOURS, GAIN, LOSS, QUIET

    assert min(difference(*pair, sight) for pair in combinations(COLOURS, 2)) >= 30
    assert difference(GAIN, LOSS, sight) >= 30
    assert all(contrast(colour, "#ffffff") >= 3 for colour in (*COLOURS, GAIN, LOSS, QUIET))
