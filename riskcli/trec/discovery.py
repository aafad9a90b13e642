"""Which files are the runs, and which one holds the judgements."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from riskcli.core.files import refuse_outside
from riskcli.core.inputs import identity
from riskcli.core.locations import RemotePath, place_of
from riskcli.core.messages import InputError, Note, UsageError, counted, listed, natural_order
from riskcli.core.settings import load_settings, settings_folder
from riskcli.trec.findings import text_lines, whole_number
from riskcli.trec.names import named_place
from riskcli.trec.source import TextFile

_ENDINGS = (
    "md rst py sh toml yaml yml json html pdf png svg tex xlsx log ini cfg ipynb xml bib bin pkl "
    "npy npz"
)
IGNORED_SUFFIXES = frozenset(f".{ending}" for ending in _ENDINGS.split())
_NAMES = (
    "readme readme.txt makefile dockerfile license license.txt copying thumbs.db notes notes.txt "
    "todo.txt"
)
ALTERNATIVE = ".alt.txt"
"""How the name of the description of a figure ends."""
PASSED_OVER, OTHER_KINDS, EMPTY = "files-passed-over", "files-of-other-kinds", "empty-files"
"""Codes of notes on a folder's files: left out by name or as own results, for content, empty."""
BEGIN_AS_RUNS = "runs-passed-over"
"""That of a warning of files that are left out by name, but begin as runs."""
_BACKUP = re.compile(r"(?:#(.+)#|(.+?)(?:~|\.bak|\.orig|\.swp))", re.IGNORECASE)
"""What editors call what they saved, and the file that it was made from."""
_MOST_NAMED = 20
IGNORED_NAMES = frozenset(_NAMES.split())


@dataclass(frozen=True)
class Folders:
    """How folders are read: with those in them or not, and which files by their names.

    A pattern is a glob of a file's name, or, where it holds a slash, of its path in the folder.
    Files that fit one of `include` are taken whatever their ending.
    """

    recursive: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def wants(self, path: str) -> bool:
        """Whether the file at this place in the folder may be taken, as far as patterns say."""
        if any(_fits(path, pattern) for pattern in self.exclude):
            return False
        return not self.include or any(_fits(path, pattern) for pattern in self.include)

    def ignores(self, path: str) -> bool:
        """Whether the file's name is that of no run, and no pattern takes it."""
        name = PurePath(path.lower())
        known = name.suffix in IGNORED_SUFFIXES or name.name in IGNORED_NAMES
        known = known or name.name.endswith(ALTERNATIVE)
        return not self.include and (known or _BACKUP.fullmatch(name.name) is not None)


@dataclass
class Listing:
    """What a folder holds."""

    taken: dict[Path, Path] = field(default_factory=dict)
    """The files that may be runs, by what they resolve to."""
    ignored: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)
    """Those of the ignored files that begin as runs."""
    unread: list[str] = field(default_factory=list)
    """Folders that were not looked into."""


def _doubtful(names: Sequence[str]) -> str:
    """What is said of files that are ignored for their names, but begin as runs."""
    skipped = f"skipped for their names, but begin as runs: {listed(sorted(names), _MOST_NAMED)}"
    return f"{skipped} (--include '*' takes every file)"


def _fits(path: str, pattern: str) -> bool:
    name = path if "/" in pattern else path.rpartition("/")[2]
    return fnmatchcase(name, pattern)


def list_folder(folder: Path, folders: Folders, but: Sequence[Path] = ()) -> Listing:
    """A folder's files; those among `but` (the judgements), or open as an output, are no runs."""
    listing = Listing()
    judgements = {path.resolve() for path in but}
    # The files that the shell made for what is printed are no runs.
    outputs = {identity(descriptor) for descriptor in (1, 2)} - {None}
    home = folder.resolve()
    for inner, entry, is_link in _entries(folder, "", folders.recursive, listing.unread):
        resolved = entry.resolve() if is_link else home / inner
        is_output = bool(outputs) and identity(entry) in outputs
        if resolved in judgements or is_output or not folders.wants(inner):
            listing.ignored.append(inner)
        elif folders.ignores(inner):
            listing.ignored.append(inner)
            if not _is_backup(entry) and _begins_as_run(entry):
                listing.doubtful.append(inner)
        else:
            listing.taken.setdefault(resolved, entry)
    if not listing.taken:
        raise InputError(folder, "empty-folder", _nothing(folders, listing))
    return listing


def _is_backup(file: Path) -> bool:
    """Whether it is an editor's copy of a file that lies beside it."""
    match = _BACKUP.fullmatch(file.name)
    return match is not None and (file.parent / (match[1] or match[2])).exists()


