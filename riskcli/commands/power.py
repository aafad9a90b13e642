"""`riskeval power`: what a test will see, before the run."""

import click

from riskcli.cli import options
from riskcli.cli.option import Reach, Section, command, own_option
from riskcli.cli.reading import Inputs, scoring_options
from riskcli.cli.types import FROM_1, SHARE, SIZE, among, baselines, risk_measures


@command(scoring_options, options.output_options())
@own_option(
    "-b", "--baseline", "baselines", multiple=True, metavar="NAME", shell_complete=baselines,
    settings=Reach.NAME_OR_INPUT, heading=Section.MOST_USED,
    help="Count only pairs with this run. Repeatable. [default: every pair of runs]",
)  # fmt: skip
@own_option(
    "--loss", "losses", multiple=True, type=SIZE, metavar="SIZE", settings=Reach.NOTHING,
    help="A true loss to detect; repeatable. [default: 0.01, 0.02, 0.05]",
)  # fmt: skip
@own_option(
    "--margin", "margins", multiple=True, type=SIZE, metavar="SIZE", settings=Reach.NOTHING,
    help="A margin (check --margin) that a candidate without a loss should pass; repeatable.",
)  # fmt: skip
@own_option(
    "--with-topics", "counts", multiple=True, type=click.IntRange(min=2), metavar="N",
    settings=Reach.NOTHING,
    help="A number of topics, to see which loss it detects; repeatable. [default: 25, 50, 100, "
    "200]",
)  # fmt: skip
@own_option(
    "--of", multiple=True, metavar="NAME", shell_complete=among(risk_measures),
    settings=Reach.NOTHING, help="mean or georisk, repeatable. [default: both]",
)  # fmt: skip
@options.population_of_two("GeoRisk expects scores from: the two runs of a pair")
@options.one_alpha("Of GeoRisk: losses count 1 + alpha times.")
@own_option(
    "--power", type=SHARE, default=0.8, settings=Reach.NOTHING,
    help="Power: the share of cases in which the loss is detected.",
)  # fmt: skip
@own_option(
    "--tests", type=FROM_1, default=1, settings=Reach.NOTHING, key_only=True,
    help="How many tests are corrected together: candidates, times tests of the policy, times "
    "measures.",
)  # fmt: skip
@options.gamma_option()
def power(
    inputs: Inputs,
    output: options.Output,
    baselines: tuple[str, ...],
    losses: tuple[float, ...],
    margins: tuple[float, ...],
    counts: tuple[int, ...],
    of: tuple[str, ...],
    population: tuple[str, ...],
    alpha: float,
    power: float,
    tests: int,
    gamma: float,
) -> int:
    """Before the run: how many topics a loss or a margin asks for, by the past scores RUNS.

    RUNS are runs, or files that `riskeval matrix` wrote. What their pairs differ by from topic to
    topic tells how many topics show a loss, and the smallest loss that so many topics show.
    """
    # Late: numpy and scipy are for those who compute.
    from riskcli.analyses.power import USUAL_COUNTS, USUAL_LOSSES, power_table
    from riskcli.cli.evaluating import options_of_pairs

    of_pairs = options_of_pairs(baselines, population, alpha, gamma)
    checksums = output.output_format.checksums or of_pairs.population is not None
    anything = losses or margins or counts
    table = power_table(
        inputs.evaluate(baselines, checksums),
        losses=losses if anything else USUAL_LOSSES,
        margins=margins,
        counts=counts if anything else USUAL_COUNTS,
        of=of,
        power=power,
        tests=tests,
        options=of_pairs,
    )
    return options.conclude(table, inputs, output)
