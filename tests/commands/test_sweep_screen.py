"""What a sweep and the power of tests say of 17 runs fits a screen of 25 lines by 80 columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.helpers import inprocess
from tests.helpers.console import on_terminal
from tests.helpers.strategies import Floats

CALLS = [
    "sweep -b {0}", "sweep", "sweep --convention minus", "sweep --over baseline",
    "sweep --over measure -b {0}", "sweep --over population", "sweep --over population --of zrisk",
    "power",
]  # fmt: skip


def scores(kind: str) -> Floats:
    """17 runs on 50 topics: apart, all but equal, or each bolder than the one before."""
    generator = np.random.default_rng(17)
    topics = generator.beta(1.2, 2.5, 50)
    apart = {"apart": 0.02, "equal": 0.0, "bold": 0.006}[kind] * np.arange(17)[:, None]
    noise = np.linspace(0.02, 0.3, 17)[:, None] if kind == "bold" else 0.08
    values = topics * (0.8 + apart) + noise * generator.standard_normal((17, 50))
    return np.asarray(np.clip(values, 0, 1))


def kept(folder: Path, values: Floats) -> tuple[Path, list[str]]:
    """A file of the scores, whose runs have names as TREC's have, and these names."""
    names = [f"team{row:02}Run{row % 7:04}X" for row in range(len(values))]
    topics = ",".join(map(str, range(51, 51 + values.shape[1])))
    rows = [",".join(f"{score:.4f}" for score in row) for row in values.tolist()]
    lines = [f"{name},{row}" for name, row in zip(names, rows, strict=True)]
    file = folder / "runs17.csv"
    file.write_text("\n".join([f"run,{topics}", *lines, ""]))
    return file, names


@pytest.mark.parametrize("kind", ["apart", "equal", "bold"])
def test_seventeen_runs_take_one_screen(kind: str, tmp_path: Path) -> None:
    file, names = kept(tmp_path, scores(kind))
    for call in CALLS:
        command, *options = call.format(names[8]).split()
        ran = inprocess.riskeval(command, file, *options, "-f", "table", COLUMNS="80")
        lines = ran.out.splitlines()
        assert ran.code == 0 and max(map(len, lines)) <= 80, call
        assert len(lines) <= 25, (call, ran.out)
        sentences = [line for line in lines[:3] if line.endswith(".")]
        assert sentences, (call, ran.out)


def test_the_answer_on_a_terminal_is_the_same(tmp_path: Path) -> None:
    file, names = kept(tmp_path, scores("apart"))
    code, shown = on_terminal(f"riskeval sweep {file} -b {names[8]} --quiet 2>/dev/null", 80)
    ran = inprocess.riskeval("sweep", file, "-b", names[8], "-f", "table", COLUMNS="80")
    assert code == 0 and shown.replace("\r", "") == ran.out
