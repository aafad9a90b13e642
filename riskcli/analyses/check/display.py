"""A gate's verdict for people, pull requests, JUnit readers and GitHub annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as Tree

from riskcli.analyses.check.policy import Outcome
from riskcli.core.notes import counted
from riskcli.output import forms
from riskcli.output.display import Cell, Display, Heading
from riskcli.output.escape import annotation, visible

if TYPE_CHECKING:
    from riskcli.analyses.check.gate import Finding, Gate, Verdict

_WORDS: dict[Outcome, str] = {"pass": "pass", "fail": "FAIL", "inconclusive": "inconclusive"}


def displays(gate: Gate, _width: int = 0) -> list[Display]:
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
        lines[0] += f"; a loss of the mean is seen in four of five cases from {seen}"
    if verdict.losses and not verdict.passed:
        lines.append(f"topics to blame: {blame(verdict)}")
    return lines


def blame(verdict: Verdict) -> str:
    """The topics that lost most, with both scores."""
    return ", ".join(
        f"{loss.topic} ({loss.baseline:.3f} to {loss.candidate:.3f})" for loss in verdict.losses
    )


def as_junit(gate: Gate) -> str:
    """A test suite a candidate and measure, a test case a rule."""
    root = Tree.Element("testsuites", name="riskeval check")
    for verdict in gate.verdicts:
        suite = Tree.SubElement(
            root,
            "testsuite",
            name=visible(f"{verdict.candidate} against {verdict.baseline}, {verdict.measure}"),
            tests=str(len(verdict.findings)),
            failures=str(len(verdict.failures)),
            errors="0",
        )
        for finding in verdict.findings:
            case = Tree.SubElement(
                suite, "testcase", name=visible(finding.rule), classname=visible(verdict.candidate)
            )
            if not finding.passed:
                message = visible(f"{finding.rule}: {finding.why}")
                failure = Tree.SubElement(case, "failure", message=message, type="rule")
                failure.text = visible("\n".join(_caption(verdict))).replace("\\x0a", "\n")
    Tree.indent(root)
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{Tree.tostring(root, encoding='unicode')}\n"


def as_github(gate: Gate) -> str:
    """An annotation for each failure, and one line for the whole."""
    lines = [
        _annotation("error", verdict, finding)
        for verdict in gate.verdicts
        for finding in verdict.failures
    ]
    failed = sum(not verdict.passed for verdict in gate.verdicts)
    summary = f"{len(gate.verdicts) - failed} of {counted(len(gate.verdicts), 'verdict')} pass"
    lines.append(annotation("notice", summary, title="riskeval check"))
    return "".join(f"{line}\n" for line in lines)


def _annotation(level: str, verdict: Verdict, finding: Finding) -> str:
    title = f"{verdict.candidate}, {verdict.measure}: {finding.rule}"
    message = f"{finding.why}; topics to blame: {blame(verdict)}" if verdict.losses else finding.why
    return annotation(level, message, title=title)


JUNIT = forms.OwnForm("junit", ".xml", as_junit)
GITHUB = forms.OwnForm("github", "", as_github)
FORMS = (*forms.FORMS, JUNIT, GITHUB)
"""The forms of a gate: those of every result, and what CI services read."""
