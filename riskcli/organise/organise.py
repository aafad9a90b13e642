"""`riskeval organise`: from a folder of submissions to all that is published and sent."""

from dataclasses import replace
from pathlib import Path

import click

from riskcli.cli.help import GroupedCommand
from riskcli.cli.option import Reach, Section, own_option
from riskcli.cli.options import Comparing, comparing_options
from riskcli.cli.output import tell
from riskcli.cli.reading import Inputs, organising_options
from riskcli.cli.types import OUTPUT
from riskcli.core.messages import Note, UsageError, counted
from riskcli.page import TITLE, refuse_what_the_page_lacks


@click.command(cls=GroupedCommand)
@organising_options
@comparing_options
@own_option(
    "-o", "--output", required=True, type=OUTPUT, settings=Reach.OUTPUT, heading=Section.MOST_USED,
    help="The folder to write; an existing pack is replaced.",
)  # fmt: skip
@own_option("--title", default=TITLE, show_default=True, metavar="TEXT", settings=Reach.NOTHING)
@own_option(
    "--collection", default="", metavar="TEXT", settings=Reach.NOTHING, help="What was searched."
)
@own_option(
    "--date", default="", metavar="TEXT", settings=Reach.NOTHING, help="When, below the title."
)
def organise(
    inputs: Inputs, comparing: Comparing, output: Path, title: str, collection: str, date: str
) -> int:
    """From submissions to all that a track's organiser publishes and sends.

    Checks RUNS, leaves out what is broken and says which and why, freezes the population, scores,
    and writes a folder: the leaderboard page, tables in every format, score matrices, best, median
    and worst by topic, all findings, and a sheet for each team (or run without one). A second call
    reads only what is new; --population FOLDER/population.json leaves the figures of others
    unchanged. Exits with 1 where a file is left out.
    """
    refuse_what_the_page_lacks(
        comparing.loss, comparing.convention, comparing.test, comparing.family
    )
    if "baselines" in comparing.population:
        raise UsageError("a pack's population is all runs or a file, not the baselines")
    # Late: numpy and scipy are for those who compute.
    from riskcli.organise import pack as making

    folder = output.resolve()
    before = making.pack_before(folder)
    store = inputs.store or folder.parent / f".{folder.name}.store"
    submissions = making.checked(inputs, store)
    pack = making.packed(
        replace(inputs, store=store), comparing, submissions, making.Labels(title, collection, date)
    )
    contents = pack.contents()
    new = making.write_pack(folder, contents, pack.about(), before)
    files = f"{counted(len(contents), 'file')}, {new} of them new or changed"
    tell([*pack.table.notes, Note("pack", f"{output}: {files}", warning=False)], inputs.quiet)
    return inputs.exit_code(pack.table.skipped)
