"""Settings files, profiles, and what wins over what."""

from __future__ import annotations

import csv
import io
import json
import os
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.helpers.console import ROOT
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, Ran


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "riskeval.toml").write_text(
        f"""
qrels = "{QRELS.name}"
measure = ["ERR@20"]
alpha = [0, 5]
sort = "run"

[profile.nightly]
baseline = "indriCASP"
alpha = 2
on_error = "skip"
""",
        encoding="utf-8",
    )
    (tmp_path / QRELS.name).write_bytes(QRELS.read_bytes())
    return tmp_path


def rows(ran: Ran) -> list[dict[str, str]]:
    assert ran.code == 0, ran.err
    return list(csv.DictReader(io.StringIO(ran.out), delimiter="\t"))


def test_settings_are_defaults(folder: Path) -> None:
    found = rows(riskeval("score", SAMPLES, cwd=folder))
    assert {row["measure"] for row in found} == {"ERR@20"}
    assert {row["alpha"] for row in found} == {"0.0", "5.0"}
    assert found[0]["run"] == "boldRerank" and found[1]["run"] == "caspPlus"


def test_a_profile_wins_over_the_rest_and_the_command_line_over_both(folder: Path) -> None:
    found = rows(riskeval("score", SAMPLES, "--profile", "nightly", cwd=folder))
    assert {(row["baseline"], row["alpha"]) for row in found} == {("indriCASP", "2.0")}
    found = rows(riskeval("score", SAMPLES, "--profile", "nightly", "-a", "7", cwd=folder))
    assert {(row["baseline"], row["alpha"]) for row in found} == {("indriCASP", "7.0")}


def test_the_population_of_tables_leaves_the_gate_and_power_as_they_are(tmp_path: Path) -> None:
    """They compare two runs; `all` on their own command line is an error."""
    (tmp_path / "riskeval.toml").write_text('population = "all"\n')
    shared = (SAMPLES, "-q", QRELS, "-m", "ERR@20", "-b", "indriCASP", "--quiet", "-f", "json")
    for command in ("power", "check"):
        before, found = (
            json.loads(riskeval(command, *shared, cwd=folder).out)["rows"]
            for folder in (ROOT, tmp_path)
        )
        assert found == before
        assert riskeval(command, *shared, "--population", "all", cwd=tmp_path).code == 2


def test_riskeval_toml_wins_over_pyproject(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.riskeval]\nalpha = 9\ntop = 1\n")
    found = rows(riskeval("score", SAMPLES, cwd=folder))
    assert [row["alpha"] for row in found] == ["0.0", "5.0"]


def test_the_environment_names_qrels_over_the_settings(folder: Path) -> None:
    ran = riskeval("score", SAMPLES, cwd=folder, RISKEVAL_QRELS="/no/such/file")
    assert ran.code == 2 and "RISKEVAL_QRELS" in ran.err
    shown = riskeval("help", "settings", cwd=folder, RISKEVAL_QRELS="/no/such/file").out
    assert "qrels\t/no/such/file\tRISKEVAL_QRELS" in shown


def test_config_prints_what_is_in_force_and_where_it_came_from(folder: Path) -> None:
    lines = riskeval("help", "settings", "--profile", "nightly", cwd=folder).out.splitlines()
    assert lines[0] == "option\tvalue\tsource"
    assert "alpha\t2\triskeval.toml, profile nightly" in lines
    assert "measure\tERR@20\triskeval.toml" in lines
    assert "gamma\t0.05\tdefault" in lines
    assert "on-error\tskip\triskeval.toml, profile nightly" in lines
    assert (
        "population\tall; baselines where two or more are named\tdefault" in lines
    )  # what the help says
    assert "jobs\tcores\tdefault" in lines
    assert "caption\t\tdefault" in lines
    check = riskeval("help", "settings", "check", cwd=folder).out.splitlines()
    assert "policy\tstandard\tdefault" in check


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("alfa = 1", "no option is called 'alfa'; did you mean alpha"),
        ("[profile.x]\nalfa = 1", "no option is called 'alfa'"),
        ("alpha = [", "bad-settings"),
        ("[score]\nalpha = 1", "score is a table"),
        ("profile = 3", "profile is not a table"),
        ("gamma = [1, 2]", "riskeval.toml: gamma takes one value"),
        ('gamma = "x"', "riskeval.toml: gamma: 'x' is not a valid float"),
        ('pool = "worst"', "riskeval.toml: pool: 'worst' is not one of"),
        ("[profile.x]\njobs = 0", "riskeval.toml, profile x: jobs: 0 is not in the range"),
    ],
)
def test_wrong_settings_are_errors(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "riskeval.toml").write_text(content)
    arguments = ("--profile", "x") if "[profile.x]" in content else ()
    ran = riskeval("score", SAMPLES, "-q", QRELS, *arguments, cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "") and message in ran.err


