"""From files to score matrices: read each run, score it, and join the scores by topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from riskcli.effectiveness.measures import DEFAULT_MEASURES, Measure, parse_measures
from riskcli.effectiveness.ranking import Precision
from riskcli.effectiveness.scoring import WEB_TRACK_MAX_GRADE, Scorer
from riskcli.errors import UsageError
from riskcli.matrix import ScoreMatrix, TopicRule, join
from riskcli.notes import Note, counted, listed
from riskcli.risk.baselines import VIRTUAL
from riskcli.trec.discovery import find_files, find_qrels
from riskcli.trec.names import file_name, name_runs
from riskcli.trec.qrels import Qrels, read_qrels
from riskcli.trec.runs import parse_run
from riskcli.trec.scorefiles import kind_of, read_scores
from riskcli.trec.source import load


@dataclass(frozen=True)
class Rules:
    """How runs are turned into scores."""

    measures: tuple[str, ...] = ()
    topics: TopicRule = "relevant"
    max_grade: int | None = WEB_TRACK_MAX_GRADE
    score_precision: Precision = "single"
    run_names: str = "auto"

    def settings(self) -> dict[str, Any]:
        """The rules, as machine formats record them."""
        return {
            "topics": self.topics,
            "max_grade": "auto" if self.max_grade is None else self.max_grade,
            "score_precision": self.score_precision,
            "run_names": self.run_names,
        }


@dataclass(frozen=True)
class InputFile:
    """A file that the result rests on."""

    path: Path
    kind: str


@dataclass(frozen=True)
class Evaluation:
    """Score matrices by measure, and where they come from."""

    matrices: tuple[ScoreMatrix, ...]
    inputs: tuple[InputFile, ...]
    notes: tuple[Note, ...]
    settings: Mapping[str, Any]
    added: Mapping[str, str] = field(default_factory=dict)
    """Names of the runs that were given as baseline files, by the path given."""


@dataclass(frozen=True)
class _Part:
    """What one file holds: a run's scores (not named yet), or a score file's matrices."""

    path: Path
    kind: str
    tag: str | None
    matrices: tuple[ScoreMatrix, ...]
    unknown_topics: int = 0
    tags: int = 1


class _Reader:
    """Reads one file after the other; finds and reads the qrels only when the first run comes."""

    def __init__(self, places: Sequence[Path], qrels: Path | str | None, rules: Rules) -> None:
        self._places = places
        self._given_qrels = qrels
        self.rules = rules
        self.found_qrels = ""

    @cached_property
    def measures(self) -> list[Measure]:
        """The measures asked for, or the defaults."""
        return parse_measures(self.rules.measures or DEFAULT_MEASURES)

    @cached_property
    def qrels(self) -> Qrels:
        """The judgements."""
        path, self.found_qrels = find_qrels(self._given_qrels, self._places)
        return read_qrels(path)

    @cached_property
    def scorer(self) -> Scorer:
        """Scores runs against the judgements."""
        return Scorer(
            self.qrels,
            self.measures,
            max_grade=self.rules.max_grade,
            precision=self.rules.score_precision,
        )

    def read(self, path: Path) -> _Part:
        """The scores in, or of, one file."""
        text = load(path)
        kind = kind_of(text)
        if kind is not None:
            label = self.rules.measures[0] if len(self.rules.measures) == 1 else None
            matrices = read_scores(path, text, kind, *([label] if label else []))
            return _Part(path, "scores", None, tuple(matrices))
        run = parse_run(path, text)
        topics, scores = self.scorer.score(run)
        matrices = [
            ScoreMatrix(str(measure), ("",), tuple(topics), values[None, :])
            for measure, values in scores.items()
        ]
        unknown = len(run.topics) - len(topics)
        return _Part(path, "run", run.tag, tuple(matrices), unknown, len(run.tags))


def evaluate(
    places: Iterable[Path | str],
    *,
    qrels: Path | str | None = None,
    rules: Rules | None = None,
    baselines: Iterable[str] = (),
) -> Evaluation:
    """Score the runs in files and folders, or take the scores of score files.

    A baseline that names no run but a file is read too, and joins the matrix as one more run.
    """
    rules = rules or Rules()
    spots = [Path(place) for place in places]
    found = find_files(spots)
    reader = _Reader(spots, qrels, rules)
    parts = [reader.read(path) for path in found.files]
    parts, added, naming = _with_baseline_files(reader, parts, list(baselines))
    notes = [*found.notes, *naming, *_part_notes(parts)]
    scored = any(part.kind == "run" for part in parts)
    if scored:
        notes += _qrels_notes(reader)
    matrices = []
    for measure, members in _by_measure(parts, reader, scored).items():
        universe = _universe(reader.qrels, rules.topics) if scored else None
        matrix, join_notes = join(measure, members, universe, common=rules.topics == "common")
        matrices.append(matrix)
        notes += [note for note in join_notes if note not in notes]
    return Evaluation(
        matrices=tuple(matrices),
        inputs=_inputs(parts, reader if scored else None),
        notes=tuple(notes),
        settings={"measures": [m.measure for m in matrices], **rules.settings()},
        added=added,
    )


def _universe(qrels: Qrels, rule: TopicRule) -> list[str]:
    return qrels.topics if rule == "judged" else qrels.relevant_topics


def _with_baseline_files(
    reader: _Reader, parts: list[_Part], baselines: Sequence[str]
) -> tuple[list[_Part], dict[str, str], list[Note]]:
    """The parts, named; with a part for each baseline that is a file and not yet among them."""
    named, notes = _named(parts, reader.rules.run_names)
    known = {run for part in named for matrix in part.matrices for run in matrix.runs}
    paths = {
        baseline: Path(baseline)
        for baseline in baselines
        if baseline not in known and baseline not in VIRTUAL and Path(baseline).is_file()
    }
    if not paths:
        return named, {}, notes
    places = {part.path.resolve(): place for place, part in enumerate(parts)}
    for path in paths.values():
        if path.resolve() not in places:
            places[path.resolve()] = len(parts)
            parts = [*parts, reader.read(path)]
    named, notes = _named(parts, reader.rules.run_names)
    added = {baseline: _only_run(named[places[path.resolve()]]) for baseline, path in paths.items()}
    return named, added, notes


def _only_run(part: _Part) -> str:
    runs = {run for matrix in part.matrices for run in matrix.runs}
    if len(runs) != 1:
        raise UsageError(f"{part.path} holds {len(runs)} runs, a baseline file must hold one")
    return runs.pop()


def _named(parts: Sequence[_Part], rule: str) -> tuple[list[_Part], list[Note]]:
    runs = [(part.path, part.tag) for part in parts if part.kind == "run"]
    names, notes = name_runs(runs, rule)
    waiting = iter(names)
    named = []
    for part in parts:
        if part.kind == "run":
            name = next(waiting)
            matrices = tuple(replace(matrix, runs=(name,)) for matrix in part.matrices)
            part = replace(part, matrices=matrices)
        named.append(part)
    _refuse_shared_names(named)
    return named, notes


def _refuse_shared_names(parts: Sequence[_Part]) -> None:
    owners: dict[tuple[str, str], Path] = {}
    for part in parts:
        for matrix in part.matrices:
            for run in matrix.runs:
                first = owners.setdefault((matrix.measure, run), part.path)
                if first is not part.path:
                    raise UsageError(f"two runs are named {run!r}: in {first} and {part.path}")


def _by_measure(
    parts: Sequence[_Part], reader: _Reader, scored: bool
) -> dict[str, list[ScoreMatrix]]:
    """The parts' matrices by measure, in the order asked for."""
    groups: dict[str, list[ScoreMatrix]] = {}
    if scored:
        groups = {str(measure): [] for measure in reader.measures}
    for part in parts:
        for matrix in part.matrices:
            groups.setdefault(matrix.measure, []).append(matrix)
    groups = _asked_for(groups, reader.rules.measures)
    _refuse_gaps(groups)
    return groups


