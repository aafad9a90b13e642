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
from riskcli.core.messages import UsageError
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
        for m in re.finditer(r"^(head|tail) +\d+ +\d+ +(-?[\d.]+)", done.out, re.M)
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


def test_a_group_called_all_is_not_all_topics(data: Path) -> None:
    (data / "all.csv").write_text("topic,type\n1,all\n2,other\n")
    done = riskeval("score", "m.csv", "--groups", "all.csv", cwd=data)
    assert done.code == 2 and "a group is called 'all', as all topics are: rename it" in done.err


def test_labels_of_other_kinds_are_refused_and_frames_are_taken() -> None:
    pandas = pytest.importorskip("pandas")
    matrix = riskcli.ScoreMatrix("x", ("a", "b"), ("1", "2"), np.array([[0.1, 0.2], [0.2, 0.2]]))
    series = pandas.Series({"1": "head", "2": None})
    assert matrix.labelled(series).axes.groups_of(("1", "2")) == {"group": ["head", "(none)"]}
    frame = pandas.DataFrame({"type": series, "half": ["u", "v"]}, index=["1", "2"])
    assert [*matrix.labelled(frame).axes.groups] == ["type", "half"]
    for wrong in ({"groups": "x.csv"}, {"weights": "x.csv"}):
        with pytest.raises(UsageError, match="are a mapping by topic, found str"):
            matrix.labelled(**wrong)  # type: ignore[arg-type]


def test_heavy_weights_do_not_make_differences_the_same_on_every_topic(data: Path) -> None:
    heavy = "".join(f"{t},{1000 / t**3}\n" for t in range(1, 31))
    (data / "w3.csv").write_text(f"topic,weight\n{heavy}")
    done = riskeval("score", "m.csv", "-b", "a-s1", "--weights", "w3.csv", cwd=data)
    assert done.code == 0 and "the same on every topic" not in done.err


def test_judges_of_other_topics_are_told_apart(tmp_path: Path) -> None:
    lines = QRELS.read_text(encoding="utf-8").splitlines(keepends=True)
    for name, early in (("early", True), ("late", False)):
        own = [line for line in lines if (int(line.split()[0]) <= 125) == early]
        (tmp_path / name).write_text("".join(own), encoding="utf-8")
    judges = ("-q", "early", "-q", "late")
    done = riskeval("score", SAMPLES, *judges, "-m", "ERR@20", "-b", "indriCASP", cwd=tmp_path)
    said = "the judges' figures are of different topics: early 25, late 25, 0 in common"
    assert done.code == 0 and said in done.err


@pytest.mark.parametrize("command", [["explain"], ["plot", "box", "-o", "f.json"]])
def test_one_judge_at_a_time_where_one_measure_is_shown(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "q").write_bytes(QRELS.read_bytes())
    name, *more = command
    run = ["--run", "caspPlus"] if name == "explain" else []
    done = riskeval(name, *more, SAMPLES, "-q", QRELS, "-q", "q", *run, cwd=tmp_path)
    assert done.code == 2 and "one file of judgements at a time here" in done.err


def test_smooth_loss_is_not_fitted_to_weighted_differences(data: Path) -> None:
    smooth = ("--loss", "smooth:fit", "--weights", "w.csv")
    done = riskeval("score", "m.csv", "-b", "a-s1", *smooth, cwd=data)
    assert done.code == 2 and "with weights take --loss smooth" in done.err


def test_matrix_has_no_labels_that_it_would_ignore(data: Path) -> None:
    for option in ("--groups", "--weights", "--human"):
        done = riskeval("matrix", "m.csv", option, "g.csv", cwd=data)
        assert done.code == 2 and f"No such option '{option}'" in done.err
