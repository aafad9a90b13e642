"""`riskeval rank`: rank documents with a learned model."""

from __future__ import annotations

from pathlib import Path

import click

from riskcli.cli.conclude import tell
from riskcli.cli.gathering import PATH
from riskcli.cli.inputs import QUIET
from riskcli.core.arrays import Floats
from riskcli.core.errors import UsageError
from riskcli.core.notes import Note
from riskcli.learn.baselines import load_model, parse_source, pooled_start, predicted
from riskcli.learn.feature_files import read_features
from riskcli.learn.features import Features
from riskcli.learn.folder import read_sidecar
from riskcli.learn.rankings import run_lines
from riskcli.output.emit import emit


@click.command()
@click.argument("model", type=PATH)
@click.argument("features", type=PATH)
@click.option("-o", "--output", type=PATH, help="The run to write. [default: stdout]")
@click.option("--tag", help="The run's name. [default: the model's]")
@click.option(
    "-b",
    "--baseline",
    "baselines",
    multiple=True,
    metavar="WHAT",
    help="The baseline that the model starts from, where it does: as for train. "
    "[default: what it was trained with]",
)
@QUIET
def rank(
    model: Path,
    features: Path,
    output: Path | None,
    tag: str | None,
    baselines: tuple[str, ...],
    quiet: bool,
) -> int:
    """Rank the documents in FEATURES with MODEL: a TREC run without ties.

    MODEL is a model of LightGBM as `riskeval train` writes it, or any other.
    """
    name = model.stem if tag is None else tag
    if not name or name.split() != [name]:
        raise UsageError(f"the run would be called {name!r}: --tag gives a name without spaces")
    documents = read_features(features)
    scores, notes = _scores(model, documents, baselines)
    tell([*documents.notes, *notes], quiet)
    emit("".join(run_lines(documents, scores, name)), output)
    return 0


def _scores(
    model: Path, documents: Features, baselines: tuple[str, ...]
) -> tuple[Floats, list[Note]]:
    """The model's scores, and what it starts from added again."""
    about = read_sidecar(model)
    booster = load_model(model)
    if about.features and len(documents.names) <= len(about.features):
        documents = documents.widened(about.features)
    scores = predicted(booster, documents)
    if not about.start_weight:
        return scores, []
    started = [parse_source(text).scores(documents) for text in baselines or about.baselines]
    notes = [note for _, found in started for note in found]
    start = pooled_start(documents, [places for places, _ in started])
    return scores + about.start_weight * start, notes
