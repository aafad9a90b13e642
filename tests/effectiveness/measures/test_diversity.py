"""Measures of diversity: against ndeval, by brute force, as laws, and in every command."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcli import InputError, Rules, UsageError, evaluate, read_qrels, score_runs
from riskcli.scores.human import evaluate_corrected
from riskcli.trec.qrels import Qrels
from tests.helpers.inprocess import run_inside
from tests.helpers.program import Ran
from tests.helpers.program import riskeval as installed
from tests.helpers.shared_data import shared as shared_file

Judged = Mapping[str, Mapping[str, Mapping[str, int]]]
WITH_ALPHA = ("ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG")
CUT = (*WITH_ALPHA, "P_IA", "StRecall")

# What ndeval prints, for eight real runs


@pytest.fixture(scope="module")
def printed() -> list[dict[str, str]]:
    with shared_file("trec-web-2012", "expected_ndeval.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_cell_is_as_ndeval_prints_it(printed: list[dict[str, str]]) -> None:
    names = list(printed[0])[2:]
    runs, qrels = (shared_file("trec-web-2012", n) for n in ("runs", "qrels-subtopics.txt.gz"))
    ran = run_inside("matrix", runs, "-q", qrels, "-m", ",".join(names), "--long", "-f", "csv")
    rows = csv.DictReader(io.StringIO(ran.out))
    found = {(r["run"], r["topic"], r["measure"]): float(r["score"]) for r in rows}
    ours = dict(zip(names, dict.fromkeys(measure for *_, measure in found), strict=True))
    topics = {topic for _, topic, _ in found}
    wrong = []
    for row in printed:
        for name in names:
            cells = [found[row["run"], topic, ours[name]] for topic in topics]
            mean = row["topic"] == "amean"
            value = math.fsum(cells) / 50 if mean else found[row["run"], row["topic"], ours[name]]
            if f"{value:.6f}" != row[name]:
                wrong.append((row["run"], row["topic"], name, value, row[name]))
    assert wrong == []
    assert len(printed) * len(names) == 8 * 51 * 21


def test_urisk_is_as_ndeval_prints_it() -> None:
    path = shared_file("trec-web-2012", "expected_ndeval_urisk_vs_indriCASP.csv")
    with path.open(newline="") as file:
        expected = list(csv.DictReader(file))
    names = list(expected[0])[2:]
    runs, qrels = (shared_file("trec-web-2012", n) for n in ("runs", "qrels-subtopics.txt.gz"))
    ran = run_inside(
        "score", runs, "-q", qrels, "-b", "indriCASP", "-a", "0,1,5,10", "-f", "csv",
        *(part for name in names for part in ("-m", name)),
    )  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    ours = dict(zip(names, dict.fromkeys(row["measure"] for row in rows), strict=True))
    found = {(r["run"], float(r["alpha"]), r["measure"]): r["urisk"] for r in rows}
    wrong = [
        (row["run"], row["alpha"], name, value, row[name])
        for row in expected
        for name in names
        for value in [float(found[row["run"], float(row["alpha"]), ours[name]])]
        if f"{value + 0.0:.6f}" != row[name].replace("-0.000000", "0.000000")
    ]
    assert wrong == []
    assert len(expected) * len(names) == 7 * 4 * 21


# What ndeval answers (pyndeval 0.0.8) for other values of alpha and beta


LINES = """
1 1 a 1/1 2 a 1/1 3 a 0/1 1 b 1/1 2 b 0/1 3 b 0/1 1 c 0/1 2 c 2/1 3 c 1/1 1 d 0/1 2 d 0/1 3 d 1
1 1 e 1/1 2 e 1/1 3 e 1/1 1 f 0/1 4 f 0/2 1 a 0/2 2 a 1/2 1 g 1/2 2 g 0/2 1 h 1/2 2 h 0
"""
TEXT = "\n".join(LINES.split("/")).strip() + "\n"
RUN = {
    "1": {docno: 9.0 - place for place, docno in enumerate("xbacfyd")},
    "2": {docno: 9.0 - place for place, docno in enumerate("hxga")},
}
ANSWERS: dict[str, tuple[float, float]] = {
    "ERR_IA(alpha=0.3)@2": (0.1234567901234568, 0.37037037037037035),
    "ERR_IA(alpha=0.3)@5": (0.30187676277478376, 0.4502854506193702),
    "nERR_IA(alpha=0.3)@3": (0.26037428803905616, 0.7115384615384616),
    "nERR_IA(alpha=0.3)@5": (0.34551982395861486, 0.8557692307692308),
    "alpha_DCG(alpha=0.3)@2": (0.14588131456342507, 0.3468246197084037),
    "alpha_DCG(alpha=0.3)@5": (0.38276866520521136, 0.4619719255880243),
    "alpha_nDCG(alpha=0.3)@3": (0.3306900400329205, 0.6814981690118281),
    "alpha_nDCG(alpha=0.3)@5": (0.45360305904298137, 0.8989094917994827),
    "NRBP(alpha=0.3,beta=0.8)": (0.43147878400000017, 0.4312),
    "nNRBP(alpha=0.3,beta=0.8)": (0.5516218454116716, 0.8718861209964411),
    "ERR_IA(alpha=0.9)@3": (0.27426160337552746, 0.49050632911392394),
    "nERR_IA(alpha=0.9)@5": (0.3634530694540245, 0.8369565217391305),
    "alpha_DCG(alpha=0.9)@3": (0.3685477390756742, 0.49153024325850675),
    "alpha_nDCG(alpha=0.9)@5": (0.5188104578540473, 0.8808676001643806),
    "NRBP(alpha=0.9,beta=0.2)": (0.08258342400000002, 0.49588),
    "nNRBP(alpha=0.9,beta=0.2)": (0.08303719236287388, 0.8405315614617941),
    "AP_IA": (0.2817460317460317, 0.5416666666666666),
    "P_IA@2": (0.16666666666666666, 0.25),
    "StRecall@3": (0.6666666666666666, 0.5),
}


@pytest.mark.parametrize("measure", ANSWERS)
def test_alpha_and_beta_are_those_of_ndeval(tmp_path: Path, measure: str) -> None:
    (tmp_path / "qrels").write_text(TEXT)
    matrix = score_runs({"r": RUN}, read_qrels(tmp_path / "qrels"), measure).matrices[0]
    assert matrix.measure == measure
    assert matrix.values[0].tolist() == pytest.approx(ANSWERS[measure], rel=1e-12)


# By the definitions, in plain Python


class Case(NamedTuple):
    judged: Judged
    ranking: list[str]
    alpha: float
    beta: float


def of_topic(grades: Mapping[str, Mapping[str, int]], docno: str) -> list[str]:
    return [subtopic for subtopic, grade in grades.get(docno, {}).items() if grade > 0]


def novelties(
    grades: Mapping[str, Mapping[str, int]], docs: Sequence[str], a: float
) -> list[float]:
    seen: dict[str, int] = {}
    gains = []
    for docno in docs:
        gains.append(sum((1 - a) ** seen.get(s, 0) for s in of_topic(grades, docno)))
        for subtopic in of_topic(grades, docno):
            seen[subtopic] = seen.get(subtopic, 0) + 1
    return gains


def greedy(grades: Mapping[str, Mapping[str, int]], a: float) -> list[str]:
    """The documents that each add most, the highest name where several do."""
    chosen: list[str] = []
    left = set(grades)
    while left:
        gain = {docno: round(novelties(grades, [*chosen, docno], a)[-1], 12) for docno in left}
        chosen.append(max(left, key=lambda docno: (gain[docno], docno)))
        left.remove(chosen[-1])
    return chosen


def by_definition(name: str, case: Case, k: int) -> float:
    grades, docs, a = case.judged["1"], case.ranking, case.alpha
    subtopics = {s for docno in grades for s in of_topic(grades, docno)}
    top, size = docs[:k], len(subtopics)
    if name == "P_IA":
        return sum(len(of_topic(grades, docno)) for docno in top) / (k * size)
    if name == "StRecall":
        return len({s for docno in top for s in of_topic(grades, docno)}) / size
    if name == "AP_IA":
        total = 0.0
        for subtopic in subtopics:
            on = [subtopic in of_topic(grades, docno) for docno in docs]
            hits = [sum(on[: i + 1]) / (i + 1) for i in range(len(on)) if on[i]]
            total += sum(hits) / sum(subtopic in of_topic(grades, docno) for docno in grades)
        return total / size
    best = greedy(grades, a)
    if name.endswith("NRBP"):
        gain, ideal = (
            sum(case.beta**i * g for i, g in enumerate(novelties(grades, each, a)))
            for each in (docs, best)
        )
        return gain / ideal if name[0] == "n" else gain * (1 - (1 - a) * case.beta) / size
    weight = [1 / math.log2(i + 2) if "DCG" in name else 1 / (i + 1) for i in range(k)]
    gain, ideal = (
        sum(w * g for w, g in zip(weight, novelties(grades, each[:k], a), strict=False))
        for each in (docs, best)
    )
    whole = sum(w * size * (1 - a) ** i for i, w in enumerate(weight))
    return gain / (ideal if name in ("nERR_IA", "alpha_nDCG") else whole)


def full_name(name: str, case: Case, k: int) -> str:
    parameters = {"P_IA": "", "StRecall": "", "AP_IA": ""}.get(name, f"(alpha={case.alpha})")
    if name.endswith("NRBP"):
        return f"{name}(alpha={case.alpha},beta={case.beta})"
    return name + parameters + (f"@{k}" if name in CUT else "")


@st.composite
def cases(draw: st.DrawFn) -> Case:
    docnos = [f"d{number}" for number in range(draw(st.integers(1, 9)))]
    grade = st.integers(-1, 2)
    subtopics = ["1", "2", "10", "b"][: draw(st.integers(2, 4))]
    of_one = st.dictionaries(st.sampled_from(subtopics), grade, min_size=1)
    grades = {docno: draw(of_one) for docno in docnos}
    grades["d0"] = {subtopic: 1 if subtopic == "1" else 0 for subtopic in subtopics}
    ranking = draw(st.permutations([*docnos, "x1", "x2", "x3"]))
    alpha, beta = draw(st.sampled_from([0.0, 0.3, 0.5, 1.0])), draw(st.sampled_from([0.2, 0.9]))
    return Case({"1": grades}, ranking[: draw(st.integers(1, 12))], alpha, beta)


def scored(case: Case, names: Sequence[str]) -> dict[str, float]:
    run = {"1": {docno: -float(place) for place, docno in enumerate(case.ranking)}}
    found = score_runs({"r": {**run, "2": {"e": 1.0}}}, {**case.judged, "2": OTHER}, list(names))
    return {m.measure: float(m.values[0, m.topics.index("1")]) for m in found.matrices}


OTHER = {"e": {"1": 1, "2": 1}}
"""A topic so that something of every run is judged."""
ALL = (*CUT, "NRBP", "nNRBP", "AP_IA")


@given(cases(), st.sampled_from([1, 2, 5, 20]))
@settings(max_examples=150)
def test_every_measure_by_its_definition(case: Case, k: int) -> None:
    found = scored(case, [full_name(name, case, k) for name in ALL])
    expected = [by_definition(name, case, k) for name in ALL]
    assert list(found.values()) == pytest.approx(expected, rel=1e-9, abs=1e-12)


# Laws


@given(cases())
def test_with_all_subtopics_alike_they_are_the_plain_measures(case: Case) -> None:
    """AP, P and Success are pytrec_eval's here."""
    plain = {docno: max(0, *of.values()) for docno, of in case.judged["1"].items()}
    alike = case._replace(judged={"1": {d: {"1": g, "2": g} for d, g in plain.items()}})
    found = scored(alike, ["AP_IA", "P_IA@3", "StRecall@3", "alpha_nDCG(alpha=0)@3"])
    run = {"1": {docno: -float(place) for place, docno in enumerate(case.ranking)}}
    binary = {"1": {docno: min(grade, 1) for docno, grade in plain.items()}, "2": {"e": 1}}
    of_plain = score_runs(
        {"r": {**run, "2": {"e": 1.0}}}, binary, ["AP", "P@3", "Success@3", "nDCG@3"]
    )
    expected = [float(m.values[0, m.topics.index("1")]) for m in of_plain.matrices]
    assert list(found.values()) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(cases())
