"""Who belongs to which team, what a run is called in public, and neutral names."""

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from riskcli.core.choices import is_virtual
from riskcli.core.inputs import note_input
from riskcli.core.messages import (
    InputError,
    Note,
    Provenance,
    UsageError,
    counted,
    listed,
    natural_order,
    nearest,
)
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.systems import REPLICATES

_COLUMNS = ("run", "team", "name")
_KEY_COLUMNS = ("kind", "name", "shown")


@dataclass(frozen=True)
class TeamList:
    """The team of each run that has one, and the names to show."""

    teams: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)


def read_teams(path: Path | str, runs: Sequence[str]) -> TeamList:
    """A CSV file with a header: the columns run and team, and optionally name.

    A run without a team counts by itself.
    """
    path = Path(path)
    teams: dict[str, str] = {}
    names: dict[str, str] = {}
    for line, row in table_of_runs(path, _COLUMNS[:2], _COLUMNS):
        run = row["run"]
        if run not in runs:
            hint = nearest(run, runs)
            raise InputError(path, "bad-teams", f"no run is named {run!r}{hint}", line)
        if row["team"]:
            teams[run] = row["team"]
        if row.get("name"):
            names[run] = row["name"]
    return TeamList(teams, names)


def read_systems(path: Path) -> dict[str, str]:
    """A CSV or TSV file with the columns run and system; a run without one is its own."""
    columns = "run", "system"
    return {row["run"]: row["system"] for _, row in table_of_runs(path, columns, columns)}


def read_own_baselines(path: Path) -> dict[str, str]:
    """A CSV or TSV file with the columns run and baseline; a run without one declares none."""
    columns = "run", "baseline"
    rows = (row for _, row in table_of_runs(path, columns, columns))
    return {row["run"]: row["baseline"] for row in rows if row["baseline"]}


def table_of_runs(
    path: Path, needed: Sequence[str], allowed: Sequence[str]
) -> Iterable[tuple[int, dict[str, str]]]:
    """The rows of a small CSV or TSV file by the columns of its header, with their line numbers.

    No run is listed twice.
    """
    note_input(path)
    text = _text(path)
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    written = next(reader, [])
    header = [name.strip().lower() for name in written]
    if not set(needed) <= set(header) or not set(header) <= set(allowed):
        others = ", ".join(name for name in allowed if name not in needed)
        message = f"the header is {','.join(written)!r}, expected the columns {', '.join(needed)}"
        message += f" (and perhaps {others})" if others else ""
        raise InputError(path, "bad-teams", message, 1)
    seen: dict[str, int] = {}
    for cells in reader:
        if not any(cells):
            continue
        if len(cells) != len(header):
            message = f"found {len(cells)} columns, expected {len(header)} ({', '.join(header)})"
            raise InputError(path, "bad-teams", message, reader.line_num)
        row = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}
        first = seen.setdefault(row["run"], reader.line_num)
        if first != reader.line_num:
            message = f"run {row['run']!r} is already listed on line {first}"
            raise InputError(path, "bad-teams", message, reader.line_num)
        yield reader.line_num, row


