"""`riskeval store`: looking after a store of scores."""

from pathlib import Path
from typing import Literal

import click

from riskcli.cli.option import command
from riskcli.cli.options import Output, output_options, write
from riskcli.cli.types import PATH
from riskcli.core.choices import words
from riskcli.core.messages import UsageError
from riskcli.output.display import PlainRows
from riskcli.output.result import Result

Action = Literal["ls", "gc", "verify"]


@command()
@click.argument("action", type=click.Choice(words(Action)))
@click.argument("folder", required=False, type=PATH)
@click.option(
    "--older-than", type=click.FloatRange(min=0), metavar="DAYS", help="gc: old scores go, too."
)
@click.option("--dry-run", is_flag=True, help="gc: only say what would go.")
@output_options()
def store(
    action: Action, folder: Path | None, older_than: float | None, dry_run: bool, output: Output
) -> int:
    """Look after the store of scores in FOLDER (else the `store` of the settings).

    ls lists the scores by measure and judgements. verify reads everything, hashes again every
    file that a quick look would spare, and exits with 1 where something is wrong. gc removes what
    is damaged or was computed by another version, and merges small files.
    """
    if action != "gc" and (older_than is not None or dry_run):
        raise UsageError(f"--older-than and --dry-run belong to gc, {action} removes nothing")
    # Late: help and wrong options need no reader of Parquet.
    from riskcli.analyses import store as analysis

    opened = analysis.existing(folder)
    if action == "ls":
        result = Result(analysis.Holding._fields, analysis.holdings(opened))
    elif action == "verify":
        troubles = [(str(path), trouble) for path, trouble in analysis.verify(opened)]
        result = Result(("file", "trouble"), troubles)
    else:
        removals = analysis.collect(opened, older_than, dry_run)
        result = Result(analysis.Removal._fields, removals)
    write(PlainRows(result), output)
    return 1 if action == "verify" and result.rows else 0
