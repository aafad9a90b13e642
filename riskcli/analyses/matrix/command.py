"""`riskeval matrix`: the score matrix."""

from __future__ import annotations

import click

from riskcli.cli.conclude import tell
from riskcli.cli.options import Inputs, Output, input_options, output_options

FORMATS = ("csv", "tsv", "json", "parquet")


@click.command()
@input_options
@output_options(FORMATS)
@click.option("--long", is_flag=True, help="A row a score: run, topic, measure, score.")
def matrix(inputs: Inputs, output: Output, long: bool) -> int:
    """The run × topic matrix of RUNS: a row a run, a column a topic, full precision.

    One measure a call, or several with --long. What it writes can stand in place of RUNS in every
    other command.
    """
    from riskcli.analyses.matrix.formats import write_matrices
    from riskcli.output.emit import emit_rows

    form = output.chosen_format(FORMATS)
    evaluation = inputs.evaluate(form=form)
    tell(evaluation.notes, inputs.quiet)
    emit_rows(write_matrices(evaluation, form, long, output.csv_safe), output.output)
    return inputs.exit_code(evaluation.skipped)
