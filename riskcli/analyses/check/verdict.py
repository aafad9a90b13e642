"""A gate's verdicts, and every format in which they leave.

A report that is missing, or that is an empty list, looks like a pass to those who count failures:
CI services are told of files that cannot be read, and of a gate that could judge nothing, too.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, Self
from xml.etree import ElementTree as Tree

from riskcli.analyses.check.outcomes import POPULATION_OF_TWO, WORDS, RuleOutcome, Verdict, in_order
from riskcli.core.choices import Inconclusive, population_in_words
from riskcli.core.messages import InputError, counted
from riskcli.output import formats
from riskcli.output.display import UNDEFINED, Cell, Display, Heading
from riskcli.output.escape import annotation, visible
from riskcli.output.formats import Formats
from riskcli.output.problems import Level, Problem, as_code_quality, as_sarif
from riskcli.output.result import Result, Value, tidy
from riskcli.output.verdict import Statements

TOOL = "riskeval check"
ELSEWHERE = "riskeval.toml"
"""The file that a problem of no file is put down to, where there must be one."""
COLUMNS = (
    "candidate", "baseline", "measure", "rule", "passed", "value", "bound", "p", "p_adj", "why",
    "worst_topics", "outcome", "topics_needed", "population",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Gate(formats.Analysis):
    """The verdicts on all candidates, and what they rest on."""

    verdicts: tuple[Verdict, ...]
    inconclusive: Inconclusive | None = None
    """What a verdict that the data do not decide counts as; None: neither a pass nor a failure."""
    rule: str = ""
    """What every candidate must keep, in a sentence."""
    shown: tuple[str, ...] = ()
    """The candidates asked for, whose rules tables show; none: all. Programs get all anyway."""

    @property
    def passed(self) -> bool:
        """Whether every candidate may pass."""
        allowed = {"pass", "inconclusive"} if self.inconclusive == "pass" else {"pass"}
        return all(verdict.outcome in allowed for verdict in self.verdicts)

    @property
    def exit_code(self) -> int:
        """0 for a pass, 1 for a failure, 3 where nothing fails but something is not decided."""
        if self.passed:
            return 0
        undecided = all(verdict.outcome != "fail" for verdict in self.verdicts)
        return 3 if undecided and self.inconclusive is None else 1

    def level(self, finding: RuleOutcome) -> Level:
        """A warning for an inconclusive rule where that counts as a pass, else an error."""
        undecided = finding.outcome == "inconclusive" and self.inconclusive == "pass"
        return "warning" if undecided else "error"

    @property
    def formats(self) -> Formats:
        """Those of every result, and what CI services read."""
        return FORMATS

    def of_runs(self, names: Iterable[str]) -> Self:
        """The same, of which tables show the rules of these candidates (globs too)."""
        # Late, as below: numpy is for those who compute, and help imports this module.
        from riskcli.scores.comparisons import matching_runs

        candidates = [each.name for each in in_order(self.verdicts)]
        rows = {row for name in names for row in matching_runs(candidates, name)}
        return replace(self, shown=tuple(candidates[row] for row in sorted(rows)))

    @property
    def _single(self) -> bool:
        return len({verdict.candidate for verdict in self.verdicts}) == 1

    @property
    def verdict(self) -> Statements:
        """Who passes, what it costs, what is not decided; of one candidate by each measure."""
        from riskcli.analyses.check import sentences

        if self._single:
            said = [s for each in self.verdicts for s in sentences.of_one(each)]
            whole = (*sentences.of_left_out(len(self.skipped)), *sentences.of_judges(self.verdicts))
            return Statements((*whole, *said))
        said = sentences.of_many(self.verdicts, self.inconclusive, len(self.skipped))
        return Statements((said[0], *sentences.of_judges(self.verdicts), *said[1:]))

    def displays(self, width: int, /) -> Sequence[Display]:
        """The candidates, a row each, and the rules of each with the topics to blame."""
        if self.shown or self._single:
            return self._chosen()
        return [self._summary(width, whole=True), *map(_display, self.verdicts)]

    def screen(self, width: int, /) -> Sequence[Display]:
        """A row a candidate; the rules of the only one, or of those asked for."""
        if self.shown or self._single:
            return self._chosen()
        return [self._summary(width, whole=False)]

    def _summary(self, width: int, whole: bool) -> Display:
        from riskcli.analyses.check import summary

        legend = list(dict.fromkeys(line for each in self.verdicts for line in _legend(each)))
        said = self.verdict.sentences
        return summary.table(self.verdicts, said, self.rule, legend, width, whole)

    def _chosen(self) -> list[Display]:
        """The rules of those asked for, under what is said of each; who passes comes first."""
        from riskcli.analyses.check import sentences

        chosen = [v for v in self.verdicts if not self.shown or v.candidate in self.shown]
        said = [[each.text for each in sentences.of_one(verdict)] for verdict in chosen]
        whole = self.verdict.of("")
        first = [each.text for rule in ("gate", "judges") for each in whole.by(rule)]
        said[0] = [*first, *said[0]]
        return [replace(_display(v), verdict=own) for v, own in zip(chosen, said, strict=True)]

    def result(self) -> Result:
        """A row a rule, candidate and measure."""
        told = [each.message for each in remarks(self)]
        rows = [row for verdict in self.verdicts for row in _rows(verdict, told)]
        return Result(COLUMNS, rows, self.provenance, extra={"passed": self.passed})


def _rows(verdict: Verdict, told: Sequence[str]) -> Iterator[list[Value]]:
    topics = tuple(loss.topic for loss in verdict.losses)
    for finding in verdict.findings:
        numbers = (finding.value, finding.bound, finding.p, finding.p_adjusted)
        why = "; ".join(filter(None, [finding.why, *told]))
        yield [
            verdict.candidate, verdict.baseline, verdict.measure, finding.rule, finding.passed,
            *tidy(numbers), why, topics, finding.outcome,
            finding.topics_needed, verdict.population,
        ]  # fmt: skip


# A table for people.


def _number(value: float | None, places: str) -> str:
    """Empty where there is none, a dash where it is undefined."""
    if value is None:
        return ""
    return UNDEFINED if isnan(value) else f"{value:.{places}}"


def _display(verdict: Verdict) -> Display:
    words = Heading("", left=True)
    headings = (words, Heading("rule", left=True), "value", "p", words)
    rows: list[list[str | Cell]] = [
        [
            Cell(WORDS[finding.outcome], strong=not finding.passed),
            finding.rule,
            _number(finding.value, "4g"),
            _number(finding.p_adjusted, "2g"),
            finding.why,
        ]
        for finding in verdict.findings
    ]
    title = f"{WORDS[verdict.outcome]}: {verdict.about}"
    return Display.of_rows(title, headings, rows, _caption(verdict))


def _caption(verdict: Verdict) -> list[str]:
    lines = [
        f"mean {verdict.mean:.4f} against {verdict.baseline_mean:.4f} on "
        f"{counted(verdict.topics, 'topic')}"
    ]
    if seen := Verdict.power_of([verdict]):
        lines[0] += f"; {seen}"
    lines += _legend(verdict)
    if verdict.losses:
        lines.append(verdict.blame)
    return lines


def _legend(verdict: Verdict) -> list[str]:
    if verdict.population == POPULATION_OF_TWO:
        return [*verdict.legend]
    population = population_in_words(verdict.population)
    return [*verdict.legend, f"population of GeoRisk and ZRisk: {population}"]


# For CI services: JUnit's XML, GitHub's annotations, SARIF and GitLab's code quality.


def of_files(errors: Iterable[InputError]) -> list[Problem]:
    """What is wrong with each file."""
    return [Problem("error", wrong.code, str(wrong), wrong.path, wrong.line) for wrong in errors]


def problems(gate: Gate) -> Iterator[Problem]:
    """What fails, each in the candidate's own file, and the files left out."""
    files = {entry.run: str(entry.path) for entry in gate.inputs if entry.run is not None}
    for verdict in gate.verdicts:
        for finding in verdict.failures:
            message = f"{verdict.about}: {finding.rule}: {verdict.explained(finding)}"
            path = files.get(verdict.candidate)
            subject = f"{verdict.candidate}, {verdict.measure}"
            yield Problem(gate.level(finding), finding.rule, message, path, subject=subject)
    yield from remarks(gate)
    yield from of_files(gate.skipped)


