"""Problems for services that show them beside the code: SARIF, and GitLab's code quality.

SARIF 2.1.0 is what GitHub's code scanning, Azure DevOps and editors read; a code quality report is
what GitLab shows in a merge request.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from riskcli.core.files import as_text
from riskcli.core.version import __version__
from riskcli.output.escape import annotation, visible

Level = Literal["error", "warning"]
_SEVERITIES: dict[Level, str] = {"error": "major", "warning": "minor"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ELSEWHERE = "riskeval.toml"
"""The file that a problem of no file is put down to, where there must be one."""
MARKER = "<!-- riskeval check -->"
"""The first line of a comment, by which it is found again; who posts several adds a name."""
_SHOWN = 5000
"""Results that GitHub takes of a run; it refuses an upload of five times as many."""


@dataclass(frozen=True)
class Problem:
    """What is wrong, by which rule, and in which file and line, if that is known."""

    level: Level
    rule: str
    message: str
    path: str | None
    line: int | None = None
    subject: str = ""
    """What else tells it from others of the rule in the file: a candidate, a measure."""

    @property
    def rule_id(self) -> str:
        """The rule as a stable identifier."""
        return re.sub(r"[^a-z0-9@().]+", "-", self.rule.lower()).strip("-") or "rule"

    @property
    def fingerprint(self) -> str:
        """The same in every pipeline, whatever the figures are."""
        parts = (self.rule, self.path or "", str(self.line or ""), self.subject)
        return hashlib.sha256("\0".join(map(as_text, parts)).encode()).hexdigest()


def as_sarif(problems: Iterable[Problem], tool: str) -> str:
    """A SARIF log of one run."""
    found = list(problems)
    if len(found) > _SHOWN:
        found.sort(key=lambda problem: problem.level)  # errors come first
        left_out = f"not shown here: {len(found) - _SHOWN + 1} of {len(found)} results"
        found[_SHOWN - 1 :] = [Problem(found[_SHOWN - 1].level, "not-shown", left_out, None)]
    rules = {problem.rule_id: {"text": visible(problem.rule)} for problem in found}
    described = [
        {"id": name, "shortDescription": text, "fullDescription": text, "help": text}
        for name, text in rules.items()
    ]
    driver = {"name": tool, "version": __version__, "rules": described}
    results = [_result(problem, list(rules)) for problem in found]
    run = {"tool": {"driver": driver}, "results": results}
    return _json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _result(problem: Problem, rules: Sequence[str]) -> dict[str, Any]:
    """Uploads refuse a result without a location."""
    place = in_repository(problem.path or ELSEWHERE)
    uri = Path(place).as_uri() if Path(place).is_absolute() else quote(os.fsencode(place))
    region = {"startLine": max(problem.line or 1, 1)}
    return {
        "ruleId": problem.rule_id,
        "ruleIndex": rules.index(problem.rule_id),
        "level": problem.level,
        "message": {"text": visible(problem.message)},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}],
        "partialFingerprints": {"riskeval/v1": problem.fingerprint},
    }


def in_repository(path: str) -> str:
    """As services name it: relative to the working folder where it lies below; else absolute."""
    if "://" in path:  # at a URL: in no repository
        return ELSEWHERE
    absolute, here = os.path.abspath(path), f"{os.getcwd()}{os.sep}"  # noqa: PTH100, PTH109
    return absolute.removeprefix(here) if absolute != here[:-1] else ELSEWHERE


def as_annotations(problems: Iterable[Problem], title: str | None = None) -> str:
    """An annotation of GitHub's a problem, a line each, under the title or that of its rule."""
    return "".join(
        annotation(
            each.level, each.message, title=title or each.rule,
            file=each.path and in_repository(each.path), line=each.line,
        ) + "\n"
        for each in problems
    )  # fmt: skip


def as_code_quality(problems: Iterable[Problem]) -> str:
    """A code quality report."""
    return _json([_issue(problem) for problem in problems])


def _issue(problem: Problem) -> dict[str, Any]:
    place = as_text(in_repository(problem.path or ELSEWHERE))
    return {
        "description": visible(problem.message),
        "check_name": problem.rule_id,
        "fingerprint": problem.fingerprint,
        "severity": _SEVERITIES[problem.level],
        "location": {"path": place, "lines": {"begin": problem.line or 1}},
    }


def _json(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
