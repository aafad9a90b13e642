"""Churn against brute force over pairs of documents, the definition of RBO, and plain reading."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riskcli
from riskcli import UsageError, churn_table
from riskcli.analyses import churn as churn_analysis
from riskcli.analyses import churn_distances as distances
from riskcli.analyses.churn_distances import (
    SharedDocuments,
    agreement,
    inversions,
    kendall_distance,
)
from riskcli.risk.rank_agreement import rank_biased_overlap
from tests.bench.plain_reader import read_run
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES

Ranking = Sequence[int]


def brute_distance(one: Ranking, other: Ranking) -> float:
    """Every pair of documents by itself, from the rule as the documentation states it."""

    def ahead(ranking: Ranking, i: int, j: int) -> bool | None:
        """Whether i stands above j; None where the ranking lacks both."""
        if i in ranking and j in ranking:
            return ranking.index(i) < ranking.index(j)
        return i in ranking if i in ranking or j in ranking else None

    pairs = list(combinations(sorted({*one, *other}), 2))
    apart = 0.0
    for i, j in pairs:
        views = ahead(one, i, j), ahead(other, i, j)
        apart += 0.5 if None in views else float(views[0] != views[1])
    return apart / len(pairs) if pairs else 0.0


def shared_of(topics: Sequence[tuple[Ranking, Ranking]]) -> SharedDocuments:
    """Rankings as the arrays that the formulas take."""
    cells = [
        (topic, place, list(base).index(document))
        for topic, (run, base) in enumerate(topics)
        for place, document in enumerate(run)
        if document in base
    ]
    found = np.array(cells, dtype=np.intp).reshape(-1, 3)
    lengths = [np.array([len(topic[side]) for topic in topics]) for side in (0, 1)]
    return SharedDocuments(lengths[0], lengths[1], found[:, 0], found[:, 1], found[:, 2])


rankings = st.permutations(range(9)).flatmap(
    lambda order: st.integers(0, 9).map(lambda length: tuple(order[:length]))
)
several = st.lists(st.tuples(rankings, rankings), min_size=1, max_size=5)


@settings(max_examples=200)
@given(several)
def test_distances_equal_those_of_every_pair(topics: list[tuple[Ranking, Ranking]]) -> None:
    expected = [brute_distance(run, base) for run, base in topics]
    assert kendall_distance(shared_of(topics)) == pytest.approx(expected, abs=1e-12)


def test_the_ends_of_the_distance() -> None:
    forth, back, others = range(40), range(39, -1, -1), range(100, 140)
    found = kendall_distance(shared_of([(forth, forth), (forth, back), (forth, others), ((), ())]))
    assert found.tolist() == [0.0, 1.0, pytest.approx((3 * 40 - 1) / (4 * 40 - 2)), 0.0]


deep = st.permutations(range(70)).flatmap(
    lambda order: st.integers(0, 70).map(lambda length: tuple(order[:length]))
)


@pytest.mark.parametrize(("cells", "between"), [(1 << 18, 64), (100, 1), (300, 10_000)])
@given(st.lists(st.tuples(deep, deep), min_size=1, max_size=4))
def test_inversions_equal_those_counted(
    cells: int, between: int, topics: list[tuple[Ranking, Ranking]]
) -> None:
    """However many topics are compared at once, in blocks of whatever size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "_CELLS", cells)
        patch.setattr(distances, "_BETWEEN", between)
        found = inversions(shared_of(topics))
    stand = [[base.index(document) for document in run if document in base] for run, base in topics]
    assert found.tolist() == [sum(a > b for a, b in combinations(each, 2)) for each in stand]


def test_long_rankings_beside_short_ones() -> None:
    order = np.random.default_rng(1).permutation(3000)
    pairs = [(range(5), range(4, -1, -1)), (range(3000), order.tolist()), (range(7), ())]
    turned = sum(int((order[:i] > order[i]).sum()) for i in range(3000))
    assert inversions(shared_of(pairs)).tolist() == [10, turned, 0]


