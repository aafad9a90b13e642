"""`riskeval significance`: which runs differ from which."""

from __future__ import annotations

from dataclasses import replace

import click

from riskcli.cli.completing import among, risk_measures
from riskcli.cli.conclude import conclude
from riskcli.cli.helping import GroupedCommand
from riskcli.cli.options import (
    Comparing,
    Inputs,
    Output,
    comparing_options,
    input_options,
    output_options,
)
from riskcli.core.choices import Between, words


@click.command(cls=GroupedCommand)
@input_options
@comparing_options
@output_options()
@click.option(
    "--of",
    multiple=True,
    shell_complete=among(risk_measures),
    default=("mean", "georisk"),
    show_default=True,
    help="What is compared: mean, zrisk or georisk. Repeatable.",
)
@click.option(
    "--between",
    type=click.Choice(words(Between)),
    help="All pairs of runs, or each run with the baseline. [default: all, or baseline with -b]",
)
@click.option(
    "--tukey", is_flag=True, help="Compare means by the randomised Tukey HSD (--swaps, --seed)."
)
@click.option("--matrix", is_flag=True, help="Show all differences, even of more than 15 runs.")
def significance(
    inputs: Inputs,
    comparing: Comparing,
    output: Output,
    of: tuple[str, ...],
    between: Between | None,
    tukey: bool,
    matrix: bool,
) -> int:
    """Which of RUNS differ: all pairs of them, or each from the baseline.

    Prints the differences with their intervals and corrected p-values, and letters: runs that
    share one are not significantly different.
    """
    # Late: numpy and scipy are for those who compute.
    from riskcli.analyses.significance import compare_pairs

    tables = compare_pairs(
        inputs.evaluate(comparing.wanted, comparing.needs_checksums(output)),
        of=of,
        between=between,
        options=comparing.options(),
        tukey=tukey,
    )
    return conclude(replace(tables, in_full=matrix), inputs, output)