def test_names_of_subtopics_and_the_order_of_lines_do_not_matter(case: Case) -> None:
    renamed = {"1": "Z", "2": "10", "10": "a a", "b": "2"}
    documents = list(case.judged["1"].items())[::-1]
    other = {d: {renamed[s]: g for s, g in [*of.items()][::-1]} for d, of in documents}
    names = [full_name(name, case, 3) for name in ALL]
    there, here = scored(case._replace(judged={"1": other}), names), scored(case, names)
    assert list(there.values()) == pytest.approx(list(here.values()), rel=1e-12)


def test_ties_of_the_best_ranking_do_not_depend_on_names() -> None:
    """Sums of powers of 0.9 and 0.3 in another order differ in their last digit."""
    random = Random(1)
    docnos = [f"d{number}" for number in range(12)]
    for _ in range(60):
        grades = {d: {str(s): 1 for s in range(8) if random.random() < 0.5} for d in docnos}
        grades["d0"] = {"0": 1, "1": 1}
        grades = {docno: of or {"0": 1} for docno, of in grades.items()}
        new = random.sample(range(8), 8)
        other = {d: {str(new[int(s)]): 1 for s in of} for d, of in grades.items()}
        names = ["alpha_nDCG(alpha=0.7)@5", "nERR_IA(alpha=0.1)@5"]
        one, two = (scored(Case({"1": each}, docnos, 0, 0), names) for each in (grades, other))
        assert list(one.values()) == pytest.approx(list(two.values()), rel=1e-12)


