"""Systems in every command: what is printed of their replicates, and what counts as lost."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from riskcli import Options, ScoreMatrix, UsageError, evaluate, judge, risk_table, topic_table
from riskcli.analyses.churn import churn_table
from riskcli.page.data import page_data
from riskcli.page.packing import packed
from riskcli.scores.comparisons import comparisons
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Key
from tests.helpers.strategies import Floats

SEEDS = r"^(.*)-s\d+$"
TOPICS = 40


def scores(shift: float = 0.0, noise: float = 0.08, seed: int = 1) -> dict[str, Floats]:
    """Three systems of one recipe, with 4, 4 and 3 replicates; a fourth is one run."""
    rng = np.random.default_rng(seed)
    easy = rng.uniform(0.3, 0.7, TOPICS)
    made = {
        f"{system}-s{n}": easy + rng.normal(0, noise, TOPICS) + (shift if system == "new" else 0)
        for system, size in (("new", 4), ("old", 4), ("alt", 3))
        for n in range(1, size + 1)
    }
    return {**made, "bm25": easy * 0.8}


def systems(**given: float) -> ScoreMatrix:
    made = scores(**given)  # type: ignore[arg-type]
    topics = tuple(map(str, range(TOPICS)))
    return ScoreMatrix("AP", tuple(made), topics, np.array([*made.values()])).of_systems(SEEDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as files of scores."""
    place = tmp_path_factory.mktemp("runs")
    for run, values in scores().items():
        cells = (f"{run},AP,{topic},{score!r}" for topic, score in enumerate(values.tolist()))
        (place / f"{run}.csv").write_text("\n".join(["run,measure,topic,score", *cells]) + "\n")
    return place


# ---------------------------------------------------------------- the risk table


def test_urisk_within_the_floor_is_said_and_beyond_it_not() -> None:
    table = risk_table(systems(), "old", alpha=5.0)
    frame = table.to_frame().set_index("run")
    (said,) = table.verdict.by("floor")
    within = [run for run in ("alt", "new") if frame["floor"][run] <= frame["urisk"][run] < 0]
    assert within and sorted(said.runs) == within and "bm25" not in said.runs
    assert said.numbers["urisk"] == tuple(frame["urisk"][run] for run in said.runs)
    assert re.search(r"^URisk .*no more than .*replicates alone make\.$", said.text)
    assert not set("αβγδ") & set(said.text)
    assert len(table.blocks[0].said) <= 3
    worse = risk_table(systems(shift=-0.2), "old", alpha=5.0).verdict.by("floor")
    assert all("new" not in each.runs for each in worse)
    assert not risk_table(systems(), "old", alpha=0.0).verdict.by("floor")  # nothing is below 0


def test_the_columns_and_both_conventions() -> None:
    options = Options(baselines=("old",), alphas=(1.0, 5.0))
    frame = risk_table(systems(), options=options).to_frame()
    added = ["replicates", "topic_sd", "seed_sd", "self_risk", "floor"]
    assert [*frame.columns[-5:]] == added
    low, high = (frame[frame["alpha"] == alpha].set_index("run") for alpha in (1.0, 5.0))
    assert low["replicates"].to_dict() == {"alt": 3, "bm25": 1, "new": 3, "old": 3}
    # URisk of noise alone is proportional to alpha
    for name in ("self_risk", "floor"):
        assert (high[name] / low[name]).dropna().to_numpy() == pytest.approx(5)
    assert np.isnan(low["self_risk"]["bm25"]) and np.isnan(low["floor"]["old"])
    expected = low["self_risk"]["old"] * np.sqrt(1 / 3 / 2)
    assert low["floor"]["bm25"] == pytest.approx(expected)
    minus = Options(baselines=("old",), alphas=(1.0,), convention="minus")
    turned = risk_table(systems(), options=minus).to_frame().set_index("run")
    assert turned["floor"].dropna().to_numpy() == pytest.approx(-low["floor"].dropna().to_numpy())
    each = Options(baselines=("old", "new"), pool="each", population="all")
    averaged = risk_table(systems(), options=each).to_frame()
    alone = averaged[averaged["baseline"] != "each(new,old)"].groupby("run")["floor"].mean()
    whole = averaged[averaged["baseline"] == "each(new,old)"].set_index("run")["floor"]
    assert whole.to_dict() == pytest.approx(alone.to_dict())


