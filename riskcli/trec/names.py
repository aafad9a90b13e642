"""What a run is called: its tag where all tags differ, else its file's name.

Files of one name get the shortest end of their paths that differs (`exp1/run`), and
`NAME=FILE` gives a name.
"""

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from riskcli.core.choices import is_virtual
from riskcli.core.files import as_text
from riskcli.core.locations import DataSetPath, RemotePath, place_of
from riskcli.core.messages import Note, UsageError
from riskcli.trec.findings import Finding

_ENDING = re.compile(r"\.(txt|run|res|trec|gz|bz2|xz|zst|lz4)$", re.IGNORECASE)

Tagged = Sequence[tuple[Path, str | None]]
"""Files of one run each, with the tag that all of its lines carry, if they do."""


def name_runs(files: Tagged, rule: str = "auto") -> tuple[list[str], list[Note]]:
    """A name for each file, and a note where tags were there but could not be used."""
    by_tag, names = names_by_rule(files, rule)
    for finding in inspect_names(names, [path for path, _ in files]):
        shared = finding.code == "shared-name"
        raise UsageError(finding.message if shared else f"{finding.path}: {finding.message}")
    notes = []
    if rule == "auto" and not by_tag and len(files) > 1:
        message = "runs are named by their files: their tags do not tell them apart"
        notes.append(Note("named-by-file", message, warning=False))
    return [name or "" for name in names], notes


def names_by_rule(files: Tagged, rule: str) -> tuple[bool, list[str | None]]:
    """Whether the tags name the runs, and the names; None where a tag should and there is none."""
    tags = [tag for _, tag in files]
    distinct = None not in tags and len(set(tags)) == len(tags)
    by_tag = rule == "tag" or (rule == "auto" and distinct)
    return by_tag, tags if by_tag else list(file_names([path for path, _ in files]))


def file_names(paths: Sequence[Path]) -> list[str]:
    """The files' names; equal ones with the shortest end of their paths that differs."""
    alike: dict[str, list[Path]] = defaultdict(list)
    for path in paths:
        alike[file_name(path)].append(path)
    name_of = {path: name for name, group in alike.items() for path, name in _apart(name, group)}
    return [name_of[path] for path in paths]


def _apart(name: str, paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """The paths of one file name, each with what it is called."""
    if len(paths) == 1:
        yield paths[0], name
        return
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        for ended in (True, False) if depth == 1 else (False, True):
            ends = [_end(path, depth, path.name if ended else name) for path in paths]
            if len(set(ends)) == len(ends):
                yield from zip(paths, ends, strict=True)
                return
    yield from ((path, name) for path in paths)


def _end(path: Path, depth: int, name: str) -> str:
    """The last parts of a path, as many as `depth`, with that name for the file."""
    folders = [part for part in path.parts[-depth:-1] if part != path.anchor]
    return as_text("/".join([*folders, name]))


def named_place(place: Path | str) -> tuple[str | None, Path]:
    """The name that `NAME=FILE` gives, if it does, and the file or folder."""
    path = place_of(place)
    name, equals, rest = str(place).partition("=")
    if isinstance(path, DataSetPath):
        return None, path.as_run()
    if isinstance(path, RemotePath):
        named = equals and name and isinstance(place_of(rest), RemotePath) and ":" not in name
        return (as_text(name), place_of(rest)) if named else (None, path)
    if equals and name and os.path.lexists(rest) and not os.path.lexists(path):
        return as_text(name), Path(rest)
    return None, path


def each_baseline(names: Iterable[str], known: Collection[str]) -> list[str]:
    """The baselines, `a,b` split into two unless a run or file has that name."""
    baselines: list[str] = []
    for name in names:
        parts = [part.strip() for part in name.split(",")]
        whole = len(parts) == 1 or name in known or os.path.lexists(named_place(name)[1])
        baselines += [name] if whole or not all(parts) else parts
    return list(dict.fromkeys(baselines))


def name_of_baseline(run: str, others: Collection[str]) -> str:
    """Name for a run of a file of earlier scores: it differs from those of `others`."""
    return f"{run} (baseline)" if run in others else run


def file_name(path: Path) -> str:
    """The file's name without `input.` in front and the usual endings behind."""
    spelled = as_text(path.name)
    name = spelled.removeprefix("input.")
    while (shorter := _ENDING.sub("", name)) not in (name, ""):
        name = shorter
    return name or spelled


def refuse_virtual_names(runs: Collection[str] | Mapping[str, Path]) -> None:
    """Refuse names of runs, perhaps with their files, that virtual baselines would be taken for."""
    for run in filter(is_virtual, runs):
        where = f"{runs[run]}: " if isinstance(runs, Mapping) else ""
        raise UsageError(where + _taken(run))


def _taken(name: str) -> str:
    return f"a run cannot be named {name!r}: '@' marks virtual baselines"


def inspect_names(names: Sequence[str | None], paths: Sequence[Path]) -> Iterator[Finding]:
    """What is wrong with the names of runs that are to be compared."""
    owners: dict[str, Path] = {}
    for name, path in zip(names, paths, strict=True):
        if name is None:
            message = (
                "its lines carry different tags, or none; "
                "use --run-names file to name it by its file"
            )
            yield Finding(path, None, "no-tag", message)
            continue
        if is_virtual(name):
            yield Finding(path, None, "virtual-name", _taken(name))
        first = owners.setdefault(name, path)
        if first is not path:
            message = (
                f"two runs are named {name!r}: {first} and {path}; "
                "name them by their files (--run-names file), or one of them as NAME=FILE"
            )
            yield Finding(path, None, "shared-name", message)
