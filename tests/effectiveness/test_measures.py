"""Names of effectiveness measures: both vocabularies, one canonical form, no silent guess."""

from __future__ import annotations

import math

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from riskcli import UsageError, parse_measure
from riskcli.effectiveness.measures import (
    DEFAULT_MEASURES,
    FAMILIES,
    Family,
    is_logarithm,
    is_measure,
    parse_measures,
    split_names,
    texts_of,
    unanswered_score,
)

NO_SCORES = {"relstring", "runid", "num_q"}
"""What pytrec_eval calls measures and is none. (It answers 0.0 for relstring.)"""

SAME = {
    "ERR": ["ERR", "err", "Err"],
    "ERR@20": ["ERR@20", "err@20", "ERR_20", "ERR.20", " ERR@20 ", "ERR@020"],
    "nDCG": ["nDCG", "ndcg", "NDCG"],
    "nDCG@20": ["nDCG@20", "ndcg_cut_20", "ndcg_cut.20", "ndcg@20", "NDCG@20", "ndcg_20"],
    "nDCG(dcg='exp-log2')": ["nDCG(dcg='exp-log2')", 'ndcg(dcg="exp-log2")'],
    "nDCG(dcg='exp-log2')@20": ["nDCG(dcg='exp-log2')@20", "nDCG( dcg = 'exp-log2' )@20"],
    "AP": ["AP", "ap", "map", "MAP", "AP(rel=1)", "AP()"],
    "AP@100": ["AP@100", "map_cut_100", "map_cut.100", "map@100"],
    "AP(rel=2)@100": ["AP(rel=2)@100", "map_cut(rel=2)_100", "AP(rel='2')@100"],
    "P@10": ["P@10", "P_10", "P.10", "p@10", "precision@10"],
    "P(rel=2)@10": ["P(rel=2)@10", "P( rel = 2 )@10"],
    "R@1000": ["R@1000", "recall_1000", "recall.1000", "Recall@1000", "r@1000"],
    "RR": ["RR", "recip_rank", "MRR", "mrr", "rr"],
    "RR@10": ["RR@10", "recip_rank@10", "MRR@10"],
    "Success@5": ["Success@5", "success_5", "success.5"],
    "Rprec": ["Rprec", "rprec", "RPrec"],
    "Rprec(rel=3)": ["Rprec(rel=3)"],
    "Bpref": ["Bpref", "bpref"],
    "infAP": ["infAP", "infap"],
    "IPrec@0.1": ["IPrec@0.1", "iprec_at_recall_0.10", "iprec_at_recall.0.1", "IPrec@0.10"],
    "IPrec@0": ["IPrec@0", "iprec_at_recall_0.00", "IPrec@0.0"],
    "IPrec@1": ["IPrec@1", "iprec_at_recall_1.00"],
    "SetP": ["SetP", "set_P"],
    "SetR": ["SetR", "set_recall"],
    "SetF": ["SetF", "set_F"],
    "SetAP": ["SetAP", "set_map"],
    "NumRet": ["NumRet", "num_ret"],
    "NumRel": ["NumRel", "num_rel"],
    "NumRelRet": ["NumRelRet", "num_rel_ret"],
    "11pt_avg": ["11pt_avg"],
    "G": ["G", "g"],
    "binG": ["binG"],
    "Rndcg": ["Rndcg"],
    "ndcg_rel": ["ndcg_rel"],
    "gm_map": ["gm_map"],
    "gm(AP)": ["gm(AP)", "gm(map)", " GM( ap ) "],
    "gm(nDCG@20)": ["gm(ndcg_cut_20)", "gm(nDCG@020)"],
    "gm(RBP(p=0.8,rel=1)@10)": ["gm(RBP@10)", "gm(rbp(rel=1,p=.8)@10)"],
    "gm(nDCG(dcg='exp-log2')@5)": ['gm(ndcg(dcg="exp-log2")@5)'],
    "RBP(p=0.8,rel=1)": ["RBP", "rbp(p=.8)", "RBP(rel=1,p=0.80)", "RBP(p=0.8,rel=1)"],
    "RBP(p=0.5,rel=2)@10": ["RBP(rel=2,p=0.5)@10", "RBP(p=.5,rel=2)@10"],
    "RBPres(p=0.95)": ["RBPres(p=.95)"],
    "RBPres(p=0.8)@20": ["RBPres@20"],
    "Judged": ["judged"],
    "Judged@10": ["Judged@10", "judged_10"],
    "gm_bpref": ["gm_bpref"],
    "relative_P@5": ["relative_P@5", "relative_P_5", "relative_P.5"],
    "Rprec_mult@0.2": ["Rprec_mult@0.2", "Rprec_mult_0.20", "Rprec_mult.0.2"],
    "Rprec_mult@1.4": ["Rprec_mult_1.40"],
    "set_relative_P": ["set_relative_P"],
    "utility": ["utility"],
    "num_nonrel_judged_ret": ["num_nonrel_judged_ret"],
    "ERR_IA@20": ["ERR-IA@20", "err_ia@20", "ERR_IA(alpha=0.5)@20", "ERR-IA_20"],
    "nERR_IA(alpha=0.3)@5": ["nERR-IA(alpha=.3)@5"],
    "alpha_DCG@20": ["alpha-DCG@20", "α_DCG@20", "α-DCG@20", "Alpha-DCG_20"],
    "alpha_nDCG(alpha=0.0,rel=2)@10": ["alpha-nDCG(rel=2,alpha=0)@10"],
    "NRBP": ["nrbp", "NRBP(alpha=0.5,beta=0.5)"],
    "nNRBP(beta=0.8)": ["nNRBP(beta=0.8)"],
    "AP_IA": ["MAP-IA", "AP_IA(rel=1)", "map-ia"],
    "P_IA@5": ["P-IA@5"],
    "StRecall@10": ["strec@10", "StRec@10"],
}
SPELLINGS = [(text, canonical) for canonical, texts in SAME.items() for text in texts]


