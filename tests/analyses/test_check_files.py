"""Kept baselines: that they are what was kept, and from the judgements of today."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from pathlib import Path
from xml.etree import ElementTree as Tree

import pytest

from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Ran

NEW, OLD = SAMPLES / "boldRerank.run", SAMPLES / "indriCASP.run"
ERR = ("-m", "ERR@20")
ALLOW = ("--other-judgements", "allow")
CODE = "other-judgements"
SENTENCE = "made from other judgements than"


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judgements of the same topics, a third of them lower; and the baseline by these, `kept`."""
    folder = tmp_path_factory.mktemp("others")
    lines = QRELS.read_text(encoding="utf-8").splitlines()
    lower = [line.rsplit(None, 1)[0] + " 0" if n % 3 == 2 else line for n, line in enumerate(lines)]
    (folder / "qrels").write_text("\n".join(lower) + "\n", encoding="utf-8")
    for suffix in ("json", "parquet"):
        kept = folder / f"kept.{suffix}"
        ran = riskeval("matrix", OLD, *ERR, "-q", folder / "qrels", "-o", kept)
        assert ran.code == 0
    return folder


def check(run: Path, baseline: Path | str, *more: str | Path) -> Ran:
    return riskeval("check", run, "-b", baseline, *ERR, "--policy", "strict", *more)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# ---------------------------------------------------------------- candidates in a folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs = tmp_path / "runs"
    runs.mkdir()
    shutil.copy(OLD, runs / "a.run")
    shutil.copy(OLD, runs / "b.run")
    return runs


FOLDER = ("-b", "a", "-q", QRELS, *ERR, "--run-names", "file", "--quiet")


def test_a_file_of_a_folder_that_cannot_be_read_stops_no_gate(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "locked.json").write_text('[{"topic": "1", "ERR@20": 0.5}]', encoding="utf-8")
    read = Path.read_bytes

    def locked(path: Path) -> bytes:
        if path.name == "locked.json":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", locked)
    ran = riskeval("check", folder, "-b", "a", *ERR, "-q", QRELS, "--run-names", "file")
    assert ran.code == 0, ran.err


def test_a_file_left_out_for_its_content_is_told_in_every_report(folder: Path) -> None:
    lines = [f"{topic} 1 {n} 10\n" for topic in (101, 102) for n in range(30)]
    (folder / "four").write_text("".join(lines))
    reports = {name: folder.parent / name for name in ("junit", "json", "markdown", "csv")}
    asked = [each for name, path in reports.items() for each in ("--report", f"{name}={path}")]
    ran = riskeval("check", folder, *FOLDER, *asked)
    assert ran.code == 0 and "warning: skipped in folders (not runs): four (" in ran.err
    assert "four (" in ran.out
    for name in ("junit", "json", "markdown"):
        assert "four (" in reports[name].read_text(encoding="utf-8"), name


@pytest.mark.parametrize("name", ["empty", "run.jsonl"])
def test_no_candidate_of_a_folder_is_lost(folder: Path, name: str) -> None:
    line = {"qid": "101", "docid": "d1", "rank": 1, "text": "a b"}
    content = {"empty": "", "run.jsonl": json.dumps(line) + "\n"}[name]
    (folder / name).write_text(content)
    ran = riskeval("check", folder, *FOLDER)
    assert ran.code == 2 and ran.out == "" and name in ran.err, ran
    assert riskeval("check", folder, *FOLDER, "--exclude", name).code == 0


