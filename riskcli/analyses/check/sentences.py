"""What a gate says in sentences: who passes, what it costs, what is not decided; and its rule."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan

import numpy as np

from riskcli.analyses.check.outcomes import AUDIT, OUTCOMES, WORDS, RuleOutcome, Verdict, in_order
from riskcli.analyses.check.rules import LossTest, Rule, is_on_share, limits_losses, parse_rule
from riskcli.analyses.judges import by_count
from riskcli.analyses.unjudged import statement
from riskcli.core.choices import Inconclusive
from riskcli.core.messages import counted, joined, listed
from riskcli.output.measure_words import words_of
from riskcli.output.verdict import Statement
from riskcli.risk.estimate import CORRECTION_TITLES, Significance
from riskcli.risk.measures import measures

_FEW = 3
"""So many names, topics or rules are listed."""


def words_of_test(test: LossTest) -> tuple[str, int]:
    """What is tested, as GeoRisk or TRisk@1, and its decimals."""
    words = next(words_of(measure) for measure in measures() if measure.id == test.of)
    return words.title if test.alpha is None else f"{words.title}@{test.alpha:g}", words.decimals


def title_of(test: LossTest) -> str:
    """What is tested, as GeoRisk or TRisk@1."""
    return words_of_test(test)[0]


def _not_lower(tests: Sequence[LossTest]) -> str:
    """`Mean is not significantly lower`, or neither, or none of several."""
    names = [title_of(test) for test in tests]
    if len(names) == 1:
        return f"{names[0]} is not significantly lower"
    if len(names) == 2:
        return f"neither {joined(names, 'nor')} is significantly lower"
    return f"none of {joined(names)} is significantly lower"


def rule_in_words(
    tests: Sequence[LossTest],
    rules: Sequence[Rule],
    margins: Mapping[str, float],
    plan: Significance,
    families: tuple[int, int],
) -> str:
    """What a candidate must keep, with how it is tested; `families` count tests by kind."""
    title = CORRECTION_TITLES[plan.correction]
    each_test = plan.correction == "none"
    without, within = (
        f"one-sided, {title}" + ("" if each_test else f" over {counted(size, 'test')}")
        for size in families
    )
    plain = [test for test in tests if test.of not in margins]
    with_margin = [test for test in tests if test.of in margins]
    level = f"significance level {plan.gamma:g}"
    parts = [f"{_not_lower(plain)} ({without}, {level})"] if plain else []
    if with_margin:
        ruled_out = joined([f"of {title_of(t)} above {margins[t.of]:g}" for t in with_margin])
        parts.append(f"a loss {ruled_out} is ruled out ({within}, {level})")
    shown = f" is shown (exact, {within}, {level})"
    parts += [rule.text + (shown if is_on_share(rule) else "") for rule in rules]
    return f"Rule{'s' if len(parts) > 1 else ''}: {'; '.join(parts)}."


# Sentences, each by a rule of its own: gate, ruins, undecided, unproven.


def of_one(verdict: Verdict) -> list[Statement]:
    """What is said of one candidate by one measure."""
    about, who = verdict.measure, verdict.candidate
    said = {"pass": _kept, "fail": _broken, "inconclusive": _open}[verdict.outcome]
    means = {"mean": verdict.mean, "baseline_mean": verdict.baseline_mean}
    numbers = {**means, "topics": verdict.topics, "seen_from": verdict.seen_from}
    text = f"{WORDS[verdict.outcome]}: for {who} {said(verdict.findings)}."
    statements = [Statement("gate", text, about, (who, verdict.baseline), numbers=numbers)]
    if verdict.ruined is not None:
        statements.append(_of_ruins(verdict, f"It {_ruins(verdict)}.", about))
    if needed := _needed(verdict.findings):
        text = f"If the differences stay, {needed} topics settle it in four of five cases."
        numbers = {"topics_needed": needed}
        statements.append(Statement("undecided", text, about, (who,), numbers=numbers))
    elif _proves_nothing([verdict]):
        statements.append(_unproven([verdict], about))
    return [*statements, *_allowed([verdict], about), *_unjudged([verdict], about)]


def _needed(findings: Sequence[RuleOutcome]) -> int | None:
    """The topics that settle all of it; None where judgements are missing, or no number does."""
    if any(finding.open_to_judgements for finding in findings):
        return None
    return max((f.topics_needed for f in findings if f.topics_needed is not None), default=None)


def _allowed(verdicts: Sequence[Verdict], about: str = "") -> list[Statement]:
    """Who is allowed to lose, until when, and why, of those that do."""
    allowed = list(dict.fromkeys(each for verdict in verdicts for each in verdict.allowed))
    runs = tuple(dict.fromkeys(v.candidate for v in verdicts if v.allowed))
    text, topics = f"{listed(map(str, allowed), _FEW)}.", tuple(each.topic for each in allowed)
    return [Statement("allowed", text, about, runs, topics)] if allowed else []


def _unjudged(verdicts: Sequence[Verdict], about: str = "") -> list[Statement]:
    """How much of the candidates nobody judged, by the first measure, where it is much."""
    own = [v for v in verdicts if v.measure == verdicts[0].measure and v.unjudged]
    if not own or own[0].judging is None:
        return []
    columns = {name: np.array([v.unjudged[name] for v in own]) for name in own[0].unjudged}
    names, baseline = [v.candidate for v in own], own[0].baseline
    said = statement(columns, names, range(len(own)), baseline, baseline, own[0].judging, about)
    return [] if said is None else [said]


def of_left_out(number: int) -> list[Statement]:
    """That the gate fails for files that could not be judged, whatever is said of the others."""
    if not number:
        return []
    text = f"FAIL: {counted(number, 'file')} left out, which fails whatever else passes."
    return [Statement("gate", text, numbers={"left_out": number})]


def _ruins(verdict: Verdict, by: str = "") -> str:
    ruined = verdict.ruined or ()
    if not ruined:
        return f"loses over a fifth on no topic{by}"
    of_all = f"{len(ruined)} of {counted(verdict.topics, 'topic')}"
    return f"loses over a fifth on {of_all}, most on {ruined[0]}{by}{_limited([verdict])}"


def _limited(verdicts: Sequence[Verdict]) -> str:
    """Whether a rule limits these losses; of several the one that is kept worst by the first."""
    topics = {each.topic for verdict in verdicts for each in verdict.ruined or ()}
    asked = (f for f in verdicts[0].findings if f.test is None and f.rule != AUDIT)
    rules = ((finding, parse_rule(finding.rule)) for finding in asked)
    limits = [(f, rule) for f, rule in rules if any(limits_losses(rule, t) for t in topics)]
    whole = [f for f, r in limits if r.group is None and (r.topic is None or is_on_share(r))]
    if not whole:
        return "; rules limit that in part" if limits else "; no rule limits that"
    worst = max(whole, key=lambda finding: OUTCOMES.index(finding.outcome))
    same = (f for v in verdicts for f in v.findings if f.rule == worst.rule)
    if worst.passed and any(finding.excepted for finding in same):
        return f", which {worst.rule} and an exception allow"
    return f", which {worst.rule} {_LIMITS[worst.outcome]}"


_LIMITS = {"pass": "allows", "inconclusive": "leaves open", "fail": "does not allow"}


def _of_ruins(verdict: Verdict, text: str, about: str = "") -> Statement:
    ruined = verdict.ruined or ()
    loss = ruined[0].baseline - ruined[0].candidate if ruined else None
    numbers = {"lost_over_a_fifth": len(ruined), "topics": verdict.topics, "largest_loss": loss}
    topics = tuple(each.topic for each in ruined)
    return Statement("ruins", text, about, (verdict.candidate,), topics, numbers)


def _kept(findings: Sequence[RuleOutcome]) -> str:
    plain = [f.test for f in findings if f.test and not f.bound]
    parts = [_not_lower(plain)] if plain else []
    for f in findings:
        if f.test and f.bound:
            parts.append(f"a loss of {title_of(f.test)} above {-f.bound:g} is ruled out")
    if AUDIT in {f.rule for f in findings}:
        parts.append("no loss is shown since the anchor")
    if plain_rules := [f for f in findings if f.test is None and f.rule != AUDIT]:
        allowed, few = " (but for losses allowed)", len(plain_rules) <= _FEW
        named = joined([f.rule + (allowed if f.excepted else "") for f in plain_rules])
        more = allowed if any(f.excepted for f in plain_rules) else ""
        hold = "hold" if len(plain_rules) > 1 else "holds"
        parts.append(f"{named} {hold}" if few else f"all {len(plain_rules)} rules hold{more}")
    return "; ".join(parts)


def _broken(findings: Sequence[RuleOutcome]) -> str:
    broken = [finding for finding in findings if finding.outcome == "fail"]
    parts = []
    for finding in broken[:_FEW]:
        found = "" if finding.value is None else f" ({finding.value:.4g})"
        lower = finding.test and f"{title_of(finding.test)} is significantly lower"
        lower = "the mean has fallen since the anchor" if finding.rule == AUDIT else lower
        parts.append(f"{lower or f'{finding.rule} is broken'}{found}")
    left = len(broken) - _FEW
    if left > 0:
        parts.append(f"{counted(left, 'more rule')} {'is' if left == 1 else 'are'} broken")
    return "; ".join(parts)


def _open(findings: Sequence[RuleOutcome]) -> str:
    return "; ".join(_undecided(f) for f in findings if f.outcome == "inconclusive")


def _undecided(finding: RuleOutcome) -> str:
    title = finding.test and title_of(finding.test)
    if finding.open_to_judgements:
        what = f"whether {title} is lower" if title else finding.rule
        return f"{what} is not decidable from these judgements"
    if not title:
        return f"{finding.rule} is shown neither to hold nor to be broken"
    if finding.p is None or isnan(finding.p):
        return f"a loss of {title} cannot be tested on these scores"
    accepted = -(finding.bound or 0)
    return f"a loss of {title} above {accepted:g} is not ruled out, and no loss is shown"


def _proves_nothing(verdicts: Sequence[Verdict]) -> bool:
    """Whether something passed for want of a significant loss, and nothing by a margin."""
    tested = [f for v in verdicts if v.passed for f in v.findings if f.test is not None]
    return bool(tested) and all(finding.bound == 0 for finding in tested)


def _unproven(verdicts: Sequence[Verdict], about: str = "") -> Statement:
    seen = [v.seen_from for v in verdicts if v.passed and v.seen_from is not None]
    text = "A pass is no proof of no loss: --margin asks which loss can be ruled out."
    names = tuple(dict.fromkeys(v.candidate for v in verdicts if v.passed))
    return Statement("unproven", text, about, names, numbers={"seen_from": max(seen, default=None)})


def _power(passing: Sequence[Verdict]) -> list[Statement]:
    """Of several that pass: which loss would have been seen; that this is no proof of none."""
    seen, unproven = Verdict.power_of(passing), _proves_nothing(passing)
    if not seen:
        return [_unproven(passing)] if unproven else []
    text = f"A{seen[1:]}{'; see --margin' if unproven else ''}."
    return [replace(_unproven(passing), rule="unproven" if unproven else "power", text=text)]


def of_many(
    verdicts: Sequence[Verdict], counts_as: Inconclusive | None, left_out: int
) -> list[Statement]:
    """What is said of several candidates."""
    candidates = in_order(verdicts)
    by = {outcome: [c.name for c in candidates if c.outcome == outcome] for outcome in OUTCOMES}
    passing, undecided = (dict.fromkeys(by[each]) for each in ("pass", "inconclusive"))
    of_measures = listed(dict.fromkeys(v.measure for v in verdicts))
    about = f"baseline {verdicts[0].baseline}, {of_measures} on "
    about += counted(verdicts[0].topics, "topic")
    away = f"; {counted(left_out, 'file')} left out, which fails too" if left_out else ""
    accepted = counts_as == "pass" and candidates[-1].outcome == "inconclusive"
    whole = WORDS["fail" if left_out else "pass" if accepted else candidates[-1].outcome]
    how_many = _how_many(by["pass"], by["fail"], len(candidates))
    text = f"{whole}: {how_many}; {about}{away}."
    numbers = {
        "candidates": len(candidates), "passed": len(passing),
        "not_decided": len(undecided), "left_out": left_out,
    }  # fmt: skip
    statements = [Statement("gate", text, runs=tuple(passing), numbers=numbers)]
    by_first = f" by {verdicts[0].measure}" if len(candidates[0].verdicts) > 1 else ""
    first = [c.verdicts[0] for c in candidates if c.outcome == "pass"]
    statements += _what_passes_ruins([v for v in first if v.ruined is not None], by_first)
    if undecided:
        statements.append(_not_decided(verdicts, undecided, counts_as))
    else:
        statements += _power([v for v in verdicts if v.candidate in passing])
    return [*statements, *_allowed(verdicts), *_unjudged(verdicts)]


def _how_many(passing: Sequence[str], failing: Sequence[str], number: int) -> str:
    if len(passing) == number:
        return "both candidates pass" if number == 2 else f"all {number} candidates pass"
    if not passing:
        return f"none of {number} candidates passes"
    text = f"{len(passing)} of {number} candidates pass{'es' if len(passing) == 1 else ''}"
    if len(passing) <= _FEW:
        return f"{'only ' if failing else ''}{text}: {', '.join(passing)}"
    if 0 < len(failing) <= _FEW:
        return f"{joined(failing)} fail{'s' if len(failing) == 1 else ''}, {text}"
    return text


def _what_passes_ruins(of: Sequence[Verdict], by: str) -> list[Statement]:
    """By the first measure: the topics on which those that pass lose over a fifth."""
    if len(of) < 2:
        return [_of_ruins(v, f"{v.candidate} {_ruins(v, by)}.") for v in of]
    if not any(verdict.ruined for verdict in of):
        text = f"No candidate that passes loses over a fifth on any topic{by}."
        return [Statement("ruins", text, runs=tuple(v.candidate for v in of))]
    counts = [(len(verdict.ruined or ()), verdict.candidate) for verdict in of]
    least, most = min(counts), max(counts)
    text = (
        f"Those that pass lose over a fifth on {least[0]} ({least[1]}) to {most[0]} ({most[1]}) "
        f"of {counted(of[0].topics, 'topic')}{by}{_limited(of)}."
    )
    runs = tuple(candidate for _, candidate in sorted(counts))
    numbers = {"least": least[0], "most": most[0], "topics": of[0].topics}
    return [Statement("ruins", text, runs=runs, numbers=numbers)]


def _not_decided(
    verdicts: Sequence[Verdict], names: Collection[str], counts_as: Inconclusive | None
) -> Statement:
    own = [f for v in verdicts if v.candidate in names for f in v.findings]
    needed = _needed(own)
    is_are = "is" if len(names) == 1 else "are"
    by_judgements = any(f.open_to_judgements for f in own)
    what = "not decidable from these judgements" if by_judgements else "not decided"
    text = f"{listed(names, _FEW)} {is_are} {what}"
    if counts_as is not None:
        text += f", which counts as {'a pass' if counts_as == 'pass' else 'a failure'}"
    text += "" if needed is None else f"; {needed} topics settle it if the differences stay"
    return Statement("undecided", f"{text}.", runs=tuple(names), numbers={"topics_needed": needed})


def of_judges(verdicts: Sequence[Verdict]) -> Iterator[Statement]:
    """How many of several judges pass which candidates, a sentence an effectiveness measure."""
    by_measure: dict[str, list[Verdict]] = {}
    for verdict in (verdict for verdict in verdicts if verdict.judge):
        measure = verdict.measure.removesuffix(f" [{verdict.judge}]")
        by_measure.setdefault(measure, []).append(verdict)
    for measure, own in by_measure.items():
        number = len({verdict.judge for verdict in own})
        passed = Counter(verdict.candidate for verdict in own if verdict.passed)
        by = f" by {measure}" if len(by_measure) > 1 else ""
        who = by_count(passed, number) or f"none of {number} judges passes any"
        runs = tuple(name for name, count in passed.items() if count == number)
        yield Statement("judges", f"Who passes{by}: {who}.", runs=runs, numbers={"judges": number})
