"""What a run is called: its tag where the tags tell runs apart, else its file's name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from riskcli.core.choices import is_virtual
from riskcli.core.errors import UsageError
from riskcli.core.files import as_text
from riskcli.core.notes import Note
from riskcli.trec.findings import Finding

_ENDING = re.compile(r"\.(txt|run|res|trec|gz|bz2|xz)$", re.IGNORECASE)

Tagged = Sequence[tuple[Path, str | None]]
"""Files of one run each, with the tag that all of its lines carry, if they do."""


def name_runs(files: Tagged, rule: str = "auto") -> tuple[list[str], list[Note]]:
    """A name for each file, and a note where tags were there but could not be used."""
    by_tag, names = names_by_rule(files, rule)
    for finding in inspect_names(names, [path for path, _ in files]):
        whole = finding.code == "shared-name"
        raise UsageError(finding.message if whole else f"{finding.path}: {finding.message}")
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
    return by_tag, [tag if by_tag else file_name(path) for path, tag in files]


def file_name(path: Path) -> str:
    """The file's name without `input.` in front and the usual endings behind."""
    spelled = as_text(path.name)
    name = spelled.removeprefix("input.")
    while (shorter := _ENDING.sub("", name)) not in (name, ""):
        name = shorter
    return name or spelled


def refuse_virtual_name(run: str, path: Path | None = None) -> None:
    """Refuse the name of a run that would be taken for a virtual baseline."""
    if is_virtual(run):
        raise UsageError(_taken(run) if path is None else f"{path}: {_taken(run)}")


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
                "rename one, or choose names with --run-names tag|file"
            )
            yield Finding(path, None, "shared-name", message)
