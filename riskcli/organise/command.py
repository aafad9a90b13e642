"""`riskeval organise`: from a folder of submissions to all that is published and sent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from riskcli.cli.conclude import tell
from riskcli.cli.options import OUTPUT, Comparing, Inputs, comparing_options, organising_options
from riskcli.core.errors import UsageError
from riskcli.core.notes import Note, counted

if TYPE_CHECKING:
    from riskcli.organise.pack import Labels, Pack
    from riskcli.organise.submissions import Submissions


@click.command()
@organising_options
@comparing_options
@click.option("-o", "--output", required=True, type=OUTPUT, help="The folder, replaced as a whole.")
@click.option("--title", default="Risk-sensitive leaderboard", show_default=True, metavar="TEXT")
@click.option("--collection", default="", metavar="TEXT", help="What was searched.")
@click.option("--date", default="", metavar="TEXT", help="When, below the title.")
def organise(
    inputs: Inputs, comparing: Comparing, output: Path, title: str, collection: str, date: str
) -> int:
    """From submissions to all that a track's organiser publishes and sends.

    Checks RUNS, leaves out what is broken and says which and why, freezes the population, scores,
    and writes a folder: the leaderboard page, tables in every form, score matrices, best, median
    and worst by topic, all findings, and a sheet for each team (or run without one). A second call
    reads only what is new; --population FOLDER/population.json moves nobody's figures. Exits with
    1 where a file is left out.
    """
    # Late, here and below: numpy and scipy are for those who compute.
    from riskcli.organise.folder import pack_before, write_pack
    from riskcli.organise.pack import Labels
    from riskcli.page.command import refuse_what_the_page_lacks

    refuse_what_the_page_lacks(comparing)
    if "baselines" in comparing.population:
        raise UsageError("a pack's population is all runs or a file, not the baselines")
    folder = output.resolve()
    before = pack_before(folder)
    store = inputs.store or folder.parent / f".{folder.name}.store"
    submissions = _read(inputs, store)
    pack = _pack(
        replace(inputs, store=store), comparing, submissions, Labels(title, collection, date)
    )
    contents = pack.contents()
    new = write_pack(folder, contents, pack.about(), before)
    files = f"{counted(len(contents), 'file')}, {new} of them new or changed"
    tell([*pack.table.notes, Note("pack", f"{output}: {files}", warning=False)], inputs.quiet)
    return inputs.exit_code(pack.table.skipped)


def _read(inputs: Inputs, folder: Path) -> Submissions:
    """Check the files; what was found in those that are the same as before is known."""
    from riskcli.analyses.validate.analysis import Checks
    from riskcli.cli.progress import on_terminal
    from riskcli.organise.known import KnownReports
    from riskcli.organise.submissions import judgements_for, read_submissions
    from riskcli.scores.store.store import Store

    checks = Checks(
        max_bytes=inputs.max_bytes, run_names=inputs.run_names, input_format=inputs.input_format
    )
    qrels = judgements_for(inputs.runs, inputs.qrels)
    known = KnownReports(Store(folder, inputs.rehash), qrels, checks)
    with on_terminal(inputs.quiet, "files checked") as progress:
        submissions = read_submissions(
            inputs.runs, qrels, checks, jobs=inputs.jobs, progress=progress, known=known
        )
    known.close()
    return submissions


def _pack(inputs: Inputs, comparing: Comparing, submissions: Submissions, labels: Labels) -> Pack:
    """Score what can be taken, in teams, and measure it in its own population or that of a file."""
    from riskcli.analyses.population.analysis import freeze
    from riskcli.analyses.score.analysis import risk_table
    from riskcli.organise.pack import Pack
    from riskcli.organise.submissions import in_teams
    from riskcli.scores.frozen import FrozenPopulation

    options = comparing.options()
    places = submissions.places
    alone = replace(inputs, runs=places, qrels=submissions.qrels, teams=None, team_of=None)
    scored = submissions.beside(alone.evaluate(comparing.wanted))
    evaluation, participants = in_teams(scored, submissions, inputs.teams, inputs.team_of)
    given = options.population
    population = given if isinstance(given, FrozenPopulation) else freeze(evaluation)
    table = risk_table(evaluation, options=replace(options, population=given or "all"))
    return Pack(submissions, evaluation, participants, population, table.sorted_by(), labels)
