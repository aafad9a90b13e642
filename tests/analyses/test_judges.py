"""By how many judges a mark, a rank or a lost topic holds, counted anew from each judge's table."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riskcli import (
    Options,
    Rules,
    ScoreMatrix,
    UsageError,
    evaluate,
    judge,
    risk_table,
    topic_table,
)
from riskcli.core.messages import Input, Provenance
from riskcli.output.measure_words import columns, columns_beside
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.judges import under_each
from tests.helpers.inprocess import riskeval as run_inside
from tests.helpers.program import QRELS, SAMPLES, riskeval

_RULES = Rules("nDCG@20")
TESTED = ("mean", "trisk", "zrisk", "georisk")
RUNS = ("indriCASP", "oldTFIDF", "caspPlus", "plainBM25", "neuralMix")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three judges: the sample's, one who errs now and then, and one who errs on every other."""
    folder = tmp_path_factory.mktemp("judges")
    lines = [line.split() for line in QRELS.read_text().splitlines()]
    generator = np.random.default_rng(3)
    for name, share in (("careful", 0.2), ("careless", 0.5)):
        wrong = generator.random(len(lines)) < share
        guesses = generator.integers(0, 3, len(lines))
        given = [
            guess if odd else line[3]
            for line, odd, guess in zip(lines, wrong, guesses, strict=True)
        ]
        rows = [f"{q} 0 {d} {g}\n" for (q, _, d, _), g in zip(lines, given, strict=True)]
        (folder / f"{name}.txt").write_text("".join(rows))
    return [QRELS, folder / "careful.txt", folder / "careless.txt"]


@pytest.fixture(scope="module")
def scored(files: list[Path]) -> Evaluation:
    """Five runs under the three of them."""
    runs = [SAMPLES / f"{run}.run" for run in RUNS]
    return under_each(files, [evaluate(runs, qrels=file, rules=_RULES) for file in files])


def rows_of(table: Any) -> list[dict[str, Any]]:
    """Its rows as JSON has them."""
    return [json.loads(line) for line in table.to_text("jsonl").splitlines()]