@pytest.mark.parametrize(("text", "canonical"), SPELLINGS)
def test_every_spelling_has_one_canonical_form(text: str, canonical: str) -> None:
    assert str(parse_measure(text)) == canonical


@pytest.mark.parametrize("canonical", SAME)
def test_the_canonical_form_parses_back_to_the_same(canonical: str) -> None:
    measure = parse_measure(canonical)
    assert str(measure) == canonical
    assert parse_measure(str(measure)) == measure
    assert len({measure, parse_measure(canonical)}) == 1


def test_every_family_is_in_the_table() -> None:
    parsed = [parse_measure(canonical) for canonical in SAME]
    assert {measure.family.name for measure in parsed if measure.inner is None} == {
        family.name for family in FAMILIES
    }


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_says_what_it_is(family: Family) -> None:
    assert family.summary
    assert (family.computed_by is not None) == (not family.plain and not family.cut)


def test_no_name_belongs_to_two_families() -> None:
    names = [name for family in FAMILIES for name in {name.lower() for name in family.names}]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", sorted(pytrec_eval.supported_measures - NO_SCORES))
def test_every_measure_of_pytrec_eval_is_accepted(name: str) -> None:
    evaluator = pytrec_eval.RelevanceEvaluator({"1": {"a": 1}}, {name})
    keys = list(evaluator.evaluate({"1": {"a": 1.0}})["1"])
    assert keys
    for key in keys:  # with the cutoffs that trec_eval takes of itself: P_5, P_10, ...
        measure = parse_measure(key)
        assert measure.trec_key == key


@pytest.mark.parametrize("name", sorted(NO_SCORES))
def test_what_is_no_score_is_refused(name: str) -> None:
    assert name in pytrec_eval.supported_measures
    with pytest.raises(UsageError, match=f"unknown measure '{name}'"):
        parse_measure(name)


@given(
    st.sampled_from([family for family in FAMILIES if "cutoff" in family.argument]),
    st.integers(1, 10_000_000),
    st.integers(1, 2**15),
)
def test_any_cutoff_and_any_level_print_and_parse(family: Family, cutoff: int, level: int) -> None:
    brackets = f"(rel={level})" if family.parameter("rel") else ""
    measure = parse_measure(f"{family.name}{brackets}@{cutoff}")
    assert measure.cutoff == cutoff
    assert measure.relevance == (level if brackets else 1)
    assert parse_measure(str(measure)) == measure


@given(st.sampled_from(["IPrec", "Rprec_mult"]), st.integers(0, 100))
def test_any_value_of_two_decimals_prints_and_parses(name: str, hundredths: int) -> None:
    measure = parse_measure(f"{name}@{hundredths / 100}")
    assert measure.cutoff is None
    assert parse_measure(str(measure)) == measure
    assert measure.trec_key.endswith(f"_{hundredths / 100:.2f}")


