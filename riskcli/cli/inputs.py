"""Options that say what is read: which files, which judgements, and how scores are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from riskcli.cli.asked import AskedInputs, Files
from riskcli.cli.completing import among, effectiveness_measures, profiles
from riskcli.cli.configuration import take_settings
from riskcli.cli.gathering import PATH, Command, gathered
from riskcli.cli.paths import INPUT, OUTPUT
from riskcli.core.choices import OnError, Precision, RunNames, Sending, TopicRule, words
from riskcli.core.limits import MOST_JOBS
from riskcli.scores.files import INPUT_FORMATS

if TYPE_CHECKING:
    from riskcli.scores.evaluation import Evaluation


@dataclass(frozen=True)
class Inputs(AskedInputs):
    """Which runs and judgements to read, for those who score them."""

    def evaluate(self, baselines: Sequence[str] = (), checksums: bool = True) -> Evaluation:
        """Read and score everything, in teams and under the names to show.

        With checksums where the format has them or a population's judgements are compared.
        """
        # Late: help and wrong options need neither numpy nor readers.
        from riskcli.cli.evaluating import evaluated

        return evaluated(self, baselines, checksums)

    def exit_code(self, skipped: Sequence[object]) -> int:
        """1 where a file was left out, unless 0 was asked for."""
        return 1 if skipped and not self.exit_zero else 0


class _MaxGrade(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    name = "N|auto"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        text = str(value)
        if text != "auto" and not (text.isdecimal() and 1 <= int(text) <= 60):
            self.fail(f"{text!r} is neither a whole number from 1 to 60 nor auto", param, ctx)
        return text


def _take_settings(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    take_settings(ctx, option, value)


_WHICH = [
    click.option(
        "--profile",
        metavar="NAME",
        shell_complete=among(profiles),
        is_eager=True,
        expose_value=False,
        callback=_take_settings,
        help="Also use the settings of this profile of riskeval.toml.",
    ),
    click.option(
        "--config",
        type=PATH,
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=_take_settings,
        help="Read settings from this file only. [default: riskeval.toml or pyproject.toml, here "
        "or in a parent folder of the repository]",
    ),
    click.argument("runs", nargs=-1, required=True, type=INPUT),
    click.option(
        "-q",
        "--qrels",
        "judged",
        multiple=True,
        type=INPUT,
        help="Judgements, or irds:NAME; several score the runs under each (score, sweep, ...). "
        "[default: ./qrels or RUNS/../qrels]",
    ),
]
_SCORING = [
    click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        metavar="NAME",
        shell_complete=among(effectiveness_measures),
        help="Effectiveness measure, repeatable: ERR@20, nDCG@20, AP, P@10, map, ... "
        "[default: ERR@20 and nDCG@20]",
    ),
    click.option(
        "--topics",
        type=click.Choice(words(TopicRule)),
        default="relevant",
        show_default=True,
        help="Which topics count: those of the qrels with a relevant document, all of the qrels, "
        "or those with a relevant document that every run answers.",
    ),
    click.option(
        "--only-topics",
        multiple=True,
        metavar="LIST",
        help="Evaluate only these topics: 151-160,171, a glob, or @FILE that lists them.",
    ),
    click.option(
        "--max-grade",
        type=_MaxGrade(),
        default="4",
        show_default=True,
        help="Highest grade that ERR expects; auto takes it from the qrels.",
    ),
    click.option(
        "--score-precision",
        type=click.Choice(words(Precision)),
        default="single",
        show_default=True,
        help="Precision in which scores tie: single as in trec_eval 9, double as in gdeval.pl.",
    ),
]
_ON_ERROR = click.option(
    "--on-error",
    type=click.Choice(words(OnError)),
    default="stop",
    show_default=True,
    help="What to do with a broken run: stop, or leave it out, report it and exit with 1.",
)
_EXIT_ZERO = click.option(
    "--exit-zero", is_flag=True, help="Exit with 0 even if runs were left out."
)
_BROKEN = [_ON_ERROR, _EXIT_ZERO]
_TEAMS = [
    click.option(
        "--teams",
        type=INPUT,
        metavar="FILE",
        help=(
            "CSV with the columns run and team (and name, to show): each team has weight "
            "one in the population, as the mean of its distinct runs."
        ),
    ),
    click.option(
        "--team-of",
        metavar="REGEX",
        help="Pattern that finds the team in a run's name: its first group, or the whole match.",
    ),
]
_ANONYMISE = click.option(
    "--anonymise",
    type=OUTPUT,
    metavar="KEY",
    help=(
        "Show neutral names; the key to them is written to this file, and used again if the "
        "file exists."
    ),
)
QUIET = click.option("--quiet", is_flag=True, help="No notes on stderr (warnings and errors stay).")
_READING = [
    click.option("--recursive", is_flag=True, help="Look into the folders of folders, too."),
    click.option(
        "--include",
        multiple=True,
        metavar="GLOB",
        help="Of folders, take only files of such names (or, with a slash, paths), whatever their "
        "ending; repeatable.",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="GLOB",
        help="Of folders, leave out files of such names or paths; repeatable.",
    ),
    click.option(
        "--run-names",
        type=click.Choice(words(RunNames)),
        default="auto",
        show_default=True,
        help="Name runs by their tags or their files (exp1/run where files share a name); auto "
        "takes tags that are distinct. NAME=FILE names a run of RUNS, whatever this says.",
    ),
    click.option(
        "--input-format",
        type=click.Choice(INPUT_FORMATS),
        help="Format of RUNS; skips detection.",
    ),
    click.option(
        "--max-bytes",
        type=click.IntRange(min=1),
        default=16 * 2**30,
        metavar="N",
        help="Largest size that one file may decompress to. [default: 16 GiB]",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(1, MOST_JOBS),
        help="Number of files to read in parallel. [default: cores]",
    ),
    QUIET,
]

_MEANS = [
    click.option(
        "--store",
        type=OUTPUT,
        metavar="FOLDER",
        help="Keep scores in this folder, so runs that were scored before are not read again.",
    ),
    click.option(
        "--rehash",
        is_flag=True,
        help=(
            "With --store: read every run and identify it by its content, even if its size, "
            "times and inode are unchanged."
        ),
    ),
    click.option(
        "--cluster",
        metavar="ADDRESS|local:N",
        help=(
            "Read runs on the workers of a Dask scheduler, or in N local processes. [needs "
            "the extra "
            "`cluster`]"
        ),
    ),
    click.option(
        "--send",
        type=click.Choice(words(Sending)),
        help=(
            "What to send to a worker: a run's path, which the worker must be able to read, "
            "or its bytes. "
            "[default: paths]"
        ),
    ),
]


def scoring_options(command: Command) -> Command:
    """The same without teams and other names, for a command that knows none."""
    return gathered(command, "inputs", Inputs, [*_WHICH, *_SCORING, *_BROKEN, *_READING, *_MEANS])


def input_options(command: Command) -> Command:
    """RUNS, --qrels, --measure, how to score, and who is who; the command gets `inputs`."""
    options = [*_WHICH, *_SCORING, *_BROKEN, *_TEAMS, _ANONYMISE, *_READING, *_MEANS]
    return gathered(command, "inputs", Inputs, options)


def organising_options(command: Command) -> Command:
    """The same for a command that leaves out what is broken, and writes to participants by name."""
    options = [*_WHICH, *_SCORING, _EXIT_ZERO, *_TEAMS, *_READING, *_MEANS]
    return gathered(command, "inputs", Inputs, options, on_error="skip")


def file_options(command: Command) -> Command:
    """RUNS, --qrels and how to read them; the command gets `files`."""
    return gathered(command, "files", Files, [*_WHICH, *_READING])
