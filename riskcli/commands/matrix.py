"""`riskeval matrix`: the score matrix."""

from __future__ import annotations

import click

from riskcli.analyses.matrix import FORMATS
from riskcli.cli.conclude import conclude
from riskcli.cli.helping import GroupedCommand
from riskcli.cli.options import Inputs, Output, input_options, output_options


@click.command(cls=GroupedCommand)
@input_options
@output_options(FORMATS)
@click.option("--long", is_flag=True, help="One row per score: run, topic, measure, score.")
def matrix(inputs: Inputs, output: Output, long: bool) -> int:
    """The run × topic matrix of RUNS: one row per run, one column per topic, full precision.

    One measure per table; several, as those of the defaults, make one row per score (--long). The
    output can be given in place of RUNS to every other command.
    """
    # Late: numpy and scipy are for those who compute.
    from riskcli.analyses.matrix import Matrices

    evaluation = inputs.evaluate(checksums=output.output_format.checksums)
    long = long or (not inputs.measures and len(evaluation.matrices) > 1)
    matrices = Matrices(evaluation.matrices, long, provenance=evaluation.provenance)
    return conclude(matrices, inputs, output)
