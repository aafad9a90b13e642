"""Settings files, profiles, and what wins over what."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.program import QRELS, SAMPLES, Ran, riskeval


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


def test_riskeval_toml_wins_over_pyproject(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.riskeval]\nalpha = 9\ntop = 1\n")
    found = rows(riskeval("score", SAMPLES, cwd=folder))
    assert [row["alpha"] for row in found] == ["0.0", "5.0"]


def test_the_environment_names_qrels_over_the_settings(folder: Path) -> None:
    ran = riskeval("score", SAMPLES, cwd=folder, RISKEVAL_QRELS="/no/such/file")
    assert ran.code == 2 and "RISKEVAL_QRELS" in ran.err
    shown = riskeval("config", cwd=folder, RISKEVAL_QRELS="/no/such/file").out
    assert "qrels\t/no/such/file\tRISKEVAL_QRELS" in shown


def test_config_prints_what_is_in_force_and_where_it_came_from(folder: Path) -> None:
    lines = riskeval("config", "--profile", "nightly", cwd=folder).out.splitlines()
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
    check = riskeval("config", "check", cwd=folder).out.splitlines()
    assert "policy\tstandard\tdefault" in check


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("alfa = 1", "no option is called 'alfa'; did you mean alpha"),
        ("[profile.x]\nalfa = 1", "no option is called 'alfa'"),
        ("alpha = [", "bad-settings"),
        ("[score]\nalpha = 1", "score is a table"),
        ("profile = 3", "profile is not a table"),
        ("gamma = [1, 2]", "gamma takes one value"),
        ('gamma = "x"', "gamma"),
        ('pool = "worst"', "pool"),
    ],
)
def test_wrong_settings_are_errors(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "riskeval.toml").write_text(content)
    arguments = ("--profile", "x") if "profile.x" in content else ()
    ran = riskeval("score", SAMPLES, "-q", QRELS, *arguments, cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "") and message in ran.err


def test_an_unknown_profile_is_an_error_with_the_nearest(folder: Path) -> None:
    ran = riskeval("score", SAMPLES, "--profile", "nigthly", cwd=folder)
    assert ran.code == 2 and "did you mean nightly" in ran.err


def test_a_profile_can_name_the_qrels(folder: Path) -> None:
    (folder / "riskeval.toml").write_text(f'[profile.x]\nqrels = "{QRELS.name}"\n')
    assert riskeval("score", SAMPLES, "--profile", "x", cwd=folder).code == 0
