"""Which files are the runs, and which one holds the judgements."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from riskcli.core.errors import InputError, UsageError
from riskcli.core.files import refuse_outside
from riskcli.core.notes import Note, listed
from riskcli.core.order import natural_key
from riskcli.core.settings import load_settings, settings_folder
from riskcli.trec.names import named_place

IGNORED_SUFFIXES = frozenset(
    f".{ending}"
    for ending in (
        "md",
        "rst",
        "py",
        "sh",
        "toml",
        "yaml",
        "yml",
        "json",
        "html",
        "pdf",
        "png",
        "log",
    )
)


@dataclass(frozen=True)
class Found:
    """The files to read, and what was passed over on the way."""

    files: tuple[Path, ...]
    notes: tuple[Note, ...]
    names: Mapping[Path, str] = field(default_factory=dict)
    """Those that were given as `NAME=FILE`, by file."""


def find_files(places: Iterable[Path | str], but: Path | None = None) -> Found:
    """The files among `places` and in the folders among them, each once, in natural order.

    A folder's file that is `but` (the judgements) is passed over. `NAME=FILE` names a file's run.
    """
    files: dict[Path, Path] = {}
    names: dict[Path, str] = {}
    ignored: list[str] = []
    for name, place in map(named_place, places):
        if name is not None and place.is_dir():
            raise UsageError(f"{name}={place}: a name is for one file, found a folder")
        if place.is_dir():
            taken, passed_over = _in_folder(place, but)
            ignored += passed_over
        elif place.exists():
            taken = {place.resolve(): place}
        else:
            raise InputError(place, "not-found", "no such file or folder")
        for resolved, file in taken.items():
            files.setdefault(resolved, file)
            if name is not None:
                names[resolved] = _the_only_name(name, names.get(resolved, name), file)
    message = f"skipped in folders (not runs): {listed(sorted(ignored))}"
    notes = (Note("files-passed-over", message, warning=False),) if ignored else ()
    given = {files[resolved]: name for resolved, name in names.items()}
    return Found(tuple(sorted(files.values(), key=_by_name)), notes, given)


def _the_only_name(name: str, other: str, file: Path) -> str:
    if name != other:
        raise UsageError(f"{file} is named {other!r} and {name!r}: give it one name")
    return name


def _by_name(file: Path) -> tuple[object, str]:
    return natural_key(file.name), str(file)


def _in_folder(folder: Path, but: Path | None) -> tuple[dict[Path, Path], list[str]]:
    """A folder's files that may be runs, by what they resolve to; and the names of the others."""
    try:
        visible = [e for e in folder.iterdir() if e.is_file() and not e.name.startswith(".")]
    except OSError as error:
        raise InputError(folder, "unreadable", error.strerror or str(error)) from error
    home = folder.resolve()
    judgements = but.resolve() if but is not None else None
    taken: dict[Path, Path] = {}
    ignored = []
    for entry in visible:
        resolved = entry.resolve() if entry.is_symlink() else home / entry.name
        if entry.suffix.lower() in IGNORED_SUFFIXES or resolved == judgements:
            ignored.append(entry.name)
        else:
            taken.setdefault(resolved, entry)
    if not taken:
        raise InputError(folder, "empty-folder", "no run file in this folder")
    return taken, ignored


def find_qrels(given: Path | str | None, places: Iterable[Path | str]) -> tuple[Path, str]:
    """The qrels file and how it was found: the option, the environment, a setting, or a place."""
    if given is not None:
        return _one_file(Path(given), "--qrels"), "given"
    from_environment = os.environ.get("RISKEVAL_QRELS")
    if from_environment:
        return _one_file(Path(from_environment), "RISKEVAL_QRELS"), "from RISKEVAL_QRELS"
    configured = _configured_qrels()
    if configured is not None:
        file, source = configured
        return _one_file(file, source), f"from {source}"
    return _beside(places), "found"


def _beside(places: Iterable[Path | str]) -> Path:
    """`qrels` in the current folder or beside the runs."""
    folders = [Path(), *(Path(os.path.normpath(place)).absolute().parent for place in places)]
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
