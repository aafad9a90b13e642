"""Populations kept in files: figures that depend on nothing but the run and the file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from riskcli import (
    InputError,
    Options,
    ScoreMatrix,
    Significance,
    UsageError,
    compare_pairs,
    explain_run,
    freeze,
    read_population,
    risk_table,
)
from riskcli.analyses.blocks import Block, risk_blocks
from riskcli.risk.population import Population
from riskcli.scores.comparisons import comparisons, frozen_members
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.teams import Teams
from tests.helpers import reference
from tests.helpers.examples import golden_matrix
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES
from tests.helpers.strategies import ALPHAS, Floats, named, score_values

UNCORRECTED = Significance(correction="none")


def frozen(values: Floats) -> FrozenPopulation:
    return freeze(named(values))


def block(matrix: ScoreMatrix, population: FrozenPopulation, alpha: float, *of: str) -> Block:
    options = Options(
        baselines=of, population=population, alphas=(alpha,), significance=UNCORRECTED
    )
    ((found,), _) = risk_blocks(matrix, options)
    return found


def block_of(matrix: ScoreMatrix, options: Options, teams: dict[str, str]) -> Block:
    plan = replace(options, teams=Teams(teams), significance=UNCORRECTED)
    ((found,), _) = risk_blocks(matrix, plan)
    return found


def figures(found: Block, run: str) -> dict[str, list[float]]:
    """All that the table says of a run by itself: no rank, and no p corrected for other runs."""
    row = found.runs.index(run)
    return {
        f"{name}.{part}": [float(cells[row])]
        for name, known in found.estimates.items()
        for part in ("value", "low", "high", "difference", "difference_error", "p")
        if (cells := getattr(known, part)) is not None
    }


def same(one: dict[str, list[float]], other: dict[str, list[float]]) -> None:
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


# ---------------------------------------------------------------- the law


@settings(max_examples=60, deadline=None)
@given(
    score_values(min_runs=3, min_topics=3),
    ALPHAS,
    st.sampled_from(["r0", "@mean", "@median"]),
    st.data(),
)
def test_a_runs_figures_depend_on_itself_and_the_file_alone(
    values: Floats, alpha: float, baseline: str, data: st.DataObject
) -> None:
    """Others join, leave, and are renamed: not a digit of the run's figures changes."""
    frozen_runs = data.draw(st.integers(1, len(values)))
    population = frozen(values[:frozen_runs])
    whole = named(values)
    kept = data.draw(st.sets(st.integers(1, len(values) - 1), min_size=1))
    rows = [0, *sorted(kept)]
    shown = {row: f"other{row}" if row and data.draw(st.booleans()) else f"r{row}" for row in rows}
    fewer = ScoreMatrix("score", tuple(shown.values()), whole.topics, values[rows])
    first, second = (
        block(whole, population, alpha, baseline),
        block(fewer, population, alpha, baseline),
    )
    for row, name in shown.items():
        same(figures(first, f"r{row}"), figures(second, name))