def remarks(gate: Gate) -> list[Problem]:
    """What every report must say beside the verdicts."""
    return [
        Problem("warning", note.code, note.told, None)
        for note in gate.notes
        if note.in_every_report
    ]


def as_junit(gate: Gate) -> str:
    """A test suite a candidate and measure, a test case a rule; an error a file left out."""
    root = Tree.Element("testsuites", name=TOOL)
    for verdict in gate.verdicts:
        skipped = sum(gate.level(finding) == "warning" for finding in verdict.failures)
        suite = Tree.SubElement(
            root,
            "testsuite",
            name=visible(verdict.about),
            tests=str(len(verdict.findings)),
            failures=str(len(verdict.failures) - skipped),
            errors="0",
            skipped=str(skipped),
        )
        for finding in verdict.findings:
            _test_case(suite, verdict, finding, gate.level(finding))
    if gate.skipped:
        add_errors(root, "files left out", of_files(gate.skipped))
    for each in remarks(gate):
        suite = Tree.SubElement(
            root, "testsuite", name="warnings", tests="1", failures="0", errors="0", skipped="1"
        )
        case = Tree.SubElement(suite, "testcase", name=each.rule, classname=TOOL)
        Tree.SubElement(case, "skipped", message=visible(each.message))
    return as_xml(root)


