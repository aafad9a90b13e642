"""`riskeval agree`: how far rankings agree."""

from __future__ import annotations

import click

from riskcli.cli.completing import among, risk_measures
from riskcli.cli.conclude import conclude
from riskcli.cli.helping import GroupedCommand
from riskcli.cli.options import (
    Against,
    Inputs,
    Output,
    against_options,
    input_options,
    output_options,
)


@click.command(cls=GroupedCommand)
@input_options
@against_options
@output_options()
@click.option(
    "--of",
    multiple=True,
    metavar="MEASURE",
    shell_complete=among(risk_measures),
    help="Rankings by mean, urisk, ... [default: all]",
)
@click.option(
    "--persistence", type=float, default=0.9, show_default=True, help="RBO's persistence."
)
@click.option("--depth", type=click.IntRange(min=1), help="RBO of the first N runs. [default: all]")
def agree(
    inputs: Inputs,
    against: Against,
    output: Output,
    of: tuple[str, ...],
    persistence: float,
    depth: int | None,
) -> int:
    """How far rankings of RUNS agree: by mean, URisk, TRisk, ZRisk and GeoRisk.

    Compares them across the effectiveness measures too, and with --loss smooth across loss
    functions: Kendall's tau_b, the AP correlation tau_AP, and rank-biased overlap (RBO).
    """
    # Late: numpy and scipy are for those who compute.
    from riskcli.analyses.sweep_measure import ranking_agreement

    agreement = ranking_agreement(
        inputs.evaluate(against.wanted, against.needs_checksums(output)),
        of=of,
        persistence=persistence,
        depth=depth,
        options=against.options(swept=True),
    )
    return conclude(agreement, inputs, output)
