"""What a store of scores holds, what in it is damaged, and what of it can go."""

import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from riskcli.core.files import PART, sha256_of_file
from riskcli.core.messages import UsageError
from riskcli.core.settings import load_settings, settings_folder
from riskcli.scores.store import MARKER, Store, as_json, engine
from riskcli.scores.store_segments import DAMAGED, FileStates, file_state, size


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


# What a store holds, what of it is damaged, and what of it can go.


_ABANDONED = 3600.0
"""Seconds after which an unfinished file counts as abandoned."""
_DAY = 86400.0


class Holding(NamedTuple):
    """The scores under one key."""

    measure: str
    qrels: str
    runs: int
    scores: int
    files: int
    bytes: int
    current: bool
    """Whether this version of riskeval would use them."""
    written: str
    """When a file of it was written last."""
    rules: str
    engine: str
    key: str


class Removal(NamedTuple):
    """A file that goes, and why."""

    file: str
    reason: str
    bytes: int


def holdings(store: Store) -> list[Holding]:
    """All that a store holds, by measure and judgements."""
    unsorted = [holding for digest in _digests(store) if (holding := _holding(store, digest))]
    return sorted(unsorted, key=lambda item: (item.qrels, item.measure, item.rules, item.engine))


def verify(store: Store) -> Iterator[tuple[Path, str]]:
    """All that is wrong with a store, file by file: damage, and files that changed unnoticed.

    Files of the store that are damaged are set aside, as when they are used.
    """
    for digest in _digests(store):
        segments = store.segments(digest)
        for _ in segments.tables():
            pass
        yield from segments.damaged
    states = FileStates(store.folder / "looks", rehash=True)
    for state, checksum in states.remembered():
        path = Path(state.path)
        if (
            file_state(path) == state
            and sha256_of_file(path) != checksum
            and file_state(path) == state
        ):
            yield path, "changed, though its size, times and inode are those of before"
    yield from states.segments.damaged
    for path in sorted(store.folder.rglob("*" + DAMAGED)):
        yield path, "set aside as damaged; `riskeval store gc` removes it"


def collect(store: Store, older_than: float | None = None, dry_run: bool = False) -> list[Removal]:
    """Remove what is no longer used, and merge small files; `older_than` counts days.

    That is: damaged and abandoned files, scores by other versions of what computes them, checksums
    of files that have changed since, and scores that were written so long ago.
    """
    superfluous = [*_debris(store), *_outdated(store, older_than)]
    removals = [Removal(str(path), reason, size(path)) for path, reason in superfluous]
    if dry_run:
        return removals
    for path, _ in superfluous:
        path.unlink(missing_ok=True)
    for digest in _digests(store):
        store.segments(digest).tidy()
        with suppress(OSError):  # it is not empty
            (store.folder / "scores" / digest).rmdir()
    store.file_states.renew()
    return removals


def _digests(store: Store) -> list[str]:
    folder = store.folder / "scores"
    return sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []


def _holding(store: Store, digest: str) -> Holding | None:
    segments = store.segments(digest)
    tables = list(segments.tables())
    if not tables:
        return None
    about = {name: tables[0][name][0].as_py() for name in ("measure", "qrels", "rules", "engine")}
    files = segments.files()
    written = datetime.fromtimestamp(max(map(_written, files)), UTC)
    return Holding(
        **about,
        runs=len({run for table in tables for run in table["run"].to_pylist()}),
        scores=sum(len(chunk.values) for table in tables for chunk in table["scores"].chunks),
        files=len(files),
        bytes=sum(map(size, files)),
        current=about["engine"] == as_json(engine()),
        written=written.isoformat(timespec="seconds"),
        key=digest,
    )


def _debris(store: Store) -> Iterator[tuple[Path, str]]:
    """What damage and killed writers left."""
    for path in sorted(store.folder.rglob("*" + DAMAGED)):
        yield path, "damaged"
    for path in sorted(store.folder.rglob("*" + PART)):
        if time.time() - _written(path) > _ABANDONED:
            yield path, "never finished"


def _outdated(store: Store, older_than: float | None) -> Iterator[tuple[Path, str]]:
    for holding in holdings(store):
        for path in store.segments(holding.key).files():
            age = (time.time() - _written(path)) / _DAY
            if not holding.current:
                yield path, "scores by another version"
            elif older_than is not None and age > older_than:
                yield path, f"written {age:.0f} days ago"


def _written(path: Path) -> float:
    """When a file was written; one that has just been merged into another: now."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()
