"""`riskeval explain`: how one number came about."""

from __future__ import annotations

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


@click.command()
@input_options
@comparing_options
@output_options(RESULT_FORMATS)
@click.option("--run", required=True, metavar="NAME", help="The run to explain.")
@click.option("--of", default="georisk", show_default=True, help="The risk measure to explain.")
@click.option(
    "--worst", type=click.IntRange(min=0), default=5, show_default=True, help="Topics to show."
)
def explain(
    inputs: Inputs, comparing: Comparing, output: Output, run: str, of: str, worst: int
) -> int:
    """How one run's number and flag came about.

    Prints the totals, the test with statistic, degrees of freedom, p and correction, and the
    topics that cost the run most. One effectiveness measure at a time (--measure).
    """
    form = output.chosen_format(RESULT_FORMATS)
    from riskcli.analyses.explain.analysis import explain_run
    from riskcli.cli.notes import tell
    from riskcli.cli.rendering import write
    from riskcli.cli.tables import default_baseline_note
    from riskcli.scores.evaluation import based_on, single_matrix

    evaluation = inputs.evaluate(comparing.wanted)
    options = comparing.options(evaluation.added)
    found = explain_run(single_matrix(evaluation), run, of, options, worst)
    found = based_on(found, evaluation, default_baseline_note(comparing))
    tell(found.notes, inputs.quiet)
    write(found.result(), found.displays, form, output.output, **output.words)
    return inputs.exit_code(evaluation.skipped)
