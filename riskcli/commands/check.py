"""`riskeval check`: the gate."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from riskcli.analyses.check.rules import POLICIES
from riskcli.analyses.check.verdict import FORMATS
from riskcli.cli import options
from riskcli.cli.option import (
    Function,
    Reach,
    Section,
    command,
    one_option,
    own_option,
)
from riskcli.cli.option import options as option_group
from riskcli.cli.reading import Inputs, candidate_options, queries_option
from riskcli.cli.types import FROM_0, INPUT, SIZE, among, baselines
from riskcli.commands import trouble_with_the_machine
from riskcli.core import stopping
from riskcli.core.choices import Correction, Inconclusive, OtherJudgements
from riskcli.core.messages import RiskevalError, UsageError
from riskcli.output.formats import OutputFormat, named

if TYPE_CHECKING:
    from riskcli.analyses.check.ratchet_file import RatchetFile
    from riskcli.analyses.check.verdict import Gate
    from riskcli.scores.evaluation import Evaluation


def _report(value: object) -> tuple[OutputFormat, Path]:
    """FORMAT=FILE."""
    name, _, file = str(value).partition("=")
    if not file:
        raise click.BadParameter(f"{value!r} is not FORMAT=FILE")
    try:
        return named(name, FORMATS), Path(file)
    except UsageError as error:
        raise click.BadParameter(str(error)) from error


def _sha256(value: object) -> str:
    """64 hexadecimal digits."""
    digest = str(value).lower()
    if re.fullmatch("[0-9a-f]{64}", digest) is None:
        raise click.BadParameter(f"{value!r} is not a SHA-256: 64 hexadecimal digits")
    return digest


def _margin(value: object) -> tuple[str, float]:
    """SIZE, or MEASURE=SIZE."""
    measure, _, size = str(value).rpartition("=")
    try:
        return measure or "mean", float(size)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is not a number, or MEASURE=NUMBER") from error


def _reporting(function: Function) -> Function:
    """Let every report that is asked for say why the call fails; the error goes on."""

    @wraps(function)
    def told(**given: Any) -> Any:
        try:
            if stopping.crash:
                raise RiskevalError(stopping.crash)
            return function(**given)
        except BrokenPipeError:  # the reader of stdout has seen enough
            raise
        except Exception as error:
            from riskcli.analyses.check.files import tell_refusal  # late, as below

            sentence = trouble_with_the_machine(error) or f"{type(error).__name__}: {error}"
            told = error if isinstance(error, RiskevalError) else RiskevalError(sentence)
            tell_refusal(told, given)
            raise

    return told


def _tell_unparsed(error: Exception, words: Sequence[str]) -> None:
    """The same where the command line cannot be parsed: its reports are those that it names.

    A file of -o is left alone: the shell may have made it of `*.csv`. Any other word may be an
    input, which no report replaces.
    """
    from riskcli.analyses.check.files import tell_refusal  # late, as below

    reports, others = [], []
    for before, word in pairwise(["", *words]):
        value = word if before == _REPORT else word.removeprefix(f"{_REPORT}=")
        if before != _REPORT and value == word:
            others += [word, word.partition("=")[2]]
            continue
        with suppress(click.BadParameter):
            reports.append(_report(value))
    message = error.format_message() if isinstance(error, click.ClickException) else str(error)
    told = error if isinstance(error, RiskevalError) else UsageError(message)
    tell_refusal(told, {"reports": reports, "runs": others, "output": None, "format": None})


def _with_bounds(inputs: Inputs, pool: Path | None) -> Inputs:
    """The same where what judgements could turn is known, if that is asked for."""
    if pool is None:
        return inputs
    if inputs.unjudged == "condensed":
        raise UsageError("--to-judge needs --unjudged bounds, found condensed: nothing is open")
    return replace(inputs, unjudged="bounds")


def _judged(
    inputs: Inputs,
    kept: options.Ratcheting,
    gamma: float,
    against: tuple[Any, ...],
    allow: Path | None,
    how: dict[str, Any],
) -> "tuple[Gate, Evaluation, str, RatchetFile | None]":
    """The verdict, the scores it is of, the baseline's name, and the ratchet where there is one."""
    from riskcli.analyses.check import files, gate
    from riskcli.analyses.check.kept import with_baseline

    plan = kept.plan(gamma)
    if kept.ratchet is None:
        evaluation, name = with_baseline(inputs, *against)
        evaluation, how["allow"] = files.allowing(evaluation, allow)
        return gate.judge(evaluation, name, **how), evaluation, name, None
    from riskcli.analyses.check.ratchet_file import with_ratchet  # most calls have none

    ratchet = with_ratchet(inputs, kept.ratchet, plan, *against)
    evaluation, how["allow"] = files.allowing(ratchet.evaluation, allow)
    ratchet = replace(ratchet, evaluation=evaluation)
    return ratchet.judged(kept.new_anchor, **how), evaluation, ratchet.baseline, ratchet


_REPORT = "--report"


