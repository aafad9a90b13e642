"""Power before the run: spreads against brute force, answers against simulated tests."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import riskcli
from riskcli import Options, Rules, ScoreMatrix, UsageError, freeze, judge, power_table, risk_table
from riskcli.risk.paired import topics_needed
from tests.helpers import reference
from tests.helpers.examples import past
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Key
from tests.helpers.strategies import Floats, named
from tests.helpers.tables import rows_of


def share_of(spreads: list[float], share: float) -> float:
    """The smallest spread that is enough for that share of the pairs."""
    ordered = sorted(spreads)
    return ordered[math.ceil(share * len(ordered)) - 1]


@pytest.mark.parametrize("alpha", [0.0, 1.0, 5.0])
def test_spreads_are_those_of_brute_force_over_all_pairs(alpha: float) -> None:
    values = past()
    table = power_table(named(values), alpha=alpha)
    pairs = list(combinations(values.tolist(), 2))
    by_mean = [float(np.std(np.subtract(a, b), ddof=1)) for a, b in pairs]
    by_georisk = []
    for pair in pairs:
        se = reference.difference_jackknife(list(pair), 1, 0, "georisk", alpha)["se"]
        assert se is not None
        by_georisk.append(se * math.sqrt(values.shape[1]))
    for of, spreads in (("mean", by_mean), ("georisk", by_georisk)):
        for share in (0.5, 0.9):
            (row, *_) = rows_of(table, of=of, share=share)
            assert row["pairs"] == 10 and row["topics"] == 30
            assert row["spread"] == pytest.approx(share_of(spreads, share), rel=1e-6)


def test_a_pair_is_told_what_the_gate_tells_it() -> None:
    values = past(2)
    matrix = ScoreMatrix("m", ("prod", "new"), tuple(map(str, range(30))), values)
    table = power_table(matrix, "prod", counts=(30,), losses=(), of="mean", tests=2)
    (row,) = rows_of(table)
    assert row["share"] == 1.0 and row["pairs"] == 1
    assert row["size"] == pytest.approx(judge(matrix, "prod").verdicts[0].seen_from)


def drawn(generator: np.random.Generator, values: Floats, topics: int) -> Floats:
    return values[:, generator.integers(0, values.shape[1], topics)]


def test_the_range_holds_the_true_number_of_topics_in_nine_of_ten_samples() -> None:
    """Heavy tails, on which a chi-square of c - 1 degrees holds it in three of four."""
    generator = np.random.default_rng(4)
    noise = generator.standard_t(4, (6, 400)).clip(-8, 8)
    truth = 0.5 + 0.05 * generator.standard_normal(400) + 0.02 * noise
    asked: dict[str, Any] = {"losses": (0.01,), "counts": (), "of": "mean"}
    pairs = [np.std(a - b) for a, b in combinations(truth, 2)]
    held, plain = [], []
    for _ in range(150):
        table = power_table(named(drawn(generator, truth, 50)), **asked)
        for row in rows_of(table):
            true = share_of(list(map(float, pairs)), row["share"])
            needed = topics_needed(0.01, true, 0.05)
            assert needed is not None and row["count_lo"] <= row["count"] <= row["count_hi"]
            held.append(row["count_lo"] <= needed <= row["count_hi"])
            ratio = 49 * (row["spread"] / true) ** 2
            plain.append(stats.chi2.ppf(0.05, 49) <= ratio <= stats.chi2.ppf(0.95, 49))
    assert np.mean(held) >= 0.88 and np.mean(plain) < np.mean(held)


def test_the_range_is_that_of_a_variance_with_degrees_by_kurtosis() -> None:
    values = past(2)
    table = power_table(named(values), losses=(0.05,), counts=(40,))
    of_mean, of_size = rows_of(table, of="mean")
    degrees = reference.kurtosis_degrees((values[0] - values[1]).tolist())
    low, high = (math.sqrt(degrees / stats.chi2.ppf(p, degrees)) for p in (0.95, 0.05))
    spread = of_mean["spread"]
    assert of_mean["count_lo"] == topics_needed(0.05, spread * low, 0.05)
    assert of_mean["count_hi"] == topics_needed(0.05, spread * high, 0.05)
    assert of_size["size_lo"] == pytest.approx(of_size["size"] * low)
    assert of_size["size_hi"] == pytest.approx(of_size["size"] * high)
    assert of_mean["size_lo"] is None and of_size["count_hi"] is None
    (of_georisk, _) = rows_of(table, of="georisk")
    left = [reference.without_topic(values.tolist(), q) for q in range(30)]
    georisk = [[reference.theta(m, run, "georisk", 1.0) for m in left] for run in (0, 1)]
    without = [one - other for one, other in zip(*georisk, strict=True)]
    degrees = reference.kurtosis_degrees(without)
    top = of_georisk["spread"] * math.sqrt(degrees / stats.chi2.ppf(0.05, degrees))
    assert of_georisk["count_hi"] == topics_needed(0.05, top, 0.05)
    caption = " ".join(table.displays(80)[-1].caption)
    assert f"times {low**2:.1f}–{high**2:.1f} (Mean, the one)," in caption


def test_in_a_frozen_population_spreads_are_those_of_its_risk_table() -> None:
    """From the intervals of differences to one run: half as wide as t times the error."""
    values = past(6)
    options = Options(population=freeze(named(values[3:])), alphas=(5.0,))
    frame = risk_table(named(values[:4]), "r0", options=options).to_frame()
    width = (frame["georisk_diff_hi"] - frame["georisk_diff_lo"]).to_numpy(dtype=float)[1:]
    spreads = width / 2 / stats.t.ppf(0.975, 29) * math.sqrt(30)
    table = power_table(named(values[:4]), "r0", options=options)
    for share in (0.5, 0.9):
        (row, *_) = rows_of(table, of="georisk", share=share)
        assert row["spread"] == pytest.approx(share_of(spreads.tolist(), share), rel=1e-9)
        alone = power_table(named(values[:4]), "r0", alpha=5.0)
        assert row["spread"] != pytest.approx(
            rows_of(alone, of="georisk", share=share)[0]["spread"]
        )
        mean = rows_of(table, of="mean", share=share)[0]
        assert mean == rows_of(alone, of="mean", share=share)[0]
    assert table.provenance.settings["population"].startswith("frozen:")
    assert "Population of GeoRisk: frozen:" in str(table.displays(80)[0].caption)


def test_a_pair_in_a_population_of_other_runs_at_hand_is_refused() -> None:
    with pytest.raises(UsageError, match="its population is baselines, or a frozen one"):
        power_table(named(past()), options=Options(population="all"))


def test_copies_and_pairs_that_cannot_be_tested_are_left_out_and_counted() -> None:
    values = past(3)
    table = power_table(named(np.vstack([values, values[:1], np.zeros((1, 30))])))
    assert rows_of(table, of="mean")[0]["pairs"] == 9
    assert rows_of(table, of="georisk")[0]["pairs"] == 5
    assert [note.code for note in table.notes] == ["equal-pairs", "equal-pairs"]
    negative = power_table(named(values - 1.0))
    assert {row["of"] for row in rows_of(negative)} == {"mean"}
    assert [note.code for note in negative.notes] == ["no-power"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"losses": (0.0,)}, "the loss is 0, expected a number above 0"),
        ({"margins": (float("nan"),)}, "the margin is nan"),
        ({"counts": (1,)}, "1 topic, expected 2 or more"),
        ({"power": 1.0}, "the power is 1"),
        ({"tests": 0}, "0 tests"),
        ({"of": "urisk"}, "power is not available for 'urisk'"),
        ({"baseline": "@mean"}, "pairs of runs, found the baseline @mean"),
        ({"alpha": (1.0, 2.0)}, "one alpha, found 2"),
    ],
)
def test_wrong_calls(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        power_table(named(past()), **given)


def test_scores_that_tell_nothing_are_refused() -> None:
    for values, message in (
        (np.vstack([past(1), past(1)]), "no two runs differ"),
        (past(1), "no two runs differ"),
        (past(3, topics=1), "on one topic"),
    ):
        with pytest.raises(UsageError, match=message):
            power_table(named(values))


def test_the_command_by_matrices_and_by_runs_is_the_same(tmp_path: Path) -> None:
    kept = tmp_path / "past.json"
    one = ("-m", "ERR@20", "-q", QRELS)
    assert riskeval("matrix", SAMPLES, *one, "-o", kept).code == 0
    asked = ("--loss", "0.02", "--margin", "0.03", "--with-topics", "100", Key("tests", "4"))
    by_runs = json.loads(riskeval("power", SAMPLES, *one, *asked, "-f", "json").out)
    by_file = riskeval("power", kept, "-m", "ERR@20", *asked, "-f", "json")
    assert by_file.code == 0 and json.loads(by_file.out)["rows"] == by_runs["rows"]
    assert [row["question"] for row in by_runs["rows"][:3]] == ["loss", "margin", "topics"]
    assert by_runs["settings"]["tests"] == 4
    table = riskeval("power", kept, "-m", "ERR@20", *asked, "-f", "table").out
    assert "ERR@20: what a test detects with power 0.8" in table and "9 of 10" in table
    assert riskeval("power", kept, "--loss", "-1").code == 2
    assert riskeval("power", kept, "-b", "nobody").code == 2


def test_the_command_in_a_frozen_population(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    one = ("-m", "ERR@20", "-q", QRELS)
    assert riskeval("population", "freeze", SAMPLES, *one, "-o", file, "--quiet").code == 0
    asked = ("power", SAMPLES, *one, "--population", file, "--of", "georisk")
    ran = json.loads(riskeval(*asked, "-b", "indriCASP", "-f", "json").out)
    matrix = riskcli.evaluate(SAMPLES, qrels=QRELS, rules=Rules(measures=("ERR@20",))).matrices[0]
    options = Options(population=riskcli.read_population(file))
    library = rows_of(power_table(matrix, "indriCASP", of="georisk", options=options))
    assert [row["spread"] for row in ran["rows"]] == [row["spread"] for row in library]
    assert "Population of GeoRisk: frozen:" in riskeval(*asked, "-f", "table").out
    alone = riskeval(*asked[:-1], "mean", "-f", "table").out
    assert "what a test detects" in alone and "Population" not in alone
    refused = riskeval(*asked[:4], "--population", "all")
    assert refused.code == 2 and "--population is baselines, or a file" in refused.err


def test_the_sentences_are_the_row_of_the_most_pairs() -> None:
    table = power_table(named(past()), losses=(0.02, 0.05), margins=(0.03,), counts=(30,))
    rows = rows_of(table, of="mean", share=0.9)
    by = {(row["question"], row["size"]): row["count"] for row in rows}
    (loss,), (margin,) = (table.verdict.by(f"topics-for-{of}") for of in ("loss", "margin"))
    assert loss.text == (
        f"A true loss of 0.02 asks for {by['loss', 0.02]} topics, of 0.05 for {by['loss', 0.05]}, "
        "to be seen in 4 of 5 cases by Mean (9 of 10 pairs of such runs)."
    )
    assert loss.numbers == {"0.02": by["loss", 0.02], "0.05": by["loss", 0.05]}
    assert margin.text.startswith(f"A margin of 0.03 asks for {by['margin', 0.03]} topics, for a")
    (hand,) = table.verdict.by("loss-at-hand")
    (size,) = [row["size"] for row in rows if row["question"] == "topics"]
    assert hand.numbers == {"topics": 30, "loss": size}  # the scores at hand have 30 topics
    first, *others = table.displays(50)
    assert first.verdict == table.verdict.sentences
    assert others and not any(each.verdict for each in others)


def test_what_is_not_asked_is_not_said() -> None:
    alone = power_table(named(past()), losses=(), counts=(9,), of="georisk", power=0.9)
    assert [each.rule for each in alone.verdict] == ["loss-at-hand"]
    tiny = power_table(named(past()), losses=(1e-6,), of="georisk", power=0.9).verdict
    assert "asks for more than 1e+07 topics, to be seen in 0.9 of cases by GeoRisk" in str(tiny)
    assert tiny.by("topics-for-loss")[0].numbers == {"1e-06": None}
    pair = power_table(named(past(2)), losses=(0.05,)).verdict
    assert "(the one pair of such runs)." in pair.by("topics-for-loss")[0].text
