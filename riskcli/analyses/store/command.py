"""`riskeval store`: looking after a store of scores."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from riskcli.cli.options import PATH, Output, output_options
from riskcli.core.choices import words
from riskcli.core.errors import UsageError

if TYPE_CHECKING:
    from riskcli.output.result import Result
    from riskcli.scores.store.store import Store

Action = Literal["ls", "gc", "verify"]


@click.command()
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
    from riskcli.cli.rendering import write
    from riskcli.output.display import rows_as_display
    from riskcli.output.forms import View

    if action != "gc" and (older_than is not None or dry_run):
        raise UsageError(f"--older-than and --dry-run belong to gc, {action} removes nothing")
    opened = _existing(folder)
    if action == "ls":
        result = _listing(opened)
    elif action == "verify":
        result = _troubles(opened)
    else:
        result = _removals(opened, older_than, dry_run)
    write(View(lambda: result, lambda _: [rows_as_display(result)]), output)
    return 1 if action == "verify" and result.rows else 0


def _existing(folder: Path | None) -> Store:
    """The store; none is made for looking at it."""
    from riskcli.core.settings import load_settings
    from riskcli.scores.store.store import MARKER, Store

    if folder is None:
        setting = load_settings().get("store")
        if setting is None:
            raise UsageError("name the store's FOLDER; no settings file here names one")
        folder = Path(str(setting.value))
    if not (folder / MARKER).is_file():
        raise UsageError(f"{folder} is not a store of riskeval ({MARKER} is missing)")
    return Store(folder, rehash=True)


def _listing(store: Store) -> Result:
    from riskcli.output.result import Result
    from riskcli.scores.store.upkeep import holdings

    columns = (
        "measure", "qrels", "runs", "scores", "files", "bytes", "current", "written", "rules",
        "engine", "key",
    )  # fmt: skip
    rows = [
        (
            held.measure, held.qrels, held.runs, held.scores, held.files, held.size, held.current,
            datetime.fromtimestamp(held.written, UTC).isoformat(timespec="seconds"),
            held.rules, held.engine, held.key,
        )
        for held in holdings(store)
    ]  # fmt: skip
    return Result(columns, rows)


def _troubles(store: Store) -> Result:
    from riskcli.output.result import Result
    from riskcli.scores.store.upkeep import verify

    return Result(("file", "trouble"), [(str(path), trouble) for path, trouble in verify(store)])


def _removals(store: Store, older_than: float | None, dry_run: bool) -> Result:
    from riskcli.output.result import Result
    from riskcli.scores.store.upkeep import collect

    removals = collect(store, older_than, dry_run)
    rows = [(str(removal.path), removal.reason, removal.size) for removal in removals]
    return Result(("file", "reason", "bytes"), rows)
