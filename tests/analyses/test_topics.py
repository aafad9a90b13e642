"""`riskeval topics`: the exploratory analysis of SIGIR'14, and its agreement with `score`."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcli import Options, UsageError, risk_table, topic_table
from tests.helpers import reference
from tests.helpers.console import on_terminal
from tests.helpers.inprocess import riskeval
from tests.helpers.program import SAMPLES, Key
from tests.helpers.strategies import ALPHAS, Floats, named, score_values
from tests.helpers.tables import table_of

LOSS = st.sampled_from(["linear", "smooth"])


def close(expected: object) -> object:
    return pytest.approx(expected, rel=1e-8, abs=1e-10)


def undefined(value: float | None) -> bool:
    return value is None or math.isnan(value)


@settings(max_examples=60)
@given(score_values(max_runs=5, max_topics=7), ALPHAS, LOSS)
def test_topics_equal_brute_force(values: Floats, alpha: float, loss: reference.Loss) -> None:
    matrix = [row.tolist() for row in values]
    options = Options(alphas=(alpha,), loss=loss)
    frame = topic_table(named(values), baseline="r0", options=options, order="topic").to_frame()
    z, expected = reference.zmatrix(matrix, loss), reference.expected(matrix)
    for i in range(1, len(matrix)):
        mine = frame[frame["run"] == f"r{i}"].to_dict("records")
        assert [row["delta"] for row in mine] == close(reference.deltas(matrix[i], matrix[0]))
        w = reference.weighted(matrix[i], matrix[0], alpha, loss)
        assert [row["w"] for row in mine] == close(w)
        assert [row["expected"] for row in mine] == close(expected[i])
        assert [row["z"] for row in mine] == close(z[i])
        if np.ptp(values[i] - values[0]) < 1e-6:
            continue
        tr = reference.topic_tr(matrix[i], matrix[0], alpha, loss)
        tj = reference.topic_tj(matrix[i], matrix[0], alpha, loss)
        assert tr is not None and tj is not None
        assert [row["tr"] for row in mine] == close(tr)
        assert [row["tj"] for row in mine] == pytest.approx(tj, rel=1e-6, abs=1e-7)
        critical = reference.student_quantile(len(matrix[0]) - 1)
        for row in mine:
            size = max(abs(row["tr"]), abs(row["tj"]))
            if abs(size - critical) > 1e-9:
                assert (row["flag"] != "") == (size > critical)


@settings(max_examples=60)
@given(
    score_values(min_runs=3), ALPHAS, LOSS, st.sampled_from(["plain", "minus"]),
    st.sampled_from([("r0",), ("r0", "r1"), ("@mean",)]),
)  # fmt: skip
def test_totals_are_the_risk_tables(
    values: Floats, alpha: float, loss: str, convention: str, baselines: tuple[str, ...]
) -> None:
    options = Options(
        baselines=baselines, alphas=(alpha,), loss=loss, convention=convention  # type: ignore[arg-type]
    )  # fmt: skip
    table = topic_table(named(values), baseline=baselines, options=options)
    scores = risk_table(named(values), baselines, options=options).to_frame().set_index("run")
    for entry, part in zip(table.result().extra["totals"], table.parts, strict=True):
        row = scores.loc[entry["run"]]
        for measure in ("mean", "urisk", "trisk", "zrisk", "georisk"):
            if undefined(row[measure]):
                assert undefined(entry[measure])
            else:
                assert entry[measure] == row[measure]
        assert part.columns["w"].mean() == close(row["urisk"])
        assert part.columns["zrisk_part"].sum() == close(row["zrisk"])
        assert part.columns["delta"].mean() == close(row["mean_diff"])
        share = np.abs(part.columns["zrisk_share"]).sum()
        assert share == close(1.0) or not np.any(part.columns["zrisk_part"])


def test_a_topic_that_drags_urisk_down_is_flagged_without_a_loss() -> None:
    """All topics gain but one that ties: its TR is 0, its TJ is not."""
    values = np.array([[0.25] * 10, [0.75] * 9 + [0.25]])
    frame = topic_table(named(values), baseline="r0").to_frame()
    (row,) = frame[frame["topic"] == "t9"].to_dict("records")
    assert (row["delta"], row["tr"], row["flag"]) == (0.0, 0.0, "worse")


def test_edges() -> None:
    same = np.array([[0.5, 0.25], [0.5, 0.25]])
    frame = topic_table(named(same), baseline="r0").to_frame()
    assert frame["tr"].isna().all() and frame["tj"].isna().all()
    assert (frame["flag"] == "").all()
    one = topic_table(named(np.array([[0.5], [0.25]])), baseline="r0").to_frame()
    assert one["tr"].isna().all() and one["w"].tolist() == [-0.5]
    negative = topic_table(named(np.array([[0.5, -0.1], [0.2, 0.3]])), baseline="r0")
    assert negative.to_frame()["z"].isna().all()
    assert any(note.code == "negative-score" for note in negative.notes)
    with pytest.raises(UsageError, match="the baseline itself"):
        topic_table(named(same), "r0", runs="r0")


def test_largest_loss_first_and_only_flagged() -> None:
    shared = ("topics", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "-a", "5")
    rows = table_of(riskeval(*shared, "--run", "boldRerank").out)
    delta = [float(row["delta"]) for row in rows]
    assert len(rows) == 50 and delta == sorted(delta)
    flagged = table_of(riskeval(*shared, "--run", "bold*", Key("only-flagged")).out)
    assert flagged == [row for row in rows if row["flag"]]
    assert {row["flag"] for row in flagged} == {"worse"}
    assert len(table_of(riskeval(*shared, "--top", "3").out)) == 3 * 8


def test_one_run_and_a_baseline_file() -> None:
    runs = (SAMPLES / "boldRerank.run", "-b", SAMPLES / "indriCASP.run", "-m", "ERR@20")
    found = json.loads(riskeval("topics", *runs, "-q", "qrels", "-f", "json").out)
    score = table_of(riskeval("score", *runs, "-q", "qrels").out)
    (mine,) = found["totals"]
    (row,) = [row for row in score if row["run"] == "boldRerank"]
    for name in ("mean", "urisk", "trisk", "zrisk", "georisk"):
        assert mine[name] == float(row[name])


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_the_table_fits_and_ends_in_the_totals(columns: int) -> None:
    command = "riskeval topics sample_runs/ -b indriCASP -m ERR@20 -a 5 --run boldRerank --quiet"
    code, shown = on_terminal(f"{command} 2>/dev/null", columns)
    assert code == 0 and max(map(len, shown.splitlines())) <= columns
    assert ("share" in shown) == (columns >= 80)
    assert "-0.3669" in shown and "0.2745" in shown  # URisk and GeoRisk as README's table has them


def test_all_formats(tmp_path: Path) -> None:
    shared = ("topics", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "--run", "caspPlus")
    tsv = riskeval(*shared).out
    assert table_of(riskeval(*shared, "-f", "csv").out, ",") == table_of(tsv)
    assert len(riskeval(*shared, "-f", "jsonl").out.splitlines()) == 50
    assert riskeval(*shared, "-f", "markdown").out.count("\n|") == 53
    assert riskeval(*shared, "-o", tmp_path / "x.tsv").code == 0
    assert (tmp_path / "x.tsv").read_text(encoding="utf-8") == tsv


def test_an_unknown_run_is_refused_with_a_hint() -> None:
    ran = riskeval("topics", SAMPLES, "--run", "boldRenk")
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean boldRerank" in ran.err


def test_a_hostile_name_reaches_no_terminal(tmp_path: Path) -> None:
    """In cells, titles and captions, of every table that names runs."""
    scores = tmp_path / "scores.csv"
    scores.write_text('run,1,2,3\n"a\x1b[31mb",0.5,0.2,0.3\nc,0.1,0.4,0.5\nd,0.3,0.3,0.1\n')
    for command in ("topics", "sweep", "sweep --over measure", "score"):
        for baseline in ("d", "a*"):
            ran = riskeval(*command.split(), scores, "-b", baseline, "-f", "table")
            assert ran.code == 0 and "\x1b" not in ran.out
    assert "\x1b" not in riskeval("sweep", "--over", "baseline", scores, "-f", "table").out