WRONG = {
    "nDGC@20": "unknown measure 'nDGC@20'; did you mean nDCG",
    "ndcg_cut_x": "unknown measure 'ndcg_cut_x'; did you mean ndcg_cut",
    "presicion@10": "unknown measure 'presicion@10'",
    "recal_10": "did you mean recall",
    "sucess@5": "did you mean Success",
    "bperf": "did you mean Bpref",
    "relstring": "unknown measure 'relstring'",
    "xyzzy": "the measures are ERR, nDCG, AP, P, R, RR",
    "": "unknown measure ''",
    "@20": "unknown measure '@20'",
    "20": "unknown measure '20'",
    "nDCG@": "unknown measure 'nDCG@'",
    "nDCG@-5": "unknown measure 'nDCG@-5'",
    "nDCG@1e3": "unknown measure 'nDCG@1e3'",
    "nDCG@20@30": "unknown measure 'nDCG@20@30'",
    "nDCG@20,": "unknown measure 'nDCG@20,'",
    "AP@100(rel=2)": "'AP@100(rel=2)'; brackets stand before the cutoff: AP(rel=2)@100",
    "presicion@10(rel=2)": "did you mean precision",
    "gm AP": "'gm AP'; a geometric mean is written gm(AP)",
    "gm_ndcg": "'gm_ndcg'; a geometric mean is written gm(AP)",
    "gm(AP": "'gm(AP'; a geometric mean is written gm(AP)",
    "gm()": "'gm()'; a geometric mean is written gm(AP)",
    "gmap": "'gmap'; a geometric mean is written gm(AP)",
    "gm_mapp": "did you mean gm_map",
    "P(rel=2": "unknown measure 'P(rel=2'",
    "P": "measure 'P': it needs a cutoff, as in P@10",
    "recall": "measure 'recall': it needs a cutoff, as in R@10",
    "Success": "it needs a cutoff, as in Success@10",
    "IPrec": "it needs a value, as in IPrec@0.1",
    "Rprec_mult": "it needs a value, as in Rprec_mult@0.1",
    "Rprec@10": "measure 'Rprec@10': Rprec takes no cutoff",
    "bpref_10": "Bpref takes no cutoff",
    "nDCG@0": "the cutoff is '0', expected a whole number from 1 to 10,000,000",
    "nDCG@10000001": "the cutoff is '10000001', expected a whole number from 1",
    "nDCG@20.5": "the cutoff is '20.5', expected a whole number",
    "nDCG@20.0": "the cutoff is '20.0', expected a whole number",
    "P_0": "the cutoff is '0'",
    "IPrec@0.125": "found 0.125, trec_eval tells only two decimals apart",
    "IPrec@1.1": "found 1.1, expected a value from 0 to 1",
    "IPrec@99999999": "expected a value from 0 to 1",
    "Rprec_mult@1000000": "expected a value from 0 to 100",
    "P(rel=0)@10": "rel is '0', expected a grade from 1",
    "P(rel=x)@10": "found 'rel=x' in brackets, P takes rel",
    "P(rel=-1)@10": "found 'rel=-1' in brackets, P takes rel",
    "P(rel='x')@10": "rel is 'x', expected a grade from 1",
    "P(rel=32769)@10": "rel is '32769', expected a grade from 1 to 32768",
    "P(rel=99999999999999999999)@10": "expected a grade from 1 to 32768",
    "P(dcg='exp-log2')@10": "found \"dcg='exp-log2'\" in brackets, P takes rel",
    "P(2)@10": "found '2' in brackets, P takes rel=...",
    "nDCG(rel=2)@10": "found 'rel=2' in brackets, nDCG takes dcg",
    "nDCG(dcg='exp')@10": "dcg is 'exp', expected 'log2' or 'exp-log2'",
    "ERR(rel=2)@10": "found 'rel=2' in brackets, ERR takes no parameter",
    "NumRet(rel=2)": "NumRet takes no parameter",
    "RBP(p=1)": "p is '1', expected a number between 0 and 1",
    "RBP(p=0)": "p is '0', expected a number between 0 and 1",
    "RBP(p='x')": "p is 'x', expected a number between 0 and 1",
    "RBP(p=0.00001)": "p is '0.00001', expected a number between 0 and 1",
    "RBP(rel=1.5)": "rel is '1.5', expected a grade from 1",
    "RBPres(rel=2)": "found 'rel=2' in brackets, RBPres takes p",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_a_wrong_name_is_an_error_that_helps(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_measure(text)
    assert message in str(caught.value)


@given(st.text(max_size=20) | st.from_regex(r"\A[A-Za-z_]{1,8}(\([a-z=0-9',]*\))?[@._]?[0-9.]*\Z"))
def test_any_other_text_is_a_measure_or_a_usage_error(text: str) -> None:
    try:
        measure = parse_measure(text)
    except UsageError:
        return
    assert parse_measure(str(measure)) == measure


def test_several_names_may_stand_in_one_text() -> None:
    texts = ["ERR@20,nDCG@20", "P@5, P_5 ,map", "", "nDCG(dcg='exp-log2')@5,AP(rel=2)"]
    assert [str(measure) for measure in parse_measures(texts)] == [
        "ERR@20",
        "nDCG@20",
        "P@5",
        "AP",
        "nDCG(dcg='exp-log2')@5",
        "AP(rel=2)",
    ]


SEVERAL = {
    "P.5,10": ["P@5", "P@10"],
    "P@5,10": ["P@5", "P@10"],
    "IPrec@0.1,0.2": ["IPrec@0.1", "IPrec@0.2"],
    "P@5 nDCG@10": ["P@5", "nDCG@10"],
    "P@5, 10\tAP": ["P@5", "P@10", "AP"],
    "gm(RBP(p=0.8,rel=1)@10),AP gm(P@5)": ["gm(RBP(p=0.8,rel=1)@10)", "AP", "gm(P@5)"],
    "nDCG( dcg = 'exp-log2' )@20 P( rel = 2 )@5,10": [
        "nDCG(dcg='exp-log2')@20",
        "P(rel=2)@5",
        "P(rel=2)@10",
    ],
}


@pytest.mark.parametrize(("text", "expected"), SEVERAL.items())
def test_cutoffs_and_names_as_trec_eval_takes_them(text: str, expected: list[str]) -> None:
    assert [str(measure) for measure in parse_measures([text])] == expected


def test_a_number_after_a_name_without_cutoff_is_no_measure() -> None:
    with pytest.raises(UsageError, match="unknown measure '20'"):
        parse_measures(["AP,20"])


def test_a_measure_of_a_score_file_may_have_blanks_in_its_name() -> None:
    assert split_names(["my own measure", "AP another one"]) == ["my own measure", "AP another one"]


def test_official_is_what_trec_eval_prints() -> None:
    found = [measure.trec_key for measure in parse_measures(["official"])]
    assert found[:8] == [
        "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"
    ]  # fmt: skip
    assert found[8:19] == [f"iprec_at_recall_{i / 10:.2f}" for i in range(11)]
    assert found[19:] == [f"P_{i}" for i in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]


def test_the_defaults_are_those_of_the_web_tracks() -> None:
    assert DEFAULT_MEASURES == ("ERR@20", "nDCG@20")
    assert [str(measure) for measure in parse_measures(DEFAULT_MEASURES)] == ["ERR@20", "nDCG@20"]


def test_one_measure_or_several_may_be_given() -> None:
    assert texts_of("ERR@20") == texts_of(parse_measure("err@20")) == ("ERR@20",)
    assert texts_of(["ERR@20", parse_measure("map")]) == ("ERR@20", "AP")


@pytest.mark.parametrize("name", SAME)
def test_a_geometric_mean_has_the_cutoff_of_its_measure(name: str) -> None:
    inner = parse_measure(name)
    if inner.family.most == math.inf or inner.family.logarithm:
        assert not is_measure(f"gm({name})")
        return
    measure = parse_measure(f"gm({name})")
    assert (str(measure), measure.cutoff) == (f"gm({inner})", inner.cutoff)
    for file_name in (str(measure), f"{measure} [human (2)]"):
        assert is_logarithm(file_name)
        nothing = 1.0 if inner.family.name == "RBPres" else 1e-5
        assert unanswered_score(file_name) == pytest.approx(math.log(nothing), rel=1e-15)


REFUSED = {
    "gm(gm(AP))": r"measure 'gm\(gm\(AP\)\)': gm\(AP\) has logarithms already",
    "gm(gm_map)": "gm_map has logarithms already",
    "gm(NumRet)": "NumRet counts documents",
    "gm(utility)": "utility counts documents",
    "gm(APP)": "unknown measure 'APP'; did you mean AP",
    "gm(P)": "it needs a cutoff",
    "gm": "unknown measure 'gm'",
}


@pytest.mark.parametrize(("name", "reason"), REFUSED.items())
def test_of_what_there_is_no_geometric_mean(name: str, reason: str) -> None:
    assert not is_measure(name)
    with pytest.raises(UsageError, match=reason):
        parse_measure(name)
