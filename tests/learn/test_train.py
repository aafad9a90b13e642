"""`riskeval train` and `riskeval rank` through the installed program, and what they leave."""

from __future__ import annotations

import base64
import csv
import itertools
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.make_features import letor, make_features
from riskcli.analyses.score import risk_table
from riskcli.learn import OBJECTIVES
from riskcli.learn.comparators import (
    EqualRisk,
    JudgedQueries,
    RiskMatcher,
    blended,
    highest,
    mean_loss,
    parse_source,
    selected,
)
from riskcli.learn.comparison import ModelComparison, compare_models
from riskcli.learn.experiment import Interrupts, Outcome, Plan, RunScores, run_experiment
from riskcli.learn.feature_files import read_features
from riskcli.learn.features import best_first
from riskcli.learn.folder import check_folder
from riskcli.learn.folds import find_folds
from riskcli.learn.lambdas import Queries
from riskcli.learn.swaps import swap_measure
from riskcli.learn.training import ModelSpec, RankedDocuments, Settings
from riskcli.output.display import p_value
from riskcli.scores.comparisons import Options
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.matrix import ScoreMatrix
from tests.helpers import reference
from tests.helpers.console import PROGRAMS, ROOT, terminal_environment
from tests.helpers.inprocess import riskeval, run_inside
from tests.helpers.program import Ran, python

lightgbm = pytest.importorskip("lightgbm", reason="needs the extra learn: LightGBM is absent")

MEASURE = "nDCG(dcg='exp-log2')@10"
SMALL = ("--param", "num_threads=1", "--param", "min_data_in_leaf=10", "--trees", "12")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two folds of 40, 15 and 15 queries, and all queries in one file."""
    folder = tmp_path_factory.mktemp("letor")
    made = make_features(140, 8, 6, seed=4)
    for fold, start in ((1, 0), (2, 70)):
        (folder / f"Fold{fold}").mkdir()
        for name, first, count in (("train", 0, 40), ("vali", 40, 15), ("test", 55, 15)):
            queries = range(start + first, start + first + count)
            (folder / f"Fold{fold}" / f"{name}.txt").write_text(letor(made, queries))
    (folder / "all.txt").write_text(letor(made, range(60)))
    return folder


@pytest.fixture(scope="module")
def experiment(data: Path) -> tuple[Path, Ran]:
    """Two folds, two seeds, two objectives at two alphas."""
    done = riskeval(
        "train", data / "Fold1", data / "Fold2", "-b", "feature:6", "-a", "1,5", "--objective",
        "urisk", "--objective", "tfaro", "--seeds", "2", *SMALL, "-o", data / "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    return data / "out", done


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_score_says_the_same_of_the_test_queries(experiment: tuple[Path, Ran]) -> None:
    """To the byte, with the command that it names; the means are those of the reference."""
    folder, done = experiment
    told = shlex.split(done.err.partition("to score the runs again: riskeval ")[2].split("\n")[0])
    assert told[:3] == ["score", str(folder / "runs"), str(folder / "runs-seed2")]
    assert riskeval(*told, "-f", "csv").out == (folder / "comparison.csv").read_text()
    table = rows(folder / "comparison.csv")
    assert len(table) == 2 * (2 + 3 * 4)
    for row in table:
        values = over_seeds(folder)[row["run"]]
        assert float(row["mean"]) == pytest.approx(values.mean(), abs=1e-12)
        assert row["replicates"] == "2" and float(row["self_risk"]) <= 0


def over_seeds(folder: Path) -> dict[str, NDArray[np.float64]]:
    """By run, the mean of both seeds by query."""
    return {
        path.stem: np.mean(
            [scores(folder / of / path.name, folder / "qrels") for of in ("runs", "runs-seed2")],
            axis=0,
        )
        for path in (folder / "runs").iterdir()
    }


def test_the_table_on_stdout_is_that_of_the_folder(experiment: tuple[Path, Ran]) -> None:
    folder, done = experiment
    shown = list(csv.DictReader(done.out.splitlines(), delimiter="\t"))
    assert shown == rows(folder / "comparison.csv")


def test_p_values_are_those_of_paired_t_tests(experiment: tuple[Path, Ran]) -> None:
    """Of the means, and of the losses, from the run files alone; corrected a column by Holm's."""
    from scipy import stats

    folder, _ = experiment
    by_run = over_seeds(folder)
    lost = {name: np.maximum(by_run["baseline"] - values, 0) for name, values in by_run.items()}
    table = rows(folder / "comparators.csv")
    assert {row["run"] for row in table} == by_run.keys() - {"baseline"}
    for which, values in (("mean", by_run), ("risk", lost)):
        for suffix in ("plain", "blend"):
            column, corrected = f"p_{which}_{suffix}", {}
            for row in table:
                other = "plain" if suffix == "plain" else row["run"] + ".blend"
                assert bool(row[column]) == (other in by_run and other != row["run"])
                if row[column]:
                    expected = stats.ttest_rel(values[row["run"]], values[other]).pvalue
                    assert float(row[column]) == pytest.approx(expected, rel=1e-6)
                    corrected[float(row[column])] = float(row[f"{column}_adj"])
            shown = [float(row[column]) for row in table if row[column]]
            for p, adjusted in zip(sorted(shown), reference.holm(sorted(shown)), strict=True):
                assert corrected[p] == pytest.approx(adjusted)


