"""What the runs of many files are called, and the baselines that are files of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path

from riskcli.core.choices import is_virtual
from riskcli.core.messages import Note, UsageError
from riskcli.scores.file_scores import Gatherer
from riskcli.scores.matrix import of_one_run
from riskcli.scores.reading import Part, Reader
from riskcli.trec.names import (
    each_baseline,
    name_of_baseline,
    name_runs,
    named_place,
    names_by_rule,
    refuse_virtual_names,
)


def with_baseline_files(
    reader: Reader,
    gatherer: Gatherer,
    parts: list[Part],
    baselines: Sequence[str],
    given: dict[Path, str],
) -> tuple[list[Part], dict[str, str], list[Note]]:
    """The parts, named; with a part for each baseline that is a file and not yet among them.

    `given` are names by file.
    """
    rule, count = reader.rules.run_names, len(parts)
    named, notes = _named(parts, rule, given)
    known = runs_of(named)
    files = {
        baseline: named_place(baseline)
        for baseline in each_baseline(baselines, known)
        if baseline not in known and not is_virtual(baseline) and _is_read(baseline)
    }
    if not files:
        return named, {}, notes
    places = {part.path.resolve(): index for index, part in enumerate(parts)}
    for name, path in files.values():
        if path.resolve() not in places:
            places[path.resolve()] = len(parts)
            parts = [*parts, gatherer.part(path)]
        if name is not None:
            given[parts[places[path.resolve()]].path] = name
    named, notes = _named(parts, rule, given, count)
    added = {
        baseline: only_run(named[places[path.resolve()]]) for baseline, (_, path) in files.items()
    }
    return named, added, notes


def _is_read(baseline: str) -> bool:
    """Whether a baseline names a file, a pipe or a process substitution."""
    _, path = named_place(baseline)
    return baseline != "" and path.exists() and not path.is_dir()


def without_own_scores(
    parts: Sequence[Part], of_folders: Collection[Path], rule: str, given: Mapping[Path, str]
) -> tuple[list[Part], list[Path]]:
    """The parts but files of scores that lay in a folder with the very runs; and those files.

    Such a file is the matrix of those runs, kept from before.
    """
    files = [part for part in parts if part.kind == "run"]
    kept = [part for part in parts if part.kind == "scores" and part.named]
    if not files or not any(part.path in of_folders for part in kept):
        return list(parts), []
    unnamed = [(part.path, part.tag) for part in files if part.path not in given]
    runs = {*names_by_rule(unnamed, rule)[1], *given.values()}
    own = [part.path for part in kept if part.path in of_folders and runs_of([part]) <= runs]
    return [part for part in parts if part.path not in own], own


def runs_of(parts: Iterable[Part]) -> set[str]:
    """The names of all runs in these parts."""
    return {run for part in parts for matrix in part.matrices for run in matrix.runs}


def only_run(part: Part) -> str:
    """The name of the one run in a part; an error where there are more."""
    runs = runs_of([part])
    if len(runs) != 1:
        raise UsageError(f"{part.path} holds {len(runs)} runs, a baseline file must hold one")
    return runs.pop()


def _named(
    parts: Sequence[Part], rule: str, given: Mapping[Path, str], count: int | None = None
) -> tuple[list[Part], list[Note]]:
    """The parts with names for their runs; those from `count` on are files of baselines."""
    runs = [(p.path, p.tag) for p in parts if not p.named and p.path not in given]
    names, notes = name_runs(runs, rule)
    waiting = iter(names)
    wanted = [given.get(part.path) or (None if part.named else next(waiting)) for part in parts]
    named = _renamed(parts, wanted)
    if count is not None:
        known, baselines = runs_of(named[:count]), named[count:]
        named[count:] = _renamed(baselines, [_name_as_baseline(each, known) for each in baselines])
    _refuse_shared_names(named)
    return named, notes


def _renamed(parts: Sequence[Part], names: Sequence[str | None]) -> list[Part]:
    """The parts, those that get a name with that name for their one run."""
    for part, name in zip(parts, names, strict=True):
        if name is not None and len(runs := runs_of([part])) != 1:
            message = f"{name}={part.path}: a name is for one run, the file holds {len(runs)}"
            raise UsageError(message)
    return [
        part if name is None else replace(part, matrices=of_one_run(name, part.matrices))
        for part, name in zip(parts, names, strict=True)
    ]


def _name_as_baseline(part: Part, known: Set[str]) -> str | None:
    """Scores kept from before, of a run that is named as one at hand, are its baseline's."""
    if not part.named or len(runs_of([part])) != 1:
        return None
    (run,) = runs_of([part])
    return name_of_baseline(run, known)


def _refuse_shared_names(parts: Sequence[Part]) -> None:
    owners: dict[tuple[str, str], Path] = {}
    for part in parts:
        for matrix in part.matrices:
            for run in matrix.runs:
                first = owners.setdefault((matrix.measure, run), part.path)
                if first is not part.path:
                    raise UsageError(
                        f"two runs are named {run!r}: in {first} and {part.path}"
                        f"{_way_out(parts, (first, part.path))}"
                    )
    refuse_virtual_names({run: path for (_, run), path in owners.items()})


def _way_out(parts: Sequence[Part], paths: Sequence[Path]) -> str:
    """What helps, if one of the files holds a single run."""
    one = [part.path for part in parts if part.path in paths and len(runs_of([part])) == 1]
    return f"; NAME={one[0]} gives one of them another name" if one else ""