@given(score_values(min_runs=3, min_topics=2), ALPHAS)
def test_values_equal_brute_force(values: Floats, alpha: float) -> None:
    """Members in the totals of the members, anyone else in those totals and its own."""
    members = values[:-1]
    found = block(named(values), frozen(members), alpha, "r0")
    for row, run in enumerate(values):
        inside = any(run.tolist() == member.tolist() for member in members)
        matrix = members.tolist() if inside else [*members.tolist(), run.tolist()]
        at = matrix.index(run.tolist())
        expected = reference.zrisk(matrix, at, alpha)
        assert found.estimates["zrisk"].value[row] == pytest.approx(expected, abs=1e-9)
        expected = reference.georisk(matrix, at, alpha)
        assert found.estimates["georisk"].value[row] == pytest.approx(expected, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(score_values(min_runs=3, max_runs=4, min_topics=3, max_topics=6), ALPHAS)
def test_the_difference_and_its_error_equal_a_literal_jackknife(
    values: Floats, alpha: float
) -> None:
    """Leave a topic out of the file's totals and of the run's scores alike; then both again."""
    assume(values.any(axis=1).all())
    members, topics = values[:2].tolist(), values.shape[1]

    def theta(run: list[float], left: list[int]) -> float:
        matrix = [[row[q] for q in left] for row in members]
        mine = [run[q] for q in left]
        if run not in members:
            matrix.append(mine)
            return reference.theta(matrix, len(matrix) - 1, "georisk", alpha)
        return reference.theta(matrix, members.index(run), "georisk", alpha)

    found = block(named(values), frozen(values[:2]), alpha, "r0").estimates["georisk"]
    assert found.difference is not None and found.difference_error is not None
    every = list(range(topics))
    for row in range(1, len(values)):
        run, base = values[row].tolist(), values[0].tolist()
        plug_in = theta(run, every) - theta(base, every)
        left_out = [
            theta(run, left) - theta(base, left)
            for left in ([t for t in every if t != q] for q in every)
        ]
        mean = sum(left_out) / topics
        error = math.sqrt((topics - 1) / topics * sum((x - mean) ** 2 for x in left_out))
        assert found.difference[row] == pytest.approx(plug_in, abs=1e-9)
        assert found.difference_error[row] == pytest.approx(error, rel=1e-6, abs=1e-9)
        if error > 1e-6:
            assert found.p is not None
            expected = 2 * stats.t.sf(abs(plug_in / error), topics - 1)
            assert found.p[row] == pytest.approx(expected, rel=1e-5, abs=1e-12)


def test_one_frozen_run_is_table_4() -> None:
    """The population of one baseline and the run itself is SIGIR'16's special case."""
    values = golden_matrix()
    options = Options(baselines=("r0",), population="baselines", alphas=(5.0,))
    ((ruled,), _) = risk_blocks(named(values), options)
    filed = block(named(values), frozen(values[:1]), 5.0, "r0")
    for name in ("zrisk", "georisk"):
        assert filed.estimates[name].value.tolist() == ruled.estimates[name].value.tolist()


def test_the_runs_at_hand_frozen_are_the_population_of_all() -> None:
    values = golden_matrix()
    ((ruled,), _) = risk_blocks(named(values), Options(baselines=("r0",), alphas=(5.0,)))
    filed = block(named(values), frozen(values), 5.0, "r0")
    for name in ("zrisk", "georisk"):
        one, other = filed.estimates[name], ruled.estimates[name]
        for part in ("value", "low", "high", "difference", "difference_error", "p"):
            mine, theirs = getattr(one, part), getattr(other, part)
            assert mine == pytest.approx(theirs, nan_ok=True, rel=1e-12, abs=1e-14), part


def test_a_member_is_known_by_its_scores_whatever_it_is_called() -> None:
    values = golden_matrix()
    population = frozen(values)
    renamed = ScoreMatrix("score", ("base", "copy", "new"), named(values).topics,
                          np.array([values[0], values[1], values[1] * 0.5]))  # fmt: skip
    found = block(renamed, population, 1.0, "base")
    own = block(named(values), population, 1.0, "r0")
    same(figures(found, "copy"), figures(own, "r1"))
    totals = comparisons(renamed, Options(baselines=("base",), population=population))[0]
    assert totals.population.grand_total.tolist() == [
        pytest.approx(values.sum()), pytest.approx(values.sum()),
        pytest.approx(values.sum() + values[1].sum() / 2),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["@mean", "@median", "@max", "@min"])
def test_virtual_baselines_are_made_of_the_frozen_runs(name: str) -> None:
    values = golden_matrix()
    population = frozen(values[:4])
    (comparison,) = comparisons(named(values), Options(baselines=(name,), population=population))
    expected_scores = reference.virtual_baseline(
        values[:4].tolist(), cast(reference.Pool, name[1:])
    )
    assert comparison.baseline.scores == pytest.approx(expected_scores)
    found = block(named(values), population, 5.0, name).estimates["georisk"]
    expected = Population.of_all(values[:4]).georisk(5.0).mean()
    assert found.difference is not None
    assert found.value - found.difference == pytest.approx(np.full(6, expected))


def test_other_analyses_measure_in_the_file_too() -> None:
    values, population = golden_matrix(), frozen(golden_matrix()[:3])
    found = block(named(values), population, 1.0, "r0")
    options = Options(baselines=("r0",), population=population)
    explained = explain_run(named(values), run="r4", of="georisk", options=options)
    assert explained.steps[-1][1] == found.estimates["georisk"].value[4]
    pairs = compare_pairs(
        named(values), of=["georisk"], between="all", options=Options(population=population)
    )
    assert pairs.tables[0].values.tolist() == found.estimates["georisk"].value.tolist()
    rows = risk_table(named(values), options=options).to_frame()
    assert set(rows["population"]) == {population.name} and population.name.startswith("frozen:")


# ---------------------------------------------------------------- the file


def test_a_population_survives_its_file(tmp_path: Path) -> None:
    population = freeze(named(np.random.default_rng(3).random((5, 7))))
    path = tmp_path / "population.json"
    path.write_text(population.to_json(), encoding="utf-8")
    read = read_population(path)
    assert read.hash == population.hash
    matrix = named(np.random.default_rng(3).random((5, 7)))
    one, other = (frozen_members(each, matrix) for each in (population, read))
    assert one.rows.tolist() == other.rows.tolist()


def test_the_hash_is_of_everything_but_the_program(tmp_path: Path) -> None:
    text = freeze(named(golden_matrix())).to_json()
    path = tmp_path / "population.json"
    path.write_text(text.replace('"riskeval": "', '"riskeval": "9'), encoding="utf-8")
    read_population(path)
    changes = [
        ('"r0"', '"r9"'),
        ('"score"', '"ERR@20"'),
        ('"t3"', '"t33"'),
        ('"teams": {}', '"teams": {"r1": "a"}'),
    ]
    for before, after in changes:
        assert before in text
        path.write_text(text.replace(before, after, 1), encoding="utf-8")
        with pytest.raises(InputError, match="changed-population"):
            read_population(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(riskeval_population=0), "the file has format 0, this riskeval reads 1"),
        (lambda d: d.pop("measures"), "incomplete or damaged"),
        (lambda d: d["measures"][0].pop("runs"), "incomplete or damaged"),
        (lambda d: d["measures"][0]["runs"].update(r0=["x"] * 20), "incomplete or damaged"),
        (lambda d: d["measures"][0]["runs"]["r0"].pop(), "incomplete or damaged"),
        (lambda d: d["measures"][0].update(grand_total=1.0), "changed after it was frozen"),
        (lambda d: d["measures"][0]["topic_totals"].__setitem__(0, 9.0), "changed after"),
        (lambda d: d.pop("riskeval_population"), "not a population file: expected the JSON"),
    ],
)
def test_a_file_that_is_wrong_is_refused(
    tmp_path: Path, change: Callable[[Any], object], message: str
) -> None:
    document = json.loads(freeze(named(golden_matrix())).to_json())
    change(document)
    path = tmp_path / "population.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_population(path)


