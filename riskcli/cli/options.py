"""Options that commands share: each group is declared once and arrives as one object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from riskcli.cli.alphas import Alphas
from riskcli.cli.asked import AskedAgainst, AskedComparing
from riskcli.cli.asked import Files as Files
from riskcli.cli.completing import baselines
from riskcli.cli.gathering import PATH as PATH
from riskcli.cli.gathering import Command, gathered
from riskcli.cli.inputs import Inputs as Inputs
from riskcli.cli.inputs import file_options as file_options
from riskcli.cli.inputs import input_options as input_options
from riskcli.cli.inputs import organising_options as organising_options
from riskcli.cli.inputs import scoring_options as scoring_options
from riskcli.cli.paths import OUTPUT as OUTPUT
from riskcli.cli.paths import STDIN, is_from_settings
from riskcli.core.choices import (
    DEFAULT_BASELINE,
    Colour,
    Convention,
    Correction,
    Family,
    Loss,
    Pool,
    Test,
    words,
)
from riskcli.output.formats import (
    CSV,
    FORMATS,
    LATEX,
    TABLE,
    Formats,
    OutputFormat,
    RenderOptions,
    chosen,
)

if TYPE_CHECKING:
    from riskcli.scores.comparisons import Options


@dataclass(frozen=True)
class Against(AskedAgainst):
    """What runs are compared with, for those who compute."""

    @property
    def wanted(self) -> tuple[str, ...]:
        """The baselines asked for, or the mean run."""
        return self.baselines or (DEFAULT_BASELINE,)

    def needs_checksums(self, output: Output | None = None) -> bool:
        """Whether inputs need them: for the result's format, or a population in a file."""
        return in_file(self.population) or (output is not None and output.output_format.checksums)

    def options(self, swept: bool = False) -> Options:
        """The library's options.

        Where alphas are `swept` they belong to the linear loss, whatever else is shown beside it.
        """
        # Late: help and wrong options need no numpy.
        from riskcli.cli.comparing import options_of

        return options_of(self, swept)


@dataclass(frozen=True)
class Comparing(Against, AskedComparing):
    """The same, and how it is tested."""


def in_file(population: Sequence[str]) -> bool:
    """Whether it is kept in a file, whose judgements are compared with those at hand."""
    return any(Path(name).is_file() for name in population)


def _read_from_stdin(
    _ctx: click.Context, _option: click.Parameter, names: tuple[str, ...]
) -> tuple[str, ...]:
    return tuple(STDIN if name == "-" else name for name in names)


def _alpha_option(default: str) -> Callable[[Command], Command]:
    return click.option(
        "-a",
        "--alpha",
        "alphas",
        multiple=True,
        type=Alphas(),
        help=f"Losses count 1 + alpha times: 1 or 0,5,10 or 0:20:5. [default: {default}]",
    )


ALPHA = _alpha_option("1")


def gamma_option(of_intervals: str = ".") -> Callable[[Command], Command]:
    """--gamma; its help ends with what is said of intervals."""
    return click.option(
        "--gamma",
        type=float,
        default=0.05,
        show_default=True,
        help=f"Significance level of the tests{of_intervals}",
    )


