"""A gate's verdicts, and every format in which they leave.

A report that is missing, or that is an empty list, looks like a pass to those who count failures:
CI services are told of files that cannot be read, and of a gate that could judge nothing, too.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self
from xml.etree import ElementTree as Tree

from riskcli.analyses.check.outcomes import AUDIT, WORDS, RuleOutcome, Verdict, in_order
from riskcli.core.choices import Inconclusive
from riskcli.core.messages import InputError, counted, listed
from riskcli.output import formats
from riskcli.output.display import Display, Heading
from riskcli.output.escape import annotation, visible
from riskcli.output.formats import Formats
from riskcli.output.problems import Level, Problem, as_annotations, as_code_quality, as_sarif
from riskcli.output.result import Result, Value, tidy
from riskcli.output.verdict import Statement, Statements

if TYPE_CHECKING:
    from riskcli.analyses.check.ratchet import Audit

TOOL = "riskeval check"
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
    audit: "Audit | None" = None
    """With a ratchet: what is known of all builds since its anchor."""
    documents: Mapping[str, str] = field(default_factory=dict)
    """By topic what became of relevant documents, where a comment shall say it."""

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

    def with_looks(self, found: Sequence[RuleOutcome]) -> Self:
        """The same with what a look of the audit found by each measure."""
        looked = zip(self.verdicts, found, strict=True) if found else ()
        verdicts = [replace(each, findings=(*each.findings, look)) for each, look in looked]
        return replace(self, verdicts=tuple(verdicts) or self.verdicts)

    @property
    def single(self) -> bool:
        """Whether there is one candidate."""
        return len({verdict.candidate for verdict in self.verdicts}) == 1

    @property
    def verdict(self) -> Statements:
        """Who passes, what it costs, what is not decided; of one candidate by each measure."""
        from riskcli.analyses.check import sentences

        judges = sentences.of_judges(self.verdicts)
        if self.single:
            said = [s for each in self.verdicts for s in self._said(each)]
            return Statements((*sentences.of_left_out(len(self.skipped)), *judges, *said))
        first, *others = sentences.of_many(self.verdicts, self.inconclusive, len(self.skipped))
        return Statements((first, *judges, *others))

    def displays(self, width: int, /) -> Sequence[Display]:
        """The candidates, a row each, and the rules of each with the topics to blame."""
        return self._chosen() or [self.summary(width, whole=True), *map(_display, self.verdicts)]

    def screen(self, width: int, /) -> Sequence[Display]:
        """A row a candidate; the rules of the only one, or of those asked for."""
        return self._chosen() or [self.summary(width, whole=False)]

    def summary(self, width: int, whole: bool) -> Display:
        """A row a candidate; not the whole: as many as a screen has lines for."""
        from riskcli.analyses.check import summary

        legend = list(dict.fromkeys(line for each in self.verdicts for line in each.legend))
        said = self.verdict.sentences
        return summary.table(self.verdicts, said, self.rule, legend, width, whole)

    def _said(self, verdict: Verdict) -> list[Statement]:
        """What is said of one candidate by one measure, and of all builds before it."""
        from riskcli.analyses.check import sentences

        since = [] if self.audit is None else [*self.audit.statements]
        own = [each for each in since if each.about in ("", verdict.measure)]
        return [*([] if verdict.is_first else sentences.of_one(verdict)), *own]

    def _chosen(self) -> list[Display]:
        """The rules of the only one or those asked for, under what is said; who passes is first."""
        if not (self.shown or self.single):
            return []
        chosen = [v for v in self.verdicts if not self.shown or v.candidate in self.shown]
        said = [[each.text for each in self._said(verdict)] for verdict in chosen]
        whole = self.verdict.of("")
        first = [each.text for rule in ("gate", "judges") for each in whole.by(rule)]
        said[0] = [*first, *said[0]]
        return [replace(_display(v), verdict=own) for v, own in zip(chosen, said, strict=True)]

    def result(self) -> Result:
        """A row a rule, candidate and measure."""
        told = [each.message for each in remarks(self)]
        rows = [row for verdict in self.verdicts for row in _rows(verdict, told)]
        extra: dict[str, Any] = {"passed": self.passed}
        extra |= {} if self.audit is None else {"anchor": self.audit.record()}
        return Result(COLUMNS, rows, self.provenance, extra)


def _rows(verdict: Verdict, told: Sequence[str]) -> Iterator[list[Value]]:
    topics = tuple(loss.topic for loss in verdict.losses)
    for finding in verdict.findings:
        numbers = (finding.value, finding.bound, finding.p, finding.p_adjusted)
        why = "; ".join(filter(None, [finding.why, *told]))
        yield [
            verdict.candidate, verdict.baseline, verdict.measure, finding.rule, finding.passed,
            *tidy(numbers), why, () if finding.rule == AUDIT else topics, finding.outcome,
            finding.topics_needed, verdict.population,
        ]  # fmt: skip


# A table for people.


def _display(verdict: Verdict) -> Display:
    from riskcli.analyses.check.summary import rule_row

    words = Heading("", left=True)
    headings = (words, Heading("rule", left=True), "value", "p", words)
    title = f"{WORDS[verdict.outcome]}: {verdict.about}"
    return Display.of_rows(title, headings, [*map(rule_row, verdict.findings)], _caption(verdict))


def _caption(verdict: Verdict) -> list[str]:
    against = "" if verdict.is_first else f" against {verdict.baseline_mean:.4f}"
    lines = [f"mean {verdict.mean:.4f}{against} on {counted(verdict.topics, 'topic')}"]
    if seen := Verdict.power_of([verdict]):
        lines[0] += f"; {seen}"
    lines += verdict.legend
    if verdict.losses:
        lines.append(verdict.blame)
    return lines


# For CI services: JUnit's XML, GitHub's annotations, SARIF and GitLab's code quality.


def of_files(errors: Iterable[InputError]) -> list[Problem]:
    """What is wrong with each file."""
    return [Problem("error", wrong.code, str(wrong), wrong.path, wrong.line) for wrong in errors]


def _failures(gate: Gate) -> Iterator[tuple[Verdict, RuleOutcome, str | None]]:
    """What fails, each in the candidate's own file, else in the first that was read."""
    files = {entry.run: str(entry.path) for entry in gate.inputs if entry.run is not None}
    first = str(gate.inputs[0].path) if gate.inputs else None
    for verdict in gate.verdicts:
        for finding in verdict.failures:
            yield verdict, finding, files.get(verdict.candidate, first)


