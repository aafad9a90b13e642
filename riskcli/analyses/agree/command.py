"""`riskeval agree`: how far rankings agree."""

from __future__ import annotations

import click

from riskcli.cli.options import (
    Against,
    Inputs,
    Output,
    against_options,
    input_options,
    output_options,
)
from riskcli.output.emit import RESULT_FORMATS


@click.command()
@input_options
@against_options
@output_options(RESULT_FORMATS)
@click.option(
    "--of", multiple=True, metavar="MEASURE", help="Rankings by mean, urisk, ... [default: all]"
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
    form = output.chosen_format(RESULT_FORMATS)
    from riskcli.analyses.agree.analysis import ranking_agreement
    from riskcli.cli.notes import tell
    from riskcli.cli.rendering import write
    from riskcli.cli.tables import default_baseline_note
    from riskcli.scores.evaluation import based_on

    evaluation = inputs.evaluate(against.wanted)
    options = against.options(evaluation.added, swept=True)
    found = ranking_agreement(
        evaluation.matrices,
        options.wanted,
        options=options,
        of=of,
        persistence=persistence,
        depth=depth,
    )
    found = based_on(found, evaluation, default_baseline_note(against))
    tell(found.notes, inputs.quiet)
    write(found.result(), found.displays, form, output.output, **output.words)
    return inputs.exit_code(found.skipped)