def test_one_deep_ranking_among_many_takes_no_table_for_all() -> None:
    """Every topic as wide as the deepest would be 16 GB."""
    lengths = np.ones(100_000, dtype=np.int64)
    lengths[500] = 20_000
    topics = np.repeat(np.arange(len(lengths)), lengths)
    places = np.concatenate([np.arange(length) for length in lengths.tolist()])
    shared = SharedDocuments(lengths, lengths, topics, places, places)
    overlap, rbo = agreement(shared, 10, 0.9)
    assert overlap.min() == 1 and rbo == pytest.approx(1)
    assert not kendall_distance(shared).any()


@settings(max_examples=200)
@given(several, st.integers(1, 12), st.sampled_from([0.5, 0.9, 0.98]))
def test_overlap_and_rbo_equal_their_definitions(
    topics: list[tuple[Ranking, Ranking]], at: int, persistence: float
) -> None:
    overlap, rbo = agreement(shared_of(topics), at, persistence)
    for (run, base), near, biased in zip(topics, overlap, rbo, strict=True):
        longest = max(len(run), len(base))
        if longest == 0:
            assert near == biased == 1
            continue
        within = min(at, longest)
        assert near == pytest.approx(len({*run[:within]} & {*base[:within]}) / within)
        expected = rank_biased_overlap(run, base, persistence).extrapolated
        assert biased == pytest.approx(expected, abs=1e-12)


def test_the_worked_example_of_rbo() -> None:
    """Webber, Moffat and Zobel (2010), Figure 3: agreement at each depth of abcdefg, zcavwxy."""
    printed = [0.0, 0.0, 0.667, 0.5, 0.4, 0.333, 0.286]
    shared = shared_of([([*b"abcdefg"], [*b"zcavwxy"])])
    found = [agreement(shared, depth, 0.9)[0][0] for depth in range(1, 8)]
    assert found == pytest.approx(printed, abs=5e-4)
    weights = [0.1 * 0.9**depth for depth in range(7)]
    expected = np.dot(weights, [0, 0, 2 / 3, 2 / 4, 2 / 5, 2 / 6, 2 / 7]) + 0.9**7 * 2 / 7
    assert agreement(shared, 7, 0.9)[1][0] == pytest.approx(expected, abs=1e-12)


# ---------------------------------------------------------------- the command


def plain_rankings(path: Path) -> dict[str, list[str]]:
    """Documents by falling score, then falling name, in single precision."""
    scores, _ = read_run(path.read_bytes())
    found: dict[str, dict[str, float]] = {}
    for topic, documents in scores.items():
        found[topic] = {name: float(np.float32(value)) for name, value in documents.items()}
    return {
        topic: sorted(held, key=lambda name: (held[name], name.encode()), reverse=True)
        for topic, held in found.items()
    }


