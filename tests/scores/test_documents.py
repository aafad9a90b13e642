"""The documents behind the scores: numbered by topic, found in each other's rankings."""

from __future__ import annotations

import numpy as np
import pytest

from riskcli import Evaluation, Rules, ScoreMatrix, UsageError, evaluate, parse_measure, score_runs
from riskcli.scores.documents import Documents
from riskcli.trec.arrow import Texts
from tests.helpers.program import QRELS, SAMPLES

RUNS = {
    "a": {"1": {"x": 3.0, "y": 2.0, "z": 1.0}, "2": {"x": 2.0, "q": 1.0}},
    "b": {"1": {"z": 3.0, "x": 2.0}, "3": {"x": 1.0}},
}
JUDGED = {"1": {"x": 2, "w": 1, "y": 0}, "2": {"q": 1}, "3": {"x": -2, "v": 3}}


def evaluated(unjudged: str = "bounds", measure: str = "nDCG@3") -> Evaluation:
    return score_runs(RUNS, JUDGED, measure, rules=Rules(unjudged=unjudged))  # type: ignore[arg-type]


def documents() -> Documents:
    found = evaluated().documents
    assert found is not None
    return found


def test_rankings_have_names_and_grades() -> None:
    found = documents()
    assert found.ranking("a", "1") == [("x", 2), ("y", 0), ("z", None)]
    assert found.ranking("a", "2") == [("x", None), ("q", 1)]
    assert found.ranking("b", "3") == [("x", -2)] and found.ranking("b", "2") == []
    assert found.levels(["3", "1"]).tolist() == [[1, 1, 1], [2, 1, 0]]


def test_a_pair_knows_where_a_document_stands_in_the_other_ranking() -> None:
    pair = documents().pair(parse_measure("nDCG@3"), "a", "b", ["1", "2", "3"])
    assert pair.places.tolist() == [[1, -1, 0], [-1, -1, -1], [-1, -1, -1]]
    assert pair.run.counts.tolist() == [3, 2, 0] and pair.baseline.counts.tolist() == [2, 0, 1]
    assert pair.run.judged.tolist()[0] == [True, True, False]
    back = documents().pair(parse_measure("nDCG@3"), "b", "a", ["1"])
    assert back.places.tolist() == [[2, 0, -1]]
    cut = documents().pair(parse_measure("nDCG@1"), "a", "b", ["1"])
    assert cut.places.tolist() == [[-1]]  # z is beyond it


def test_pairs_of_many_are_the_pairs_of_each_on_any_topics() -> None:
    found = evaluate([SAMPLES], qrels=QRELS, rules=Rules(unjudged="bounds")).documents
    assert found is not None
    measure, runs = parse_measure("ERR@20"), [*found.runs]
    for topics in ([*found.topics], ["150", "101", "133"]):
        together = found.pairs(measure, runs, "indriCASP", topics)
        for i, run in enumerate(runs):
            alone = found.pair(measure, run, "indriCASP", topics)
            some = slice(i * len(topics), (i + 1) * len(topics))
            assert (together.places[some] == alone.places).all()
            assert (together.run.grades[some] == alone.run.grades).all()
            assert (together.baseline.judged[some] == alone.baseline.judged).all()
            names = [[name for name, _ in found.ranking(run, topic)] for topic in topics]
            others = [[n for n, _ in found.ranking("indriCASP", topic)] for topic in topics]
            for row, (own, theirs) in enumerate(zip(names, others, strict=True)):
                expected = [theirs.index(name) if name in theirs else -1 for name in own]
                assert alone.places[row, : len(own)].tolist() == expected


def test_documents_whose_names_have_one_hash_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = {(r, t): documents().ranking(r, t) for r in RUNS for t in JUDGED}
    places = documents().pair(parse_measure("nDCG@3"), "a", "b", ["1", "2", "3"]).places
    monkeypatch.setattr(Texts, "hashes", lambda self: np.zeros(len(self), dtype=np.uint64))
    assert {(r, t): documents().ranking(r, t) for r in RUNS for t in JUDGED} == expected
    again = documents().pair(parse_measure("nDCG@3"), "a", "b", ["1", "2", "3"]).places
    assert (again == places).all()


def test_a_run_without_documents_is_named() -> None:
    with pytest.raises(UsageError, match="no documents of 'c'"):
        documents().ranking("c", "1")


def test_shares_are_of_the_first_documents_that_there_are() -> None:
    matrix = evaluated("zero").matrices[0]
    assert matrix.judging is not None and matrix.judging.documents is None
    assert matrix.topics == ("1", "2", "3")
    shares = matrix.judging.shares(["a", "b", "c"], matrix.topics)
    np.testing.assert_array_equal(
        shares, [[2 / 3, 1 / 2, np.nan], [1 / 2, np.nan, 1.0], [np.nan] * 3]
    )
    np.testing.assert_array_equal(matrix.judging.shares(["b"], ["3", "1"]), [[1.0, 0.5]])


def test_condensed_is_what_is_left_of_the_rankings() -> None:
    left = {
        run: {
            topic: {doc: score for doc, score in ranking.items() if doc in JUDGED[topic]}
            for topic, ranking in topics.items()
        }
        for run, topics in RUNS.items()
    }
    for measure in ("nDCG@3", "ERR@1", "AP", "P@2", "RR"):
        by_hand = score_runs(left, JUDGED, measure).matrices[0]
        condensed = evaluated("condensed", measure).matrices[0]
        assert (condensed.values == by_hand.values).all()


def test_condensed_reads_below_the_cutoff() -> None:
    runs = {"a": {"1": {"u": 9.0, "v": 8.0, "x": 1.0}}, "b": {"1": {"y": 1.0}}}
    found = score_runs(runs, JUDGED, "P@1", rules=Rules(unjudged="condensed"))
    assert found.matrices[0].to_frame().loc["a", "1"] == 1.0


def test_what_is_judged_goes_along_with_parts_of_a_matrix() -> None:
    matrix = evaluated().matrices[0]
    part = matrix.of_runs([1])
    assert part.judging is matrix.judging
    assert ScoreMatrix("m", ("a",), ("1",), np.zeros((1, 1))).judging is None