def test_the_best_known_ranking_has_1_and_a_better_one_more() -> None:
    on = {"a": "23", "b": "14", "c": "12", "d": "13"}
    grades = {docno: dict.fromkeys(subtopics, 1) for docno, subtopics in on.items()}
    best = Case({"1": grades}, greedy(grades, 0.5), 0.5, 0.5)
    assert scored(best, ["alpha_nDCG@4", "nERR_IA@4", "nNRBP"]) == pytest.approx(
        {"alpha_nDCG@4": 1.0, "nERR_IA@4": 1.0, "nNRBP": 1.0}
    )
    on = {"z": "14", "x": "12", "y": "34"}
    above_1 = {docno: dict.fromkeys(subtopics, 1) for docno, subtopics in on.items()}
    above = scored(Case({"1": above_1}, ["x", "y", "z"], 0, 0), ["alpha_nDCG@2"])
    second = 1 / math.log2(3)
    assert above["alpha_nDCG@2"] == pytest.approx((2 + 2 * second) / (2 + 1.5 * second))
    better = best._replace(ranking=["a", "b", "c", "d"])
    assert scored(better, ["alpha_nDCG@4"])["alpha_nDCG@4"] == pytest.approx(1.0206882220153233)


def test_a_score_a_little_above_1_is_no_percent(tmp_path: Path) -> None:
    rows = "".join(f"a,{t},1.02\nb,{t},0.9\n" for t in range(1, 6))
    (tmp_path / "s.csv").write_text("run,topic,alpha_nDCG@20\n" + rows)
    ran = run_inside("score", tmp_path / "s.csv", "-m", "alpha_nDCG@20", "-b", "b")
    assert (ran.code, "percent" in ran.err) == (0, False)
    (tmp_path / "s.csv").write_text("run,topic,alpha_nDCG@20\n" + rows.replace("1.02", "45"))
    ran = run_inside("score", tmp_path / "s.csv", "-m", "alpha_nDCG@20", "-b", "b")
    assert (ran.code, "percent" in ran.err) == (2, True)