def test_runs_that_are_no_systems_have_neither_columns_nor_table(folder: Path) -> None:
    ran = riskeval("score", folder, "-b", "bm25", "-f", "json")
    document = json.loads(ran.out)
    assert "self_risk" not in ran.out and "variance" not in document
    refused = riskeval("score", folder, "-b", "bm25", "--columns", "run,floor")
    assert refused.code == 2 and "floor is known with --replicates" in refused.err


def test_the_table_of_replicates(folder: Path) -> None:
    call = ("score", folder, "-b", "old", "--replicates", SEEDS, "-a", "5")
    shown = riskeval(*call, "-f", "table", COLUMNS="100").out
    assert "AP: replicates, α = 5, floor against old" in shown
    assert "Replicates differ most on topics" in shown and "Variance of one score:" in shown
    document = json.loads(riskeval(*call, "-f", "json").out)
    rows = {each["run"]: each for each in document["rows"]}
    made = scores()
    for system in ("new", "old", "alt"):
        means = [made[f"{system}-s{n}"].mean() for n in (1, 2, 3)]
        average = np.mean([made[f"{system}-s{n}"] for n in (1, 2, 3)], axis=0)
        assert rows[system]["seed_sd"] == pytest.approx(np.std(means, ddof=1))
        assert rows[system]["topic_sd"] == pytest.approx(np.std(average, ddof=1))
        assert rows[system]["mean"] == pytest.approx(np.mean(means))
    assert rows["bm25"]["seed_sd"] is None
    assert document["variance"]["AP"]["seed_topic"] == pytest.approx(0.08**2, rel=0.3)
    assert document["settings"]["replicates"]["alt"] == ["alt-s1", "alt-s2", "alt-s3"]
    (flaky,) = (each for each in document["verdicts"] if each["rule"] == "flaky")
    assert flaky["topics"][0] in shown and len(flaky["topics"]) == 3
    assert "left out: new-s4, old-s4" in document["warnings"][0]["message"]
    some = riskeval(*call, "--columns", "run,replicates,self_risk,floor", "-f", "table").out
    assert "self_risk" in some and "Variance" not in some


# ---------------------------------------------------------------- what counts as lost


def test_a_topic_is_lost_beyond_its_noise_alone() -> None:
    matrix = systems()
    (comparison,) = comparisons(matrix, Options(baselines=("old",)))
    assert comparison.noise is not None
    row, old = matrix.runs.index("new"), matrix.runs.index("old")
    delta = matrix.values[row] - matrix.values[old]
    paired = comparison.paired
    assert paired.losses[row] == (delta < -comparison.noise[row]).sum() < (delta < 0).sum()
    assert paired.wins[row] == (delta > comparison.noise[row]).sum()
    assert paired.wins[row] + paired.ties[row] + paired.losses[row] == TOPICS
    assert comparison.losses20[row] <= paired.losses[row]
    alone = comparison.of_rows(slice(row, row + 1))
    assert (alone.ruined[0] == comparison.ruined[row]).all()
    # URisk and the mean are of the averages, as they are
    assert paired.gain[row] == pytest.approx(delta.mean())


def test_topics_has_the_spread_of_replicates(folder: Path) -> None:
    table = topic_table(systems(), "old")
    frame = table.to_frame()
    one = frame[(frame["run"] == "new") & (frame["topic"] == "7")]
    made = scores()
    expected = np.std([made[f"new-s{n}"][7] for n in (1, 2, 3)], ddof=1)
    assert one["repeat_sd"].item() == pytest.approx(expected)
    assert frame[frame["run"] == "bm25"]["repeat_sd"].isna().all()
    (said,) = topic_table(systems(), "old", runs="new").verdict.by("loses")
    (comparison,) = comparisons(systems(), Options(baselines=("old",)))
    assert said.numbers["losses"] == comparison.paired.losses[systems().runs.index("new")]
    call = ("topics", folder, "-b", "old", "--replicates", SEEDS, "--run", "new")
    assert "± repl." in riskeval(*call, "-f", "table").out
    refused = riskeval("topics", folder, "-b", "bm25", "--columns", "repeat_sd")
    assert refused.code == 2 and "repeat_sd is known with --replicates" in refused.err


