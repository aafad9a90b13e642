"""`riskeval score`: the risk table."""

from __future__ import annotations

from collections.abc import Iterable

import click

from riskcli.cli.completing import among
from riskcli.cli.conclude import conclude
from riskcli.cli.options import (
    Comparing,
    Inputs,
    Output,
    comparing_options,
    input_options,
    output_options,
)
from riskcli.core.choices import words
from riskcli.core.parallel import importing
from riskcli.output.display import Marks


def _columns() -> Iterable[str]:
    # Late, here and below: only a shell that completes needs it.
    from riskcli.analyses.score.columns import column_names

    return column_names()


def _sortable() -> Iterable[str]:
    from riskcli.analyses.score.analysis import sortable_columns

    return sortable_columns()


@click.command()
@input_options
@comparing_options
@output_options()
@click.option(
    "--sort",
    shell_complete=among(_sortable),
    default="mean",
    show_default=True,
    metavar="COLUMN",
    help="Order of the runs: run, mean, georisk, losses, ...; -losses: the other way round.",
)
@click.option("--top", type=click.IntRange(min=1), help="Show only the first N runs.")
@click.option("--best-per-team", is_flag=True, help="Show only each team's best run by --sort.")
@click.option(
    "--columns",
    shell_complete=among(_columns),
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
    with importing(_computing):
        evaluation = inputs.evaluate(comparing.wanted, comparing.needs_checksums(output))
    # Late: numpy and scipy are for those who compute.
    from riskcli.analyses.score.analysis import risk_table
    from riskcli.analyses.score.columns import Layout

    table = risk_table(evaluation, options=comparing.options()).sorted_by(sort)
    table = table.best_per_team() if best_per_team else table
    table = table.top(top) if top else table
    chosen = tuple(name.strip() for name in columns.split(",")) if columns else ()
    table = table.laid_out(Layout(chosen, not no_ranks, marks, precision))
    return conclude(table, inputs, output)


def _computing() -> None:
    """Import what is needed once the files are read."""
    import riskcli.analyses.score.analysis  # noqa: F401
