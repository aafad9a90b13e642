"""What every report says of a call that fails: nothing was judged, and why."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from xml.etree import ElementTree as Tree

from riskcli.analyses.check import verdict
from riskcli.analyses.check.verdict import TOOL
from riskcli.core.files import as_text
from riskcli.core.messages import InputError, NoRunLeftError, Provenance, RiskevalError, UsageError
from riskcli.output import formats
from riskcli.output.display import Display, Heading
from riskcli.output.escape import markdown
from riskcli.output.problems import MARKER, Problem, as_annotations, as_code_quality, as_sarif
from riskcli.output.result import Result

_NOTHING_JUDGED = "nothing was judged"
_FILES, _LETTERS = 20, 1500
"""What a comment has room for."""


def _as_junit(problems: Sequence[Problem]) -> str:
    root = Tree.Element("testsuites", name=TOOL)
    verdict.add_errors(root, _NOTHING_JUDGED, problems)
    return verdict.as_xml(root)


def as_markdown(problems: Sequence[Problem]) -> str:
    """The comment on a pull request, and a paragraph for a job's summary."""
    lines = "".join(f"- {markdown(problem.message[:_LETTERS])}\n" for problem in problems[:_FILES])
    more = len(problems) - _FILES
    lines += f"- and {more} more\n" if more > 0 else ""
    return f"{MARKER}\n### FAIL: {_NOTHING_JUDGED}\n\n{lines}"


_FOR_SERVICES: Mapping[formats.OutputFormat, Callable[[Sequence[Problem]], str]] = {
    verdict.COMMENT: as_markdown,
    verdict.JUNIT: _as_junit,
    verdict.GITHUB: lambda problems: as_annotations(problems, _NOTHING_JUDGED),
    verdict.SARIF: lambda problems: as_sarif(problems, TOOL),
    verdict.CODE_QUALITY: as_code_quality,
}
"""What CI services are told where nothing could be judged."""


@dataclass(frozen=True, repr=False)
class Refusal(formats.Analysis):
    """That nothing was judged, and why: rows of which none passes."""

    problems: Sequence[Problem]
    elsewhere: str
    """The file that services put a problem of no file down to."""

    @classmethod
    def of(cls, error: RiskevalError, elsewhere: str) -> "Refusal":
        """The files for which nothing could be judged, or what else is wrong with the call."""
        skipped = error.errors if isinstance(error, NoRunLeftError) else ()
        problems = verdict.of_files([error] if isinstance(error, InputError) else skipped)
        code = re.match("([a-z]+-[a-z-]+): ", str(error))  # out-of-memory, no-file
        rule = "wrong-call" if isinstance(error, UsageError) else code[1] if code else "fault"
        problems = problems or [Problem("error", rule, str(error), None)]
        return cls(problems, elsewhere, provenance=Provenance(skipped=skipped))

    def in_format(self, format: formats.OutputFormat, to_file: bool) -> formats.Content | None:
        """What a report says; on stdout only CI services are told, beside the exit code."""
        format = verdict.AUTOMATIC.chosen if format is verdict.AUTOMATIC else format
        if format in _FOR_SERVICES:
            placed = [replace(each, path=each.path or self.elsewhere) for each in self.problems]
            return _FOR_SERVICES[format](placed)
        if not to_file:
            return None
        return self._as_json() if format is formats.JSON else format.render(self, formats.IN_FILE)

    def _as_json(self) -> str:
        """Without `rows`, of which all would pass if there are none."""
        first = self.problems[0]
        path = None if first.path is None else as_text(first.path)
        message = as_text(first.message)
        error = {"code": first.rule, "message": message, "path": path, "line": first.line}
        about = Result((), (), self.provenance, {"passed": False, "error": error}).envelope()
        return json.dumps(about, ensure_ascii=False, indent=2) + "\n"

    def displays(self, _width: int, /) -> Sequence[Display]:
        """A table of the problems."""
        headings = (Heading("code", left=True), Heading("error", left=True))
        rows = [[problem.rule, problem.message] for problem in self.problems]
        return [Display.of_rows(_NOTHING_JUDGED, headings, rows)]

    def result(self) -> Result:
        """A row a problem, in the columns of a gate."""
        blank = dict.fromkeys(verdict.COLUMNS)
        rows = [
            [*(blank | {"rule": problem.rule, "passed": False, "why": as_text(problem.message),
                        "worst_topics": (), "outcome": "error"}).values()]
            for problem in self.problems
        ]  # fmt: skip
        return Result(verdict.COLUMNS, rows, self.provenance, extra={"passed": False})