def scores(path: Path, qrels: Path) -> NDArray[np.float64]:
    """The measure of every query with a relevant document, by the reference."""
    grades: dict[str, dict[str, int]] = {}
    for line in qrels.read_text().splitlines():
        topic, _, docno, grade = line.split()
        grades.setdefault(topic, {})[docno] = int(grade)
    ranked: dict[str, dict[str, float]] = {}
    for line in path.read_text().splitlines():
        topic, _, docno, _, score, _ = line.split()
        ranked.setdefault(topic, {})[docno] = float(score)
    return np.array([
        reference.ndcg_exp(reference.rank(ranked[topic]), grades[topic], 10)
        for topic in grades if max(grades[topic].values()) > 0
    ])  # fmt: skip


def test_runs_never_tie(experiment: tuple[Path, Ran]) -> None:
    folder, _ = experiment
    for path in [*(folder / "runs").iterdir(), *(folder / "runs-seed2").iterdir()]:
        seen: dict[str, list[float]] = {}
        for line in path.read_text().splitlines():
            topic, _, _, rank, score, tag = line.split()
            assert tag == path.stem
            seen.setdefault(topic, []).append(reference.to_single(float(score)))
            assert int(rank) == len(seen[topic])
        assert len(seen) == 30
        for falling in seen.values():
            assert all(a > b for a, b in itertools.pairwise(falling))


def test_the_folder_holds_all_that_was_promised(experiment: tuple[Path, Ran]) -> None:
    folder, _ = experiment
    settings = json.loads((folder / "settings.json").read_text())
    assert settings["settings"]["models"] == ["plain", "urisk-1", "urisk-5", "tfaro-1", "tfaro-5"]
    assert settings["versions"]["lightgbm"] == lightgbm.__version__
    assert len(settings["inputs"]) == 6
    assert all(len(entry["sha256"]) == 64 for entry in settings["inputs"])
    models = rows(folder / "models" / "index.csv")
    assert len(models) == 2 * 2 * 5
    importance = rows(folder / "importance.csv")
    assert {row["feature"] for row in importance} == {"1", "2", "3", "4", "5", "6"}
    curve = rows(folder / "curve.csv")
    for model in models:
        mine = [row for row in curve if all(row[key] == model[key] for key in ("seed", "fold",
                "run")) and row["part"] == "valid"]  # fmt: skip
        figure = "mean" if model["run"] == "plain" else "urisk"
        best = max(mine, key=lambda row: float(row[figure]))
        assert (best["trees"], best[figure]) == (model["trees"], model["validation"])
    assert not list(folder.parent.glob(".*"))  # nothing is left beside it


def test_the_page_has_the_leaderboard_and_whether_training_pays(
    experiment: tuple[Path, Ran],
) -> None:
    """Every run in the data that the page computes with; p-values and coins in its last tables."""
    folder, _ = experiment
    page = (folder / "report.html").read_text(encoding="utf-8")
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    (measure,) = data["measures"]
    assert sorted(measure["runs"]) == sorted(path.stem for path in (folder / "runs").iterdir())
    assert measure["topics"] == sorted(measure["topics"], key=int)
    packed = base64.b64decode(measure["scores"])
    shown = np.frombuffer(packed, dtype="<f8").reshape(len(measure["runs"]), -1)
    means = {row["run"]: row["mean"] for row in rows(folder / "comparison.csv")}
    for name, values in zip(measure["runs"], shown, strict=True):
        assert values.mean() == pytest.approx(float(means[name]), abs=1e-12)
    assert len(data["envelope"]["inputs"]) == 6
    section = page.split("Does training for risk pay?</h2>")[1].split("</section>")[0]
    tests, equal = section.split("<table>")[1:]
    table = {row["run"]: row for row in rows(folder / "comparators.csv")}
    cells = tests.split(">urisk-5</th>")[1].split("</tr>")[0]
    for name in ("p_mean_plain", "p_risk_plain", "p_mean_blend", "p_risk_blend"):
        assert f">{p_value(float(table['urisk-5'][name + '_adj']))}</td>" in cells
    cells = equal.split(">urisk-5</th>")[1].split("</tr>")[0]
    assert f">{float(table['urisk-5']['equal_blend_diff']):.4f}</td>" in cells
    assert f">{p_value(float(table['urisk-5']['p_mean_equal_select_adj']))}</td>" in cells
    assert "Interesting range of α" in tests and "standard deviation over 2 seeds" in tests


