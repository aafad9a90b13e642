"""`riskeval score`: the risk table."""

from __future__ import annotations

from types import ModuleType

import click

from riskcli.cli.completing import among
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
from riskcli.core.choices import Marks, words
from riskcli.core.parallel import importing


def _analysis() -> ModuleType:
    """Loaded late: help and wrong options need neither numpy nor scipy."""
    from riskcli.analyses import score as analysis

    return analysis


@click.command(cls=GroupedCommand)
@input_options
@comparing_options
@output_options()
@click.option(
    "--sort",
    shell_complete=among(lambda: _analysis().sortable_columns()),
    default="mean",
    show_default=True,
    metavar="COLUMN",
    help="Order of the runs: run, mean, georisk, losses, ...; -losses reverses it.",
)
@click.option("--top", type=click.IntRange(min=1), help="Show only the first N runs.")
@click.option("--best-per-team", is_flag=True, help="Show only each team's best run by --sort.")
@click.option(
    "--columns",
    shell_complete=among(lambda: _analysis().column_names()),
    metavar="NAMES",
    help="One table of these columns for all measures and alphas: mean, georisk, mean_p_adj, "
    "georisk_interval, wtl, ...",
)
@click.option("--no-ranks", is_flag=True, help="No ranks in the table.")
@click.option(
    "--marks",
    type=click.Choice(words(Marks)),
    help="How significance is marked. [default: arrows; daggers in latex]",
)
@click.option(
    "--precision", type=click.IntRange(0, 15), help="Decimals in the table. [default: by column]"
)
def score(
    inputs: Inputs,
    comparing: Comparing,
    output: Output,
    sort: str,
    top: int | None,
    columns: str | None,
    no_ranks: bool,
    marks: Marks | None,
    best_per_team: bool,
    precision: int | None,
) -> int:
    """Risk table of RUNS (run files, folders of them, or files of scores).

    Prints, for every run, its mean effectiveness, URisk, TRisk, ZRisk and GeoRisk, and which
    differences to the baseline are significant.
    """
    with importing(_analysis):
        evaluation = inputs.evaluate(comparing.wanted, comparing.needs_checksums(output))
    from riskcli.analyses.score import risk_table  # late, as above

    table = risk_table(evaluation, options=comparing.options()).sorted_by(sort)
    table = table.best_per_team() if best_per_team else table
    table = table.top(top) if top else table
    chosen = tuple(name.strip() for name in columns.split(",")) if columns else ()
    shown = table.laid_out(chosen, ranks=not no_ranks, marks=marks, precision=precision)
    return conclude(shown, inputs, output)
