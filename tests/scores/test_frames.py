"""Judgements and runs in memory: what is refused, and in which words."""

import pandas as pd
import pytest

import riskcli
from riskcli import UsageError, qrels_from_frame


def judgements(*rows: tuple[str, str, int]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["qid", "docno", "label"])


def test_a_grade_that_is_given_twice_may_not_differ() -> None:
    same = qrels_from_frame(judgements(("1", "d", 2), ("1", "d", 2), ("2", "d", 0)))
    assert same.judgements == {"1": {"d": 2}, "2": {"d": 0}}
    with pytest.raises(UsageError, match="topic 1 has document d twice, with different grades"):
        qrels_from_frame(judgements(("1", "d", 2), ("1", "d", 1)))


def test_judgements_without_a_row_are_refused() -> None:
    with pytest.raises(UsageError, match="the judgements are empty"):
        qrels_from_frame(judgements())


def test_a_measure_of_judged_documents_counts_the_first_of_them() -> None:
    """The document that stands first in the judgements is judged, though not relevant."""
    grades = {"1": {"first": 0, "second": 1, "third": 0}}
    ranked = {"1": {"first": 3.0, "second": 2.0, "third": 1.0}}
    scores = riskcli.score_runs({"r": ranked}, grades, ["Bpref"])
    assert scores.matrices[0].values.tolist() == [[0.0]]


def test_scores_without_a_row_are_refused() -> None:
    empty = pd.DataFrame({"run": [], "topic": [], "measure": [], "score": []})
    with pytest.raises(UsageError, match="no scores given"):
        riskcli.scores_from_frame(empty)
    one = pd.DataFrame({"run": ["a"], "topic": ["1"], "measure": ["AP"], "score": [0.5]})
    assert riskcli.scores_from_frame(one).matrices[0].values.tolist() == [[0.5]]