# Which judgements are by subtopic, and what is made of them


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three runs of twelve topics, judged by three subtopics."""
    (tmp_path / "runs").mkdir()
    judged = [
        f"{topic} {subtopic} d{number} {int((topic + number) % (subtopic + 1) == 0)}"
        for topic in range(1, 13)
        for number in range(9)
        for subtopic in (1, 2, 3)
    ]
    (tmp_path / "qrels.txt").write_text("\n".join(judged) + "\n")
    for step, name in ((1, "one"), (2, "two"), (4, "four")):
        lines = [
            f"{topic} Q0 d{(step * place + topic) % 9} {place} {20 - place} {name}\n"
            for topic in range(1, 13)
            for place in range(9)
        ]
        (tmp_path / "runs" / f"{name}.run").write_text("".join(lines))
    return tmp_path


def scored_by(folder: Path, *arguments: str | Path) -> Ran:
    return run_inside("score", folder / "runs", "-q", folder / "qrels.txt", "-f", "csv", *arguments)


def test_the_defaults_are_those_of_subtopics(folder: Path) -> None:
    ran = installed("score", folder / "runs", "-q", folder / "qrels.txt", "-f", "csv")
    measures = {row["measure"] for row in csv.DictReader(io.StringIO(ran.out))}
    assert (ran.code, measures) == (0, {"ERR_IA@20", "alpha_nDCG@20"})
    told = f"note: {folder / 'qrels.txt'}: judgements by subtopic, up to 3 relevant ones a topic"
    assert told in ran.err
    found = evaluate(folder / "runs", qrels=folder / "qrels.txt")
    assert [matrix.measure for matrix in found.matrices] == ["ERR_IA@20", "alpha_nDCG@20"]


@pytest.mark.parametrize("name", ["AP", "nDCG@20", "ERR@20", "RBP", "NumRet", "gm_map"])
def test_a_measure_of_one_grade_a_document_is_refused(folder: Path, name: str) -> None:
    ran = scored_by(folder, "-m", name)
    assert (ran.code, ran.out) == (2, "")
    assert "takes one grade a document" in ran.err
    assert "topic 1 document d" in ran.err
    assert "ERR_IA@20 or alpha_nDCG@20" in ran.err


def test_how_much_is_judged_is_known_of_both(folder: Path) -> None:
    rows = csv.DictReader(io.StringIO(scored_by(folder, "-m", "Judged@5").out))
    assert {row["mean"] for row in rows} == {"1.0"}


def test_trec_s_own_judgements_are_no_subtopics(folder: Path) -> None:
    text = (folder / "qrels.txt").read_text()
    one = "".join(line + "\n" for line in text.splitlines() if line.split()[1] == "1")
    (folder / "qrels.txt").write_text(one.replace(" 1 d", " 0 d"))
    ran = scored_by(folder, "-m", "alpha-nDCG@20")
    assert (ran.code, ran.out) == (2, "")
    assert "measure alpha_nDCG@20 needs judgements by subtopic" in ran.err
    assert "has no topic with two subtopics: give those with -q FILE" in ran.err


def test_rounds_in_the_second_column_are_no_subtopics_unless_asked_for(tmp_path: Path) -> None:
    """As TREC-COVID has them: each document is judged once, in some round."""
    file = tmp_path / "qrels"
    file.write_text("1 0.5 a 1\n1 1 b 0\n1 2 c 2\n2 1 a 1\n")
    rounds = read_qrels(file)
    assert (rounds.shared, rounds.judgements["1"]) == (None, {"a": 1, "b": 0, "c": 2})
    run = {"1": {"a": 3.0, "c": 2.0}, "2": {"a": 1.0}}
    assert [m.measure for m in score_runs({"r": run}, rounds).matrices] == ["ERR@20", "nDCG@20"]
    assert score_runs({"r": run}, rounds, "StRecall@1").matrices[0].values.tolist() == [[0.5, 1.0]]


def test_the_highest_grade_of_a_document_counts_where_one_is_shown(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 1 a -2\n1 2 a 2\n1 1 b -2\n1 2 b -1\n")
    found = read_qrels(tmp_path / "qrels")
    assert found.judgements == {"1": {"a": 2, "b": -1}}
    assert (found.subtopics, found.shared) == ({"1": {"a": {"2": 2}}}, ("1", "a"))


class Qrel(NamedTuple):
    """As ir_measures has it."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str