def _not_that_of_tables(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    """`all` in a settings file is for tables of all runs; given to two runs it is an error."""
    return () if value == ("all",) and is_from_settings(param, ctx) else value


def population_of_two(whose: str) -> Callable[[Command], Command]:
    """`--population`, where two runs are compared whatever others there are."""
    return click.option(
        "--population",
        multiple=True,
        metavar="baselines|FILE",
        callback=_not_that_of_tables,
        help=f"Whose totals {whose}, or a population kept in a file (riskeval population freeze). "
        "[default: baselines]",
    )


POOL: Callable[[Command], Command] = click.option(
    "--pool",
    type=click.Choice(words(Pool)),
    default="mean",
    show_default=True,
    help=(
        "How a set of baselines becomes one score per topic; each: compare with every one "
        "in turn, and average."
    ),
)
_AGAINST_OPTIONS: list[Callable[[Command], Command]] = [
    click.option(
        "-b",
        "--baseline",
        "baselines",
        multiple=True,
        callback=_read_from_stdin,
        metavar="NAME",
        shell_complete=baselines,
        help="What runs are compared with: a run's name, a glob, a run file (or NAME=FILE), or one "
        "of @mean, @median, @max, @min. Repeat it for a set. [default: @mean]",
    ),
    ALPHA,
    click.option(
        "--alpha-hat",
        "alpha_hats",
        multiple=True,
        type=Alphas(least=1),
        help="The same as 1 + alpha, with --convention minus.",
    ),
    click.option(
        "--loss",
        type=click.Choice(words(Loss)),
        default="linear",
        show_default=True,
        help="How much a gain or loss counts: losses 1 + alpha times, or a smooth cubic (ECIR'20) "
        "as published or fitted to the given differences.",
    ),
    click.option(
        "--convention",
        type=click.Choice(words(Convention)),
        default="plain",
        show_default=True,
        help="minus turns the signs of the risk measures: higher is riskier (ECIR'20).",
    ),
    POOL,
    click.option(
        "--population",
        multiple=True,
        metavar="all|baselines|FILE",
        help=(
            "Runs whose totals give the expected scores of ZRisk and GeoRisk: all; the "
            "named baselines and the run itself; or a population from a file (riskeval "
            "population freeze). [default: "
            "all; baselines where two or more are named]"
        ),
    ),
    gamma_option("; confidence intervals have level 1 - gamma."),
]
_TEST_OPTIONS: list[Callable[[Command], Command]] = [
    click.option(
        "--test",
        type=click.Choice(words(Test)),
        default="jackknife",
        show_default=True,
        help="Test of ZRisk and GeoRisk: delete-one-topic jackknife, or label swaps "
        "(against a single run).",
    ),
    click.option(
        "--correction",
        type=click.Choice(words(Correction)),
        default="holm",
        show_default=True,
        help="Correction of p-values for the number of tests.",
    ),
    click.option(
        "--family",
        type=click.Choice(words(Family)),
        default="column",
        show_default=True,
        help="Tests that are corrected together: those of one column, or of the whole table.",
    ),
    click.option(
        "--swaps", type=int, default=9999, show_default=True, help="Replicates of --test swap."
    ),
    click.option(
        "--seed", type=int, default=20161, show_default=True, help="Random seed of --test swap."
    ),
]


def comparing_options(command: Command) -> Command:
    """--baseline, --alpha and how to test; the command gets `comparing`."""
    return gathered(command, "comparing", Comparing, [*_AGAINST_OPTIONS, *_TEST_OPTIONS])


def against_options(command: Command) -> Command:
    """--baseline, --alpha and how losses count; the command gets `against`."""
    return gathered(command, "against", Against, _AGAINST_OPTIONS)


def against_options_with_alpha(default: str) -> Callable[[Command], Command]:
    """The same where no alpha means something other than 1."""
    own = [_alpha_option(default) if option is ALPHA else option for option in _AGAINST_OPTIONS]
    return partial(gathered, name="against", group=Against, options=own)


@dataclass(frozen=True)
class Output:
    """In which format the result leaves, and where to."""

    format: str | None
    output: Path | None
    caption: str | None = None
    label: str | None = None
    csv_safe: bool = False
    no_legend: bool = False
    siunitx: bool = False
    color: Colour = "auto"
    known: Formats = FORMATS
    """The formats that the result has."""
    for_people: bool = False
    """Whether it is a table in a pipe, too."""

    def __post_init__(self) -> None:
        _ = self.output_format  # a suffix that tells no format is an error before any work is done

    @property
    def output_format(self) -> OutputFormat:
        """The format given, that of the file's suffix, or the one that suits stdout."""
        return chosen(self.format, self.output, self.known, self.for_people)

    @property
    def render_options(self) -> RenderOptions:
        """What is asked of the format besides."""
        return RenderOptions(
            self.caption,
            self.label,
            self.csv_safe,
            legend=not self.no_legend,
            siunitx=self.siunitx,
            in_file=self.output is not None,
        )


PIPED = "table on a terminal, tsv in a pipe"


def format_option(formats: Formats, default: str) -> Callable[[Command], Command]:
    """--format, of which `default` says what is taken where it is not given."""
    return click.option(
        "-f",
        "--format",
        type=click.Choice([format.name for format in formats]),
        help=f"Output format. [default: {default}]",
    )


def output_options(
    formats: Formats = FORMATS, for_people: bool = False
) -> Callable[[Command], Command]:
    """--format, --output and what suits the formats; the command gets `output`.

    A result `for_people`, as a verdict is, is a table in a pipe too.
    """
    piped = "table" if for_people else PIPED
    options: list[Callable[[Command], Command]] = [
        format_option(formats, f"by the file's suffix; {piped}"),
        click.option(
            "-o", "--output", type=OUTPUT, help="Write to this file; an existing file is replaced."
        ),
    ]
    if TABLE in formats:
        options.append(_COLOUR)
    if CSV in formats:
        options.append(_CSV_SAFE)
    if LATEX in formats:
        options += _CAPTION_OPTIONS
    return lambda command: gathered(
        command, "output", Output, options, known=formats, for_people=for_people
    )


_COLOUR = click.option(
    "--color",
    type=click.Choice(words(Colour)),
    default="auto",
    show_default=True,
    help="Colour in tables; auto: on a terminal, or where FORCE_COLOR is set, but never where "
    "NO_COLOR is.",
)
_CSV_SAFE = click.option(
    "--csv-safe",
    is_flag=True,
    help="Put ' before names in CSV and TSV that a spreadsheet would take for a formula.",
)
_CAPTION_OPTIONS = [
    click.option("--no-legend", is_flag=True, help="No explanations below tables."),
    click.option(
        "--caption",
        metavar="TEXT",
        help="Title of the table, in place of its own; $...$ is mathematics in latex.",
    ),
    click.option("--label", metavar="NAME", help="Label of the table (latex, html)."),
    click.option(
        "--siunitx", is_flag=True, help="Align numbers in latex with siunitx, at the decimal point."
    ),
]
