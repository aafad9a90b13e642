"""Bounds of differences: every completion of the judgements is scored, by plain definitions."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from riskcli import Scorer
from riskcli.core.arrays import Floats
from riskcli.effectiveness import unjudged
from riskcli.effectiveness.measures import FAMILIES, parse_measure
from riskcli.effectiveness.ranking import rank
from riskcli.effectiveness.unjudged import Bounds, RankedPair, difference_bounds, sweeps
from riskcli.trec.qrels import read_qrels
from riskcli.trec.runs import read_run
from tests.bench import plain_measures
from tests.helpers import reference
from tests.helpers.pairs import Topic, completions, pair_of, random_topic
from tests.helpers.shared_data import shared
from tests.helpers.trec_text import make_qrels, make_run

Plain = Callable[[Sequence[str], Mapping[str, int]], float]

EXACT: dict[str, Plain] = {
    "P@3": lambda r, g: reference.precision(r, g, 3),
    "P(rel=2)@5": lambda r, g: reference.precision(r, g, 5, 2),
    "P(rel=4)@5": lambda r, g: reference.precision(r, g, 5, 4),
    "RBP(p=0.8)": lambda r, g: plain_measures.rbp(r, g, None, 0.8, 1),
    "RBP(p=0.3,rel=2)@4": lambda r, g: plain_measures.rbp(r, g, 4, 0.3, 2),
    "R@3": lambda r, g: reference.recall(r, g, 3),
    "R(rel=2)@10": lambda r, g: reference.recall(r, g, 10, 2),
    "SetR": lambda r, g: plain_measures.set_recall(r, g, 1),
    "SetP(rel=2)": lambda r, g: plain_measures.set_precision(r, g, 2),
    "RR": reference.reciprocal_rank,
    "RR(rel=2)@3": lambda r, g: reference.reciprocal_rank(r, g, 3, 2),
    "Success@1": lambda r, g: reference.success(r, g, 1),
    "Success(rel=2)@4": lambda r, g: reference.success(r, g, 4, 2),
    "nDCG": reference.ndcg,
    "nDCG@3": lambda r, g: reference.ndcg(r, g, 3),
    "nDCG(dcg='exp-log2')@5": lambda r, g: reference.ndcg_exp(r, g, 5),
    "nDCG(dcg='exp-log2')": reference.ndcg_exp,
}
PROVED: dict[str, Plain] = {
    "AP": reference.average_precision,
    "AP@3": lambda r, g: reference.average_precision(r, g, 3),
    "AP(rel=2)@5": lambda r, g: reference.average_precision(r, g, 5, 2),
    "Rprec": reference.r_precision,
    "Bpref": lambda r, g: plain_measures.bpref(r, g, 1),
    "infAP": lambda r, g: plain_measures.inferred_ap(r, g, 1),
    "SetF": lambda r, g: plain_measures.set_f(r, g, 1),
    "G": plain_measures.g,
    "binG": plain_measures.bin_g,
    "Rndcg": plain_measures.r_ndcg,
    "IPrec@0.2": lambda r, g: plain_measures.interpolated_precision(r, g, 0.2, 1),
    "relative_P@3": lambda r, g: plain_measures.relative_precision(r, g, 3),
}
ERR: dict[str, Plain] = {"ERR@5": lambda r, g: reference.err(r, g, 5)}
UNJUDGED = {1: 7, 2: 4, 3: 3, 4: 3}
"""So many unjudged documents have no more than 128 completions."""


@cache
def topics_of(highest: int, count: int = 12) -> list[Topic]:
    rng = random.Random(highest)
    return [random_topic(rng, highest, UNJUDGED[highest]) for _ in range(count)]


def ends(plain: Plain, topic: Topic, depth: int | None, highest: int) -> tuple[float, float]:
    """The least and the largest difference."""
    differences = [
        plain(topic.run, grades) - plain(topic.baseline, grades)
        for grades in completions(topic, depth, highest)
    ]
    return min(differences), max(differences)


def expected(name: str, plain: Plain, highest: int) -> tuple[RankedPair, Floats]:
    depth = parse_measure(name).cutoff
    topics = topics_of(highest)
    return pair_of(topics, highest), np.array(
        [ends(plain, topic, depth, highest) for topic in topics]
    ).T


@pytest.mark.parametrize("highest", UNJUDGED)
@pytest.mark.parametrize("name", EXACT)
def test_exact_bounds_are_those_of_all_completions(name: str, highest: int) -> None:
    pair, (low, high) = expected(name, EXACT[name], highest)
    bounds = difference_bounds(parse_measure(name), pair)
    assert bounds is not None
    assert bounds.exact
    check_ends(bounds, low, high)


@pytest.mark.parametrize("max_grade", UNJUDGED)
@pytest.mark.parametrize("cutoff", [3, 10])
def test_err_goes_up_to_the_highest_grade_there_can_be(cutoff: int, max_grade: int) -> None:
    """Whatever grades the judgements have."""
    rng = random.Random(max_grade)
    topics = [random_topic(rng, 1, UNJUDGED[max_grade]) for _ in range(12)]

    def plain(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
        return reference.err(ranking, grades, cutoff, max_grade)

    low, high = np.array([ends(plain, topic, cutoff, max_grade) for topic in topics]).T
    for name in [f"ERR@{cutoff}"] + ["ERR"] * (cutoff == 10):
        bounds = difference_bounds(parse_measure(name), pair_of(topics, 1, max_grade))
        assert bounds is not None
        assert bounds.exact
        check_ends(bounds, low, high)


def check_ends(bounds: Bounds, low: Floats, high: Floats) -> None:
    np.testing.assert_allclose(bounds.low, low, atol=1e-12)
    np.testing.assert_allclose(bounds.high, high, atol=1e-12)
    np.testing.assert_array_equal(bounds.scores_low[1] - bounds.scores_low[0], bounds.low)
    np.testing.assert_array_equal(bounds.scores_high[1] - bounds.scores_high[0], bounds.high)


@pytest.mark.parametrize("highest", UNJUDGED)
@pytest.mark.parametrize("name", PROVED)
def test_proved_bounds_hold_all_completions(name: str, highest: int) -> None:
    pair, (low, high) = expected(name, PROVED[name], highest)
    bounds = difference_bounds(parse_measure(name), pair)
    assert bounds is not None
    assert bounds.exact == (parse_measure(name).relevance > highest)
    assert (bounds.low <= low + 1e-12).all()
    assert (bounds.high >= high - 1e-12).all()


def bounds_of(name: str, topics: Sequence[Topic], highest: int = 3) -> Bounds:
    bounds = difference_bounds(parse_measure(name), pair_of(topics, highest))
    assert bounds is not None
    return bounds


@pytest.mark.parametrize(
    "name", ["gm_map", "gm(ERR@5)", "gm_bpref", "NumRelRet", "utility", "Judged@5", "RBPres"]
)
def test_of_what_has_no_bounds_nothing_is_said(name: str) -> None:
    assert difference_bounds(parse_measure(name), pair_of(topics_of(2), 2)) is None


@pytest.mark.parametrize("name", ["nDCG", "nDCG@3", "nDCG(dcg='exp-log2')@5"])
def test_ndcg_of_a_run_that_loses_in_any_case(name: str) -> None:
    """A better ideal ranking makes the loss smaller: the higher levels would like more documents
    than the lower ones have.
    """
    rng, measure = random.Random(6), parse_measure(name)
    topics = []
    for _ in range(60):
        both = rng.sample(["a", "b", "c"], rng.randint(1, 3))
        good = [f"g{number}" for number in range(rng.randint(2, 4))]
        run = [*rng.sample(["x", "y", "z"], rng.randint(1, 3)), *both]
        grades = dict.fromkeys([*good, "e", "f"], 1) | {"x": 0, "y": 0, "z": 0}
        topics.append(Topic(run, [both[0], *good, *both[:0:-1]], grades))
    expected_ends = [ends(EXACT[name], topic, measure.cutoff, 3) for topic in topics]
    bounds = bounds_of(name, topics)
    assert (bounds.high < 0).sum() > 20
    check_ends(bounds, *np.array(expected_ends).T)


def test_the_bound_of_ap_is_reached_against_an_empty_ranking() -> None:
    rng = random.Random(8)
    topics = [random_topic(rng, 1, 7)._replace(baseline=[]) for _ in range(40)]
    low, high = np.array([ends(PROVED["AP"], topic, None, 1) for topic in topics]).T
    check_ends(bounds_of("AP", topics, highest=1), low, high)
    back = [topic._replace(run=[], baseline=topic.run) for topic in topics]
    check_ends(bounds_of("AP", back, highest=1), -high, -low)


def test_every_other_measure_has_bounds() -> None:
    for family in FAMILIES:
        name = family.name + {"cutoff": "@3", "value": "@0.2"}.get(family.argument, "")
        measure = parse_measure(name)
        none = family.logarithm or family.most > 1 or family.name in ("Judged", "RBPres")
        none = none or bool(family.of_subtopics)
        assert (difference_bounds(measure, pair_of(topics_of(2), 2)) is None) == none


@pytest.mark.parametrize("name", [*EXACT, "ERR@5", *PROVED])
def test_exchanged_runs_have_the_negative_bounds(name: str) -> None:
    topics = topics_of(3)
    there = bounds_of(name, topics)
    back = bounds_of(name, [Topic(run, baseline, grades) for baseline, run, grades in topics])
    np.testing.assert_array_equal(there.low, -back.high)
    np.testing.assert_array_equal(there.scores_low[0], back.scores_high[1])


@pytest.mark.parametrize("name", [*EXACT, "ERR@5", *PROVED])
def test_scores_as_judged_are_within_to_the_last_digit(name: str) -> None:
    """Those of another program too, whose rounding differs; both ends, where all is judged."""
    rng = random.Random(5)
    topics = [random_topic(rng, 3, rng.choice([0, 3])) for _ in range(30)]
    measure, pair = parse_measure(name), pair_of(topics, 3)
    plain = (EXACT | PROVED | ERR)[name]
    judged = [[plain(getattr(t, side), t.grades) for t in topics] for side in ("baseline", "run")]
    scores = np.array(judged) * (1 - 1e-15)
    bounds = difference_bounds(measure, replace(pair, scores=scores))
    assert bounds is not None
    delta = scores[1] - scores[0]
    assert (bounds.low <= delta).all()
    assert (delta <= bounds.high).all()
    whole = [not {*t.run, *t.baseline} - t.grades.keys() for t in topics]
    assert sum(whole) > 5
    np.testing.assert_array_equal(bounds.low[whole], delta[whole])
    np.testing.assert_array_equal(bounds.high[whole], delta[whole])


@pytest.mark.parametrize("name", ["nDCG@5", "ERR@5", "AP", "RR", "Rprec"])
def test_rows_do_not_know_of_each_other(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stacked, in portions or alone: the same bounds, to the last digit."""
    rng = random.Random(9)
    topics = [random_topic(rng, 3, 12, longest=12) for _ in range(40)]
    together = bounds_of(name, topics)
    alone = [bounds_of(name, [topic]) for topic in topics]
    np.testing.assert_array_equal(together.low, [bounds.low[0] for bounds in alone])
    np.testing.assert_array_equal(together.scores_high.T, [b.scores_high[:, 0] for b in alone])
    monkeypatch.setattr(unjudged, "_CELLS", 200)
    monkeypatch.setattr(sweeps, "_AT_ONCE", 8)
    portions = bounds_of(name, topics)
    np.testing.assert_array_equal(together.high, portions.high)


