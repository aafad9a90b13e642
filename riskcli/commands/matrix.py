"""`riskeval matrix`: the score matrix."""

from riskcli.cli.option import Reach, command, options, own_option
from riskcli.cli.options import Output, conclude, output_options
from riskcli.cli.reading import Inputs
from riskcli.output.formats import MATRIX_FORMATS


@command(
    options(Inputs, "inputs", {"anonymise": {"key_only": False}}, weights=None, human=None,
            groups=None, group_by=()),
    output_options(MATRIX_FORMATS),
)  # fmt: skip
@own_option(
    "--long", is_flag=True, settings=Reach.NOTHING,
    help="One row per score: run, topic, measure, score.",
)  # fmt: skip
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
