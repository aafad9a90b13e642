"""`riskeval explain`: how one number came about."""

from __future__ import annotations

import click

from riskcli.cli.completing import among, risk_measures, runs
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


@click.command(cls=GroupedCommand)
@input_options
@comparing_options
@output_options()
@click.option(
    "--run", required=True, metavar="NAME", shell_complete=runs, help="The run to explain."
)
@click.option(
    "--of",
    shell_complete=among(risk_measures),
    default="georisk",
    show_default=True,
    help="The risk measure to explain.",
)
@click.option(
    "--worst", type=click.IntRange(min=0), default=5, show_default=True, help="Topics to show."
)
def explain(
    inputs: Inputs, comparing: Comparing, output: Output, run: str, of: str, worst: int
) -> int:
    """How one run's value and significance mark were computed.

    Prints the totals, the test with statistic, degrees of freedom, p and correction, and the
    topics that cost the run most. One effectiveness measure at a time: that of --measure, or the
    first of the defaults.
    """
    # Late: numpy and scipy are for those who compute.
    from riskcli.analyses.explain import explain_run

    evaluation = inputs.evaluate(comparing.wanted, comparing.needs_checksums(output))
    explanation = explain_run(
        evaluation if inputs.measures else evaluation.of_first_measure(),
        run=run,
        of=of,
        worst=worst,
        options=comparing.options(),
    )
    return conclude(explanation, inputs, output)
