"""`riskeval bias`: how far the verdict depends on the baseline."""

from __future__ import annotations

import click

from riskcli.cli.alphas import Alphas
from riskcli.cli.conclude import conclude
from riskcli.cli.options import Inputs, Output, input_options, output_options
from riskcli.core.choices import BiasPart, words
from riskcli.core.errors import UsageError


@click.command()
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
def bias(
    inputs: Inputs, output: Output, alpha: tuple[float, ...], part: BiasPart | None, components: int
) -> int:
    """How far the verdict on RUNS depends on the baseline (ECIR'14).

    Prints the URisk of every run against every other as the baseline and against the virtual runs,
    with ranks and Friedman's test; for each baseline how far it turns the ranking by effectiveness
    and favours runs that resemble it; and the runs' principal components over topics.
    """
    # Late: numpy and scipy are for those who compute.
    from riskcli.analyses.bias.analysis import baseline_bias

    if len(alpha) != 1:
        raise UsageError(f"bias is shown at one alpha, found {len(alpha)}")
    bias = baseline_bias(
        inputs.evaluate(checksums=output.form.checksums), alpha=alpha[0], components=components
    )
    return conclude(bias.only(part), inputs, output)
