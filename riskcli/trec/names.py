"""What a run is called: its tag where the tags tell runs apart, else its file's name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from riskcli.core.errors import UsageError
from riskcli.core.notes import Note
from riskcli.trec.findings import Finding

RULES = ("auto", "tag", "file")
_ENDING = re.compile(r"\.(txt|run|res|trec|gz|bz2|xz)$", re.IGNORECASE)


def name_runs(
    files: Sequence[tuple[Path, str | None]], rule: str = "auto"
) -> tuple[list[str], list[Note]]:
    """A name for each (file, tag), and a note where tags were there but could not be used."""
    tags = [tag for _, tag in files]
    distinct = None not in tags and len(set(tags)) == len(tags)
    by_tag = rule == "tag" or (rule == "auto" and distinct)
    names = [_tag_of(path, tag) if by_tag else file_name(path) for path, tag in files]
    _refuse_doubles(names, [path for path, _ in files])
    notes = []
    if rule == "auto" and not distinct and len(files) > 1:
        message = "runs are named by their files: their tags do not tell them apart"
        notes.append(Note("named-by-file", message, warning=False))
    return names, notes


def file_name(path: Path) -> str:
    """The file's name without `input.` in front and the usual endings behind."""
    name = path.name.removeprefix("input.")
    while (shorter := _ENDING.sub("", name)) not in (name, ""):
        name = shorter
    return name or path.name


def _tag_of(path: Path, tag: str | None) -> str:
    if tag is None:
        raise UsageError(
            f"{path}: its lines carry different tags, or none; "
            "use --run-names file to name it by its file"
        )
    return tag


def refuse_virtual_name(path: Path, name: str) -> None:
    """Refuse the name of a run that a virtual baseline could bear."""
    if name.startswith("@"):
        raise UsageError(f"{path}: {_virtual(name)}")


def _virtual(name: str) -> str:
    return f"a run cannot be named {name!r}: '@' marks virtual baselines"


def inspect_names(names: Sequence[str], paths: Sequence[Path]) -> Iterator[Finding]:
    """What is wrong with the names of runs that are to be compared."""
    owners: dict[str, Path] = {}
    for name, path in zip(names, paths, strict=True):
        if name.startswith("@"):
            yield Finding(path, None, "virtual-name", _virtual(name))
        first = owners.setdefault(name, path)
        if first is not path:
            message = (
                f"two runs are named {name!r}: {first} and {path}; "
                "rename one, or choose names with --run-names tag|file"
            )
            yield Finding(path, None, "shared-name", message)


def _refuse_doubles(names: Sequence[str], paths: Sequence[Path]) -> None:
    for found in inspect_names(names, paths):
        virtual = found.code == "virtual-name"
        raise UsageError(f"{found.path}: {found.message}" if virtual else found.message)
