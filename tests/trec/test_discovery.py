"""Which files are the runs, and which one holds the judgements."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from riskcli import InputError, UsageError
from riskcli.trec.discovery import (
    IGNORED_SUFFIXES,
    Folders,
    find_files,
    find_qrels,
    judgements_first,
)

_ENDINGS = (
    "md rst py sh toml yaml yml json html pdf png svg tex xlsx log ini cfg ipynb xml bib bin pkl "
    "npy npz"
)
SPOKEN_OF = _ENDINGS.split()


def touch(*names: str) -> None:
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def found(*places: str) -> list[str]:
    return [str(file) for file in find_files(places).files]


# Runs


def test_every_plain_file_of_a_folder_counts(here: Path) -> None:
    touch("runs/a", "runs/b.txt", "runs/c.run.gz", "runs/d.csv", "runs/e.1")
    assert found("runs") == ["runs/a", "runs/b.txt", "runs/c.run.gz", "runs/d.csv", "runs/e.1"]
    assert find_files(["runs"]).notes == ()


@pytest.mark.parametrize("suffix", SPOKEN_OF)
def test_ignored_suffixes_are_passed_over_and_noted(here: Path, suffix: str) -> None:
    touch("runs/a", f"runs/x.{suffix}", f"runs/Y.{suffix.upper()}")
    assert found("runs") == ["runs/a"]
    notes = find_files(["runs"]).notes
    assert [note.code for note in notes] == ["files-passed-over"]
    assert not notes[0].warning
    assert notes[0].message == f"skipped in folders (not runs): Y.{suffix.upper()}, x.{suffix}"


def test_there_are_no_other_ignored_suffixes() -> None:
    assert {f".{suffix}" for suffix in SPOKEN_OF} == IGNORED_SUFFIXES


def test_one_note_lists_the_ignored_files_of_all_folders(here: Path) -> None:
    touch("r/a", "r/x.md", "s/b", *(f"s/{i}.log" for i in range(8)))
    notes = find_files(["r", "s"]).notes
    assert [note.message for note in notes] == [
        "skipped in folders (not runs): 0.log, 1.log, 2.log, 3.log, 4.log and 4 more"
    ]


def test_hidden_files_and_subfolders_do_not_count(here: Path) -> None:
    touch("runs/a", "runs/.hidden", "runs/.git/config", "runs/__pycache__/x")
    assert found("runs") == ["runs/a"]
    assert find_files(["runs"]).notes == ()


def test_folders_in_folders_are_read_or_told(here: Path) -> None:
    touch("runs/a", "runs/sub/b", "runs/sub/deep/c", "runs/.git/config")
    assert found("runs") == ["runs/a"]
    (note,) = find_files(["runs"]).notes
    assert (note.code, note.warning) == ("folders-not-read", True)
    assert "runs/sub" in note.message
    everything = find_files(["runs"], folders=Folders(recursive=True))
    assert [str(file) for file in everything.files] == ["runs/a", "runs/sub/b", "runs/sub/deep/c"]
    assert everything.notes == ()


def test_a_link_to_a_folder_above_does_not_lead_round(here: Path) -> None:
    touch("runs/sub/a")
    Path("runs/sub/up").symlink_to(here / "runs")
    everything = find_files(["runs"], folders=Folders(recursive=True))
    assert [str(file) for file in everything.files] == ["runs/sub/a"]


PATTERNS = [
    (Folders(include=("*.json",)), ["r/a.json"]),
    (Folders(include=("b*",)), ["r/b.run", "r/b.txt"]),
    (Folders(include=("b*",), exclude=("*.txt",)), ["r/b.run"]),
    (Folders(recursive=True, exclude=("old/*",)), ["r/b.run", "r/b.txt", "r/new/c.run"]),
    (Folders(recursive=True, include=("*/c.*",)), ["r/new/c.run", "r/old/c.run"]),
]


@pytest.mark.parametrize(("folders", "expected"), PATTERNS)
def test_patterns_choose_among_the_files_of_folders(
    here: Path, folders: Folders, expected: list[str]
) -> None:
    touch("r/a.json", "r/b.run", "r/b.txt", "r/old/c.run", "r/new/c.run")
    assert [str(file) for file in find_files(["r"], folders=folders).files] == expected


def test_files_that_nobody_named_are_known(here: Path) -> None:
    touch("r/a", "r/b", "c")
    found = find_files(["r", "r/b", "c"])
    assert {str(file) for file in found.of_folders} == {"r/a"}


def test_what_is_printed_into_a_folder_of_runs_is_no_run(here: Path) -> None:
    touch("r/a")
    code = "from riskcli.trec.discovery import find_files as f; print(*f(['r']).files)"
    with Path("r/out.tsv").open("w") as out, Path("r/err").open("w") as err:
        subprocess.run([sys.executable, "-c", code], stdout=out, stderr=err, check=True)
    assert Path("r/out.tsv").read_text() == "r/a\n"


def test_a_file_that_is_named_counts_whatever_it_is_called(here: Path) -> None:
    touch("scores.json", ".hidden", "x.md")
    assert found("scores.json", ".hidden", "x.md") == [".hidden", "scores.json", "x.md"]


def test_files_are_in_natural_order_of_their_names(here: Path) -> None:
    touch("r/run10", "r/run9", "s/run1", "a/run11")
    assert found("r", "s", "a/run11") == ["s/run1", "r/run9", "r/run10", "a/run11"]
    assert found("a/run11", "s", "r") == ["s/run1", "r/run9", "r/run10", "a/run11"]


def test_the_same_file_given_twice_counts_once(here: Path) -> None:
    touch("runs/a", "runs/b")
    Path("link").symlink_to("runs/a")
    twice = found("runs/a", "runs", "./runs/../runs/b", str(here / "runs" / "b"), "link")
    assert twice == ["runs/a", "runs/b"]


def test_a_linked_file_of_a_folder_counts(here: Path) -> None:
    touch("store/a")
    Path("runs").mkdir()
    Path("runs/b").symlink_to(here / "store" / "a")
    assert found("runs") == ["runs/b"]


def test_a_missing_place_is_named(here: Path) -> None:
    touch("a")
    with pytest.raises(InputError) as caught:
        find_files(["a", "absent"])
    assert str(caught.value) == "absent: not-found: no such file or folder"


@pytest.mark.parametrize("content", [[], ["runs/.hidden"], ["runs/x.md"], ["runs/Makefile"]])
def test_a_folder_without_runs_is_an_error(here: Path, content: list[str]) -> None:
    Path("runs").mkdir()
    touch(*content)
    with pytest.raises(InputError) as caught:
        find_files(["runs"])
    assert str(caught.value) == "runs: empty-folder: no run file in this folder"


def test_a_folder_of_folders_is_told_how_to_be_read(here: Path) -> None:
    touch("runs/sub/a")
    with pytest.raises(InputError, match=r"it holds 1 folder \(sub\): --include '\*\*' reads them"):
        find_files(["runs"])


# Judgements


def chosen(given: str | None = None, places: tuple[str, ...] = ("runs",)) -> tuple[str, str]:
    file, how = find_qrels(given, places)
    return os.path.relpath(file), how


def test_the_option_comes_first(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch("option", "environment", "setting", "qrels")
    monkeypatch.setenv("RISKEVAL_QRELS", "environment")
    Path("riskeval.toml").write_text('qrels = "setting"')
    assert chosen("option") == ("option", "given")


def test_then_the_environment(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch("environment", "setting", "qrels")
    monkeypatch.setenv("RISKEVAL_QRELS", "environment")
    Path("riskeval.toml").write_text('qrels = "setting"')
    assert chosen() == ("environment", "from RISKEVAL_QRELS")


def test_an_empty_variable_says_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch("qrels")
    monkeypatch.setenv("RISKEVAL_QRELS", "")
    assert chosen() == ("qrels", "found")


def test_then_riskeval_toml(here: Path) -> None:
    touch("one", "two", "qrels")
    Path("riskeval.toml").write_text('qrels = "one"')
    Path("pyproject.toml").write_text('[tool.riskeval]\nqrels = "two"')
    assert chosen() == ("one", "from riskeval.toml")


@pytest.mark.parametrize("other", [None, "", 'topics = "judged"'])
def test_then_the_table_in_pyproject_toml(here: Path, other: str | None) -> None:
    touch("two", "qrels")
    if other is not None:
        Path("riskeval.toml").write_text(other)
    Path("pyproject.toml").write_text('qrels = "x"\n[tool.riskeval]\nqrels = "two"')
    assert chosen() == ("two", "from pyproject.toml")


@pytest.mark.parametrize(
    "settings", ["", "[tool.ruff]\nx = 1", "[tool]\nriskeval = {}", '[project]\nname = "x"']
)
def test_settings_that_do_not_speak_of_qrels_say_nothing(here: Path, settings: str) -> None:
    touch("qrels")
    Path("pyproject.toml").write_text(settings)
    assert chosen() == ("qrels", "found")


@pytest.mark.parametrize(
    ("place", "runs"),
    [
        ("qrels", "else/runs"),
        ("qrels/only", "else/runs"),
        ("data/qrels", "data/runs"),
        ("data/qrels/only.txt", "data/runs/"),
        ("data/qrels", "data/a.run"),
        ("data/qrels", "data/x/../a.run"),
    ],
)
def test_then_qrels_here_or_beside_the_runs(here: Path, place: str, runs: str) -> None:
    touch(place)
    assert chosen(places=(runs,)) == (place, "found")


def test_a_place_that_is_found_twice_is_one_candidate(here: Path) -> None:
    touch("qrels/only")
    assert chosen(places=("runs", "./runs", str(here / "runs2"))) == ("qrels/only", "found")


def test_what_is_ignored_as_a_run_is_no_candidate(here: Path) -> None:
    touch("qrels/only.txt", "qrels/README.md", "qrels/.hidden", "qrels/sub/other")
    assert chosen() == ("qrels/only.txt", "found")


def test_more_than_one_candidate_is_an_error_that_lists_them(here: Path) -> None:
    touch("qrels/a", "qrels/b", "data/qrels")
    with pytest.raises(UsageError) as caught:
        find_qrels(None, ["data/runs"])
    message = str(caught.value)
    assert message.startswith("more than one qrels file found: qrels/a, qrels/b, ")
    assert message.endswith("data/qrels; choose one with --qrels")


@pytest.mark.parametrize("content", [[], ["qrels/README.md"], ["data/other"]])
def test_no_candidate_is_an_error_that_says_where_it_looked(here: Path, content: list[str]) -> None:
    touch(*content)
    with pytest.raises(UsageError, match="no qrels found: name the file with --qrels"):
        find_qrels(None, ["data/runs"])


def test_a_folder_with_one_file_may_be_given(here: Path) -> None:
    touch("folder/only", "folder/README.md")
    assert chosen("folder") == ("folder/only", "given")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (["folder/a", "folder/b"], "--qrels: folder holds 2 files (a, b), expected one"),
        (["folder/x.md"], "--qrels: folder holds 0 files (), expected one qrels file"),
    ],
)
def test_a_folder_with_another_number_of_files_is_an_error(
    here: Path, content: list[str], message: str
) -> None:
    touch(*content)
    with pytest.raises(UsageError) as caught:
        find_qrels("folder", [])
    assert message in str(caught.value)


def test_a_missing_file_is_named_with_its_source(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch("qrels")  # is not fallen back on
    with pytest.raises(InputError, match=r"absent: not-found: .*\(--qrels\)"):
        find_qrels("absent", [])
    Path("riskeval.toml").write_text('qrels = "gone"')
    with pytest.raises(InputError, match=r"gone: not-found: .*\(riskeval.toml\)"):
        find_qrels(None, [])
    monkeypatch.setenv("RISKEVAL_QRELS", "nowhere")
    with pytest.raises(InputError, match=r"nowhere: not-found: .*\(RISKEVAL_QRELS\)"):
        find_qrels(None, [])


@pytest.mark.parametrize("content", [b"qrels = ", b"qrels = \xff", b"a = 1\na = 2"])
def test_settings_that_are_no_toml_are_an_error(here: Path, content: bytes) -> None:
    touch("qrels")
    Path("riskeval.toml").write_bytes(content)
    with pytest.raises(InputError, match=r"riskeval\.toml: bad-settings: "):
        find_qrels(None, [])


@pytest.mark.parametrize(
    ("text", "are"),
    [
        ("1 0 d 1\n1 0 e 0\n", True),
        ("# pooled\n1 0 d 1\n", True),
        ("1 0 d 1\nbroken line\n1 0 e 0\n", True),
        ("1 0 d high\n1 0 e low\n", False),  # the fourth column is no grade
        ("1 Q0 d 1 2.5 tag\n", False),
        ("1 Q0 d 1 2.5 tag\n1 0 d 1\n1 0 e 1\n", False),  # the first line decides
        ("1 0 d 1\n1 Q0 d 1 2.5 tag\n", False),  # and more than half must agree
        ("run 1 2 3\na 1 0 1\n", False),  # a table of whole scores
        ("", False),
    ],
)
def test_judgements_may_stand_first(tmp_path: Path, text: str, are: bool) -> None:
    first = tmp_path / "first"
    first.write_text(text)
    places, qrels, notes = judgements_first([first, "runs"], None)
    assert (places, qrels) == ((["runs"], first) if are else ([first, "runs"], None))
    assert [note.code for note in notes] == ["qrels-first"] * are
