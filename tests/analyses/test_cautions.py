"""Runs that are submitted twice are seen before they turn a leaderboard round."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcli import Options, freeze, risk_table, validate
from riskcli.analyses.cautions import copy_notes, nearly_equal_rows
from riskcli.scores.teams import Teams
from tests.helpers.strategies import Floats, named, score_values


def scores(topics: int = 40) -> Floats:
    return np.random.default_rng(7).beta(1, 2, (5, topics))


def notes(values: Floats, **teams: str) -> dict[str, str]:
    matrix = named(values)
    return {n.code: n.message for n in copy_notes(matrix, Teams(teams).of(matrix.runs))}


def test_different_runs_are_not_remarked() -> None:
    assert notes(scores()) == {}


def test_copies_are_named_together() -> None:
    values = scores()
    values[3] = values[1]
    values[4] = values[1]
    message = notes(values)["copies"]
    assert "score: the same score on every topic: r1 = r3 = r4;" in message
    assert "near-copies" not in notes(values)


@pytest.mark.parametrize(("differing", "told"), [(1, True), (2, True), (3, False)])
def test_all_but_the_same_says_by_how_many_topics(differing: int, told: bool) -> None:
    """One topic in twenty: two of forty."""
    values = scores()
    values[4] = values[2]
    values[4, :differing] += 0.01
    found = notes(values)
    assert ("near-copies" in found) == told
    if told:
        assert f"r2 and r4 ({differing} topic" in found["near-copies"]


def test_runs_that_are_0_nearly_everywhere_are_no_copies() -> None:
    values = scores()
    values[3:] = 0.0
    values[3, 0] = 0.5
    assert notes(values) == {}


def test_few_topics_may_agree_by_chance() -> None:
    values = scores(9)
    values[3] = values[1]
    assert notes(values) == {}


def test_copies_within_a_team_do_no_harm() -> None:
    values = scores()
    values[3] = values[1]
    assert "copies" in notes(values, r1="red", r3="blue")
    assert notes(values, r1="red", r3="red") == {}


def test_constant_scores() -> None:
    values = scores()
    values[2] = 0.25
    assert "one and the same score on all 40 topics: r2" in notes(values)["constant-scores"]


def test_score_tells_of_copies_unless_the_population_is_frozen() -> None:
    values = scores()
    values[3] = values[1]
    matrix = named(values)
    assert "copies" in [note.code for note in risk_table(matrix, "r0").notes]
    still = Options(baselines=("r0",), population=freeze(matrix))
    assert "copies" not in [note.code for note in risk_table(matrix, options=still).notes]


def test_near_copies_are_found_in_a_large_matrix() -> None:
    values = np.random.default_rng(1).random((1000, 500))
    values[999] = values[0]
    values[998] = values[1]
    values[998, ::21] = 0.0
    assert sorted(notes(values)) == ["copies", "near-copies"]


def test_near_copies_are_not_told_where_too_much_is_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    values = scores()
    values[3], values[4] = values[1], values[2]
    values[4, 0] = 0.0
    assert sorted(notes(values)) == ["copies", "near-copies"]
    monkeypatch.setattr("riskcli.analyses.cautions._MOST_CELLS", 40)
    assert sorted(notes(values)) == ["copies"]


@given(score_values(min_topics=10, max_topics=45), st.data())
def test_near_copies_equal_those_of_every_pair(values: Floats, data: st.DataObject) -> None:
    rows = st.integers(0, len(values) - 1)
    for row, other, topic in data.draw(st.lists(st.tuples(rows, rows, st.integers(0, 9)))):
        values[row] = values[other]
        values[row, topic] = 0.125
    most = max(1, values.shape[1] // 20)
    expected = [
        (one, other, int((values[one] != values[other]).sum()))
        for one, other in combinations(range(len(values)), 2)
        if 0 < (values[one] != values[other]).sum() <= most
        and 2 * ((values[one] == values[other]) & (values[one] != 0)).sum() > values.shape[1]
    ]
    assert list(nearly_equal_rows(values)) == expected


# ---------------------------------------------------------------- files


def write_run(path: Path, docnos: dict[str, list[str]], tag: str, scale: float = 1.0) -> Path:
    lines = [
        f"{topic} Q0 {docno} {rank} {scale * (100 - rank)} {tag}"
        for topic, listed in docnos.items()
        for rank, docno in enumerate(listed, start=1)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


RANKED = {"1": ["cw-a1", "cw-a2", "cw-a3"], "2": ["cw-b1", "cw-b2"]}


def findings_of(folder: Path, qrels: Path | None = None) -> dict[tuple[str, str], str]:
    found = validate([folder], qrels=qrels)
    return {
        (report.path.name, finding.code): finding.message
        for report in found.files
        for finding, _ in report.tally.findings()
    }


def test_a_ranking_is_recognised_whatever_its_scores_and_lines(tmp_path: Path) -> None:
    write_run(tmp_path / "a.run", RANKED, "a")
    write_run(tmp_path / "b.run", dict(reversed(RANKED.items())), "b", scale=0.5)
    write_run(tmp_path / "c.run", {**RANKED, "2": ["cw-b2", "cw-b1"]}, "c")
    tied = write_run(tmp_path / "d.run", RANKED, "d")
    tied.write_text(tied.read_text().replace(" 98.0 ", " 99.0 "), encoding="utf-8")
    codes = findings_of(tmp_path)
    assert "the same documents in the same order as in" in codes["b.run", "same-ranking"]
    assert [name for name, code in codes if code == "same-ranking"] == ["b.run"]


@pytest.mark.parametrize(("topics", "differing", "told"), [
    (40, 1, True), (40, 2, True), (40, 3, False), (10, 1, True), (9, 1, False),
])  # fmt: skip
def test_rankings_that_are_all_but_the_same_say_on_how_many_topics(
    tmp_path: Path, topics: int, differing: int, told: bool
) -> None:
    first = {str(topic): [f"d{topic}-{rank}" for rank in range(4)] for topic in range(topics)}
    second = {topic: docnos[::-1] if int(topic) < differing else docnos
              for topic, docnos in first.items()}  # fmt: skip
    write_run(tmp_path / "a.run", {topic: ["x", *docnos] for topic, docnos in first.items()}, "a")
    write_run(tmp_path / "b.run", first, "b")
    write_run(tmp_path / "c.run", second, "c")
    codes = findings_of(tmp_path)
    assert (("c.run", "near-same-ranking") in codes) == told
    if told:
        message = codes["c.run", "near-same-ranking"]
        assert message.endswith(f"b.run does on all but {differing} of {topics} topics")
    assert {code for _, code in codes} <= {"near-same-ranking"}


def test_a_topic_that_is_missing_counts_as_one_that_differs(tmp_path: Path) -> None:
    whole = {str(topic): [f"d{topic}", "e"] for topic in range(20)}
    write_run(tmp_path / "a.run", whole, "a")
    write_run(tmp_path / "b.run", {t: docs for t, docs in whole.items() if t != "7"}, "b")
    assert "all but 1 of 20 topics" in findings_of(tmp_path)["b.run", "near-same-ranking"]


def test_runs_that_score_alike_though_they_rank_otherwise(tmp_path: Path) -> None:
    """A copy with another tail, one with two topics changed, and one that scores 1 always."""
    runs = tmp_path / "runs"
    runs.mkdir()
    topics = [str(topic) for topic in range(40)]
    qrels = tmp_path / "qrels"
    qrels.write_text("".join(f"{t} 0 good{t} 1\n{t} 0 fair{t} 1\n" for t in topics))
    first = {t: ["x"] * (int(t) % 3) + [f"good{t}", "y", f"fair{t}"] for t in topics}
    first = {t: [f"{docno}{i}" if docno == "x" else docno for i, docno in enumerate(listed)]
             for t, listed in first.items()}  # fmt: skip
    tail = {t: [*listed, "tail"] for t, listed in first.items()}
    changed = {t: [f"good{t}", f"fair{t}"] if t in ("1", "2") else [*listed, "end"]
               for t, listed in first.items()}  # fmt: skip
    write_run(runs / "a.run", first, "a")
    write_run(runs / "b.run", tail, "b")
    write_run(runs / "c.run", changed, "c")
    write_run(runs / "d.run", {t: [f"fair{t}", f"good{t}"] for t in topics}, "d")
    codes = findings_of(runs, qrels)
    assert set(codes) == {
        ("b.run", "same-scores"), ("c.run", "near-same-scores"), ("d.run", "constant-scores"),
    }  # fmt: skip
    assert codes["b.run", "same-scores"].endswith("a.run")
    assert codes["c.run", "near-same-scores"].endswith("on all but 2 of 40 topics")
    assert codes["d.run", "constant-scores"] == "nDCG@20 is 1 on all 40 topics"
    assert findings_of(runs) == {}


@pytest.mark.parametrize(
    ("judged", "cause"),
    [
        ("CW-A1", "differ from the judged ones in upper and lower case"),
        ("a1", "the qrels lack their prefix 'cw-'"),
        ("en/cw-a1", "they lack the prefix 'en/' of the qrels"),
        ("other", "is 'cw-a1' of the collection that was judged?"),
    ],
)
def test_a_run_without_a_judged_document_is_named_with_the_likely_cause(
    tmp_path: Path, judged: str, cause: str
) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    write_run(folder / "a.run", RANKED, "a")
    qrels = tmp_path / "judgements"
    qrels.write_text(f"1 0 {judged} 1\n2 0 zz 1\n", encoding="utf-8")
    assert cause in findings_of(folder, qrels)["a.run", "nothing-judged"]


def test_one_judged_document_is_enough(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    write_run(folder / "a.run", RANKED, "a")
    qrels = tmp_path / "judgements"
    qrels.write_text("1 0 zz 1\n2 0 cw-b2 0\n", encoding="utf-8")
    assert ("a.run", "nothing-judged") not in findings_of(folder, qrels)
    qrels.write_text("1 0 cw-b2 1\n2 0 cw-a1 1\n", encoding="utf-8")
    cause = findings_of(folder, qrels)["a.run", "nothing-judged"]
    assert cause == "no document is judged: they are judged for other topics"
