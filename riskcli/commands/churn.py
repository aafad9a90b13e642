"""`riskeval churn`: how far the rankings themselves moved."""

from __future__ import annotations

import click

from riskcli.cli.completing import baselines
from riskcli.cli.help import GroupedCommand
from riskcli.cli.options import Output, output_options
from riskcli.cli.output import conclude
from riskcli.cli.progress import on_terminal
from riskcli.cli.reading import Inputs, scoring_options


@click.command(cls=GroupedCommand)
@scoring_options
@output_options()
@click.option(
    "-b",
    "--baseline",
    metavar="NAME",
    required=True,
    shell_complete=baselines,
    help="The run, or the run file, whose rankings the others are compared with.",
)
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    help="Compare the first N documents of each ranking. [default: all]",
)
@click.option(
    "--at",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Overlap of the first N documents.",
)
@click.option(
    "--persistence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    show_default=True,
    help="RBO's persistence.",
)
def churn(
    inputs: Inputs,
    output: Output,
    baseline: str,
    depth: int | None,
    at: int,
    persistence: float,
) -> int:
    """How far the rankings of RUNS are from the baseline's, and what the moves brought.

    Users notice that results change, even where they are no worse: the churn of SIGIR'12. Prints
    Kendall's distance, rank-biased overlap and the overlap of the top, and by tenths of the
    distance (its Figure 5) the topics, their reward and their risk.
    """
    # Late: numpy and scipy are for those who compute.
    from riskcli.analyses.churn import churn_table

    evaluation = inputs.evaluate((baseline,), output.output_format.checksums)
    with on_terminal(inputs.quiet) as progress:
        table = churn_table(
            evaluation,
            baseline,
            depth=depth,
            at=at,
            persistence=persistence,
            jobs=inputs.jobs,
            max_bytes=inputs.max_bytes,
            progress=progress,
        )
    return conclude(table, inputs, output)
