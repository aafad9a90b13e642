"""Scores of a run: every measure against pytrec_eval called plainly, and against the reference."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

from riskcli import Evaluation, Rules, Scorer, UsageError, evaluate, parse_measure
from riskcli.core.choices import Precision, Unjudged
from riskcli.effectiveness.measures import FAMILIES, parse_measures
from riskcli.trec import source
from tests.conftest import Write
from tests.helpers import reference
from tests.helpers.trec_text import make_qrels, make_run, qrels_text, run_text

Docs = dict[str, float]
Grades = dict[str, int]
Scores = dict[str, float]


# Random topics: ties, near ties, negative grades, unjudged and unretrieved documents


def random_topic(rng: random.Random) -> tuple[Docs, Grades]:
    pool = [f"doc{number:02d}" for number in range(60)] + ["D1", "é", "日", "a,b"]
    levels = [0.5, 1.0, 3.0, -2.0, 1e-3, 1e39, -13.5]
    noise = [0, 0, 1e-9, -1e-9, 1e-8, 1e-7, 1e-6]
    docs = {
        docno: rng.choice(levels) * (1 + rng.choice(noise))
        for docno in rng.sample(pool, rng.randint(1, 60))
    }
    few = rng.choice([[-2, 0, 1, 2, 3, 4], [0, 1], [-2, 0, 0, 0, 4], [-1, 0, 1], [-2, 0]])
    judged = rng.sample(pool, rng.randint(2, 50))
    grades = {docno: rng.choice(few) for docno in judged}
    grades[judged[0]] = max(0, grades[judged[0]])  # pytrec_eval dies of a topic below 0 throughout
    return docs, grades


@cache
def random_topics(seed: int = 1, count: int = 120) -> tuple[dict[str, Docs], dict[str, Grades]]:
    rng = random.Random(seed)
    drawn = [random_topic(rng) for _ in range(count)]
    docs = {str(number): docs for number, (docs, _) in enumerate(drawn)}
    return docs, {str(number): grades for number, (_, grades) in enumerate(drawn)}


def scored(
    names: list[str],
    docs: dict[str, Docs],
    grades: dict[str, Grades],
    precision: Precision = "single",
) -> dict[str, Scores]:
    """The scores by measure and topic, of a Scorer that is asked for all measures at once."""
    scorer = Scorer(make_qrels(grades), parse_measures(names), precision=precision)
    topics, values = scorer.score(make_run(docs))
    return {m: dict(zip(topics, v.tolist(), strict=True)) for m, v in values.items()}


# Every family, against pytrec_eval with the whole run, the scores as given and its own names


PLAIN = {
    "nDCG": ("ndcg", "ndcg"),
    "nDCG@1": ("ndcg_cut.1", "ndcg_cut_1"),
    "nDCG@10": ("ndcg_cut.10", "ndcg_cut_10"),
    "nDCG@100": ("ndcg_cut.100", "ndcg_cut_100"),
    "AP": ("map", "map"),
    "AP@5": ("map_cut.5", "map_cut_5"),
    "AP@100": ("map_cut.100", "map_cut_100"),
    "P@1": ("P.1", "P_1"),
    "P@10": ("P.10", "P_10"),
    "P@100": ("P.100", "P_100"),
    "R@5": ("recall.5", "recall_5"),
    "R@1000": ("recall.1000", "recall_1000"),
    "RR": ("recip_rank", "recip_rank"),
    "Success@1": ("success.1", "success_1"),
    "Success@7": ("success.7", "success_7"),
    "Rprec": ("Rprec", "Rprec"),
    "Bpref": ("bpref", "bpref"),
    "infAP": ("infAP", "infAP"),
    "IPrec@0": ("iprec_at_recall.0", "iprec_at_recall_0.00"),
    "IPrec@0.25": ("iprec_at_recall.0.25", "iprec_at_recall_0.25"),
    "IPrec@1": ("iprec_at_recall.1", "iprec_at_recall_1.00"),
    "SetP": ("set_P", "set_P"),
    "SetR": ("set_recall", "set_recall"),
    "SetF": ("set_F", "set_F"),
    "SetAP": ("set_map", "set_map"),
    "NumRet": ("num_ret", "num_ret"),
    "NumRel": ("num_rel", "num_rel"),
    "NumRelRet": ("num_rel_ret", "num_rel_ret"),
    "11pt_avg": ("11pt_avg", "11pt_avg"),
    "G": ("G", "G"),
    "binG": ("binG", "binG"),
    "Rndcg": ("Rndcg", "Rndcg"),
    "ndcg_rel": ("ndcg_rel", "ndcg_rel"),
    "gm_map": ("gm_map", "gm_map"),
    "gm_bpref": ("gm_bpref", "gm_bpref"),
    "relative_P@5": ("relative_P.5", "relative_P_5"),
    "Rprec_mult@0.2": ("Rprec_mult.0.2", "Rprec_mult_0.20"),
    "Rprec_mult@1.5": ("Rprec_mult.1.5", "Rprec_mult_1.50"),
    "set_relative_P": ("set_relative_P", "set_relative_P"),
    "utility": ("utility", "utility"),
    "num_nonrel_judged_ret": ("num_nonrel_judged_ret", "num_nonrel_judged_ret"),
}


@cache
def plainly(name: str, level: int = 1) -> dict[str, dict[str, float]]:
    docs, grades = random_topics()
    evaluator = pytrec_eval.RelevanceEvaluator(grades, {name}, relevance_level=level)
    answer: dict[str, dict[str, float]] = evaluator.evaluate(docs)
    return answer


def test_every_family_but_err_is_compared() -> None:
    compared = {parse_measure(name).family.name for name in PLAIN}
    assert compared == {family.name for family in FAMILIES if family.computed_by is None}


@cache
def all_at_once() -> dict[str, Scores]:
    return scored(list(PLAIN), *random_topics())


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "among others"])
def test_a_measure_is_pytrec_evals(name: str, alone: bool) -> None:
    found = scored([name], *random_topics())[name] if alone else all_at_once()[name]
    asked, key = PLAIN[name]
    expected = {topic: values[key] for topic, values in plainly(asked).items()}
    assert len(expected) == 120
    assert len(set(expected.values())) > 1
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("level", [2, 3, 4])
@pytest.mark.parametrize(
    "name", [name for name in PLAIN if parse_measure(name).family.parameter("rel")]
)
def test_a_relevance_level_is_pytrec_evals(name: str, level: int) -> None:
    family, at, cutoff = name.partition("@")
    found = scored([f"{family}(rel={level}){at}{cutoff}"], *random_topics())
    asked, key = PLAIN[name]
    expected = {topic: values[key] for topic, values in plainly(asked, level).items()}
    assert next(iter(found.values())) == pytest.approx(expected, rel=1e-12, abs=1e-12)


GEOMETRIC = ("AP", "nDCG@10", "P@5", "ERR@20", "RBP(p=0.8,rel=1)@10", "RBPres", "Bpref")


def test_a_geometric_mean_is_of_the_logarithms_that_trec_eval_takes() -> None:
    asked = [*GEOMETRIC, *(f"gm({name})" for name in GEOMETRIC), "gm_map", "gm_bpref"]
    found = scored(asked, *random_topics())
    for name in GEOMETRIC:
        canonical = str(parse_measure(name))
        plain, logs = found[canonical], found[f"gm({canonical})"]
        assert min(plain.values()) < 1e-5 or name == "RBPres"  # some are nothing
        expected = {t: math.log(min(max(x, 0.00001), 1)) for t, x in plain.items()}
        assert logs == pytest.approx(expected, rel=1e-15, abs=0)
    assert found["gm(AP)"] == pytest.approx(found["gm_map"], rel=1e-15, abs=0)
    theirs = {topic: values["gm_map"] for topic, values in plainly("gm_map").items()}
    assert found["gm(AP)"] == pytest.approx(theirs, rel=1e-15, abs=0)
    assert found["gm(Bpref)"] == pytest.approx(found["gm_bpref"], rel=1e-15, abs=0)


@pytest.mark.parametrize("rule", ["zero", "condensed"])
def test_a_geometric_mean_scores_files_as_gm_map_does(write: Write, rule: Unjudged) -> None:
    docs, grades = random_topics()
    some = {topic: docs[topic] for topic in list(docs)[::3]}  # the others are not answered
    files = [write("all.run", run_text(docs)), write("some.run", run_text(some))]
    rules = Rules(("gm(AP)", "gm_map"), unjudged=rule)
    ours, theirs = evaluate(files, qrels=write("judged", qrels_text(grades)), rules=rules).matrices
    assert ours.measure == "gm(AP)" and ours.has_logarithms
    np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-15)
    np.testing.assert_allclose(ours.shown_means(), theirs.shown_means(), rtol=1e-15)


# The reference, which has ERR, the exponential gain and RR@k as well


REFERENCE: dict[str, Callable[[list[str], Grades], float]] = {
    "ERR": lambda ranked, grades: reference.err(ranked, grades, len(ranked)),
    "ERR@1": lambda ranked, grades: reference.err(ranked, grades, 1),
    "ERR@20": lambda ranked, grades: reference.err(ranked, grades, 20),
    "ERR@1000": lambda ranked, grades: reference.err(ranked, grades, 1000),
    "nDCG": reference.ndcg,
    "nDCG@20": lambda ranked, grades: reference.ndcg(ranked, grades, 20),
    "nDCG(dcg='exp-log2')": reference.ndcg_exp,
    "nDCG(dcg='exp-log2')@3": lambda ranked, grades: reference.ndcg_exp(ranked, grades, 3),
    "nDCG(dcg='exp-log2')@20": lambda ranked, grades: reference.ndcg_exp(ranked, grades, 20),
    "AP": reference.average_precision,
    "AP@10": lambda ranked, grades: reference.average_precision(ranked, grades, 10),
    "AP(rel=2)@10": lambda ranked, grades: reference.average_precision(ranked, grades, 10, 2),
    "P@10": lambda ranked, grades: reference.precision(ranked, grades, 10),
    "P(rel=3)@5": lambda ranked, grades: reference.precision(ranked, grades, 5, 3),
    "R@10": lambda ranked, grades: reference.recall(ranked, grades, 10),
    "R(rel=2)@10": lambda ranked, grades: reference.recall(ranked, grades, 10, 2),
    "RR": reference.reciprocal_rank,
    "RR@3": lambda ranked, grades: reference.reciprocal_rank(ranked, grades, 3),
    "RR(rel=4)@10": lambda ranked, grades: reference.reciprocal_rank(ranked, grades, 10, 4),
    "Success@1": lambda ranked, grades: reference.success(ranked, grades, 1),
    "Success(rel=2)@5": lambda ranked, grades: reference.success(ranked, grades, 5, 2),
    "Rprec": reference.r_precision,
    "Rprec(rel=2)": lambda ranked, grades: reference.r_precision(ranked, grades, 2),
}


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("name", REFERENCE)
def test_a_measure_is_the_references(name: str, precision: Precision) -> None:
    docs, grades = random_topics()
    found = scored([name], docs, grades, precision)[name]
    for topic, value in found.items():
        ranked = reference.rank(docs[topic], precision)
        expected = REFERENCE[name](ranked, grades[topic])
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-12), topic
    assert len(found) == len(docs)


@pytest.mark.parametrize("max_grade", [4, 5, 10, 60])
def test_err_takes_the_highest_grade_that_it_is_told(max_grade: int) -> None:
    docs, grades = random_topics()
    scorer = Scorer(make_qrels(grades), [parse_measure("ERR@20")], max_grade=max_grade)
    topics, values = scorer.score(make_run(docs))
    for topic, value in zip(topics, values["ERR@20"], strict=True):
        ranked = reference.rank(docs[topic])
        expected = reference.err(ranked, grades[topic], 20, max_grade)
        assert value == pytest.approx(expected, rel=1e-12)


# What must not matter


def test_the_depth_of_the_other_measures_does_not_matter() -> None:
    names = [name for name in {**PLAIN, **REFERENCE} if "@" in name]
    together = scored([*names, "NumRet"], *random_topics())
    for name in names:
        assert scored([name], *random_topics())[name] == together[name], name


@pytest.mark.parametrize(
    ("names", "depth"),
    [
        (["ERR@20", "nDCG@10"], 20),
        (["P@5"], 5),
        (["RR@7"], 7),
        (["ERR@20", "AP"], None),
        (["IPrec@0.1", "P@5"], None),
        (["Rprec_mult@1", "P@5"], None),
        (["NumRet"], None),
    ],
)
def test_no_more_is_read_than_the_measures_need(names: list[str], depth: int | None) -> None:
    assert Scorer(make_qrels({"1": {"a": 1}}), parse_measures(names)).depth == depth


def test_a_cutoff_deeper_than_the_run_is_allowed() -> None:
    grades = {"1": {"a": 1, "b": 2}}
    found = scored(["ERR@1000", "P@1000", "nDCG@1000", "RR@1000"], {"1": {"a": 1.0}}, grades)
    assert found["P@1000"]["1"] == 1 / 1000
    assert found["RR@1000"]["1"] == 1
    assert found["ERR@1000"]["1"] == 1 / 16
    assert found["nDCG@1000"]["1"] == pytest.approx(1 / (2 + 1 / np.log2(3)))


@pytest.mark.parametrize("name", [*PLAIN, *REFERENCE])
def test_a_topic_of_grades_below_0_scores_without_harm(name: str) -> None:
    docs = {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 2.0, "b": 1.0}}
    below = scored([name], docs, {"1": {"a": -2, "b": -1}, "2": {"a": 1}})[name]
    zero = scored([name], docs, {"1": {"z": 0}, "2": {"a": 1}})[name]
    assert below == zero
    assert np.isfinite(list(below.values())).all()


# Precision, grades


@pytest.mark.parametrize(
    ("precision", "reciprocal"), [("single", 0.5), ("double", 1.0)], ids=["single", "double"]
)
def test_scores_1e_8_apart_tie_in_single_precision_only(
    precision: Precision, reciprocal: float
) -> None:
    docs, grades = {"1": {"a": 1.0 + 1e-8, "b": 1.0}}, {"1": {"a": 1}}
    found = scored(["RR", "ERR@20", "P@1"], docs, grades, precision)
    assert found["RR"]["1"] == reciprocal
    assert found["P@1"]["1"] == float(precision == "double")
    assert found["ERR@20"]["1"] == reciprocal / 16


@pytest.mark.parametrize(("precision", "score"), [("single", 0.5), ("double", 1.0)])
def test_the_precision_is_the_one_that_was_asked_for(
    write: Write, precision: Precision, score: float
) -> None:
    run = write("r", run_text({"1": {"a": 1.0 + 1e-8, "b": 1.0}}))
    rules = Rules(("RR",), score_precision=precision)
    found = evaluate([run], qrels=write("judged", b"1 0 a 1\n"), rules=rules)
    assert found.matrices[0].values.tolist() == [[score]]
    assert found.settings["score_precision"] == precision


def test_a_grade_above_the_highest_is_an_error_that_says_so() -> None:
    qrels = make_qrels({"9": {"a": 4}, "10": {"b": 5, "c": 7}})
    with pytest.raises(UsageError) as caught:
        Scorer(qrels, [parse_measure("ERR@20")])
    assert str(caught.value) == (
        "qrels: topic 10 document b has grade 5, above the highest that ERR expects (4); "
        "set --max-grade 7 or --max-grade auto"
    )


def test_a_high_grade_is_no_error_where_err_is_not_asked_for() -> None:
    assert scored(["nDCG@5"], {"1": {"a": 1.0}}, {"1": {"a": 9}}) == {"nDCG@5": {"1": 1.0}}


@pytest.mark.parametrize(("highest", "err"), [(1, 0.5), (3, 0.875), (9, 511 / 512)])
def test_the_highest_grade_of_the_qrels_may_count(highest: int, err: float) -> None:
    qrels = make_qrels({"1": {"a": highest}, "2": {"a": 0}})
    scorer = Scorer(qrels, [parse_measure("ERR")], max_grade=None)
    _, values = scorer.score(make_run({"1": {"a": 1.0}}))
    assert values["ERR"].tolist() == [err]


@pytest.mark.parametrize("highest", [60, 1023, 1024, 2**15])
def test_err_of_any_grade_that_qrels_may_hold_is_finite(highest: int) -> None:
    scorer = Scorer(make_qrels({"1": {"a": highest}}), [parse_measure("ERR")], max_grade=None)
    _, values = scorer.score(make_run({"1": {"b": 2.0, "a": 1.0}}))
    assert values["ERR"].tolist() == [pytest.approx(0.5)]


@pytest.mark.parametrize("highest", [1, 10, 20])
def test_the_exponential_gain_of_a_high_grade_counts(highest: int) -> None:
    name = "nDCG(dcg='exp-log2')@5"
    found = scored([name], {"1": {"b": 2.0, "a": 1.0}}, {"1": {"a": highest}})
    assert found[name]["1"] == pytest.approx(1 / np.log2(3))


@pytest.mark.parametrize("highest", [21, 40, 62, 64, 2**15])
def test_a_grade_too_high_for_the_exponential_gain_is_an_error(highest: int) -> None:
    with pytest.raises(UsageError) as caught:
        scored(["nDCG(dcg='exp-log2')"], {"1": {"a": 1.0}}, {"1": {"b": 0, "a": highest}})
    message = f"topic 1 document a has grade {highest}, above the highest that dcg='exp-log2'"
    assert message in str(caught.value)


# Which topics count, through files


QRELS = {
    "1": {"a": 1},
    "2": {"a": 0},  # judged, nothing relevant
    "10": {"a": 2},
    "9": {"a": 1},
}
FULL = {"1": {"a": 1.0}, "2": {"a": 1.0}, "9": {"a": 1.0}, "10": {"a": 1.0}}
PARTIAL = {"10": {"a": 1.0}, "1": {"z": 2.0, "a": 1.0}, "2": {"a": 1.0}, "77": {"a": 1.0}}


@pytest.fixture
def rated(write: Write) -> Callable[[Rules], Evaluation]:
    files = [write("full", run_text(FULL, "full")), write("partial", run_text(PARTIAL, "partial"))]
    qrels = write("judged", qrels_text(QRELS))
    return lambda rules: evaluate(files, qrels=qrels, rules=rules)


@pytest.mark.parametrize(
    ("rule", "topics", "values"),
    [
        ("relevant", ("1", "9", "10"), [[1, 1, 1], [0.5, 0, 1]]),
        ("judged", ("1", "2", "9", "10"), [[1, 0, 1, 1], [0.5, 0, 0, 1]]),
        ("common", ("1", "10"), [[1, 1], [0.5, 1]]),
    ],
)
def test_the_topics_that_count(
    rated: Callable[[Rules], Evaluation],
    rule: str,
    topics: tuple[str, ...],
    values: list[list[float]],
) -> None:
    matrix = rated(Rules(("RR",), topics=rule)).matrices[0]  # type: ignore[arg-type]
    assert matrix.runs == ("full", "partial")
    assert matrix.topics == topics
    assert matrix.values.tolist() == values


@pytest.mark.parametrize(
    ("rule", "codes"),
    [
        ("relevant", {"unknown-topics", "unanswered-topics", "barren-topics"}),
        ("judged", {"unknown-topics", "unanswered-topics"}),
        ("common", {"unknown-topics", "left-out-topics", "barren-topics"}),
    ],
)
def test_what_was_filled_or_dropped_is_counted(
    rated: Callable[[Rules], Evaluation], rule: str, codes: set[str]
) -> None:
    notes = {note.code: note for note in rated(Rules(topics=rule)).notes}  # type: ignore[arg-type]
    assert notes.keys() == codes
    assert "partial (1)" in notes["unknown-topics"].message
    if "unanswered-topics" in notes:
        assert notes["unanswered-topics"].message.endswith("score 0: partial (1)")
        assert notes["unanswered-topics"].warning
    if "left-out-topics" in notes:
        assert notes["left-out-topics"].message.startswith("1 topic left out")
    if "barren-topics" in notes:
        assert notes["barren-topics"].message.startswith("1 topic of the qrels")
        assert not notes["barren-topics"].warning


def test_a_run_of_other_topics_is_an_error(write: Write) -> None:
    qrels = write("judged", qrels_text(QRELS))
    with pytest.raises(UsageError, match="answers none of the 3 topics evaluated"):
        evaluate([write("r", run_text({"001": {"a": 1.0}}))], qrels=qrels)


def test_judgements_without_a_relevant_document_are_an_error(write: Write) -> None:
    files = [write("r", run_text({"1": {"a": 1.0}}))]
    with pytest.raises(UsageError, match="the qrels hold no relevant document"):
        evaluate(files, qrels=write("judged", b"1 0 a 0\n"))


def test_the_file_of_the_judgements_is_named_where_a_grade_is_too_high(write: Write) -> None:
    qrels = write("judged", b"1 0 a 5\n")
    with pytest.raises(UsageError, match="judged: topic 1 document a has grade 5"):
        evaluate([write("r", run_text({"1": {"a": 1.0}}))], qrels=qrels)
    found = evaluate(
        [write("r", run_text({"1": {"a": 1.0}}))],
        qrels=qrels,
        rules=Rules(("ERR@20",), max_grade=None),
    )
    assert found.matrices[0].values.tolist() == [[31 / 32]]
    assert found.settings["max_grade"] == "auto"


def test_an_evaluation_says_what_it_rests_on(write: Write) -> None:
    files = [write("b.run", run_text(FULL, "x")), write("a.run", run_text(PARTIAL, "y"))]
    qrels = write("judged", qrels_text(QRELS))
    found = evaluate([str(file) for file in files], qrels=qrels, rules=Rules(("map", "P_5")))
    assert [matrix.measure for matrix in found.matrices] == ["AP", "P@5"]
    assert [(file.path.name, file.kind) for file in found.inputs] == [
        ("a.run", "run"),
        ("b.run", "run"),
        ("judged", "qrels"),
    ]
    assert found.settings == {
        "measures": ["AP", "P@5"],
        "topics": "relevant",
        "max_grade": 4,
        "score_precision": "single",
        "run_names": "auto",
    }


def test_the_place_and_order_of_the_files_do_not_matter(write: Write) -> None:
    qrels = write("judged", qrels_text(QRELS))
    one = [write("x/a", run_text(FULL, "a")), write("y/b", run_text(PARTIAL, "b"))]
    two = [write("z/b", run_text(PARTIAL, "b")), write("z/a", run_text(FULL, "a"))]
    first, second, folder = (
        evaluate(places, qrels=qrels) for places in (one, two, [Path(two[0]).parent])
    )
    for found in (second, folder):
        assert found.notes == first.notes
        assert found.settings == first.settings
        for matrix, other in zip(found.matrices, first.matrices, strict=True):
            assert (matrix.runs, matrix.topics) == (other.runs, other.topics)
            assert matrix.values.tolist() == other.values.tolist()


@pytest.mark.parametrize(
    ("name", "piece"),
    [
        *(("nDCG@10", piece) for piece in (1, 2000, source.PIECE)),
        *((name, piece) for name in ("P@10", "AP@5", "AP") for piece in (2000, source.PIECE)),
    ],
)
def test_files_score_as_pytrec_eval_scores_them(
    write: Write, monkeypatch: pytest.MonkeyPatch, name: str, piece: int
) -> None:
    """Whatever is read at once, and whatever of it is kept for so deep a measure."""
    monkeypatch.setattr(source, "PIECE", piece)
    docs, grades = random_topics()
    files = [write("a.run", run_text(docs))]
    found = evaluate(files, qrels=write("judged", qrels_text(grades)), rules=Rules((name,)))
    (matrix,) = found.matrices
    asked, key = PLAIN[name]
    expected = [plainly(asked)[topic][key] for topic in matrix.topics]
    assert len(expected) > 60
    assert matrix.values[0].tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_the_number_of_jobs_does_not_matter(write: Write) -> None:
    docs, grades = random_topics()
    files = []
    for number in range(12):
        moved = {
            topic: {docno: score * (place % (number + 1)) for place, (docno, score) in row}
            for topic, row in ((topic, enumerate(row.items())) for topic, row in docs.items())
        }
        files.append(write(f"r{number}", run_text(moved, f"r{number}")))
    qrels = write("judged", qrels_text(grades))
    rules = Rules(("ERR@20", "nDCG", "RR@3", "AP(rel=2)"))
    one, many = (evaluate(files, qrels=qrels, rules=rules, jobs=jobs) for jobs in (1, 8))
    assert one.notes == many.notes
    for matrix, other in zip(one.matrices, many.matrices, strict=True):
        assert (matrix.runs, matrix.topics) == (other.runs, other.topics)
        assert matrix.values.tolist() == other.values.tolist()
