"""RBP, its residual and Judged@k: against ir_measures' providers, by brute force, and as laws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcli import Rules, Scorer, evaluate, parse_measure
from tests.helpers import reference
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES
from tests.helpers.trec_text import make_qrels, make_run

Docs = dict[str, float]

CWL = {
    ("indriCASP", "RBP(p=0.8,rel=1)"): (0.5991673888109433, 0.4170612208746224, 20.840117171764266),
    ("indriCASP", "RBP(p=0.5,rel=2)"): (0.7817385199014701, 0.5158767715329304, 14.0892833556332),
    ("indriCASP", "RBP(p=0.95,rel=1)"): (0.31604629488915204, 0.22252658003927578,
                                         14.707568538868953),
    ("partial46", "RBP(p=0.8,rel=1)"): (0.0, 0.2723729194644715, 20.198829411327708),
    ("partial46", "RBP(p=0.5,rel=2)"): (0.0, 0.25587476801592857, 13.61730674426639),
    ("partial46", "RBP(p=0.95,rel=1)"): (0.0, 0.22839313845575, 14.421503570474568),
}  # fmt: skip
"""What cwl-eval 1.0.12 answers, through ir_measures 0.4.3: topics 101 and 102, and the sum."""


@pytest.mark.parametrize(("run", "measure"), CWL)
def test_rbp_is_that_of_cwl_eval(run: str, measure: str) -> None:
    found = evaluate([SAMPLES / f"{run}.run"], qrels=QRELS, rules=Rules((measure,))).matrices[0]
    assert found.measure == measure
    assert found.topics[:2] == ("101", "102")
    values = found.values[0].tolist()
    assert [*values[:2], sum(values)] == pytest.approx(CWL[run, measure], rel=1e-12)


@pytest.mark.parametrize("cutoff", ["@1", "@10", "@1000", ""])
@pytest.mark.parametrize("run", ["indriCASP", "partial46", "neuralMix"])
def test_judged_is_that_of_ir_measures(run: str, cutoff: str) -> None:
    path = SAMPLES / f"{run}.run"
    file = QRELS / "simulated.qrels" if QRELS.is_dir() else QRELS
    measure = ir_measures.parse_measure(f"Judged{cutoff}")
    read_run: Any = ir_measures.read_trec_run
    read_qrels: Any = ir_measures.read_trec_qrels
    judged, ranked = list(read_qrels(str(file))), list(read_run(str(path)))
    theirs = ir_measures.iter_calc([measure], judged, ranked)
    expected = {result.query_id: result.value for result in theirs}
    found = evaluate([path], qrels=QRELS, rules=Rules((f"Judged{cutoff}",))).matrices[0]
    for topic, value in zip(found.topics, found.values[0].tolist(), strict=True):
        assert value == pytest.approx(expected.get(topic, 0.0), rel=1e-12)


docs = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3).map(float), min_size=1)
judgements = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-2, 3), min_size=1)
persistence = st.sampled_from([0.1, 0.5, 0.8, 0.95])
cutoffs = st.none() | st.integers(1, 10)


def scored(name: str, run: Docs, grades: Mapping[str, int]) -> float:
    measure = parse_measure(name)
    _, values = Scorer(make_qrels({"1": grades}), [measure]).score(make_run({"1": run}))
    return float(values[str(measure)][0])


def ranks(run: Docs, cutoff: int | None) -> Sequence[tuple[int, str]]:
    ranked = reference.rank(run, "single")
    return list(enumerate(ranked[:cutoff], start=1))


def at(cutoff: int | None) -> str:
    return "" if cutoff is None else f"@{cutoff}"


@given(docs, judgements, persistence, cutoffs, st.integers(1, 3))
def test_rbp_by_its_definition(
    run: Docs, grades: dict[str, int], p: float, cutoff: int | None, level: int
) -> None:
    relevant = [i for i, docno in ranks(run, cutoff) if grades.get(docno, 0) >= level]
    expected = (1 - p) * math.fsum(p ** (i - 1) for i in relevant)
    assert scored(f"RBP(p={p},rel={level}){at(cutoff)}", run, grades) == pytest.approx(expected)


@given(docs, judgements, persistence, cutoffs)
def test_the_residual_is_what_all_that_is_unjudged_could_add(
    run: Docs, grades: dict[str, int], p: float, cutoff: int | None
) -> None:
    best = {**{docno: 1 for docno in run if docno not in grades}, **grades}
    seen = len(ranks(run, cutoff))
    beyond = (1 - p) * math.fsum(p ** (i - 1) for i in range(seen + 1, 3000))
    lowest = scored(f"RBP(p={p}){at(cutoff)}", run, grades)
    highest = scored(f"RBP(p={p}){at(cutoff)}", run, best) + beyond
    assert scored(f"RBPres(p={p}){at(cutoff)}", run, grades) == pytest.approx(highest - lowest)


@given(docs, judgements, cutoffs)
def test_judged_by_its_definition(run: Docs, grades: dict[str, int], cutoff: int | None) -> None:
    seen = [docno for _, docno in ranks(run, cutoff)]
    expected = sum(docno in grades for docno in seen) / len(seen)
    assert scored(f"Judged{at(cutoff)}", run, grades) == pytest.approx(expected)


def test_an_unanswered_topic_is_all_residual() -> None:
    run = SAMPLES / "partial46.run"
    rules = Rules(("RBPres", "RBP", "Judged@10"))
    residual, precision, judged = evaluate([run], qrels=QRELS, rules=rules).matrices
    missing = precision.values[0] + residual.values[0] >= 1 - 1e-12
    assert missing.any()
    assert (judged.values[0][residual.values[0] == 1.0] == 0.0).all()


def test_they_stand_beside_others_in_every_command() -> None:
    ran = riskeval("score", SAMPLES, "-q", QRELS, "-m", "RBP(p=0.8)@10,Judged@10 AP", "-f", "csv")
    assert ran.code == 0
    measures = {line.split(",")[1] for line in ran.out.splitlines()[1:]}
    assert {"Judged@10", "AP"} < measures
    assert "RBP(p=0.8,rel=1)@10" in ran.out
    said = riskeval("help", "RBP").out
    assert "how probably the user goes on" in said and "rank-biased precision" in said


def test_what_pytrec_eval_does_not_have_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    import pytrec_eval

    from riskcli import UsageError

    monkeypatch.setattr(pytrec_eval, "supported_measures", {"map"})
    with pytest.raises(UsageError, match=r"measure nDCG@5: the pytrec_eval installed here"):
        Scorer(make_qrels({"1": {"a": 1}}), [parse_measure("nDCG@5")])
