"""What a store of scores holds, what in it is wrong, and what can go."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from riskcli.core.messages import UsageError
from riskcli.core.settings import load_settings, settings_folder
from riskcli.output.result import Result
from riskcli.scores.store import MARKER, Store
from riskcli.scores.store_upkeep import collect, holdings, verify


def existing(folder: Path | None) -> Store:
    """The store; none is made for looking at it."""
    if folder is None:
        setting = load_settings().get("store")
        if setting is None:
            raise UsageError("name the store's FOLDER; no settings file here names one")
        folder = settings_folder() / str(setting.value)
    if not (folder / MARKER).is_file():
        raise UsageError(f"{folder} is not a store of riskeval ({MARKER} is missing)")
    return Store(folder, rehash=True)


def listing(store: Store) -> Result:
    """What is kept: a row a measure, judgements and rules."""
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


def troubles(store: Store) -> Result:
    """What is wrong: a row a file."""
    return Result(("file", "trouble"), [(str(path), trouble) for path, trouble in verify(store)])


def removals(store: Store, older_than: float | None, dry_run: bool) -> Result:
    """What is removed, or would be: a row a file."""
    removed = collect(store, older_than, dry_run)
    rows = [(str(removal.path), removal.reason, removal.size) for removal in removed]
    return Result(("file", "reason", "bytes"), rows)
