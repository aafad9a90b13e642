"""`riskeval explain`: how one number came about."""

from pathlib import Path

from riskcli.cli.option import Reach, command, own_option
from riskcli.cli.options import Comparing, Output, comparing_options, conclude, output_options
from riskcli.cli.reading import Inputs, input_options, queries_option
from riskcli.cli.types import FROM_0, among, risk_measures, runs


@command(input_options, queries_option, comparing_options, output_options())
@own_option(
    "--run", required=True, metavar="NAME", shell_complete=runs, settings=Reach.NOTHING,
    help="The run to explain.",
)  # fmt: skip
@own_option(
    "--of", shell_complete=among(risk_measures), settings=Reach.NOTHING,
    help="The risk measure to explain. [default: georisk]",
)  # fmt: skip
@own_option("--top", type=FROM_0, default=5, settings=Reach.NOTHING, help="Topics to show.")
def explain(
    inputs: Inputs,
    queries: Path | None,
    comparing: Comparing,
    output: Output,
    run: str,
    of: str | None,
    top: int,
) -> int:
    """How one run's value and significance mark were computed.

    Prints the totals, the test with statistic, degrees of freedom, p and correction, and the
    topics that cost the run most. One effectiveness measure at a time: that of --measure, or the
    first of the defaults.
    """
    # Late: numpy and scipy are for those who compute.
    from riskcli.analyses.explain import explain_run
    from riskcli.cli.evaluating import queries_in

    _ = inputs.qrels  # one judge at a time
    texts = queries_in(queries, inputs)
    evaluation = inputs.evaluate(comparing.wanted, comparing.needs_checksums(output))
    explanation = explain_run(
        evaluation if inputs.measures else evaluation.of_first_measure(),
        run=run,
        of=of,
        worst=top,
        options=comparing.options(),
        queries=texts,
    )
    return conclude(explanation, inputs, output)
