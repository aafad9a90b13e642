"""Which files of a folder are taken for runs, and what is said of the others."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from riskcli.core.errors import InputError
from riskcli.core.notes import counted, listed
from riskcli.core.remote_path import RemotePath

_ENDINGS = "md rst py sh toml yaml yml json html pdf png svg tex xlsx log ini cfg"
IGNORED_SUFFIXES = frozenset(f".{ending}" for ending in _ENDINGS.split())
_NAMES = "readme readme.txt makefile dockerfile license license.txt copying thumbs.db"
IGNORED_NAMES = frozenset(_NAMES.split())
_NO_FOLDERS_OF_RUNS = ("__pycache__",)


@dataclass(frozen=True)
class Folders:
    """How folders are read: with those in them or not, and which files by their names.

    A pattern is a glob of a file's name, or, where it holds a slash, of its path in the folder.
    Files that fit one of `include` are taken whatever their ending.
    """

    recursive: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def takes(self, place: str) -> bool:
        """Whether the file at this place in the folder may be a run."""
        if any(_fits(place, pattern) for pattern in self.exclude):
            return False
        if self.include:
            return any(_fits(place, pattern) for pattern in self.include)
        name = PurePath(place.lower())
        return name.suffix not in IGNORED_SUFFIXES and name.name not in IGNORED_NAMES


@dataclass
class Listing:
    """What a folder holds."""

    taken: dict[Path, Path] = field(default_factory=dict)
    """The files that may be runs, by what they resolve to."""
    ignored: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    """Folders that were not looked into."""


def _fits(place: str, pattern: str) -> bool:
    name = place if "/" in pattern else place.rpartition("/")[2]
    return fnmatchcase(name, pattern)


def list_folder(folder: Path, folders: Folders, but: Sequence[Path] = ()) -> Listing:
    """A folder's files; those among `but` (the judgements), or open as an output, are no runs."""
    found = Listing()
    judgements = {path.resolve() for path in but}
    outputs = set(_outputs())
    home = folder.resolve()
    for place, entry, is_link in _entries(folder, "", folders.recursive, found.unread):
        resolved = entry.resolve() if is_link else home / place
        is_output = bool(outputs) and _identity(entry) in outputs
        if resolved in judgements or is_output or not folders.takes(place):
            found.ignored.append(place)
        else:
            found.taken.setdefault(resolved, entry)
    if not found.taken:
        raise InputError(folder, "empty-folder", _nothing(folders, found))
    return found


def _nothing(folders: Folders, found: Listing) -> str:
    """What is said of a folder without a run."""
    if found.unread:
        names = listed(sorted(found.unread))
        below = f"it holds {counted(len(found.unread), 'folder')} ({names})"
        return f"no run file in this folder; {below}: --recursive reads them"
    of_that_name = " of that name" if folders.include or folders.exclude else ""
    return f"no run file{of_that_name} in this folder"


def _entries(
    folder: Path, place: str, recursive: bool, unread: list[str]
) -> Iterator[tuple[str, Path, bool]]:
    """The visible files, their places and whether they are links; folders not read are noted."""
    try:
        visible = [entry for entry in _listed(folder) if not entry.name.startswith(".")]
        files = [entry for entry in visible if entry.is_file()]
        below = [entry for entry in visible if entry.is_dir()]
    except OSError as error:
        raise InputError(folder, "unreadable", error.strerror or str(error)) from error
    for entry in files:
        yield place + entry.name, _as_path(folder, entry), entry.is_symlink()
    for entry in below:
        if entry.name in _NO_FOLDERS_OF_RUNS:
            continue
        inside = place + entry.name
        if not recursive:
            unread.append(inside)
        elif not entry.is_symlink():  # a link may lead back up
            yield from _entries(_as_path(folder, entry), f"{inside}/", recursive, unread)


def _listed(folder: Path) -> Sequence[Path | os.DirEntry[str]]:
    """What a folder holds; entries know what their listing told of them, a file from a folder."""
    if isinstance(folder, RemotePath):
        return list(folder.iterdir())
    with os.scandir(folder) as entries:
        return list(entries)


def _as_path(folder: Path, entry: Path | os.DirEntry[str]) -> Path:
    return entry if isinstance(entry, Path) else folder / entry.name


def _outputs() -> Iterator[tuple[int, int]]:
    """The files that the shell made for what is printed: they are no runs."""
    for descriptor in (1, 2):
        try:
            status = os.fstat(descriptor)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            yield status.st_dev, status.st_ino


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
