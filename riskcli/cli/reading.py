"""The options that say what is read, each declared once; a group arrives as one object.

Which files, which judgements, and how scores are made of them. An option fills the field of its
name in the library's `Rules`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from riskcli.cli import types
from riskcli.cli.option import Reach, Section, argument, option, options, own_option
from riskcli.cli.settings import take_settings
from riskcli.core.choices import OnError, Precision, RunNames, TopicRule, Unjudged
from riskcli.core.limits import MOST_JOBS
from riskcli.core.messages import UsageError
from riskcli.scores.files import INPUT_FORMATS

if TYPE_CHECKING:
    from riskcli.scores.evaluation import Evaluation
    from riskcli.trec.discovery import Folders

NOTHING = Reach.NOTHING
COMMANDLINE = ParameterSource.COMMANDLINE
_most_used = partial(option, heading=Section.MOST_USED)
_comparison = partial(option, heading=Section.COMPARISON)
_input = partial(option, heading=Section.INPUT)
_many_runs = partial(option, heading=Section.MANY_RUNS)
_general = partial(option, heading=Section.GENERAL)


# fmt: off


@dataclass(frozen=True)
class Quiet:
    """Whether notes are printed."""

    quiet: bool = _general(
        "--quiet", is_flag=True, settings=NOTHING,
        help="No notes on stderr (warnings and errors stay).",
    )


@dataclass(frozen=True)
class Files(Quiet):
    """Which files to read, and how."""

    profile: None = _general(
        "--profile", metavar="NAME", shell_complete=types.among(types.profiles), is_eager=True,
        expose_value=False, callback=take_settings,
        help="Also use the settings of this profile of riskeval.toml.",
    )
    config: None = _general(
        "--config", type=types.PATH, metavar="FILE", is_eager=True, expose_value=False,
        callback=take_settings,
        help="Read settings from this file only. [default: riskeval.toml or pyproject.toml, here "
        "or in a parent folder of the repository]",
    )
    runs: tuple[Path, ...] = argument(nargs=-1, required=True, type=types.INPUT)
    judged: tuple[Path, ...] = _most_used(
        "-q", "--qrels", multiple=True, type=types.INPUT, settings=Reach.INPUT,
        help="Judgements, or irds:NAME; several score the runs under each (score, sweep, ...). "
        "[default: ./qrels or RUNS/../qrels]",
    )
    recursive: bool = _input(
        "--recursive", is_flag=True, key_only=True, settings=NOTHING,
        help="Look into the folders of folders, too, as --include with ** does.",
    )
    include: tuple[str, ...] = _input(
        "--include", multiple=True, metavar="GLOB", settings=NOTHING,
        help="Of folders, take only files of such names (or, with a slash, paths), whatever their "
        "ending; with ** in the folders of folders, too. Repeatable.",
    )
    exclude: tuple[str, ...] = _input(
        "--exclude", multiple=True, metavar="GLOB", settings=NOTHING,
        help="Of folders, leave out files of such names or paths; repeatable.",
    )
    run_names: RunNames = _input(
        "--run-names", choice=RunNames, default="auto", settings=NOTHING,
        help="Name runs by their tags or their files (exp1/run where files share a name); auto "
        "takes tags that are distinct. NAME=FILE names a run of RUNS, whatever this says.",
    )
    input_format: str | None = _input(
        "--input-format", type=click.Choice(INPUT_FORMATS), key_only=True, settings=NOTHING,
        help="Format of RUNS; skips detection.",
    )
    max_bytes: int = _input(
        "--max-bytes", type=types.FROM_1, default=16 * 2**30, show_default=False,
        metavar="N", key_only=True, settings=NOTHING,
        help="Largest size that one file may decompress to. [default: 16 GiB]",
    )
    jobs: int | None = _many_runs(
        "--jobs", type=click.IntRange(1, MOST_JOBS), settings=NOTHING,
        help="Number of files to read in parallel. [default: cores]",
    )

    @property
    def qrels(self) -> Path | None:
        """The judgements, where no more than one file of them can be used."""
        if len(self.judged) > 1:
            names = ", ".join(map(str, self.judged))
            raise UsageError(f"one file of judgements at a time here, a call each; found {names}")
        return self.judged[0] if self.judged else None

    @property
    def folders(self) -> "Folders":
        """Which files of folders are taken."""
        from riskcli.trec.discovery import Folders

        deep = self.recursive or any("**" in pattern for pattern in self.include)
        everything = {"**", "**/*"}
        include = tuple(pattern for pattern in self.include if pattern not in everything)
        return Folders(deep, include, self.exclude)


@dataclass(frozen=True)
class Inputs(Files):
    """Which runs and judgements to read, how scores are made of them, and who is who."""

    human: Path | None = _input(
        "--human", type=types.INPUT, metavar="QRELS", settings=Reach.INPUT,
        help="Humans' judgements of some topics, a random part of all: they correct what a "
        "model's (--qrels) say of the others (prediction-powered inference).",
    )
    measures: tuple[str, ...] = _most_used(
        "-m", "--measure", multiple=True, metavar="NAME",
        shell_complete=types.among(types.effectiveness_measures), settings=NOTHING,
        help="Effectiveness measure, repeatable: AP, P@10, map, ... [default: ERR@20, nDCG@20; by "
        "subtopic ERR_IA@20, alpha_nDCG@20]",
    )
    topics: TopicRule = _input(
        "--topics", choice=TopicRule, default="relevant", settings=NOTHING,
        help="Which topics count: those of the qrels with a relevant document, all of the qrels, "
        "or those with a relevant document that every run answers.",
    )
    only_topics: tuple[str, ...] = _input(
        "--only-topics", multiple=True, metavar="LIST", settings=Reach.LISTED_INPUT,
        help="Evaluate only these topics: 151-160,171, a glob, or @FILE that lists them.",
    )
    groups: Path | None = _input(
        "--groups", type=types.INPUT, metavar="FILE", settings=Reach.INPUT,
        help="Groups of topics: a table (TSV, CSV with a header, JSON) of the topic and one or "
        "more groupings, or a file of topics with --group-by.",
    )
    group_by: tuple[str, ...] = _input(
        "--group-by", multiple=True, metavar="NAMES", settings=NOTHING,
        help="Which columns of --groups, or fields of its topics (type, ...), are groupings; "
        "length: by the number of words of the query. [default: all columns of a table]",
    )
    weights: str | None = _input(
        "--weights", metavar="FILE|COLUMN", settings=Reach.NAME_OR_INPUT,
        help="How much each topic counts: a table of topic and weight (TSV, CSV, JSON), or the "
        "name of a column of --groups.",
    )
    max_grade: int | str = _input(
        "--max-grade", type=types.number_or("auto", 60), metavar="N|auto", default=4,
        settings=NOTHING,
        help="Highest grade that ERR expects; auto takes it from the qrels.",
    )
    score_precision: Precision = _input(
        "--score-precision", choice=Precision, default="single", settings=NOTHING,
        help="Precision in which scores tie: single as in trec_eval 9, double as in gdeval.pl.",
    )
    scale: float = _input(
        "--scale", type=types.SIZE, default=1.0, metavar="FACTOR", settings=NOTHING,
        help="Multiply what files of scores hold, not what is scored here: 0.01 for percent.",
    )
    unjudged: Unjudged = _input(
        "--unjudged", choice=Unjudged, default="zero", settings=NOTHING,
        help="Documents that nobody judged: not relevant; that, with the bounds of what they could "
        "change; or (condensed) taken out of each ranking first, as if they were like the judged.",
    )
    on_error: OnError = _input(
        "--on-error", choice=OnError, default="stop", settings=NOTHING,
        help="What to do with a broken run: stop, or leave it out, report it and exit with 1.",
    )
    exit_zero: bool = _input(
        "--exit-zero", is_flag=True, key_only=True, settings=NOTHING,
        help="Exit with 0 even if runs were left out.",
    )
    store: Path | None = _many_runs(
        "--store", type=types.OUTPUT, metavar="FOLDER", settings=Reach.OUTPUT,
        help="Keep scores in this folder, so runs that were scored before are not read again.",
    )
    rehash: bool = _many_runs(
        "--rehash", is_flag=True, key_only=True, settings=NOTHING,
        help="With a store: read every run and identify it by its content, even if its size, "
        "times and inode are unchanged.",
    )
    cluster: str | None = _many_runs(
        "--cluster", metavar="ADDRESS|local:N", envvar="RISKEVAL_CLUSTER",
        help="Read runs on the workers of a Dask scheduler, which is trusted, or in N local "
        "processes. RISKEVAL_SEND=bytes sends runs to workers that cannot read their paths. "
        "[needs the extra `cluster`]",
    )

    teams: Path | str | None = _comparison(
        "--teams", type=types.TEAMS, metavar="FILE|re:REGEX", settings=Reach.PATTERN_OR_INPUT,
        help="CSV with the columns run and team (and name, to show), or a pattern that finds the "
        "team in a run's name (its first group, or the whole match): each team has weight one in "
        "the population, as the mean of its distinct runs.",
    )
    replicates: Path | str | None = _input(
        "--replicates", type=types.REPLICATES, metavar="REGEX|FILE",
        settings=Reach.PATTERN_OR_INPUT,
        help="Runs are replicates of systems (seeds, repeats), which are compared by their means: "
        "a pattern that finds the system in a run's name (its first group, or the whole match; in "
        "settings re:REGEX), or CSV with the columns run and system.",
    )
    anonymise: Path | None = _input(
        "--anonymise", type=types.OUTPUT, metavar="KEY", key_only=True, settings=Reach.OUTPUT,
        never_ignored=True,
        help="Show neutral names; the key to them is written to this file, and used again if the "
        "file exists.",
    )

    @property
    def teams_file(self) -> Path | None:
        """The file that lists the teams."""
        return self.teams if isinstance(self.teams, Path) else None

    @property
    def team_pattern(self) -> str | None:
        """The pattern that finds the team in a run's name."""
        given = self.teams
        return given.removeprefix(types.PATTERN_MARK) if isinstance(given, str) else None

    def evaluate(self, baselines: Sequence[str] = (), checksums: bool = True) -> "Evaluation":
        """Read and score everything, in teams and under the names to show.

        With checksums, where the result's form has them or a population's judgements are compared.
        """
        from riskcli.cli.evaluating import evaluated

        return evaluated(self, baselines, checksums)

    def exit_code(self, skipped: Sequence[object]) -> int:
        """1 where a file was left out, unless 0 was asked for."""
        return 1 if skipped and not self.exit_zero else 0