def test_what_does_not_fit_is_refused_and_named() -> None:
    values = golden_matrix()
    population, matrix = frozen(values), named(values)
    other = ScoreMatrix("AP", matrix.runs, matrix.topics, values)
    with pytest.raises(UsageError, match="holds score, the scores are AP"):
        risk_table(other, options=Options(population=population))
    fewer = ScoreMatrix("score", matrix.runs, (*matrix.topics[:-1], "zz"), values)
    with pytest.raises(UsageError, match=r"missing here: t19; not in the population: zz"):
        risk_table(fewer, options=Options(population=population))
    with pytest.raises(UsageError, match="fitted to the runs given"):
        risk_table(matrix, options=Options(population=population, loss="smooth:fit"))
    with pytest.raises(UsageError, match=r"needs scores of at least 0: run r0 has -0\.44"):
        freeze(named(values - 0.5))


def test_topics_in_another_order_are_the_same_population() -> None:
    values = golden_matrix()
    population = frozen(values)
    matrix = named(values)
    order = np.random.default_rng(2).permutation(len(matrix.topics))
    mixed = ScoreMatrix(
        "score", matrix.runs, tuple(matrix.topics[i] for i in order), values[:, order]
    )
    one, other = (
        block(each, population, 5.0, "r0").estimates["georisk"] for each in (matrix, mixed)
    )
    assert one.value == pytest.approx(other.value)


