"""Which files are the runs, and which one holds the judgements."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from riskcli.core.errors import InputError, UsageError
from riskcli.core.files import refuse_outside
from riskcli.core.notes import Note, listed
from riskcli.core.order import natural_order
from riskcli.core.remote_path import RemotePath, place_of
from riskcli.core.settings import load_settings, settings_folder
from riskcli.trec.folders import IGNORED_SUFFIXES, Folders, list_folder
from riskcli.trec.names import named_place


@dataclass(frozen=True)
class Found:
    """The files to read, and what was passed over on the way."""

    files: tuple[Path, ...]
    notes: tuple[Note, ...]
    names: Mapping[Path, str] = field(default_factory=dict)
    """Those that were given as `NAME=FILE`, by file."""
    of_folders: frozenset[Path] = frozenset()
    """Files that nobody named: they lay in a folder."""


def find_files(
    places: Iterable[Path | str], but: Sequence[Path] = (), folders: Folders | None = None
) -> Found:
    """The files among `places` and in the folders among them, each once, in natural order.

    A folder's files that are among `but` (the judgements) are passed over. `NAME=FILE` names a
    file's run.
    """
    files: dict[Path, Path] = {}
    names: dict[Path, str] = {}
    named: set[Path] = set()
    ignored: list[str] = []
    unread: list[str] = []
    for name, place in map(named_place, places):
        if name is not None and place.is_dir():
            raise UsageError(f"{name}={place}: a name is for one file, found a folder")
        if place.is_dir():
            listing = list_folder(place, folders or Folders(), but)
            taken, ignored = listing.taken, ignored + listing.ignored
            unread += [str(place / name) for name in listing.unread]
        elif place.exists():
            taken = {place.resolve(): place}
            named |= taken.keys()
        else:
            raise InputError(place, "not-found", "no such file or folder")
        for resolved, file in taken.items():
            files.setdefault(resolved, file)
            if name is not None:
                names[resolved] = _the_only_name(name, names.get(resolved, name), file)
    given = {files[resolved]: name for resolved, name in names.items()}
    of_folders = frozenset(path for resolved, path in files.items() if resolved not in named)
    notes = tuple(_notes(sorted(ignored), sorted(unread)))
    by_path = sorted(files.values(), key=str)
    order = natural_order([file.name for file in by_path])
    return Found(tuple(by_path[i] for i in order), notes, given, of_folders)


def _notes(ignored: Sequence[str], unread: Sequence[str]) -> Iterator[Note]:
    if ignored:
        yield passed_over(ignored)
    if unread:
        message = f"folders in folders are not read (--recursive reads them): {listed(unread)}"
        yield Note("folders-not-read", message)


def passed_over(names: Iterable[str]) -> Note:
    """The news that files of folders are no runs."""
    return Note(
        "files-passed-over", f"skipped in folders (not runs): {listed(names)}", warning=False
    )


def _the_only_name(name: str, other: str, file: Path) -> str:
    if name != other:
        raise UsageError(f"{file} is named {other!r} and {name!r}: give it one name")
    return name


def find_qrels(given: Path | str | None, places: Iterable[Path | str]) -> tuple[Path, str]:
    """The qrels file and how it was found: the option, the environment, a setting, or a place."""
    if given is not None:
        return _one_file(place_of(given), "--qrels"), "given"
    from_environment = os.environ.get("RISKEVAL_QRELS")
    if from_environment:
        return _one_file(place_of(from_environment), "RISKEVAL_QRELS"), "from RISKEVAL_QRELS"
    configured = _configured_qrels()
    if configured is not None:
        file, source = configured
        return _one_file(file, source), f"from {source}"
    return _beside(places), "found"


def _beside(places: Iterable[Path | str]) -> Path:
    """`qrels` in the current folder or beside the runs."""
    here = [place for place in map(place_of, places) if not isinstance(place, RemotePath)]
    folders = [Path(), *(Path(os.path.normpath(place)).absolute().parent for place in here)]
    candidates: dict[Path, Path] = {}
    for folder in folders:
        spot = folder / "qrels"
        for file in _candidates(spot):
            candidates.setdefault(file.resolve(), file)
    if len(candidates) > 1:
        names = ", ".join(str(file) for file in candidates.values())
        raise UsageError(f"more than one qrels file found: {names}; choose one with --qrels")
    if not candidates:
        raise UsageError(
            "no qrels found: name the file with --qrels (looked for `qrels` in the current "
            "folder and beside the runs)"
        )
    return next(iter(candidates.values()))


def _candidates(spot: Path) -> list[Path]:
    if not spot.is_dir():
        return [spot] if spot.exists() else []
    return [
        entry
        for entry in sorted(spot.iterdir())
        if entry.is_file()
        and not entry.name.startswith(".")
        and entry.suffix.lower() not in IGNORED_SUFFIXES
    ]


def _one_file(spot: Path, source: str) -> Path:
    """The file at `spot`, or the only one in the folder there."""
    if not spot.exists():
        raise InputError(spot, "not-found", f"no such file or folder ({source})")
    files = _candidates(spot)
    if len(files) != 1:
        raise UsageError(
            f"{source}: {spot} holds {len(files)} files ({listed(f.name for f in files)}), "
            "expected one qrels file"
        )
    return files[0]


def _configured_qrels() -> tuple[Path, str] | None:
    """The file that the settings here name."""
    setting = load_settings().get("qrels")
    if setting is None:
        return None
    folder = settings_folder()
    path = folder / str(setting.value)
    refuse_outside("qrels", path, folder)
    return path, setting.source