def read_key(path: Path) -> str | None:
    """The key to neutral names that was written before, if there is one."""
    return _text(path) if path.exists() else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(path, "unreadable", error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise InputError(path, "bad-teams", "the file is not UTF-8 text") from error


def without_team(runs: Sequence[str], teams: Mapping[str, str]) -> list[Note]:
    """Note on runs without a team where others have one."""
    alone = [run for run in runs if run not in teams]
    if not alone or not teams:
        return []
    message = f"{counted(len(alone), 'run')} without a team, each for itself: {listed(alone)}"
    return [Note("no-team", message, warning=False)]


def with_teams(
    evaluation: Evaluation, teams: Mapping[str, str], shown: Mapping[str, str]
) -> Evaluation:
    """The evaluation with its runs in teams, under the names to show."""
    runs = _runs(evaluation)
    public = [shown.get(run, run) for run in runs]
    for run, name in zip(runs, public, strict=True):
        if public.count(name) > 1:
            raise UsageError(f"two runs would be shown as {name!r}, one of them {run!r}")
        if is_virtual(name):
            raise UsageError(f"{run!r} cannot be shown as {name!r}: '@' marks virtual baselines")
    return replace(
        evaluation,
        matrices=tuple(_renamed(matrix, shown) for matrix in evaluation.matrices),
        added={
            **{run: name for run, name in shown.items() if run not in evaluation.added},
            **{path: shown.get(run, run) for path, run in evaluation.added.items()},
        },
        teams={shown.get(run, run): team for run, team in teams.items()},
        systems={run: shown.get(name, name) for run, name in evaluation.systems.items()},
    )


def _runs(evaluation: Evaluation) -> list[str]:
    return list(dict.fromkeys(run for matrix in evaluation.matrices for run in matrix.runs))


def _renamed(matrix: ScoreMatrix, shown: Mapping[str, str]) -> ScoreMatrix:
    names = [shown.get(run, run) for run in matrix.runs]
    order = natural_order(names)
    runs = tuple(names[row] for row in order)
    judging, axes = matrix.judging and matrix.judging.renamed(shown), matrix.axes.renamed(shown)
    human = matrix.human and _renamed(matrix.human, shown)
    values = matrix.values[order]
    return replace(matrix, runs=runs, values=values, judging=judging, axes=axes, human=human)


def anonymised(evaluation: Evaluation, key: str | None = None) -> tuple[Evaluation, str]:
    """The evaluation with neutral names for runs and teams, and the key to them as CSV.

    A key that was written before keeps its names; who is new gets the next numbers, in an order
    that reveals nothing (that of the names' checksums). File names are left out of the inputs.
    """
    earlier = _known(key)
    runs = _neutral("run", _runs(evaluation), earlier)
    teams = _neutral("team", sorted(set(evaluation.teams.values())), earlier)
    hidden = with_teams(evaluation, evaluation.teams, runs)
    replicates = {run: f"one run of {system}" for run, system in hidden.systems.items()}
    hidden = replace(
        hidden,
        teams={run: teams[team] for run, team in hidden.teams.items()},
        provenance=_hidden(evaluation.provenance, {**teams, **replicates, **runs}),
    )
    entries = {**earlier, **{("team", t): n for t, n in teams.items()}}
    entries |= {("run", run): name for run, name in runs.items()}
    return hidden, _as_key(entries)


def _known(key: str | None) -> dict[tuple[str, str], str]:
    if key is None:
        return {}
    rows = list(csv.reader(io.StringIO(key)))
    if not rows or tuple(rows[0]) != _KEY_COLUMNS or any(len(row) != 3 for row in rows if row):
        raise UsageError(
            f"the key to the names has no columns {', '.join(_KEY_COLUMNS)}: it was not written by "
            "--anonymise, and is left as it is"
        )
    return {(kind, name): shown for kind, name, shown in (row for row in rows[1:] if row)}


def _neutral(
    kind: str, names: Sequence[str], earlier: Mapping[tuple[str, str], str]
) -> dict[str, str]:
    """`run-001`, `run-002`, ...: those known already, then new ones."""
    taken = set(earlier.values())
    chosen = {name: earlier[kind, name] for name in names if (kind, name) in earlier}
    free = (name for number in count(1) if (name := f"{kind}-{number:03d}") not in taken)
    newcomers = sorted(set(names) - chosen.keys(), key=_checksum)
    return chosen | dict(zip(newcomers, free, strict=False))


def _checksum(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()


def _hidden(provenance: Provenance, shown: Mapping[str, str]) -> Provenance:
    """Notes with the neutral names, and inputs without the names of run files."""
    names = sorted(shown, key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names) or r"(?!)")
    notes = tuple(
        Note(note.code, pattern.sub(lambda match: shown[match[0]], note.message), note.warning)
        for note in provenance.notes
    )
    inputs = tuple(
        each
        if each.kind == "qrels"
        else replace(each, path=Path(each.kind), run=shown.get(each.run or ""))
        for each in provenance.inputs
    )
    averaged = provenance.settings.get(REPLICATES, {})
    settings = {REPLICATES: {shown[name]: len(each) for name, each in averaged.items()}}
    kept = replace(provenance, notes=notes, inputs=inputs)
    return kept.adding(settings) if averaged else kept


def _as_key(entries: Mapping[tuple[str, str], str]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_KEY_COLUMNS)
    writer.writerows((kind, name, entries[kind, name]) for kind, name in sorted(entries))
    return stream.getvalue()


@dataclass(frozen=True)
class Teams:
    """Which team a run belongs to: as listed, else as a pattern finds it in the run's name.

    The team is what the pattern's first group holds, or all that it matches.
    """

    by_run: Mapping[str, str] = field(default_factory=dict)
    pattern: str | None = None

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern or "")
        except re.error as error:
            raise UsageError(f"the pattern of teams {self.pattern!r} is wrong: {error}") from error

    def __bool__(self) -> bool:
        return bool(self.by_run) or self.pattern is not None

    def of(self, runs: Sequence[str]) -> list[str | None]:
        """The team of each run, None for a run without one; refuse a team for a run not there."""
        for run, team in self.by_run.items():
            if run not in runs:
                hint = nearest(run, runs)
                raise UsageError(
                    f"team {team!r} is given for {run!r}, but no run has that name{hint}"
                )
        return [self.by_run.get(run) or self._found(run) for run in runs]

    def found(self, runs: Sequence[str]) -> dict[str, str]:
        """The team of each run that has one; refuse a pattern that finds none at all."""
        by_run = {run: team for run, team in zip(runs, self.of(runs), strict=True) if team}
        if self.pattern is not None and not by_run:
            raise UsageError(
                f"the pattern of teams {self.pattern!r} finds none in the runs' names: "
                f"{listed(runs)}"
            )
        return by_run

    def _found(self, run: str) -> str | None:
        match = None if self.pattern is None else re.search(self.pattern, run)
        if match is None:
            return None
        return (match[1] if match.re.groups else match[0]) or None