def test_an_unknown_profile_is_an_error_with_the_nearest(folder: Path) -> None:
    ran = riskeval("score", SAMPLES, "--profile", "nigthly", cwd=folder)
    assert ran.code == 2 and "did you mean nightly" in ran.err


def test_a_profile_can_name_the_qrels(folder: Path) -> None:
    (folder / "riskeval.toml").write_text(f'[profile.x]\nqrels = "{QRELS.name}"\n')
    assert riskeval("score", SAMPLES, "--profile", "x", cwd=folder).code == 0


# ---------------------------------------------------------------- where they are found


@pytest.fixture
def repository(folder: Path) -> Path:
    """A folder two below the root of a repository, which has the settings and the judgements."""
    (folder / ".git").mkdir()
    deep = folder / "experiments" / "one"
    deep.mkdir(parents=True)
    return deep


def test_parent_folders_are_searched_up_to_the_root_of_the_repository(repository: Path) -> None:
    ran = riskeval("score", SAMPLES, "--profile", "nightly", cwd=repository)
    assert {(row["measure"], row["alpha"]) for row in rows(ran)} == {("ERR@20", "2.0")}
    assert "judgements: ../../simulated.qrels (from ../../riskeval.toml)" in ran.err
    shown = riskeval("help", "settings", cwd=repository).out
    assert "measure\tERR@20\t../../riskeval.toml" in shown
    (repository / "riskeval.toml").write_text(f'alpha = 7\nqrels = "{QRELS.name}"\n')
    os.link(QRELS, repository / QRELS.name)
    nearest = rows(riskeval("score", SAMPLES, cwd=repository))
    assert {row["alpha"] for row in nearest} == {"7.0"} and len(
        {r["measure"] for r in nearest}
    ) == 2


def test_nothing_is_taken_from_above_the_repository_or_outside_of_one(repository: Path) -> None:
    (repository.parent / ".git").write_text("gitdir: elsewhere")
    assert "riskeval.toml" not in riskeval("help", "settings", cwd=repository).out
    (repository.parent / ".git").unlink()
    assert "riskeval.toml" in riskeval("help", "settings", cwd=repository).out
    (repository.parent.parent / ".git").rmdir()
    assert "riskeval.toml" not in riskeval("help", "settings", cwd=repository).out
    ran = riskeval("score", SAMPLES, "-q", QRELS, "--profile", "nightly", cwd=repository)
    assert ran.code == 2 and "no settings were found" in ran.err


def test_files_of_settings_lie_beside_them_and_nowhere_else(repository: Path) -> None:
    top = repository.parent.parent
    (top / "prod.run").write_bytes((SAMPLES / "indriCASP.run").read_bytes())
    text = f'qrels = "{QRELS.name}"\nmeasure = "ERR@20"\nbaseline = "old=prod.run"\n'
    (top / "riskeval.toml").write_text(text + 'report = ["markdown=out.md"]\n')
    ran = riskeval("check", SAMPLES / "neuralMix.run", cwd=repository)
    assert ran.out.startswith("pass: for neuralMix neither Mean")
    assert "pass: neuralMix against old, ERR@20" in ran.out.splitlines()
    assert "ask for report = ../../out.md" in ran.err and (top / "out.md").exists()
    for name in ("../prod.run", "old=../prod.run"):
        (top / "riskeval.toml").write_text(text.replace("old=prod.run", name))
        (top.parent / "prod.run").write_bytes(b"")
        ran = riskeval("check", SAMPLES / "neuralMix.run", cwd=repository)
        assert ran.code == 2 and "which is not below ../.." in ran.err


