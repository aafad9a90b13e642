"""`riskeval sweep`: how the verdict changes with alpha, baseline, measure or population."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from riskcli.cli import options
from riskcli.cli.option import Reach, command, own_option
from riskcli.cli.reading import Inputs, input_options
from riskcli.cli.types import FROM_1, among, risk_measures, runs
from riskcli.core.choices import BiasPart, SweepOver, SweepPart, words
from riskcli.core.messages import UsageError
from riskcli.output.formats import Analysis

if TYPE_CHECKING:
    from riskcli.scores.comparisons import Options

USED_OVER: dict[str, tuple[SweepOver, ...]] = {
    "--baseline": ("alpha", "measure"),
    "--loss": ("alpha", "measure"),
    "--convention": ("alpha", "measure"),
    "--pool": ("alpha", "measure"),
    "--gamma": ("alpha", "measure"),
    "--population": ("alpha", "measure", "population"),
    "--of": ("alpha", "measure", "population"),
    "--part": ("alpha", "baseline"),
    "--between": ("alpha",),
    "--top": ("alpha",),
}
"""The options that not every --over uses; on the command line the others refuse them."""

SWEPT_ALPHAS = tuple(float(alpha) for alpha in range(21))
"""Over anything else alpha is 1, as everywhere."""


@command(input_options)
@own_option(
    "--over", choice=SweepOver, default="alpha", settings=Reach.NOTHING,
    help="What is varied: alpha; the baseline, each run in turn; the measure that runs are ranked "
    "by; or the population, without each run or team in turn.",
)  # fmt: skip
@options.against_options_with_alpha(
    "Losses count 1 + alpha times: 1 or 0,5,10 or 0:20:5. [default: 0:20; 1 over anything else]"
)
@options.output_options()
@own_option(
    "--between", nargs=2, metavar="RUN RUN", shell_complete=runs, settings=Reach.NOTHING,
    help="Over alpha: only these two runs; ranks are still those among all runs.",
)  # fmt: skip
@own_option(
    "--of", multiple=True, metavar="MEASURE", shell_complete=among(risk_measures),
    settings=Reach.NOTHING,
    help="Only urisk, trisk, ...: the events over alpha, the rankings over measure, the values "
    "over population (zrisk, georisk). [default: all]",
)  # fmt: skip
@own_option(
    "--part", type=click.Choice([*words(SweepPart), *words(BiasPart)]), settings=Reach.NOTHING,
    help="One of the tables: over alpha series or events, over baseline the others. [default: a "
    "table shows the answer, formats for programs series or urisk]",
)  # fmt: skip
@own_option(
    "--top", type=FROM_1, settings=Reach.NOTHING,
    help="Over alpha: events that a table shows. [default: 30]",
)  # fmt: skip
@options.full_option()
@own_option(
    "--components", type=FROM_1, default=2, settings=Reach.NOTHING, key_only=True,
    help="Over baseline: principal components.",
)  # fmt: skip
@own_option(
    "--persistence", type=float, default=0.9, settings=Reach.NOTHING, key_only=True,
    help="Over measure: RBO's persistence.",
)  # fmt: skip
@own_option(
    "--depth", type=FROM_1, settings=Reach.NOTHING, key_only=True,
    help="Over measure: RBO of the first N runs. [default: all]",
)  # fmt: skip
def sweep(
    inputs: Inputs,
    over: SweepOver,
    against: options.Against,
    output: options.Output,
    between: tuple[str, str] | None,
    of: tuple[str, ...],
    part: Any,
    top: int | None,
    full: bool,
    components: int,
    persistence: float,
    depth: int | None,
) -> int:
    """How far the verdict on RUNS depends on alpha, the baseline, the measure, or who takes part.

    Over alpha: at which alpha two runs swap places, a URisk turns negative, and TRisk becomes or
    stops being significant. Over baseline (ECIR'14): URisk against each run and the virtual ones,
    Friedman's test, and whether a baseline favours runs that resemble it. Over measure: how far the
    rankings by all measures agree (tau_b, tau_AP, RBO). Over population: the range of ZRisk,
    GeoRisk and ranks without each run or team.
    """
    _refuse_unused(over)
    compared = _compared(against, over)
    baselines = against.wanted if over in USED_OVER["--baseline"] else ()
    scores = inputs.evaluate(baselines, against.needs_checksums(output))
    analysis: Analysis
    if over == "alpha":
        from riskcli.analyses.sweep_alpha import alpha_sweep

        analysis = alpha_sweep(scores, between=between or (), of=of, options=compared)
        analysis = analysis.only(part, top)
    elif over == "baseline":
        from riskcli.analyses.sweep_baseline import baseline_bias

        analysis = baseline_bias(scores, alpha=compared.alphas[0], components=components)
        analysis = analysis.only(part)
    elif over == "measure":
        from riskcli.analyses.sweep_measure import ranking_agreement

        analysis = ranking_agreement(
            scores, of=of, persistence=persistence, depth=depth, options=compared
        )
    else:
        from riskcli.analyses.sweep_population import population_bias

        analysis = population_bias(scores, of=of, options=compared)
    return options.conclude(analysis, inputs, output, full)


def _refuse_unused(over: SweepOver) -> None:
    """Refuse what the command line (settings may) gives although this --over does not use it."""
    context = click.get_current_context()
    for option in context.command.params:
        name, source = max(option.opts, key=len), context.get_parameter_source(str(option.name))
        owners = USED_OVER.get(name, (over,))
        if over not in owners and source is ParameterSource.COMMANDLINE:
            raise UsageError(f"{name} belongs to --over {' or '.join(owners)}, not to {over}")


def _compared(against: options.Against, over: SweepOver) -> "Options":
    """The library's options; without --alpha, with the alphas that suit what is varied."""
    compared = against.options(swept=True)
    if over not in USED_OVER["--loss"]:
        compared = replace(compared, loss="linear")
    if not against.alphas:
        return replace(compared, alphas=SWEPT_ALPHAS if over == "alpha" else (1.0,))
    if over != "alpha" and len(compared.alphas) != 1:
        raise UsageError(f"sweep --over {over} takes one alpha, found {len(compared.alphas)}")
    return compared
