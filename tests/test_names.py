"""What a run is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from riskcli import UsageError
from riskcli.trec.names import file_name, name_runs

Tagged = list[tuple[str, str | None]]

FILE_NAMES = {
    "indriCASP": "indriCASP",
    "indriCASP.txt": "indriCASP",
    "indriCASP.txt.gz": "indriCASP",
    "input.indriCASP.gz": "indriCASP",
    "input.indriCASP": "indriCASP",
    "a.run": "a",
    "a.res": "a",
    "a.trec": "a",
    "a.bz2": "a",
    "a.run.xz": "a",
    "a.RUN.GZ": "a",
    "a.Txt": "a",
    "a.run.run": "a",
    "bm25.k1=0.9.txt": "bm25.k1=0.9",
    "bm25.v2": "bm25.v2",
    "a.zip": "a.zip",
    "a.gz.v2": "a.gz.v2",
    "input.input.a": "input.a",
    "myinput.a": "myinput.a",
    "run": "run",
    "txt": "txt",
    ".txt": ".txt",
    ".run.gz": ".run",
    "input.": "input.",
    "input.txt": "txt",
    "a b.txt": "a b",
    "日本.run": "日本",
    "001.txt": "001",
}


@pytest.mark.parametrize(("name", "expected"), FILE_NAMES.items())
def test_a_file_name_sheds_the_usual_endings(name: str, expected: str) -> None:
    assert file_name(Path("some.folder.txt") / name) == expected


TAGS: dict[str, tuple[str, Tagged, list[str]]] = {
    "auto: tags apart": ("auto", [("f.run", "x"), ("g.run", "y")], ["x", "y"]),
    "auto: one tag for all": ("auto", [("f.run", "x"), ("g.run", "x")], ["f", "g"]),
    "auto: two of three alike": (
        "auto",
        [("f.run", "x"), ("g.run", "x"), ("h.run", "z")],
        ["f", "g", "h"],
    ),
    "auto: one without": ("auto", [("f.run", "x"), ("g.run", None)], ["f", "g"]),
    "auto: a single run": ("auto", [("f.run", "x")], ["x"]),
    "auto: a single one without": ("auto", [("f.run", None)], ["f"]),
    "auto: tags that differ by case": ("auto", [("f.run", "x"), ("g.run", "X")], ["x", "X"]),
    "auto: tags like numbers": ("auto", [("f.run", "1"), ("g.run", "01")], ["1", "01"]),
    "tag": ("tag", [("f.run", "x"), ("g.run", "y")], ["x", "y"]),
    "file": ("file", [("f.run", "x"), ("g.run", "y")], ["f", "g"]),
    "file: whatever the tags": ("file", [("f.run", None), ("g.run", "@x")], ["f", "g"]),
    "no run": ("auto", [], []),
}


def named(rule: str, files: Tagged) -> list[str]:
    names, _ = name_runs([(Path("d") / name, tag) for name, tag in files], rule)
    return names


@pytest.mark.parametrize(("rule", "files", "expected"), TAGS.values(), ids=TAGS.keys())
def test_names_follow_the_rule(rule: str, files: Tagged, expected: list[str]) -> None:
    assert named(rule, files) == expected


@pytest.mark.parametrize(
    ("rule", "files", "noted"),
    [
        ("auto", [("f", "x"), ("g", "x")], True),
        ("auto", [("f", None), ("g", "x")], True),
        ("auto", [("f", "x"), ("g", "y")], False),
        ("auto", [("f", None)], False),
        ("file", [("f", "x"), ("g", "x")], False),
        ("tag", [("f", "x"), ("g", "y")], False),
    ],
)
def test_naming_by_file_is_noted_where_it_was_not_asked_for(
    rule: str, files: Tagged, noted: bool
) -> None:
    _, notes = name_runs([(Path(name), tag) for name, tag in files], rule)
    assert [(note.code, note.warning) for note in notes] == [("named-by-file", False)] * noted


REFUSED: dict[str, tuple[str, Tagged, str]] = {
    "tag: two alike": ("tag", [("f", "x"), ("g", "x")], "two runs are named 'x': d/f and d/g"),
    "tag: lines differ": ("tag", [("f", "x"), ("g", None)], "d/g: its lines carry different tags"),
    "file: two alike": ("file", [("f.run", "x"), ("f.gz", "y")], "d/f.run and d/f.gz"),
    "auto: tags and names alike": ("auto", [("f.run", "x"), ("f.gz", "x")], "are named 'f'"),
    "auto: like a virtual run": ("auto", [("f", "@mean")], "d/f: a run cannot be named '@mean'"),
    "file: like a virtual run": ("file", [("@max.run", "x")], "a run cannot be named '@max'"),
}


@pytest.mark.parametrize(("rule", "files", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_names_that_do_not_tell_runs_apart_are_refused(
    rule: str, files: Tagged, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        named(rule, files)
    assert message in str(caught.value)
