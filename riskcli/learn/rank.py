"""`riskeval rank`: rank documents with a learned model."""

from pathlib import Path

import click

from riskcli.cli.option import command, one_option
from riskcli.cli.options import tell
from riskcli.cli.reading import Quiet
from riskcli.cli.types import PATH
from riskcli.core.inputs import note_input
from riskcli.core.messages import UsageError
from riskcli.output.formats import emit


@command()
@click.argument("model", type=PATH)
@click.argument("features", type=PATH)
@click.option("-o", "--output", type=PATH, help="The run to write. [default: stdout]")
@click.option("--tag", help="The run's name. [default: the model's]")
@click.option(
    "-b", "--baseline", "baselines", multiple=True, metavar="WHAT",
    help="The baseline that the model starts from, if any, as for train. "
    "[default: what it was trained with]",
)  # fmt: skip
@one_option(Quiet, "quiet")
def rank(
    model: Path, features: Path, output: Path | None, tag: str | None, baselines: tuple[str, ...],
    quiet: bool,
) -> int:  # fmt: skip
    """Rank the documents in FEATURES with MODEL: a TREC run without ties.

    MODEL is a model of LightGBM as `riskeval train` writes it, or any other.
    """
    # Late: help and wrong options need no numpy.
    from riskcli.learn import comparators, feature_files, model_files
    from riskcli.learn.features import run_lines
    from riskcli.trec.source import TextFile

    name = model.stem if tag is None else tag
    if not name or name.split() != [name]:
        raise UsageError(f"the run would be called {name!r}: --tag gives a name without spaces")
    documents = feature_files.read_features(features)
    start = [comparators.parse_source(text) for text in baselines]
    note_input(*comparators.files_of(start))  # even if the model starts from none
    scores, notes = comparators.scored(model_files.read_model(TextFile(model)), documents, start)
    tell([*documents.notes, *notes], quiet)
    emit("".join(run_lines(documents, scores, name)), output, is_run=True)
    return 0