def test_a_gate_blames_no_topic_for_noise() -> None:
    gate = judge(systems(), "old", rules=["losses <= 5"])
    verdict = next(each for each in gate.verdicts if each.candidate == "new")
    (comparison,) = comparisons(systems(), Options(baselines=("old",)))
    lost = comparison.paired.losses[systems().runs.index("new")]
    assert len(verdict.losses) == min(lost, 3)
    assert next(f for f in verdict.findings if f.rule == "losses <= 5").value == lost


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("topics", [1, 2, 3])
@pytest.mark.parametrize("values", ["random", "zero", "below 0"])
@pytest.mark.parametrize("baseline", ["a", "@max"])
def test_few_topics_and_odd_scores_are_no_trouble(topics: int, values: str, baseline: str) -> None:
    rng, names = np.random.default_rng(1), ("a-s1", "a-s2", "c")
    made = {
        "random": rng.random((3, topics)),
        "zero": np.zeros((3, topics)),
        "below 0": rng.normal(size=(3, topics)),
    }[values]
    matrix = ScoreMatrix("score", names, tuple(map(str, range(topics))), made).of_systems(SEEDS)
    for loss in ("linear", "smooth"):
        table = risk_table(matrix, baseline, options=Options(loss=loss))
        assert "replicates" in str(table)
        assert ("variance" in table.result().extra) == (topics > 2)


@pytest.mark.filterwarnings("error")
def test_single_runs_alone_have_no_noise() -> None:
    """Where the systems of several runs were left out, nothing is known of replicates."""
    matrix = ScoreMatrix("AP", ("a-s1", "a-s2", "b", "c"), ("1", "2", "3"), np.eye(4)[:, :3])
    table = risk_table(matrix.of_systems(SEEDS).of_runs([1, 2]), "b")
    assert not table.verdict.by("flaky") and table.to_frame()["self_risk"].isna().all()


def test_the_page_counts_as_the_table_does() -> None:
    table = risk_table(systems(), "old", alpha=5.0)
    (measure,) = page_data([systems()], [table])["measures"]
    (compared,) = measure["comparisons"]
    (comparison,) = comparisons(systems(), table.options)
    for name in ("wins", "ties", "losses"):
        shown = comparison.off_baseline(getattr(comparison.paired, name))
        assert compared[name] == packed(shown)
    assert any("replicates alone make" in text for text in compared["verdict"])
    assert "floor" in compared["tables"][0]["columns"]


# ---------------------------------------------------------------- commands


def test_repeats_are_one_candidate_and_its_mean_is_kept(folder: Path, tmp_path: Path) -> None:
    runs, kept = sorted(folder.glob("new*")), tmp_path / "state.json"
    call: tuple[str | Path, ...]
    call = ("check", *runs, "-b", folder / "bm25.csv", "--repeats", "-f", "json")
    document = json.loads(riskeval(*call).out)
    assert {row["candidate"] for row in document["rows"]} == {"new-s"}
    ran = riskeval("check", *runs, "--ratchet", kept, "--repeats", "-f", "json")
    assert ran.code == 0 and {row["candidate"] for row in json.loads(ran.out)["rows"]} == {"new-s"}
    made, (held,) = scores(), evaluate(kept).matrices
    expected = np.mean([made[f"new-s{n}"] for n in (1, 2, 3, 4)], axis=0)
    assert held.runs == ("accepted", "anchor") and held.values[0] == pytest.approx(expected)
    old = sorted(folder.glob("old*"))
    again = riskeval("check", *old, "--ratchet", kept, "--repeats", "-f", "json")
    assert again.code in (0, 1) and "old-s" in again.out
    both = riskeval(*call, "--replicates", SEEDS)
    assert both.code == 2 and "leave out --replicates" in both.err
    alone = riskeval("check", runs[0], "-b", folder / "bm25.csv", "--repeats")
    assert alone.code == 2 and "no system of two or more" in alone.err