queries_option = own_option(
    "--queries", type=types.INPUT, metavar="FILE", settings=Reach.INPUT, heading=Section.INPUT,
    help="Show what topics ask, from this file: TREC topics (SGML, XML), id and text a line with a "
    "tab or a colon between, or JSON lines.",
)
"""--queries; the command gets `queries`, the file's place."""

# fmt: on

file_options = options(Files, "files")
"""RUNS, --qrels and how to read them; the command gets `files`."""


def _scored(ctx: click.Context, option: click.Parameter, value: Unjudged) -> Unjudged:
    """`bounds` in a settings file is for other commands, and changes no score."""
    if value == "bounds" and ctx.get_parameter_source(str(option.name)) is COMMANDLINE:
        known = "zero or condensed here; score, topics, check, report and diff have bounds"
        raise click.BadParameter(f"'bounds': expected {known}")
    return "zero" if value == "bounds" else value


_WITHOUT_BOUNDS: dict[str, dict[str, Any]] = {
    "unjudged": {
        "callback": _scored,
        "metavar": "[zero|condensed]",
        "help": "Documents that nobody judged: not relevant; or taken out of each ranking first.",
    }
}
_NO_GROUPS: dict[str, Any] = {"groups": None, "group_by": ()}
_NO_NAMES: dict[str, Any] = {"teams": None, "anonymise": None}
input_options = options(Inputs, "inputs", _WITHOUT_BOUNDS, human=None, **_NO_GROUPS)
"""RUNS, --qrels, --measure, how to score, and who is who; the command gets `inputs`."""
grouped_input_options = options(Inputs, "inputs", _WITHOUT_BOUNDS, human=None)
"""The same for a command that knows groups of topics."""
bounded_input_options = options(Inputs, "inputs", human=None)
"""The same for one that knows what unjudged documents can change, too."""
corrected_input_options = options(Inputs, "inputs")
"""The same for one that corrects differences by humans' judgements, too."""
scoring_options = options(Inputs, "inputs", _WITHOUT_BOUNDS, human=None, **_NO_NAMES, **_NO_GROUPS)
"""RUNS and how to score without teams and other names, for a command that knows none."""
candidate_options = options(Inputs, "inputs", **_NO_NAMES)
"""The same for one that knows groups, what unjudged documents can change, and corrects."""
two_runs_options = options(
    Inputs, "inputs", {"runs": {"metavar": "RUN BASELINE"}}, **_NO_NAMES, **_NO_GROUPS,
    unjudged="bounds", replicates=None, weights=None, human=None,
)  # fmt: skip
"""RUN and BASELINE with their documents, and how to score."""
organising_options = options(
    Inputs, "inputs", _WITHOUT_BOUNDS, on_error="skip", anonymise=None, human=None, **_NO_GROUPS
)
"""The same for a command that leaves out what is broken, and writes to participants by name."""
