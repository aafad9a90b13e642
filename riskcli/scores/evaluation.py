"""From files to score matrices: read and score each file, name the runs, join them by topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from riskcli.core.basis import Based, Basis, Input
from riskcli.core.choices import TopicRule, is_virtual
from riskcli.core.errors import InputError, NoRunLeftError, UsageError, nearest
from riskcli.core.notes import Note, counted, listed
from riskcli.core.parallel import Progress
from riskcli.effectiveness.names import canonical_name, split_names
from riskcli.scores.matrix import ScoreMatrix, join_all
from riskcli.scores.parts import Gatherer, Means
from riskcli.scores.reading import Part, Reader, Rules
from riskcli.trec.discovery import find_files
from riskcli.trec.names import (
    name_of_baseline,
    name_runs,
    named_place,
    refuse_virtual_names,
)
from riskcli.trec.qrels import Qrels

if TYPE_CHECKING:
    import pandas as pd

    from riskcli.scores.remote import Workers
    from riskcli.scores.store.store import Store


@dataclass(frozen=True, repr=False)
class Evaluation(Based):
    """Score matrices by measure, and what they rest on."""

    matrices: tuple[ScoreMatrix, ...]
    added: Mapping[str, str] = field(default_factory=dict)
    """Names of the runs that were given as baseline files, by the path given."""
    teams: Mapping[str, str] = field(default_factory=dict)
    """The team of each run that has one."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """The file of each run that was scored here."""

    def __repr__(self) -> str:
        said = f", {counted(len(self.notes), 'note')}" if self.notes else ""
        return f"Evaluation({', '.join(map(repr, self.matrices))}{said})"

    def __getitem__(self, measure: str) -> ScoreMatrix:
        """The matrix by that effectiveness measure, whatever vocabulary names it."""
        name = canonical_name(str(measure))
        known = {matrix.measure: matrix for matrix in self.matrices}
        if name not in known:
            raise UsageError(f"no scores by {name!r}{nearest(name, known)} ({', '.join(known)})")
        return known[name]

    def of_first_measure(self) -> Evaluation:
        """Only the first matrix; a note says so where there are more."""
        if len(self.matrices) == 1:
            return self
        first = self.matrices[0].measure
        text = f"by {first}, the first of {len(self.matrices)} measures; --measure chooses another"
        basis = self.basis.adding(notes=[Note("first-measure", text, warning=False)])
        return replace(self, matrices=self.matrices[:1], basis=basis)

    def to_frame(self) -> pd.DataFrame:
        """One row per score: run, topic, measure, score."""
        import pandas as pd  # late: it takes longer to import than most files to score

        parts = [
            pd.DataFrame(
                {
                    "run": [run for run in matrix.runs for _ in matrix.topics],
                    "topic": [*matrix.topics] * len(matrix.runs),
                    "measure": matrix.measure,
                    "score": matrix.values.ravel(),
                }
            )
            for matrix in self.matrices
        ]
        return pd.concat(parts, ignore_index=True)


def evaluate(
    places: Path | str | Iterable[Path | str],
    *,
    qrels: Path | str | None = None,
    rules: Rules | None = None,
    baselines: Iterable[str] = (),
    jobs: int | None = None,
    progress: Progress | None = None,
    checksums: bool = True,
    executor: Executor | Workers | None = None,
    store: Path | Store | str | None = None,
) -> Evaluation:
    """Score the runs in files and folders (one or several), or take the scores of score files.

    A baseline that names no run but a file is read too, and joins the matrix as one more run.
    `NAME=FILE` gives a run its name, as a place and as a baseline.
    `jobs` files are read at once (None: one a core); the result does not depend on it. The inputs
    carry the SHA-256 of the bytes that were scored, unless `checksums` says that nobody needs them.

    With an `executor` (PEP 3148: processes, a Dask client's, ...) its workers read the files. A
    `store` is a folder of scores in which runs are looked up and kept. Neither shows in the result.
    """
    rules = rules or Rules()
    given = [places] if isinstance(places, str | Path) else list(places)
    spots = [named_place(place)[1] for place in given]
    means = Means.of(jobs, executor, store)
    reader = Reader(spots, qrels, rules, checksums or means.store is not None)
    found = find_files(given, but=reader.qrels_place())
    gatherer = Gatherer(reader, means, progress)
    taken = gatherer.parts(found.files)
    parts = [part for part in taken if isinstance(part, Part)]
    skipped = tuple(error for error in taken if isinstance(error, InputError))
    if not parts:
        raise NoRunLeftError(skipped)
    parts, added, naming = _with_baseline_files(
        reader, gatherer, parts, list(baselines), dict(found.names)
    )
    kept = gatherer.close()
    matrices, notes = _joined(parts, reader)
    basis = Basis(
        settings={"measures": [matrix.measure for matrix in matrices], **rules.settings()},
        inputs=_inputs(parts, reader),
        notes=(
            *found.notes,
            *naming,
            *_skip_notes(skipped),
            *_part_notes(parts, reader),
            *notes,
            *kept,
        ),
        skipped=skipped,
    )
    files = {_only_run(part): part.path for part in parts if part.kind == "run"}
    return Evaluation(matrices, added, files=files, basis=basis)


def _joined(parts: Sequence[Part], reader: Reader) -> tuple[tuple[ScoreMatrix, ...], list[Note]]:
    """A matrix for each measure, over the topics that the rule and the qrels ask for."""
    rule = reader.rules.topics
    scored = _any_run(parts)
    universe = _universe(reader.qrels, rule) if scored else None
    matrices, notes = join_all(_by_measure(parts, reader, scored), universe, rule)
    return matrices, [*(_qrels_notes(reader) if scored else []), *notes]


def _any_run(parts: Sequence[Part]) -> bool:
    return any(part.kind == "run" for part in parts)


def _universe(qrels: Qrels, rule: TopicRule) -> list[str]:
    return qrels.topics if rule == "judged" else qrels.relevant_topics


def _with_baseline_files(
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
    known = _runs_of(named)
    files = {
        baseline: named_place(baseline)
        for baseline in baselines
        if baseline not in known and not is_virtual(baseline) and _is_read(baseline)
    }
    if not files:
        return named, {}, notes
    places = {part.path.resolve(): place for place, part in enumerate(parts)}
    for name, path in files.values():
        if path.resolve() not in places:
            places[path.resolve()] = len(parts)
            parts = [*parts, gatherer.part(path)]
        if name is not None:
            given[parts[places[path.resolve()]].path] = name
    named, notes = _named(parts, rule, given, count)
    added = {
        baseline: _only_run(named[places[path.resolve()]]) for baseline, (_, path) in files.items()
    }
    return named, added, notes


def _is_read(baseline: str) -> bool:
    """Whether a baseline names a file, a pipe or a process substitution."""
    _, path = named_place(baseline)
    return baseline != "" and path.exists() and not path.is_dir()


def _runs_of(parts: Iterable[Part]) -> set[str]:
    return {run for part in parts for matrix in part.matrices for run in matrix.runs}


def _only_run(part: Part) -> str:
    runs = _runs_of([part])
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
    named = []
    for part in parts:
        if part.path in given:
            part = _renamed(part, given[part.path])
        elif not part.named:
            part = _renamed(part, next(waiting))
        named.append(part)
    if count is not None:
        known = _runs_of(named[:count])
        named[count:] = [_as_baseline(part, known) for part in named[count:]]
    _refuse_shared_names(named)
    return named, notes


def _renamed(part: Part, name: str) -> Part:
    """The part with that name for its one run."""
    runs = _runs_of([part])
    if len(runs) != 1:
        raise UsageError(f"{name}={part.path}: a name is for one run, the file holds {len(runs)}")
    matrices = tuple(replace(matrix, runs=(name,)) for matrix in part.matrices)
    return replace(part, matrices=matrices)


def _as_baseline(part: Part, known: Set[str]) -> Part:
    """Scores kept from before, of a run that is named as one at hand, are its baseline's."""
    if not part.named or len(_runs_of([part])) != 1:
        return part
    (run,) = _runs_of([part])
    return _renamed(part, name_of_baseline(run, known))


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
    one = [part.path for part in parts if part.path in paths and len(_runs_of([part])) == 1]
    return f"; NAME={one[0]} gives one of them another name" if one else ""


def _by_measure(
    parts: Sequence[Part], reader: Reader, scored: bool
) -> dict[str, list[ScoreMatrix]]:
    """The parts' matrices by measure, in the order asked for."""
    groups: dict[str, list[ScoreMatrix]] = {}
    if scored:
        groups = {str(measure): [] for measure in reader.measures}
    for part in parts:
        for matrix in part.matrices:
            groups.setdefault(matrix.measure, []).append(matrix)
    chosen = _asked_for(groups, split_names(reader.rules.measures))
    _refuse_gaps(chosen, {run for part in parts for m in part.matrices for run in m.runs})
    return chosen


def _asked_for(
    groups: dict[str, list[ScoreMatrix]], wanted: Sequence[str]
) -> dict[str, list[ScoreMatrix]]:
    """The groups of the measures asked for; a score file's measure may bear any name."""
    if not wanted:
        return groups
    chosen = {}
    for text in wanted:
        name = text if text in groups else canonical_name(text)
        if name not in groups:
            raise UsageError(f"no scores by {text} in these files; they hold {listed(groups)}")
        chosen[name] = groups[name]
    return chosen


def _refuse_gaps(groups: Mapping[str, Sequence[ScoreMatrix]], runs: Set[str]) -> None:
    """Refuse files of which some hold a measure that others lack: runs would vanish."""
    for name, members in groups.items():
        absent = sorted(runs - {run for matrix in members for run in matrix.runs})
        if absent:
            raise UsageError(
                f"no scores by {name} for {counted(len(absent), 'run')}: {listed(absent)}; "
                "choose the measure with --measure"
            )


def _part_notes(parts: Sequence[Part], reader: Reader) -> list[Note]:
    scored = parts if _any_run(parts) else []
    unknown = [(_shown(part), _unknown_topics(part, reader)) for part in scored]
    ignored = [f"{name} ({count})" for name, count in unknown if count]
    mixed = [part.path.name for part in parts if len(part.tags) > 1]
    notes = [
        Note(
            "taken-as",
            f"scores of {part.path.name} read as {part.taken_as}: the file does not name its "
            "measure",
        )
        for part in parts
        if part.taken_as
    ]
    if ignored:
        message = f"topics that are not in the qrels are ignored: {listed(ignored)}"
        notes.append(Note("unknown-topics", message))
    if mixed:
        message = f"lines carry different tags, are these several runs in one file: {listed(mixed)}"
        notes.append(Note("mixed-tags", message))
    return notes


def _unknown_topics(part: Part, reader: Reader) -> int:
    """How many of a part's topics the qrels do not have."""
    scored = {topic for matrix in part.matrices for topic in matrix.topics}
    return part.unknown_topics + len(scored - reader.qrels.judgements.keys())


def _shown(part: Part) -> str:
    return part.matrices[0].runs[0] if part.kind == "run" else part.path.name


def _qrels_notes(reader: Reader) -> list[Note]:
    qrels = reader.qrels
    notes = list(qrels.notes)
    if reader.found_qrels != "given":
        notes.append(Note("qrels", f"judgements: {qrels.path} ({reader.found_qrels})", False))
    barren = len(qrels.topics) - len(qrels.relevant_topics)
    if barren and reader.rules.topics != "judged":
        message = f"{counted(barren, 'topic')} of the qrels without a relevant document left out"
        notes.append(Note("barren-topics", message + " (--topics judged keeps them)", False))
    return notes


def _inputs(parts: Sequence[Part], reader: Reader) -> tuple[Input, ...]:
    files = [
        Input(part.path, part.kind, part.sha256, _only_run(part) if part.kind == "run" else None)
        for part in parts
    ]
    if _any_run(parts) and reader.qrels.path is not None:
        files.append(Input(reader.qrels.path, "qrels", reader.qrels.sha256))
    return tuple(files)


def _skip_notes(skipped: Sequence[InputError]) -> list[Note]:
    return [Note("skipped-file", f"LEFT OUT: {error}") for error in skipped]
