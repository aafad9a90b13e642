"""`riskeval score`: the risk table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from riskcli.cli.options import (
    Comparing,
    Inputs,
    Output,
    comparing_options,
    input_options,
    output_options,
)
from riskcli.output.emit import RESULT_FORMATS

if TYPE_CHECKING:
    from riskcli.output.display import Display


@click.command()
@input_options
@comparing_options
@output_options(RESULT_FORMATS)
@click.option(
    "--sort", default="mean", show_default=True, metavar="COLUMN", help="Order of the runs."
)
@click.option("--top", type=click.IntRange(min=1), help="Show only the first N runs.")
@click.option(
    "--precision", type=click.IntRange(0, 15), help="Decimals in the table. [default: by column]"
)
def score(
    inputs: Inputs,
    comparing: Comparing,
    output: Output,
    sort: str,
    top: int | None,
    precision: int | None,
) -> int:
    """Risk table of RUNS (run files, folders of them, or files of scores).

    Prints, for every run, its mean effectiveness, URisk, TRisk, ZRisk and GeoRisk, and which
    differences to the baseline are significant.
    """
    form = output.chosen_format(RESULT_FORMATS)
    from riskcli.cli.notes import tell
    from riskcli.cli.tables import risk_table_of

    table = risk_table_of(inputs, comparing).sorted_by(sort)
    from riskcli.cli.rendering import write

    tell(table.notes, inputs.quiet)
    table = table.top(top) if top else table

    def shown(width: int) -> Sequence[Display]:
        from riskcli.analyses.score.display import displays

        return displays(table, width, precision)

    write(table.result(), shown, form, output.output, **output.words)
    return inputs.exit_code(table.skipped)
