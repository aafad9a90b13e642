"""The mean of logarithms: shown as a geometric mean wherever a mean is, and tested as it is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_rel

from riskcli import (
    Options,
    ScoreMatrix,
    UsageError,
    alpha_sweep,
    baseline_bias,
    compare_pairs,
    explain_run,
    judge,
    power_table,
    risk_table,
    topic_table,
)

AP = {"a": [0.5, 0.2, 0.05, 0.3, 0.01], "b": [0.4, 0.25, 0.1, 0.1, 0.02], "c": [0.6, 0.1, 0, 0, 1]}
LOGS = np.log(np.maximum(list(AP.values()), 1e-5))
MATRIX = ScoreMatrix("gm_map", tuple(AP), tuple("12345"), LOGS)
MEANS = dict(zip(AP, np.exp(LOGS.mean(axis=1)).tolist(), strict=True))
"""The fifth root of the product of the five scores."""
TOLD = "gm_map: means are shown as exp of the mean logarithm, as trec_eval does; scores, "


def rows_of(table: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_frame().to_dict("records")
    return rows


def test_the_reference_is_the_root_of_the_product() -> None:
    assert MEANS["a"] == pytest.approx(math.prod(AP["a"]) ** (1 / 5))
    assert MEANS["c"] == pytest.approx((0.6 * 0.1 * 1e-5 * 1e-5 * 1) ** (1 / 5))


@pytest.mark.parametrize("baseline", ["a", "@mean"])
def test_the_risk_table_shows_it_and_tests_the_logarithms(baseline: str) -> None:
    compared = LOGS[0] if baseline == "a" else LOGS.mean(axis=0)
    for row, logs in zip(rows_of(risk_table(MATRIX, baseline)), LOGS, strict=True):
        assert row["mean"] == pytest.approx(MEANS[str(row["run"])])
        assert row["baseline_mean"] == pytest.approx(math.exp(compared.mean()))
        if row["run"] != baseline:
            assert row["mean_diff"] == pytest.approx((logs - compared).mean())
        if baseline == "a" and row["run"] != "a":
            assert row["mean_p"] == pytest.approx(ttest_rel(logs, compared).pvalue)
    ranked = {row["run"]: row["rank_mean"] for row in rows_of(risk_table(MATRIX, baseline))}
    assert ranked == {"b": 1, "a": 2, "c": 3}


@pytest.mark.parametrize("between", ["all", "baseline"])
def test_pairs_show_it_and_are_compared_by_logarithms(between: str) -> None:
    named = "a" if between == "baseline" else None
    rows = rows_of(compare_pairs(MATRIX, named, of="mean"))
    assert len(rows) == (2 if between == "baseline" else 3)
    for row in rows:
        run, other = str(row["run"]), str(row["other"])
        assert row["value"] == pytest.approx(MEANS[run])
        assert row["other_value"] == pytest.approx(MEANS[other])
        assert row["diff"] == pytest.approx(math.log(MEANS[run] / MEANS[other]))


def test_ranks_have_the_intervals_that_logarithms_have() -> None:
    spread = LOGS - np.array([[0.0], [0.05], [5.0]])
    tested = rows_of(risk_table(ScoreMatrix("gm_map", tuple("abc"), tuple("12345"), spread), "a"))
    plain = rows_of(risk_table(ScoreMatrix("m", tuple("abc"), tuple("12345"), spread), "a"))
    for name in ("rank_mean_lo", "rank_mean_hi", "mean_p", "mean_dz", "urisk", "trisk", "wins"):
        assert [row[name] for row in tested] == pytest.approx([r[name] for r in plain], nan_ok=True)


def test_the_gate_shows_it_and_compares_it_with_the_baselines() -> None:
    gate = judge(MATRIX, "a", "lenient", rules=["mean >= baseline * 1.05", "mean_diff > 0.05"])
    verdict = next(verdict for verdict in gate.verdicts if verdict.candidate == "b")
    assert (verdict.mean, verdict.baseline_mean) == pytest.approx((MEANS["b"], MEANS["a"]))
    test, by_mean, by_difference = verdict.findings
    assert test.passed and by_mean.passed and by_difference.passed
    assert by_mean.bound == pytest.approx(1.05 * MEANS["a"])
    (caption,) = [" ".join(d.caption) for d in gate.displays(100) if "b against" in d.title]
    assert TOLD in caption


def test_georisk_is_not_checked_unless_it_is_asked_for() -> None:
    gate = judge(MATRIX, "a")
    assert [[f.rule for f in v.findings] for v in gate.verdicts] == [
        ["mean not significantly lower"]
    ] * 2
    assert "gm_map: georisk is not checked, for it needs scores of at least 0" in {
        note.message for note in gate.notes
    }
    asked = judge(MATRIX, "a", margin={"georisk": 0.1})
    assert [finding.outcome for finding in asked.verdicts[0].findings] == ["pass", "inconclusive"]


def test_topics_and_steps_lead_to_it() -> None:
    table = topic_table(MATRIX, "a", runs="b")
    (totals,) = table.result().extra["totals"]
    assert totals["mean"] == pytest.approx(MEANS["b"])
    foot = [column.cells[-1].text for column in table.displays(80)[0].columns]
    assert foot[1:4] == [
        f"{MEANS['b']:.4f}", f"{MEANS['a']:.4f}", f"{math.log(MEANS['b'] / MEANS['a']):.4f}",
    ]  # fmt: skip
    steps = dict(explain_run(MATRIX, "a", run="b", of="mean").steps)
    assert steps["mean = S / c"] == pytest.approx(LOGS[1].mean())
    assert steps["geometric mean = exp(S / c)"] == pytest.approx(MEANS["b"])


def test_sweeps_show_it() -> None:
    by_alpha = rows_of(alpha_sweep(MATRIX, "a", alpha=[0, 1]))
    shown = {row["run"]: row["mean"] for row in by_alpha}
    assert shown == pytest.approx(MEANS)
    bias = baseline_bias(MATRIX)
    assert {row["run"]: row["mean"] for row in rows_of(bias)} == pytest.approx(MEANS)
    means = {row["baseline"]: row["mean"] for row in bias.result().extra["baselines"]}
    assert means["@mean"] == pytest.approx(math.exp(LOGS.mean()))


def test_every_legend_says_so() -> None:
    tables = [
        risk_table(MATRIX, "a"), compare_pairs(MATRIX, of="mean"),
        compare_pairs(MATRIX, "a", of="mean"), topic_table(MATRIX, "a"),
        explain_run(MATRIX, "a", run="b", of="urisk"),
        alpha_sweep(MATRIX, "a", alpha=[0, 1]), baseline_bias(MATRIX), power_table(MATRIX),
    ]  # fmt: skip
    for table in tables:
        assert TOLD in " ".join(line for d in table.displays(100) for line in d.caption), table
    about = risk_table(MATRIX, "a").notes
    assert any(note.message.startswith(TOLD) and note.code == "negative-score" for note in about)


def test_scores_that_are_no_logarithms_are_refused() -> None:
    wrong = ScoreMatrix("gm_map", ("a", "b"), ("1", "2"), np.array([[-1.0, -2.0], [-1.0, 0.25]]))
    with pytest.raises(UsageError, match=r"b, topic 2: found 0\.25, gm_map is a logarithm of at m"):
        risk_table(wrong, "a")


def test_logarithms_of_1_have_no_georisk_either() -> None:
    perfect = ScoreMatrix("gm_map", ("a", "b"), tuple("123"), np.zeros((2, 3)))
    for row in rows_of(risk_table(perfect, options=Options(baselines=("a",)))):
        assert row["mean"] == row["baseline_mean"] == 1
        assert np.isnan(row["zrisk"]) and np.isnan(row["georisk"])
