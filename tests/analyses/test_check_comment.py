"""The comment on a pull request: what it says, that it is short, and that names are harmless."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from riskcli.analyses.check.comment import sentences
from riskcli.output.problems import MARKER
from riskcli.output.verdict import Statement
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Ran

NEW, OLD = SAMPLES / "boldRerank.run", SAMPLES / "indriCASP.run"
STRICT = ("--policy", "strict", "--quiet")


def comment(*call: str | Path, code: int = 1) -> list[str]:
    """Its lines, after what holds of every comment."""
    ran = riskeval("check", *call, "-q", QRELS, "-f", "markdown")
    assert ran.code == code, ran.err
    return checked(ran.out)


def checked(text: str) -> list[str]:
    lines = text.splitlines()
    assert lines[0] == MARKER and re.match(r"### (pass|FAIL|inconclusive): ", lines[1])
    assert len(lines) <= 40 and len(text) <= 65_536
    return lines


def rows(lines: list[str]) -> list[list[str]]:
    """The cells of its tables, without their headings."""
    found = [line for line in lines if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in found]


def test_one_candidate_its_rules_and_what_became_of_documents() -> None:
    lines = comment(NEW, "-b", OLD, "-m", "ERR@20", *STRICT)
    assert lines[1] == "### FAIL: boldRerank against indriCASP, ERR@20"
    assert lines[3].startswith("FAIL: for boldRerank max\\_loss \\<= 0.3 is broken (0.5881).")
    head, broken, *rest = rows(lines)
    assert head[1:3] == ["rule", "value"] and broken[:2] == ["**FAIL**", "max\\_loss \\<= 0.3"]
    assert [row[0] for row in rest[:3]] == ["pass"] * 3  # what is broken comes first
    heading, *lost = rest[3:]
    assert heading[-1] == "relevant documents: rank before → now"
    assert [row[0] for row in lost] == ["138", "123", "144"]
    assert lines.index("</details>") == len(lines) - 1
    folded = lines[lines.index("<details><summary>How it was judged</summary>") :]
    assert any("qrels: simulated.qrels, SHA-256 `" in line for line in folded)
    means = [n for n, line in enumerate(lines) if "ean 0.2913 against 0.1983 on 50" in line]
    assert means == [5], "both means are above the tables, once"
    assert "topics to blame" not in "".join(lines), "these are a table"
    folded = [line for line in comment(NEW, "-b", OLD, code=0) if line.startswith("- ")]
    assert {line.split(": mean")[0] for line in folded[1:3]} == {"- ERR@20", "- nDCG@20"}


def test_documents_are_those_that_diff_shows() -> None:
    lines = comment(NEW, "-b", OLD, "-m", "ERR@20", *STRICT)
    cell = next(row[-1] for row in rows(lines) if row[0] == "138")
    call = ("diff", NEW, OLD, "-q", QRELS, "-m", "ERR@20", "--topic", "138", "-f", "tsv")
    head, *found = (line.split("\t") for line in riskeval(*call).out.splitlines())
    table = [dict(zip(head, row, strict=True)) for row in found]
    lost = [
        row
        for row in table
        if row["grade"] not in ("", "0")
        and row["baseline_rank"]
        and (not row["rank"] or int(row["rank"]) > int(row["baseline_rank"]))
    ]
    lost.sort(key=lambda row: float(row["part"]))
    told = [f"{row['document']} (grade {row['grade']}): {row['baseline_rank']}" for row in lost]
    assert [each.split(" →")[0] for each in cell.split("; ")[:3]] == told[:3]
    assert cell.endswith(f"; and {len(lost) - 3} more")


def test_a_pass_shows_what_it_loses_and_what_the_topic_asks(tmp_path: Path) -> None:
    queries = tmp_path / "queries.tsv"
    queries.write_text("138\tjax |chemical| <b>company\n")
    call = (NEW, "-b", OLD, "-m", "ERR@20", "--quiet", "--queries", queries)
    lines = comment(*call, code=0)
    assert lines[1].startswith("### pass: ")
    lost = next(row for row in rows(lines) if row[0].startswith("138"))
    assert lost[0] == r"138 jax \|chemical\| \<b\>company" and lost[-1]
    assert "A pass is no proof of no loss" in "\n".join(lines)


def test_kept_scores_have_no_documents(tmp_path: Path) -> None:
    kept = tmp_path / "old.json"
    assert riskeval("matrix", OLD, "-q", QRELS, "-m", "ERR@20", "-o", kept).code == 0
    lines = comment(NEW, "-b", kept, "-m", "ERR@20", *STRICT)
    assert "loses most on" in "\n".join(lines) and "relevant documents" not in "\n".join(lines)


def test_an_unanswered_topic_lost_all_of_its_documents(tmp_path: Path) -> None:
    part = tmp_path / "part.run"
    lines = [line for line in OLD.read_text().splitlines() if not line.startswith("138 ")]
    part.write_text("\n".join(lines).replace("indri", "part") + "\n")
    found = comment(part, "-b", OLD, "-m", "ERR@20", *STRICT)
    assert "1 → lost" in next(row[-1] for row in rows(found) if row[0] == "138")


def test_what_is_not_decided_and_what_settles_it() -> None:
    call = (SAMPLES / "plainBM25.run", "-b", OLD, "-m", "ERR@20", "--policy", "lenient")
    lines = comment(*call, "--margin", "0.001", code=3)
    assert lines[1].startswith("### inconclusive: ")
    assert "topics settle it" in "\n".join(lines)
    assert comment(*call, "--margin", "0.001", "--inconclusive", "fail")[1].startswith("### FAIL")


def test_what_fails_is_said_though_it_is_the_last_of_many_measures(tmp_path: Path) -> None:
    """Under a title that says FAIL there would else stand passes alone; and so with alarms."""
    topics, head = range(40), "qid,A,B,C,D\n"
    (tmp_path / "old.csv").write_text(head + "".join(f"{t},.5,.5,.5,.5\n" for t in topics))
    worse = "".join(f"{t},.51,.52,.5{t % 5},{0.3 + t / 400}\n" for t in topics)
    (tmp_path / "new.csv").write_text(head + worse)
    call = ("check", "new.csv", "-b", "old.csv", "-m", "A,B,C,D", "-f", "markdown", "--policy",
            "lenient")  # fmt: skip
    ran = riskeval(*call, cwd=tmp_path)
    lines = checked(ran.out)
    assert lines[1].startswith("### FAIL"), ran.err
    assert any(line.startswith("D: FAIL: for new") for line in lines[3:9]), lines[:10]
    alarm = Statement("anchor", "ALARM: 3 changes lost it.", "D")
    said = [Statement("gate", "pass: for x all holds.", about) for about in "ABCDEFG"]
    assert "D: ALARM: 3 changes lost it." in sentences([*said, alarm], [])
    assert sentences([*said, alarm], [])[-1].startswith("D"), "else they are in their order"


def test_several_candidates_are_a_row_each() -> None:
    lines = comment(SAMPLES, "-b", "indriCASP", "-m", "ERR@20", *STRICT)
    assert lines[1] == "### FAIL: 8 candidates against indriCASP, ERR@20"
    assert len(rows(lines)) == 9 and "worst topics" in "\n".join(lines)


def test_it_is_short_whatever_is_asked(tmp_path: Path) -> None:
    many = tmp_path / "runs"
    many.mkdir()
    for number in range(60):
        shutil.copy(OLD if number % 2 else NEW, many / f"{'long' * 40}{number}.run")
    rules = [f"--require=loss({topic}) <= 0" for topic in range(101, 131)]
    names = ("--run-names", "file")
    measures = ("-m", "ERR@20,nDCG@20,P@10,AP,RR,Rprec,P@5")
    lines = comment(NEW, "-b", OLD, *measures, *rules, "--top", "200", *STRICT)
    assert "Not shown: 232 more rules." in lines
    comment(NEW, "-b", OLD, "-m", "ERR@20", *rules, "--top", "200", *STRICT)
    lines = comment(many, "-b", OLD, "-m", "ERR@20,P@10", *names, *rules[:5], *STRICT)
    assert "Not shown: " in "\n".join(lines)


def test_a_long_question_as_a_topic_leaves_the_scores_in_their_row(tmp_path: Path) -> None:
    asked = ["<why?> " * 300 + str(number) for number in range(5)]
    for name, score in (("old", 0.9), ("new", 0.1)):
        rows_ = "".join(f"{topic},{score + number / 100}\n" for number, topic in enumerate(asked))
        (tmp_path / f"{name}.csv").write_text("qid,A\n" + rows_)
    rule = f"--require=loss('{asked[0]}') <= 0"
    ran = riskeval("check", "new.csv", "-b", "old.csv", rule, "-f", "markdown", cwd=tmp_path)
    found = rows(checked(ran.out))
    assert ran.code == 1 and {tuple(row[1:3]) for row in found[-3:]} == {
        (f"0.9{n}0", f"0.1{n}0") for n in range(3)
    }, ran.err
    assert all(line.endswith("|") for line in ran.out.splitlines() if line.startswith("| "))


def test_names_are_harmless(tmp_path: Path) -> None:
    tag, topic = "a|b`c<img/src=x>@all#1[x](y)", "<script>|`1"
    (tmp_path / "q").write_text(
        "".join(f"{t} 0 <!--x--> 1\n{t} 0 d2 0\n" for t in (topic, "2", "3"))
    )
    for name, other in ((tag, "d2"), ("old", "<!--x-->")):
        lines = [f"{t} Q0 {other} 1 1.0 {name}\n" for t in (topic, "2", "3")]
        (tmp_path / f"{len(name)}.run").write_text("".join(lines))
    ran = riskeval("check", f"{len(tag)}.run", "-b", "3.run", "-q", "q", "-m", "P@1", "-f",
                   "markdown", "--require", "max_loss <= 0", cwd=tmp_path)  # fmt: skip
    lines = checked(ran.out)
    assert lines[1].startswith("### FAIL: a"), ran.err
    shown = "\n".join(lines[1:]).replace("<details><summary>", "").replace("</summary>", "")
    plain = re.sub(r"\\.", "", shown.replace("</details>", ""))
    assert "<" not in plain.replace("SHA", "") and "@all" not in plain
    assert r"\<\!--x--\> (grade 1): 1 → lost" in shown
    assert {len(row) for row in rows(lines)} == {4, 5}  # no name makes another cell


@pytest.mark.parametrize("call", [(NEW, "-b", "<b>nope"), (NEW,), ("nope", "-b", OLD)])
def test_a_refusal_has_the_marker_too(tmp_path: Path, call: tuple[str | Path, ...]) -> None:
    file = tmp_path / "out.md"
    ran = riskeval("check", *call, "-q", QRELS, "--report", f"markdown={file}")
    assert ran.code == 2 and checked(file.read_text())[1] == "### FAIL: nothing was judged"
    assert "<b>" not in file.read_text()


def test_a_refusal_of_many_files_is_short(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number}.run").write_text("1 Q0 a 1 x t\n")
    ran: Ran = riskeval("check", tmp_path, "-b", OLD, "-q", QRELS, "--on-error", "skip", "-f",
                        "markdown", "--report", f"markdown={tmp_path / 'out.md'}")  # fmt: skip
    lines = checked((tmp_path / "out.md").read_text())
    assert ran.code == 2 and lines[-1] == "- and 30 more" and ran.out.startswith(MARKER)
