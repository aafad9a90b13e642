"""The ranking is trec_eval's: recovered from pytrec_eval's own numbers, on the worst of ties."""

from __future__ import annotations

from pathlib import Path

import pytest
import pytrec_eval
from hypothesis import example, given, settings
from hypothesis import strategies as st

from riskcli import Run
from riskcli.core.choices import Precision
from riskcli.effectiveness.ranking import contenders, rank
from tests.helpers import reference
from tests.helpers.trec_text import STRANGE_IDS, make_run, parse_run

Docs = dict[str, float]
PATH = Path("some.run")

TYING = [
    0.0, -0.0, 1.0, 1.0 + 1e-9, 1.0 - 1e-9, 1.0 + 1e-8, 1.0 + 1e-7, 1.0 + 2e-7, 0.1, 0.1 + 1e-10,
    -1.0, -1.0 - 1e-9, 16777216.0, 16777217.0, 1e39, 1e40, -1e39, -1e300, 3.4028234e38,
    3.4028235e38, 1e-46, -1e-46, 1e-45, 1.4e-45, 1e-38, 1.1754943508222875e-38, 5e-324,
    13.25, -7.123456789,
]  # fmt: skip
"""Equal, equal in single precision only, and beyond its range at either end."""

docnos = st.sampled_from([*STRANGE_IDS, "a", "b", "aa", "A", "doc-9", "doc-10"])
scores = st.sampled_from(TYING) | st.floats(allow_nan=False, allow_infinity=False)
documents = st.dictionaries(docnos, scores, min_size=1, max_size=14)


def shuffled(draw: st.DrawFn, topics: dict[str, Docs]) -> bytes:
    """The run with its lines in any order."""
    lines = [
        f"{topic} Q0 {docno} 1 {score!r} tag\n"
        for topic, docs in topics.items()
        for docno, score in docs.items()
    ]
    return "".join(draw(st.permutations(lines))).encode()


def grades_by_rank(docs: Docs, grades: dict[str, int]) -> list[int]:
    """The grade at each rank, from the rises of pytrec_eval's P_1, P_2, ... at levels 1 to 4."""
    depth = len(docs)
    names = {f"P.{','.join(str(k) for k in range(1, depth + 1))}"}
    found = [0] * depth
    for level in (1, 2, 3, 4):
        evaluator = pytrec_eval.RelevanceEvaluator({"q": grades}, names, relevance_level=level)
        values = evaluator.evaluate({"q": docs})["q"]
        hits = [round(k * values[f"P_{k}"]) for k in range(1, depth + 1)]
        for place, (now, before) in enumerate(zip(hits, [0, *hits], strict=False)):
            found[place] += now - before
    return found


@given(st.data(), documents)
@example(None, {"a": 1.0, "b": 1.0 + 1e-9, "A": 1.0})
@example(None, {"é": 1.0, "日本": 1.0, "z": 1.0, "🐘": 1.0, "\uffff": 1.0})
@example(None, {"a": 0.0, "b": -0.0, "c": 1e-46, "d": -1e-46})
@example(None, {"a": 1e39, "b": 1e40, "c": 3.4028235e38, "d": -1e39, "e": -1e40})
def test_each_rank_has_the_grade_that_pytrec_eval_sees(
    data: st.DataObject | None, docs: Docs
) -> None:
    if data is None:
        grades = {docno: place % 5 for place, docno in enumerate(docs)}
        text = "".join(f"q Q0 {docno} 1 {score!r} t\n" for docno, score in docs.items()).encode()
    else:
        levels = st.lists(st.integers(0, 4), min_size=len(docs), max_size=len(docs))
        grades = dict(zip(docs, data.draw(levels), strict=True))
        text = data.draw(st.composite(shuffled)({"q": docs}))
    ranked = rank(parse_run(PATH, text), None)["q"]
    assert [grades[docno] for docno in ranked] == grades_by_rank(docs, grades)


@pytest.mark.parametrize("precision", ["single", "double"])
@given(data=st.data(), topics=st.dictionaries(st.sampled_from("12ab"), documents, min_size=1))
def test_the_ranking_is_the_references(
    precision: Precision, data: st.DataObject, topics: dict[str, Docs]
) -> None:
    run = parse_run(PATH, data.draw(st.composite(shuffled)(topics)))
    expected = {topic: reference.rank(docs, precision) for topic, docs in topics.items()}
    assert rank(run, None, precision) == expected


@pytest.mark.parametrize("precision", ["single", "double"])
@given(topics=st.dictionaries(st.sampled_from("12ab"), documents, min_size=1))
def test_the_top_of_the_ranking_is_the_rankings_top(
    precision: Precision, topics: dict[str, Docs]
) -> None:
    run = make_run(topics)
    whole = rank(run, None, precision)
    for depth in (1, 2, 3, 5, 13, 100):
        top = {topic: docnos[:depth] for topic, docnos in whole.items()}
        assert rank(run, depth, precision) == top


@pytest.mark.parametrize("precision", ["single", "double"])
@settings(max_examples=50)
@given(data=st.data(), topics=st.dictionaries(st.sampled_from("12ab"), documents, min_size=1))
def test_the_top_is_among_the_contenders_of_every_part(
    precision: Precision, data: st.DataObject, topics: dict[str, Docs]
) -> None:
    text = data.draw(st.composite(shuffled)(topics))
    lines = text.splitlines(keepends=True)
    cut = data.draw(st.integers(0, len(lines)))
    parts = [b"".join(part) for part in (lines[:cut], lines[cut:]) if part]
    for depth in (1, 3, 100):
        kept = [contenders(parse_run(PATH, part), depth, precision) for part in parts]
        assert rank(Run.joined(kept), depth, precision) == rank(make_run(topics), depth, precision)


def test_only_contenders_are_kept() -> None:
    run = make_run({"1": {f"d{i}": float(i) for i in range(50)}, "2": {"a": 1.0, "b": 1.0}})
    kept = contenders(run, 2)
    assert sorted(kept.docnos.as_strings()) == ["a", "b", "d48", "d49"]
    assert contenders(run, None) is run


@given(st.data(), documents)
def test_the_order_of_the_lines_plays_no_part(data: st.DataObject, docs: Docs) -> None:
    run = parse_run(PATH, data.draw(st.composite(shuffled)({"q": docs})))
    assert rank(run, 3) == rank(make_run({"q": docs}), 3)


def test_the_rank_column_plays_no_part() -> None:
    text = b"q Q0 low 1 1.0 t\nq Q0 high 2 2.0 t\n"
    assert rank(parse_run(PATH, text), None) == {"q": ["high", "low"]}


@pytest.mark.parametrize(
    ("gap", "single", "double"),
    [(0.0, "ba", "ba"), (1e-8, "ba", "ab"), (1e-6, "ab", "ab"), (-1e-8, "ba", "ba")],
)
def test_precision_decides_where_scores_are_close(gap: float, single: str, double: str) -> None:
    run = make_run({"q": {"a": 1.0 + gap, "b": 1.0}})
    assert rank(run, None, "single") == {"q": list(single)}
    assert rank(run, None, "double") == {"q": list(double)}


@pytest.mark.parametrize("places", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_topics_that_are_interleaved_stay_apart(places: tuple[int, ...]) -> None:
    lines = ["1 Q0 a 1 3 t\n", "2 Q0 b 1 2 t\n", "1 Q0 c 1 9 t\n"]
    run = parse_run(PATH, "".join(lines[place] for place in places).encode())
    assert rank(run, None) == {"1": ["c", "a"], "2": ["b"]}