def test_err_given_up_is_a_bound_that_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    topics = [random_topic(rng, 3, 20, longest=12) for _ in range(60)]
    exact = bounds_of("ERR", topics)
    monkeypatch.setattr(sweeps, "_MOST_WAYS", 2)
    monkeypatch.setattr(sweeps, "_SLOTS", 2)
    monkeypatch.setattr(sweeps, "_COUNTED", np.uint64(4))
    proved = bounds_of("ERR", topics)
    assert exact.exact
    assert not proved.exact
    assert (proved.low <= exact.low + 1e-13).all()
    assert (proved.high >= exact.high - 1e-13).all()
    assert (proved.high - exact.high).mean() < 0.1
    for scores in (proved.scores_low, proved.scores_high):
        assert (scores >= 0).all()
        assert (scores <= 1).all()


def test_no_topics_and_no_documents() -> None:
    for name in (*EXACT, "ERR", "AP", "Rprec"):
        assert bounds_of(name, []).low.shape == (0,)
        empty = bounds_of(name, [Topic([], [], {"a": 1}), Topic([], [], {})])
        assert empty.low.tolist() == empty.high.tolist() == [0, 0]
        assert empty.exact == (name != "Rprec")


def test_a_run_that_answers_nothing_can_only_lose() -> None:
    topics = [Topic([], ["a", "b"], {"b": 1})]
    for name in ("P@2", "R@2", "RR", "Success@1", "nDCG", "ERR", "AP", "Bpref"):
        bounds = bounds_of(name, topics)
        assert bounds.low[0] < 0
        assert bounds.high[0] <= 0