def rows_by_run(scored: Evaluation, **given: Any) -> dict[str, list[dict[str, Any]]]:
    """Of each run its rows, one a judge."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows_of(risk_table(scored, "indriCASP", **given)):
        found.setdefault(row["run"], []).append(row)
    return found


def test_marks_and_ranks_are_counted_over_judges(scored: Evaluation) -> None:
    seen = set()
    for run, rows in rows_by_run(scored).items():
        assert [row["judges"] for row in rows] == [3, 3, 3]
        for row in rows:
            for name in (*TESTED, "urisk"):
                ranks = [each[f"rank_{name}"] for each in rows]
                ends = [row[f"rank_{name}_judges_{end}"] for end in ("lo", "hi")]
                assert ends == ([None, None] if None in ranks else [min(ranks), max(ranks)])
            for name in TESTED:
                same = sum(each[f"{name}_flag"] == row[f"{name}_flag"] for each in rows)
                seen.add(same)
                assert row[f"{name}_judges"] == (None if run == "indriCASP" else same)
    assert seen >= {2, 3}


def under(*shifts: dict[str, float]) -> Evaluation:
    """Runs that differ from `base` by these means, a judge each, on 30 made topics."""
    generator = np.random.default_rng(5)
    runs, topics = ("base", *shifts[0]), tuple(map(str, range(1, 31)))
    each = []
    for of_judge in shifts:
        values = np.array([0.4 + shift + generator.normal(0, 0.05, 30)
                           for shift in (0.0, *of_judge.values())])  # fmt: skip
        from_qrels = Provenance(inputs=(Input(Path("q"), "qrels"),))
        matrices = (ScoreMatrix("AP", runs, topics, values),)
        each.append(Evaluation(matrices, provenance=from_qrels))
    return under_each([Path(name) for name in "abcd"[: len(shifts)]], each)


APART = ({"up": 0.1, "down": -0.1, "odd": 0.1, "weak": 0.0},
         {"up": 0.1, "down": -0.1, "odd": -0.1, "weak": 0.0},
         {"up": 0.1, "down": -0.1, "odd": 0.0, "weak": -0.1})  # fmt: skip


def test_the_first_sentence_says_who_agrees() -> None:
    verdict = risk_table(under(*APART), "base").verdict
    (said,) = verdict.by("judges")
    assert next(iter(verdict)) is said
    assert said.text == (
        "Better than base: up (3 of 3 judges), odd (1 of 3 judges); worse than base: down (3 of 3 "
        "judges), odd, weak (1 of 3 judges)."
    )
    assert (said.about, said.numbers) == ("AP [a], baseline base", {"judges": 3})


def test_judges_of_one_mind_and_those_who_see_nothing(scored: Evaluation) -> None:
    alike = scored.matrices[0]
    judges = [Evaluation((alike,), provenance=scored.provenance) for _ in range(2)]
    again = under_each([Path("a"), Path("b")], judges)
    (said,) = risk_table(again, "indriCASP").verdict.by("judges")
    assert said.text.startswith("Better than indriCASP: ")
    assert "(2 of 2 judges)" in said.text and "(1 of 2 judges)" not in said.text
    equal = replace(alike, values=np.tile(alike.values[0], (len(alike.runs), 1)))
    judges = [Evaluation((equal,), provenance=scored.provenance) for _ in range(2)]
    again = under_each([Path("a"), Path("b")], judges)
    (said,) = risk_table(again, "indriCASP").verdict.by("judges")
    assert said.text == ("By none of 2 judges a run is better or worse than indriCASP.")


def test_several_alphas_baselines_and_the_minus_convention(scored: Evaluation) -> None:
    plain = rows_of(risk_table(scored, "*", alpha=(0, 5)))
    assert {row["judges"] for row in plain} == {3}

    each = Options(baselines=("indriCASP", "plainBM25"), pool="each", convention="minus")
    turned = rows_of(risk_table(scored, options=each))
    own = [row for row in turned if row["baseline"] == "each(indriCASP,plainBM25)"]
    assert own and all(row["mean_judges"] is None for row in own)
    assert {row["mean_judges"] for row in turned if row["baseline"] == "indriCASP"} >= {3}


def test_a_single_judge_adds_nothing() -> None:
    table = risk_table(evaluate(SAMPLES / "oldTFIDF.run", qrels=QRELS), "oldTFIDF")
    assert not {*table.result().columns} & {*columns_beside()} and not table.verdict.by("judges")
    assert not {*columns()} & {*columns_beside()}


def test_topics_say_under_how_many_judges_they_are_lost(scored: Evaluation) -> None:
    first = {m.measure: m for m in scored.matrices}
    table = topic_table(scored, "indriCASP")
    for row in rows_of(table):
        lost = sum(
            m.values[m.runs.index(row["run"]), m.topics.index(row["topic"])]
            < m.values[m.runs.index("indriCASP"), m.topics.index(row["topic"])]
            for m in first.values()
        )
        assert row["lost_judges"] == lost
    with pytest.raises(UsageError, match="lost_judges is known with several --qrels"):
        topic_table(scored.matrices[0].to_frame(), "indriCASP").of_columns(["lost_judges"])


def test_a_loss_within_the_noise_of_replicates_is_not_lost_under_a_judge() -> None:
    generator, runs = np.random.default_rng(0), [f"{s}-{i}" for s in ("base", "new") for i in "123"]
    topics = tuple(map(str, range(12)))
    under = []
    for _ in range(2):
        matrix = ScoreMatrix("AP", tuple(runs), topics, 0.5 + generator.normal(0, 0.05, (6, 12)))
        from_qrels = Provenance(inputs=(Input(Path("q"), "qrels"),))
        under.append(Evaluation((matrix.of_systems("^(.*)-"),), provenance=from_qrels))
    table = topic_table(under_each([Path("a"), Path("b")], under), "base")
    lost = np.sum([part.lost for part in table.parts], axis=0)
    assert [part.columns["lost_judges"].tolist() for part in table.parts] == [lost.tolist()] * 2


def test_a_gate_says_by_how_many_judges_candidates_pass() -> None:
    scored = under(*APART)
    (said,) = judge(scored, "base").verdict.by("judges")
    assert said.text == "Who passes: up (3 of 3 judges), odd, weak (2 of 3 judges)."
    rows = [m.of_runs([0, m.runs.index("odd")]) for m in scored.matrices]
    (said,) = judge(Evaluation(tuple(rows)), "base").verdict.by("judges")
    assert said.text == "Who passes: odd (2 of 3 judges)."
    with pytest.raises(UsageError, match="nothing is called 'mean_judges'"):
        judge(scored, "base", rules=["mean_judges >= 2"])


def test_other_topics_are_told_where_judges_share_a_measure(tmp_path: Path) -> None:
    fewer, runs = tmp_path / "fewer.txt", [SAMPLES / "caspPlus.run", SAMPLES / "indriCASP.run"]
    lines = QRELS.read_text().splitlines(keepends=True)
    fewer.write_text("".join(line for line in lines if not line.startswith("101 ")))
    for measures, told in ((["AP"], True), (["AP", "P@5"], True), (["P@5"], False)):
        each = [evaluate(runs, qrels=QRELS, rules=Rules("AP")),
                evaluate(runs, qrels=fewer, rules=Rules(measures))]  # fmt: skip
        both = under_each([QRELS, fewer], each)
        notes = [note.message for note in both.notes if note.code == "other-topics"]
        said = "the judges' figures are of different topics: simulated.qrels 50, fewer 49, 49 in"
        assert [note.startswith(said) for note in notes] == [True] * told


def test_the_program_answers_with_them(files: list[Path], tmp_path: Path) -> None:
    call = ("-q", files[0], "-q", files[1], "-m", "nDCG@20", "-b", "indriCASP", "--quiet")
    ran = riskeval("score", SAMPLES, *call, "-f", "table")
    assert ran.out.startswith("Better than indriCASP: ")
    assert "By how many judges it holds: nDCG@20, baseline indriCASP" in ran.out
    assert "Judges: simulated.qrels and careful." in ran.out
    page = tmp_path / "page.html"
    assert run_inside("report", SAMPLES, *call, "-o", page).code == 0
    assert "(2 of 2 judges)" in page.read_text()
    found = json.loads(run_inside("check", SAMPLES, *call, "-f", "json").out)
    assert "judges" in [said["rule"] for said in found["verdicts"]]
    shown = run_inside("check", SAMPLES, *call, "--run", "plainBM25", "-f", "table").out
    assert "Who passes: " in shown
    ran = run_inside("topics", SAMPLES, *call, "--run", "oldTFIDF", "-f", "table")
    assert "judges: under how many of them the topic is lost." in ran.out
