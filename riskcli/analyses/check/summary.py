"""What a gate shows first: a row a candidate, as many as a screen has lines for."""

from collections.abc import Sequence
from math import isnan
from textwrap import wrap

from riskcli.analyses.check.outcomes import (
    OUTCOMES,
    WORDS,
    Candidate,
    RuleOutcome,
    Verdict,
    in_order,
)
from riskcli.analyses.check.sentences import title_of, words_of_test
from riskcli.core.messages import listed
from riskcli.output import display
from riskcli.output.display import Cell, Column, Display, Heading

_LINES = 25
"""What a screen has, beside the line of the command."""
_LEAST_ROWS = 4
_FIFTHS = "L>20%"


def table(
    verdicts: Sequence[Verdict],
    sentences: Sequence[str],
    rule: str,
    legend: Sequence[str],
    width: int,
    whole: bool,
) -> Display:
    """The candidates, as many as a screen has lines for, or the `whole` of them."""
    candidates = in_order(verdicts)
    tests = dict.fromkeys(f.test for v in verdicts for f in v.findings if f.test is not None)
    changes = ", ".join(title_of(test) for test in tests if test.alpha is None)
    below = f"{rule} ▼: breaks it. {f'{changes}: change. ' if changes else ''}"
    below += f"{_FIFTHS}: topics that lose over a fifth."
    shown: Sequence[Candidate] = candidates
    if not whole:
        below += " One candidate: --run NAME; everything: --full."
        lines = sum(len(wrap(text, width)) for text in (*sentences, *legend, below))
        has_rules = any(finding.test is None for v in verdicts for finding in v.findings)
        heads = 3 if len(candidates[0].verdicts) > 1 or has_rules else 2
        shown = _cut(candidates, max(_LINES - heads - lines, _LEAST_ROWS))
    columns = _fitting(shown, width)
    measures = listed(dict.fromkeys(verdict.measure for verdict in verdicts))
    title = f"{len(candidates)} candidates against {verdicts[0].baseline}, {measures}"
    hidden = [] if len(shown) == len(candidates) else [_hidden(candidates, shown)]
    return Display(title if whole else "", columns, [*hidden, *legend, below], verdict=sentences)


def _cut(candidates: Sequence[Candidate], most: int) -> Sequence[Candidate]:
    """So many; the commonest outcome gives way first, so that the others are seen."""
    if len(candidates) <= most:
        return candidates
    groups = [[c for c in candidates if c.outcome == outcome] for outcome in OUTCOMES]
    left = [len(group) for group in groups]
    while sum(left) >= most:  # a line says what is hidden
        left[left.index(max(left))] -= 1
    return [c for group, number in zip(groups, left, strict=True) for c in group[:number]]


def _hidden(candidates: Sequence[Candidate], shown: Sequence[Candidate]) -> str:
    names = {candidate.name for candidate in shown}
    rest = [c.outcome for c in candidates if c.name not in names]
    counts = [f"{rest.count(o)} {WORDS[o]}" for o in OUTCOMES if rest.count(o)]
    return f"Not shown: {', '.join(counts)}."


def _fitting(candidates: Sequence[Candidate], width: int) -> list[Column]:
    """The columns with as much beside the changes as the width has room for."""
    several = len(candidates[0].verdicts) > 1
    tried = [] if several else [(p, topics) for p in (True, False) for topics in (3, 2, 1)]
    for p, topics in [*tried, (False, 0)]:
        columns = _columns(candidates, p, topics)
        if display.width_of(columns) <= width:
            break
    asked = any(x.name not in ("", x.topic) for c in candidates for x in c.verdicts[0].losses)
    return _with_queries(columns, candidates, topics, width) if asked and topics else columns


def _with_queries(
    columns: list[Column], candidates: Sequence[Candidate], topics: int, width: int
) -> list[Column]:
    """What the worst topics ask, as far as there is room to the right of all else."""
    named = [[x.name or x.topic for x in c.verdicts[0].losses[:topics]] for c in candidates]
    *others, worst = columns
    room = width - display.width_of(others) - display.GAP
    return [*others, Column.of(worst.heading, [display.cut(", ".join(n), room) for n in named])]


def _columns(candidates: Sequence[Candidate], with_p: bool, topics: int) -> list[Column]:
    outcomes = [Cell(WORDS[c.outcome], strong=c.outcome != "pass") for c in candidates]
    columns = [
        Column.of(Heading("", left=True), outcomes),
        Column.of(Heading("candidate", left=True, names=True), [c.name for c in candidates]),
    ]
    several = len(candidates[0].verdicts) > 1
    for own in zip(*(candidate.verdicts for candidate in candidates), strict=True):
        measure, rules = own[0].measure, dict.fromkeys(f.rule for v in own for f in v.findings)
        group = f"{measure}\n" if several else ""
        if not several:
            columns.append(Column.of(measure, display.decimals((v.mean for v in own), 4)))
        columns += [column for rule in rules for column in _of_rule(rule, own, group, with_p)]
        fifths = ["–" if v.ruined is None else str(len(v.ruined)) for v in own]
        columns.append(Column.of(Heading(group + _FIFTHS, optional=True), fifths))
    if topics:
        worst = [" ".join(x.topic for x in c.verdicts[0].losses[:topics]) for c in candidates]
        columns.append(Column.of(Heading("worst topics", left=True, names=True), worst))
    return columns


def _of_rule(rule: str, own: Sequence[Verdict], group: str, with_p: bool) -> list[Column]:
    """The value, marked where the rule is broken, and its p-value."""
    found = [next((f for f in v.findings if f.rule == rule), None) for v in own]
    test = next((f.test for f in found if f is not None), None)
    cells = [Cell(_value(f), mark="worse" if f and f.outcome == "fail" else "") for f in found]
    heading = title_of(test) if test else rule.replace(" ", "\n", 1)
    columns = [Column.of(Heading(group + heading, marked=True), cells)]
    if with_p and test is not None:
        p = ["" if f is None else _p(f.p_adjusted) for f in found]
        columns.append(Column.of(Heading("p"), p))
    return columns


def _p(p: float | None) -> str:
    """In six characters at most, for a table that has several."""
    text = display.p_value(p)
    return "<.0001" if text.startswith("<") else text if len(text) <= len("0.0001") else f"{p:.4f}"


def _value(finding: RuleOutcome | None) -> str:
    if finding is None or finding.value is None:
        return display.UNDEFINED
    if finding.test is None:
        return _number(finding.value, "4g")
    text = display.decimal(finding.value, words_of_test(finding.test)[1])
    return text if text.startswith("-") or isnan(finding.value) else f"+{text}"


def rule_row(finding: RuleOutcome) -> list[str | Cell]:
    """A rule in a table of rules: its outcome, value, corrected p-value, and why it is not kept."""
    outcome = Cell(WORDS[finding.outcome], strong=not finding.passed)
    value, p = _number(finding.value, "4g"), _number(finding.p_adjusted, "2g")
    return [outcome, finding.rule, value, p, finding.why]


def _number(value: float | None, places: str) -> str:
    """Empty where there is none, a dash where it is undefined."""
    if value is None:
        return ""
    return display.UNDEFINED if isnan(value) else f"{value:.{places}}"