def test_judgements_without_a_relevant_document_allow_for_none() -> None:
    """But ERR's grades go up to what --max-grade says."""
    topics = [Topic(["a", "b"], ["b"], {"c": 0})]
    assert bounds_of("nDCG", topics, highest=0).high.tolist() == [0]
    assert bounds_of("P@2", topics, highest=0).high.tolist() == [0]
    assert bounds_of("ERR", topics, highest=0).high.tolist() == [15 / 16]


def test_columns_below_the_cutoff_play_no_part() -> None:
    rng = random.Random(4)
    topics = [random_topic(rng, 3, 3) for _ in range(30)]
    for name in (*EXACT, "ERR@3", "AP@3"):
        depth = parse_measure(name).cutoff
        if depth:
            short = [t._replace(run=t.run[:depth], baseline=t.baseline[:depth]) for t in topics]
            whole, cut = bounds_of(name, topics), bounds_of(name, short)
            np.testing.assert_array_equal(whole.low, cut.low)
            np.testing.assert_array_equal(whole.high, cut.high)


# Real runs: judgements hidden at random.


def topics_of_web(run: str, baseline: str, depth: int) -> list[Topic]:
    qrels = read_qrels(shared("trec-web-2012", "qrels.txt.gz"))
    ours, theirs = (
        rank(read_run(shared("trec-web-2012", "runs", f"{name}.txt.gz")), depth, "double")
        for name in (run, baseline)
    )
    return [
        Topic(ours.get(topic, []), theirs.get(topic, []), dict(qrels.judgements[topic]))
        for topic in qrels.relevant_topics
    ]


