"""One file to scores: a run is scored against the judgements, a score file is taken as it is."""

import shlex
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from threading import RLock
from typing import Any

from riskcli.core.choices import (
    OnError,
    Precision,
    RunNames,
    TopicRule,
    Unjudged,
    check_word,
    check_words,
)
from riskcli.core.limits import LARGEST_SCORE, LEAST_SCORE, refuse_file
from riskcli.core.messages import InputError, RiskevalError, UsageError, short_repr
from riskcli.core.parallel import Watch
from riskcli.effectiveness import measures as measure_names
from riskcli.effectiveness.measures import DEFAULTS_OF_SUBTOPICS, Measure
from riskcli.effectiveness.plausibility import Doubt, doubts_in, doubts_on, warnings_after
from riskcli.effectiveness.ranking import contenders
from riskcli.effectiveness.scoring import (
    WEB_TRACK_MAX_GRADE,
    Scored,
    Scorer,
    looked_at,
)
from riskcli.scores import plausibility
from riskcli.scores.files import INPUT_FORMATS, registry
from riskcli.scores.files.registry import FileScores
from riskcli.scores.matrix import ONLY_TOPICS, ScoreMatrix, topics_asked
from riskcli.trec.discovery import find_qrels
from riskcli.trec.qrels import Qrels, read_qrels
from riskcli.trec.runs import Run, read_foreign, run_in
from riskcli.trec.source import MAX_BYTES, TextFile

UNJUDGED = "unjudged"
"""The setting that says what unjudged documents are, where they do not just count 0."""
OWN_RESULT = "own-result"
"""The code of a file that this program wrote and that holds no scores by topic."""
PASSED_OVER = (OWN_RESULT, "other-kind", "empty-file")
"""The codes of files that are skipped where they lie in a folder of runs."""