def test_the_same_judgements_in_every_form(tmp_path: Path) -> None:
    file = tmp_path / "qrels"
    file.write_text(TEXT)
    nested: dict[str, dict[str, dict[str, int]]] = {}
    for line in TEXT.splitlines():
        topic, subtopic, docno, grade = line.split()
        nested.setdefault(topic, {}).setdefault(docno, {})[subtopic] = int(grade)
    cells = [
        (t, d, g, s) for t, of in nested.items() for d, by in of.items() for s, g in by.items()
    ]
    (tmp_path / "qrels.json").write_text(json.dumps(nested))
    (tmp_path / "qrels.gz").write_bytes(gzip.compress(TEXT.replace(" ", "\t").encode()))
    import pandas as pd

    frame = pd.DataFrame(cells, columns=["qid", "docno", "label", "subtopic"])
    forms = [file, tmp_path / "qrels.json", tmp_path / "qrels.gz"]
    given: list[Any] = [*map(read_qrels, forms), nested, frame, [Qrel(*cell) for cell in cells]]
    values = [score_runs({"r": RUN}, each).matrices[1].values.tolist() for each in given]
    assert values == [values[0]] * 6


@pytest.mark.parametrize(("twice", "several"), [(1, False), (2, True)])
def test_of_relevant_documents_more_than_one_in_twenty_have_several_subtopics(
    tmp_path: Path, twice: int, several: bool
) -> None:
    """Twenty documents are relevant; a thousand that are not say nothing."""
    lines = [f"1 1 d{number} 1\n" for number in range(20)]
    lines += [f"1 {number % 3} n{number} 0\n" for number in range(1000)]
    lines += [f"1 2 d{number} 1\n" for number in range(twice)]
    (tmp_path / "qrels").write_text("".join(lines))
    assert (read_qrels(tmp_path / "qrels").shared is not None) == several


