"""What CI services are told of files that cannot be read, and of a gate that could judge nothing.

A report that is missing, or that is an empty list, looks like a pass to those who count failures.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Tree

from riskcli.analyses.check.rules import BASELINE_AND_CANDIDATE, Outcome
from riskcli.core.choices import population_in_words
from riskcli.core.messages import InputError, NoRunLeftError, RiskevalError, counted
from riskcli.output import formats
from riskcli.output.display import Cell, Display, Heading
from riskcli.output.escape import annotation, markdown, visible
from riskcli.output.problems import Level, Problem, as_code_quality, as_sarif

if TYPE_CHECKING:
    from riskcli.analyses.check.case import RuleOutcome, Verdict, Verdicts

TOOL = "riskeval check"
ELSEWHERE = "riskeval.toml"
"""The file that a problem of no file is put down to, where there must be one."""
_NOTHING_JUDGED = "nothing was judged"


def of_files(errors: Iterable[InputError]) -> list[Problem]:
    """What is wrong with each file."""
    return [Problem("error", wrong.code, str(wrong), wrong.path, wrong.line) for wrong in errors]


def of_error(error: RiskevalError) -> list[Problem]:
    """Why nothing could be judged: the files, or what else is wrong with the call."""
    if isinstance(error, NoRunLeftError) and error.errors:
        return of_files(error.errors)
    if isinstance(error, InputError):
        return of_files([error])
    return [Problem("error", "wrong-call", str(error), None)]


def add_suite(root: Tree.Element, name: str, problems: Sequence[Problem]) -> None:
    """A test suite with an error a problem."""
    count = str(len(problems))
    suite = Tree.SubElement(root, "testsuite", name=name, tests=count, failures="0", errors=count)
    for problem in problems:
        case = Tree.SubElement(
            suite, "testcase", name=visible(problem.path or TOOL), classname=name
        )
        Tree.SubElement(case, "error", message=visible(problem.message), type=problem.rule)


def as_xml(root: Tree.Element) -> str:
    """The document, indented."""
    Tree.indent(root)
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{Tree.tostring(root, encoding='unicode')}\n"


def refusal_as_junit(problems: Sequence[Problem]) -> str:
    """JUnit's XML of a gate that judged nothing."""
    root = Tree.Element("testsuites", name=TOOL)
    add_suite(root, _NOTHING_JUDGED, problems)
    return as_xml(root)


def as_annotations(title: str, problems: Sequence[Problem]) -> list[str]:
    """A GitHub annotation a problem."""
    return [
        annotation("error", problem.message, title=title, file=problem.path, line=problem.line)
        for problem in problems
    ]


def refusal_as_github(problems: Sequence[Problem]) -> str:
    """GitHub's annotations of a gate that judged nothing."""
    return "".join(f"{line}\n" for line in as_annotations(_NOTHING_JUDGED, problems))


def as_markdown(problems: Sequence[Problem]) -> str:
    """A paragraph for a job's summary."""
    lines = [f"**{_NOTHING_JUDGED}**", ""]
    return "\n".join([*lines, *(f"- {markdown(problem.message)}" for problem in problems)]) + "\n"


# A gate's verdict for people, pull requests, JUnit readers and GitHub annotations.


_WORDS: dict[Outcome, str] = {"pass": "pass", "fail": "FAIL", "inconclusive": "inconclusive"}


def displays(gate: Verdicts, _width: int = 0) -> list[Display]:
    """A table of the rules for each verdict, with the topics to blame below."""
    return [_display(verdict) for verdict in gate.verdicts]


def _display(verdict: Verdict) -> Display:
    headings = [
        Heading("", left=True), Heading("rule", left=True), Heading("value"), Heading("p"),
        Heading("", left=True),
    ]  # fmt: skip
    rows = [
        [
            Cell(_WORDS[finding.outcome], strong=not finding.passed),
            Cell(finding.rule),
            Cell("" if finding.value is None else f"{finding.value:.4g}"),
            Cell("" if finding.p_adjusted is None else f"{finding.p_adjusted:.2g}"),
            Cell(finding.why),
        ]
        for finding in verdict.findings
    ]
    title = f"{_WORDS[verdict.outcome]}: {verdict.candidate} against {verdict.baseline}"
    return Display.of_rows(f"{title}, {verdict.measure}", headings, rows, _caption(verdict))


def _caption(verdict: Verdict) -> list[str]:
    lines = [
        f"mean {verdict.mean:.4f} against {verdict.baseline_mean:.4f} on "
        f"{counted(verdict.topics, 'topic')}"
    ]
    if verdict.seen_from is not None:
        seen = f"{verdict.seen_from:.2g}"
        lines[0] += f"; losses of the mean are detected in four of five cases from {seen}"
    if verdict.population != BASELINE_AND_CANDIDATE:
        lines.append(f"population of GeoRisk and ZRisk: {population_in_words(verdict.population)}")
    if verdict.losses and not verdict.passed:
        lines.append(f"topics to blame: {blame(verdict)}")
    return lines


def blame(verdict: Verdict) -> str:
    """The topics that lost most, with both scores."""
    return ", ".join(
        f"{loss.topic} ({loss.baseline:.3f} to {loss.candidate:.3f})" for loss in verdict.losses
    )


