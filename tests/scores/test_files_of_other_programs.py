"""Score files of trec_eval, gdeval.pl, ir_measures and others, in place of runs."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from riskcli import Evaluation, InputError, Rules, UsageError, evaluate
from riskcli.scores.files import INPUT_FORMATS
from riskcli.scores.files.registry import FORMATS
from riskcli.trec.formats import RUN_FORMATS
from tests.conftest import Write
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Key

Table = dict[str, dict[str, dict[str, str]]]
EXPONENTIAL = "nDCG(dcg='exp-log2')@20"


def scores(evaluation: Evaluation) -> dict[str, dict[tuple[str, str], float]]:
    return {
        matrix.measure: {
            (run, topic): value
            for run, row in zip(matrix.runs, matrix.values.tolist(), strict=True)
            for topic, value in zip(matrix.topics, row, strict=True)
        }
        for matrix in evaluation.matrices
    }


# What each of them writes


TREC_EVAL = """\
num_ret               \t1\t1000
map                   \t1\t0.5000
P_5                   \t1\t0.4000
num_ret               \t10\t1000
map                   \t10\t0.2500
P_5                   \t10\t0.2000
runid                 \tall\tindri
num_q                 \tall\t2
map                   \tall\t0.3750
P_5                   \tall\t0.3000
"""
GDEVAL = """\
runid,topic,ndcg@20,err@20
indri,1,0.31031,0.36521
indri,10,0.18597,0.12129
indri,amean,0.24814,0.24325
"""
IR_TSV = "1\tAP\t0.5000\n10\tAP\t0.2500\n1\tP@5\t0.4\n10\tP@5\t0.2\nall\tAP\t0.375\nall\tP@5\t0.3\n"
IR_JSONL = (
    '{"query_id": "1", "measure": "AP", "value": 0.5}\n'
    '{"query_id": "10", "measure": "AP", "value": 0.25}\n'
    '{"query_id": "all", "measure": "AP", "value": 0.375}\n'
)
FRAME = "name,qid,measure,value\none,1,map,0.5\none,10,map,0.25\ntwo,1,map,1\ntwo,10,map,0\n"
AP = {("x", "1"): 0.5, ("x", "10"): 0.25}


@pytest.mark.parametrize(
    ("name", "content", "measure", "expected"),
    [
        ("x.txt", TREC_EVAL, "map", AP),
        ("x.txt", TREC_EVAL, "P.5", {("x", "1"): 0.4, ("x", "10"): 0.2}),
        ("x.txt", TREC_EVAL.replace("\t", " "), "AP", AP),
        ("x.txt", TREC_EVAL.replace("\n", "\r\n"), "AP", AP),
        ("x.csv", GDEVAL, "ERR@20", {("x", "1"): 0.36521, ("x", "10"): 0.12129}),
        ("x.csv", GDEVAL, EXPONENTIAL, {("x", "1"): 0.31031, ("x", "10"): 0.18597}),
        ("x.tsv", IR_TSV, "AP", AP),
        ("x.tsv", IR_TSV, "P@5", {("x", "1"): 0.4, ("x", "10"): 0.2}),
        ("x.jsonl", IR_JSONL, "map", AP),
        ("x.csv", "query_id,measure,value\n1,map,0.5\n10,map,0.25\n", "AP", AP),
    ],
)
def test_one_file_a_run_named_by_its_file(
    write: Write, name: str, content: str, measure: str, expected: dict[tuple[str, str], float]
) -> None:
    ending = Path(name).suffix if name.endswith((".csv", ".tsv", ".jsonl")) else ""
    found = evaluate([write(name, content)], rules=Rules((measure,), run_names="file"))
    (by_place,) = scores(found).values()
    assert by_place == {(f"x{ending}", topic): value for (_, topic), value in expected.items()}


def test_tags_name_runs_where_they_tell_them_apart(write: Write) -> None:
    one = write("one.txt", TREC_EVAL)
    two = write("two.txt", TREC_EVAL.replace("indri", "lucene"))
    rules = Rules(("AP",))
    assert evaluate([one, two], rules=rules).matrices[0].runs == ("indri", "lucene")
    same = write("same.txt", TREC_EVAL)
    found = evaluate([one, same], rules=rules)
    assert found.matrices[0].runs == ("one", "same")
    assert [note.code for note in found.notes] == ["named-by-file"]


def test_gdeval_files_joined_in_one(write: Write) -> None:
    joined = GDEVAL + "".join(GDEVAL.replace("indri", "lucene").splitlines(keepends=True)[1:])
    found = evaluate([write("all.csv", joined)], rules=Rules(("ERR@20",)))
    assert found.matrices[0].runs == ("indri", "lucene")
    assert found.matrices[0].topics == ("1", "10")


def test_frames_of_other_programs_hold_several_runs(write: Write) -> None:
    found = evaluate([write("all.csv", FRAME)], rules=Rules(("AP",)))
    assert scores(found)["AP"] == {
        ("one", "1"): 0.5, ("one", "10"): 0.25, ("two", "1"): 1.0, ("two", "10"): 0.0,
    }  # fmt: skip


def test_a_column_that_nobody_knows_is_not_passed_over(write: Write) -> None:
    """It may be the one that tells runs apart."""
    path = write("x.csv", "participant,topic,measure,score\na,1,AP,0.5\nb,2,AP,0.25\n")
    with pytest.raises(InputError, match="column-count"):
        evaluate([path])


def test_programs_can_be_mixed(write: Write) -> None:
    files = [write("a.txt", TREC_EVAL), write("b.tsv", IR_TSV), write("c.jsonl", IR_JSONL)]
    found = evaluate(files, rules=Rules(("AP",)))
    assert len(set(scores(found)["AP"].values())) == 2
    assert found.matrices[0].runs == ("a", "b.tsv", "c.jsonl")


def test_a_measure_that_is_not_there_is_named(write: Write) -> None:
    with pytest.raises(UsageError, match=r"no scores by nDCG@20 in these files; they hold .*AP"):
        evaluate([write("x.txt", TREC_EVAL)], rules=Rules(("nDCG@20",)))


# Two formats at once


BOTH = "P_7\tP_8\t0.5\n"


def test_a_file_that_fits_two_formats_asks(write: Write) -> None:
    path = write("x", BOTH)
    with pytest.raises(InputError) as caught:
        evaluate([path])
    assert caught.value.code == "ambiguous-format"
    assert "could be trec_eval or ir_measures; say which with input-format in riskeval.toml" in str(
        caught.value
    )
    by_trec_eval = evaluate([path], rules=Rules(input_format="trec_eval"))
    by_ir_measures = evaluate([path], rules=Rules(input_format="ir_measures"))
    assert scores(by_trec_eval) == {"P@7": {("x", "P_8"): 0.5}}
    assert scores(by_ir_measures) == {"P@8": {("x", "P_7"): 0.5}}


def test_the_input_format_is_an_option_of_every_reader(write: Write) -> None:
    path = write("x", BOTH)
    for command in ("score", "matrix", "validate"):
        assert riskeval(command, path).code == (1 if command == "validate" else 2)
        assert riskeval(command, path, Key("input-format", "trec_eval")).code == 0
        ran = riskeval(command, path, Key("input-format", "run"))
        assert "column-count" in ran.out + ran.err


def test_the_option_knows_every_format() -> None:
    assert list(INPUT_FORMATS) == ["run", *RUN_FORMATS, *FORMATS]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("content", ["", "x", "1 Q0 d 1 2 t\n", "{}", "[]", "run\n", '"', "\0"])
def test_a_format_that_is_not_the_files_is_an_error(write: Write, kind: str, content: str) -> None:
    path = write("x", content)
    with pytest.raises(InputError):
        evaluate([path], rules=Rules(("AP",), input_format=kind))
    assert riskeval_validate(path, kind)


def riskeval_validate(path: Path, kind: str) -> int:
    from riskcli.analyses.checker import Checks
    from riskcli.analyses.validate import validate

    return validate([path], checks=Checks(input_format=kind)).count("error")


# Against the programs themselves


PRINTED = {
    "map": "AP", "recip_rank": "RR", "P_10": "P@10", "ndcg_cut_20": "nDCG@20",
    "gdeval_ndcg@20": EXPONENTIAL, "gdeval_err@20": "ERR@20",
}  # fmt: skip


@pytest.fixture(scope="module")
def printed() -> Iterator[Table]:
    """What gdeval.pl and trec_eval 10.0-rc3 printed of eight real runs, by run and measure."""
    from tests.helpers.shared_data import shared

    found: Table = defaultdict(lambda: defaultdict(dict))
    with shared("trec-web-2012", "expected_per_topic.csv").open() as lines:
        for row in csv.DictReader(lines):
            found[row["run"]][row["measure"]][row["topic"]] = row["value"]
    yield found


def test_their_files_say_what_the_runs_say(printed: Table, tmp_path: Path) -> None:
    """A file of each program for each run, written from what they printed, against scoring."""
    from tests.helpers.shared_data import shared

    for run, by_measure in printed.items():
        _write_as_trec_eval(tmp_path / "trec" / f"{run}.txt", by_measure)
        _write_as_gdeval(tmp_path / "gdeval" / f"{run}.txt", by_measure)
    runs = shared("trec-web-2012", "runs")
    qrels = shared("trec-web-2012", "qrels.txt.gz")
    direct = scores(evaluate([runs], qrels=qrels, rules=Rules(tuple(PRINTED.values()))))
    for program in ("trec", "gdeval"):
        wanted = tuple(
            PRINTED[name] for name in PRINTED if name.startswith("gdeval") == (program == "gdeval")
        )
        found = scores(evaluate([tmp_path / program], rules=Rules(wanted)))
        assert list(found) == list(wanted)
        for measure, by_place in found.items():
            assert by_place.keys() == direct[measure].keys()
            assert by_place == pytest.approx(direct[measure], abs=0.5e-4 + 1e-9)


def _write_as_trec_eval(path: Path, by_measure: dict[str, dict[str, str]]) -> None:
    path.parent.mkdir(exist_ok=True)
    lines = [
        f"{name:<22}\t{topic.replace('amean', 'all')}\t{value}\n"
        for name, values in by_measure.items()
        if not name.startswith("gdeval")
        for topic, value in values.items()
    ]
    path.write_text("".join(lines) + "runid                 \tall\tindri\n")


def _write_as_gdeval(path: Path, by_measure: dict[str, dict[str, str]]) -> None:
    path.parent.mkdir(exist_ok=True)
    gain, err = by_measure["gdeval_ndcg@20"], by_measure["gdeval_err@20"]
    lines = [f"indri,{topic},{gain[topic]},{err[topic]}\n" for topic in gain]
    path.write_text("".join(["runid,topic,ndcg@20,err@20\n", *lines]))


@pytest.mark.parametrize("format", ["tsv", "jsonl"])
def test_ir_measures_itself(tmp_path: Path, format: str) -> None:
    pytest.importorskip("ir_measures")
    run = SAMPLES / "caspPlus.run"
    call = [sys.executable, "-m", "ir_measures", str(QRELS), str(run), "P@10", "nDCG@10", "-q"]
    done = subprocess.run(
        [*call, "-o", format, "-p", "12"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip("this version of ir_measures has no such option")
    file = tmp_path / f"caspPlus.{format}"
    file.write_text(done.stdout)
    rules = Rules(("P@10", "nDCG@10"), topics="judged")
    found = scores(evaluate([file], rules=rules))
    direct = scores(evaluate([run], qrels=QRELS, rules=rules))
    for measure, by_place in direct.items():
        theirs = {topic: value for (_, topic), value in found[measure].items()}
        assert theirs == pytest.approx({topic: v for (_, topic), v in by_place.items()}, abs=1e-4)