def test_a_document_judged_again_in_another_round_turns_nothing_over(tmp_path: Path) -> None:
    lines = [f"1 {number % 3} d{number} {number % 2}\n" for number in range(60)]
    (tmp_path / "qrels").write_text("".join(lines) + "1 9 d1 1\n")
    again = read_qrels(tmp_path / "qrels")
    assert (again.shared, [note.code for note in again.notes]) == (None, ["repeated-judgement"])
    (tmp_path / "qrels").write_text("".join(lines) + "1 9 d1 0\n")
    with pytest.raises(InputError, match="document d1 has grade 0 here and 1 on line 2"):
        read_qrels(tmp_path / "qrels")


def test_where_nothing_is_relevant_no_other_measure_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 1 a 0\n1 2 a 0\n")
    (tmp_path / "r.run").write_text("1 Q0 a 1 9 r\n")
    asked = ("matrix", tmp_path / "r.run", "-q", tmp_path / "qrels", "-f", "csv", "-m", "NRBP")
    ran = run_inside(*asked)
    assert (ran.code, "no relevant document" in ran.err) == (2, True)
    assert run_inside(*asked, "--topics", "judged").out == "run,1\nr,0.0\n"


@pytest.mark.parametrize("text", ['{"1":{"a":{"1":1,"2":1},"b":1}}', '{"1":{"a":{"1":1},"b":{}}}'])
def test_a_grade_without_a_subtopic_among_others_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "q.json").write_text(text)
    with pytest.raises(InputError, match=r"subtopic|the grade is"):
        read_qrels(tmp_path / "q.json")
    with pytest.raises(UsageError, match=r"subtopic|the grade is"):
        score_runs({"r": RUN}, json.loads(text))