def test_a_name_for_repeats_without_a_common_beginning(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "nightly"
    place.mkdir()
    for name, run in (("x", "new-s1"), ("y", "new-s2")):
        text = (folder / f"{run}.csv").read_text().replace(run, name)
        (place / f"{name}.csv").write_text(text)
    ran = riskeval("check", place, "-b", folder / "bm25.csv", "--repeats", "-f", "json")
    assert {row["candidate"] for row in json.loads(ran.out)["rows"]} == {"repeats"}


def test_a_file_of_systems_is_one_of_the_inputs(folder: Path, tmp_path: Path) -> None:
    listed = tmp_path / "systems.csv"
    listed.write_text("run,system\n" + "".join(f"new-s{n},N\n" for n in (1, 2, 3, 4)))
    ran = riskeval("score", folder, "-b", "bm25", "--replicates", listed, "-f", "json")
    document = json.loads(ran.out)
    (file,) = (each for each in document["inputs"] if each["kind"] == "replicates")
    assert file["path"] == "systems.csv" and len(file["sha256"]) == 64
    assert document["settings"]["replicates"] == {"N": [f"new-s{n}" for n in (1, 2, 3, 4)]}
    missing = riskeval("score", folder, "--replicates", tmp_path / "nothing.csv")
    assert (
        missing.code == 2
        and "nothing.csv' (and no file has that name) makes no system" in missing.err
    )


def test_documents_of_a_mean_are_refused_in_words() -> None:
    runs: tuple[str | Path, ...] = ("-q", QRELS, "-m", "AP")
    listed = {"caspPlus": "casp", "indriCASP": "casp"}
    bounds = riskeval("score", SAMPLES, *runs, "--unjudged", "bounds", "--replicates", "a|o")
    assert bounds.code == 2 and "a mean of replicates has no documents" in bounds.err
    files = (SAMPLES / "caspPlus.run", SAMPLES / "indriCASP.run")
    assert "No such option" in riskeval("diff", *files, "--replicates", "a").err
    evaluation = evaluate([SAMPLES], qrels=QRELS).of_systems(listed)
    with pytest.raises(UsageError, match="churn compares documents"):
        churn_table(evaluation, "casp")
    pool = riskeval("check", SAMPLES, *runs, "-b", "a", "--replicates", "a|o",
                    "--to-judge", "x.pool")  # fmt: skip
    assert pool.code == 2 and "has no documents" in pool.err


def test_neutral_names_hide_replicates(folder: Path, tmp_path: Path) -> None:
    ran = riskeval("score", folder, "-b", "old", "--replicates", SEEDS, "-f", "json",
                   Key("anonymise", tmp_path / "key.csv"))  # fmt: skip
    for hidden in ("new", "alt", "bm25", "old-s"):
        assert hidden not in ran.out + ran.err
    assert sorted(json.loads(ran.out)["settings"]["replicates"].values()) == [3, 3, 3]


def test_organise_writes_a_sheet_for_each_system(folder: Path, tmp_path: Path) -> None:
    ran = riskeval("organise", folder, "-b", "bm25", "--replicates", SEEDS, "-o", tmp_path / "p")
    assert ran.code == 0, ran.err
    sheets = sorted(path.stem for path in (tmp_path / "p" / "sheets").glob("*.txt"))
    assert sheets == ["alt", "bm25", "new", "old"]
    index = (tmp_path / "p" / "sheets" / "index.csv").read_text()
    assert "new,new.md,1,0" in index


@pytest.mark.parametrize("command", ["sweep", "significance", "population freeze", "matrix"])
def test_every_command_takes_systems(command: str, folder: Path, tmp_path: Path) -> None:
    words = command.split()
    more = [] if words[0] in ("population", "matrix") else ["-b", "old"]
    file = tmp_path / "out.json"
    ran = riskeval(*words, folder, *more, "--replicates", SEEDS, "-o", file)
    assert ran.code == 0, ran.err
    assert '"new"' in file.read_text() and "left out: new-s4, old-s4" in ran.err
