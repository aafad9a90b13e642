"""Candidates against a baseline: every rule judged, the topics to blame, and the power to see."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import cast

from riskcli.analyses.base import Scores, Setup, population_record, set_up
from riskcli.analyses.check import rules as language
from riskcli.analyses.check.allow import KnownLoser
from riskcli.analyses.check.candidates import tables
from riskcli.analyses.check.case import Case, check_quantity
from riskcli.analyses.check.completions import decided
from riskcli.analyses.check.losses import families, judge_losses
from riskcli.analyses.check.outcomes import POPULATION_OF_TWO, Verdict
from riskcli.analyses.check.rules import LossTest, Policy, Rule, is_on_share, limits_losses
from riskcli.analyses.check.sentences import rule_in_words
from riskcli.analyses.check.verdict import Gate
from riskcli.analyses.churn import churn_table
from riskcli.analyses.query_texts import QueryTexts
from riskcli.core.choices import Inconclusive, check_words, is_virtual
from riskcli.core.messages import ALLOW_EXPIRED, Note, UsageError, nearest
from riskcli.risk.estimate import Significance
from riskcli.scores.comparisons import Options, matching_runs
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.matrix import UNANSWERED_TOPICS, ScoreMatrix, unanswered_notes
from riskcli.scores.reading import UNJUDGED
from riskcli.scores.teams import Teams

# The gate itself.


def judge(
    scores: Scores,
    baseline: str,
    policy: Policy | str = "standard",
    *,
    rules: Sequence[Rule | str] = (),
    significance: Significance | None = None,
    alpha: float = 1.0,
    population: FrozenPopulation | None = None,
    margin: float | Mapping[str, float] | None = None,
    inconclusive: Inconclusive | None = None,
    detect: float | None = None,
    worst: int = 3,
    queries: Mapping[str, str] | None = None,
    allow: Sequence[KnownLoser] = (),
) -> Gate:
    """Judge every run but the baseline by the policy's tests and by all rules.

    With a `margin` (for the mean, or one by risk measure) a test passes only where a loss above it
    is excluded, and what the data do not decide counts as `inconclusive` says (None: as neither).
    With `Rules(unjudged="bounds")` only what no grade of an unjudged document can turn is decided.

    Each candidate is measured in the matrix of the baseline and itself, or in a frozen population,
    so that its verdict does not depend on other candidates; only the correction of the tests counts
    them. `queries` are the texts of topics. Rules on single topics are not asked of the `allow`ed.
    """
    setup = set_up(scores, Options(alphas=(alpha,), population=population), baseline)
    plan = significance or Significance()
    chosen, every_rule = _what_is_checked(policy, rules)
    texts = QueryTexts.of(queries, {t for matrix in setup.matrices for t in matrix.topics})
    _refuse_without_documents(setup)
    cases = _cases(setup, plan, texts, every_rule)
    excepted = _prepared(cases, scores, every_rule, allow)
    check_words(inconclusive=(inconclusive or "fail", Inconclusive))
    margins = language.checked_margins(chosen, margin)
    tests: list[LossTest | Rule] = [*chosen.tests, *filter(is_on_share, every_rule)]
    tested = [case.tested(tests, margins) for case in cases]
    level = plan.level_among(len(cases) * len(tests))
    outcomes = [
        decided(case, case.outcomes(every_rule, own, margins), every_rule, level)
        for case, own in zip(cases, judge_losses(tested, plan), strict=True)
    ]
    verdicts = [case.verdict(own, worst, level) for case, own in zip(cases, outcomes, strict=True)]
    recorded = {
        "policy": chosen.name, "rules": [rule.text for rule in every_rule],
        "baseline": cases[0].options.baselines[0], "alpha": alpha, "gamma": plan.gamma,
        "correction": plan.correction, "detect": detect, "margins": margins,
        "inconclusive": inconclusive,
        "population": population_record(setup.options) if population else POPULATION_OF_TWO,
    }  # fmt: skip
    notes = [*excepted, *(note for case in cases for note in case.notes)]
    notes += texts.notes(cases[0].matrix.topics)
    notes += [*_power_notes(verdicts, detect), *_unused(setup, every_rule)]
    found = setup.provenance.adding(recorded, notes)
    told = _of_these_topics(found.notes, setup.matrices)
    at_length = tuple(replace(note, message=note.full or note.message) for note in told)
    asked = rule_in_words(chosen.tests, every_rule, margins, plan, families(tested))
    return Gate(tuple(verdicts), inconclusive, asked, provenance=replace(found, notes=at_length))


def _except(
    cases: Sequence[Case], allow: Sequence[KnownLoser], rules: Sequence[Rule]
) -> Iterator[Note]:
    """Tell cases which exceptions hold for them; notes on those that are over or not needed."""
    parts = dict.fromkeys(case.candidates.matrix.topics for case in cases)
    known = dict.fromkeys(topic for topics in parts for topic in topics)
    for each in allow:
        topic = each.topic
        own = [c for c in cases if each.is_of(c.matrix.runs[1], c.matrix.plain_measure)]
        if each.until < date.today():
            told = f"{topic} was allowed to lose until {each.until} ({each.why}): no longer"
            yield Note(ALLOW_EXPIRED, told)
        elif not (
            any(limits_losses(rule, topic) for rule in rules)
            and any(case.loses_on(topic) for case in own)
        ):
            why = "none of the topics judged here" + nearest(topic, known)
            if topic in known:
                why = "no candidate that it is for loses there, or no rule limits that"
            yield Note("allow-unneeded", f"{topic} need not be allowed to lose: {why}")
        else:
            for case in own:
                case.allowed = (*case.allowed, each)


def _prepared(
    cases: Sequence[Case], scores: Scores, rules: Sequence[Rule], allow: Sequence[KnownLoser]
) -> list[Note]:
    """Check rules, and tell cases what they need beside scores: exceptions, how rankings moved.

    For these the runs are read again, if a rule asks.
    """
    by_topics = {case.candidates.matrix.topics: case.candidates.matrix for case in cases}
    for rule in rules:
        for matrix in by_topics.values():  # judges may differ in topics
            check_quantity(rule, matrix)
    if asked := [rule.quantity for rule in rules if rule.quantity in language.MOVES]:
        found = churn_table(cast("Evaluation", scores), cases[0].matrix.runs[0])
        own = {part.run: part.moves.columns for part in found.parts}
        for case in cases:
            arrays = own[case.matrix.runs[1]]
            case.moves = {n: dict(zip(found.topics, arrays[n], strict=True)) for n in asked}
    return list(_except(cases, allow, rules))


def _of_these_topics(notes: Sequence[Note], matrices: Sequence[ScoreMatrix]) -> Sequence[Note]:
    """The notes, of which that on missing topics is of those judged here, if others were read."""
    found: list[Note] = []
    for matrix in matrices:
        known = matrix.judging
        if known is None or len(known.topics) == len(matrix.topics):
            return notes
        runs = [run for run in matrix.runs if run in known.by_run]
        gaps = {run: known.unanswered(run, matrix.topics) for run in runs}
        found += unanswered_notes(matrix, gaps)
    return [*(note for note in notes if note.code != UNANSWERED_TOPICS), *dict.fromkeys(found)]


def _unused(setup: Setup, rules: Sequence[Rule]) -> list[Note]:
    """Say that groups of topics change nothing where no rule is on one."""
    unused = setup.matrices[0].axes.groups and all(rule.group is None for rule in rules)
    message = "--groups changes nothing here: no rule is on a group, as mean_diff[tail] >= 0 is"
    return [Note("groups-unused", message)] if unused else []


def _what_is_checked(
    policy: Policy | str, rules: Sequence[Rule | str]
) -> tuple[Policy, list[Rule]]:
    """The policy, and its rules with those that were given beside it."""
    chosen = language.policy(policy) if isinstance(policy, str) else policy
    parsed = [language.parse_rule(rule) if isinstance(rule, str) else rule for rule in rules]
    every_rule = [*chosen.rules, *parsed]
    if not every_rule and not chosen.tests:
        raise UsageError("nothing to check: the policy is none, and there is no --require")
    return chosen, every_rule


def _refuse_without_documents(setup: Setup) -> None:
    """Refuse bounds where a kept baseline has scores alone: nothing would be found open."""
    is_bounded = setup.provenance.settings.get(UNJUDGED) == "bounds"
    for matrix in setup.matrices if is_bounded else ():
        known = matrix.judging and matrix.judging.documents
        if not known or not known.runs.keys() >= {*matrix.runs}:
            raise UsageError(
                "what unjudged documents could change is known of runs alone: give the baseline "
                "as a run, not as scores, or leave out --unjudged bounds (and --to-judge)"
            )


def _cases(setup: Setup, plan: Significance, queries: QueryTexts, rules: list[Rule]) -> list[Case]:
    """Every candidate of every matrix, tested alone: all are corrected together later."""
    baseline, runs = setup.options.baselines[0], setup.matrices[0].runs
    rows = [] if is_virtual(baseline) else matching_runs(runs, baseline)
    if len(rows) != 1:
        raise UsageError(f"a gate compares with one run or file, found {baseline!r}")
    name, alone = runs[rows[0]], replace(plan, correction="none", family="column")
    options = replace(setup.options, baselines=(name,), teams=Teams(), significance=alone)
    cases = [
        Case(candidates, queries, row)
        for matrix in setup.matrices
        for candidates in tables(matrix, options, rules)
        for row in range(1, len(candidates.matrix.runs))
    ]
    if not cases:
        raise UsageError(f"no candidate besides the baseline {name}")
    return cases


def _power_notes(verdicts: Sequence[Verdict], detect: float | None) -> Iterator[Note]:
    """Say where a loss of the size asked for would go unseen."""
    for verdict in verdicts:
        seen = verdict.seen_from
        if detect is not None and seen is not None and seen > detect:
            missed = f"{verdict.measure}, {verdict.candidate}: with {verdict.topics} topics losses"
            size = f"in four of five cases from {seen:.2g}; {detect:g} was asked for"
            yield Note("low-power", f"{missed} are detected {size}")