@pytest.mark.parametrize("grade", [0.5, float("nan"), 2**16, "x", None])
def test_a_grade_in_memory_is_a_whole_number(grade: Any) -> None:
    with pytest.raises(UsageError, match="document a: the grade is"):
        score_runs({"r": RUN}, {"1": {"a": {"1": grade, "2": 1}}})


def test_too_many_subtopics_are_an_error_and_many_documents_take_no_time() -> None:
    many = {"1": {"a": {str(number): 1 for number in range(1001)}}}
    with pytest.raises(UsageError, match="has 1,001 subtopics, expected 1,000 at most"):
        score_runs({"r": RUN}, many, "NRBP")
    on = {f"d{n}": {str((n * k) % 60): 1 for k in (1, 7, 11)} for n in range(3000)}
    found = score_runs({"r": {"1": {"d1": 1.0}}}, {"1": on}, "nNRBP(beta=0.999999)")
    assert 0 < found.matrices[0].values[0, 0] < 1


def test_humans_correct_by_subtopic_too(folder: Path) -> None:
    """Humans who agree with the model on the topics that they judged correct nothing."""
    lines = (folder / "qrels.txt").read_text().splitlines()
    own = "".join(line + "\n" for line in lines if int(line.split()[0]) % 2)
    (folder / "human.txt").write_text(own)
    rules = Rules(("ERR_IA@20", "AP_IA"))
    runs, qrels = folder / "runs", folder / "qrels.txt"
    found = evaluate_corrected(runs, qrels=qrels, human=folder / "human.txt", rules=rules)
    for matrix in found.matrices:
        human = matrix.human
        assert human is not None and human.measure == matrix.measure
        columns = [matrix.topics.index(topic) for topic in human.topics]
        assert human.values.tolist() == matrix.values[:, columns].tolist()
    plain = "".join(line + "\n" for line in own.splitlines() if " 1 d" in line)
    (folder / "plain.txt").write_text(plain.replace(" 1 d", " 0 d"))
    with pytest.raises(UsageError, match="only one is judged by subtopic"):
        evaluate_corrected(runs, qrels=qrels, human=folder / "plain.txt", rules=rules)


def test_two_grades_of_one_document_and_subtopic_are_an_error() -> None:
    judged: Any = [Qrel("1", "a", 1, "1"), Qrel("1", "a", 0, "1")]
    with pytest.raises(UsageError, match="document a twice"):
        score_runs({"r": RUN}, judged)
    judged[0] = SimpleNamespace(query_id="1", doc_id="a", relevance=1)
    with pytest.raises(UsageError, match="topic 1 document a has no subtopic"):
        score_runs({"r": RUN}, judged)


def test_validate_finds_what_is_wrong_by_subtopic(folder: Path) -> None:
    ran = run_inside("validate", folder / "runs", "-q", folder / "qrels.txt")
    assert ran.code == 0
    with (folder / "qrels.txt").open("a") as file:
        file.write("1 1 d0 1\n1 1 d0 0\n")
    ran = run_inside("validate", folder / "runs", "-q", folder / "qrels.txt", "-f", "csv")
    assert (ran.code, ran.out.count("conflicting-judgement")) == (1, 1)