def _begins_as_run(file: Path) -> bool:
    """Whether a file that is ignored for its name holds a run."""
    if isinstance(file, RemotePath):
        return False
    from riskcli.trec.mistaken import begins_as_run  # late: few folders need it

    return begins_as_run(file)


def _nothing(folders: Folders, listing: Listing) -> str:
    """Message for a folder without a run."""
    if listing.doubtful:
        return f"no run file in this folder; {_doubtful(listing.doubtful)}"
    if listing.unread:
        names = listed(sorted(listing.unread))
        below = f"it holds {counted(len(listing.unread), 'folder')} ({names})"
        return f"no run file in this folder; {below}: --include '**' reads them"
    of_that_name = " of that name" if folders.include or folders.exclude else ""
    return f"no run file{of_that_name} in this folder"


def _entries(
    folder: Path, prefix: str, recursive: bool, unread: list[str]
) -> Iterator[tuple[str, Path, bool]]:
    """The visible files, their places and whether they are links; folders not read are noted."""
    try:
        visible = [entry for entry in _listed(folder) if not entry.name.startswith(".")]
        files = [entry for entry in visible if entry.is_file()]
        below = [entry for entry in visible if entry.is_dir() and entry.name != "__pycache__"]
    except OSError as error:
        raise InputError(folder, "unreadable", error.strerror or str(error)) from error
    for entry in files:
        yield prefix + entry.name, _as_path(folder, entry), entry.is_symlink()
    for entry in below:
        inside = prefix + entry.name
        if not recursive:
            unread.append(inside)
        elif not entry.is_symlink():  # a link may lead back up
            yield from _entries(_as_path(folder, entry), f"{inside}/", recursive, unread)


def _listed(folder: Path) -> Sequence[Path | os.DirEntry[str]]:
    """Entries of a folder; those of `os.scandir` know without another call if they are files."""
    if isinstance(folder, RemotePath):
        return list(folder.iterdir())
    with os.scandir(folder) as entries:
        return list(entries)


def _as_path(folder: Path, entry: Path | os.DirEntry[str]) -> Path:
    return entry if isinstance(entry, Path) else folder / entry.name


# Which files are the runs, and which one holds the judgements.


@dataclass(frozen=True)
class RunFiles:
    """The files to read, and what was passed over on the way."""

    files: tuple[Path, ...]
    notes: tuple[Note, ...]
    names: Mapping[Path, str] = field(default_factory=dict)
    """Those that were given as `NAME=FILE`, by file."""
    of_folders: frozenset[Path] = frozenset()
    """Files that were found in a folder, not named one by one."""


def find_files(
    places: Iterable[Path | str], but: Sequence[Path] = (), folders: Folders | None = None
) -> RunFiles:
    """The files among `places` and in the folders among them, each once, in natural order.

    A folder's files that are among `but` (the judgements) are passed over. `NAME=FILE` names a
    file's run.
    """
    files: dict[Path, Path] = {}
    names: dict[Path, str] = {}
    named: set[Path] = set()
    ignored: list[str] = []
    doubtful: list[str] = []
    unread: list[str] = []
    for name, place in map(named_place, places):
        if name is not None and place.is_dir():
            raise UsageError(f"{name}={place}: a name is for one file, found a folder")
        if place.is_dir():
            listing = list_folder(place, folders or Folders(), but)
            taken, ignored = listing.taken, ignored + listing.ignored
            doubtful += listing.doubtful
            unread += [str(place / name) for name in listing.unread]
        elif place.exists():
            taken = {place.resolve(): place}
            named |= taken.keys()
        else:
            raise InputError(place, "not-found", "no such file or folder")
        for resolved, file in taken.items():
            files.setdefault(resolved, file)
            if name is not None and names.setdefault(resolved, name) != name:
                other = names[resolved]
                raise UsageError(f"{file} is named {other!r} and {name!r}: give it one name")
    given = {files[resolved]: name for resolved, name in names.items()}
    of_folders = frozenset(path for resolved, path in files.items() if resolved not in named)
    notes = tuple(_notes(sorted(ignored), doubtful, sorted(unread)))
    by_path = sorted(files.values(), key=str)
    order = natural_order([file.name for file in by_path])
    return RunFiles(tuple(by_path[i] for i in order), notes, given, of_folders)


def _notes(
    ignored: Sequence[str], doubtful: Sequence[str], unread: Sequence[str]
) -> Iterator[Note]:
    if ignored:
        yield passed_over(ignored)
    if doubtful:
        yield Note(BEGIN_AS_RUNS, _doubtful(doubtful))
    if unread:
        message = f"folders in folders are not read (--include '**' reads them): {listed(unread)}"
        yield Note("folders-not-read", message)


def passed_over(names: Iterable[str], most: int = 5, code: str = PASSED_OVER) -> Note:
    """The news that files of folders are no runs."""
    return Note(code, f"skipped in folders (not runs): {listed(names, most)}", warning=False)