def by_pytrec_eval(names: Sequence[str], topics: Sequence[Topic]) -> dict[str, Floats]:
    """The differences by these judgements."""
    number = {f"{row:03d}": topic for row, topic in enumerate(topics)}
    qrels = make_qrels({row: topic.grades for row, topic in number.items()})
    scorer = Scorer(qrels, [parse_measure(name) for name in names])
    scores = []
    for side in ("run", "baseline"):
        docs = {row: getattr(topic, side) for row, topic in number.items()}
        run = {row: {d: -float(i) for i, d in enumerate(some)} for row, some in docs.items()}
        scores.append(scorer.score(make_run(run))[1])
    return {name: scores[0][name] - scores[1][name] for name in scores[0]}


@pytest.mark.parametrize(("run", "share"), [("indriQLCASP", 0.3), ("indriCA", 0.3), ("indriCB", 1)])
def test_differences_by_hidden_judgements_are_within(run: str, share: float) -> None:
    """Of what the measure sees; what nobody judged at all counts as judged not relevant."""
    rng, depth = random.Random(run), 10
    topics = [topic for topic in topics_of_web(run, "indriCASP", depth) if topic.run]
    complete = [
        topic._replace(grades=dict.fromkeys([*topic.run, *topic.baseline], 0) | topic.grades)
        for topic in topics
    ]
    names = [*EXACT, *PROVED, "ERR@10", "ERR@3"]
    whole = [str(measure) for measure in map(parse_measure, names) if (measure.cutoff or 10) >= 5]
    differences = by_pytrec_eval(whole, complete)
    hidden = []
    for topic in complete:
        seen = sorted({*topic.run[:5], *topic.baseline[:5]})
        lost = {document for document in seen if rng.random() < share}
        kept = {d: grade for d, grade in topic.grades.items() if d not in lost}
        hidden.append(topic._replace(grades=kept))
    for name in whole:
        bounds = bounds_of(name, hidden, highest=4)
        assert (bounds.low <= differences[name] + 1e-12).all()
        assert (bounds.high >= differences[name] - 1e-12).all()
        assert (bounds.high - bounds.low).max() > 0.1
