"""Runs made into systems: averages by hand, who is left out, and what is refused in words."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcli import Options, ScoreMatrix, UsageError, evaluate, risk_table
from riskcli.core.messages import InputError
from riskcli.scores.comparisons import repeats_of
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.systems import Systems
from riskcli.scores.teams import read_systems, with_teams
from tests.helpers.program import QRELS, SAMPLES
from tests.helpers.strategies import Floats, score_values

SEEDS = r"^(.*)-s\d+$"
NAMES = ("new-s1", "new-s2", "old-s1", "old-s2", "bm25")


def matrix(names: tuple[str, ...] = NAMES, topics: int = 4, seed: int = 1) -> ScoreMatrix:
    values = np.random.default_rng(seed).random((len(names), topics))
    return ScoreMatrix("AP", names, tuple(map(str, range(topics))), values)


def test_a_system_is_the_mean_of_its_replicates_topic_by_topic() -> None:
    whole = matrix()
    made = whole.of_systems(SEEDS)
    assert made.runs == ("bm25", "new", "old") and made.topics == whole.topics
    by_hand = [
        whole.values[4].tolist(),
        [(a + b) / 2 for a, b in zip(*whole.values[:2].tolist(), strict=True)],
        [(a + b) / 2 for a, b in zip(*whole.values[2:4].tolist(), strict=True)],
    ]
    assert made.values.tolist() == by_hand
    assert made.axes.replicates["new"].runs == ("new-s1", "new-s2")
    assert (made.axes.replicates["new"].scores == whole.values[:2]).all()
    assert made.provenance.settings["replicates"] == {
        "new": ["new-s1", "new-s2"], "old": ["old-s1", "old-s2"]
    }  # fmt: skip
    (note,) = made.provenance.notes
    assert note.message == "one run, taken as always giving the same: bm25"


def test_the_whole_match_names_the_system_where_no_group_does() -> None:
    for pattern in ("^[a-z]+(?=-)", "re:^[a-z]+(?=-)", "^([a-z]+)-"):
        assert matrix().of_systems(pattern).runs == ("bm25", "new", "old")
    listed = {"new-s1": "N", "new-s2": "N", "old-s1": "", "bm25": "B"}
    assert matrix().of_systems(listed).runs == ("B", "N", "old-s1", "old-s2")


def test_unequal_numbers_are_balanced_in_natural_order_and_told() -> None:
    names = (*(f"a-s{n}" for n in (10, 2, 1, 9)), "b-s1", "b-s2", "c")
    made = matrix(names).of_systems(SEEDS)
    assert {name: each.runs for name, each in made.axes.replicates.items()} == {
        "a": ("a-s1", "a-s2"), "b": ("b-s1", "b-s2"), "c": ("c",)
    }  # fmt: skip
    left_out, alone = made.provenance.notes
    assert left_out.warning and left_out.message.endswith("left out: a-s9, a-s10")
    assert not alone.warning and alone.message.endswith("the same: c")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("(", r"the pattern of replicates '\(' is wrong"),
        ("", "makes no system of two or more of the 5 runs: bm25, new-s1"),
        ("^x", "makes no system .* 5 runs: bm25, new-s1, new-s2, old-s1, old-s2"),
        ("^(.*)$", "makes no system"),
        ("(s1)x?", None),
        ("(.).*s[12]$", None),
        ({"new-s1": "@mean", "new-s2": "@mean"}, "cannot be named '@mean': '@' marks"),
        ({"new-s1": "bm25"}, "'bm25' is a run of its own, and the system of new-s1: rename"),
        ({"new-s3": "n"}, "no run has that name; did you mean new-s"),
        ({"new-s1": "n"}, "the list of replicates makes no system .* bm25, new-s1 → n"),
    ],
)
def test_what_makes_no_systems_is_refused_with_names(
    given: str | dict[str, str], said: str | None
) -> None:
    if said is None:
        assert len(matrix().of_systems(given).runs) < 5
        return
    with pytest.raises(UsageError, match=said):
        matrix().of_systems(given)


def test_a_file_lists_systems(tmp_path: Path) -> None:
    listed = tmp_path / "systems.tsv"
    listed.write_text("system\trun\nN\tnew-s1\nN\tnew-s2\n\told-s1\n")
    assert read_systems(listed) == {"new-s1": "N", "new-s2": "N", "old-s1": ""}
    for text, said in (
        ("run,team\na,b\n", "the header is 'run,team', expected the columns run, system"),
        ("run,system\na\n", "found 1 columns"),
        ("run,system\na,b\na,c\n", "3: bad-teams: run 'a' is already listed on line 2"),
        ("\x00\xff", "bad-teams"),
    ):
        listed.write_text(text, encoding="latin-1")
        with pytest.raises(InputError, match=said):
            read_systems(listed)


@settings(max_examples=8, deadline=None)
@given(score_values(min_runs=5, max_runs=5), st.permutations(range(5)))
def test_the_order_of_runs_changes_nothing(values: Floats, order: list[int]) -> None:
    topics = tuple(map(str, range(values.shape[1])))
    whole = ScoreMatrix("AP", NAMES, topics, values)
    other = whole.of_runs(order)
    first, second = (
        risk_table(each.of_systems(SEEDS), "bm25", alpha=5.0) for each in (whole, other)
    )
    assert first.to_frame().equals(second.to_frame()) and str(first) == str(second)


@settings(max_examples=8, deadline=None)
@given(score_values(min_runs=3, max_runs=5, min_topics=3), st.sampled_from(["r0", "@mean"]))
def test_equal_replicates_are_exactly_one_run(values: Floats, baseline: str) -> None:
    """Every figure, and a floor of 0: three equal copies are no sample of anything."""
    runs = tuple(f"r{row}" for row in range(len(values)))
    topics = tuple(map(str, range(values.shape[1])))
    single = ScoreMatrix("AP", runs, topics, values)
    names = tuple(f"{run}-s{n}" for run in runs for n in (1, 2, 3))
    copies = ScoreMatrix("AP", names, topics, np.repeat(values, 3, axis=0))
    options = Options(baselines=(baseline,), alphas=(0.0, 5.0))
    one = risk_table(single, options=options).to_frame()
    many = risk_table(copies.of_systems(SEEDS), options=options).to_frame()
    assert many[one.columns].equals(one)
    assert (many["floor"].dropna() == 0).all() and (many["self_risk"] == 0).all()


def test_every_order_of_files_gives_the_same_bytes(tmp_path: Path) -> None:
    whole = matrix()
    for run, scores in zip(whole.runs, whole.values.tolist(), strict=True):
        cells = (f"{run},AP,{topic},{score!r}" for topic, score in enumerate(scores))
        (tmp_path / f"{run}.csv").write_text("\n".join(["run,measure,topic,score", *cells]) + "\n")
    files = sorted(tmp_path.iterdir())
    tables = {
        str(risk_table(evaluate(list(order)).of_systems(SEEDS), "old"))
        for order in list(permutations(files))[::30]
    }
    assert len(tables) == 1


def test_a_baseline_file_belongs_to_the_system_of_its_run() -> None:
    others = sorted(SAMPLES.glob("*.run"))
    base = next(path for path in others if "indriCASP" in path.name)
    whole = evaluate([path for path in others if path != base], qrels=QRELS, baselines=[str(base)])
    made = whole.of_systems(dict.fromkeys(("indriCASP", "caspPlus"), "casp"))
    assert made.added == {str(base): "casp"} and not made.files
    assert made.systems["indriCASP"] == "casp" and made.systems["oldTFIDF"] == "oldTFIDF"
    table = risk_table(made["ERR@20"], "casp")
    shares = whole["ERR@20"].judging
    averaged = made["ERR@20"].judging
    assert shares is not None and averaged is not None
    own = shares.shares(("indriCASP", "caspPlus"), shares.topics)
    assert averaged.shares(("casp",), shares.topics)[0] == pytest.approx(own.mean(axis=0))
    assert table.blocks[0].beside["judged"].shape == (len(made["ERR@20"].runs),)


def test_names_to_show_and_teams_are_of_systems() -> None:
    made = Evaluation((matrix(),)).of_systems(SEEDS)
    shown = with_teams(made, {"new": "red"}, {"new": "Ours"})
    assert shown.matrices[0].runs == ("Ours", "bm25", "old")
    assert shown.matrices[0].axes.replicates["Ours"].runs == ("new-s1", "new-s2")
    assert shown.systems["new-s1"] == "Ours"
    assert (risk_table(shown).blocks[0].beside["replicates"] == [2, 1, 2]).all()


def test_parts_of_a_matrix_keep_their_replicates() -> None:
    made = matrix().of_systems(SEEDS)
    part = made.of_runs([1, 0])
    some = replace(part, topics=("3", "1"), values=part.values[:, [3, 1]])
    repeats = repeats_of(some)
    assert repeats is not None and repeats.counts.tolist() == [2, 1]
    assert (repeats.each[0] == matrix().values[:2][:, [3, 1]]).all()
    other = replace(some, runs=("new", "elsewhere"))
    repeats = repeats_of(other)
    assert repeats is not None and (repeats.each[1] == other.values[1:]).all()


def test_systems_are_made_once_for_all_measures() -> None:
    systems = Systems.of(NAMES, SEEDS)
    assert systems.by_run["new-s2"] == "new" and systems.by_run["bm25"] == "bm25"
