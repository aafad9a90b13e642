"""What changed between two runs: topics and their bounds, documents and what each adds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import log2
from pathlib import Path

import pytest

import riskcli
from riskcli import DocumentDiff, Evaluation, Rules, RunDiff, UsageError
from riskcli.trec.queries import read_queries
from tests.conftest import Write
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Ran

NEW, OLD = SAMPLES / "boldRerank.run", SAMPLES / "indriCASP.run"
SUMS = (
    "nDCG@20", "nDCG(dcg='exp-log2')@20", "nDCG", "ERR@20", "ERR", "AP", "AP@20", "P@10",
    "P(rel=2)@10", "RBP(p=0.8)", "SetP", "R@20", "SetR", "RR", "RR@10", "Success@5",
)  # fmt: skip
NO_SUMS = ("Bpref", "infAP", "Rprec")


def evaluated(new: Path, old: Path, qrels: Path, measures: Sequence[str]) -> Evaluation:
    rules = Rules(measures=tuple(measures), unjudged="bounds", run_names="file")
    return riskcli.evaluate([new, old], qrels=qrels, rules=rules)


def of_topics(found: RunDiff | DocumentDiff) -> RunDiff:
    assert isinstance(found, RunDiff)
    return found


def of_documents(found: RunDiff | DocumentDiff) -> DocumentDiff:
    assert isinstance(found, DocumentDiff)
    return found


def check_parts(evaluation: Evaluation, run: str, baseline: str) -> None:
    """Of every measure and topic that both answer, the parts add up to the difference."""
    deltas = {(row[2], row[3]): row[7] for row in
              riskcli.diff(evaluation, baseline, run=run).result().rows}  # fmt: skip
    documents = evaluation.documents
    assert documents is not None
    topics = [topic for topic in documents.topics
              if documents.ranking(run, topic) and documents.ranking(baseline, topic)]  # fmt: skip
    found = riskcli.diff(evaluation, baseline, run=run, topic=topics).result()
    assert found.columns[:5] == ("run", "baseline", "measure", "topic", "document")
    sums: dict[tuple[str, str], float] = {}
    for row in found.rows:
        sums[row[2], row[3]] = sums.get((row[2], row[3]), 0.0) + row[8]
    assert len(sums) == len(topics) * len(evaluation.matrices) > 0
    assert sums == pytest.approx({key: deltas[key] for key in sums}, abs=1e-12)


def test_parts_add_up_to_the_difference_by_every_measure_that_is_a_sum() -> None:
    check_parts(evaluated(NEW, OLD, QRELS, SUMS), "boldRerank", "indriCASP")


def test_parts_add_up_on_the_web_track(shared: Path) -> None:
    web = shared / "trec-web-2012"
    runs = [web / "runs" / f"{name}.txt.gz" for name in ("indriCA", "indriCASP")]
    evaluation = evaluated(
        runs[0], runs[1], web / "qrels.txt.gz", [m for m in SUMS if "@" in m or m == "RR"]
    )
    check_parts(evaluation, "indriCA", "indriCASP")
    found = of_topics(riskcli.diff(evaluation, "indriCASP", run="indriCA"))
    said = found.verdict.of("nDCG(dcg='exp-log2')@20, baseline indriCASP").by("unjudged")[0]
    assert "the mean difference lies in [-0.310, +0.569]" in said.text
    texts = read_queries(web / "queries.txt")
    named = of_topics(riskcli.diff(evaluation, "indriCASP", run="indriCA", queries=texts))
    assert "most lost on 166 computer programming (0.9" in str(named.verdict)


def test_no_sum_has_no_parts_and_says_so() -> None:
    evaluation = evaluated(NEW, OLD, QRELS, NO_SUMS)
    found = of_documents(riskcli.diff(evaluation, "indriCASP", topic="138"))
    assert {row[8] for row in found.result().rows} == {None}
    for statement in found.verdict.by("documents"):
        assert "is no sum over documents: none has a part of its own." in statement.text
    assert "part" not in [heading.text for heading in found.screen(80)[0].headings]


# A case small enough to compute by hand: topic 1 loses, topic 2 gains, topic 3 is equal.


A = {"1": "xab", "2": "c", "3": "d"}
B = {"1": "abc", "2": "xc", "3": "d"}
JUDGED = "1 0 a 2\n1 0 b 1\n1 0 c 1\n2 0 c 1\n2 0 x 0\n3 0 d 1\n"


def text_of(name: str, ranking: dict[str, str]) -> str:
    return "".join(
        f"{topic} Q0 {document} {place} {9 - place} {name}\n"
        for topic, documents in ranking.items()
        for place, document in enumerate(documents, 1)
    )


@pytest.fixture
def small(write: Write) -> list[Path]:
    """A new run, the old one, and judgements that lack the new run's first document."""
    runs = [write(f"{name}.run", text_of(name, run)) for name, run in (("A", A), ("B", B))]
    return [*runs, write("qrels", JUDGED)]