def test_a_model_ranks_as_it_did_in_the_experiment(
    experiment: tuple[Path, Ran], data: Path, tmp_path: Path
) -> None:
    folder, _ = experiment
    pooled = ""
    for fold in (1, 2):
        model = folder / "models" / f"urisk-5-fold{fold}.txt"
        done = riskeval("rank", model, data / f"Fold{fold}" / "test.txt", "--tag", "urisk-5")
        assert done.code == 0, done.err
        pooled += done.out
    assert pooled == (folder / "runs" / "urisk-5.run").read_text()


def test_a_baseline_is_not_replaced_even_if_the_model_starts_from_none(
    experiment: tuple[Path, Ran], data: Path, tmp_path: Path
) -> None:
    model, run = experiment[0] / "models" / "urisk-5-fold1.txt", tmp_path / "base.run"
    run.write_text("1 Q0 a 1 1 base\n")
    call = ("rank", model, data / "Fold1" / "test.txt", "-b", f"run:{run}", "-o", run)
    ran = riskeval(*call)
    assert ran.code == 2 and "is one of the inputs" in ran.err
    assert run.read_text() == "1 Q0 a 1 1 base\n"


@pytest.mark.parametrize(
    ("suffix", "change", "message"),
    [
        (".txt", lambda text: text.replace("tree_sizes=", "tree_sizes=1"), "not the model that"),
        (".json", lambda text: text.replace('"start_weight": 0', '"start_weight": 7'), "the hash"),
        (".json", lambda text: text.replace("content_sha256", "was"), "no hash|KeyError"),
        (".json", lambda text: "[" + text + "]", "not what riskeval train writes"),
    ],
)
def test_a_model_that_was_changed_is_refused_before_it_is_loaded(
    experiment: tuple[Path, Ran], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    suffix: str, change: Callable[[str], str], message: str,
) -> None:  # fmt: skip
    for each in (".txt", ".json"):
        text = (experiment[0] / "models" / f"urisk-5-fold1{each}").read_text()
        changed = change(text) if each == suffix else text
        assert (changed != text) == (each == suffix)
        (tmp_path / f"model{each}").write_text(changed)
    monkeypatch.setattr("lightgbm.Booster", None)
    ran = run_inside("rank", tmp_path / "model.txt", data / "Fold1" / "test.txt")
    assert (ran.code, ran.out) == (2, "") and re.search(f"model{suffix}: .*({message})", ran.err)


def test_the_tables_for_people_hold_the_tests_in_80_columns(data: Path, tmp_path: Path) -> None:
    done = riskeval("train", data / "Fold1", "-b", "feature:6", *SMALL, "--quiet", "-f", "table",
                    "-o", tmp_path / "out")  # fmt: skip
    figures, tests, equal = done.out.split("\n\n")
    table = {row["run"]: row for row in rows(tmp_path / "out" / "comparison.csv")}
    ours = {row["run"]: row for row in rows(tmp_path / "out" / "comparators.csv")}
    assert f"{float(table['urisk-1.blend']['urisk']):.4f}" in figures
    model = ours["urisk-1"]
    (line,) = [line for line in tests.splitlines() if line.startswith("urisk-1 ")]
    assert line.split()[1:] == [
        f"{float(model['chosen']):.3g}",
        *(
            text
            for other in ("plain", "blend")
            for text in (
                p_value(float(model[f"p_mean_{other}_adj"])),
                f"{float(model[f'risk_diff_{other}']):.4f}",
                p_value(float(model[f"p_risk_{other}_adj"])),
            )
        ),
    ]
    for other in ("plain", "urisk-1.blend"):
        difference = float(table["urisk-1"]["risk"]) - float(table[other]["risk"])
        found = float(model[f"risk_diff_{other.rpartition('.')[2]}"])
        assert found == pytest.approx(difference)
    (line,) = [line for line in equal.splitlines() if line.startswith("urisk-1 ")]
    shown = ["equal_blend_risk", "equal_blend_diff", "p_mean_equal_blend_adj",
             "equal_select_risk", "equal_select_diff", "p_mean_equal_select_adj",
             "equal_coin_diff"]  # fmt: skip
    risk, *others = line.split()[1:]  # beside the risks that come nearest to it
    assert float(risk) == pytest.approx(float(table["urisk-1"]["risk"]), abs=5e-5)
    for text, name in zip(others, shown, strict=True):
        assert float(text) == pytest.approx(float(model[name]), abs=5e-3), name
    plain, baseline, row = (table[name] for name in ("plain", "baseline", "urisk-1"))
    for way in ("blend", "select", "coin"):
        difference = float(row["mean"]) - float(model[f"equal_{way}_mean"])
        assert float(model[f"equal_{way}_diff"]) == pytest.approx(difference)
    chance = min(1.0, float(row["risk"]) / float(plain["risk"]))
    mean = chance * float(plain["mean"]) + (1 - chance) * float(baseline["mean"])
    assert float(model["equal_coin_mean"]) == pytest.approx(mean)
    assert float(model["equal_coin_risk"]) == pytest.approx(chance * float(plain["risk"]))
    ends = re.findall(r"(\d+\.\d) on\s+(training|validation) queries", tests)
    assert {name: end for end, name in ends} == {
        name: f"{end:.1f}" for name, end in gain_over_risk(data / "Fold1", tmp_path / "out").items()
    }


