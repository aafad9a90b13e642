"""What a run is called."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcli import UsageError
from riskcli.trec.names import file_name, file_names, name_runs, named_place
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Ran

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
    "file: names alike but for endings": (
        "file",
        [("f.run", "x"), ("f.gz", "y"), ("g.run", "z")],
        ["f.run", "f.gz", "g"],
    ),
    "auto: tags and files alike": (
        "auto",
        [("exp1/run.txt", "x"), ("exp2/run.txt", "x"), ("other.txt", "x")],
        ["exp1/run", "exp2/run", "other"],
    ),
    "auto: folders alike, too": (
        "auto",
        [("g1/out/run.txt", None), ("g2/out/run.txt", None), ("g2/out/run.gz", None)],
        ["g1/out/run.txt", "g2/out/run.txt", "g2/out/run.gz"],
    ),
    "auto: one path is the end of the other": (
        "auto",
        [("run.txt", "x"), ("exp/run.txt", "x")],
        ["d/run", "exp/run"],
    ),
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


@given(
    st.lists(
        st.lists(
            st.sampled_from(["a", "b", "run.txt", "run", "input.run"]), min_size=1, max_size=4
        ).map(lambda parts: Path(*parts)),
        unique=True,
        max_size=8,
    )
)
def test_different_paths_have_different_names_that_end_their_paths(paths: list[Path]) -> None:
    names = file_names(paths)
    assert len(set(names)) == len(paths)
    for name, path in zip(names, paths, strict=True):
        *folders, file = name.split("/")
        assert file in (path.name, file_name(path))
        assert folders == list(path.parts[:-1])[len(path.parts) - 1 - len(folders) :]


# ---------------------------------------------------------------- at the door


@pytest.fixture
def experiments(tmp_path: Path) -> Path:
    """Two experiments whose runs share tag and file name."""
    for folder, sample in (("exp1", "indriCASP"), ("exp2", "neuralMix")):
        (tmp_path / folder).mkdir()
        lines = (SAMPLES / f"{sample}.run").read_text().splitlines()
        text = "".join(f"{line.rsplit(maxsplit=1)[0]} mine\n" for line in lines)
        (tmp_path / folder / "run.txt").write_text(text)
    return tmp_path


ONE = ("-m", "ERR@20", "-q", QRELS)


def runs_of(ran: Ran) -> list[str]:
    assert ran.code == 0, ran.err
    return sorted(line.split("\t")[0] for line in ran.out.splitlines()[1:])


def test_experiments_of_one_tag_and_file_name_are_compared(experiments: Path) -> None:
    pair = ("exp2/run.txt", "-b", "exp1/run.txt", *ONE)
    ran = riskeval("check", *pair, cwd=experiments)
    assert ran.out.startswith("pass: for exp2/run neither Mean")
    assert "pass: exp2/run against exp1/run, ERR@20" in ran.out.splitlines()
    for more in ((), ("--run-names", "file")):
        assert runs_of(riskeval("score", *pair, *more, cwd=experiments)) == ["exp1/run", "exp2/run"]
    ran = riskeval("score", *pair, "--run-names", "tag", cwd=experiments)
    assert ran.code == 2 and "--run-names file" in ran.err and "NAME=FILE" in ran.err


@pytest.mark.parametrize("command", ["score", "sweep", "matrix", "significance", "topics"])
def test_a_name_can_be_given_in_every_command(experiments: Path, command: str) -> None:
    files = ("new=exp2/run.txt", "old=exp1/run.txt")
    ran = riskeval(command, *files, *ONE, "-f", "tsv", cwd=experiments)
    assert ran.code == 0 and "new" in ran.out and "old" in ran.out, ran.err


def test_a_name_is_for_a_candidate_a_baseline_and_a_kept_baseline(experiments: Path) -> None:
    for baseline in ("old=exp1/run.txt", "old=prod.json"):
        if "json" in baseline:
            made = riskeval("matrix", "exp1/run.txt", *ONE, "-o", "prod.json", cwd=experiments)
            assert made.code == 0
        ran = riskeval("check", "new=exp2/run.txt", "-b", baseline, *ONE, cwd=experiments)
        assert ran.out.startswith("pass: for new neither Mean")
        assert "pass: new against old, ERR@20" in ran.out.splitlines()
        ran = riskeval("score", "new=exp2/run.txt", "-b", baseline, *ONE, cwd=experiments)
        assert runs_of(ran) == ["new", "old"]


def test_a_kept_baseline_of_the_candidates_name_is_called_so(experiments: Path) -> None:
    assert riskeval("matrix", "exp1/run.txt", *ONE, "-o", "prod.json", cwd=experiments).code == 0
    ran = riskeval("check", "exp2/run.txt", "-b", "prod.json", *ONE, cwd=experiments)
    assert ran.out.startswith("pass: for mine neither Mean")
    assert "pass: mine against mine (baseline), ERR@20" in ran.out.splitlines()
    ran = riskeval("score", "exp2/run.txt", "-b", "prod.json", *ONE, cwd=experiments)
    assert runs_of(ran) == ["mine", "mine (baseline)"]
    ran = riskeval("check", "exp2/run.txt", "-b", "mine=prod.json", *ONE, cwd=experiments)
    assert ran.code == 2 and "same-name" in ran.err


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (("new=exp1",), "a name is for one file, found a folder"),
        (("new=nope",), "new=nope: not-found"),
        (("new=exp1/run.txt", "old=exp1/run.txt"), "is named 'new' and 'old'"),
        (("new=exp1/run.txt", "new=exp2/run.txt"), "two runs are named 'new'"),
        (("@mean=exp1/run.txt",), "a run cannot be named '@mean'"),
    ],
)
def test_names_that_cannot_be_given(
    experiments: Path, places: tuple[str, ...], message: str
) -> None:
    ran = riskeval("score", *places, *ONE, cwd=experiments)
    assert (ran.code, ran.out) == (2, "") and message in ran.err


def test_a_file_whose_own_name_has_an_equals_sign_is_itself(experiments: Path) -> None:
    (experiments / "exp1" / "run.txt").rename(experiments / "bm25.k1=0.9.txt")
    (experiments / "0.9.txt").write_text("not a run")
    ran = riskeval("score", "bm25.k1=0.9.txt", "exp2", *ONE, cwd=experiments)
    assert runs_of(ran) == ["bm25.k1=0.9", "run"]


@pytest.mark.parametrize(
    ("given", "name", "place"),
    [
        ("s3://bucket/a.run", None, "s3://bucket/a.run"),
        ("ours=s3://bucket/a.run", "ours", "s3://bucket/a.run"),
        ("s3://bucket/k=v/a.run", None, "s3://bucket/k=v/a.run"),
        ("ours=absent.run", None, "ours=absent.run"),
    ],
)
def test_a_place_elsewhere_may_be_named(given: str, name: str | None, place: str) -> None:
    assert tuple(map(str, named_place(given))) == (str(name), place)