@dataclass(frozen=True)
class Rules:
    """How files are turned into scores, and what happens to one that cannot be."""

    measures: Iterable[Any] = ()
    """Names, or whatever spells its name, as ir_measures' measures do."""
    topics: TopicRule = "relevant"
    max_grade: int | None = WEB_TRACK_MAX_GRADE
    score_precision: Precision = "single"
    run_names: RunNames = "auto"
    on_error: OnError = "stop"
    max_bytes: int = MAX_BYTES
    input_format: str | None = None
    """Format of every file; skips detection."""
    only_topics: Sequence[str] = ()
    """Some of the topics: ids, ranges such as 151-160, globs; none: all that `topics` says."""
    scale: float = 1.0
    """What the scores in files of scores are multiplied by (0.01: percent)."""
    unjudged: Unjudged = "zero"
    """What documents are that nobody judged; with "bounds", differences have their ranges."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "measures", measure_names.texts_of(self.measures))
        object.__setattr__(self, "only_topics", topics_asked(self.only_topics))
        check_words(
            topics=(self.topics, TopicRule),
            score_precision=(self.score_precision, Precision),
            run_names=(self.run_names, RunNames),
            on_error=(self.on_error, OnError),
            unjudged=(self.unjudged, Unjudged),
        )
        if not LEAST_SCORE <= self.scale <= LARGEST_SCORE:
            raise UsageError(f"the scale is {self.scale:g}, expected a number above 0, as 0.01")
        if self.input_format is not None:
            check_word("input_format", self.input_format, INPUT_FORMATS)

    __repr__ = short_repr

    def settings(self) -> dict[str, Any]:
        """The rules that a number can depend on, as machine formats record them."""
        return {
            "topics": self.topics,
            "max_grade": "auto" if self.max_grade is None else self.max_grade,
            "score_precision": self.score_precision,
            "run_names": self.run_names,
            **({ONLY_TOPICS: list(self.only_topics)} if self.only_topics else {}),
            **({UNJUDGED: self.unjudged} if self.unjudged != "zero" else {}),
        }

    def scoring(self) -> dict[str, Any]:
        """The rules that the scores of a single run can depend on, or whether it is one."""
        return {
            "max_grade": "auto" if self.max_grade is None else self.max_grade,
            "score_precision": self.score_precision,
            "input_format": self.input_format,
            "max_bytes": self.max_bytes,
            **({UNJUDGED: self.unjudged} if self.unjudged == "condensed" else {}),
        }


def misfit(qrels: Qrels, measure: Measure) -> str | None:
    """Why a measure cannot be had from these judgements, if it cannot."""
    place = qrels.path or "qrels"
    if measure.family.of_subtopics and qrels.subtopics is None:
        return (
            f"measure {measure} needs judgements by subtopic (topic, subtopic, document, grade), "
            f"and {place} has no topic with two subtopics: give those with -q FILE"
        )
    if qrels.shared and measure.family.of_subtopics is False:
        topic, docno = qrels.shared
        return (
            f"measure {measure} takes one grade a document, and {place} are judgements by subtopic "
            f"(topic {topic} document {docno} is judged under several): take "
            f"{' or '.join(DEFAULTS_OF_SUBTOPICS)}, or the track's other judgements"
        )
    return None


def refuse_misfits(qrels: Qrels, measures: Iterable[Measure]) -> None:
    """Refuse measures that need judgements by subtopic, or cannot do with them."""
    for measure in measures:
        if (reason := misfit(qrels, measure)) is not None:
            raise UsageError(reason)


@dataclass(eq=False)
class Reader:
    """Reads files, several at once if need be; finds the qrels only when a first run comes."""

    places: Sequence[Path]
    given_qrels: Path | str | None
    rules: Rules
    checksums: bool
    judgements: Qrels | RiskevalError | None = None
    """Where they (or the reason why there are none) are given, no qrels file is looked for."""
    watch: Watch | None = None
    threads: int = 1
    """How many threads work on one file."""
    at_once: int = 1
    """How many files are read at once."""
    found_qrels: str = ""
    of_folders: Set[Path] = frozenset()
    """Files found in folders: results of riskeval among them are skipped."""
    _lock: RLock = field(default_factory=RLock)

    @cached_property
    def measures(self) -> list[Measure]:
        """The measures asked for, or the defaults for the judgements at hand."""
        if self.rules.measures:
            return measure_names.parse_measures(self.rules.measures)
        with self._lock:
            qrels = self.qrels_or_error
        return measure_names.measures_for((), isinstance(qrels, Qrels) and bool(qrels.shared))

    def qrels_place(self) -> Path | None:
        """Path of the judgements, if it can be found: in a folder of runs it is no run."""
        path = self._qrels_found
        return None if isinstance(path, RiskevalError) else path[0]

    @cached_property
    def _qrels_found(self) -> tuple[Path, str] | RiskevalError:
        """Where the judgements lie and how that was found; it is an error only if a run comes."""
        try:
            return find_qrels(self.given_qrels, self.places)
        except RiskevalError as error:
            return error

    @cached_property
    def qrels(self) -> Qrels:
        """The judgements."""
        if isinstance(self.judgements, Qrels):
            return self.judgements
        qrels = self.judgements or self._qrels_found
        if isinstance(qrels, RiskevalError):
            raise qrels
        path, self.found_qrels = qrels
        return read_qrels(path, self.checksums)

    @cached_property
    def qrels_or_error(self) -> Qrels | RiskevalError:
        """The judgements, or why there are none; it is an error only if a run comes."""
        try:
            return self.qrels
        except RiskevalError as error:
            return error

    @cached_property
    def _scorer(self) -> Scorer:
        refuse_misfits(self.qrels, self.measures)
        return Scorer(
            self.qrels,
            self.measures,
            max_grade=self.rules.max_grade,
            precision=self.rules.score_precision,
            unjudged=self.rules.unjudged,
        )

    @cached_property
    def _contenders(self) -> Callable[[Run], Run]:
        """Keeps the documents that the deepest measure can see."""
        depth = looked_at(self.measures, self.rules.unjudged)
        return partial(contenders, depth=depth, precision=self.rules.score_precision)

    @cached_property
    def _run_kind(self) -> str:
        """What runs are called where memory is asked for: most of one is not kept for a cutoff."""
        return "run" if looked_at(self.measures, self.rules.unjudged) is None else "run to a cutoff"

    def _judged(self) -> Qrels:
        with self._lock:
            return self.qrels

    def try_read(self, path: Path) -> FileScores | InputError:
        """What a file holds, or what is wrong with it where such files are skipped."""
        try:
            return self.read(path)
        except InputError as error:
            return self.skipped(path, error)

    def skipped(self, path: Path, error: InputError) -> InputError:
        """The error, if the file that it is about is to be skipped; else it is raised."""
        if error.path == str(path):
            is_neighbour = path in self.of_folders and error.code in PASSED_OVER
            if is_neighbour or self.rules.on_error == "skip":
                return error
            raise self._with_way_out(path, error) from error
        raise error

    def _with_way_out(self, path: Path, error: InputError) -> InputError:
        """The error for a file of a folder, or for judgements in place of a run."""
        if path in self.of_folders:
            way = f"--exclude {shlex.quote(path.name)} or --on-error skip leaves it out"
            return InputError(path, error.code, f"{error.message}; {way}", error.line)
        qrels = self.qrels_place()
        if error.code != "other-kind" or qrels is None:
            return error
        from riskcli.trec.mistaken import exchanged  # late: few files need it

        return exchanged(error, qrels, TextFile(qrels).start)

    def read(self, path: Path, content: bytes | None = None) -> FileScores:
        """The scores in, or of, one file; `content` is what it holds where that was sent along."""
        source = TextFile(path, self.rules.max_bytes, self.checksums, content, self.watch)
        with source.mistakes_named():
            return self._read(path, source)

    def _read(self, path: Path, source: TextFile) -> FileScores:
        given = self.rules.input_format
        format = registry.format_of(path, source.start, given)
        foreign = "run of another program" if format else self._run_kind
        kind = format.name if isinstance(format, registry.Format) else foreign
        refuse_file(path, kind, source.likely_size, self.at_once)
        if format is None:
            run = run_in(source, self._contenders, self.threads)
            scored = self._scorer_at_hand().scored(run)
            return self._scores(run, scored, doubts_in(source, run, scored, self._scorer), source)
        text = source.text()
        if format.name == "parquet":  # its columns are listed at its end
            format = registry.format_of(path, text, given) or format
        if isinstance(format, registry.Format):
            measures = measure_names.split_names(self.rules.measures)
            taken = registry.read_score_file(path, text, format.name, measures)
            return self._of_score_file(taken, source.sha256)
        documents = self._judged().lines if format.by_place else None
        run = read_foreign(path, text, format, documents)
        scored = self._scorer_at_hand().scored(run)
        doubts = doubts_on(run, None, scored, self._scorer) if scored.signs.doubtful else ()
        return self._scores(run, scored, doubts, source)

    def _of_score_file(self, taken: FileScores, sha256: str | None) -> FileScores:
        """What a file of scores holds, on the scale that was asked for."""
        taken = registry.on_scale(taken, self.rules.scale)
        doubts = plausibility.doubts_on(taken.matrices, of_judgements=bool(taken.about.settings))
        return replace(
            taken,
            taken_as=taken.taken_as if self.rules.measures else None,
            sha256=sha256,
            doubts=warnings_after(taken.path, doubts),
        )

    def _scorer_at_hand(self) -> Scorer:
        with self._lock:
            return self._scorer

    def _scores(
        self, run: Run, scored: Scored, doubts: Iterable[Doubt], source: TextFile
    ) -> FileScores:
        """The scores of a run, and what is doubtful in it."""
        rows = [
            ScoreMatrix(measure, ("",), tuple(scored.topics), values[None, :])
            for measure, values in scored.scores.items()
        ]
        return FileScores(
            run.path,
            "run",
            run.tags,
            tuple(rows),
            len(run.topics) - len(scored.topics),
            named=False,
            sha256=source.sha256,
            doubts=warnings_after(run.path, doubts),
            judged=scored.shares,
            top=scored.top,
        )
