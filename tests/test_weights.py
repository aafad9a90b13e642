"""Every command with whole weights: the same figures as with each topic so many times."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from riskcli import risk_table
from riskcli.analyses.score import ComparisonTable
from riskcli.core.messages import UsageError
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Key
from tests.helpers.strategies import named

RUNS = ("ada", "bea", "cid", "dora", "emil")
TOPICS = [str(number) for number in range(151, 181)]
COUNTS = [1, 1, 2, 1, 4, 1, 1, 3, 1, 1, 2, 1, 1, 1, 5, 1, 1, 2, 1, 1, 1, 3, 1, 1, 1, 2, 1, 1, 1, 1]
WHOLE = sum(COUNTS)
ALPHA = "5"


@dataclass(frozen=True)
class Files:
    """Scores, how much each topic counts, and scores in which it stands so often."""

    scores: Path
    weights: Path
    repeated: Path


def _write(
    path: Path, topics: list[str], values: np.ndarray[tuple[int, int], np.dtype[np.float64]]
) -> Path:
    lines = [
        f"{run},{topic},AP,{score!r}"
        for run, row in zip(RUNS, values.tolist(), strict=True)
        for topic, score in zip(topics, row, strict=True)
    ]
    path.write_text("run,topic,measure,score\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("weights")
    values = np.round(np.random.default_rng(3).beta(1, 2, (len(RUNS), len(TOPICS))), 6)
    weights = folder / "weights.tsv"
    pairs = zip(TOPICS, COUNTS, strict=True)
    weights.write_text("topic\tweight\n" + "".join(f"{t}\t{n}\n" for t, n in pairs))
    often = [topic + "abcde"[:n][-1:] for topic, many in zip(TOPICS, COUNTS, strict=True)
             for n in range(many)]  # fmt: skip
    repeated = np.repeat(values, COUNTS, axis=1)
    return Files(
        _write(folder / "scores.csv", TOPICS, values), weights,
        _write(folder / "repeated.csv", often, repeated),
    )  # fmt: skip


Row = Mapping[str, str]


def rows(*arguments: str | Path | Key) -> list[Row]:
    ran = riskeval(*arguments, "-f", "csv")
    assert ran.code in (0, 1), ran.err
    return list(csv.DictReader(StringIO(ran.out)))


def both(files: Files, command: tuple[str, ...], *options: str | Path) -> list[tuple[Row, Row]]:
    """The rows of a command with weights, beside those with repeated topics."""
    weighed = rows(*command, files.scores, *options, "--weights", files.weights)
    repeated = rows(*command, files.repeated, *options)
    return list(zip(weighed, repeated, strict=True))


def assert_equal(one: Row, other: Row, *names: str, times: float = 1.0) -> None:
    for name in names:
        mine, theirs = (float(cell) if cell else math.nan for cell in (one[name], other[name]))
        assert mine * times == pytest.approx(theirs, rel=1e-9, abs=1e-12, nan_ok=True), name


OF_MEANS = ("mean", "baseline_mean", "mean_diff", "reward", "risk", "urisk", "shortfall")
PER_TOPIC = WHOLE / len(TOPICS)
"""ZRisk is a sum over topics."""


def test_score_under_a_smooth_loss(files: Files) -> None:
    for one, other in both(files, ("score",), "-b", "ada", "--loss", "smooth"):
        assert_equal(one, other, "mean", "urisk", "georisk", "georisk_diff")


@pytest.mark.parametrize(
    "options",
    [
        ("-b", "ada"), ("-b", "ada", "-b", "bea"), ("-b", "@mean"), ("-b", "@max"),
        ("-b", "ada", "--population", "baselines"), ("-b", "ada", "-b", "bea", "--pool", "each"),
    ],
)  # fmt: skip
def test_score(files: Files, options: tuple[str, ...]) -> None:
    for one, other in both(files, ("score",), *options, "-a", ALPHA):
        assert_equal(one, other, *OF_MEANS, "georisk", "georisk_diff")
        assert_equal(one, other, "zrisk", "zrisk_diff", times=PER_TOPIC)
        for name in ("rank_mean", "rank_urisk", "rank_zrisk", "rank_georisk"):
            assert one[name] == other[name]
        assert one["topics"] == str(len(TOPICS))
        assert float(one["effective_topics"]) == pytest.approx(
            WHOLE**2 / sum(n * n for n in COUNTS)
        )


def test_weights_that_are_all_the_same_change_no_byte(files: Files, tmp_path: Path) -> None:
    same = tmp_path / "same.tsv"
    same.write_text("topic\tweight\n" + "".join(f"{topic}\t2.5\n" for topic in TOPICS))
    for format in ("tsv", "table", "markdown"):
        asked = ("score", files.scores, "-b", "ada", "-a", "0,5", "-f", format)
        plain, weighed = riskeval(*asked), riskeval(*asked, "--weights", same)
        assert weighed.out == plain.out
        assert weighed.err == plain.err


def test_a_table_says_that_topics_count_by_weight(files: Files) -> None:
    ran = riskeval("score", files.scores, "-b", "ada", "--weights", files.weights, "-f", "table")
    assert "30 topics, by weight (as 20.9), 5 runs shown" in " ".join(ran.out.split())


def test_topics(files: Files) -> None:
    asked = ("-b", "ada", "-a", ALPHA, "--run", "cid")
    weighed = rows("topics", files.scores, *asked, "--weights", files.weights)
    (score,) = [
        r for r in rows("score", files.repeated, "-b", "ada", "-a", ALPHA) if r["run"] == "cid"
    ]
    total = sum(float(row["weight"]) * float(row["w"]) for row in weighed)
    assert total / len(TOPICS) == pytest.approx(float(score["urisk"]), rel=1e-9)
    parts = sum(float(row["zrisk_part"]) for row in weighed)
    assert parts * PER_TOPIC == pytest.approx(float(score["zrisk"]), rel=1e-9)
    of_repeated = {row["topic"]: row for row in rows("topics", files.repeated, *asked)}
    for row in weighed:
        other = next(o for topic, o in of_repeated.items() if topic.startswith(row["topic"]))
        assert_equal(row, other, "w", "z", "expected")
    table = riskeval("topics", files.scores, *asked, "--weights", files.weights, "-f", "json")
    totals = json.loads(table.out)["totals"][0]
    assert totals["urisk"] == pytest.approx(float(score["urisk"]), rel=1e-9)


@pytest.mark.parametrize("of", ["mean", "urisk", "trisk", "zrisk", "georisk", "shortfall"])
def test_explain(files: Files, of: str) -> None:
    asked = ("-b", "ada", "-a", ALPHA, "--run", "cid", "--of", of)
    one, other = (
        [row for row in rows("explain", *where) if row["part"] == "value"]
        for where in (
            (files.scores, *asked, "--weights", files.weights), (files.repeated, *asked),
        )
    )  # fmt: skip
    last = float(one[-1]["value"])
    if of not in ("trisk", "zrisk"):
        assert last == pytest.approx(float(other[-1]["value"]), rel=1e-9)
    scores = rows("score", files.scores, "-b", "ada", "-a", ALPHA, "--weights", files.weights)
    assert last == float(next(row[of] for row in scores if row["run"] == "cid"))


@pytest.mark.parametrize("options", [(), ("-b", "ada", "--between", "baseline")])
def test_significance(files: Files, options: tuple[str, ...]) -> None:
    asked = ("--of", "mean", "--of", "georisk", *options)
    for one, other in both(files, ("significance",), *asked):
        assert_equal(one, other, "value", "other_value", "diff")
    ranked = riskeval(
        "significance",
        files.scores,
        "--weights",
        files.weights,
        "--correction",
        "tukey",
        "-f",
        "csv",
    )
    assert ranked.code == 0
    best = rows("significance", files.scores, "--weights", files.weights, "--best")
    assert sum(float(row["p_best"]) for row in best if row["of"] == "mean") == pytest.approx(1)


def test_sweep_over_alpha(files: Files) -> None:
    for one, other in both(files, ("sweep",), "-b", "ada"):
        assert_equal(one, other, "mean", "urisk", "georisk", "shortfall")
        assert_equal(one, other, "zrisk", times=PER_TOPIC)
    events = both(
        files, ("sweep",), "-b", "ada", "--part", "events", "--of", "urisk", "--of", "georisk"
    )
    assert events
    for one, other in events:
        assert_equal(one, other, "alpha", "value")
        assert one["run"] == other["run"]


@pytest.mark.slow
def test_sweep_over_baseline(files: Files) -> None:
    for one, other in both(files, ("sweep", "--over", "baseline")):
        assert_equal(one, other, "mean", "urisk", "similarity")


def test_sweep_over_measure_and_population(files: Files) -> None:
    for one, other in both(files, ("sweep", "--over", "measure"), "-b", "ada"):
        if "trisk" not in (one["of"], one["other_of"]):
            assert_equal(one, other, "tau_b", "tau_ap", "rbo_ext")
    for one, other in both(files, ("sweep", "--over", "population")):
        times = PER_TOPIC if one["of"] == "zrisk" else 1
        assert_equal(one, other, "value", "value_min", "value_max", times=times)


def test_power(files: Files) -> None:
    """The spread of a pair is the weighted standard deviation, by effective topics."""
    asked = ("--of", "mean", "-b", "ada", "--loss", "0.05", "--with-topics", "30")
    found = rows("power", files.scores, *asked, "--weights", files.weights)
    spreads = [
        float(row["urisk_se"]) * float(row["effective_topics"]) ** 0.5
        for row in rows("score", files.scores, "-b", "ada", "-a", "0", "--weights", files.weights)
        if row["urisk_se"]
    ]
    assert float(found[0]["spread"]) in [pytest.approx(each) for each in spreads]
    plain = rows("power", files.scores, *asked)
    assert float(found[0]["count"]) > float(plain[0]["count"]) * 0.8


def test_check(files: Files) -> None:
    asked = ("check",), "-b", "ada", "--policy", "none", "--require"
    for rule in ("urisk@5 >= 0", "mean_diff >= 0", "georisk@5 >= 0.5", "losses <= 100"):
        for one, other in both(files, *asked, rule):
            if rule.startswith("losses"):
                assert float(one["value"]) < float(other["value"])
            else:
                assert_equal(one, other, "value")
    for row in rows("check", files.scores, *asked[1:], "effective_topics > 25", "--weights",
                    files.weights):  # fmt: skip
        assert row["passed"] == "False"
    ran = riskeval("check", files.scores, *asked[1:], "effective_topics > 25")
    assert ran.code == 2 and "--weights" in ran.err


def test_the_tests_of_a_gate_are_those_of_the_table(files: Files) -> None:
    """One-sided, each candidate in a population of two, by as many degrees of freedom."""
    found = rows("check", files.scores, "-b", "ada", "--weights", files.weights)
    table = rows("score", files.scores, "-b", "ada", "--weights", files.weights)
    two_sided = {row["run"]: row for row in table}
    for row in found:
        if row["rule"].startswith("mean"):
            p = float(two_sided[row["candidate"]]["mean_p"]) / 2
            above = float(two_sided[row["candidate"]]["mean_diff"]) > 0
            assert float(row["p"]) == pytest.approx(1 - p if above else p, rel=1e-9)


def test_a_frozen_population(files: Files, tmp_path: Path) -> None:
    def frozen(scores: Path, *weights: str | Path) -> Path:
        path = tmp_path / f"{scores.stem}.json"
        assert riskeval("population", "freeze", scores, *weights, "-o", path).code == 0
        return path

    options = "--weights", files.weights
    weighed = rows(
        "score", files.scores, "-b", "ada", "--population", frozen(files.scores, *options), *options
    )
    repeated = rows("score", files.repeated, "-b", "ada", "--population", frozen(files.repeated))
    for one, other in zip(weighed, repeated, strict=True):
        assert_equal(one, other, "georisk", "georisk_diff")
    shown = rows("population", "show", tmp_path / "scores.json")
    means = {row["run"]: row["mean"] for row in weighed}
    assert [float(row["mean"]) for row in shown] == [float(means[row["run"]]) for row in shown]
    ran = riskeval("score", files.scores, "-b", "ada", "--population", tmp_path / "scores.json")
    assert ran.code == 2 and "other weights of topics" in ran.err


@pytest.mark.slow
def test_figures(files: Files, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    for kind in ("alpha", "tradeoff"):
        drawn = [tmp_path / f"{kind}{place}.json" for place in range(2)]
        asked = ("-b", "ada", "-o")
        riskeval("plot", kind, files.scores, *asked, drawn[0], "--weights", files.weights)
        riskeval("plot", kind, files.repeated, *asked, drawn[1])
        one, other = (_numbers(json.loads(path.read_text())["datasets"]) for path in drawn)
        assert one == pytest.approx(other, rel=1e-6, abs=1e-9)
    refused = riskeval(
        "plot", "box", files.scores, "-b", "ada", "-o", tmp_path / "box.json",
        "--weights", files.weights,
    )  # fmt: skip
    assert refused.code == 2 and "the figure box counts all topics the same" in refused.err


def _numbers(given: object) -> list[float]:
    if isinstance(given, Mapping):
        return [number for value in given.values() for number in _numbers(value)]
    if isinstance(given, list):
        return [number for value in given for number in _numbers(value)]
    return [float(given)] if isinstance(given, int | float) else []


@pytest.mark.slow
def test_the_pack_of_an_organiser(files: Files, tmp_path: Path) -> None:
    asked = (
        "organise",
        files.scores,
        "-b",
        "ada",
        "--weights",
        files.weights,
        "-o",
        tmp_path / "p",
    )
    assert riskeval(*asked).code == 0
    (path,) = (tmp_path / "p").glob("tables/leaderboard.csv")
    with path.open(encoding="utf-8") as stream:
        board = {row["run"]: row for row in csv.DictReader(stream)}
    for row in rows("score", files.repeated, "-b", "ada"):
        assert_equal(board[row["run"]], row, "mean", "urisk", "georisk")


def test_what_cannot_count_topics_by_weight_says_so(files: Files) -> None:
    ran = riskeval(
        "score", files.scores, "-b", "ada", Key("test", "swap"), "--weights", files.weights
    )
    assert (
        ran.code == 2 and "the swap test counts all topics the same: use the jackknife" in ran.err
    )
    ran = riskeval("score", files.scores, "-b", "ada", "--columns", "effective_topics")
    assert ran.code == 2 and "effective_topics is known with --weights" in ran.err
    for command in ("matrix", "diff"):
        ran = riskeval(command, files.scores, files.scores, "--weights", files.weights)
        assert ran.code == 2 and "--weights" in ran.err


def test_unjudged_documents(tmp_path: Path) -> None:
    """Bounds of the mean are weighted; what a gate proves of them is not known with weights."""
    weights = tmp_path / "weights.tsv"
    lines = [f"{101 + place}\t{1 + place % 3}" for place in range(50)]
    weights.write_text("topic\tweight\n" + "\n".join(lines) + "\n")
    asked = (SAMPLES, "-q", QRELS, "-m", "AP", "-b", "indriCASP", "--unjudged", "bounds")
    (row,) = [
        each
        for each in rows("score", *asked, "-a", ALPHA, "--weights", weights)
        if each["run"] == "neuralMix"
    ]
    per_topic = rows("topics", *asked, "-a", ALPHA, "--weights", weights, "--run", "neuralMix")
    for end in ("min", "max"):
        known = [(float(t["weight"]), float(t[f"delta_{end}"])) for t in per_topic]
        mean = sum(w * delta for w, delta in known) / len(known)
        assert float(row[f"mean_diff_{end}"]) == pytest.approx(mean, abs=1e-12)
        urisk = sum(w * (6 * delta if delta < 0 else delta) for w, delta in known) / len(known)
        assert float(row[f"urisk_{end}"]) == pytest.approx(urisk, abs=1e-12)
    gate = riskeval("check", *asked, "--weights", weights)
    assert gate.code == 2 and "leave out --weights" in gate.err


def table_of(weights: list[float]) -> ComparisonTable:
    matrix = named(np.random.default_rng(1).beta(2, 3, (3, len(weights))))
    given = dict(zip(matrix.topics, weights, strict=True))
    return risk_table(matrix.labelled(weights=given), "r0")


def notes(weights: list[float]) -> dict[str, tuple[str, bool]]:
    return {note.code: (note.message, note.warning) for note in table_of(weights).notes}


def test_how_many_topics_they_count_as_is_said() -> None:
    message, warning = notes([2.0] * 15 + [1.0] * 15)["weights"]
    assert (message, warning) == ("weights: 30 topics count as 27 of equal weight", False)
    message, warning = notes([1.0] * 29 + [10.0])["weights"]
    assert warning and "topic" in message and "26% of all weight" in message
    message, warning = notes([1.0] * 40 + [20.0] * 8)["weights"]
    assert message == "weights: 48 topics count as 12.3 of equal weight" and not warning
    message, warning = notes([1.0] * 40 + [20.0] * 4)["weights"]
    assert warning and "44 topics count as 8.78 of equal weight" in message
    assert "weights" not in notes([3.0] * 30)


def test_one_topic_that_has_all_the_weight_is_refused() -> None:
    matrix = named(np.random.default_rng(1).beta(2, 3, (3, 4)))
    given = dict(zip(matrix.topics, [1e9, 1.0, 1.0, 1.0], strict=True))
    with pytest.raises(UsageError, match="has all the weight"):
        risk_table(matrix.labelled(weights=given), "r0")


def test_groups_of_topics_have_weights_too(files: Files, tmp_path: Path) -> None:
    """Each group by its own weights; in one of them all topics count the same."""
    groups = tmp_path / "groups.tsv"
    halves = {topic: "same" if COUNTS[i] == 1 else "more" for i, topic in enumerate(TOPICS)}
    repeated = tmp_path / "repeated.tsv"
    often = {t: halves[t[:3]] for t in [*TOPICS, *(t + e for t in TOPICS for e in "abcde")]}
    for path, by_topic in ((groups, halves), (repeated, often)):
        path.write_text("topic\tkind\n" + "".join(f"{t}\t{g}\n" for t, g in by_topic.items()))
    asked = ("score", "-b", "ada", "-a", ALPHA)
    weighed = rows(*asked, files.scores, "--groups", groups, "--weights", files.weights)
    other = rows(*asked, files.repeated, "--groups", repeated)
    by_key = {(row["run"], row["group"]): row for row in other}
    assert {row["group"] for row in weighed} == {"all", "same", "more"}
    for row in weighed:
        assert_equal(row, by_key[row["run"], row["group"]], *OF_MEANS, "georisk")
        count = float(row["effective_topics"])
        assert (count == int(row["topics"])) == (row["group"] == "same")
