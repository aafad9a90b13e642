"""The options that say how runs are compared and how the result leaves, and how a command ends.

A group of options arrives as one object; an option fills the field of its name in the library's
`Options` or `Significance`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from riskcli.cli.option import Decorator, Reach, Section, one_option, option, options, own_option
from riskcli.cli.reading import Inputs
from riskcli.cli.types import FROM_1, OUTPUT, SHARE, STDIN, alphas, baselines
from riskcli.core import choices
from riskcli.core.choices import Colour, Convention, Correction, Family, Loss, Pool, Test
from riskcli.core.limits import MOST_ALPHA
from riskcli.core.messages import Note, UsageError
from riskcli.output import formats
from riskcli.output.escape import all_visible, without_controls
from riskcli.output.overwriting import refuse_to_replace

if TYPE_CHECKING:
    from riskcli.scores.comparisons import Options

NOTHING = Reach.NOTHING
PIPED = "table on a terminal, tsv in a pipe"
_most_used = partial(option, heading=Section.MOST_USED)
_comparison = partial(option, heading=Section.COMPARISON)
_tests = partial(option, heading=Section.TESTS)
_ratchet = partial(option, heading=Section.RATCHET)
_tables = partial(option, heading=Section.TABLES)


def _read_from_stdin(
    _ctx: click.Context, _option: click.Parameter, names: tuple[str, ...]
) -> tuple[str, ...]:
    return tuple(STDIN if name == "-" else name for name in names)


# fmt: off


@dataclass(frozen=True)
class Against:
    """What runs are compared with, and how gains and losses count."""

    baselines: tuple[str, ...] = _most_used(
        "-b", "--baseline", multiple=True, callback=_read_from_stdin, metavar="NAME",
        shell_complete=baselines, settings=Reach.NAME_OR_INPUT,
        help="Compare with: a run's name, a glob, a run file (or NAME=FILE), @mean, @median, @max "
        "or @min. Repeat it for a set. [default: @mean]",
    )
    alphas: tuple[tuple[float, ...], ...] = _most_used(
        "-a", "--alpha", multiple=True, type=alphas, metavar="LIST", settings=NOTHING,
        help="Losses count 1 + alpha times: 1 or 0,5,10 or 0:20:5. With --convention minus they "
        "count alpha times. [default: 1]",
    )
    loss: Loss = _comparison(
        "--loss", choice=Loss, default="linear", settings=NOTHING,
        help="How much a gain or loss counts: losses 1 + alpha times, or a smooth cubic (ECIR'20) "
        "as published or fitted to the given differences.",
    )
    convention: Convention = _comparison(
        "--convention", choice=Convention, default="plain", settings=NOTHING,
        help="minus turns the signs of the risk measures: higher is riskier (ECIR'20); "
        "minus-printed takes its Eq. 8 for GeoRisk to the letter (score alone).",
    )
    pool: Pool = _comparison(
        "--pool", choice=Pool, default="mean", settings=NOTHING,
        help="How a set of baselines becomes one score per topic; each: compare with every one "
        "in turn, and average.",
    )
    population: tuple[str, ...] = _comparison(
        "--population", multiple=True, metavar="all|baselines|FILE", settings=Reach.NAME_OR_INPUT,
        help="Runs whose totals give the expected scores of ZRisk and GeoRisk: all; the named "
        "baselines and the run itself; or a population from a file (riskeval population freeze). "
        "[default: all; baselines where two or more are named]",
    )
    gamma: float = _tests(
        "--gamma", type=float, default=0.05, settings=NOTHING,
        help="Significance level of the tests; confidence intervals have level 1 - gamma.",
    )

    @property
    def wanted(self) -> tuple[str, ...]:
        """The baselines asked for, or the mean run."""
        return self.baselines or (choices.DEFAULT_BASELINE,)

    def needs_checksums(self, output: Output | None = None) -> bool:
        """Whether inputs need them: for the result's format, or a population in a file."""
        in_file = any(Path(name).is_file() for name in self.population)
        return in_file or (output is not None and output.output_format.checksums)

    def options(self, swept: bool = False) -> Options:
        """The library's options.

        Where alphas are `swept` they belong to the linear loss, whatever else is shown beside it.
        """
        from riskcli.cli.evaluating import options_of

        return options_of(self, swept)


