"""What does not look as it was meant is refused or told, in every command and in the library."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import riskcli
from riskcli import InputError, Rules, evaluate
from riskcli.analyses.validate import validate
from riskcli.effectiveness.plausibility import SENTENCES
from riskcli.trec.source import TextFile
from tests.conftest import Write
from tests.helpers.inprocess import riskeval

QRELS = "".join(f"{topic} 0 d{doc:02} {doc % 2}\n" for topic in range(1, 7) for doc in range(30))


def run_of(line: str, documents: int = 30, topics: int = 6, name: str = "d") -> str:
    """A run; {i} is a document's index, {r} its rank, {s} a score that falls."""
    return "".join(
        line.format(q=q, d=f"{name}{i:02}", i=i, r=i + 1, s=(documents - i) / 7) + "\n"
        for q in range(1, topics + 1)
        for i in range(documents)
    )


GOOD = "{q} Q0 {d} {r} {s} t"


def codes(write: Write, text: str, qrels: str = QRELS) -> list[str]:
    """The codes of warnings, the same by `evaluate` and by `validate`; an error is raised."""
    run, judged = write("t.run", text), write("q", qrels)
    found = validate([run], qrels=judged).result().rows
    of_validate = [row[3] for row in found if row[3] in SENTENCES]
    if any(row[2] == "error" for row in found):
        with pytest.raises(InputError) as caught:
            evaluate([run], qrels=judged, rules=Rules(("nDCG@20",)))
        assert caught.value.code in of_validate
        raise caught.value
    told = evaluate([run], qrels=judged, rules=Rules(("nDCG@20",))).notes
    of_evaluate = [note.code for note in told if note.code != "qrels"]
    assert of_evaluate == of_validate
    return of_evaluate


def test_nothing_is_said_of_a_good_run(write: Write) -> None:
    assert codes(write, run_of(GOOD)) == []
    assert codes(write, run_of("{q} Q0 {d} 0 {s} t")) == []


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("D", "upper and lower case"),
        ("x-d", "the qrels lack their prefix 'x-'"),
        ("z", "is 'z00' of the collection that was judged?"),
    ],
)
def test_a_run_with_nothing_judged_is_refused_everywhere(
    write: Write, tmp_path: Path, name: str, cause: str
) -> None:
    with pytest.raises(InputError, match="no document is judged") as caught:
        codes(write, run_of(GOOD, name=name))
    assert caught.value.code == "nothing-judged"
    assert cause in str(caught.value)
    other, qrels = write("other.run", run_of(GOOD)), tmp_path / "q"
    for command in (["score"], ["matrix", "-m", "AP"], ["check", "--baseline", other]):
        ran = riskeval(*command, tmp_path / "t.run", "-q", qrels)
        assert (ran.code, "nothing-judged" in ran.err) == (2, True), command
    ran = riskeval("score", other, tmp_path / "t.run", "-q", qrels, "--on-error", "skip")
    assert ran.code == 1
    assert "LEFT OUT" in ran.err
    documents = {"1": {f"{name}0": 1.0}}
    with pytest.raises(InputError, match="nothing-judged"):
        riskcli.score_runs({"a": documents}, {"1": {"d00": 1}}, ["nDCG@5"])


def test_a_run_judged_far_below_its_top_is_read_to_its_end(write: Write) -> None:
    """Scoring keeps the first 20 alone; what is below decides whether it is the collection."""
    deep = run_of(GOOD, documents=60, name="x") + "1 Q0 d01 61 -1 t\n"
    assert codes(write, deep) == ["hardly-judged"]


def test_documents_of_a_topic_without_judgements_are_not_judged(write: Write) -> None:
    """Though another topic's judgements have them."""
    text = run_of(GOOD, name="x") + run_of("77 Q0 {d} {r} {s} t", topics=1)
    with pytest.raises(InputError, match="nothing-judged"):
        codes(write, text)


def test_hardly_judged_is_told_with_the_numbers(write: Write) -> None:
    text = run_of(GOOD, name="x").replace("x00", "d00", 2)
    assert codes(write, text) == ["hardly-judged"]
    note = evaluate([write("t.run", text)], qrels=write("q", QRELS), rules=Rules(("P@5",))).notes[0]
    assert "5% of the judged documents that they could hold: t (2 of 60)" in note.message
    half = "".join(line.replace(" d", " x") if i % 2 else line
                   for i, line in enumerate(run_of(GOOD).splitlines(keepends=True)))  # fmt: skip
    assert codes(write, half) == []


def test_ranks_and_scores_that_are_exchanged_are_refused(write: Write) -> None:
    with pytest.raises(InputError, match="awk") as caught:
        codes(write, run_of("{q} Q0 {d} {s} {r} t"))
    assert caught.value.code == "exchanged-columns"
    rows = validate([caught.value.path]).result().rows
    assert [row[3] for row in rows] == ["exchanged-columns"]  # no bad rank on every line