def test_the_command_equals_plain_reading(tmp_path: Path) -> None:
    keys = tmp_path / "riskeval.toml"
    keys.write_text("depth = 30\n")
    ran = riskeval(
        "topics", SAMPLES, "-q", QRELS, "-b", "indriCASP", "-m", "ERR@20", "-f", "csv", "--columns",
        "churn", "--config", keys, "--quiet",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    evaluation = riskcli.evaluate([SAMPLES], qrels=QRELS)
    assert len(rows) == 8 * len(evaluation.matrices[0].topics)
    plain = {run: plain_rankings(path) for run, path in evaluation.files.items()}
    for row in rows[::7]:
        run, base = (
            [*plain[name].get(row["topic"], [])][:30] for name in (row["run"], "indriCASP")
        )
        number = {name: index for index, name in enumerate({*run, *base})}
        one, other = [number[d] for d in run], [number[d] for d in base]
        assert float(row["distance"]) == pytest.approx(brute_distance(one, other), abs=1e-12)
        assert int(row["shared_documents"]) == len({*run} & {*base})
        expected = rank_biased_overlap(one, other, 0.9).extrapolated
        assert float(row["rbo"]) == pytest.approx(expected, abs=1e-12)


def test_bins_add_up_to_the_risk_table() -> None:
    both = ("-q", QRELS, "-b", "indriCASP", "-m", "ERR@20", "-m", "nDCG@20", "--quiet")
    call = ("topics", SAMPLES, *both, "--columns", "distance", "-f", "json")
    totals = json.loads(riskeval(*call).out)["totals"]
    scored = json.loads(riskeval("score", SAMPLES, *both, "-f", "json").out)["rows"]
    by_run = {(row["run"], row["measure"]): row for row in scored}
    assert len(totals) == 16
    for entry in totals:
        row = by_run[entry["run"], entry["measure"]]
        for name in ("reward", "risk"):
            assert sum(part[name] for part in entry["bins"]) == pytest.approx(row[name])
        assert sum(part["topics"] for part in entry["bins"]) == row["topics"]


def test_a_run_beside_itself_and_its_reverse(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    (tmp_path / "q").write_text("1 0 a 1\n2 0 a 1\n")
    for name, order in (("base", "abcd"), ("same", "abcd"), ("back", "dcba")):
        lines = [
            f"{topic} Q0 {document} 0 {9 - place} {name}\n"
            for topic in (1, 2)
            for place, document in enumerate(order)
        ]
        (runs / name).write_text("".join(lines))
    table = churn_table(riskcli.evaluate([runs], qrels=tmp_path / "q"), "base", at=2)
    frame = table.to_frame().query("measure == 'ERR@20'").set_index("run")
    assert (
        frame.loc["same", ["distance", "bin", "rbo", "overlap", "delta"]].to_numpy().tolist()
        == [[0.0, 0, pytest.approx(1.0), 1.0, 0.0]] * 2
    )
    assert (
        frame.loc["back", ["distance", "bin", "overlap"]].to_numpy().tolist() == [[1.0, 9, 0.0]] * 2
    )
    shown = table.to_text("table")
    assert "1.000" in shown and "100%" in shown


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((SAMPLES, "-q", QRELS, "-b", "@mean"), "name one run as the baseline"),
        ((SAMPLES, "-q", QRELS, "-b", "nobody"), "nobody"),
        ((SAMPLES, "-q", QRELS), "name one run as the baseline"),
        (("docs/examples/eight-systems.csv", "-b", "s1"), "has scores alone"),
        ((SAMPLES, "-q", QRELS, "-b", "indriCASP", "--columns", "chrn"), "did you mean churn"),
    ],
)
def test_what_cannot_be_compared(arguments: Sequence[str | Path], expected: str) -> None:
    ran = riskeval("topics", "--columns", "churn", *arguments)
    assert ran.code == 2
    assert expected in ran.err


def test_scores_without_runs_are_refused() -> None:
    matrix = riskcli.evaluate([SAMPLES], qrels=QRELS).matrices[0]
    with pytest.raises(UsageError, match="needs the runs themselves"):
        churn_table(matrix, "indriCASP")  # type: ignore[arg-type]


def test_columns_of_the_topics_are_those_of_the_table_of_churn() -> None:
    scores = riskcli.evaluate([SAMPLES], qrels=QRELS)
    churn = churn_table(scores, "indriCASP", depth=20)
    table = riskcli.topic_table(scores, "indriCASP", order="topic", churn=churn)
    names = ["run", "measure", "topic", *churn_analysis.MOVES, "delta"]
    mine, expected = table.to_frame()[names], churn.to_frame()[names]
    assert mine.sort_values(names[:3]).to_numpy().tolist() == (
        expected.sort_values(names[:3]).to_numpy().tolist()
    )
    means = expected.groupby(["run", "measure"])["distance"].mean()
    for entry in table.result().extra["totals"]:
        assert entry["distance"] == pytest.approx(means[entry["run"], entry["measure"]])
    plain = riskcli.topic_table(scores, "indriCASP")
    with pytest.raises(UsageError, match="churn_table"):
        plain.of_columns(["rbo"])
    assert plain.of_columns(["w", "flag"]).result().columns[6:] == ("w", "flag")
    with pytest.raises(UsageError, match="not compared with those of"):
        riskcli.topic_table(scores, "caspPlus", churn=churn)


def test_only_those_who_ask_read_the_rankings(monkeypatch: pytest.MonkeyPatch) -> None:
    def unread(*_: object, **__: object) -> None:
        raise AssertionError("the rankings were read")

    call = ("topics", SAMPLES, "-q", QRELS, "-b", "indriCASP", "-m", "P@5", "-f", "table")
    monkeypatch.setattr(churn_analysis, "churn_table", unread)
    shown = riskeval(*call, "--columns", "delta, w", "--top", "1").out
    assert "RBO" not in shown and "losses weighted" in shown
