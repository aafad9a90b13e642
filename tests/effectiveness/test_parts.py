"""Parts of scores: each ranking's add up to what the scorer gives."""

from __future__ import annotations

import numpy as np
import pytest

from riskcli import Qrels, Run, Scorer, parse_measure
from riskcli.effectiveness.parts import parts
from riskcli.effectiveness.ranking import rank
from riskcli.trec.qrels import read_qrels
from riskcli.trec.runs import read_run
from tests.effectiveness.test_measures_by_pytrec_eval import random_topics
from tests.helpers.pairs import levels_of, ranked
from tests.helpers.shared_data import shared
from tests.helpers.trec_text import make_qrels, make_run

SUMS = (
    "nDCG", "nDCG@1", "nDCG@10", "nDCG(dcg='exp-log2')", "nDCG(dcg='exp-log2')@20",
    "ERR", "ERR@1", "ERR@20", "AP", "AP@5", "AP@100", "AP(rel=2)@10", "P@1", "P@10", "P(rel=3)@100",
    "RBP", "RBP(p=0.95,rel=2)@10", "R@5", "R(rel=2)@100", "RR", "RR@3", "RR(rel=4)",
    "Success@1", "Success(rel=2)@10", "SetP", "SetP(rel=2)", "SetR", "SetR(rel=4)",
)  # fmt: skip
NONE = (
    "Rprec",
    "Bpref",
    "IPrec@0.1",
    "SetF",
    "gm_map",
    "gm(AP)",
    "NumRet",
    "RBPres",
    "Judged@10",
    "G",
)


def check_sums(run: Run, qrels: Qrels) -> None:
    """The rows' sums against the scores, on every topic that the run answers."""
    scorer = Scorer(qrels, [parse_measure(name) for name in SUMS], precision="double")
    topics, scores = scorer.score(run)
    rankings = rank(run, None, "double")
    grades = [dict(qrels.judgements[topic]) for topic in topics]
    found = ranked([rankings[topic] for topic in topics], grades, 4)
    levels = levels_of(grades, qrels.highest_grade)
    for name in SUMS:
        measure = parse_measure(name)
        by_rank = parts(measure, found, levels)
        assert by_rank is not None
        assert by_rank.shape == found.grades.shape
        assert (by_rank >= 0).all()
        assert not by_rank[:, measure.cutoff or by_rank.shape[1] :].any()
        np.testing.assert_allclose(by_rank.sum(axis=1), scores[str(measure)], atol=1e-12)


def test_parts_add_up_to_the_scores_of_random_runs() -> None:
    docs, grades = random_topics()
    check_sums(make_run(docs), make_qrels(grades))


@pytest.mark.parametrize("name", ["indriCA", "indriQLCASP"])
def test_parts_add_up_to_the_scores_of_real_runs(name: str) -> None:
    data = shared("trec-web-2012")
    check_sums(read_run(data / "runs" / f"{name}.txt.gz"), read_qrels(data / "qrels.txt.gz"))


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_such_sum_has_no_parts(name: str) -> None:
    found = ranked([["a"]], [{"a": 1}], 4)
    assert parts(parse_measure(name), found, np.ones((1, 1), dtype=np.int64)) is None


def test_a_part_is_what_its_document_adds() -> None:
    found = ranked([["a", "b", "c", "d"]], [{"a": 0, "b": 1, "d": 2, "e": 2}], 2)
    levels = np.array([[3, 2]])

    def of(name: str) -> list[float]:
        row = parts(parse_measure(name), found, levels)
        assert row is not None
        return [round(part, 6) for part in row[0].tolist()]

    assert of("P@4") == [0, 0.25, 0, 0.25]
    assert of("AP") == [0, round(0.5 / 3, 6), 0, round(0.5 / 3, 6)]
    assert of("RR") == [0, 0.5, 0, 0]
    assert of("Success@4") == [0, 1, 0, 0]
    assert of("ERR") == [0, 0.125, 0, round(0.75 * 0.75 / 4, 6)]
    assert of("R@2") == [0, round(1 / 3, 6), 0, 0]