def gain_over_risk(fold: Path, folder: Path) -> dict[str, float]:
    """Of the plain model against feature 6, from rankings, by the reference."""
    found = {}
    for name, file in (("training", "train"), ("validation", "vali")):
        documents = read_features(fold / f"{file}.txt")
        plain, _ = parse_source(f"model:{folder / 'models' / 'plain-fold1.txt'}").scores(documents)
        deltas = []
        for query in range(len(documents.topics)):
            own = np.flatnonzero(documents.query_of == query)
            grades = {str(n): int(documents.grades[n]) for n in own}
            if max(grades.values()) > 0:
                model, baseline = (
                    reference.ndcg_exp([str(n) for n in own[np.argsort(-scores[own])]], grades, 10)
                    for scores in (plain, documents.column(6))
                )
                deltas.append(model - baseline)
        found[name] = sum(deltas) / -sum(delta for delta in deltas if delta < 0)
    return found


@pytest.mark.parametrize("pool", ["max", "mean"])
def test_several_baselines_are_pooled_in_the_table_too(
    data: Path, tmp_path: Path, pool: str
) -> None:
    """And the note below it has the command that says the same of the runs."""
    done = run_inside(
        "train", data / "Fold1", "-b", "feature:6", "-b", "feature:1", "--pool", pool, "-a", "5",
        "--trees", "4", "--param", "min_data_in_leaf=10", "-o", tmp_path / "my out", "-f", "csv",
    )  # fmt: skip
    (command,) = re.findall(r"riskeval (score .*)", done.err)
    scored = run_inside(*shlex.split(command), "-f", "csv")
    assert scored.code == 0, scored.err
    assert scored.out == done.out
    page = (tmp_path / "my out" / "report.html").read_text()
    assert f"{pool}(baseline1,baseline2)" in page


def test_too_few_documents_for_a_leaf_are_told(data: Path, tmp_path: Path) -> None:
    call = ("train", data / "Fold1", "-b", "feature:6", "-o", tmp_path / "out", "--param")
    done = run_inside(*call, "min_child_samples=200")
    assert done.code == 2 and not (tmp_path / "out").exists()
    assert (
        "no feature splits the training documents into two leaves of min_data_in_leaf" in done.err
    )
    done = run_inside(*call, "num_leaves=1")
    assert done.code == 2
    assert done.err.splitlines()[-1] == "riskeval: LightGBM: Check failed: (num_leaves) > (1)"


def test_validation_queries_that_are_trained_on_are_told(data: Path, tmp_path: Path) -> None:
    train, test = data / "Fold1" / "train.txt", data / "Fold1" / "test.txt"
    done = run_inside("train", train, "--valid", train, "--test", test, "-b", "feature:6",
                      "--trees", "2", "-o", tmp_path / "out")  # fmt: skip
    assert "warning: train.txt shares 40 queries with the training data, such as 1:" in done.err


def test_parameters_come_from_a_file_and_the_line_wins(data: Path, tmp_path: Path) -> None:
    (tmp_path / "lightgbm.conf").write_text("# mine\nnum_leaves = 4\nmin_data_in_leaf=5\n")
    call = ("train", data / "Fold1", "-b", "feature:6", "--trees", "3", "--quiet", "--param")
    done = riskeval(*call, f"@{tmp_path / 'lightgbm.conf'}", "--param", "min_data_in_leaf=7",
                    "--param", "tr=se", "--objective", "tsaro", "-o", tmp_path / "out")  # fmt: skip
    assert done.code == 0, done.err
    used = json.loads((tmp_path / "out" / "settings.json").read_text())["settings"]["lightgbm"]
    assert (used["num_leaves"], used["min_data_in_leaf"]) == ("4", "7")
    booster = lightgbm.Booster(model_file=tmp_path / "out" / "models" / "tsaro-se-1-fold1.txt")
    assert max(tree["num_leaves"] for tree in booster.dump_model()["tree_info"]) == 4
    (tmp_path / "bad.conf").write_text("num_leaves = 4\nnonsense\n")
    done = riskeval(*call, f"@{tmp_path / 'bad.conf'}", "-o", tmp_path / "other")
    assert done.code == 2 and "bad.conf:2: found 'nonsense', expected name=value" in done.err


def test_the_same_call_gives_the_same_bytes(data: Path, tmp_path: Path) -> None:
    call = ("train", data / "all.txt", "--folds", "3", "-b", "feature:6", *SMALL, "--quiet")
    for name in ("one", "two"):
        assert riskeval(*call, "-o", tmp_path / name).code == 0
    for path in sorted((tmp_path / "one").rglob("*.*")):
        other = tmp_path / "two" / path.relative_to(tmp_path / "one")
        assert path.is_dir() or path.read_bytes() == other.read_bytes()
    topics = {line.split()[0] for line in (tmp_path / "one" / "qrels").read_text().splitlines()}
    assert len(topics) == 60  # each query is a test query once


