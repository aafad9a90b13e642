"""`riskeval sweep`: the verdict over a range of alpha."""

from __future__ import annotations

from dataclasses import replace

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
    "--between",
    nargs=2,
    metavar="RUN RUN",
    help="Look at these two runs alone; ranks stay those among all.",
)
@click.option(
    "--of", multiple=True, metavar="MEASURE", help="List events of urisk, trisk, ... only."
)
@click.option(
    "--part",
    type=click.Choice(["series", "events"]),
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
    part: str | None,
    top: int | None,
) -> int:
    """How the verdict on RUNS depends on alpha (0 to 20, or --alpha).

    Prints the exact alpha at which two runs swap places by URisk, TRisk, ZRisk or GeoRisk, at
    which a run's URisk turns negative, and at which its TRisk becomes or stops being significant;
    then every measure of every run over the range.
    """
    form = output.chosen_format(RESULT_FORMATS)
    from riskcli.analyses.sweep.analysis import DEFAULT_ALPHAS, alpha_sweep
    from riskcli.analyses.sweep.display import displays
    from riskcli.cli.notes import tell
    from riskcli.cli.rendering import write
    from riskcli.cli.tables import default_baseline_note
    from riskcli.scores.evaluation import based_on

    evaluation = inputs.evaluate(against.wanted)
    options = against.options(evaluation.added, swept=True)
    if not against.alphas and not against.alpha_hats:
        options = replace(options, alphas=DEFAULT_ALPHAS)
    found = alpha_sweep(
        evaluation.matrices, options.wanted, options=options, between=between or (), of=of
    )
    found = based_on(found, evaluation, default_baseline_note(against))
    tell(found.notes, inputs.quiet)
    write(
        found.result(part or "series"),  # type: ignore[arg-type]
        lambda width: displays(found, width, part, top),  # type: ignore[arg-type]
        form,
        output.output,
        **output.words,
    )
    return inputs.exit_code(found.skipped)
