"""Labels of topics and runs together: groups, weights, replicates and judges beside each other."""

from __future__ import annotations

import base64
import json
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import riskcli
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES


def rows(*arguments: str | Path, cwd: Path) -> list[dict[str, Any]]:
    ran = riskeval(*arguments, "-f", "json", "--quiet", cwd=cwd)
    assert ran.code == 0, ran.err
    found: list[dict[str, Any]] = json.loads(ran.out)["rows"]
    return found


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    topics = [str(t) for t in range(1, 31)]
    base = rng.beta(1.3, 2.5, 30)
    with (tmp_path / "m.csv").open("w") as f:
        f.write("run," + ",".join(topics) + "\n")
        for name, shift in (("a-s1", 0), ("a-s2", 0), ("b-s1", -0.03), ("b-s2", -0.03)):
            x = np.clip(base + shift + rng.normal(0, 0.08, 30), 0, 1)
            f.write(name + "," + ",".join(f"{v:.4f}" for v in x) + "\n")
    (tmp_path / "w.csv").write_text(
        "topic,weight\n" + "".join(f"{t},{100 / int(t) ** 0.7:.5f}\n" for t in topics)
    )
    (tmp_path / "g.csv").write_text(
        "topic,type\n" + "".join(f"{t},{'head' if int(t) <= 10 else 'tail'}\n" for t in topics)
    )
    return tmp_path


def test_page_shows_all_topics_not_the_last_group(data: Path) -> None:
    riskeval(
        "report", "m.csv", "-b", "a-s1", "--groups", "g.csv", "-o", "p.html", "--quiet", cwd=data
    )
    text = (data / "p.html").read_text(encoding="utf-8")
    (held,) = re.findall(
        r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL
    )
    page = json.loads(held)
    measure = page["measures"][0]
    raw = base64.b64decode(measure["comparisons"][0]["tables"][0]["columns"]["mean"])
    shown = dict(zip(measure["runs"], struct.unpack(f"<{len(raw) // 8}d", raw), strict=True))
    want = {r["run"]: r["mean"] for r in rows("score", "m.csv", "-b", "a-s1", cwd=data)}
    assert shown == pytest.approx(want)


def test_weighted_population_can_be_read_again(data: Path) -> None:
    riskeval(
        "population", "freeze", "m.csv", "--weights", "w.csv", "-o", "pop.json", "--quiet", cwd=data
    )
    done = riskeval(
        "score",
        "m.csv",
        "--weights",
        "w.csv",
        "--population",
        "pop.json",
        "-b",
        "a-s1",
        "--quiet",
        cwd=data,
    )
    assert done.code == 0, done.err


def test_losses_weight_is_of_the_losses_counted(data: Path) -> None:
    for row in rows(
        "score", "m.csv", "--replicates", "^(.)", "-b", "a", "--weights", "w.csv", cwd=data
    ):
        if row["losses"] == 0:
            assert row["losses_weight"] == 0
    # weights nearly alike: the share of weight is next to the share of topics
    (data / "w1.csv").write_text(
        "topic,weight\n" + "".join(f"{t},{1 + t / 1e6}\n" for t in range(1, 31))
    )
    for row in rows(
        "score", "m.csv", "--replicates", "^(.)", "-b", "a", "--weights", "w1.csv", cwd=data
    ):
        if row["losses"] is not None:
            assert row["losses_weight"] == pytest.approx(row["losses"] / row["topics"], abs=1e-3)


def test_lost_under_every_judge_is_never_more_than_lost_under_one(tmp_path: Path) -> None:
    (tmp_path / "sys.csv").write_text(
        "run,system\ncaspPlus,casp\nindriCASP,casp\nneuralMix,neu\nboldRerank,neu\n"
    )
    qrels = (QRELS).read_text().splitlines(keepends=True)
    (tmp_path / "two.qrels").write_text("".join(qrels[:-1]))
    found = rows(
        "score",
        SAMPLES,
        "-q",
        QRELS,
        "-q",
        "two.qrels",
        "-m",
        "nDCG@20",
        "--replicates",
        "sys.csv",
        "-b",
        "casp",
        cwd=tmp_path,
    )
    for row in found:
        if row["losses"] is not None:
            assert row["losses_judges"] <= row["losses"], row["run"]


def test_losses_by_group_add_up_to_the_losses(data: Path) -> None:
    done = riskeval(
        "topics",
        "m.csv",
        "--replicates",
        "^(.)",
        "-b",
        "a",
        "--run",
        "b",
        "--groups",
        "g.csv",
        "-f",
        "table",
        "--quiet",
        cwd=data,
    )
    lost = sum(int(m[1]) for m in re.finditer(r"^(?:head|tail) +\d+ +(\d+)", done.out, re.M))
    said = re.search(r"loses on (\d+) of", done.out)
    none = "loses on no topic" in done.out
    assert lost == (0 if none or said is None else int(said[1])), done.out[:600]


def test_mean_change_by_group_is_weighted_as_everywhere(data: Path) -> None:
    done = riskeval(
        "topics",
        "m.csv",
        "-b",
        "a-s1",
        "--run",
        "b-s1",
        "--groups",
        "g.csv",
        "--weights",
        "w.csv",
        "-f",
        "table",
        "--quiet",
        cwd=data,
    )
    own = {
        m[1]: float(m[2])
        for m in re.finditer(r"^(head|tail) +\d+ +\d+ +\d+ +(-?[\d.]+)", done.out, re.M)
    }
    want = {
        r["group"]: r["mean_diff"]
        for r in rows(
            "score", "m.csv", "-b", "a-s1", "--groups", "g.csv", "--weights", "w.csv", cwd=data
        )
        if r["run"] == "b-s1" and r["group"] != "all"
    }
    assert own == pytest.approx(want, abs=6e-5)


def test_neutral_names_do_not_say_that_a_shown_system_is_left_out(data: Path) -> None:
    with (data / "m.csv").open("a") as f:
        f.write("a-s3," + ",".join(["0.2"] * 15 + ["0.3"] * 15) + "\n")
    (data / "riskeval.toml").write_text('anonymise = "key.csv"\n')
    done = riskeval("score", "m.csv", "--replicates", "^(.*)-s", "-f", "json", "--quiet", cwd=data)
    found = json.loads(done.out)
    (note,) = [w["message"] for w in found["warnings"] if "left out" in w["message"]]
    left = note.rpartition("left out: ")[2]
    assert left not in {r["run"] for r in found["rows"]}, note


def test_groups_of_a_frame_with_gaps(data: Path) -> None:
    m = riskcli.ScoreMatrix(
        "x", ("a", "b"), ("1", "2", "3"), np.array([[0.1, 0.2, 0.3], [0.2, 0.2, 0.1]])
    )
    own = m.labelled(groups={"1": "head", "2": None, "3": float("nan")})
    assert own.axes.groups_of(own.topics)["group"] == ["head", "(none)", "(none)"]