# ---------------------------------------------------------------- the commands


def test_freeze_and_score_through_the_program(tmp_path: Path) -> None:
    path, call = tmp_path / "population.json", (SAMPLES, "-q", QRELS, "-m", "ERR@20", "--quiet")
    assert riskeval("population", "freeze", *call, "-o", path).code == 0
    assert riskeval("population", "freeze", *call).out == path.read_text(encoding="utf-8")
    shown = json.loads(riskeval("population", "show", path, "-f", "json").out)
    assert len(shown["rows"]) == 9 and len(shown["settings"]["hash"]) == 64
    whole = riskeval("score", *call, "--population", path, "-b", "indriCASP", "-f", "json")
    document = json.loads(whole.out)
    assert document["settings"]["population"] == f"frozen:{shown['settings']['hash']}"
    some = [SAMPLES / f"{name}.run" for name in ("oldTFIDF", "indriCASP")]
    alone = json.loads(
        riskeval(
            "score", *some, *call[1:], "--population", path, "-b", "indriCASP", "-f", "json"
        ).out
    )
    before = {row["run"]: row for row in document["rows"]}
    for row in alone["rows"]:
        for name in (
            "zrisk",
            "zrisk_lo",
            "zrisk_diff",
            "zrisk_p",
            "georisk",
            "georisk_hi",
            "georisk_p",
        ):
            assert row[name] == before[row["run"]][name], name


def test_each_command_takes_a_population_file(tmp_path: Path) -> None:
    path, call = tmp_path / "population.json", (SAMPLES, "-q", QRELS, "-m", "ERR@20", "--quiet")
    riskeval("population", "freeze", *call, "-o", path)
    for command, *more in (
        ("score",), ("sweep",), ("topics",), ("sweep", "--over", "measure"),
        ("significance", "--of", "georisk"),
        ("explain", "--run", "oldTFIDF"), ("report", "-o", tmp_path / "page.html"),
        *([("plot", "heatmap", "-o", tmp_path / "heat.json")] if find_spec("altair") else []),
    ):  # fmt: skip
        ran = riskeval(command, *more, *call, "--population", path, "-b", "indriCASP")
        assert ran.code == 0, (command, ran.err)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--population", "all", "--population", "baselines"), "one population at a time"),
        (("--population", "nowhere.json"), "expected all, baselines, or a file"),
        (("--population", str(QRELS)), "not a population file: expected the JSON"),
    ],
)
def test_wrong_populations_are_one_line(arguments: tuple[str, ...], words: str) -> None:
    ran = riskeval("score", SAMPLES, "-q", QRELS, "--quiet", *arguments)
    assert (ran.code, ran.out) == (2, "") and words in ran.err
    assert len([line for line in ran.err.splitlines() if line.startswith("riskeval")]) == 1