def neighbours(errors: Sequence[InputError]) -> list[Note]:
    """The news of files in folders that hold no runs, and a warning of empty ones."""
    from riskcli.trec.mistaken import KIND, what_is_in  # late: few folders need it

    names = {error: f"{Path(error.path).name} ({what_is_in(error)})" for error in errors}
    empty = [name for error, name in names.items() if error.code == "empty-file"]
    others = [name for name in names.values() if name not in empty]
    of_kind = any(error.code == KIND for error in errors)
    code = OTHER_KINDS if of_kind else PASSED_OVER
    notes = [passed_over(sorted(others), _MOST_NAMED, code)] if others else []
    warning = f"skipped in folders (empty): {listed(sorted(empty), _MOST_NAMED)}"
    return [*notes, Note(EMPTY, warning)] if empty else notes


def find_qrels(given: Path | str | None, places: Iterable[Path | str]) -> tuple[Path, str]:
    """The qrels file and how it was found: the option, the environment, a setting, or a place."""
    if given is not None:
        return _one_file(place_of(given), "--qrels"), "given"
    from_environment = os.environ.get("RISKEVAL_QRELS")
    if from_environment:
        return _one_file(place_of(from_environment), "RISKEVAL_QRELS"), "from RISKEVAL_QRELS"
    configured = _configured_qrels()
    if configured is not None:
        return configured
    return _nearby_qrels(places), "found"


def _nearby_qrels(places: Iterable[Path | str]) -> Path:
    """`qrels` in the current folder or in that of the runs."""
    here = [path for path in map(place_of, places) if not isinstance(path, RemotePath)]
    folders = [Path(), *(Path(os.path.normpath(path)).absolute().parent for path in here)]
    candidates: dict[Path, Path] = {}
    for folder in folders:
        path = folder / "qrels"
        for file in _candidates(path):
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


def _candidates(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path] if path.exists() else []
    return [
        entry
        for entry in sorted(path.iterdir())
        if entry.is_file()
        and not entry.name.startswith(".")
        and entry.suffix.lower() not in IGNORED_SUFFIXES
    ]


def _one_file(path: Path, source: str) -> Path:
    """The file at `spot`, or the only one in the folder there."""
    if not path.exists():
        raise InputError(path, "not-found", f"no such file or folder ({source})")
    files = _candidates(path)
    if len(files) != 1:
        raise UsageError(
            f"{source}: {path} holds {len(files)} files ({listed(f.name for f in files)}), "
            "expected one qrels file"
        )
    return files[0]


def _configured_qrels() -> tuple[Path, str] | None:
    """The file that the settings here name, or the only one in the folder that they name."""
    setting = load_settings().get("qrels")
    if setting is None:
        return None
    folder = settings_folder()
    refuse_outside("qrels", folder / str(setting.value), folder)
    file = _one_file(folder / str(setting.value), setting.source)
    refuse_outside("qrels", file, folder)
    return file, f"from {setting.source}"


# Judgements before the runs, as trec_eval and ir_measures have them on their command lines.


_JUDGED = 4
_SAMPLE = 2**16
_LINES = 50
_HEADINGS = ("run", "runid", "run_id", "system")
"""How a table of scores begins, that may have three topics and whole numbers below."""


def judgements_first(
    places: Sequence[Path | str], qrels: Path | str | None
) -> tuple[list[Path | str], Path | str | None, list[Note]]:
    """The places of runs, the judgements, and news where they stood first among the places."""
    given = list(places)
    if qrels is not None or not given:
        return given, qrels, []
    name, first = named_place(given[0])
    if name is not None or not first.is_file() or not _holds_judgements(first):
        return given, None, []
    if len(given) == 1:
        raise UsageError(f"{first} holds judgements: name runs behind it, or give it with --qrels")
    message = f"judgements: {first} (the first file, as in trec_eval's order)"
    return given[1:], first, [Note("qrels-first", message, warning=False)]


def _holds_judgements(path: Path) -> bool:
    """Whether the file begins as judgements."""
    try:
        return begins_as_judgements(TextFile(path).start[:_SAMPLE])
    except InputError:
        return False


def begins_as_judgements(start: bytes) -> bool:
    """Whether the first lines are `topic iteration docno grade`, which no run and no score is."""
    lines = [line.decode(errors="replace").split() for _, line in text_lines(start)]
    lines = [parts for parts in lines if not parts[0].startswith("#")][:_LINES]
    if not lines or lines[0][0] in _HEADINGS:
        return False
    judged = [len(parts) == _JUDGED and whole_number(parts[-1]) is not None for parts in lines]
    return judged[0] and 2 * sum(judged) > len(lines)