@dataclass(frozen=True)
class Ratcheting:
    """What keeps many small losses from adding up."""

    ratchet: Path | None = _most_used(
        "--ratchet", type=OUTPUT, metavar="FILE", settings=Reach.OUTPUT,
        help="In place of --baseline: the run accepted last, kept in FILE, which the first call "
        "makes. What all changes lose together is tested on topics that no verdict uses.",
    )
    audit: float | None = _ratchet(
        "--audit", type=SHARE, metavar="SHARE", settings=NOTHING,
        help="The share of the topics that no verdict uses. [default: 0.5]",
    )
    looks: int | None = _ratchet(
        "--looks", type=FROM_1, settings=NOTHING,
        help="How many tests on these topics share the significance level; then it takes a new "
        "anchor. [default: 10]",
    )
    look_every: int | None = _ratchet(
        "--look-every", type=FROM_1, metavar="N", settings=NOTHING,
        help="Test every N accepted candidates what they lost together. [default: 10]",
    )
    new_anchor: bool = _ratchet(
        "--new-anchor", is_flag=True,
        help="Count what is lost from this candidate on, if it passes: after a release, or to "
        "take a loss knowingly.",
    )

    def plan(self, gamma: float) -> dict[str, float]:
        """What is asked for beside the file."""
        given = {"audit": self.audit, "looks": self.looks, "look_every": self.look_every}
        asked = {name: value for name, value in given.items() if value is not None}
        if self.ratchet is None and (asked or self.new_anchor):
            raise UsageError("--audit, --looks, --look-every and --new-anchor need --ratchet FILE")
        return {**asked, "gamma": gamma}


@dataclass(frozen=True)
class Comparing(Against):
    """The same, and how it is tested."""

    test: Test = _tests(
        "--test", choice=Test, default="jackknife", key_only=True, settings=NOTHING,
        help="Test of ZRisk and GeoRisk: delete-one-topic jackknife, or label swaps "
        "(against a single run).",
    )
    correction: Correction = _tests(
        "--correction", choice=Correction, default="holm", settings=NOTHING,
        help="Correction of p-values for the number of tests.",
    )
    family: Family = _tests(
        "--family", choice=Family, default="column", key_only=True, settings=NOTHING,
        help="Tests that are corrected together: those of one column, or of the whole table.",
    )
    swaps: int = _tests(
        "--swaps", type=int, default=9999, key_only=True,
        settings=NOTHING,
        help="Replicates of the test by swaps.",
    )
    seed: int = _tests(
        "--seed", type=int, default=20161, key_only=True,
        settings=NOTHING,
        help="Random seed of tests that swap or shuffle.",
    )


@dataclass(frozen=True)
class Output:
    """In which format the result leaves, and where to."""

    format: str | None = _most_used("-f", "--format", settings=NOTHING)
    output: Path | None = _most_used(
        "-o", "--output", type=OUTPUT, settings=Reach.OUTPUT,
        help="Write to this file; an existing result is replaced, an input never.",
    )
    color: Colour = _tables(
        "--color", choice=Colour, default="auto", key_only=True, settings=NOTHING,
        help="Colour in tables; auto: on a terminal, or where FORCE_COLOR is set, but never where "
        "NO_COLOR is.",
    )
    csv_safe: bool = _tables(
        "--csv-safe", is_flag=True, key_only=True, settings=NOTHING,
        help="Put ' before names in CSV and TSV that a spreadsheet would take for a formula.",
    )
    no_legend: bool = _tables(
        "--no-legend", is_flag=True, key_only=True, settings=NOTHING,
        help="No explanations below tables.",
    )
    caption: str | None = _tables(
        "--caption", metavar="TEXT", key_only=True, settings=NOTHING,
        help="Title of the table, in place of its own; $...$ is mathematics in latex.",
    )
    label: str | None = _tables(
        "--label", metavar="NAME", key_only=True, settings=NOTHING,
        help="Label of the table (latex, html).",
    )
    siunitx: bool = _tables(
        "--siunitx", is_flag=True, key_only=True, settings=NOTHING,
        help="Align numbers in latex with siunitx, at the decimal point.",
    )
    known: formats.Formats = formats.FORMATS
    """The formats that the result has."""
    for_people: bool = False
    """Whether it is a table in a pipe, too."""

    # fmt: on

    def __post_init__(self) -> None:
        if str(self.output) == formats.STDOUT:
            object.__setattr__(self, "output", None)
        # What is wrong with the output is an error before any work is done.
        _ = self.output_format
        if self.output is not None:
            refuse_to_replace(self.output)

    @property
    def output_format(self) -> formats.OutputFormat:
        """The format given, that of the file's suffix, or the one that suits stdout."""
        return formats.chosen(self.format, self.output, self.known, self.for_people)

    @property
    def render_options(self) -> formats.RenderOptions:
        """What is asked of the format besides."""
        options = formats.RenderOptions(
            self.caption, self.label, self.csv_safe, not self.no_legend, self.siunitx
        )
        if self.output is None and self.output_format is formats.TABLE:
            return replace(options, width=_terminal_width(), colour=_colour_wanted(self.color))
        return replace(options, in_file=self.output is not None)


comparing_options = options(Comparing, "comparing")
"""--baseline, --alpha and how to test; the command gets `comparing`."""
against_options = options(Against, "against")
"""--baseline, --alpha and how losses count; the command gets `against`."""


def against_options_with_alpha(meaning: str) -> Decorator:
    """The same for a command in which --alpha means something else."""
    return options(Against, "against", {"alphas": {"help": meaning}})


def one_alpha(meaning: str) -> Decorator:
    """--alpha of a command that takes a single one."""
    one = click.FloatRange(0, MOST_ALPHA)
    return own_option(
        "-a", "--alpha", type=one, default=1.0, heading=Section.MOST_USED, settings=NOTHING,
        help=meaning,
    )  # fmt: skip