def as_junit(gate: Verdicts) -> str:
    """A test suite a candidate and measure, a test case a rule; an error a file left out."""
    root = Tree.Element("testsuites", name=TOOL)
    for verdict in gate.verdicts:
        undecided = gate.inconclusive == "pass"
        skipped = [f for f in verdict.failures if undecided and f.outcome == "inconclusive"]
        suite = Tree.SubElement(
            root,
            "testsuite",
            name=visible(f"{verdict.candidate} against {verdict.baseline}, {verdict.measure}"),
            tests=str(len(verdict.findings)),
            failures=str(len(verdict.failures) - len(skipped)),
            errors="0",
            skipped=str(len(skipped)),
        )
        for finding in verdict.findings:
            _test_case(suite, verdict, finding, finding in skipped)
    if gate.skipped:
        add_suite(root, "files left out", of_files(gate.skipped))
    return as_xml(root)


def _test_case(suite: Tree.Element, verdict: Verdict, finding: RuleOutcome, skipped: bool) -> None:
    """Its class names candidate and measure: some readers take the first case of a name only."""
    owner = visible(f"{verdict.candidate}.{verdict.measure}")
    case = Tree.SubElement(suite, "testcase", name=visible(finding.rule), classname=owner)
    if finding.passed:
        return
    message = visible(f"{finding.rule}: {_reason(finding)}")
    if skipped:
        Tree.SubElement(case, "skipped", message=message)
        return
    kind = "inconclusive" if finding.outcome == "inconclusive" else "rule"
    failure = Tree.SubElement(case, "failure", message=message, type=kind)
    failure.text = visible("\n".join(_caption(verdict))).replace("\\x0a", "\n")


def as_github(gate: Verdicts) -> str:
    """An annotation for each failure and file left out, and one line for the whole."""
    lines = [
        _annotation(_level(gate, finding), verdict, finding)
        for verdict in gate.verdicts
        for finding in verdict.failures
    ]
    lines += as_annotations("left out", of_files(gate.skipped))
    lines.append(annotation("notice", _counts(gate), title=TOOL))
    return "".join(f"{line}\n" for line in lines)


def _level(gate: Verdicts, finding: RuleOutcome) -> Level:
    undecided = finding.outcome == "inconclusive" and gate.inconclusive == "pass"
    return "warning" if undecided else "error"


def _counts(gate: Verdicts) -> str:
    """`passed: 1 of 2, inconclusive: 1`."""
    outcomes = [verdict.outcome for verdict in gate.verdicts]
    passed, undecided = outcomes.count("pass"), outcomes.count("inconclusive")
    text = f"passed: {passed} of {len(outcomes)}"
    return f"{text}, inconclusive: {undecided}" if undecided else text


def _annotation(level: str, verdict: Verdict, finding: RuleOutcome) -> str:
    title = f"{verdict.candidate}, {verdict.measure}: {finding.rule}"
    message = _reason(finding)
    if verdict.losses:
        message += f"; topics to blame: {blame(verdict)}"
    return annotation(level, message, title=title)


def _reason(finding: RuleOutcome) -> str:
    """Why the rule is not kept for certain; what is not decided is told apart."""
    return finding.why if finding.outcome == "fail" else f"{finding.outcome}: {finding.why}"


def problems(gate: Verdicts) -> Iterator[Problem]:
    """What fails, each in the candidate's own file, and the files left out."""
    files = {entry.run: str(entry.path) for entry in gate.inputs if entry.run is not None}
    for verdict in gate.verdicts:
        about = f"{verdict.candidate} against {verdict.baseline}, {verdict.measure}"
        for finding in verdict.failures:
            message = f"{about}: {finding.rule}: {_reason(finding)}"
            if verdict.losses:
                message += f"; topics to blame: {blame(verdict)}"
            path = files.get(verdict.candidate)
            subject = f"{verdict.candidate}, {verdict.measure}"
            yield Problem(_level(gate, finding), finding.rule, message, path, subject=subject)
    yield from of_files(gate.skipped)


JUNIT = formats.OwnFormat("junit", ".xml", as_junit)
GITHUB = formats.OwnFormat("github", "", as_github)
SARIF = formats.OwnFormat("sarif", ".sarif", lambda gate: as_sarif(problems(gate), TOOL))
CODE_QUALITY = formats.OwnFormat(
    "codequality", "", lambda gate: as_code_quality(problems(gate), ELSEWHERE)
)


@dataclass(frozen=True)
class _Automatic(formats.OutputFormat):
    """Annotations where GitHub runs the job, a table elsewhere."""

    @property
    def chosen(self) -> formats.OutputFormat:
        """The format that it is here."""
        return GITHUB if os.environ.get("GITHUB_ACTIONS") == "true" else formats.TABLE

    def render(
        self, source: Any, options: formats.RenderOptions = formats.PLAIN
    ) -> formats.Content:
        return self.chosen.render(source, options)


AUTOMATIC = _Automatic("auto", "")
FORMATS = (*formats.FORMATS, JUNIT, GITHUB, SARIF, CODE_QUALITY, AUTOMATIC)
REFUSALS: Mapping[str, Callable[[Sequence[Problem]], str]] = {
    JUNIT.name: refusal_as_junit,
    GITHUB.name: refusal_as_github,
    SARIF.name: lambda found: as_sarif(found, TOOL),
    CODE_QUALITY.name: lambda found: as_code_quality(found, ELSEWHERE),
}
"""What CI services are told where nothing could be judged, by the name of the format."""

"""The formats of a gate: those of every result, and what CI services read."""
