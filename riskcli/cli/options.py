"""The options that say how runs are compared and how the result leaves, each declared once.

A group of options arrives as one object; an option fills the field of its name in the library's
`Options` or `Significance`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from riskcli.cli.option import Function, Reach, Section, one_option, option, options, own_option
from riskcli.cli.types import OUTPUT, STDIN, Alphas, baselines
from riskcli.core.choices import (
    DEFAULT_BASELINE,
    Colour,
    Convention,
    Correction,
    Family,
    Loss,
    Pool,
    Test,
)
from riskcli.core.limits import MOST_ALPHA
from riskcli.output.formats import FORMATS, Formats, OutputFormat, RenderOptions, chosen

if TYPE_CHECKING:
    from riskcli.scores.comparisons import Options

NOTHING = Reach.NOTHING
PIPED = "table on a terminal, tsv in a pipe"
_most_used = partial(option, heading=Section.MOST_USED)
_comparison = partial(option, heading=Section.COMPARISON)
_tests = partial(option, heading=Section.TESTS)
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
        help="What runs are compared with: a run's name, a glob, a run file (or NAME=FILE), or one "
        "of @mean, @median, @max, @min. Repeat it for a set. [default: @mean]",
    )
    alphas: tuple[tuple[float, ...], ...] = _most_used(
        "-a", "--alpha", multiple=True, type=Alphas(), settings=NOTHING,
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
        help="minus turns the signs of the risk measures: higher is riskier (ECIR'20).",
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
        "--gamma", type=float, default=0.05, show_default=True, settings=NOTHING,
        help="Significance level of the tests; confidence intervals have level 1 - gamma.",
    )

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
        from riskcli.cli.evaluating import options_of

        return options_of(self, swept)


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
        "--swaps", type=int, default=9999, show_default=True, key_only=True,
        settings=NOTHING,
        help="Replicates of the test by swaps.",
    )
    seed: int = _tests(
        "--seed", type=int, default=20161, show_default=True, key_only=True,
        settings=NOTHING,
        help="Random seed of tests that swap or shuffle.",
    )


# fmt: on
comparing_options = options(Comparing, "comparing")
"""--baseline, --alpha and how to test; the command gets `comparing`."""
against_options = options(Against, "against")
"""--baseline, --alpha and how losses count; the command gets `against`."""


def against_options_with_alpha(meaning: str) -> Callable[[Function], Function]:
    """The same for a command in which --alpha means something else."""
    return options(Against, "against", {"alphas": {"help": meaning}})


def in_file(population: Sequence[str]) -> bool:
    """Whether it is kept in a file, whose judgements are compared with those at hand."""
    return any(Path(name).is_file() for name in population)


def one_alpha(meaning: str) -> Callable[[Function], Function]:
    """--alpha of a command that takes a single one."""
    return own_option(
        "-a",
        "--alpha",
        type=click.FloatRange(0, MOST_ALPHA),
        default=1.0,
        show_default=True,
        heading=Section.MOST_USED,
        settings=NOTHING,
        help=meaning,
    )


def gamma_option() -> Callable[[Function], Function]:
    """--gamma of a command that compares pairs of runs."""
    return one_option(Against, "gamma", help="Significance level of the tests.")


def _not_that_of_tables(
    ctx: click.Context, option: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    """`all` in a settings file is for tables of all runs; given to two runs it is an error."""
    source = ctx.get_parameter_source(str(option.name))
    from_settings = source is ParameterSource.DEFAULT_MAP
    return () if value == ("all",) and from_settings else value


def population_of_two(whose: str) -> Callable[[Function], Function]:
    """`--population`, where two runs are compared whatever others there are."""
    return one_option(
        Against,
        "population",
        metavar="baselines|FILE",
        callback=_not_that_of_tables,
        help=f"Whose totals {whose}, or a population kept in a file (riskeval population freeze). "
        "[default: baselines]",
    )


# fmt: off


@dataclass(frozen=True)
class Output:
    """In which format the result leaves, and where to."""

    format: str | None
    output: Path | None
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


# fmt: on


def format_option(
    formats: Formats, default: str, field: str = "format"
) -> Callable[[Function], Function]:
    """--format, of which `default` says what is taken where it is not given."""
    return own_option(
        "-f",
        "--format",
        field,
        type=click.Choice([format.name for format in formats]),
        heading=Section.MOST_USED,
        settings=NOTHING,
        help=f"Output format. [default: {default}]",
    )


def output_option(help: str, **declared: Any) -> Callable[[Function], Function]:  # noqa: A002
    """--output, of which `help` says what is written."""
    return own_option(
        "-o",
        "--output",
        type=OUTPUT,
        heading=Section.MOST_USED,
        settings=Reach.OUTPUT,
        help=help,
        **declared,
    )


def output_options(
    formats: Formats = FORMATS, for_people: bool = False
) -> Callable[[Function], Function]:
    """--format, --output and how tables are laid out; the command gets `output`.

    A result `for_people`, as a verdict is, is a table in a pipe too.
    """
    piped = "table" if for_people else PIPED
    gathered = partial(options, Output, "output", known=formats, for_people=for_people)

    def decorate(command: Function) -> Function:
        command = gathered()(command)
        command = output_option("Write to this file; an existing file is replaced.")(command)
        return format_option(formats, f"by the file's suffix; {piped}")(command)

    return decorate
