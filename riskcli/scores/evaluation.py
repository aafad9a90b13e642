"""From files to score matrices: read and score each file, name the runs, join them by topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riskcli.core.choices import TopicRule
from riskcli.core.inputs import not_inputs, note_input
from riskcli.core.messages import (
    InputError,
    NoRunLeftError,
    Note,
    Provenance,
    UsageError,
    WithProvenance,
    counted,
    listed,
    nearest,
)
from riskcli.core.parallel import Progress, available_cores, in_order, watch_of
from riskcli.effectiveness.measures import canonical_name, is_measure, split_names
from riskcli.scores import bookkeeping
from riskcli.scores.documents import Documents
from riskcli.scores.files.registry import FileScores
from riskcli.scores.judging import Seen, judgings
from riskcli.scores.matrix import ScoreMatrix, answers_nothing, join_all
from riskcli.scores.reading import OWN_RESULT, PASSED_OVER, Reader, Rules
from riskcli.scores.systems import Systems, SystemsGiven
from riskcli.trec.discovery import (
    Folders,
    RunFiles,
    find_files,
    judgements_first,
    neighbours,
    passed_over,
)
from riskcli.trec.names import named_place
from riskcli.trec.qrels import Qrels

if TYPE_CHECKING:
    import pandas as pd

    from riskcli.scores.remote import Workers
    from riskcli.scores.store import Store, StoredScores

Places = Iterable[Path | str] | Path | str
"""Files and folders, one or several."""


@dataclass
class ScoreLoader:
    """What files hold: taken from a store of scores if it is there, else read, here or remotely."""

    reader: Reader
    jobs: int
    executor: Executor | Workers | None
    stored: StoredScores | None
    progress: Progress | None

    def load(self, files: Sequence[Path]) -> list[FileScores | InputError]:
        """What each file holds, or what is wrong with it where such files are skipped."""
        note_input(*files)  # whoever reads them, or even if nobody has to
        if self.stored is None:
            return list(self._read(files))
        # Where others read, they also hash: fetching the files for that would be slower.
        known = self.stored.find(files, 0 if self.executor else self.jobs)
        unread = self._read([path for path in files if path not in known])
        try:
            return [known.get(path) or self.stored.keep(next(unread)) for path in files]
        except BaseException:
            self.stored.close()  # what was read before the error need not be read again
            raise

    def load_one(self, path: Path) -> FileScores:
        """What one file holds; what is wrong with it is always an error."""
        (scores,) = self.load([path])
        if isinstance(scores, InputError):
            raise scores
        return scores

    def close(self) -> list[Note]:
        """Keep what is new; notes on the store."""
        return [] if self.stored is None else self.stored.close()

    def _read(self, files: Sequence[Path]) -> Iterator[FileScores | InputError]:
        """What the files hold, one after the other, as soon as it is known."""
        if not files:
            return iter(())
        if self.executor is not None:
            from riskcli.scores.remote import Workers, read_remotely  # late: most calls have none

            given = self.executor
            workers = Workers(given) if isinstance(given, Executor) else given
            return read_remotely(workers, self.reader, files, self.progress)
        self.reader.at_once = min(self.jobs, len(files))
        self.reader.threads = -(-self.jobs // len(files))
        return in_order(self.reader.try_read, files, self.jobs, self.progress)


def _stored(store: Path | Store | str | None, reader: Reader) -> StoredScores | None:
    """The scores of a store, if one is given."""
    if store is None:
        return None
    from riskcli.scores.store import Store, StoredScores  # late: it loads what reads Parquet

    return StoredScores(store if isinstance(store, Store) else Store(Path(store)), reader)


@dataclass(frozen=True, repr=False)
class Evaluation(WithProvenance):
    """Score matrices by measure, and what they rest on."""

    matrices: tuple[ScoreMatrix, ...]
    added: Mapping[str, str] = field(default_factory=dict)
    """Names of the runs that were given as baseline files, by the path given."""
    teams: Mapping[str, str] = field(default_factory=dict)
    """The team of each run that has one."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """The file of each run that was scored here."""
    systems: Mapping[str, str] = field(default_factory=dict)
    """The system of each run that was read, where runs are replicates of systems."""

    def __repr__(self) -> str:
        notes = f", {counted(len(self.notes), 'note')}" if self.notes else ""
        return f"Evaluation({', '.join(map(repr, self.matrices))}{notes})"

    def __getitem__(self, measure: str) -> ScoreMatrix:
        """The matrix by that effectiveness measure, whatever vocabulary names it.

        Settings, inputs and notes go along, so that results of the matrix have them too.
        """
        name = canonical_name(str(measure))
        by_name = {matrix.measure: matrix for matrix in self.matrices}
        if name not in by_name:
            raise UsageError(
                f"no scores by {name!r}{nearest(name, by_name)} ({', '.join(by_name)})"
            )
        provenance = self.provenance.adding({"measures": [name]})
        return replace(by_name[name], provenance=provenance)

    @property
    def documents(self) -> Documents | None:
        """The documents of runs scored here, if `Rules(unjudged="bounds")` asked for them."""
        judging = self.matrices[0].judging
        return None if judging is None else judging.documents

    def of_first_measure(self) -> Evaluation:
        """Only the first matrix; a note says so where there are more."""
        if len(self.matrices) == 1:
            return self
        first = self.matrices[0].measure
        text = f"by {first}, the first of {len(self.matrices)} measures; --measure chooses another"
        provenance = self.provenance.adding(notes=[Note("first-measure", text, warning=False)])
        return replace(self, matrices=self.matrices[:1], provenance=provenance)

    def labelled(
        self,
        groups: Mapping[str, Any] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> Evaluation:
        """With groups ({topic: group}, or that by grouping) and weights of topics, of all matrices.

        Notes count topics without a group, and labels of topics that are not evaluated.
        """
        matrices = tuple(matrix.labelled(groups, weights) for matrix in self.matrices)
        notes = [note for matrix in matrices for note in matrix.provenance.notes]
        provenance = self.provenance.adding(matrices[0].axes.settings(), notes)
        return replace(self, matrices=matrices, provenance=provenance)

    def of_systems(self, given: SystemsGiven) -> Evaluation:
        """Runs made into systems, each the mean of its replicates: see `ScoreMatrix.of_systems`.

        A baseline file belongs to the system that the pattern finds in its run's name.
        """
        systems = Systems.of(self.matrices[0].runs, given)
        return replace(
            self,
            matrices=tuple(matrix.of_systems(systems) for matrix in self.matrices),
            added={path: systems.by_run[run] for path, run in self.added.items()},
            files={},  # a mean has no documents
            systems=systems.by_run,
            provenance=self.provenance.adding(*systems.record()),
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per score: run, topic, measure, score."""
        import pandas as pd  # late: it takes longer to import than most files to score

        frames = [
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
        return pd.concat(frames, ignore_index=True)


def evaluate(
    places: Places,
    *,
    qrels: Path | str | Qrels | None = None,
    rules: Rules | None = None,
    baselines: Iterable[str] = (),
    jobs: int | None = None,
    progress: Progress | None = None,
    checksums: bool = True,
    executor: Executor | Workers | None = None,
    store: Path | Store | str | None = None,
    folders: Folders | None = None,
) -> Evaluation:
    """Score the runs in files and folders (one or several), or take the scores of score files.

    A baseline that names no run but a file is read too, and joins the matrix as one more run.
    `NAME=FILE` gives a run its name, as a place and as a baseline. Judgements may come first
    among several places, as trec_eval has them; `folders` says which files of folders are taken.
    `jobs` files are read at once (None: one a core); the result does not depend on it. The inputs
    carry the SHA-256 of the bytes that were scored, unless `checksums` is False.

    With an `executor` (PEP 3148: processes, a Dask client's, ...) its workers read the files. A
    `store` is a folder of scores in which runs are looked up and kept. Neither shows in the result.
    """
    rules = rules or Rules()
    given = [places] if isinstance(places, str | Path) else list(places)
    read, place = (qrels, qrels.path) if isinstance(qrels, Qrels) else (None, qrels)
    given, place, turned = judgements_first(given, place)
    paths = [named_place(place)[1] for place in given]
    reader = Reader(paths, place, rules, checksums or store is not None, read)
    stored = _stored(store, reader)
    qrels_path = reader.qrels_place()
    note_input(*[qrels_path] if qrels_path else [])
    run_files = find_files(given, [qrels_path] if qrels_path else [], folders)
    reader.of_folders, reader.watch = run_files.of_folders, watch_of(progress)
    loader = ScoreLoader(reader, jobs or available_cores(), executor, stored, progress)
    loaded, skipped, passed = _sorted_out(loader.load(run_files.files), run_files, rules)
    loaded, added, naming = bookkeeping.with_baseline_files(
        reader, loader.load_one, loaded, list(baselines), dict(run_files.names)
    )
    loaded, strangers = _without_strangers(loaded, reader, set(added.values()))
    store_notes = loader.close()
    matrices, provenance = _put_together(loaded, reader, skipped + strangers)
    notes = (*turned, *run_files.notes, *passed, *naming, *provenance.notes, *store_notes)
    files = {bookkeeping.only_run(file): file.path for file in loaded if file.kind == "run"}
    return Evaluation(matrices, added, files=files, provenance=replace(provenance, notes=notes))


def _put_together(
    loaded: Sequence[FileScores], reader: Reader, skipped: tuple[InputError, ...]
) -> tuple[tuple[ScoreMatrix, ...], Provenance]:
    """A matrix for each measure, and what they rest on."""
    rules, scored = reader.rules, bookkeeping.any_run(loaded)
    universe = _universe(reader.qrels, rules.topics) if scored else None
    groups = _by_measure(loaded, reader, scored)
    matrices, notes = join_all(groups, universe, rules.topics, rules.only_topics)
    if scored:
        seen = {
            bookkeeping.only_run(file): Seen(file.matrices[0].topics, file.judged, file.top)
            for file in loaded
            if file.kind == "run"
        }
        matrices = with_judging(matrices, seen, reader.qrels, rules)
    inputs = bookkeeping.inputs(loaded, reader)
    judged = bookkeeping.judgements_here(inputs)
    in_force = bookkeeping.settings_in_force(loaded, rules.settings(), scored, judged)
    provenance = Provenance(
        settings={"measures": [matrix.measure for matrix in matrices], **in_force},
        inputs=inputs,
        notes=(
            *[Note("skipped-file", f"LEFT OUT: {error}") for error in skipped],
            *bookkeeping.part_notes(loaded, reader),
            *bookkeeping.other_judgements(inputs),
            *(bookkeeping.qrels_notes(reader) if scored else ()),
            *notes,
        ),
        skipped=skipped,
    )
    return matrices, provenance


def with_judging(
    matrices: Sequence[ScoreMatrix], seen: Mapping[str, Seen], qrels: Qrels, rules: Rules
) -> tuple[ScoreMatrix, ...]:
    """The matrices with what is known of how far the runs scored here are judged."""
    scored = [(matrix.measure, matrix.topics) for matrix in matrices if is_measure(matrix.measure)]
    known = judgings(scored, seen, qrels, rules.max_grade, rules.unjudged)
    by_name = {name: judging for (name, _), judging in zip(scored, known, strict=True)}
    return tuple(replace(m, judging=by_name.get(m.measure)) for m in matrices)


def _sorted_out(
    taken: Sequence[FileScores | InputError], run_files: RunFiles, rules: Rules
) -> tuple[list[FileScores], tuple[InputError, ...], list[Note]]:
    """What was taken, what was left out, and news of results that lay in a folder of runs."""
    loaded = [file for file in taken if isinstance(file, FileScores)]
    errors = [error for error in taken if isinstance(error, InputError)]
    passed = [e for e in errors if e.code in PASSED_OVER and Path(e.path) in run_files.of_folders]
    skipped = tuple(error for error in errors if error not in passed)
    loaded, own_scores = bookkeeping.without_own_scores(
        loaded, run_files.of_folders, rules.run_names, run_files.names
    )
    if not loaded:
        raise NoRunLeftError(errors)
    own = [Path(error.path) for error in passed if error.code == OWN_RESULT]
    not_inputs([*own_scores, *own])
    notes = neighbours(passed) if passed else []
    if own_scores:
        names = sorted(path.name for path in own_scores)
        notes.append(passed_over(f"{name} (scores of runs that are here)" for name in names))
    return loaded, skipped, notes


def _without_strangers(
    loaded: list[FileScores], reader: Reader, baselines: Set[str]
) -> tuple[list[FileScores], tuple[InputError, ...]]:
    """The files but runs that answer no topic (with `on_error` skip), and errors for these."""
    if not bookkeeping.any_run(loaded):
        return loaded, ()
    topics = _universe(reader.qrels, reader.rules.topics)
    strangers = {
        file.path: InputError(file.path, "no-topic-known", answers_nothing(name, topics))
        for file in loaded
        for name in bookkeeping.runs_of([file])
        if file.kind == "run"
        and name not in baselines
        and not any(set(topics).intersection(matrix.topics) for matrix in file.matrices)
    }
    if reader.rules.on_error == "stop":
        if len(strangers) < len(loaded):  # else the judgements are others
            for path in filter(reader.of_folders.__contains__, strangers):
                reader.skipped(path, strangers[path])
        return loaded, ()
    if len(strangers) == len(loaded):
        raise next(iter(strangers.values()))
    return [file for file in loaded if file.path not in strangers], tuple(strangers.values())


def _universe(qrels: Qrels, rule: TopicRule) -> list[str]:
    return qrels.topics if rule == "judged" else qrels.relevant_topics


def _by_measure(
    loaded: Sequence[FileScores], reader: Reader, scored: bool
) -> dict[str, list[ScoreMatrix]]:
    """The parts' matrices by measure, in the order asked for; a score file's may bear any name."""
    groups: dict[str, list[ScoreMatrix]] = {
        str(measure): [] for measure in (reader.measures if scored else ())
    }
    for file in loaded:
        for matrix in file.matrices:
            groups.setdefault(matrix.measure, []).append(matrix)
    chosen = {}
    for text in split_names(reader.rules.measures) or tuple(groups):
        name = text if text in groups else canonical_name(text)
        if name not in groups:
            raise UsageError(f"no scores by {text} in these files; they hold {listed(groups)}")
        chosen[name] = groups[name]
    runs = bookkeeping.runs_of(loaded)
    for name, members in chosen.items():  # runs that lack a measure would vanish
        absent = sorted(runs - {run for matrix in members for run in matrix.runs})
        if absent:
            raise UsageError(
                f"no scores by {name} for {counted(len(absent), 'run')}: {listed(absent)}; "
                "choose the measure with --measure"
            )
    return chosen