@pytest.mark.parametrize("order", [0, 1])
def test_a_file_that_is_named_counts_alone(folder: Path, order: int) -> None:
    other = folder / "ci" / "settings.toml"
    other.parent.mkdir()
    os.link(QRELS, other.parent / "q")
    other.write_text('qrels = "q"\nalpha = 3\n[profile.p]\ntop = 1\n')
    named: list[tuple[str, str | Path]] = [("--config", other), ("--profile", "p")]
    given = [part for pair in (named[::-1] if order else named) for part in pair]
    found = rows(riskeval("score", SAMPLES, *given, cwd=folder))
    assert len(found) == 2 and {row["alpha"] for row in found} == {"3.0"}
    shown = riskeval("help", "settings", "--config", other, "--profile", "p", cwd=folder).out
    assert f"top\t1\t{other}, profile p" in shown and "sort\tmean\tdefault" in shown
    ran = riskeval("score", SAMPLES, "--config", "gone.toml", cwd=folder)
    assert ran.code == 2 and "gone.toml: not-found" in ran.err


def test_a_profile_where_there_are_none_says_where_was_looked(tmp_path: Path) -> None:
    ran = riskeval("score", SAMPLES, "--profile", "nightly", cwd=tmp_path)
    assert ran.code == 2 and "no settings were found: neither riskeval.toml nor" in ran.err
    (tmp_path / "riskeval.toml").write_text("alpha = 1\n")
    ran = riskeval("score", SAMPLES, "--profile", "nightly", cwd=tmp_path)
    assert "no profile is called 'nightly'; riskeval.toml has no profiles" in ran.err


# ---------------------------------------------------------------- the schema


@cache
def schema() -> dict[str, Any]:
    """As the program prints it."""
    return dict(json.loads(riskeval("help", "settings-schema").out))


def fits(text: str) -> bool:
    return bool(jsonschema.Draft7Validator(schema()).is_valid(tomllib.loads(text)))


def test_the_schema_is_one() -> None:
    jsonschema.Draft7Validator.check_schema(schema())


@pytest.mark.parametrize(
    "text",
    [
        "alpha = [0, 5]", "alpha = '0:20:5'", "alpha = 1.5", "gamma = 0.01", "max-grade = 'auto'",
        "max_grade = 4", "measure = 'AP'", "quiet = true", "policy = 'strict'", "jobs = 2",
        "report = ['junit=out.xml']", "margin = ['0.02', 'georisk=0.01']", "inconclusive = 'pass'",
        "[profile.x]\non_error = 'skip'\n[profile.y]\ncorrection = 'bh'",
    ],
)  # fmt: skip
def test_what_the_schema_accepts_the_program_accepts(tmp_path: Path, text: str) -> None:
    assert fits(text)
    (tmp_path / "riskeval.toml").write_text(text)
    profile = ("--profile", "x") if "profile" in text else ()
    words = ("policy", "report", "margin", "inconclusive")
    command = "check" if any(word in text for word in words) else "score"
    ran = riskeval(command, "gone.run", "-b", "x", *profile, cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "") and "gone.run: not-found" in ran.err


@pytest.mark.parametrize(
    "text",
    [
        "alfa = 1", "gamma = 'x'", "gamma = [1, 2]", "jobs = 0", "quiet = 3", "pool = 'worst'",
        "profile = 3", "[profile.x]\nalfa = 1", "[score]\nalpha = 1", "inconclusive = 'maybe'",
    ],
)  # fmt: skip
def test_what_the_program_refuses_the_schema_refuses(text: str) -> None:
    assert not fits(text)