@pytest.mark.parametrize("kind", ["list", "deepeval", "run"])
def test_json_left_out_for_its_name_is_told_in_every_report(tmp_path: Path, kind: str) -> None:
    runs, report = tmp_path / "runs", tmp_path / "junit"
    runs.mkdir()
    lines = [{"qid": str(n), "F": n % 7 / 7} for n in range(40)]
    (runs / "ok.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    shutil.copy(runs / "ok.jsonl", tmp_path / "old.jsonl")
    measured = [{"input": "q", "metricsData": [{"name": "F", "score": 0.5}]}]
    bad = {
        "list": json.dumps([{**line, "F": 0} for line in lines]),
        "deepeval": json.dumps({"testCases": measured}, indent=1),
        "run": "1 Q0 d1 1 2.5 t",
    }
    (runs / "bad.json").write_text(bad[kind] + "\n")
    (runs / "other.json").write_text('{"a": 1}')
    call = ("-b", tmp_path / "old.jsonl", "-m", "F", "--quiet", "--report", f"junit={report}")
    ran = riskeval("check", runs, *call)
    assert ran.code == 0 and "warning: skipped for their names, but begin as " in ran.err
    assert "bad.json (--include '*'" in " ".join(ran.out.split())
    assert "bad.json (" in report.read_text(encoding="utf-8") and "other.json" not in ran.out
    assert "bad.json" not in riskeval("check", runs, *call, "--exclude", "bad.json").err


# ---------------------------------------------------------------- other judgements


def test_a_baseline_of_other_judgements_lets_nothing_pass(others: Path) -> None:
    """Half of the candidates pass against it that fail when both runs are scored anew."""
    wrongly_passed = []
    for run in sorted(SAMPLES.glob("*.run")):
        if run == OLD:
            continue
        for suffix in ("json", "parquet"):
            ran = check(run, others / f"kept.{suffix}", "-q", QRELS)
            assert (ran.code, ran.out) == (2, "") and f"kept.{suffix}: {CODE}: " in ran.err
        insisted = check(run, others / "kept.json", "-q", QRELS, *ALLOW)
        if (insisted.code, check(run, OLD, "-q", QRELS).code) == (0, 1):
            wrongly_passed.append(run.stem)
    assert wrongly_passed == ["coarseTies", "partial46", "plainBM25", "steadyHand"]


def test_the_error_names_the_file_both_checksums_and_the_cure(others: Path) -> None:
    ran = check(NEW, others / "kept.json", "-q", QRELS)
    then, now = sha256(others / "qrels")[:12], sha256(QRELS)[:12]
    assert f"kept.json: {CODE}: made from other judgements (SHA-256 {then}) than" in ran.err
    assert f"({now})" in ran.err and "make it again" in ran.err and " ".join(ALLOW) in ran.err
    assert ran.err.count("\n") == 1
    made_anew = check(NEW, others / "kept.json", "-q", others / "qrels")
    assert made_anew.code in (0, 1) and SENTENCE not in made_anew.err + made_anew.out


@pytest.mark.parametrize(
    "format", ["table", "json", "csv", "tsv", "jsonl", "markdown", "html", "latex", "github",
               "junit", "sarif", "codequality"]
)  # fmt: skip
def test_who_insists_is_told_in_every_report(others: Path, tmp_path: Path, format: str) -> None:
    file = tmp_path / "report"
    ran = check(
        NEW, others / "kept.json", "-q", QRELS, *ALLOW, "-f", format, "--report", f"{format}={file}"
    )
    assert ran.code in (0, 1) and SENTENCE in ran.err
    text = " ".join(ran.out.split())
    assert text.count(f"{SENTENCE} the runs scored here") >= 1 and "kept.json" in text
    assert SENTENCE in " ".join(file.read_text(encoding="utf-8").split())
    quiet = check(NEW, others / "kept.json", "-q", QRELS, "-f", format)
    assert quiet.code == 2 and SENTENCE not in quiet.out


def test_services_get_it_as_a_warning(others: Path) -> None:
    call = (NEW, others / "kept.json", "-q", QRELS, *ALLOW, "-f")
    (run,) = json.loads(check(*call, "sarif").out)["runs"]
    assert [r["level"] for r in run["results"] if r["ruleId"] == CODE] == ["warning"]
    quality = json.loads(check(*call, "codequality").out)
    assert [each["severity"] for each in quality if each["check_name"] == CODE] == ["minor"]
    suite = Tree.fromstring(check(*call, "junit").out.encode()).findall("testsuite")[-1]
    assert (suite.get("name"), suite.get("skipped")) == ("warnings", "1")
    about = f"::warning title={CODE},file={others / 'kept.json'}::{SENTENCE}"
    assert about in check(*call, "github").out
    assert CODE in [each["code"] for each in json.loads(check(*call, "json").out)["warnings"]]


def test_files_of_scores_among_the_candidates(others: Path, tmp_path: Path) -> None:
    """Whoever of both was scored before: the candidate, the baseline, or both."""
    kept, right = tmp_path / "new.json", tmp_path / "old.json"
    assert riskeval("matrix", NEW, *ERR, "-q", others / "qrels", "-o", kept).code == 0
    assert riskeval("matrix", OLD, *ERR, "-q", QRELS, "-o", right).code == 0
    calls: tuple[tuple[Path | str, ...], ...] = (
        (kept, "-b", OLD, "-q", QRELS),
        (kept, OLD, "-b", "indriCASP", "-q", QRELS),
        (kept, OLD, "-b", "boldRerank", "-q", QRELS),
        (SAMPLES / "neuralMix.run", kept, "-b", right, "-q", QRELS),
        (SAMPLES / "neuralMix.run", right, "-b", kept, "-q", QRELS),
        (kept, "-b", right),
        (kept, right, "-b", "indriCASP"),
    )
    for call in calls:
        ran = riskeval("check", *call, *ERR)
        assert (ran.code, ran.out) == (2, "") and f".json: {CODE}: " in ran.err, (call, ran.err)
        ran = riskeval("check", *call, *ERR, *ALLOW)
        assert ran.code in (0, 1) and SENTENCE in " ".join(ran.out.split()), (call, ran.err)


def test_judgements_are_known_of_scores_that_were_kept_twice(others: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    assert riskeval("matrix", others / "kept.json", "-o", again).code == 0
    assert CODE in check(NEW, again, "-q", QRELS).err
    mixed = tmp_path / "mixed.json"
    ran = riskeval("matrix", others / "kept.json", NEW, *ERR, "-q", QRELS, "-o", mixed)
    assert ran.code == 0 and SENTENCE in ran.err
    judgements = json.loads(mixed.read_text(encoding="utf-8"))["settings"]["judgements"]
    assert judgements == sorted([sha256(QRELS), sha256(others / "qrels")])
    ran = check(SAMPLES / "neuralMix.run", "boldRerank", "-q", QRELS, mixed)
    assert ran.code == 2 and f"mixed.json: {CODE}: " in ran.err
    ran = riskeval("check", mixed, "-b", "indriCASP", *ERR)
    assert (ran.code, ran.out) == (2, "") and f"mixed.json: {CODE}: " in ran.err
    assert "than each other, so scores are not comparable" in ran.err
    assert SENTENCE in riskeval("score", mixed, "-b", "indriCASP").err


def test_a_baseline_kept_under_several_judgements_is_no_mixture(
    others: Path, tmp_path: Path
) -> None:
    renamed = tmp_path / "model"
    renamed.write_bytes((others / "qrels").read_bytes())
    both = ("-q", QRELS, "-q", renamed)
    kept = tmp_path / "kept.json"
    assert riskeval("matrix", OLD, *ERR, *both, "--long", "-o", kept).code == 0
    ran = check(NEW, kept, *both)
    assert ran.code in (0, 1) and "ERR@20 [model]" in ran.out and SENTENCE not in ran.err
    assert check(NEW, kept, "-q", QRELS).code == 2


@pytest.mark.parametrize("command", ["score", "sweep --over alpha", "topics", "significance"])
@pytest.mark.parametrize("format", ["table", "json", "markdown", "html", "latex"])
def test_elsewhere_it_is_a_warning_wherever_there_is_room(
    others: Path, command: str, format: str
) -> None:
    ran = riskeval(
        *command.split(), NEW, "-b", others / "kept.json", *ERR, "-q", QRELS, "-f", format
    )
    assert ran.code == 0, ran.err
    assert SENTENCE in ran.err and SENTENCE in " ".join(ran.out.split())


def test_the_page_and_the_sheet_say_so(others: Path, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    call = (others / "kept.json", NEW, *ERR, "-q", QRELS, "-o")
    assert riskeval("report", *call, tmp_path / "page.html").code == 0
    assert SENTENCE in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert riskeval("score", *call, tmp_path / "table.xlsx").code == 0
    about = openpyxl.load_workbook(tmp_path / "table.xlsx")["about"]
    assert any(SENTENCE in str(value) for row in about.iter_rows(values_only=True) for value in row)


# ---------------------------------------------------------------- the pin


@pytest.mark.parametrize("suffix", ["json", "parquet", "csv", "run", "json.gz"])
def test_a_baseline_can_be_pinned(tmp_path: Path, suffix: str) -> None:
    kept = tmp_path / f"prod.{suffix}"
    if suffix == "run":
        kept.write_bytes(OLD.read_bytes())
    else:
        assert riskeval("matrix", OLD, *ERR, "-q", QRELS, "-o", kept).code == 0
    right = check(NEW, kept, "-q", QRELS)
    pins = [sha256(kept), sha256(kept).upper()]
    if suffix == "json":
        pins.append(json.loads(kept.read_text(encoding="utf-8"))["content_sha256"])
    for pin in pins:
        assert check(NEW, kept, "-q", QRELS, "--baseline-sha256", pin) == right
    ran = check(NEW, kept, "-q", QRELS, "--baseline-sha256", "0" * 64)
    assert (ran.code, ran.out) == (2, "") and f"{kept}: other-baseline: " in ran.err
    assert all(pin.lower() in ran.err for pin in pins) and "0" * 64 in ran.err
    assert "restore that baseline, or give the new hash" in ran.err


def test_a_pinned_baseline_whose_hash_was_computed_anew_is_refused(tmp_path: Path) -> None:
    """What the hash in the file cannot find."""
    from riskcli.core.content_hash import with_hash

    kept = tmp_path / "prod.json"
    assert riskeval("matrix", OLD, *ERR, "-q", QRELS, "-o", kept).code == 0
    document = json.loads(kept.read_text(encoding="utf-8"))
    pin = document.pop("content_sha256")
    scores = document["rows"][0]["scores"]
    document["rows"][0]["scores"] = {topic: score * 0.3 for topic, score in scores.items()}
    kept.write_text(json.dumps(document), encoding="utf-8")
    assert "altered" in check(NEW, kept, "-q", QRELS).err
    kept.write_text(json.dumps(with_hash(document)), encoding="utf-8")
    assert check(NEW, kept, "-q", QRELS).code == 0
    ran = check(NEW, kept, "-q", QRELS, "--baseline-sha256", pin)
    assert ran.code == 2 and "other-baseline" in ran.err


def test_a_baseline_among_the_runs_is_pinned_by_its_file(tmp_path: Path) -> None:
    call = ("check", NEW, OLD, "-b", "indriCASP", *ERR, "-q", QRELS, "--baseline-sha256")
    assert riskeval(*call, sha256(OLD)).code == 0
    assert riskeval(*call, sha256(NEW)).code == 2
    both = tmp_path / "both.json"
    assert riskeval("matrix", NEW, OLD, *ERR, "-q", QRELS, "-o", both).code == 0
    ran = riskeval("check", both, "-b", "indriCASP", "--baseline-sha256", sha256(both))
    assert ran.code == 2 and "indriCASP has none of its own" in ran.err


@pytest.mark.parametrize("text", ["", "abc", "0" * 63, "0" * 65, "g" * 64])
def test_a_pin_is_64_hexadecimal_digits(text: str) -> None:
    ran = check(NEW, OLD, "-q", QRELS, "--baseline-sha256", text)
    assert ran.code == 2 and "64 hexadecimal digits" in ran.err


def test_a_baseline_in_scores_of_one_run_is_pinned_by_that_file(tmp_path: Path) -> None:
    new, old = tmp_path / "new.parquet", tmp_path / "old.json"
    for run, file in ((NEW, new), (OLD, old)):
        assert riskeval("matrix", run, *ERR, "-q", QRELS, "-o", file).code == 0
    call = ("check", new, old, "-b", "indriCASP", "--baseline-sha256")
    assert riskeval(*call, sha256(old)).code == 0
    assert riskeval(*call, sha256(new)).code == 2


# ---------------------------------------------------------------- judgements in a packed file


def test_other_ends_of_lines_make_no_other_judgements(tmp_path: Path) -> None:
    """As version control makes them, on some systems."""
    there = tmp_path / "qrels"
    there.write_bytes(QRELS.read_bytes().replace(b"\n", b"\r\n"))
    for then, now in ((QRELS, there), (there, QRELS)):
        kept = tmp_path / "kept.json"
        assert riskeval("matrix", OLD, *ERR, "-q", then, "-o", kept).code == 0
        ran = check(NEW, kept, "-q", now)
        assert ran.code == 1 and CODE not in ran.err, ran


def test_packed_judgements_are_the_same_judgements(tmp_path: Path) -> None:
    packed = tmp_path / "q.gz"
    packed.write_bytes(gzip.compress(QRELS.read_bytes()))
    for then, now in ((QRELS, packed), (packed, QRELS), (packed, packed)):
        kept = tmp_path / "kept.json"
        assert riskeval("matrix", OLD, *ERR, "-q", then, "-o", kept).code == 0
        told = json.loads(kept.read_bytes())["inputs"][-1]
        assert told["sha256"] == sha256(then)
        assert told.get("text_sha256") == (sha256(QRELS) if then == packed else None)
        ran = check(NEW, kept, "-q", now)
        assert ran.code in (0, 1) and CODE not in ran.err, (then, now)
        both = riskeval("score", NEW, kept, *ERR, "-q", now, "-f", "csv")
        assert both.code == 0 and CODE not in both.err, (then, now)
    packed.write_bytes(gzip.compress(QRELS.read_bytes().replace(b" 1\n", b" 2\n", 1)))
    ran = check(NEW, tmp_path / "kept.json", "-q", packed)
    assert ran.code == 2 and CODE in ran.err


# ---------------------------------------------------------------- scores on another scale

PERCENT = ("-m", "AP", "--scale", "0.01")


@pytest.fixture
def percent(tmp_path: Path) -> tuple[Path, Path]:
    """A baseline and a candidate that is better, by scores in percent."""
    old, new = tmp_path / "pa.csv", tmp_path / "pb.csv"
    old.write_text("run,1,2,3,4,5,6\nA,20,30,40,30,30,30\n", encoding="utf-8")
    new.write_text("run,1,2,3,4,5,6\nB,30,40,51,40,40,40\n", encoding="utf-8")
    return old, new


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
def test_the_scale_reaches_the_baseline_once(percent: tuple[Path, Path], suffix: str) -> None:
    old, new = percent
    kept = old.with_name(f"kept.{suffix}")
    if suffix == "csv":
        kept.write_bytes(old.read_bytes())
    else:
        assert riskeval("matrix", old, *PERCENT, "-o", kept).code == 0
    ran = riskeval("check", new, "-b", kept, "--policy", "strict", *PERCENT, "-f", "json")
    assert ran.code == 0, ran.err
    scored = riskeval("score", new, kept, *PERCENT, "-f", "json")
    means = [row["mean"] for row in json.loads(scored.out)["rows"]]
    assert sorted(means) == pytest.approx([0.3, 0.401667], abs=1e-6)


def test_a_ratchet_in_percent_is_kept_with_its_scale(percent: tuple[Path, Path]) -> None:
    old, new = percent
    kept = old.with_name("state.json")
    for run in (old, new):
        assert riskeval("check", run, "--ratchet", kept, *PERCENT).code == 0
    assert json.loads(kept.read_bytes())["settings"]["scale"] == 0.01
    ran = riskeval("check", new, "--ratchet", kept, "-m", "AP", "--scale", "0.1")
    assert ran.code == 2 and "state.json: other-settings" in ran.err


# ---------------------------------------------------------------- measures that candidates lack


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_no_measure_of_a_kept_baseline_is_dropped_unsaid(tmp_path: Path, kind: str) -> None:
    """One that the candidate's file lost, all of it, passes only where measures were chosen."""
    old, new, kept = tmp_path / "old.csv", tmp_path / "new.csv", tmp_path / f"kept.{kind}"
    rows = [(topic, topic % 7 / 7) for topic in range(40)]
    old.write_text("question,F,G\n" + "".join(f"q{n},{s},{s}\n" for n, s in rows))
    new.write_text("question,F,G\n" + "".join(f"q{n},{s},\n" for n, s in rows))
    if kind == "csv":
        shutil.copy(old, kept)
    else:
        assert riskeval("matrix", old, "-m", "F", "-m", "G", "--long", "-o", kept).code == 0
    ran = riskeval("check", new, "-b", kept)
    assert (ran.code, ran.out) == (2, "")
    said = "other-measure: holds scores by G too, which the candidates lack"
    assert f"kept.{kind}: {said}" in ran.err
    assert riskeval("check", new, "-b", kept, "-m", "F", "--require", "mean >= baseline").code == 0


def test_a_default_gate_says_what_else_the_baseline_holds(tmp_path: Path) -> None:
    kept, every = tmp_path / "kept.json", ("-m", "AP", *ERR, "-m", "nDCG@20", "-q", QRELS)
    assert riskeval("matrix", OLD, *every, "--long", "-o", kept).code == 0
    said = "kept.json holds scores by AP too, which the candidates lack"
    ran = riskeval("check", OLD, "-b", kept, "-q", QRELS, "--run-names", "file", "--quiet")
    assert ran.code in (0, 1) and said in ran.err and said in " ".join(ran.out.split())
    assert said not in check(OLD, kept, "-q", QRELS, "--run-names", "file").err
