"""`riskeval bias`: how far the verdict depends on the baseline."""

from __future__ import annotations

from pathlib import Path

import click

from riskcli.cli.alphas import Alphas
from riskcli.cli.completing import among, risk_measures
from riskcli.cli.conclude import conclude
from riskcli.cli.gathering import NotInSettings
from riskcli.cli.helping import GroupedCommand
from riskcli.cli.options import Inputs, Output, input_options, output_options
from riskcli.cli.paths import INPUT
from riskcli.core.choices import BiasPart, words
from riskcli.core.messages import UsageError


@click.command(cls=GroupedCommand)
@input_options
@output_options()
@click.option(
    "-a",
    "--alpha",
    type=Alphas(),
    default="10",
    show_default=True,
    help="Losses count 1 + alpha times.",
)
@click.option(
    "--part",
    type=click.Choice(words(BiasPart)),
    help="One of the tables. [default: a table shows all, tsv and csv urisk]",
)
@click.option(
    "--components",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Principal components.",
)
@click.option(
    "--population",
    cls=NotInSettings,
    is_flag=True,
    help="How far ZRisk and GeoRisk depend on who takes part, in place of the baseline.",
)
@click.option(
    "--frozen",
    type=INPUT,
    metavar="FILE",
    help="With --population: RUNS measured in the population of this file (riskeval population "
    "freeze), each of its members left out in turn.",
)
@click.option(
    "--of",
    multiple=True,
    metavar="MEASURE",
    shell_complete=among(risk_measures),
    help="With --population: zrisk or georisk only.",
)
def bias(
    inputs: Inputs,
    output: Output,
    alpha: tuple[float, ...],
    part: BiasPart | None,
    components: int,
    population: bool,
    frozen: Path | None,
    of: tuple[str, ...],
) -> int:
    """How far the verdict on RUNS depends on the baseline (ECIR'14), or on who takes part.

    Prints the URisk of every run against every other as the baseline and against the virtual runs,
    with ranks and Friedman's test; for each baseline how far it turns the ranking by effectiveness
    and whether it favours runs that resemble it; and the runs' principal components over topics.
    With --population each run (or team) is left out of the population in turn: the range of every
    other run's ZRisk, GeoRisk and ranks, and whose absence changes them most. The population is
    RUNS, or that of --frozen FILE.
    """
    if len(alpha) != 1:
        raise UsageError(f"bias takes one alpha, found {len(alpha)}")
    if population and part is not None:
        raise UsageError("--part belongs to the baseline's bias, not to --population")
    for name, given in (("--of", of), ("--frozen", frozen)):
        if given and not population:
            raise UsageError(f"{name} belongs to --population")
    # Late: numpy and scipy are for those who compute.
    from riskcli.analyses import sweep_baseline as analysis
    from riskcli.analyses import sweep_population as population_bias

    evaluation = inputs.evaluate(checksums=output.output_format.checksums or frozen is not None)
    if population:
        left_out = population_bias.population_bias(evaluation, of=of, alpha=alpha[0], frozen=frozen)
        return conclude(left_out, inputs, output)
    found = analysis.baseline_bias(evaluation, alpha=alpha[0], components=components)
    return conclude(found.only(part), inputs, output)