def ran(small: list[Path], *others: str | Path, code: int = 0) -> Ran:
    new, old, qrels = small
    result = riskeval("diff", new, old, "-q", qrels, "--quiet", *others)
    assert result.code == code, result
    return result


def test_rows_of_topics_are_what_they_say(small: list[Path]) -> None:
    rows = json.loads(ran(small, "-m", "nDCG@3", "-f", "json").out)["rows"]
    assert [row["topic"] for row in rows] == ["1", "3", "2"], "most lost first"
    ideal = 2 + 1 / log2(3) + 1 / 2
    old, new = ideal, 2 / log2(3) + 1 / 2
    assert rows[0] == {
        "run": "A", "baseline": "B", "measure": "nDCG@3", "topic": "1", "query": None,
        "score": pytest.approx(new / ideal), "baseline_score": pytest.approx(old / ideal),
        "delta": pytest.approx((new - old) / ideal),
        "delta_min": pytest.approx((new - old) / ideal),
        # x of grade 2 in place 1: the ideal has another 2.
        "delta_max": pytest.approx(
            (2 + new - old) / (2 + 2 / log2(3) + 1 / 2)
        ),
        "judged": pytest.approx(2 / 3), "baseline_judged": 1.0,
        "distance": pytest.approx(3 / 6), "rbo": rows[0]["rbo"], "overlap": pytest.approx(2 / 3),
    }  # fmt: skip
    assert (rows[2]["delta"], rows[2]["judged"]) == (pytest.approx(1 - 1 / log2(3)), 1.0)


def test_rows_of_documents_are_what_they_say(small: list[Path]) -> None:
    rows = json.loads(ran(small, "-m", "P@3", "--topic", "1", "-f", "json").out)["rows"]
    assert [[*row.values()][4:] for row in rows] == [
        ["x", 1, None, None, 0.0], ["a", 2, 1, 2, 0.0], ["b", 3, 2, 1, 0.0],
        ["c", None, 3, 1, pytest.approx(-1 / 3)],
    ]  # fmt: skip


def test_sentences_turn_with_their_facts(small: list[Path]) -> None:
    found = json.loads(ran(small, "-m", "P@3", "-f", "json").out)["verdicts"]
    assert [each["rule"] for each in found] == ["moved", "worst", "unjudged"]
    assert [each["text"] for each in found] == [
        "A loses on 1 of 3 topics against B, over a fifth on 1; it gains on 0, 2 are equal.",
        "Mean 0.556 to 0.444, a difference of -0.111; most lost on 1 (1.000 to 0.667).",
        "Judged in the top 3: 89 % of A, 100 % of B. Whatever the grades of the unjudged documents "
        "in either top 3, the mean difference lies in [-0.111, 0.000]; the loss is not certain.",
    ]
    small[2].write_text(JUDGED + "1 0 x 0\n")
    found = json.loads(ran(small, "-m", "P@3", "-f", "json").out)["verdicts"]
    assert found[2]["text"] == "All documents in either top 3 are judged."
    back = json.loads(ran([small[1], small[0], small[2]], "-m", "P@3", "-f", "json").out)[
        "verdicts"
    ]
    assert back[0]["text"].startswith("B loses on 0 of 3 topics against A; it gains on 1, 2 are")
    assert back[1]["text"] == "Mean 0.444 to 0.556, a difference of +0.111."
    assert back[1]["topics"] == []


def test_a_topic_tells_who_was_lost_and_what_it_cost(small: list[Path]) -> None:
    shown = ran(small, "-m", "P@3", "--topic", "1", "-f", "table").out
    assert shown.startswith(
        "1: 1.000 to 0.667; documents: 1 lost (-0.333), 1 new (0.000) and 2 in both\n(0.000).\n"
        "Whatever the grade of the unjudged document, the difference lies in [-0.333,\n0.000].\n"
    )
    lines = [line.split() for line in shown.splitlines()]
    assert ["1", "x", "–", "new", "0.000", "a", "2", "↓1"] in lines
    assert ["3", "b", "1", "↓1", "0.000", "c", "1", "lost", "-0.333"] in lines
    assert "The parts add up to δ, -0.333;" in shown


# On a terminal


@pytest.mark.parametrize("columns", [80, 160])
@pytest.mark.parametrize("others", [(), ("--queries", "FILE"), ("-m", "AP"), ("-m", "Bpref")])
def test_topics_answer_on_one_screen(write: Write, others: tuple[str, ...], columns: int) -> None:
    texts = write("texts", "".join(f"{topic}\tquery \x1b of {topic} " + "word " * 30 + "\n"
                                   for topic in range(101, 151)))  # fmt: skip
    named = [str(texts) if each == "FILE" else each for each in others]
    call: list[str | Path] = ["diff", NEW, OLD, "-q", QRELS, "-f", "table", *named]
    lines = riskeval(*call, COLUMNS=str(columns)).out.splitlines()
    assert 20 <= len(lines) <= 25 and max(map(len, lines)) <= columns
    assert "Not shown: " in "\n".join(lines) and "all: --full." in "\n".join(lines)
    assert not any("\x1b" in line for line in lines)
    full = riskeval(*call, "--full", COLUMNS=str(columns)).out
    assert sum(line[:3].isdigit() for line in full.splitlines()) == 50 * (
        2 if "-m" not in others else 1
    )
    assert max(map(len, full.splitlines())) <= columns