def test_other_settings_and_judgements_are_refused(tmp_path: Path) -> None:
    path, call = tmp_path / "population.json", (SAMPLES, "-m", "ERR@20", "--quiet")
    riskeval("population", "freeze", *call, "-q", QRELS, "-o", path)
    ran = riskeval("score", *call, "-q", QRELS, "--population", path, "--topics", "judged")
    assert (
        ran.code == 2 and "was frozen with topics relevant, the scores here have judged" in ran.err
    )
    changed = tmp_path / "changed.qrels"
    changed.write_text(
        QRELS.read_text(encoding="utf-8") + "101 0 new-document 1\n", encoding="utf-8"
    )
    ran = riskeval("score", *call, "-q", changed, "--population", path)
    assert ran.code == 2 and "frozen with other judgements" in ran.err


# ---------------------------------------------------------------- scores that were kept before


def kept(folder: Path, name: str, *options: str | Path) -> Path:
    path = folder / name
    ran = riskeval("matrix", SAMPLES, "-m", "ERR@20", "--quiet", "-o", path, *options)
    assert ran.code == 0, ran.err
    return path


def changed_judgements(folder: Path) -> Path:
    changed = folder / "changed.qrels"
    more = QRELS.read_text(encoding="utf-8") + "101 0 new-document 1\n"
    changed.write_text(more, encoding="utf-8")
    return changed


@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_scores_kept_with_other_settings_are_not_measured_as_if_made_now(
    tmp_path: Path, suffix: str
) -> None:
    """Files say how their scores were made; the defaults of the command line are no evidence."""
    population, call = tmp_path / "p.json", (SAMPLES, "-q", QRELS, "-m", "ERR@20", "--quiet")
    riskeval("population", "freeze", *call, "-o", population)
    other = kept(tmp_path, f"other.{suffix}", "-q", QRELS, "--max-grade", "5")
    ran = riskeval("score", other, "--population", population)
    assert (ran.code, ran.out) == (2, "")
    assert "was frozen with max_grade 4, the scores here have 5" in ran.err
    same = kept(tmp_path, f"same.{suffix}", "-q", QRELS)
    ran = riskeval("score", same, "--population", population, "-f", "json")
    assert ran.code == 0 and json.loads(ran.out)["settings"]["max_grade"] == 4
    judged = kept(tmp_path, f"judged.{suffix}", "-q", changed_judgements(tmp_path))
    ran = riskeval("score", judged, "--population", population)
    assert ran.code == 2 and "frozen with other judgements" in ran.err
    of_kept = tmp_path / "of-kept.json"
    assert riskeval("population", "freeze", other, "--quiet", "-o", of_kept).code == 0
    ran = riskeval("score", *call, "--population", of_kept)
    assert ran.code == 2 and "was frozen with max_grade 5, the scores here have 4" in ran.err


def test_kept_scores_of_other_settings_do_not_join_a_table(tmp_path: Path) -> None:
    run = SAMPLES / "oldTFIDF.run"
    call = ("-q", QRELS, "-m", "ERR@20", "--quiet", "-f", "tsv")
    other, same = (tmp_path / name for name in ("other.json", "same.json"))
    for path, *options in ((other, "--max-grade", "5"), (same,)):
        ran = riskeval("matrix", SAMPLES / "caspPlus.run", *call[:5], "-o", path, *options)
        assert ran.code == 0
    ran = riskeval("score", run, other, *call)
    assert ran.code == 2
    assert "other.json: other-settings: was made with max_grade = 5, the runs scored" in ran.err
    ran = riskeval("score", same, f"x={other}", *call)
    assert ran.code == 2 and "was made with max_grade" in ran.err
    assert riskeval("score", run, same, *call).err == ""
    changed = changed_judgements(tmp_path)
    for format in ("tsv", "json"):
        ran = riskeval("score", run, same, "-q", changed, *call[2:], "-f", format)
        assert ran.code == 0 and "made from other judgements than the runs scored here" in ran.err
        gate = riskeval("check", run, "-b", same, "-q", changed, *call[2:5], "-f", format)
        assert gate.code == 2 and "same.json: other-judgements: made from" in gate.err
    assert "judgements" not in riskeval("check", run, "-b", same, *call[:5]).err