def problems(gate: Gate) -> Iterator[Problem]:
    """What fails, what every report must say, and the files left out."""
    for verdict, finding, path in _failures(gate):
        message = f"{verdict.about}: {finding.rule}: {verdict.explained(finding)}"
        subject = f"{verdict.candidate}, {verdict.measure}"
        yield Problem(gate.level(finding), finding.rule, message, path, subject=subject)
    yield from remarks(gate)
    yield from of_files(gate.skipped)


def remarks(gate: Gate) -> Iterator[Problem]:
    """What every report must say beside the verdicts, in the file that it names, else the first."""
    paths = [entry.path for entry in gate.inputs]
    for note in gate.notes:
        if note.in_every_report:
            own = [path for path in paths if path.name in note.message] or paths
            yield Problem("warning", note.code, note.message, str(own[0]) if own else None)


def as_junit(gate: Gate) -> str:
    """A test suite a candidate and measure, a test case a rule; an error a file left out."""
    root = Tree.Element("testsuites", name=TOOL)
    for verdict in gate.verdicts:
        skipped = sum(gate.level(finding) == "warning" for finding in verdict.failures)
        counts = {"failures": len(verdict.failures) - skipped, "errors": 0, "skipped": skipped}
        suite = _suite(root, verdict.about, tests=len(verdict.findings), **counts)
        for finding in verdict.findings:
            _test_case(suite, verdict, finding, gate.level(finding))
    if gate.skipped:
        add_errors(root, "files left out", of_files(gate.skipped))
    for each in remarks(gate):
        suite = _suite(root, "warnings", tests=1, failures=0, errors=0, skipped=1)
        case = Tree.SubElement(suite, "testcase", name=each.rule, classname=TOOL)
        Tree.SubElement(case, "skipped", message=visible(each.message))
    return as_xml(root)