@pytest.mark.parametrize("columns", [80, 160])
def test_rankings_stand_side_by_side_in_the_width(columns: int) -> None:
    call = ("diff", NEW, OLD, "-q", QRELS, "-f", "table", "--topic", "138", "--topic", "101")
    shown = riskeval(*call, COLUMNS=str(columns))
    assert shown.code == 0 and max(map(len, shown.out.splitlines())) <= columns
    ranks = [line[:2] for line in shown.out.splitlines() if line[2:4] == "  "]
    assert [*map(int, filter(str.isdigit, map(str.strip, ranks)))] == [*range(1, 21)] * 2
    assert shown.out.endswith("By nDCG@20, too: --full.\n")
    deep = riskeval(*call[:-2], "-m", "AP", COLUMNS=str(columns)).out
    assert "Not shown: ranks 21 to 100." in deep and deep.endswith("All ranks: --full.\n")
    assert "Not shown" not in riskeval(*call[:-2], "-m", "AP", "--full").out


def test_top_shortens_every_format() -> None:
    call = ("diff", NEW, OLD, "-q", QRELS, "-m", "nDCG@20", "--quiet", "--top", "3")
    topics = riskeval(*call).out.splitlines()[1:]
    assert [line.split("\t")[3] for line in topics] == ["144", "138", "108"]
    documents = riskeval(*call, "--topic", "138", "-f", "csv").out.splitlines()[1:]
    ranks = [line.split(",")[5:7] for line in documents]
    assert ranks == [[str(rank), ""] for rank in (1, 2, 3)] + [
        ["", str(rank)] for rank in (1, 2, 3)
    ]


@pytest.mark.parametrize("topic", [(), ("--topic", "1")])
def test_every_format_is_written_and_replaced(small: list[Path], topic: tuple[str, ...]) -> None:
    folder = small[0].parent
    for suffix in ("txt", "tsv", "csv", "json", "jsonl", "md", "tex", "html", "parquet"):
        out = folder / "results" / f"out.{suffix}"
        out.parent.mkdir(exist_ok=True)
        for _ in range(2):
            ran(small, "-m", "P@3", *topic, "-o", out)
        assert out.stat().st_size > 100, suffix


# What is refused


def test_errors_name_a_cure(small: list[Path], write: Write) -> None:
    new, old, qrels = small
    scores = write("scores.csv", "run,1,2\nZ,0.5,0.25\n")
    short = write("short.run", "1 Q0 a 1 2 short\n")
    judged = ("-q", qrels, "-m", "P@3")
    wrong: dict[tuple[str | Path, ...], str] = {
        (new, new, *judged): f"{new} is RUN and BASELINE: name two files",
        (new, f"x={new}", *judged): f"{new} is RUN and BASELINE: name two files",
        (new, scores, *judged): "give the runs themselves",
        (new, old, *judged, "--topic", "11"): "no topic '11'; did you mean 1?",
        (new, short, *judged, "--topic", "2"): "short has no document for topic 2, which scores 0",
        (new, new.parent, *judged): "name run files",
        (new,): "name RUN and BASELINE, found 1",
    }
    for call, said in wrong.items():
        result = riskeval("diff", *call)
        assert result.code == 2 and said in result.err.replace("\n", " "), (said, result)
        assert result.out == ""


def test_runs_may_be_named_and_equal(small: list[Path], write: Write) -> None:
    new, _, qrels = small
    copy = write("copy.run", new.read_text())
    result = riskeval(
        "diff", f"mine={new}", f"theirs={copy}", "-q", qrels, "-m", "P@3", "-f", "json"
    )
    said = json.loads(result.out)
    assert said["verdicts"][0]["text"].startswith("mine loses on 0 of 3 topics against theirs; it")
    assert {row["distance"] for row in said["rows"]} == {0.0}


def test_the_library_says_what_it_needs(small: list[Path]) -> None:
    new, old, qrels = small
    plain = riskcli.evaluate([new, old], qrels=qrels, rules=Rules(measures=("P@3",)))
    with pytest.raises(UsageError, match=r"Rules\(unjudged='bounds'\)"):
        riskcli.diff(plain, "B")
    with pytest.raises(UsageError, match="give the runs themselves"):
        riskcli.diff(riskcli.ScoreMatrix.from_frame(plain["P@3"].to_frame()), "B")
    asked = evaluated(new, old, qrels, ["P@3"])
    assert riskcli.diff(asked, "B").to_frame()["delta"].tolist() == pytest.approx([-1 / 3, 0, 0])
    for baseline, run in (("@mean", "A"), ("B", "B"), ("*", "A")):
        with pytest.raises(UsageError, match="diff compares documents"):
            riskcli.diff(asked, baseline, run=run)