@command(
    _reporting, candidate_options, queries_option, options.output_options(FORMATS, for_people=True)
)
@own_option(
    "-b", "--baseline", "baselines", multiple=True, metavar="NAME|[NAME=]FILE",
    shell_complete=baselines, settings=Reach.NAME_OR_INPUT, heading=Section.MOST_USED,
    help="What candidates are compared with: a run of RUNS, a run file, or a file that `riskeval "
    "matrix` wrote.",
)  # fmt: skip
@options.population_of_two("GeoRisk and ZRisk expect scores from: the baseline and the candidate")
@own_option(
    "--policy", shell_complete=among(lambda: POLICIES), default="standard", metavar="NAME",
    settings=Reach.NOTHING,
    help="lenient: the mean is not significantly lower; standard: nor is GeoRisk; strict: nor do "
    "losses weighted ×2 outweigh gains, and no topic loses over 0.3; none: --require alone.",
)  # fmt: skip
@own_option(
    "--require", "rules", multiple=True, metavar="RULE", settings=Reach.LISTED_INPUT,
    help="A rule of your own, repeatable, such as 'losses20 <= 5' (`riskeval help rules`); @FILE: "
    "one a line.",
)  # fmt: skip
@own_option(
    "--allow", "allow", type=INPUT, metavar="FILE", settings=Reach.INPUT,
    help="Known losers, a TOML file: topics that may lose until a day, and why.",
)  # fmt: skip
@options.one_alpha("Losses count 1 + alpha times, where a rule does not say otherwise (urisk@5).")
@own_option(
    "--margin", "margins", multiple=True, type=_margin, metavar="[MEASURE=]SIZE",
    settings=Reach.NOTHING,
    help="The loss that is accepted: 0.02 (of the mean) or georisk=0.01. A test then passes only "
    "if a larger loss can be ruled out. Repeatable.",
)  # fmt: skip
@own_option(
    "--inconclusive", choice=Inconclusive, settings=Reach.NOTHING, heading=Section.TESTS,
    help="What an inconclusive verdict counts as. [default: neither, exit code 3]",
)  # fmt: skip
@own_option(
    "--repeats", is_flag=True, settings=Reach.NOTHING, heading=Section.TESTS,
    help="RUNS are repeats of one pipeline that gives something else each time: one candidate, "
    "their mean. A topic counts as lost beyond their noise only.",
)  # fmt: skip
@options.gamma_option()
@one_option(
    options.Comparing, "correction", help="Correction over the policy's tests and all candidates."
)
@own_option(
    "--detect", type=SIZE, metavar="SIZE", settings=Reach.NOTHING,
    help="Warn where a loss of the mean of this size is missed.",
)  # fmt: skip
@own_option(
    "--top", type=FROM_0, default=3, settings=Reach.NOTHING, help="Number of topics to list.",
)  # fmt: skip
@own_option(
    "--run", "names", multiple=True, metavar="NAME", settings=Reach.NOTHING,
    help="Show every rule for this candidate or glob.",
)  # fmt: skip
@options.full_option("every rule for every candidate")
@own_option(
    _REPORT, "reports", multiple=True, type=_report, metavar="FORMAT=FILE",
    settings=Reach.REPORT,
    help="Write the verdict to a file too, repeatable: junit=out.xml, markdown=summary.md.",
)  # fmt: skip
@own_option(
    "--baseline-sha256", "pin", type=_sha256, metavar="HEX", settings=Reach.NOTHING,
    heading=Section.INPUT,
    help="Refuse a baseline file of another SHA-256, by its bytes or the hash that it states.",
)  # fmt: skip
@own_option(
    "--other-judgements", choice=OtherJudgements, default="refuse", settings=Reach.NOTHING,
    heading=Section.INPUT,
    help="Scores kept from other judgements are an error (refuse), or compared with a warning in "
    "every report.",
)  # fmt: skip
@option_group(options.Ratcheting, "kept")
@options.to_judge_option("open verdicts", " Implies --unjudged bounds.")
def check(
    inputs: Inputs,
    queries: Path | None,
    output: options.Output,
    baselines: tuple[str, ...],
    population: tuple[str, ...],
    policy: str,
    rules: tuple[str, ...],
    allow: Path | None,
    alpha: float,
    margins: tuple[tuple[str, float], ...],
    inconclusive: Inconclusive | None,
    repeats: bool,
    gamma: float,
    correction: Correction,
    detect: float | None,
    top: int,
    names: tuple[str, ...],
    full: bool,
    reports: tuple[tuple[OutputFormat, Path], ...],
    pin: str | None,
    other_judgements: OtherJudgements,
    kept: options.Ratcheting,
    pool: Path | None,
) -> int:
    """A gate for CI: do the candidates RUNS hold up against a baseline?

    Exits with 0 where every candidate passes, 1 where one fails, 2 for wrong input, 3 where none
    fails but one is not decided. Without --margin a pass says only that no loss is significant. A
    rule on TRisk or URisk at alpha above 0 is broken by equal systems, too.
    """
    # Late: numpy and scipy are for those who compute.
    from riskcli.analyses.check import files
    from riskcli.cli.evaluating import frozen_population, queries_in
    from riskcli.risk.estimate import Significance

    inputs = _with_bounds(inputs, pool)
    parsed = [rule for text in rules for rule in files.rules_of_option(text)]
    how: dict[str, Any] = {
        "policy": policy, "rules": parsed, "alpha": alpha, "margin": dict(margins) or None,
        "significance": Significance(gamma=gamma, correction=correction),
        "population": frozen_population(population), "inconclusive": inconclusive,
        "detect": detect, "worst": top, "queries": queries_in(queries, inputs),
    }  # fmt: skip
    against = (baselines, pin, other_judgements, repeats)
    judged, evaluation, name, ratchet = _judged(inputs, kept, gamma, against, allow, how)
    judged = files.documented(judged, evaluation, inputs, [output.output_format, *dict(reports)])
    shown = judged.of_runs(names)  # errors before anything is written
    options.tell(judged.notes, inputs.quiet)
    files.publish(judged, reports)
    options.write(shown, output, full)
    notes = [] if pool is None else [files.write_pool(judged, evaluation, name, pool)]
    notes += [] if ratchet is None else [ratchet.update(judged)]
    options.tell(notes, inputs.quiet)
    return inputs.exit_code(judged.skipped) or judged.exit_code


check.tell_refusal = _tell_unparsed
check.one_of = ("baselines", "ratchet")
