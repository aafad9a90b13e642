"""What an organiser publishes and sends: right, whole, and no more work than is needed."""

from __future__ import annotations

import csv
import hashlib
import json
import random
import re
import shutil
import statistics
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcli import InputError
from riskcli.analyses import checker as validation
from riskcli.core.stopping import UNFINISHED
from riskcli.organise import organise as folders
from riskcli.organise.pack import file_stems
from riskcli.trec.source import TextFile
from tests.bench.malformed import DOUBTFUL, GOOD, REFUSED
from tests.bench.malformed import QRELS as SMALL_QRELS
from tests.helpers.inprocess import riskeval, run_inside
from tests.helpers.program import QRELS, SAMPLES, Ran
from tests.helpers.shared_data import shared

CALL = ("-q", QRELS, "-b", "indriCASP", "-a", "1,5")
TEAMS = "run,team,name\nboldRerank,Utrecht,Bold\nneuralMix,Delft,\ncaspPlus,Delft,\nedited,Delft,\n"


def submissions(folder: Path, *but: str) -> Path:
    """The sample runs as links: files that have lain still for a while."""
    folder.mkdir()
    for run in SAMPLES.glob("*.run"):
        if run.stem not in but:
            (folder / run.name).symlink_to(run)
    return folder


def broken(path: Path) -> None:
    lines = (SAMPLES / "caspPlus.run").read_text(encoding="utf-8").splitlines()
    lines[2] = lines[2].replace(lines[2].split()[4], "high")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """A folder with submissions, of which one is broken, a list of teams, and the pack."""
    place = tmp_path_factory.mktemp("track")
    broken(submissions(place / "subs") / "edited.run")
    (place / "teams.csv").write_text(TEAMS, encoding="utf-8")
    call = ("organise", place / "subs", *CALL, "--teams", place / "teams.csv", "-o", place / "pack")
    return place, riskeval(*call)


def test_what_is_broken_is_left_out_by_name(place: tuple[Path, Ran]) -> None:
    folder, ran = place
    assert (ran.code, ran.out) == (1, "")
    assert "LEFT OUT: edited.run:3: bad-score: the score (5th column) is 'high'" in ran.err
    readme = (folder / "pack" / "README.md").read_text(encoding="utf-8")
    assert "## Left out\n\n- edited.run:3: bad-score" in readme
    skipped = json.loads((folder / "pack" / "manifest.json").read_text(encoding="utf-8"))["skipped"]
    assert [(each["path"], each["line"]) for each in skipped] == [("edited.run", 3)]


def test_the_manifest_has_the_checksum_of_every_file(place: tuple[Path, Ran]) -> None:
    written = contents(place[0] / "pack")
    manifest = json.loads(written.pop("manifest.json"))
    assert manifest["files"] == {
        name: hashlib.sha256(data).hexdigest() for name, data in written.items()
    }
    read = {entry["path"]: entry["sha256"] for entry in manifest["inputs"]}
    assert len(read) == len(list(SAMPLES.glob("*.run"))) + 1  # and the judgements
    for run in SAMPLES.glob("*.run"):
        assert read[run.name] == hashlib.sha256(run.read_bytes()).hexdigest()


def test_the_pack_holds_what_the_commands_print(place: tuple[Path, Ran], tmp_path: Path) -> None:
    """Without the broken file and its team, which these commands refuse."""
    folder = place[0]
    runs = submissions(tmp_path / "subs")
    teams = tmp_path / "teams.csv"
    teams.write_text(TEAMS.replace("edited,Delft,\n", ""), encoding="utf-8")
    call = (runs, "-q", QRELS, "--teams", teams)
    against = ("-b", "indriCASP", "-a", "1,5", "--population", "all")
    for format, suffix in (("csv", "csv"), ("tsv", "tsv"), ("jsonl", "jsonl")):
        printed = run_inside("score", *call, *against, "-f", format).out
        kept = (folder / "pack" / "tables" / f"leaderboard.{suffix}").read_text(encoding="utf-8")
        assert kept == printed
    frozen = run_inside("population", "freeze", *call).out
    assert (folder / "pack" / "population.json").read_text(encoding="utf-8") == frozen
    matrix = run_inside("matrix", *call, "-m", "ERR@20", "-f", "csv").out
    assert (folder / "pack" / "matrices" / "ERR@20.csv").read_text(encoding="utf-8") == matrix


