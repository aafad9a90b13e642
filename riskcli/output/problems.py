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
from riskcli.output.escape import visible

Level = Literal["error", "warning"]
_SEVERITIES: dict[Level, str] = {"error": "major", "warning": "minor"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


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
        return re.sub(r"[^a-z0-9@().]+", "-", self.rule.lower()).strip("-")

    @property
    def fingerprint(self) -> str:
        """The same in every pipeline, whatever the figures are."""
        parts = (self.rule, self.path or "", str(self.line or ""), self.subject)
        return hashlib.sha256("\0".join(map(as_text, parts)).encode()).hexdigest()


def as_sarif(problems: Iterable[Problem], tool: str) -> str:
    """A SARIF log of one run."""
    found = list(problems)
    rules = {problem.rule_id: visible(problem.rule) for problem in found}
    driver = {
        "name": tool,
        "version": __version__,
        "rules": [{"id": name, "shortDescription": {"text": text}} for name, text in rules.items()],
    }
    run = {"tool": {"driver": driver}, "results": [_result(p, list(rules)) for p in found]}
    return _json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _result(problem: Problem, rules: Sequence[str]) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(problem.path)}}
    location["region"] = {"startLine": problem.line or 1}
    return {
        "ruleId": problem.rule_id,
        "ruleIndex": rules.index(problem.rule_id),
        "level": problem.level,
        "message": {"text": visible(problem.message)},
        **({"locations": [{"physicalLocation": location}]} if problem.path else {}),
        "partialFingerprints": {"riskeval/v1": problem.fingerprint},
    }


def _uri(path: str | None) -> str:
    """A path below the repository as a relative reference; another one as a URI of its own."""
    if path is None:
        return ""
    return Path(path).as_uri() if Path(path).is_absolute() else quote(os.fsencode(path))


def as_code_quality(problems: Iterable[Problem], elsewhere: str) -> str:
    """A code quality report; a problem of no file is put down to the file `elsewhere`."""
    return _json(
        [
            {
                "description": visible(problem.message),
                "check_name": problem.rule_id,
                "fingerprint": problem.fingerprint,
                "severity": _SEVERITIES[problem.level],
                "location": {
                    "path": as_text(problem.path or elsewhere),
                    "lines": {"begin": problem.line or 1},
                },
            }
            for problem in problems
        ]
    )


def _json(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
