"""What a gate reads and writes beside runs: rules, baselines kept in files, reports, a summary."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from riskcli.analyses.check import refusal, verdict
from riskcli.analyses.check.allow import KnownLoser, read_allowed
from riskcli.analyses.check.case import column_quantities
from riskcli.analyses.check.rules import COMPARISONS, POLICIES, TOPIC_QUANTITIES, Rule, parse_rule
from riskcli.analyses.check.verdict import Gate
from riskcli.analyses.to_judge import to_judge
from riskcli.cli.reading import Inputs
from riskcli.core.files import LIST_MARK, listed_in
from riskcli.core.inputs import note_input
from riskcli.core.messages import InputError, Note, RiskevalError, UsageError
from riskcli.output.formats import IN_FILE, STDOUT, OutputFormat, chosen, emit
from riskcli.output.measure_words import meaning_of
from riskcli.output.problems import ELSEWHERE
from riskcli.scores.evaluation import Evaluation
from riskcli.trec.names import named_place


def rules_of_option(text: str) -> list[Rule]:
    """The rule that `text` spells, or those of the file behind @: a rule a line."""
    if not text.startswith(LIST_MARK):
        return [parse_rule(text)]
    path = Path(text.removeprefix(LIST_MARK))
    rules = []
    for number, rule in listed_in(path, "rule"):
        try:
            rules.append(parse_rule(rule))
        except UsageError as error:
            raise InputError(path, "bad-rule", str(error), number) from error
    return rules


def allowing(scores: Evaluation, file: Path | None) -> tuple[Evaluation, list[KnownLoser]]:
    """The exceptions of a file, which is then one of the inputs."""
    if file is None:
        return scores, []
    allowed, read = read_allowed(file)
    provenance = replace(scores.provenance, inputs=(*scores.inputs, read))
    return replace(scores, provenance=provenance), allowed


def write_pool(gate: Gate, evaluation: Evaluation, baseline: str, file: Path) -> Note:
    """Write the documents whose judging would settle what is open; a note says how many."""
    wanted = to_judge(evaluation, baseline, gate=gate)
    wanted.write(file)
    return wanted.note(file)


# Where a verdict goes: stdout or a file, further reports, and GitHub's job summary.


def publish(gate: Gate, reports: Iterable[tuple[OutputFormat, Path]]) -> None:
    """Write every report, and the job summary under GitHub Actions."""
    for format, file in reports:
        emit(format.render(gate, IN_FILE), file)
    if _summary():
        _summarise(str(verdict.COMMENT.render(gate)))


def documented(
    gate: Gate, evaluation: Evaluation, inputs: Inputs, wanted: Sequence[OutputFormat]
) -> Gate:
    """With what became of documents, where a comment on the only candidate is wanted."""
    if not gate.single or not (verdict.COMMENT in wanted or _summary()):
        return gate
    from riskcli.analyses.check import comment  # late: it loads what compares documents

    return replace(gate, documents=comment.documents(gate.verdicts[0], evaluation, inputs))


_LISTS = ("runs", "judged", "baselines", "population", "rules", "only_topics")
_FILES = ("queries", "replicates", "groups", "weights", "human", "allow", "ratchet")
"""Options that name an input; the last is a ratchet's."""


def tell_refusal(error: RiskevalError, given: Mapping[str, Any]) -> None:
    """Let every report asked for, and the job summary, say that nothing was judged, and why.

    Nothing that the options name as an input is replaced, even if it was not read yet. On stdout
    only CI services are told: others see the exit code, and no result.
    """
    several = (text for name in _LISTS for text in given.get(name, ()))
    texts = [*several, *(given[name] for name in _FILES if given.get(name) is not None)]
    note_input(*(named_place(str(text).removeprefix(LIST_MARK))[1] for text in texts))
    runs = (str(named_place(str(run))[1]) for run in given.get("runs", ()))
    place = next(filter(os.path.isfile, runs), ELSEWHERE)
    reports, told = list(given["reports"]), refusal.Refusal.of(error, place)
    with suppress(RiskevalError):
        output = None if str(given["output"]) == STDOUT else given["output"]
        format = chosen(given["format"], output, verdict.FORMATS, for_people=True)
        reports.append((format, output))
    for format, file in reports:
        with suppress(RiskevalError):  # the first error is the one to be told
            content = told.in_format(format, to_file=file is not None)
            if content is not None:
                emit(content, file)
    with suppress(RiskevalError):
        _summarise(refusal.as_markdown(told.problems))


def _summary() -> str:
    """The file of the job's summary under GitHub Actions; elsewhere there is none."""
    is_job = os.environ.get("GITHUB_ACTIONS") == "true"
    return os.environ.get("GITHUB_STEP_SUMMARY", "") if is_job else ""


def _summarise(text: str) -> None:
    """Add to the job's summary, on a line of its own."""
    if not (summary := _summary()):
        return
    try:  # other steps of the job write to the summary as well: it is added to, not replaced
        with Path(summary).open("a", encoding="utf-8") as stream:
            stream.write("\n" + text)
    except OSError as error:
        raise InputError(summary, "cannot-write", error.strerror or str(error)) from error


def rules_help() -> str:
    """What a rule can be made of."""
    quantities = [(column.name, meaning_of(column)) for column in column_quantities()]
    quantities += [(quantity.spelled, quantity.meaning) for quantity in TOPIC_QUANTITIES]
    policies = [(policy.name, policy.meaning) for policy in POLICIES.values()]
    return "\n".join([
        "RULE = QUANTITY COMPARISON BOUND, as in: urisk@5 > -0.01", "",
        f"COMPARISON: {' '.join(COMPARISONS)}",
        "BOUND: a number, 5%, baseline, baseline - 0.005, 0.98 * baseline; for flags:",
        "       better, worse, none. `baseline` is the same quantity of the baseline.",
        "GROUPS of topics (--groups): urisk@5[tail] > 0, mean_diff[type=tail] > 0; every group:",
        "       worst_group(mean_diff) >= -0.03",
        "QUANTITY, with @ALPHA where it depends on alpha:",
        *(f"  {name:18} {meaning}" for name, meaning in quantities),
        "", "Policies:",
        *(f"  {name:18} {meaning}" for name, meaning in policies),
    ])  # fmt: skip
