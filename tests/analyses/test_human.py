"""Humans correct a model's judgements: every command and the library say the same of it."""

from __future__ import annotations

import json
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riskcli import (
    Evaluation,
    Options,
    Rules,
    ScoreMatrix,
    Significance,
    UsageError,
    evaluate,
    evaluate_corrected,
    judge,
    read_qrels,
    risk_table,
)
from riskcli.output.measure_words import columns_beside
from riskcli.risk.estimate import holm
from riskcli.risk.human import corrected_mean, mean_of
from riskcli.scores.human import corrected
from tests.helpers.inprocess import riskeval as run_inside
from tests.helpers.program import QRELS, SAMPLES, riskeval

NDCG = ("-m", "nDCG@20", "-b", "indriCASP", "--quiet")
LINES = [line.split() for line in QRELS.read_text().splitlines()]
TOPICS = sorted({line[0] for line in LINES}, key=int)
BY_HUMANS = TOPICS[::2]
Call = tuple[str | Path, ...]
RUNS = [SAMPLES / f"{run}.run" for run in ("indriCASP", "oldTFIDF", "caspPlus", "plainBM25")]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A model that guesses a third of the grades, and humans who judged every other topic."""
    folder, generator = tmp_path_factory.mktemp("judges"), np.random.default_rng(3)
    guessed, grades = generator.random(len(LINES)) < 1 / 3, generator.integers(0, 3, len(LINES))
    model = [
        f"{q} 0 {d} {grades[i] if guessed[i] else g}\n" for i, (q, _, d, g) in enumerate(LINES)
    ]
    human = [f"{q} 0 {d} {g}\n" for q, _, d, g in LINES if q in BY_HUMANS]
    (folder / "model.qrels").write_text("".join(model))
    (folder / "human.qrels").write_text("".join(human))
    return folder / "model.qrels", folder / "human.qrels"


def rows_of(text: str) -> dict[str, dict[str, Any]]:
    """By run."""
    return {row["run"]: row for row in json.loads(text)["rows"]}


def scores(qrels: Path) -> ScoreMatrix:
    """Of the four runs."""
    (matrix,) = evaluate(RUNS, qrels=qrels, rules=Rules("nDCG@20")).matrices
    return matrix


def differences(matrix: ScoreMatrix) -> dict[str, np.ndarray[Any, Any]]:
    base = matrix.values[matrix.runs.index("indriCASP")]
    return {run: row - base for run, row in zip(matrix.runs, matrix.values, strict=True)}


def test_the_columns_are_made_of_the_scores_under_each(files: tuple[Path, Path]) -> None:
    ran = riskeval("score", *RUNS, "-q", files[0], "--human", files[1], *NDCG, "-f", "json")
    rows, found = rows_of(ran.out), json.loads(ran.out)
    model, human = scores(files[0]), scores(files[1])
    judged = np.array([topic in BY_HUMANS for topic in model.topics])
    by_model, by_humans = differences(model), differences(human)
    for run, row in rows.items():
        assert row["human_topics"] == len(BY_HUMANS)
        if run == "indriCASP":
            assert row["corrected_diff"] is row["model_bias"] is row["corrected_p_adj"] is None
            continue
        bias = by_model[run][judged] - by_humans[run]
        expected = corrected_mean(by_humans[run][None], by_model[run][None], judged)
        bias_of = mean_of(bias[None])
        pairs = {
            "human_diff": by_humans[run].mean(), "model_bias": bias.mean(),
            "model_bias_lo": bias_of.interval(0.05)[0][0], "corrected_diff": expected.mean[0],
            "corrected_lo": expected.interval(0.05)[0][0], "model_bias_p": bias_of.p[0],
            "corrected_hi": expected.interval(0.05)[1][0], "corrected_p": expected.p[0],
        }  # fmt: skip
        assert {name: row[name] for name in pairs} == pytest.approx(pairs, rel=1e-9)
    others = [run for run in rows if run != "indriCASP"]
    for name in ("corrected", "model_bias"):
        adjusted = holm(np.array([rows[run][f"{name}_p"] for run in others]))
        assert [rows[run][f"{name}_p_adj"] for run in others] == pytest.approx(adjusted.tolist())
    assert found["settings"]["human_topics"] == len(BY_HUMANS)
    kinds = [item["kind"] for item in found["inputs"]]
    assert (kinds.count("qrels"), kinds.count("human qrels")) == (1, 1)
    assert all(item["sha256"] for item in found["inputs"])
    assert [said["rule"] for said in found["verdicts"]][:2] == ["model_bias", "corrected"]


def test_people_read_the_answer_then_the_bias_then_what_is_corrected(
    files: tuple[Path, Path],
) -> None:
    given = ("-q", files[0], "--human", files[1], *NDCG)
    out = " ".join(run_inside("score", *RUNS, *given, "-f", "table").out.split())
    places = [
        out.index(text)
        for text in (
            "By humans on 25 of 50 topics, the model's judgements slight caspPlus (-",
            "(assumed: the topics that humans judged are a random part of all).",
            "Corrected by humans, better than indriCASP: caspPlus (+",
            "Corrected by humans on 25 of 50 topics: nDCG@20, baseline indriCASP",
            "URisk #",
            "Means, risk and marks here are the model's alone, not corrected by humans.",
        )
    ]
    assert places == sorted(places)
    assert "safe: their gains" not in out, "what the model alone says contradicts"
    note = run_inside("score", *RUNS, *given[:-1]).err
    assert "note: corrected by humans on 25 of 50 topics; assumed: " in note


def test_what_a_mark_says_turns_with_its_test() -> None:
    found = risk_table(made(shift=0.0, bias=0.0), "base").verdict
    assert [said.text for said in found][:2] == [
        "By humans on 20 of 60 topics, the model's judgements are not shown to favour or slight a "
        "run (assumed: the topics that humans judged are a random part of all).",
        "Corrected by humans, no run is shown to differ from base. All other marks are the "
        "model's alone.",
    ]
    found = risk_table(made(shift=0.2, bias=-0.2), "base").verdict
    (differs,), (bias,) = found.by("corrected"), found.by("model_bias")
    assert ", better than base: run (+0." in differs.text
    assert "slight run (-0." in bias.text and differs.runs == bias.runs == ("run",)
    found = risk_table(made(shift=-0.2, bias=0.2), "base").verdict
    assert ", worse than base: run (-0." in found.by("corrected")[0].text
    assert "judgements favour run (+0." in found.by("model_bias")[0].text


def made(shift: float, bias: float) -> Evaluation:
    """A run and its baseline on 60 topics, by a model, and by humans on 20 of them."""
    generator = np.random.default_rng(1)
    human = np.array([generator.uniform(0.3, 0.6, 60), np.zeros(60)])
    human[1] = human[0] + shift + generator.normal(0, 0.05, 60)
    model = human + generator.normal(0, 0.02, (2, 60)) + np.array([[0.0], [bias]])
    topics = tuple(map(str, range(60)))
    matrices = [
        ScoreMatrix("AP", ("base", "run"), topics[:count], values[:, :count])
        for values, count in ((model, 60), (human, 20))
    ]
    return corrected(*(Evaluation((matrix,)) for matrix in matrices))


def test_the_library_and_a_virtual_baseline() -> None:
    scored = made(shift=0.2, bias=-0.2)
    matrix, human = scored.matrices[0], scored.matrices[0].human
    assert human is not None
    frame = risk_table(scored, "@mean").to_frame().set_index("run")
    by_model, by_humans = (m - m.mean(axis=0) for m in (matrix.values, human.values))
    expected = corrected_mean(by_humans, by_model, np.arange(60) < 20)
    assert frame["corrected_diff"].tolist() == pytest.approx(expected.mean.tolist())
    assert risk_table(scored.matrices[0], "base").verdict.by("corrected")
    without = risk_table(replace(matrix, human=None), "base")
    assert not {*without.result().columns} & {*columns_beside()}


def test_the_gate_tests_the_corrected_mean_and_takes_rules(files: tuple[Path, Path]) -> None:
    lost = made(shift=-0.2, bias=0.2)  # the model alone sees no loss
    alone = Evaluation(tuple(replace(m, human=None) for m in lost.matrices))
    assert judge(alone, "base", policy="lenient").passed
    gate = judge(lost, "base", policy="lenient", rules=["corrected_flag != worse"])
    ((mean, rule),) = [verdict.findings for verdict in gate.verdicts]
    assert (mean.outcome, rule.outcome) == ("fail", "fail")
    table = rows_of(risk_table(lost, "base").to_text("json"))["run"]
    assert mean.value == pytest.approx(table["corrected_diff"])
    assert mean.p == pytest.approx(table["corrected_p"] / 2)
    equal = judge(made(shift=0.0, bias=-0.2), "base", policy="lenient", margin=0.05)
    assert equal.passed and "corrected by humans on 20 of 60 topics" in equal.to_text("table")
    wide = judge(made(shift=0.0, bias=0.0), "base", policy="lenient", margin=1e-4).verdicts[0]
    assert (wide.outcome, wide.findings[0].topics_needed) == ("inconclusive", None)
    with pytest.raises(UsageError, match="corrected_diff is known with --human"):
        judge(alone, "base", rules=["corrected_diff >= 0"])
    given = ("-q", files[0], "--human", files[1], *NDCG)
    ran = run_inside("check", *RUNS, *given, "--require", "corrected_diff >= -0.2")
    assert (ran.code, "oldTFIDF" in ran.out) == (1, True)


def test_grades_of_humans_replace_the_models_topic_by_topic(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    some, graded = tmp_path / "some.qrels", [line for line in LINES if line[0] in BY_HUMANS]
    some.write_text("".join(f"{q} 0 {d} {g}\n" for q, _, d, g in graded[::2]))
    merged = tmp_path / "merged.qrels"
    own = {(q, d): g for q, _, d, g in graded[::2]}
    lines = [line.split() for line in files[0].read_text().splitlines()]
    rows = [f"{q} 0 {d} {own.get((q, d), g)}\n" for q, _, d, g in lines if q in BY_HUMANS]
    merged.write_text("".join(rows))
    found = evaluate_corrected(RUNS, qrels=files[0], human=some, rules=Rules("nDCG@20"))
    human = found.matrices[0].human
    assert human is not None
    expected = evaluate(RUNS, qrels=merged, rules=Rules("nDCG@20", topics="judged")).matrices[0]
    assert (human.topics, human.values.tolist()) == (expected.topics, expected.values.tolist())
    (note,) = [note for note in found.notes if note.code == "partly-human"]
    share = 1 - len(own) / len(rows)
    assert note.warning and note.message == (
        f"on 25 of 25 topics humans judged only some of the documents: {share:.0%} of the grades "
        "there are the model's"
    )


def test_a_topic_without_relevant_documents_by_humans_counts(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    none = tmp_path / "none.qrels"
    rows = [
        f"{q} 0 {d} {0 if q == BY_HUMANS[0] else g}\n" for q, _, d, g in LINES if q in BY_HUMANS
    ]
    none.write_text("".join(rows))
    found = evaluate_corrected(RUNS, qrels=files[0], human=none, rules=Rules("P@10"))
    human = found.matrices[0].human
    assert human is not None and len(human.topics) == len(BY_HUMANS)
    assert human.values[:, human.topics.index(BY_HUMANS[0])].tolist() == [0.0] * len(RUNS)


def test_humans_who_judged_every_topic_give_their_own_t_test(files: tuple[Path, Path]) -> None:
    call: Call = ("score", *RUNS, *NDCG, "-f", "json")
    corrected = rows_of(run_inside(*call, "-q", files[0], "--human", QRELS).out)
    alone = rows_of(run_inside(*call, "-q", QRELS).out)
    for run, row in alone.items():
        if run != "indriCASP":
            own = [corrected[run][f"corrected_{name}"] for name in ("diff", "lo", "hi", "p_adj")]
            names = ("mean_diff", "mean_diff_lo", "mean_diff_hi", "mean_p_adj")
            assert own == pytest.approx([row[name] for name in names], rel=1e-9)


def test_names_to_show_and_stores_change_nothing(files: tuple[Path, Path], tmp_path: Path) -> None:
    call: Call = ("score", *RUNS, "-q", files[0], "--human", files[1], *NDCG, "-f", "json")
    plain = [row["corrected_diff"] for row in rows_of(run_inside(*call).out).values()]
    for _ in range(2):
        stored = rows_of(run_inside(*call, "--store", tmp_path / "store").out)
        assert [row["corrected_diff"] for row in stored.values()] == plain
    teams = tmp_path / "teams.csv"
    teams.write_text("run,team,name\noldTFIDF,a,Zulu\ncaspPlus,b,Alpha\n")
    shown = rows_of(run_inside(*call, "--teams", teams).out)
    expected = rows_of(run_inside(*call).out)
    assert shown["Zulu"]["corrected_diff"] == expected["oldTFIDF"]["corrected_diff"]


def test_the_page_has_the_table(files: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    given = ("-q", files[0], "--human", files[1], *NDCG, "-o", page)
    assert run_inside("report", *RUNS, *given).code == 0
    text = unescape(page.read_text())
    shown = text[text.index('id="further"') :]
    assert "by the model less by humans" in shown
    assert "Corrected by humans on 25 of 50 topics: nDCG@20" in shown


@pytest.mark.parametrize(
    ("human", "said"),
    [
        ("", "empty-file"),
        ("900 0 d 1\n", "humans judged 0 of the 50 topics evaluated, expected 5 or more"),
        ("".join(f"{q} 0 d 1\n" for q in TOPICS[:4]), "humans judged 4 of the 50 topics"),
        ("nonsense\n", "human.qrels:1: column-count"),
    ],
)
def test_judgements_that_correct_nothing_are_refused(
    files: tuple[Path, Path], tmp_path: Path, human: str, said: str
) -> None:
    other = tmp_path / "human.qrels"
    other.write_text(human)
    ran = run_inside("score", *RUNS, "-q", files[0], "--human", other, *NDCG)
    assert (ran.code, ran.out) == (2, "") and said in ran.err


def test_replicates_are_averaged_under_both(files: tuple[Path, Path]) -> None:
    names = ("base-1", "base-2", "new-1", "new-2")
    runs = [f"{name}={file}" for name, file in zip(names, RUNS, strict=True)]
    of = ("-q", files[0], "--human", files[1], "-m", "nDCG@20", "-b", "base", "-f", "json")
    ran = run_inside("score", *runs, *of, "--quiet", "--replicates", "^(.*)-")
    human = differences(scores(QRELS))
    judged = np.array([topic in BY_HUMANS for topic in scores(QRELS).topics])
    run, base = human["caspPlus"] + human["plainBM25"], human["oldTFIDF"]
    expected = (run - base)[judged].mean() / 2
    assert rows_of(ran.out)["new"]["human_diff"] == pytest.approx(expected, rel=1e-9)


def test_judgements_that_were_read_leave_no_note(files: tuple[Path, Path]) -> None:
    read = evaluate(RUNS, qrels=read_qrels(files[0]), rules=Rules("nDCG@20"))
    assert read.notes == evaluate(RUNS, qrels=files[0], rules=Rules("nDCG@20")).notes


def test_a_run_without_any_topic_that_humans_judged_is_refused(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    run = tmp_path / "few.run"
    lines = RUNS[0].read_text().splitlines(keepends=True)
    run.write_text("".join(line for line in lines if line.split()[0] not in BY_HUMANS))
    call: Call = ("score", *RUNS, run, "-q", files[0], "--human", files[1], *NDCG)
    assert "few answers none of the 25 topics" in run_inside(*call).err
    skipping = run_inside(*call, "--on-error", "skip")
    assert (skipping.code, skipping.out) == (2, "")
    assert "no topic answered that humans judged" in skipping.err


def test_what_cannot_be_corrected_is_refused_with_the_cure(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    kept = tmp_path / "kept.json"
    call: Call = ("matrix", RUNS[0], "-q", files[0], "-m", "nDCG@20", "--long", "-o", kept)
    assert run_inside(*call).code == 0
    human = ("-q", files[0], "--human", files[1], "-m", "nDCG@20")
    cases: list[tuple[Call, str]] = [
        (("score", *RUNS, "-q", files[0], "--human", files[0]), "the judgements of the model"),
        (("score", *RUNS, "-q", QRELS, *human), "one file of judgements at a time here"),
        (("score", kept, *human), "only scores are known"),
        (("score", *RUNS, *human, "-b", "@mean", "--teams", "re:."), "name a run"),
        (("score", *RUNS, *human, "-b", "*", "--pool", "each"), "leave out --pool each"),
        (
            ("check", *RUNS, *human, "-b", "indriCASP", "--unjudged", "bounds"),
            "unjudged bounds are by one file",
        ),
        (("check", *RUNS[1:], *human, "-b", kept), "give the baseline as a run"),
        (("topics", *RUNS, *human), "No such option '--human'"),
    ]
    for command, told in cases:
        ran = run_inside(*command)
        assert ran.code == 2 and told in ran.err, command
    options = Options(baselines=("base",), significance=Significance(family="all"))
    with pytest.raises(UsageError, match='leave out family = "all"'):
        risk_table(made(0.0, 0.0), options=options)


def test_topics_that_humans_judged_in_vain_are_named(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    other = tmp_path / "human.qrels"
    other.write_text(files[1].read_text() + "900 0 d 1\n")
    ran = run_inside("score", *RUNS, "-q", files[0], "--human", other, *NDCG[:-1])
    assert "judged by humans: 1 topic not evaluated: 900" in ran.err
