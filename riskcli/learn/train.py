"""`riskeval train`: learn rankers that lose less, and test whether that pays."""

from pathlib import Path

import click

from riskcli.cli.option import command, one_option
from riskcli.cli.options import Output, format_option, tell, write
from riskcli.cli.progress import on_terminal
from riskcli.cli.reading import Quiet
from riskcli.cli.types import PATH
from riskcli.core.stopping import INTERRUPTED
from riskcli.learn.options import Training, training_options


@command(training_options, format_option())
@click.option(
    "-o", "--output", required=True, type=PATH, metavar="DIR",
    help="The folder to write: runs, qrels, models, curves, settings, a page.",
)  # fmt: skip
@click.option("--replace", is_flag=True, help="Overwrite an earlier experiment in DIR.")
@one_option(Quiet, "quiet")
def train(training: Training, format: str | None, output: Path, replace: bool, quiet: bool) -> int:
    """Learn rankers that lose less against a baseline, and compare them with cheaper ways.

    DATA is a file of training data beside --valid and --test, one file to cut into --folds, or
    folders that each hold a train, a vali and a test file. LETOR, CSV and Parquet are read. Test
    queries are not used to train, stop or choose a model. `riskeval score DIR/runs -q DIR/qrels -b
    baseline` prints the same risk table of them.
    """
    # Late: help and wrong options need no numpy.
    from riskcli.learn.comparison import compare_models
    from riskcli.learn.experiment import interruptible, run_experiment
    from riskcli.learn.folder import check_folder, how_to_score, write_folder

    check_folder(output, replace)
    shown = Output(format=format)
    plan = training.plan()
    with interruptible() as interrupts, on_terminal(quiet, "trees") as on_progress:
        outcome = run_experiment(plan, on_progress, interrupts)
    settings = training.recorded(plan)
    comparison = None
    if outcome.complete(plan.seeds[0]).keys() - set(plan.baselines):
        comparison = compare_models(outcome, training.chosen_alphas, settings)
    write_folder(output, outcome, comparison, settings)
    if comparison is None:
        tell(outcome.notes, quiet)
    else:
        tell([*comparison.table.notes, how_to_score(output, comparison)], quiet)
        write(comparison, shown)
    if outcome.interrupted:
        click.echo(f"interrupted: {output} holds the best of the models so far", err=True)
        return INTERRUPTED
    return 0