@pytest.mark.parametrize("ranks", ["{r}", "0", "-1"])
def test_a_run_that_lists_its_best_last_is_no_exchange(write: Write, ranks: str) -> None:
    lines = run_of(f"{{q}} Q0 {{d}} {ranks} {{s}} t").splitlines(keepends=True)
    assert "upside-down" not in codes(write, "".join(reversed(lines)))


def test_scores_that_rise_with_the_rank_are_told(write: Write) -> None:
    assert codes(write, run_of("{q} Q0 {d} {r} -{s} t")) == ["upside-down"]
    lines = run_of("{q} Q0 {d} {r} -{s} t").splitlines(keepends=True)
    assert codes(write, "".join(reversed(lines))) == ["upside-down"]
    fine = run_of(GOOD) + run_of("7 Q0 {d} {r} -{s} t", topics=1)
    assert codes(write, fine, QRELS + "7 0 d00 1\n") == []


def test_equal_scores_are_told_with_what_ranks_would_give(write: Write) -> None:
    text = run_of("{q} Q0 {d} {r} 1 t")
    assert codes(write, text) == ["all-tied", "tie-order"]
    told = evaluate([write("t.run", text)], qrels=write("q", QRELS), rules=Rules(("P@1",))).notes
    assert (
        "t (another top 1 on 6 of 6 topics; by rank P@1 is 0.0000, not 1.0000)" in told[1].message
    )
    assert codes(write, run_of("{q} Q0 {d} 0 1 t")) == ["all-tied"]


def test_ties_are_told_where_they_change_the_top_of_many_topics(write: Write) -> None:
    tied = run_of("{q} Q0 {d} {r} {s} t").replace(" 4.0 ", " 4.142857142857143 ")
    assert codes(write, tied) == ["tie-order"]
    lines = tied.splitlines(keepends=True)
    for topic in range(1, 6):  # by name already: the order of lines is that of the ranks
        first, second = (next(i for i, line in enumerate(lines)
                              if line.startswith(f"{topic} ") and f" d0{d} " in line)
                         for d in (1, 2))  # fmt: skip
        lines[first], lines[second] = (
            lines[second].replace(" 3 ", " 2 "), lines[first].replace(" 2 ", " 3 "),
        )  # fmt: skip
    assert codes(write, "".join(lines)) == []


def tied(order: list[int], ranks: range) -> str:
    """A run of that order of documents, whose scores fall but within these ranks."""
    lines = [
        f"{q} Q0 d{doc:02} {rank} {-(ranks[0] if rank in ranks else rank)} t"
        for q in range(1, 7)
        for rank, doc in enumerate(order)
    ]
    return "\n".join((*lines, ""))


def test_a_tie_is_told_if_it_begins_within_the_top(write: Write) -> None:
    """Its first documents stand as in the file; those far behind belong before them by rank."""
    order = [*range(15), 16, 15, *range(25, 16, -1), *range(26, 30)]
    assert codes(write, tied(order, range(15, 26))) == ["tie-order"]


@pytest.mark.parametrize("seed", range(40))
def test_the_signs_seen_in_the_top_are_those_of_the_whole(write: Write, seed: int) -> None:
    """`validate` looks at whole files, `evaluate` only where the top gives a sign (see `codes`)."""
    rng = random.Random(seed)
    documents, levels = rng.randint(12, 60), rng.randint(1, 40)
    lines, judged = [], []
    for topic in range(rng.randint(1, 6)):
        scores = sorted(rng.choices(range(levels), k=documents), reverse=True)
        names = rng.sample([f"d{i:02}" for i in range(documents)], documents)
        judged += [f"{topic} 0 {name} {rng.randint(0, 1)}" for name in names] + [f"{topic} 0 x 1"]
        ranked = enumerate(zip(names, scores, strict=True), start=1)
        lines += [f"{topic} Q0 {name} {rank} {score} t" for rank, (name, score) in ranked]
    assert set(codes(write, "\n".join((*lines, "")), "\n".join((*judged, "")))) <= {
        "tie-order", "all-tied",
    }  # fmt: skip


