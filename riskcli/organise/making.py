"""From submissions to a pack: files checked, runs scored in teams, measured in their population."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from riskcli.analyses.base import refuse_much
from riskcli.analyses.checker import Checks
from riskcli.analyses.population import freeze
from riskcli.analyses.score import risk_table
from riskcli.cli.options import Comparing, Inputs
from riskcli.cli.progress import on_terminal
from riskcli.organise.pack import Labels as Labels
from riskcli.organise.pack import Pack
from riskcli.organise.pack import pack_before as pack_before
from riskcli.organise.pack import write_pack as write_pack
from riskcli.organise.submissions import (
    KnownReports,
    Submissions,
    in_teams,
    judgements_for,
    read_submissions,
)
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.store import Store


def checked(inputs: Inputs, folder: Path) -> Submissions:
    """Check the files; what was found in those that are the same as before is known."""
    checks = Checks(
        max_bytes=inputs.max_bytes, run_names=inputs.run_names, input_format=inputs.input_format
    )
    qrels = judgements_for(inputs.runs, inputs.qrels)
    known = KnownReports(Store(folder, inputs.rehash), qrels, checks)
    with on_terminal(inputs.quiet, "files checked") as progress:
        submissions = read_submissions(
            inputs.runs, qrels, checks, jobs=inputs.jobs, progress=progress, known=known,
            folders=inputs.folders,
        )  # fmt: skip
    known.close()
    return submissions


def _alone(qrels: Path | None) -> tuple[Path, ...]:
    return () if qrels is None else (qrels,)


def packed(inputs: Inputs, comparing: Comparing, submissions: Submissions, labels: Labels) -> Pack:
    """Score what can be taken, in teams, and measure it in its own population or that of a file."""
    options = comparing.options()
    places = submissions.places
    alone = replace(inputs, runs=places, judged=_alone(submissions.qrels), teams=None, team_of=None)
    scored = submissions.beside(alone.evaluate(comparing.wanted))
    evaluation, participants = in_teams(scored, submissions, inputs.teams, inputs.team_of)
    refuse_much("organise", evaluation.matrices, options)
    given = options.population
    population = given if isinstance(given, FrozenPopulation) else freeze(evaluation)
    table = risk_table(evaluation, options=replace(options, population=given or "all"))
    return Pack(submissions, evaluation, participants, population, table.sorted_by(), labels)