def test_best_median_and_worst_by_plain_python(place: tuple[Path, Ran]) -> None:
    pack = place[0] / "pack"
    matrix = {row.pop("run"): row for row in rows_of(pack / "matrices" / "ERR@20.csv")}
    for row in rows_of(pack / "topics" / "best-median-worst.csv"):
        if row["measure"] != "ERR@20":
            continue
        scores = {run: float(of_run[row["topic"]]) for run, of_run in matrix.items()}
        best = max(scores.values())
        assert float(row["best"]) == best
        assert float(row["worst"]) == min(scores.values())
        assert float(row["median"]) == pytest.approx(statistics.median(scores.values()), rel=1e-12)
        assert scores[row["best_run"]] == best
        assert int(row["at_best"]) == sum(score == best for score in scores.values())
    for row in rows_of(pack / "sheets" / "Delft.csv"):
        if row["measure"] != "ERR@20":
            continue
        scores = {run: float(of_run[row["topic"]]) for run, of_run in matrix.items()}
        assert row["run"] in ("neuralMix", "caspPlus")
        assert float(row["score"]) == scores[row["run"]]
        above = sum(score > scores[row["run"]] for score in scores.values())
        assert int(row["rank"]) == 1 + above
        assert (float(row["best"]), float(row["worst"])) == (
            max(scores.values()), min(scores.values()),
        )  # fmt: skip


def test_a_sheet_names_nobody_elses_run_but_the_baseline(place: tuple[Path, Ran]) -> None:
    sheets = place[0] / "pack" / "sheets"
    index = {row["participant"]: row for row in rows_of(sheets / "index.csv")}
    assert index["Delft"]["runs"] == "2"
    assert index["Delft"]["files_left_out"] == "1"
    runs = {"Bold", "boldRerank", *(run.stem for run in SAMPLES.glob("*.run"))} - {"indriCASP"}
    own = {"Delft": {"neuralMix", "caspPlus"}, "Utrecht": {"Bold", "boldRerank"}}
    for participant, row in index.items():
        for suffix in (".md", ".txt", ".csv"):
            text = (sheets / row["sheet"]).with_suffix(suffix).read_text(encoding="utf-8")
            for run in runs - own.get(participant, {participant}):
                assert not re.search(rf"\b{run}\b", text), (participant, run)
    delft = (sheets / "Delft.txt").read_text(encoding="utf-8")
    assert "edited.run: left out" in delft
    assert re.search(r"3 +error +bad-score", delft)
    assert "1 file of yours could not be taken" in delft


def test_runs_that_are_given_names_keep_them(tmp_path: Path) -> None:
    broken(tmp_path / "edited.run")
    runs = (f"first={SAMPLES / 'caspPlus.run'}", SAMPLES / "indriCASP.run",
            f"second={tmp_path / 'edited.run'}")  # fmt: skip
    ran = run_inside("organise", *runs, *CALL, "-m", "ERR@20", "-o", tmp_path / "pack")
    assert (ran.code, ran.err.count("LEFT OUT")) == (1, 1)
    shown = rows_of(tmp_path / "pack" / "tables" / "leaderboard.csv")
    assert {row["run"] for row in shown} == {"first", "indriCASP"}
    sheet = (tmp_path / "pack" / "sheets" / "first.txt").read_text(encoding="utf-8")
    assert "1 of them yours" in sheet


def test_a_copy_of_anothers_file_is_not_named_to_its_author(tmp_path: Path) -> None:
    runs = submissions(tmp_path / "subs")
    text = (SAMPLES / "plainBM25.run").read_text(encoding="utf-8")
    (runs / "twin.run").write_text(text.replace(" plainBM25\n", " twin\n"), encoding="utf-8")
    ran = run_inside("organise", runs, *CALL, "-m", "ERR@20", "-o", tmp_path / "pack")
    assert ran.code == 0
    assert "plainBM25 = twin" in ran.err
    sheet = (tmp_path / "pack" / "sheets" / "twin.txt").read_text(encoding="utf-8")
    assert "same-ranking" in sheet
    assert "plainBM25" not in sheet
    found = (tmp_path / "pack" / "findings" / "findings.txt").read_text(encoding="utf-8")
    assert "the same documents in the same order as in plainBM25.run" in found