def test_ties_below_the_top_ask_for_no_second_look(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, judged = write("t.run", tied([*range(30)], range(22, 29))), write("q", QRELS)
    monkeypatch.setattr(TextFile, "text_again", None)
    assert not evaluate([run], qrels=judged, rules=Rules(("AP", "nDCG@20"))).notes[:-1]
    with pytest.raises(TypeError):  # P@25 sees them
        evaluate([run], qrels=judged, rules=Rules(("P@25",)))


def test_what_was_said_is_said_again_from_a_store(write: Write, tmp_path: Path) -> None:
    run, judged = write("t.run", run_of("{q} Q0 {d} {r} 1 t")), write("q", QRELS)
    both, one = Rules(("P@1", "nDCG@5")), Rules(("P@1",))
    for rules in (both, both, one, Rules(("nDCG@5",))):
        alone = evaluate([run], qrels=judged, rules=rules).notes
        assert evaluate([run], qrels=judged, rules=rules, store=tmp_path / "s").notes == alone
        assert len(alone) == 2


def test_single_precision_ties_are_one_finding(write: Write) -> None:
    scores = ["0.100000001", "0.100000002", "0.100000003", "0.05"]
    text = "".join(
        f"{q} Q0 d{i} {i + 1} {s} t\n" for q in (1, 2) for i, s in enumerate(scores[::-1])
    )
    rows = [row for row in validate([write("t.run", text)]).result().rows if "single" in row[3]]
    assert len(rows) == 1
    assert "4 pairs of scores differ but tie in single precision" in rows[0][4]


def test_a_large_file_is_read_again_for_judged_documents_alone(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    from riskcli.effectiveness import plausibility

    monkeypatch.setattr(plausibility, "_LARGEST", 0)
    judged, rules = write("q", QRELS), Rules(("nDCG@5",))
    assert evaluate([write("t.run", run_of("{q} Q0 {d} {r} 1 t"))], qrels=judged, rules=rules)
    with pytest.raises(InputError, match="nothing-judged"):
        evaluate([write("t.run", run_of(GOOD, name="x"))], qrels=judged, rules=rules)
    found = evaluate([write("t.run", run_of(GOOD, documents=60, name="x") + "1 Q0 d01 61 -1 t\n")],
                     qrels=judged, rules=rules)  # fmt: skip
    assert [note.code for note in found.notes] == ["hardly-judged"]


def one_judged(topics: int, found: int, judged: str = "j{q}", name: str = "x{i}") -> list[str]:
    """Runs of depth 10 with one judged document a topic, of which the first topics find theirs."""
    lines = (
        f"{q} Q0 {(judged if i == 4 and q <= found else name).format(q=q, i=i)}-{q} {i} {9 - i} t"
        for q in range(1, topics + 1) for i in range(10)
    )  # fmt: skip
    judgements = (f"{q} 0 {judged.format(q=q)}-{q} 1" for q in range(1, topics + 1))
    return ["\n".join((*text, "")) for text in (lines, judgements)]


def test_one_judged_document_a_topic_is_no_small_share(write: Write) -> None:
    assert codes(write, *one_judged(200, 80)) == []
    assert codes(write, *one_judged(200, 4)) == ["hardly-judged"]


@pytest.mark.parametrize(("judged", "name"), [("7{q}", "8{i}"), ("D-7{q}", "D-8{i}")])
@pytest.mark.parametrize("topics", [1, 5, 10])
def test_missing_the_few_judged_documents_is_a_score_of_0(
    write: Write, judged: str, name: str, topics: int
) -> None:
    assert codes(write, *one_judged(topics, 0, judged, name)) == ["hardly-judged"]


@pytest.mark.parametrize(
    ("topics", "judged", "name"), [(5, "d1{q}", "X1{i}"), (200, "7{q}", "8{i}")]
)
def test_missing_what_cannot_be_missed_by_chance_is_refused(
    write: Write, topics: int, judged: str, name: str
) -> None:
    with pytest.raises(InputError, match="of the collection that was judged"):
        codes(write, *one_judged(topics, 0, judged, name))


def scores_for_ranks(base: int, size: int, dropped: int) -> str:
    """A run whose rank column has the scores, and whose ranks are counted from a base."""
    lines = [f"{q} Q0 d{i:02} {(30 - i) ** 2 // 40 / size:g} {i + base} t"
             for q in range(1, 7) for i in range(30)]  # fmt: skip
    return "\n".join((*lines[dropped:], ""))


@pytest.mark.parametrize("dropped", [0, 1])
@pytest.mark.parametrize(("base", "size"), [(0, 7), (1, 7), (1, 1), (0, 1)])
def test_exchanged_columns_are_refused_however_they_count(
    write: Write, base: int, size: int, dropped: int
) -> None:
    with pytest.raises(InputError, match="exchanged-columns"):
        codes(write, scores_for_ranks(base, size, dropped))


def test_columns_that_may_be_exchanged_are_told(write: Write) -> None:
    lines = [f"{q} Q0 d{i:02} {90 - 3 * i} {i + 1} t" for q in range(1, 7) for i in range(30)]
    assert codes(write, "\n".join((*lines, ""))) == ["perhaps-exchanged"]
    best_last = [f"{q} Q0 d{i:02} {30 - i} {i + 1} t" for q in range(1, 7) for i in range(30)]
    del best_last[7]
    assert codes(write, "\n".join((*best_last, ""))) == []


def test_names_that_are_words_say_nothing_of_the_collection(write: Write) -> None:
    run = "1 Q0 Rome 1 2 t\n1 Q0 Oslo 2 1 t\n2 Q0 Kairo 1 1 t\n"
    assert codes(write, run, "1 0 Paris 1\n2 0 Aix-la-Chapelle 1\n") == ["hardly-judged"]