def _suite(root: Tree.Element, name: str, **counts: int) -> Tree.Element:
    numbers = {of: str(number) for of, number in counts.items()}
    return Tree.SubElement(root, "testsuite", {"name": visible(name), **numbers})


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
    suite = _suite(root, name, tests=len(problems), failures=0, errors=len(problems))
    for problem in problems:
        owner = visible(problem.path or TOOL)
        case = Tree.SubElement(suite, "testcase", name=owner, classname=name)
        Tree.SubElement(case, "error", message=visible(problem.message), type=problem.rule)


def as_xml(root: Tree.Element) -> str:
    """The document, indented."""
    Tree.indent(root)
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{Tree.tostring(root, encoding='unicode')}\n"


def as_github(gate: Gate) -> str:
    """An annotation for each failure and file left out, and one line for the whole."""
    lines = []
    for verdict, finding, path in _failures(gate):
        title = f"{verdict.candidate}, {verdict.measure}: {finding.rule}"
        shown = Problem(gate.level(finding), finding.rule, verdict.explained(finding), path)
        lines.append(as_annotations([shown], title))
    lines += [as_annotations(remarks(gate)), as_annotations(of_files(gate.skipped), "left out")]
    outcomes = [verdict.outcome for verdict in gate.verdicts]
    passed, undecided = outcomes.count("pass"), outcomes.count("inconclusive")
    counts = f"passed: {passed} of {len(outcomes)}"
    counts += f", inconclusive: {undecided}" if undecided else ""
    seen = Verdict.power_of([verdict for verdict in gate.verdicts if verdict.passed])
    since = [] if gate.audit is None else [each.text for each in gate.audit.statements]
    told = "; ".join(filter(None, [counts, seen, *since]))
    return "".join([*lines, annotation("notice", told, title=TOOL), "\n"])


def as_comment(gate: Gate) -> str:
    """The comment on a pull request: sentences, one table or two, the rest folded."""
    from riskcli.analyses.check import comment

    first, code = gate.verdicts[0], 1 if gate.skipped else gate.exit_code
    who = first.candidate
    said = comment.sentences(gate.verdict.all, [each.message for each in remarks(gate)])
    tables, below = comment.of_one(gate.verdicts, gate.documents), [gate.rule, *first.legend]
    if gate.single and len(gate.verdicts) == 1:
        said.append(f"{_caption(first)[0].capitalize()}.")
    else:
        below += [f"{each.measure}: {_caption(each)[0]}" for each in gate.verdicts]
    if not gate.single:
        who = f"{len({verdict.candidate for verdict in gate.verdicts})} candidates"
        tables = [replace(gate.summary(formats.PUBLISHED_WIDTH, whole=False), verdict=())]
        below = []
    against = "" if first.is_first else f" against {first.baseline}"
    measures = listed(dict.fromkeys(verdict.measure for verdict in gate.verdicts))
    title = f"{['pass', 'FAIL', '', 'inconclusive'][code]}: {who}{against}, {measures}"
    return comment.as_comment(title, said, tables, below, gate.inputs)


COMMENT = formats.OwnFormat("markdown", ".md", as_comment)
JUNIT = formats.OwnFormat("junit", ".xml", as_junit)
GITHUB = formats.OwnFormat("github", "", as_github)
SARIF = formats.OwnFormat("sarif", ".sarif", lambda gate: as_sarif(problems(gate), TOOL))
CODE_QUALITY = formats.OwnFormat("codequality", "", lambda gate: as_code_quality(problems(gate)))


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
_PLAIN = (COMMENT if format is formats.MARKDOWN else format for format in formats.FORMATS)
FORMATS = (*_PLAIN, JUNIT, GITHUB, SARIF, CODE_QUALITY, AUTOMATIC)
"""The formats of a gate: those of every result, and what CI services read."""
