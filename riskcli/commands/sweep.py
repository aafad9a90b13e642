"""`riskeval sweep`: the verdict over a range of alpha."""

from __future__ import annotations

from dataclasses import replace

import click

from riskcli.cli.completing import among, risk_measures, runs
from riskcli.cli.conclude import conclude
from riskcli.cli.helping import GroupedCommand
from riskcli.cli.options import (
    Against,
    Inputs,
    Output,
    against_options_with_alpha,
    input_options,
    output_options,
)
from riskcli.core.choices import SweepPart, words


@click.command(cls=GroupedCommand)
@input_options
@against_options_with_alpha("0:20")
@output_options()
@click.option(
    "--between",
    nargs=2,
    metavar="RUN RUN",
    shell_complete=runs,
    help="Only these two runs; ranks are still those among all runs.",
)
@click.option(
    "--of",
    multiple=True,
    metavar="MEASURE",
    shell_complete=among(risk_measures),
    help="List events of urisk, trisk, ... only.",
)
@click.option(
    "--part",
    type=click.Choice(words(SweepPart)),
    help="The values by alpha, or what changes. [default: a table shows both, tsv and csv the "
    "series]",
)
@click.option("--top", type=click.IntRange(min=1), help="Events that a table shows. [default: 30]")
def sweep(
    inputs: Inputs,
    against: Against,
    output: Output,
    between: tuple[str, str] | None,
    of: tuple[str, ...],
    part: SweepPart | None,
    top: int | None,
) -> int:
    """How the verdict on RUNS depends on alpha (0 to 20, or --alpha).

    Prints the exact alpha at which two runs swap places by URisk, TRisk, ZRisk or GeoRisk, at
    which a run's URisk turns negative, and at which its TRisk becomes or stops being significant;
    then every measure of every run over the range.
    """
    # Late: numpy and scipy are for those who compute.
    from riskcli.analyses.sweep_alpha import DEFAULT_ALPHAS, alpha_sweep

    evaluation = inputs.evaluate(against.wanted, against.needs_checksums(output))
    options = against.options(swept=True)
    if not against.alphas and not against.alpha_hats:
        options = replace(options, alphas=DEFAULT_ALPHAS)
    sweep = alpha_sweep(evaluation, between=between or (), of=of, options=options)
    return conclude(sweep.only(part, top), inputs, output)
