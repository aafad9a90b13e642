"""What is said of documents that nobody judged, and what they allow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riskcli import Options, Rules, UsageError, evaluate, risk_table, score_runs
from riskcli.output.measure_words import columns, columns_of_unjudged
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES

BOUNDS = Rules(unjudged="bounds")
TOPICS = tuple(map(str, range(1, 9)))
Judgements = dict[str, dict[str, int]]


def made(seed: int, judged: float = 0.6) -> tuple[dict[str, Any], Judgements, Judgements]:
    """Four runs, the grades of all documents, and those that are judged."""
    generator = np.random.default_rng(seed)
    grades = {t: {f"d{i}": int(generator.integers(0, 3)) for i in range(9)} for t in TOPICS}
    runs = {
        name: {
            t: {
                f"d{i}": float(s)
                for i, s in zip(generator.permutation(9)[:6], range(6, 0, -1), strict=True)
            }
            for t in TOPICS
        }
        for name in "abcd"
    }
    known = {
        t: {d: g for d, g in of.items() if generator.random() < judged} | {"d9": 2}
        for t, of in grades.items()
    }
    return runs, grades, known


def completed(runs: dict[str, Any], known: Judgements, depth: int, seed: int) -> Judgements:
    """The judgements with any grades for what stands in the top of a run."""
    generator = np.random.default_rng(seed)
    tops = {
        t: {d for run in runs.values() for d in sorted(run[t], key=run[t].get)[::-1][:depth]}
        for t in TOPICS
    }
    highest = max(g for of in known.values() for g in of.values())
    return {
        t: {d: int(generator.integers(0, highest + 1)) for d in sorted(tops[t])} | known[t]
        for t in TOPICS
    }


@pytest.mark.parametrize(
    "given",
    [
        {"baselines": "a"}, {"baselines": ("a", "b")}, {"baselines": ("a", "b"), "pool": "max"},
        {"baselines": ("a", "b", "c"), "pool": "median"}, {"baselines": "@mean"},
        {"baselines": "@max"}, {"baselines": "@min"}, {"baselines": "@median"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("measure", ["RBP(p=0.8)@4", "ERR@4"])
def test_every_completion_lies_within(given: dict[str, Any], measure: str) -> None:
    runs, _, known = made(1)
    options = Options(alphas=(0.0, 5.0), **given)
    frame = risk_table(score_runs(runs, known, measure, rules=BOUNDS), options=options).to_frame()
    for seed in range(4):
        full = completed(runs, known, 4, seed)
        true = risk_table(score_runs(runs, full, measure), options=options).to_frame()
        assert (frame["run"] == true["run"]).all() and (frame["alpha"] == true["alpha"]).all()
        compared = true["urisk"].notna()
        for name, value in (("mean_diff", "mean_diff"), ("urisk", "urisk")):
            low, high = frame[f"{name}_min"][compared], frame[f"{name}_max"][compared]
            assert (true[value][compared] >= low - 1e-12).all()
            assert (true[value][compared] <= high + 1e-12).all()
        assert (true["losses"][compared] >= frame["losses_certain"][compared]).all()
        assert (true["losses"][compared] <= frame["losses_possible"][compared]).all()


@pytest.mark.parametrize("measure", ["nDCG@2", "nDCG(dcg='exp-log2')@2", "R@2", "AP@2", "AP"])
@pytest.mark.parametrize("baseline", ["@mean", "@median", "@max"])
def test_documents_of_a_third_run_change_what_two_are_divided_by(
    measure: str, baseline: str
) -> None:
    known = {"1": {"good": 1, "bad": 0, "worse": 0}}
    order = {"a": ["good", "bad"], "b": ["bad", "worse"], "c": ["new", "worse"]}
    runs = {run: {"1": {docs[0]: 2.0, docs[1]: 1.0}} for run, docs in order.items()}
    options = Options(baselines=(baseline,))
    scores = score_runs(runs, known, measure, rules=BOUNDS)
    frame = risk_table(scores, options=options).to_frame()
    for grade in (0, 1):
        full = score_runs(runs, {"1": known["1"] | {"new": grade}}, measure)
        true = risk_table(full, options=options).to_frame()["mean_diff"]
        assert (true >= frame["mean_diff_min"] - 1e-12).all()
        assert (true <= frame["mean_diff_max"] + 1e-12).all()


def test_ends_against_one_run_are_sums_over_topics_that_are_reached() -> None:
    runs = {"a": {"1": {"x": 2.0, "y": 1.0}, "2": {"x": 1.0}},
            "b": {"1": {"y": 2.0, "u": 1.0}, "2": {"v": 1.0}}}  # fmt: skip
    judged = {"1": {"x": 0, "y": 1}, "2": {"x": 1}}
    found = score_runs(runs, judged, "P@2", rules=BOUNDS)
    records = risk_table(found, "a", alpha=[1.0, 3.0]).to_frame().to_dict("records")
    rows: dict[Any, dict[Any, Any]] = {(row["run"], row["alpha"]): row for row in records}

    def ends(run: str, alpha: float, *names: str) -> list[float]:
        return [rows[run, alpha][name] for name in names]

    # Topic 1: 1/2 against 1/2, or 1 with u relevant; topic 2: -1/2, or 0 with v relevant.
    assert ends("b", 1.0, "mean_diff_min", "mean_diff_max") == [-0.25, 0.25]
    assert ends("b", 1.0, "urisk_min", "urisk_max") == [-0.5, 0.25]
    assert ends("b", 3.0, "urisk_min", "urisk_max") == [-1.0, 0.25]
    assert ends("b", 1.0, "losses_certain", "losses_possible") == [0, 1]
    assert ends("b", 1.0, "judged", "baseline_judged") == [0.25, 1.0]
    assert np.isnan(np.array(ends("a", 1.0, "mean_diff_min", "losses_possible"), float)).all()


def test_under_the_minus_convention_the_ends_change_places() -> None:
    runs, _, known = made(2)
    scores = score_runs(runs, known, "P@4", rules=BOUNDS)
    plain = risk_table(scores, "a").to_frame()
    minus = risk_table(scores, "a", options=Options(convention="minus")).to_frame()
    assert (minus["urisk_min"].dropna() == -plain["urisk_max"].dropna()).all()
    assert (minus["mean_diff_min"].dropna() == plain["mean_diff_min"].dropna()).all()


def test_no_column_and_no_document_unless_asked_for() -> None:
    runs, _, known = made(3)
    table = risk_table(score_runs(runs, known, "P@4"), "a").to_frame()
    assert [*table.columns] == [*columns()]
    asked = risk_table(score_runs(runs, known, "P@4", rules=BOUNDS), "a").to_frame()
    assert [*asked.columns] == [*columns(), *columns_of_unjudged()]
    assert asked[[*columns()]].equals(table)


@pytest.mark.parametrize("measure", ["gm_map", "gm(P@4)", "NumRelRet", "Judged@5"])
def test_what_nothing_bounds_is_refused(measure: str) -> None:
    runs, _, known = made(4)
    scores = score_runs(runs, known, measure, rules=BOUNDS)
    with pytest.raises(UsageError, match="nothing bounds what unjudged documents do"):
        risk_table(scores, "a")


def test_virtual_baselines_of_teams_are_refused() -> None:
    runs, _, known = made(4)
    scores = score_runs(runs, known, "P@4", rules=BOUNDS)
    teams: Any = {"a": "x", "b": "x"}
    with pytest.raises(UsageError, match="name a run as the --baseline"):
        risk_table(scores, "@mean", options=Options(teams=teams))


# ---------------------------------------------------------------- what is said unasked


def lines(judged: float, rules: Rules | None = None) -> list[str]:
    """What is said where that share of run b, and nearly all of run a, is judged."""
    documents = [f"d{i}" for i in range(40)]
    runs = {
        "a": {t: {d: 20.0 - i for i, d in enumerate(documents[:20])} for t in TOPICS},
        "b": {t: {d: 20.0 - i for i, d in enumerate(documents[20:])} for t in TOPICS},
    }
    count = round(20 * judged)
    known = {t: dict.fromkeys(documents[: 20 + count], 1) for t in TOPICS}
    said = risk_table(score_runs(runs, known, "P@20", rules=rules), "a").verdict
    return [each.text for each in said.by("unjudged")]


def test_more_than_a_tenth_is_said_with_both_shares() -> None:
    assert lines(0.9) == []
    (text,) = lines(0.8)
    assert text == (
        "Nobody judged 20 % of b and 0 % of a (first 20 documents); they count as not relevant: "
        "differences may be no more than that."
    )
    (text,) = lines(0.8, BOUNDS)
    assert text.endswith("; in the mean no run is sure to be above or below a.")  # it may tie
    (text,) = lines(0.8, Rules(unjudged="condensed"))
    assert text.endswith("taken out of the rankings, as if they were like the judged.")


def test_a_side_that_no_grade_turns_is_said() -> None:
    runs = {"a": {t: {"x": 1.0} for t in TOPICS}, "b": {t: {"y": 2.0, "u": 1.0} for t in TOPICS}}
    known = {t: {"x": 0, "y": 1} for t in TOPICS}
    table = risk_table(score_runs(runs, known, "P@2", rules=BOUNDS), "a")
    (said,) = table.verdict.by("unjudged")
    assert said.text.endswith("whatever their grades, in the mean b stays above a.")
    assert said.runs == ("b",) and said.numbers == {"judged": (0.5,), "baseline_judged": 1.0}


def test_files_of_scores_say_nothing_of_judgements(tmp_path: Path) -> None:
    kept = tmp_path / "kept.csv"
    assert riskeval("matrix", SAMPLES, "-q", QRELS, "-m", "P@5", "-o", kept).code == 0
    ran = json.loads(riskeval("score", kept, "-b", "indriCASP", "-f", "json").out)
    assert all(each["rule"] != "unjudged" for each in ran["verdicts"])
    refused = riskeval("check", kept, "-b", "indriCASP", "--require", "judged >= 0.8")
    assert refused.code == 2 and "of runs, not of files of scores" in refused.err


def test_a_store_keeps_what_is_judged(tmp_path: Path) -> None:
    call = ("score", SAMPLES, "-q", QRELS, "-b", "indriCASP", "-m", "P@5,AP", "-f", "json")
    first, again = (riskeval(*call, "--store", tmp_path / "s").out for _ in range(2))
    assert first == again == riskeval(*call).out and '"unjudged"' in first
    bounded = riskeval(*call, "--unjudged", "bounds").out
    assert bounded == riskeval(*call, "--unjudged", "bounds", "--store", tmp_path / "s").out


def test_the_same_whoever_reads_the_runs_and_however_they_are_called(tmp_path: Path) -> None:
    call = ("score", SAMPLES, "-q", QRELS, "-m", "ERR@20", "--unjudged", "bounds", "-f", "json")
    rows = json.loads(riskeval(*call, "-b", "indriCASP").out)["rows"]
    key = tmp_path / "key.csv"
    (tmp_path / "riskeval.toml").write_text('anonymise = "key.csv"\n')
    hidden = json.loads(riskeval(*call, "-b", "indriCASP", cwd=tmp_path).out)["rows"]
    names = dict(line.split(",")[1:3] for line in key.read_text().splitlines()[1:])
    by_name = {row["run"]: row for row in hidden}
    for row in rows:
        other = by_name[names[row["run"]]]
        assert all(row[name] == other[name] for name in columns_of_unjudged())


def test_the_ranges_are_a_table_below_and_rules_of_a_gate() -> None:
    call = (SAMPLES, "-q", QRELS, "-b", "indriCASP", "-m", "ERR@20", "--unjudged", "bounds")
    shown = riskeval("score", *call, "-f", "table").out
    assert "ERR@20 against indriCASP, α = 1, for all grades of unjudged documents" in shown
    rows = {r["run"]: r for r in json.loads(riskeval("score", *call, "-f", "json").out)["rows"]}
    ran = riskeval(
        "check", *call, "--policy", "none", "--require", "losses_certain <= 3", "--require",
        "judged >= 0.9", "-f", "json",
    )  # fmt: skip
    assert ran.code == 1
    for row in json.loads(ran.out)["rows"]:
        value = rows[row["candidate"]][row["rule"].split()[0]]
        assert row["value"] == value and row["passed"] is (
            value <= 3 if "losses" in row["rule"] else value >= 0.9
        )
    alone = riskeval("check", *call[:-2], "--require", "losses_certain <= 3")
    assert alone.code == 2 and "losses_certain is known with --unjudged bounds" in alone.err


def test_other_commands_do_not_know_bounds() -> None:
    ran = riskeval("sweep", SAMPLES, "-q", QRELS, "--unjudged", "bounds")
    assert ran.code == 2 and "expected zero or condensed here; score, topics, check" in ran.err
    condensed = riskeval("matrix", SAMPLES, "-q", QRELS, "-m", "P@5", "--unjudged", "condensed")
    assert (
        condensed.code == 0
        and condensed.out != riskeval("matrix", SAMPLES, "-q", QRELS, "-m", "P@5").out
    )


def test_what_is_asked_of_unjudged_documents_is_never_passed_over(tmp_path: Path) -> None:
    scores = tmp_path / "scores.csv"
    of_runs = (SAMPLES, "-q", QRELS, "-m", "P@5")
    assert riskeval("matrix", *of_runs, "-o", scores).code == 0
    for command in ("score", "topics"):
        ran = riskeval(command, scores, "--unjudged", "bounds")
        assert ran.code == 0 and "--unjudged bounds does nothing here" in ran.err
        assert "does nothing" not in riskeval(command, *of_runs, "--unjudged", "bounds").err
    shares = riskeval("score", *of_runs, "--columns", "run,judged,baseline_judged")
    assert shares.code == 0, shares.err
    for asked in (of_runs, (scores, "--unjudged", "bounds")):
        ran = riskeval("score", *asked, "--columns", "run,losses_certain,urisk_min")
        assert ran.code == 2 and ran.out == ""
        assert "losses_certain and urisk_min are known of runs, with --unjudged bounds" in ran.err


def test_topics_have_the_range_of_each_difference() -> None:
    scores = evaluate([SAMPLES], qrels=QRELS, rules=Rules(measures="ERR@20", unjudged="bounds"))
    call = ("topics", SAMPLES, "-q", QRELS, "-b", "indriCASP", "-m", "ERR@20", "-f", "json")
    rows = json.loads(riskeval(*call, "--unjudged", "bounds", "--run", "boldRerank").out)["rows"]
    assert all(row["delta_min"] <= row["delta"] <= row["delta_max"] for row in rows)
    records = risk_table(scores, "indriCASP").to_frame().to_dict("records")
    (largest,) = [row["mean_diff_max"] for row in records if row["run"] == "boldRerank"]
    assert np.mean([row["delta_max"] for row in rows]) == pytest.approx(largest)
    refused = riskeval(*call, "--columns", "delta_min")
    assert refused.code == 2 and "known with --unjudged bounds" in refused.err


def test_condensed_scores_are_never_compared_with_others(tmp_path: Path) -> None:
    call = (SAMPLES / "indriCASP.run", "-q", QRELS, "-m", "P@5")
    kept, frozen = tmp_path / "kept.json", tmp_path / "frozen.json"
    assert riskeval("matrix", *call, "--unjudged", "condensed", "-o", kept).code == 0
    both = (SAMPLES / "boldRerank.run", "-b", kept, "-q", QRELS, "-m", "P@5")
    for command in ("check", "score"):
        ran = riskeval(command, *both)
        assert ran.code == 2 and "was made with unjudged = 'condensed'" in ran.err
        assert riskeval(command, *both, "--unjudged", "condensed").code == 0
    freeze = ("population", "freeze", SAMPLES, "-q", QRELS, "-m", "P@5")
    assert riskeval(*freeze, "--unjudged", "condensed", "-o", frozen).code == 0
    ran = riskeval("score", SAMPLES, "-q", QRELS, "-m", "P@5", "--population", frozen)
    assert ran.code == 2 and "frozen with unjudged condensed" in ran.err


def test_a_baseline_that_nobody_judged_beside_runs_that_are_judged() -> None:
    documents = [f"d{i}" for i in range(40)]
    judged = {t: dict.fromkeys(documents[:24], 1) for t in TOPICS}
    good = {t: {d: 20.0 - i for i, d in enumerate(documents[:20])} for t in TOPICS}
    bad = {t: {d: 20.0 - i for i, d in enumerate(documents[20:])} for t in TOPICS}
    runs = dict.fromkeys("bcdefg", good) | {"a": bad}
    (said,) = risk_table(score_runs(runs, judged, "P@20"), "a").verdict.by("unjudged")
    assert said.text.startswith("Nobody judged at most 0 % of a run and 80 % of a (first 20")
    alone = {"b": good, "a": bad}
    (said,) = risk_table(score_runs(alone, judged, "P@20"), "a").verdict.by("unjudged")
    assert said.text.startswith("Nobody judged 0 % of b and 80 % of a (first 20 documents)")


def test_a_gate_with_a_kept_baseline_says_what_is_judged_of_the_candidate(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    call = ("-q", QRELS, "-m", "ERR@20")
    assert riskeval("matrix", SAMPLES / "indriCASP.run", *call, "-o", kept).code == 0
    gate = ("check", SAMPLES / "oldTFIDF.run", "-b", kept, *call)
    assert "Nobody judged 13 % of oldTFIDF (first 20 documents)" in riskeval(*gate).out
    refused = riskeval(*gate, "--unjudged", "bounds")
    assert refused.code == 2 and "give the baseline as a run, not as scores" in refused.err


@pytest.mark.parametrize(
    "call",
    [
        ("significance",), ("significance", "--between", "baseline"), ("sweep",),
        ("sweep", "--over", "measure"), ("explain", "--run", "oldTFIDF"),
    ],
)  # fmt: skip
def test_where_no_verdict_says_it_a_warning_does(call: tuple[str, ...]) -> None:
    command, *options = call
    ran = riskeval(
        command, SAMPLES, "-q", QRELS, "-b", "indriCASP", "-m", "ERR@20", *options, "-f", "json"
    )
    told = [each for each in json.loads(ran.out)["warnings"] if "Nobody judged" in str(each)]
    assert len(told) == 1 and "13 % of oldTFIDF and 8 % of indriCASP" in str(told)


def test_topics_say_of_a_run_where_it_loses_and_what_nobody_judged() -> None:
    call = ("topics", SAMPLES, "-q", QRELS, "-b", "indriCASP", "-m", "ERR@20", "-f", "table")
    first, *others = riskeval(*call, "--run", "oldTFIDF", "--full").out.splitlines()[:5]
    assert first.startswith("oldTFIDF loses on 44 of 50 topics against indriCASP")
    assert any(line.startswith("Nobody judged 13 % of oldTFIDF") for line in others)


def test_bounds_in_a_settings_file_are_for_those_who_know_them(tmp_path: Path) -> None:
    (tmp_path / "riskeval.toml").write_text('unjudged = "bounds"\n')
    call = (SAMPLES, "-q", QRELS, "-m", "P@5", "-f", "csv")
    for command in ("sweep", "significance", "matrix"):
        assert riskeval(command, *call, cwd=tmp_path).out == riskeval(command, *call).out != ""
    bounded = riskeval("score", *call, "--unjudged", "bounds").out
    assert riskeval("score", *call, cwd=tmp_path).out == bounded