def full_option(what: str = "all tables", in_files: bool = True) -> Decorator:
    """--full of a command that answers on one screen; `what` is what it prints besides.

    The command gets `full`, for `conclude` and `write`.
    """
    return own_option(
        "--full", is_flag=True, settings=NOTHING,
        help=f"Print {what}, not only one screen."
        + (" Files and other formats have all anyway." if in_files else ""),
    )  # fmt: skip


def _not_an_input(
    _ctx: click.Context, _option: click.Parameter, file: Path | None
) -> Path | None:
    """Refused before any work is done, as that of --output is."""
    if file is not None:
        refuse_to_replace(file)
    return file


def to_judge_option(what: str, more: str = "") -> Decorator:
    """--to-judge of a command in which unjudged documents leave something open."""
    return own_option(
        "--to-judge", "pool", type=OUTPUT, metavar="FILE", settings=Reach.OUTPUT,
        callback=_not_an_input,
        help=f"Write the unjudged documents that would settle {what}, the most decisive first, as "
        f"a pool.{more}",
    )  # fmt: skip


def gamma_option() -> Decorator:
    """--gamma of a command that compares pairs of runs."""
    return one_option(Against, "gamma", help="Significance level of the tests.")


def population_of_two(whose: str) -> Decorator:
    """`--population`, where two runs are compared whatever others there are."""

    def not_that_of_tables(
        ctx: click.Context, option: click.Parameter, value: tuple[str, ...]
    ) -> tuple[str, ...]:
        """`all` in a settings file is for tables of all runs; given to two runs it is an error."""
        source = ctx.get_parameter_source(str(option.name))
        return () if value == ("all",) and source is ParameterSource.DEFAULT_MAP else value

    of_two = (
        f"Whose totals {whose}, or a population kept in a file (riskeval population freeze). "
        "[default: baselines]"
    )
    changed = {"metavar": "baselines|FILE", "callback": not_that_of_tables, "help": of_two}
    return one_option(Against, "population", **changed)


def _format_words(known: formats.Formats, default: str) -> dict[str, Any]:
    """What --format is among these, of which `default` says which is taken without it."""
    names = click.Choice([format.name for format in known])
    return {"type": names, "help": f"Output format. [default: {default}]"}


def format_option() -> Decorator:
    """--format of a command that decides itself where the result goes."""
    return one_option(Output, "format", **_format_words(formats.FORMATS, PIPED))


def output_options(
    known: formats.Formats = formats.FORMATS, for_people: bool = False
) -> Decorator:
    """--format, --output and how tables are laid out; the command gets `output`.

    A result `for_people`, as a verdict is, is a table in a pipe too.
    """
    default = f"by the file's suffix; {'table' if for_people else PIPED}"
    instead = {"format": _format_words(known, default)}
    return options(Output, "output", instead, known=known, for_people=for_people)


# How a command ends: notes to stderr, the result to stdout or a file, and the exit code.


def conclude(
    analysis: formats.Analysis, inputs: Inputs, output: Output, full: bool = False
) -> int:
    """Tell the notes, write the result, and give the exit code; `full` as of `write`."""
    tell(analysis.notes, inputs.quiet)
    write(analysis, output, full)
    return inputs.exit_code(analysis.skipped)


def tell(notes: Iterable[Note], quiet: bool) -> None:
    """Print each note once; `quiet` leaves the warnings."""
    lines = [
        f"{'warning' if note.warning else 'note'}: {note.message}"
        for note in dict.fromkeys(notes)
        if note.warning or not quiet
    ]
    for line in all_visible(lines):
        click.echo(line, err=True)


def write(source: Any, output: Output, full: bool = False) -> None:
    """The result in the format asked for, to the file or to stdout; `full`: all of its tables."""
    format = output.output_format
    content = format.render(source, replace(output.render_options, full=full))
    if output.output is None and sys.stdout.isatty():
        if isinstance(content, bytes):
            raise UsageError(f"{format.name} is not for terminals: name a file with --output")
        # A table's colours pass; names reach a terminal without their control characters.
        content = content if format is formats.TABLE else without_controls(content)
    formats.emit(content, output.output)


def _terminal_width() -> int:
    """That of COLUMNS, else of the terminal that stdout is; 80 where neither tells one."""
    with suppress(ValueError):
        if (asked := int(os.environ.get("COLUMNS", ""))) > 0:
            return asked
    with suppress(AttributeError, ValueError, OSError):
        return os.get_terminal_size(sys.stdout.fileno()).columns or formats.TERMINAL_WIDTH
    return formats.TERMINAL_WIDTH


def _colour_wanted(asked: Colour) -> bool:
    """As asked; else as the environment has it; else on a terminal that is not dumb."""
    if asked != "auto":
        return asked == "always"
    if os.environ.get("NO_COLOR"):
        return False
    forced = (os.environ.get(name, "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE"))
    if any(value not in ("", "0") for value in forced):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