def _asked_for(
    groups: dict[str, list[ScoreMatrix]], wanted: Sequence[str]
) -> dict[str, list[ScoreMatrix]]:
    """The groups of the measures asked for; a score file's measure may bear any name."""
    if not wanted or not groups:
        return groups
    names = [name for name in wanted if name in groups]
    if not names:
        names = [str(m) for m in parse_measures(wanted) if str(m) in groups]
    if not names:
        raise UsageError(
            f"no scores by {listed(wanted)} in these files; they hold {listed(groups)}"
        )
    return {name: groups[name] for name in dict.fromkeys(names)}


def _refuse_gaps(groups: Mapping[str, Sequence[ScoreMatrix]]) -> None:
    """Refuse files of which some hold a measure that others lack: runs would vanish."""
    runs = {name: {r for m in members for r in m.runs} for name, members in groups.items()}
    everyone = set().union(*runs.values())
    for name, present in runs.items():
        absent = sorted(everyone - present)
        if absent:
            raise UsageError(
                f"no scores by {name} for {counted(len(absent), 'run')}: {listed(absent)}; "
                "choose the measure with --measure"
            )


def _part_notes(parts: Sequence[_Part]) -> list[Note]:
    unknown = [f"{_shown(part)} ({part.unknown_topics})" for part in parts if part.unknown_topics]
    mixed = [part.path.name for part in parts if part.tags > 1]
    notes = []
    if unknown:
        message = f"topics that are not in the qrels are ignored: {listed(unknown)}"
        notes.append(Note("unknown-topics", message))
    if mixed:
        message = f"lines carry different tags, are these several runs in one file: {listed(mixed)}"
        notes.append(Note("mixed-tags", message))
    return notes


def _shown(part: _Part) -> str:
    return part.matrices[0].runs[0] if part.matrices else file_name(part.path)


def _qrels_notes(reader: _Reader) -> list[Note]:
    qrels = reader.qrels
    notes = list(qrels.notes)
    if reader.found_qrels != "given":
        notes.append(Note("qrels", f"judgements: {qrels.path} ({reader.found_qrels})", False))
    barren = len(qrels.topics) - len(qrels.relevant_topics)
    if barren and reader.rules.topics != "judged":
        message = f"{counted(barren, 'topic')} of the qrels without a relevant document left out"
        notes.append(Note("barren-topics", message + " (--topics judged keeps them)", False))
    return notes


def _inputs(parts: Sequence[_Part], reader: _Reader | None) -> tuple[InputFile, ...]:
    files = [InputFile(part.path, part.kind) for part in parts]
    if reader is not None and reader.qrels.path is not None:
        files.append(InputFile(reader.qrels.path, "qrels"))
    return tuple(files)
