"""`riskeval significance`: which runs differ from which."""

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
@click.option(
    "--of",
    multiple=True,
    default=("mean", "georisk"),
    show_default=True,
    help="What is compared: mean, zrisk or georisk. Repeatable.",
)
@click.option(
    "--between",
    type=click.Choice(["all", "baseline"]),
    help="All pairs of runs, or each run with the baseline. [default: all, or baseline with -b]",
)
@click.option(
    "--tukey", is_flag=True, help="Compare means by the randomised Tukey HSD (--swaps, --seed)."
)
def significance(
    inputs: Inputs,
    comparing: Comparing,
    output: Output,
    of: tuple[str, ...],
    between: str | None,
    tukey: bool,
) -> int:
    """Which of RUNS differ: all pairs of them, or each from the baseline.

    Prints the differences with their intervals and corrected p-values, and letters: runs that
    share one cannot be told apart.
    """
    form = output.chosen_format(RESULT_FORMATS)
    from riskcli.analyses.significance.analysis import compare_pairs
    from riskcli.cli.notes import tell
    from riskcli.cli.rendering import write
    from riskcli.scores.evaluation import based_on

    evaluation = inputs.evaluate(comparing.wanted)
    options = comparing.options(evaluation.added)
    found = compare_pairs(
        evaluation.matrices,
        of,
        between=between or ("baseline" if comparing.baselines else "all"),  # type: ignore[arg-type]
        options=options,
        tukey=tukey,
    )
    found = based_on(found, evaluation)
    tell(found.notes, inputs.quiet)
    write(found.result(), found.displays, form, output.output, **output.words)
    return inputs.exit_code(evaluation.skipped)