def _test_case(suite: Tree.Element, verdict: Verdict, finding: RuleOutcome, level: Level) -> None:
    """Its class names candidate and measure: some readers take the first case of a name only."""
    owner = visible(f"{verdict.candidate}.{verdict.measure}")
    case = Tree.SubElement(suite, "testcase", name=visible(finding.rule), classname=owner)
    if finding.passed:
        return
    message = visible(f"{finding.rule}: {finding.reason}")
    if level == "warning":
        Tree.SubElement(case, "skipped", message=message)
        return
    kind = "inconclusive" if finding.outcome == "inconclusive" else "rule"
    failure = Tree.SubElement(case, "failure", message=message, type=kind)
    failure.text = visible("\n".join(_caption(verdict))).replace("\\x0a", "\n")


def add_errors(root: Tree.Element, name: str, problems: Sequence[Problem]) -> None:
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


def as_github(gate: Gate) -> str:
    """An annotation for each failure and file left out, and one line for the whole."""
    lines = []
    for verdict in gate.verdicts:
        for finding in verdict.failures:
            title = f"{verdict.candidate}, {verdict.measure}: {finding.rule}"
            why = verdict.explained(finding)
            lines.append(annotation(gate.level(finding), why, title=title) + "\n")
    for each in remarks(gate):
        lines.append(annotation("warning", each.message, title=each.rule) + "\n")
    left_out = annotations("left out", of_files(gate.skipped))
    outcomes = [verdict.outcome for verdict in gate.verdicts]
    passed, undecided = outcomes.count("pass"), outcomes.count("inconclusive")
    counts = f"passed: {passed} of {len(outcomes)}"
    counts += f", inconclusive: {undecided}" if undecided else ""
    seen = Verdict.power_of([verdict for verdict in gate.verdicts if verdict.passed])
    counts += f"; {seen}" if seen else ""
    return "".join([*lines, left_out, annotation("notice", counts, title=TOOL), "\n"])


def annotations(title: str, problems: Sequence[Problem]) -> str:
    """A GitHub annotation a problem, a line each."""
    return "".join(
        annotation("error", each.message, title=title, file=each.path, line=each.line) + "\n"
        for each in problems
    )


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
"""The formats of a gate: those of every result, and what CI services read."""