def test_with_both_judgements_each_measure_takes_its_own(folder: Path) -> None:
    """A track has both: one by topic, one by subtopic."""
    lines = [line.split() for line in (folder / "qrels.txt").read_text().splitlines()]
    plain = "".join(f"{topic} 0 {docno} {grade}\n" for topic, s, docno, grade in lines if s == "1")
    (folder / "plain.txt").write_text(plain)
    both = ("score", folder / "runs", "-q", folder / "plain.txt", "-q", folder / "qrels.txt")

    def by_measure(*arguments: str | Path) -> dict[str, list[str]]:
        ran = run_inside(*arguments, "-f", "csv")
        assert ran.code == 0, ran.err
        rows = list(csv.DictReader(io.StringIO(ran.out)))
        return {m: [r["urisk"] for r in rows if r["measure"] == m] for m in
                dict.fromkeys(row["measure"] for row in rows)}  # fmt: skip

    apart = by_measure("score", folder / "runs", "-q", folder / "plain.txt", "-m", "AP")
    apart |= by_measure("score", folder / "runs", "-q", folder / "qrels.txt", "-m", "NRBP")
    found = by_measure(*both, "-m", "NRBP,AP")
    assert (found, [*found]) == (apart, ["NRBP", "AP"])
    assert [*by_measure(*both)] == ["ERR@20", "nDCG@20", "ERR_IA@20", "alpha_nDCG@20"]
    assert [*by_measure(*both, "-m", "Judged@5")] == ["Judged@5 [plain]", "Judged@5 [qrels]"]
    for lonely, unused in (("AP", "qrels.txt"), ("NRBP", "plain.txt")):
        ran = run_inside(*both, "-m", lonely)
        assert (ran.code, ran.out) == (2, "")
        assert f"no measure asked for uses {folder / unused}: leave it out" in ran.err


COMMANDS = (
    "score R -b one --store st",
    "score R --unjudged condensed",
    "score R -b one -b two --pool each",
    "score R -q qrels.txt -q other.txt",
    "explain R --run two -b one",
    "significance R --best",
    "sweep R --over alpha -b one",
    "sweep R --over baseline",
    "sweep R --over measure",
    "sweep R --over population",
    "topics R -b one",
    "diff runs/two.run runs/one.run",
    "check runs/two.run -b runs/one.run",
    "power R -b one",
    "matrix R -m NRBP",
    "population freeze R -o p.json",
    "plot wins R -b one -o w.svg",
    "report R -o r.html --documents 5",
    "organise R -o pack",
)


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_takes_them(folder: Path, line: str) -> None:
    if line.startswith("plot"):
        pytest.importorskip("altair", reason="the extra plots is not installed")
    (folder / "other.txt").write_text((folder / "qrels.txt").read_text().replace("d0 1", "d0 0"))
    arguments: list[str | Path] = []
    for word in line.split():
        if word == "R":
            arguments += [folder / "runs"]
        else:
            is_place = "/" in word or word.endswith((".txt", ".json", ".svg", ".html"))
            arguments.append(folder / word if is_place or word in ("st", "pack") else word)
    if "-q" not in line:
        arguments += ["-q", folder / "qrels.txt"]
    ran = run_inside(*arguments)
    assert ran.code in (0, 1, 3), ran.err
    assert "riskeval:" not in ran.err


def test_a_document_s_grade_is_said_to_be_the_highest(folder: Path) -> None:
    pair = (folder / "runs" / "two.run", folder / "runs" / "one.run")
    ran = run_inside("diff", *pair, "-q", folder / "qrels.txt", "--topic", "1", "-f", "table")
    assert "grade: the highest of all subtopics" in " ".join(ran.out.split())


def test_the_store_gives_the_same_bytes(folder: Path) -> None:
    plain = scored_by(folder)
    first, again = (scored_by(folder, "--store", folder / "st") for _ in range(2))
    assert plain.out == first.out == again.out


def test_no_bounds_are_claimed(folder: Path) -> None:
    ran = scored_by(folder, "--unjudged", "bounds")
    assert (ran.code, ran.out) == (2, "")
    assert "nothing bounds what unjudged documents do to ERR_IA@20" in ran.err


def test_judgements_without_cells_are_of_no_subtopic() -> None:
    assert Qrels.of_cells([]).subtopics is None
