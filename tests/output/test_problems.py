"""Problems as services take them: what GitHub asks of an upload of SARIF."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from riskcli.output.problems import Problem, as_code_quality, as_sarif, in_repository
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES

NEW, OLD = SAMPLES / "boldRerank.run", SAMPLES / "indriCASP.run"
CALL = ("-q", QRELS, "-m", "ERR@20", "-f", "sarif")


def uris(text: str) -> list[str]:
    """Where the results are; each has all that an upload must have."""
    log = json.loads(text)
    assert log["version"] == "2.1.0" and log["$schema"].startswith("https://")
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    for rule in rules:
        assert rule["id"] and all(
            rule[name]["text"] for name in ("shortDescription", "fullDescription", "help")
        )
    assert len({rule["id"] for rule in rules}) == len(rules)
    return [_place(result, rules) for result in run["results"]]


def _place(result: Mapping[str, Any], rules: list[dict[str, Any]]) -> str:
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["message"]["text"] and result["partialFingerprints"]
    (location,) = result["locations"]  # of at most ten that are shown
    assert location["physicalLocation"]["region"]["startLine"] >= 1
    uri = str(location["physicalLocation"]["artifactLocation"]["uri"])
    assert uri and not uri.startswith("/")
    return uri


def test_a_result_is_in_the_candidates_own_file_else_in_the_first(tmp_path: Path) -> None:
    strict = ("check", NEW, SAMPLES / "oldTFIDF.run", "-b", OLD, "--policy", "strict")
    assert set(uris(riskeval(*strict, *CALL).out)) == {
        "sample_runs/boldRerank.run", "sample_runs/oldTFIDF.run",
    }  # fmt: skip
    kept = tmp_path / "both.json"
    assert riskeval("matrix", NEW, OLD, "-q", QRELS, "-m", "ERR@20", "-o", kept).code == 0
    ran = riskeval("check", kept, "-b", "indriCASP", "--policy", "strict", "-f", "sarif")
    assert uris(ran.out) == [kept.as_uri()]
    inside = riskeval(
        "check", "both.json", "-b", "indriCASP", "--policy", "strict", "-f", "sarif", cwd=tmp_path
    )
    assert uris(inside.out) == ["both.json"]


@pytest.mark.parametrize(
    ("call", "uri"),
    [((NEW, "-b", "nope"), "sample_runs/boldRerank.run"),
     (("nope", "-b", OLD), "nope"),
     ((NEW, "-b", OLD, "--policy", "nope"), "sample_runs/boldRerank.run"),
     (("https://127.0.0.1:9/a.run", "-b", "a", "-b", "b"), "riskeval.toml")],
)  # fmt: skip
def test_a_refusal_has_a_place_too(call: tuple[str | Path, ...], uri: str) -> None:
    ran = riskeval("check", *call, *CALL)
    assert ran.code == 2 and uris(ran.out) == [uri]
    github = riskeval("check", *call, "-q", QRELS, "-m", "ERR@20", "-f", "github")
    assert github.out.startswith(f"::error title=nothing was judged,file={uri}")


def test_a_refusal_of_words_that_cannot_be_parsed_has_a_place_too(tmp_path: Path) -> None:
    file = tmp_path / "out.sarif"
    ran = riskeval("check", NEW, "--nosuch", "--report", f"sarif={file}")
    assert ran.code == 2 and uris(file.read_text()) == ["sample_runs/boldRerank.run"]


def test_every_finding_of_validate_has_a_place(tmp_path: Path) -> None:
    (tmp_path / "bad.run").write_text("1 Q0 a 1 x t\n1 Q0 b 2 1.0 t\n")
    (tmp_path / "empty.run").write_text("")
    for place in (".", tmp_path):
        ran = riskeval("validate", place, "-f", "sarif", cwd=tmp_path)
        assert set(uris(ran.out)) == {"bad.run", "empty.run"}
        github = riskeval("validate", place, "-f", "github", cwd=tmp_path).out
        assert "file=bad.run,line=1" in github


def test_more_results_than_are_shown_are_counted() -> None:
    found = [
        Problem("warning" if n % 2 else "error", f"rule {n % 3}", f"message {n}", "a.run", n)
        for n in range(30_000)
    ]
    assert len(uris(as_sarif(found[:5000], "tool"))) == 5000
    assert len(uris(as_sarif(found, "tool"))) == 5000
    results = json.loads(as_sarif(found, "tool"))["runs"][0]["results"]
    assert {result["level"] for result in results} == {"error"}  # these come first
    assert results[-1]["message"]["text"] == "not shown here: 25001 of 30000 results"


def test_a_place_is_relative_below_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert in_repository(str(tmp_path / "a b" / "c.run")) == "a b/c.run"
    assert in_repository("./a/../b.run") == "b.run"
    assert in_repository("../b.run") == str(tmp_path.parent / "b.run")
    assert in_repository(f"{tmp_path}x/b.run") == f"{tmp_path}x/b.run"
    for none in (".", str(tmp_path), "", "s3://bucket/a.run"):
        assert in_repository(none) == "riskeval.toml"


def test_a_place_of_any_name_is_a_uri_and_a_rule_of_any_letters_has_an_id() -> None:
    found = [Problem("error", "≥", "wrong", name, 0) for name in ("a b%.run", "\udcff.run", "")]
    assert uris(as_sarif(found, "tool")) == ["a%20b%25.run", "%FF.run", "riskeval.toml"]
    places = [entry["location"]["path"] for entry in json.loads(as_code_quality(found))]
    assert places == ["a b%.run", "\\xff.run", "riskeval.toml"]