@pytest.mark.slow
def test_a_second_call_reads_and_writes_only_what_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = submissions(tmp_path / "subs", "plainBM25")
    call = ("organise", runs, *CALL, "-m", "ERR@20", "-o", tmp_path / "pack")
    assert run_inside(*call).code == 0
    before = {path: path.stat() for path in (tmp_path / "pack").rglob("*.*")}
    read = watched(monkeypatch)
    again = run_inside(*call)
    assert "0 of them new or changed" in again.err
    assert not [path for path in read if path.suffix == ".run"]
    for path, stat in before.items():
        if path.name != "manifest.json":
            assert (path.stat().st_ino, path.stat().st_mtime_ns) == (stat.st_ino, stat.st_mtime_ns)
    (runs / "plainBM25.run").symlink_to(SAMPLES / "plainBM25.run")
    assert run_inside(*call).code == 0
    assert [path.name for path in read if path.suffix == ".run"] == ["plainBM25.run"]
    fresh = run_inside("organise", runs, *CALL, "-m", "ERR@20", "-o", tmp_path / "fresh")
    assert fresh.code == 0
    assert contents(tmp_path / "pack") == contents(tmp_path / "fresh")


def watched(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that are checked from now on."""
    read: list[Path] = []

    class Watched(TextFile):
        def text(self) -> bytes:
            read.append(self.path)
            return super().text()

    monkeypatch.setattr(validation, "TextFile", Watched)
    return read


def test_a_late_run_moves_nobody_in_a_frozen_population(tmp_path: Path) -> None:
    runs = submissions(tmp_path / "subs", "boldRerank")
    first = ("organise", runs, *CALL, "-m", "ERR@20", "-o")
    assert run_inside(*first, tmp_path / "pack").code == 0
    (runs / "boldRerank.run").symlink_to(SAMPLES / "boldRerank.run")
    frozen = ("--population", tmp_path / "pack" / "population.json")
    assert run_inside(*first, tmp_path / "late", *frozen).code == 0
    assert run_inside(*first, tmp_path / "moved").code == 0
    early, late, moved = (
        {(row["run"], row["alpha"]): (row["zrisk"], row["georisk"])
         for row in rows_of(tmp_path / name / "tables" / "leaderboard.csv")}
        for name in ("pack", "late", "moved")
    )  # fmt: skip
    assert len(late) == len(early) + 2
    assert all(late[key] == value for key, value in early.items())
    assert all(moved[key] != value for key, value in early.items())
    kept = [(tmp_path / name / "population.json").read_bytes() for name in ("pack", "late")]
    assert kept[0] == kept[1]


def test_the_bytes_depend_on_neither_place_nor_threads(
    place: tuple[Path, Ran], tmp_path: Path
) -> None:
    broken(submissions(tmp_path / "elsewhere") / "edited.run")
    teams = tmp_path / "t.csv"
    teams.write_text(TEAMS, encoding="utf-8")
    where = ("--teams", teams, "-o", tmp_path / "board", "--jobs", "1")
    assert run_inside("organise", tmp_path / "elsewhere", *CALL, *where).code == 1
    assert contents(tmp_path / "board") == contents(place[0] / "pack")


def test_the_whole_corpus_of_malformed_files(tmp_path: Path) -> None:
    """Every file that `score` refuses is left out by name, every doubtful one is taken."""
    runs = tmp_path / "subs"
    runs.mkdir()
    for name in ("one", "two"):
        (runs / name).write_bytes(GOOD.replace(b" t\n", f" {name}\n".encode()))
    qrels = tmp_path / "judgements"
    qrels.write_bytes(SMALL_QRELS)
    # Other options, other names; and what a folder may hold besides runs.
    by_place = ("expands without end", "named like a virtual run", "result of riskeval")
    refused = [c for c in REFUSED if c.file != "qrels" and c.name not in by_place]
    doubtful = [case for case in DOUBTFUL if case.file not in ("qrels", "x.csv")]
    cases = [case for case in (*refused, *doubtful) if not case.file.endswith(".json")]
    names = {case.name: f"{number:03d}-{case.file}" for number, case in enumerate(cases)}
    for case in cases:
        (runs / names[case.name]).write_bytes(case.content)
    ran = run_inside("organise", runs, "-q", qrels, "-m", "ERR@20", "-b", "one",
                     "-o", tmp_path / "pack")  # fmt: skip
    assert ran.code == 1
    manifest = json.loads((tmp_path / "pack" / "manifest.json").read_text(encoding="utf-8"))
    left_out = {entry["path"]: entry for entry in manifest["skipped"]}
    beside = {case.name for case in refused if case.code == "other-kind"}
    assert beside == {"judgements", "summary of trec_eval", "trec_eval without -q"}
    listed = (tmp_path / "pack" / "README.md").read_text(encoding="utf-8")
    assert all(f"{names[name]} (" in said for name in beside for said in (ran.err, listed))
    assert set(left_out) == {names[case.name] for case in refused
                             if case.name in names and case.name not in beside}  # fmt: skip
    for case in refused:
        if case.name in names and case.name not in beside:
            assert f"LEFT OUT: {names[case.name]}" in ran.err
            assert left_out[names[case.name]]["code"] == case.code
            assert left_out[names[case.name]]["line"] == case.line
    shown = {row["run"] for row in rows_of(tmp_path / "pack" / "tables" / "leaderboard.csv")}
    assert shown == {"one", "two", *(Path(names[case.name]).stem for case in doubtful)}


def test_what_somebody_put_there_is_not_lost(tmp_path: Path) -> None:
    runs, pack = submissions(tmp_path / "subs"), tmp_path / "pack"
    call = ("organise", runs, *CALL, "-m", "ERR@20", "-o")
    for strange in (runs, runs / "caspPlus.run"):
        ran = run_inside(*call, strange)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert run_inside(*call, pack).code == 0
    whole = contents(pack)
    (pack / "mine.txt").write_text("words", encoding="utf-8")
    (pack / "sheets" / "oldTFIDF.md").write_text("words", encoding="utf-8")
    ran = run_inside(*call, pack)
    assert ran.code == 2
    assert (
        "1 file from elsewhere (mine.txt) and 1 file changed since (sheets/oldTFIDF.md)" in ran.err
    )
    (pack / "mine.txt").unlink()
    (pack / "sheets" / "oldTFIDF.md").unlink()
    assert run_inside(*call, pack).code == 0
    assert contents(pack) == whole


@pytest.mark.parametrize("text", ["", "[]", '{"riskeval_pack": 1, "files": 3}', '{"files": {}}'])
def test_a_manifest_that_is_none_is_one_clear_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"manifest\.json: bad-manifest: .* name a new folder"):
        folders.pack_before(tmp_path)


def test_a_pack_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"riskeval_pack": 9, "files": {}}', encoding="utf-8")
    with pytest.raises(InputError, match="the pack has format 9, expected 1"):
        folders.pack_before(tmp_path)


def test_a_manifest_that_was_changed_is_refused(place: tuple[Path, Ran], tmp_path: Path) -> None:
    """A name and its checksum taken out, as if the file had come from elsewhere."""
    document = json.loads((place[0] / "pack" / "manifest.json").read_text(encoding="utf-8"))
    (tmp_path / "manifest.json").write_text(json.dumps(document), encoding="utf-8")
    assert folders.pack_before(tmp_path) == {}
    document["files"].popitem()
    (tmp_path / "manifest.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match=r"manifest\.json: altered: .* name a new folder"):
        folders.pack_before(tmp_path)


def test_findings_that_were_changed_are_looked_for_again(tmp_path: Path) -> None:
    runs = submissions(tmp_path / "subs", "plainBM25")
    call = ("organise", runs, *CALL, "-m", "ERR@20", "-o", tmp_path / "pack")
    assert run_inside(*call).code == 0
    whole = contents(tmp_path / "pack")
    (kept,) = (tmp_path / ".pack.store" / "findings").iterdir()
    right = kept.read_bytes()
    kept.write_bytes(right.replace(b'"indriCASP"', b'"another"'))
    assert kept.read_bytes() != right
    assert run_inside(*call).code == 0
    assert (contents(tmp_path / "pack"), kept.read_bytes()) == (whole, right)


def test_a_pack_that_cannot_be_finished_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = tmp_path / "pack"
    folders.write_pack(pack, {"a": b"1", "sheets/b": b"2"}, {}, {})
    whole = contents(pack)

    def full(path: Path, pieces: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(folders, "write_part", full)
    with pytest.raises(InputError, match="No space left on device"):
        folders.write_pack(pack, {"a": b"3", "sheets/b": b"2"}, {}, folders.pack_before(pack))
    assert contents(pack) == whole
    assert [path.name for path in tmp_path.iterdir()] == ["pack"]
    assert not UNFINISHED


HOSTILE = (
    "a", "A", "../a", "index", "Index", "a/b", "a~b", "a.", "a .", "con", "CON", "con.x", "com1",
    "LPT9.txt", "nul.tar.gz", "COM\N{SUPERSCRIPT ONE}", "é", "e\N{COMBINING ACUTE ACCENT}",
    "\N{KELVIN SIGN}", "k", "straße", "strasse", "", ".", "-rf", "\udcff", "x" * 300,
)  # fmt: skip
DEVICES = {
    "con",
    "nul",
    "aux",
    "prn",
    *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)),
}


def renamed(names: list[str], again: list[int]) -> list[str]:
    """The names, and what some of them are called in files, as names of their own."""
    for index in again if names else ():
        names = [*names, file_stems(names)[index % len(names)]]
    return names


@given(
    st.builds(
        renamed,
        st.lists(st.text(max_size=80) | st.sampled_from(HOSTILE)),
        st.lists(st.integers(0, 99), max_size=9),
    ),
    st.randoms(use_true_random=False),
)
def test_names_of_files_are_harmless_and_distinct(names: list[str], order: random.Random) -> None:
    order.shuffle(names)
    stems = file_stems(names)
    assert len({unicodedata.normalize("NFKC", stem).casefold() for stem in stems}) == len(names)
    for stem in stems:
        assert re.fullmatch(r"[A-Za-z0-9@,+=][A-Za-z0-9@,+=._-]*", stem)
        assert stem[-1] not in "._-" and stem.casefold() != "index"
        assert stem.partition(".")[0].casefold() not in DEVICES
        assert len(stem) <= 75
    assert file_stems(["ERR@20", "Utrecht-2", "boldRerank"]) == [
        "ERR@20",
        "Utrecht-2",
        "boldRerank",
    ]


def test_a_team_called_like_the_file_of_another_gets_its_own_sheet(tmp_path: Path) -> None:
    (hashed,) = file_stems(["a~b"])
    assert hashed == "a_b-941528e5"
    teams = tmp_path / "teams.csv"
    teams.write_text(f"run,team\nboldRerank,a~b\nneuralMix,{hashed}\nplainBM25,com1\n")
    runs = [SAMPLES / f"{name}.run" for name in ("boldRerank", "neuralMix", "plainBM25")]
    pack = tmp_path / "pack"
    ran = riskeval("organise", *runs, "-q", QRELS, "--teams", teams, "-o", pack)
    assert ran.code == 0, ran.err
    index = {row["participant"]: row["sheet"] for row in rows_of(pack / "sheets" / "index.csv")}
    assert len(set(index.values())) == 3 and index["com1"] != "com1.md"
    for team, run in (("a~b", "boldRerank"), (hashed, "neuralMix"), ("com1", "plainBM25")):
        of_team = rows_of(pack / "sheets" / f"{index[team].removesuffix('.md')}.csv")
        assert {row["run"] for row in of_team} == {run}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--population", "baselines"), "a pack's population is all runs or a file"),
        (("--loss", "smooth"), "the page supports linear only"),
        (("--teams", "nobody.csv"), "no run is named 'nobody'"),
        (("-b", "nobody"), "no run and no file is named 'nobody'"),
        (("-q", "nowhere"), "one file of judgements at a time here"),
    ],
)
def test_a_wrong_call_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nobody.csv").write_text("run,team\nnobody,Delft\n", encoding="utf-8")
    runs = submissions(tmp_path / "subs")
    ran = run_inside("organise", runs, *CALL[:2], "-m", "ERR@20", *arguments, "-o", "pack")
    assert ran.code == 2
    assert message in ran.err.splitlines()[-1]
    assert not Path("pack").exists()


@pytest.mark.slow
def test_runs_of_the_web_track_under_ten_teams(tmp_path: Path) -> None:
    """The eight real runs, all of one tag, and copies of them: copies in a team change nothing."""
    web = shared("trec-web-2012")
    runs = tmp_path / "subs"
    runs.mkdir()
    listed = ["run,team"]
    for number, run in enumerate(sorted((web / "runs").iterdir())):
        name = run.name.removesuffix(".txt.gz")
        shutil.copy(run, runs)
        listed.append(f"{name},team{number}")
    call = ("organise", runs, "-q", web / "qrels.txt.gz", "-m", "ERR@20", "-b", "indriCASP",
            "--teams", tmp_path / "teams.csv", "-o")  # fmt: skip
    (tmp_path / "teams.csv").write_text("\n".join(listed) + "\n", encoding="utf-8")
    assert run_inside(*call, tmp_path / "pack").code == 0
    for copy in range(3):
        shutil.copy(web / "runs" / "indriCBSP.txt.gz", runs / f"copy{copy}.txt.gz")
    cbsp = next(line for line in listed if line.startswith("indriCBSP,")).split(",")[1]
    listed += [f"copy{copy},{cbsp}" for copy in range(3)]
    (tmp_path / "teams.csv").write_text("\n".join(listed) + "\n", encoding="utf-8")
    assert run_inside(*call, tmp_path / "copies").code == 0
    first, second = (
        {row["run"]: (row["mean"], row["zrisk"], row["georisk"])
         for row in rows_of(tmp_path / name / "tables" / "leaderboard.csv")}
        for name in ("pack", "copies")
    )  # fmt: skip
    assert float(first["indriCASP"][0]) == pytest.approx(0.1947, abs=5e-5)
    assert len(second) == 11
    assert all(second[run] == figures for run, figures in first.items())