def test_several_baselines_of_all_kinds(
    experiment: tuple[Path, Ran], data: Path, tmp_path: Path
) -> None:
    folder, _ = experiment
    model = folder / "models" / "plain-fold2.txt"
    run = tmp_path / "old.run"
    lines = []
    for name in ("train", "vali", "test"):
        found = riskeval("rank", model, data / "Fold1" / f"{name}.txt", "--tag", "old")
        lines += found.out.splitlines(keepends=True)
    run.write_text("".join(lines[:-1]))  # the last document of all is not in it
    done = riskeval(
        "train", data / "Fold1", "-b", "feature:6", "-b", f"run:{run}", "-b", f"model:{model}",
        "--objective", "georisk", "--objective", "urisk", "--pool", "each", *SMALL,
        "--param", "marginals=exact", "-o", tmp_path / "out", "-f", "csv",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "old.run lacks 1 document of test.txt" in done.err
    assert "was trained on" not in done.err  # on the other fold
    scored = riskeval(
        "score", tmp_path / "out" / "runs", "-q", tmp_path / "out" / "qrels", "-b", "baseline*",
        "-m", MEASURE, "-f", "csv",
    )  # fmt: skip
    assert scored.out == done.out
    models = [name + way for name in ("georisk-exact-1", "urisk-1")
              for way in ("", ".blend", ".select")]  # fmt: skip
    shown = {row["run"] for row in csv.DictReader(done.out.splitlines())}
    assert shown == {"baseline1", "baseline2", "baseline3", "plain", *models}
    listed = [row["run"] for row in rows(tmp_path / "out" / "comparators.csv")]
    assert listed == ["plain", *models]


def test_a_start_from_the_baseline_is_chosen_on_validation_data(data: Path, tmp_path: Path) -> None:
    done = riskeval(
        "train", data / "Fold1", "-b", "feature:6", *SMALL, "--start", "1", "--start", "3",
        "-a", "5", "-o", tmp_path / "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    models = {row["run"]: row for row in rows(tmp_path / "out" / "models" / "index.csv")}
    cold = riskeval("train", data / "Fold1", "-b", "feature:6", *SMALL, "-a", "5",
                    "-o", tmp_path / "cold")  # fmt: skip
    assert cold.code == 0
    for row in rows(tmp_path / "cold" / "models" / "index.csv"):
        assert float(models[row["run"]]["validation"]) >= float(row["validation"])
    warm = [name for name, row in models.items() if float(row["start_weight"])]
    assert warm  # or nothing below would be tried
    for name in warm:
        model = tmp_path / "out" / "models" / f"{name}-fold1.txt"
        ranked = riskeval("rank", model, data / "Fold1" / "test.txt", "--tag", name)
        assert ranked.out == (tmp_path / "out" / "runs" / f"{name}.run").read_text()
        documents = read_features(data / "Fold1" / "test.txt")
        places, _ = parse_source(f"model:{model}").scores(documents)  # as a baseline, too
        order = best_first(documents, places)
        listed = [line.split()[2] for line in ranked.out.splitlines()]
        assert [documents.docnos[document] for document in order] == listed


def test_a_baseline_that_has_seen_these_queries_is_told(
    experiment: tuple[Path, Ran], data: Path, tmp_path: Path
) -> None:
    """A model of the first fold on that fold; of the second fold's queries it has seen none."""
    model = experiment[0] / "models" / "plain-fold1.txt"
    call = ("-b", f"model:{model}", "--trees", "2", "--objective", "urisk", "-o")
    done = run_inside("train", data / "Fold1", *call, tmp_path / "seen")
    assert done.code == 0, done.err
    for name in ("train.txt", "vali.txt"):
        assert f"model:{model} was trained on queries of {name}" in done.err
    assert "test.txt" not in done.err
    done = run_inside("train", data / "Fold2", *call, tmp_path / "unseen")
    assert done.code == 0 and "was trained on" not in done.err


def judged(data: Path, *sources: str) -> tuple[JudgedQueries, NDArray[np.float64]]:
    """All queries against these baselines, and the scores of a model that is none of them."""
    features = read_features(data / "all.txt")
    places = {text: parse_source(text).scores(features)[0] for text in sources}
    queries = Queries(features.grades, features.sizes, swap_measure(), ties="file")
    plain = features.column(2) - 0.5 * features.column(6)
    return JudgedQueries(RankedDocuments(features, places), queries), plain


@pytest.mark.parametrize("sources", [["feature:6"], ["feature:6", "feature:1", "feature:3"]])
def test_comparators_are_as_risky_as_the_model_on_validation_queries(
    data: Path, sources: list[str]
) -> None:
    """Between the risk of what they fall back on, 0 for a single baseline, and the model's own."""
    valid, plain = judged(data, *sources)
    part, matching = valid.part, RiskMatcher(valid, plain)
    most, least = valid.risk(blended(part, plain, 0.0)), valid.risk(part.start)
    assert most == pytest.approx(valid.risk(plain))
    assert (least == 0) == (len(sources) == 1) and least < most / 2
    for share in (0.0, 0.3, 0.7, 1.0):
        risk = least + share * (most - least)
        weight = matching.weight(risk)
        assert valid.risk(blended(part, plain, weight)) == pytest.approx(risk, abs=0.02)
        scores = selected(part, plain, "6", matching.threshold("6", risk))
        assert valid.risk(scores) == pytest.approx(risk, abs=0.02)
        assert matching.chance(risk) == pytest.approx(share)
    assert (matching.chance(least - 1), matching.chance(most + 1)) == (0, 1)


def test_at_equal_risk_the_blend_and_the_selection_are_as_risky_on_these_queries(
    data: Path,
) -> None:
    queries, plain = judged(data, "feature:6")
    matching, most = RiskMatcher(queries, plain), queries.risk(plain)
    for share in (0.2, 0.6, 1.0):
        found = matching.at_risk(share * most, "6")
        assert found.selection is not None
        for values in (found.blend, found.selection):
            assert mean_loss(values, queries.baseline) == pytest.approx(share * most, abs=0.02)
        assert found.chance == pytest.approx(share)
    assert found.blend == pytest.approx(queries.effectiveness(plain))
    assert matching.at_risk(most, None).selection is None


def test_figures_at_equal_risk_are_over_the_queries_of_all_folds() -> None:
    from scipy import stats

    random = np.random.default_rng(2)
    names, sizes = ("baseline", "plain", "urisk-1"), (30, 50)
    made = {name: [random.random(size) for size in sizes] for name in names}
    equal = [EqualRisk(random.random(size), random.random(size), 0.25) for size in sizes]
    plan = Plan([lambda: pytest.fail("not read")] * 2, [parse_source("feature:1")],
                [ModelSpec("urisk", 1.0)], Settings())  # fmt: skip
    outcome = Outcome(plan, fallback=made["baseline"], equal={"urisk-1": equal})
    row = compared(outcome, made).rows[-1]
    baseline, plain, model = (np.concatenate(made[name]) for name in names)
    for way, values in (
        ("blend", np.concatenate([fold.blend for fold in equal])),
        (
            "select",
            np.concatenate([fold.selection for fold in equal if fold.selection is not None]),
        ),
    ):
        assert row[f"equal_{way}_mean"] == pytest.approx(values.mean())
        lost = np.maximum(baseline - values, 0).mean()
        assert row[f"equal_{way}_risk"] == pytest.approx(lost)
        p = stats.ttest_rel(model, values).pvalue
        assert row[f"p_mean_equal_{way}"] == row[f"p_mean_equal_{way}_adj"] == pytest.approx(p)
    assert row["equal_coin_mean"] == pytest.approx((plain + 3 * baseline).mean() / 4)
    assert row["equal_coin_risk"] == pytest.approx(np.maximum(baseline - plain, 0).mean() / 4)
    del equal[1]  # a fold that was not reached
    assert compared(outcome, made).rows[-1]["equal_blend_mean"] is None


def compared(
    outcome: Outcome, made: dict[str, list[NDArray[np.float64]]], alphas: tuple[float, ...] = (1.0,)
) -> ModelComparison:
    """An outcome whose test runs have these values in each fold."""
    values = np.array([np.concatenate(folds) for folds in made.values()])
    topics = tuple(str(number) for number in range(values.shape[1]))
    outcome.topics = list(topics)
    outcome.runs = {1: {name: RunScores([*folds], [1.0] * len(folds)) for name, folds in
                        made.items()}}  # fmt: skip
    matrix = ScoreMatrix(MEASURE, tuple(made), topics, values)
    options = Options(tuple(outcome.plan.baselines), alphas=alphas)
    whole = Evaluation((matrix,))
    return ModelComparison(outcome, [whole], whole, risk_table(matrix, options=options))


def test_queries_at_the_threshold_are_re_ranked(data: Path) -> None:
    """Those whose highest value is the threshold or below it, and no others."""
    queries, plain = judged(data, "feature:6")
    part = queries.part
    values = highest(part.features, "6")
    threshold = float(np.sort(values)[len(values) // 2])
    scores = selected(part, plain, "6", threshold)
    for query, value in enumerate(values):
        own = part.features.query_of == query
        expected = plain if value <= threshold else part.start
        assert (np.argsort(scores[own]) == np.argsort(expected[own])).all()


def test_a_coin_flip_is_the_mean_over_flips() -> None:
    """Two folds, each with a chance of its own, against two baselines: 20,000 flips of the coin."""
    random = np.random.default_rng(1)
    names, sizes, chances = ("baseline1", "baseline2", "plain", "urisk-1"), (30, 50), [0.3, 0.8]
    made = {name: [random.choice([0.0, 0.2, 0.5, 0.9], size) for size in sizes] for name in names}
    fallback = [(one + two) / 2 for one, two in zip(made["baseline1"], made["plain"], strict=True)]
    sources = [parse_source("feature:1"), parse_source("feature:2")]
    plan = Plan(
        [lambda: pytest.fail("not read")] * 2, sources, [ModelSpec("urisk", 1.0)], Settings()
    )
    outcome = Outcome(plan, fallback=fallback, coins={"urisk-1": chances})
    row = compared(outcome, made).rows[-1]
    chance = np.repeat(chances, sizes)
    flips = random.random((20000, 80)) < chance
    baseline = (np.concatenate(made["baseline1"]) + np.concatenate(made["baseline2"])) / 2
    drawn = np.where(flips, np.concatenate(made["plain"]), np.concatenate(fallback))
    assert (row["run"], row["coin_chance"]) == ("urisk-1", 0.55)
    lost = np.maximum(baseline - drawn, 0)
    for name, values in (("mean", drawn.mean(axis=1)), ("risk", lost.mean(axis=1))):
        error = values.std() / np.sqrt(len(values))
        assert row[f"coin_{name}"] == pytest.approx(values.mean(), abs=4 * error), name


REFUSED = {
    "no data for tests": (["all.txt", "-b", "feature:6"], "validation and test data are needed"),
    "baseline": (["Fold1", "-b", "bm25"], "baseline is 'bm25', expected feature:<number or name>"),
    "feature": (["Fold1", "-b", "feature:7"], "there is no feature '7'; it has 6"),
    "no run": (["Fold1", "-b", "run:absent.run"], "absent.run: unreadable"),
    "no model": (["Fold1", "-b", "model:absent.txt"], "absent.txt: unreadable"),
    "bad model": (["Fold1", "-b", "model:all.txt"], "all.txt: bad-model"),
    "measure": (["Fold1", "-b", "feature:6", "-m", "P@10"], "P@10 cannot be trained for"),
    "folds": (["all.txt", "--folds", "2", "-b", "feature:6"], "--folds is 2, expected from 3"),
    "both": (["Fold1", "--folds", "3", "-b", "feature:6"], "a folder is a fold with all"),
    "same fold twice": (["Fold1", "Fold1", "-b", "feature:6"], "is a test query of folds 1 and 2"),
    "objective": (["Fold1", "-b", "feature:6", "--param", "objective=x"], "cannot be set"),
    "lambdarank": (
        ["Fold1", "-b", "feature:6", "--param", "lambdarank_norm=false"],
        "lambdarank_norm has no effect",
    ),
    "of no objective": (
        ["Fold1", "-b", "feature:6", "--objective", "urisk", "--param", "tr=se"],
        "--param: tr has no effect on urisk",
    ),
    "least hessian": (
        ["Fold1", "-b", "feature:6", "--param", "min_sum_hessian_in_leaf=0"],
        "expected more than 0",
    ),
    "param": (["Fold1", "-b", "feature:6", "--param", "x"], "found 'x', expected name=value"),
    "own test": (
        ["Fold1/train.txt", "--valid", "Fold1/vali.txt", "--test", "Fold1/train.txt", "-b",
         "feature:6"],
        "is a training or validation query too",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_wrong_requests_are_refused_before_anything_is_written(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: list[str], message: str
) -> None:
    monkeypatch.chdir(data)
    done = run_inside("train", *call, "-o", tmp_path / "out", "--trees", "2")
    assert done.code == 2, done.err
    assert message in done.err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_holds_something_is_never_overwritten(
    experiment: tuple[Path, Ran], data: Path, tmp_path: Path
) -> None:
    call = ("train", data / "Fold1", "-b", "feature:6", *SMALL)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    done = run_inside(*call, "-o", tmp_path / "mine", "--replace")
    assert done.code == 2 and "holds something else" in done.err
    done = run_inside(*call, "-o", experiment[0])
    assert done.code == 2 and "--replace writes over it" in done.err
    check_folder(experiment[0], replace=True)
    for name in ("thesis.txt", "notes/day.md", "runs/mine.run", "models/mine-fold1.txt"):
        mine = experiment[0] / name
        mine.parent.mkdir(exist_ok=True)
        mine.write_text("x")
        done = run_inside(*call, "-o", experiment[0], "--replace")
        mine.unlink()
        assert done.code == 2 and f"holds 1 file from elsewhere ({name})" in done.err
    (experiment[0] / "notes").rmdir()


def test_what_is_read_is_not_replaced(
    experiment: tuple[Path, Ran], data: Path, tmp_path: Path
) -> None:
    folder, _ = experiment
    old = folder / "runs" / "baseline.run"
    before = old.read_bytes()
    done = run_inside(
        "train", data / "Fold1", "-b", f"run:{old}", "-o", folder, "--replace", *SMALL
    )
    assert done.code == 2 and "baseline.run is one of the inputs" in done.err
    assert old.read_bytes() == before and (folder / "settings.json").is_file()
    model, features = tmp_path / "model.txt", tmp_path / "features.txt"
    model.write_bytes((folder / "models" / "plain-fold1.txt").read_bytes())
    features.write_bytes((data / "Fold1" / "test.txt").read_bytes())
    for output in (model, features):
        before = output.read_bytes()
        done = run_inside("rank", model, features, "-o", output)
        assert done.code == 2 and f"{output} is one of the inputs" in done.err
        assert output.read_bytes() == before
    for _ in range(2):  # a run may take the place of a run
        assert run_inside("rank", model, features, "-o", tmp_path / "out.run").code == 0


def test_without_lightgbm_the_message_names_the_extra(data: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['lightgbm'] = None\n"
        f"sys.argv = ['riskeval', 'train', {str(data / 'Fold1')!r}, '-b', 'feature:6', "
        f"'-o', {str(tmp_path / 'out')!r}]\n"
        "from riskcli.__main__ import main\nmain()\n"
    )
    done = python(code)
    assert done.code == 2
    assert "pip install '.[learn]'" in done.err


def test_nothing_else_imports_lightgbm() -> None:
    done = python(
        "import sys, riskcli, riskcli.learn, riskcli.commands\n"
        "for name in riskcli.commands.COMMANDS: riskcli.commands.load_command(name)\n"
        "print('lightgbm' in sys.modules)"
    )
    assert done.out.strip() == "False", done.err


def test_ctrl_c_keeps_the_best_so_far(data: Path, tmp_path: Path) -> None:
    """In the middle of the first model: it is kept, and the table compares it with the baseline."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [PROGRAMS / "riskeval", "train", data / "Fold1", "-b", "feature:6", "--trees", "100000",
         "--patience", "100000", "--param", "num_threads=1", "-o", tmp_path / "out"],
        env=terminal_environment(), stderr=follower, stdout=subprocess.PIPE,
    )  # fmt: skip
    os.close(follower)
    seen = b""
    while b"trees" not in seen:  # the line of progress, with the time left
        seen += os.read(leader, 4096)
    assert b"left" in seen
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    os.close(leader)
    assert process.returncode == 130
    settings = json.loads((tmp_path / "out" / "settings.json").read_text())
    assert settings["interrupted"] is True
    (model,) = rows(tmp_path / "out" / "models" / "index.csv")
    booster = lightgbm.Booster(model_file=tmp_path / "out" / "models" / "plain-fold1.txt")
    assert booster.num_trees() == int(model["trees"]) >= 1
    shown = [row["run"] for row in csv.DictReader(out.decode().splitlines(), delimiter="\t")]
    assert sorted(shown) == ["baseline", "plain"]


def test_what_is_complete_is_compared_when_the_second_fold_is_interrupted(data: Path) -> None:
    """After its first model, so the second seed has no run on all queries."""
    folds = find_folds([data / "Fold1", data / "Fold2"], None, None, None, 1)
    settings = Settings(trees=2, params={"min_data_in_leaf": 10, "num_threads": 1})
    specs = [ModelSpec("urisk", 1.0)]
    plan = Plan(folds, [parse_source("feature:6")], specs, settings, seeds=(1, 2))
    interrupts = Interrupts()

    def stop_at_the_ninth_tree(trees: int, total: int) -> None:
        assert total == 2 * 2 * 2 * 2
        interrupts.pressed = trees == 9

    outcome = run_experiment(plan, stop_at_the_ninth_tree, interrupts)
    assert outcome.interrupted
    comparison = compare_models(outcome, [1.0], {})
    assert sorted(row[0] for row in comparison.result().rows) == ["baseline", "plain"]
    (row,) = comparison.rows
    assert (row["run"], row["mean_sd"], row["p_mean_blend"]) == ("plain", None, None)


DOCUMENT = ROOT / "docs" / "learning.md"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-\d+)?")


def assert_alike(shown: str, printed: str) -> None:
    """The same words, and numbers that differ no more than processors make them."""
    assert NUMBER.sub("N", shown).split() == NUMBER.sub("N", printed).split()
    numbers = ([float(number) for number in NUMBER.findall(text)] for text in (shown, printed))
    assert next(numbers) == pytest.approx(next(numbers), rel=0.05, abs=0.01)


@pytest.mark.slow
def test_the_tutorial_leads_to_a_run_that_passes_the_gate(tmp_path: Path) -> None:
    """Every command of the document, in an empty folder; `!` before one that answers no."""
    text = DOCUMENT.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    assert sum("riskeval" in command for command in commands) >= 6
    (shown,) = re.findall(r"^```text\n(nDCG.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", command.removeprefix("! ")], cwd=tmp_path, capture_output=True,
            env={**terminal_environment(), "PYTHONPATH": str(ROOT)}, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == (1 if command.startswith("! ") else 0), done.stderr
        if command.startswith("riskeval train") and lightgbm.__version__.startswith("4.7."):
            begins = done.stdout.rindex(shown.splitlines()[0])
            assert_alike(shown, done.stdout[begins:])
    assert (tmp_path / "production.run").read_text().count("\n") == 120 * 20


def test_the_document_has_the_formulas_that_the_objectives_declare() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    for kind in OBJECTIVES.values():
        assert f"| {kind.declared.formula} | {kind.declared.source} |" in text
        assert f"`{kind.declared.id}`" in text
