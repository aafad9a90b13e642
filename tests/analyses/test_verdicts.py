"""The sentences above the risk table: each rule holds, and turns where its facts turn."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from riskcli import Options, ScoreMatrix, Significance, evaluate, risk_table
from riskcli.output.verdict import Statement, Statements
from riskcli.risk.paired import topics_needed
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES
from tests.helpers.strategies import Floats, named

GREEK = set("αβγδτχΦ")


def verdict(values: Floats, baseline: str | None = "r0", **options: object) -> Statements:
    return risk_table(named(values), baseline, options=Options(**options)).verdict  # type: ignore[arg-type]


def plain(topics: int = 50, runs: int = 3, seed: int = 1) -> Floats:
    """Runs that are alike, but for a little noise."""
    generator = np.random.default_rng(seed)
    easy = generator.uniform(0.2, 0.6, topics)
    return np.asarray(easy + generator.normal(0, 0.02, (runs, topics)))


def one(said: Statements, rule: str) -> Statement:
    (found,) = said.by(rule)
    return found


# ---------------------------------------------------------------- the sample data


def test_the_sample_runs_are_called_by_what_they_do() -> None:
    evaluation = evaluate([SAMPLES], qrels=QRELS)
    table = risk_table(evaluation["ERR@20"], "indriCASP")
    better, ruins, undecided, unjudged = table.verdict
    assert better.runs == ("neuralMix", "caspPlus") and "and safe" in better.text
    assert ruins.runs == ("boldRerank",) and "highest mean" in ruins.text
    assert "loses over 20 % on 11 of 50 topics" in ruins.text
    assert undecided.runs[0] == "oldTFIDF"
    assert (
        unjudged.runs == ("oldTFIDF",) and "13 % of oldTFIDF and 8 % of indriCASP" in unjudged.text
    )
    frame = table.to_frame().set_index("run")
    for row, run in enumerate(better.runs):
        for name, column in (("difference", "diff"), ("low", "diff_lo"), ("high", "diff_hi")):
            assert better.numbers[name][row] == frame.loc[run, f"mean_{column}"]
    assert ruins.numbers["losses20"] == frame.loc["boldRerank", "losses20"]
    values = evaluation["ERR@20"].to_frame()
    (topic,) = ruins.topics
    deltas = values.loc["boldRerank"] - values.loc["indriCASP"]
    assert topic == deltas.idxmin() and ruins.numbers["before"] == values.loc["indriCASP", topic]


def test_the_same_sentences_in_every_format() -> None:
    call = ("score", SAMPLES, "-b", "indriCASP", "-m", "ERR@20", "-q", QRELS)
    said = risk_table(evaluate([SAMPLES], qrels=QRELS)["ERR@20"], "indriCASP").verdict
    document = json.loads(riskeval(*call, "-f", "json").out)
    assert [each["text"] for each in document["verdicts"]] == [*said.sentences]
    assert document["verdicts"][1]["runs"] == ["boldRerank"]
    for format in ("table", "markdown", "html", "latex"):
        shown = " ".join(
            riskeval(*call, "-f", format, COLUMNS="1000").out.replace("%", " ").split()
        )
        for sentence in said.sentences:
            words = sentence.replace("%", " ").split(" [")[0]
            assert " ".join(words.split()) in shown.replace("&#x27;", "'").replace("\\", "")
    assert riskeval(*call, "-f", "tsv").out.startswith("run\t")
    first_rule = riskeval(*call, "-f", "table", COLUMNS="80").out.split("─")[0]
    assert first_rule.startswith("neuralMix (mean +0.0827")


def test_a_verdict_is_plain_words() -> None:
    for alpha in (0.0, 1.0, 5.0):
        for baseline in (None, "indriCASP"):
            table = risk_table(evaluate([SAMPLES], qrels=QRELS), baseline, alpha=alpha)
            text = str(table.verdict)
            assert not GREEK & set(text)
            said = table.verdict.of(table.verdict.all[0].about)
            assert len([each for each in said if each.rule != "unjudged"]) <= 3
    assert text.startswith("ERR@20, baseline indriCASP\n") and "\nnDCG@20, baseline" in text


# ---------------------------------------------------------------- who is better, and safe


def test_better_and_safe() -> None:
    values = plain()
    values[1] += 0.05
    said = one(verdict(values), "better")
    assert said.runs == ("r1",) and "is better than r0, and safe" in said.text
    assert "even if each loss counts twice" in said.text
    assert "counts 6 times" in one(verdict(values, alphas=(5.0,)), "better").text
    assert "safe" not in one(verdict(values, alphas=(0.0,)), "better").text


def test_better_is_not_safe_where_losses_outweigh_or_topics_are_ruined() -> None:
    values = plain()
    values[1] += 0.3
    values[1, :5] = 0.5 * values[0, :5]
    said = verdict(values)
    assert "and safe" not in one(said, "better").text
    assert "loses over 20 % on 5 of 50 topics" in one(said, "ruins").text
    values[1, 4] = values[0, 4]
    said = verdict(values)
    assert "and safe" in one(said, "better").text and not said.by("ruins")


def test_gains_that_do_not_outweigh_double_losses_are_not_called_safe() -> None:
    generator = np.random.default_rng(2)
    values = plain(topics=200)
    values[1] = values[0] + 0.005 + generator.normal(0, 0.02, 200)
    said = one(verdict(values), "better")
    assert said.runs == ("r1",) and "counted twice is not shown" in said.text


def test_nobody_is_better() -> None:
    said = one(verdict(plain()), "better")
    assert said.text == "No run is shown to be better than r0." and said.runs == ()


def test_a_gain_on_one_topic_is_said_to_be_one() -> None:
    values = plain(topics=60)
    values[1] = values[0] + 0.002
    values[1, 0] = values[0, 0] + 0.05
    values = values[:2]
    text = one(verdict(values), "better").text
    assert "resting mostly on one topic" in text
    values[1, 0] = values[0, 0] + 0.002 + 1e-4
    values[1, 1:] += np.random.default_rng(1).normal(0, 0.001, 59)
    assert "resting" not in one(verdict(values), "better").text


def test_many_better_runs_are_counted() -> None:
    values = plain(runs=8)
    values[1:] += 0.05
    said = one(verdict(values), "better")
    assert len(said.runs) == 7 and "and 4 more are better than r0" in said.text


@pytest.mark.parametrize(
    ("baseline", "called"),
    [("@mean", "the mean of all runs"), ("@max", "the best run of each topic"), ("r0", "r0")],
)
def test_the_baseline_is_called_in_words(baseline: str, called: str) -> None:
    assert called in one(verdict(plain(), baseline), "better").text


# ---------------------------------------------------------------- who ruins topics


def test_the_leader_that_ruins_topics_is_named_with_its_worst_topic() -> None:
    values = plain()
    values[1] += 0.1
    values[1, ::5] = 0.3 * values[0, ::5]
    values[1, 10] = 0.0
    said = one(verdict(values), "ruins")
    assert said.runs == ("r1",) and said.topics == ("t10",)
    assert "loses over 20 % on 10 of 50 topics, most on t10" in said.text
    assert said.numbers["after"] == 0.0 and said.numbers["before"] == values[0, 10]


def test_no_leader_that_ruins_topics_no_sentence() -> None:
    values = plain()
    values[2] *= 0.5  # it ruins all topics, and leads by nothing
    assert not verdict(values).by("ruins")


# ---------------------------------------------------------------- what is open


def test_what_is_undecided_and_how_many_topics_would_decide() -> None:
    values = plain()
    values[1] += 0.003
    values[2] -= 0.1
    said = one(verdict(values), "undecided")
    assert said.runs == ("r2", "r1") and "r2 (mean -0.0991 [" in said.text
    assert "1 run is neither shown to be better nor worse" in said.text
    delta = values[1] - values[0]
    needed = topics_needed(abs(delta.mean()), delta.std(ddof=1), 0.05 / 2 / 2)
    assert needed is not None
    step = 10 ** max(len(str(needed)) - 2, 0)
    assert f"about {-(-needed // step) * step:,} topics would decide" in said.text


def test_everything_decided_nothing_open() -> None:
    values = plain()
    values[1:] += 0.05
    assert not verdict(values).by("undecided")


# ---------------------------------------------------------------- what else weighs


def test_few_topics_weigh() -> None:
    assert "With 24 topics every test is rough" in one(verdict(plain(24)), "weighs").text
    assert not verdict(plain(25)).by("weighs")


def test_unanswered_topics_weigh_where_there_is_room() -> None:
    evaluation = evaluate([SAMPLES], qrels=QRELS)
    table = risk_table(evaluation["ERR@20"], "indriCASP", options=Options())
    assert "partial46" not in str(table.verdict)  # three sentences already
    matrix = evaluation["ERR@20"]
    rows = [matrix.runs.index(run) for run in ("indriCASP", "partial46")]
    two = ScoreMatrix(
        matrix.measure, ("indriCASP", "partial46"), matrix.topics, matrix.values[rows],
        provenance=matrix.provenance,
    )  # fmt: skip
    said = one(risk_table(two, "indriCASP").verdict, "weighs")
    assert said.text == "Unanswered topics score 0: partial46 (4)."


def test_without_tests_nothing_is_claimed() -> None:
    assert one(verdict(plain(2)), "untested").text == "With 2 topics nothing can be tested."
    alone = verdict(plain()[:1])
    assert len(alone) == 1 and alone.all[0].rule == "untested"


def test_marks_of_one_family_are_those_of_the_verdict() -> None:
    values = plain(runs=12)
    values[1] += 0.007
    lenient = verdict(values, significance=Significance(correction="none"))
    strict = verdict(values, significance=Significance(family="all"))
    assert "r1" in one(lenient, "better").runs and not one(strict, "better").runs
    assert "not corrected for 11 tests" in one(lenient, "better").text


def test_averages_over_baselines_say_nothing() -> None:
    values = plain(runs=4)
    table = risk_table(named(values), ["r0", "r1"], options=replace(Options(), pool="each"))
    assert {each.about for each in table.verdict} == {
        "score, baseline r0", "score, baseline r1",
    }  # fmt: skip


# ---------------------------------------------------------------- what fresh eyes found


def test_a_run_that_is_marked_by_trisk_is_not_said_to_lack_it() -> None:
    generator = np.random.default_rng(1)
    base = generator.uniform(0.3, 0.6, 40)
    new = base + generator.uniform(0.05, 0.15, 40)
    new[:4] = 0.75 * base[:4]
    said = verdict(np.array([base, new]))
    assert said.sentences[0].endswith("is better than r0.")
    assert "not shown" not in str(said) and "on 4 of 40 topics" in one(said, "ruins").text


def test_the_highest_georisk_is_georisks() -> None:
    table = risk_table(evaluate([SAMPLES], qrels=QRELS)["nDCG@20"], "indriCASP", alpha=0.0)
    said = one(table.verdict, "ruins")
    (georisk,) = table.to_frame().set_index("run").loc[[*said.runs], "georisk"]
    assert f"has the highest GeoRisk ({georisk:.4f} at alpha 0) but loses" in said.text


def test_the_worst_topic_is_one_of_those_that_lose_over_a_fifth() -> None:
    base = np.array([0.9] + [0.1] * 29)
    new = base + np.array([-0.15] + [-0.05] * 4 + [0.3] * 25)
    said = one(verdict(np.array([base, new])), "ruins")
    assert "on 4 of 30 topics, most on t1 (0.1000 to 0.0500)" in said.text


def test_no_number_of_topics_decides_against_a_virtual_baseline() -> None:
    for baseline in ("@max", "@mean", "@min"):
        table = risk_table(evaluate([SAMPLES], qrels=QRELS), baseline)
        assert "would decide" not in str(table.verdict)
        below = [each for each in table.verdict.by("ruins") if "is not shown" in each.text]
        frame = table.to_frame().set_index(["measure", "run"])
        for each in below:
            measure = each.about.split(",")[0]
            difference = frame["mean_diff"].to_dict()[measure, each.runs[0]]
            assert float(difference) > 0


def test_what_cannot_be_tested_is_not_called_undecided() -> None:
    values = plain(runs=2)
    shifted = np.array([values[0], values[1], values[0] + 0.25])
    assert one(verdict(shifted), "undecided").runs == ("r1",)


def test_small_differences_have_a_sign_and_a_size() -> None:
    generator = np.random.default_rng(3)
    base = generator.uniform(0.3, 0.6, 40)
    values = np.array([base, base + generator.uniform(1e-5, 3e-5, 40)])
    assert "(mean +2.1e-05 [1.9e-05, 2.3e-05]) is better" in one(verdict(values), "better").text


def test_a_tenth_of_the_topics_is_a_tenth_whatever_rounding_makes_of_it() -> None:
    # 0.1 * 30 is above 3 in binary: three ruined topics of thirty were called safe.
    values = np.full((2, 30), 0.5) + np.linspace(0, 0.01, 30)
    values[1] += 0.2
    values[1, :3] = 0.3
    assert "safe" not in one(verdict(values), "better").text
    values[1, 2] = 0.7
    assert "and safe" in one(verdict(values), "better").text


def test_several_baselines_of_a_pool_are_called_baselines() -> None:
    said = verdict(plain(), "r0,r1")
    assert "the baselines mean(r0,r1)" in said.all[0].text


@pytest.mark.parametrize(
    ("kept", "said"),
    [("indriCASP", "Nobody judged 13 % of oldTFIDF (first 20 documents); "), ("oldTFIDF", "")],
)
def test_of_mere_scores_nobody_tells_a_judged_share(tmp_path: Path, kept: str, said: str) -> None:
    """Of a baseline or a candidate that was kept as scores no documents are known."""
    call = ("-q", QRELS, "-m", "ERR@20", "--quiet")
    table, (other,) = tmp_path / "kept.json", {"indriCASP", "oldTFIDF"} - {kept}
    assert riskeval("matrix", SAMPLES / f"{kept}.run", *call, "-o", table).code == 0
    ran = riskeval("score", SAMPLES / f"{other}.run", table, *call, "-b", "indriCASP", "-f", "json")
    found = [each for each in json.loads(ran.out)["verdicts"] if each["rule"] == "unjudged"]
    assert len(found) == bool(said) and "nan" not in ran.out.lower()
    for each in found:
        assert each["text"].startswith(said) and "baseline_judged" not in each["numbers"]
