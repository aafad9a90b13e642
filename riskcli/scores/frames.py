"""Scores and runs that are in memory already: data frames, dictionaries, ir_measures' results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riskcli.core.messages import Provenance, UsageError
from riskcli.effectiveness import measures as measure_names
from riskcli.effectiveness.plausibility import Doubt, doubts_on, notes_on, warnings_after
from riskcli.effectiveness.scoring import Scorer
from riskcli.scores.bookkeeping import rounded_err
from riskcli.scores.evaluation import Evaluation, with_judging
from riskcli.scores.files.registry import is_rounded_err
from riskcli.scores.judging import Seen
from riskcli.scores.matrix import ScoreMatrix, from_cells, join_all, name_of
from riskcli.scores.plausibility import notes_on_scores
from riskcli.scores.reading import Rules, refuse_misfits
from riskcli.trec.findings import refuse_unfit
from riskcli.trec.qrels import MAX_GRADE, Qrels
from riskcli.trec.runs import Line, Run

if TYPE_CHECKING:
    import pandas as pd


# Scores and runs that are in hand already: DataFrames, ir_measures' results, PyTerrier's frames.
#
# Nothing is imported for it: whatever has the columns, or the attributes, will do.


_TOPIC = ("qid", "query_id", "topic")
_DOCNO = ("docno", "doc_id", "docid")
_GRADE = ("label", "relevance", "grade")
_SUBTOPIC = ("subtopic_id", "subtopic", "iteration")
_RUN = ("name", "run", "system")
_VALUE = ("value", "score")


RunInMemory = Mapping[str, Mapping[str, float]]
"""A run in memory: the score of each document, by topic."""
JudgementsInMemory = Mapping[str, Mapping[str, int | Mapping[str, int]]]
"""Judgements in memory: by topic, the grade of each document, or its grades by subtopic."""
Cells = Iterable[tuple[Any, Any, Any, Any]]
"""Topic, subtopic (None without), document, and score or grade."""


def _cells(given: Any, values: Sequence[str], what: str) -> Cells:
    """What is in a frame, a mapping, ranx' Run or Qrels, or ir_measures' ScoredDoc or Qrel objects.

    `values` says how a frame may call the values; only grades have subtopics.
    """
    graded = values is _GRADE
    if hasattr(given, "columns"):
        topics, docnos, numbers = (_column(given, names) for names in (_TOPIC, _DOCNO, values))
        by_subtopic = graded and any(name in given.columns for name in _SUBTOPIC)
        subtopics = _column(given, _SUBTOPIC) if by_subtopic else [None] * len(topics)
        yield from zip(topics, subtopics, docnos, numbers, strict=True)
    elif isinstance(given, Mapping) or hasattr(given, "to_dict"):  # ranx
        by_topic = given if isinstance(given, Mapping) else given.to_dict()
        for topic, documents in by_topic.items():
            if not isinstance(documents, Mapping):
                message = f"{what}: topic {topic}: expected a mapping of documents"
                raise UsageError(f"{message}, found {documents!r:.60}")
            for docno, value in documents.items():
                several = graded and isinstance(value, Mapping) and value
                of = value.items() if several else [(None, value)]
                yield from ((topic, subtopic, docno, each) for subtopic, each in of)
    elif not isinstance(given, Iterable) or isinstance(given, str | bytes):
        raise UsageError(f"{what}: expected a frame, a mapping or documents, found {given!r:.60}")
    else:
        field = "relevance" if graded else "score"
        for item in given:
            try:
                topic, docno, new = item.query_id, item.doc_id, getattr(item, field)
            except AttributeError as error:
                message = f"{what}: expected query_id, doc_id and {field}: {error}"
                raise UsageError(message) from error
            # ir_measures' Qrel calls a subtopic iteration.
            subtopics = [getattr(item, name, None) for name in _SUBTOPIC] if graded else []
            yield topic, next((each for each in subtopics if each is not None), None), docno, new


def run_from_frame(frame: pd.DataFrame, name: str = "run") -> Run:
    """A run from a frame of results: `qid`, `docno` and `score`, as PyTerrier's transformers give.

    The order of rows and a `rank` column play no part: ties are broken as trec_eval does.
    """
    return _run(frame, name)


def _run(given: RunInMemory | pd.DataFrame, name: str) -> Run:
    """The run: no document of a topic twice, and every score finite."""
    scores: dict[tuple[str, str], float] = {}
    for topic, _, docno, value in _cells(given, ("score",), f"run {name}"):
        cell = name_of(topic, "topic"), name_of(docno, "document")
        if cell in scores:
            raise UsageError(f"run {name}: topic {topic} has document {docno} twice")
        scores[cell] = _score(value, f"run {name}: topic {topic}, document {docno}")
    if not scores:
        raise UsageError(f"run {name}: there is no document in it")
    refuse_unfit(f"run {name}", {"": chain.from_iterable(scores)})
    lines = [
        Line(None, topic, "Q0", docno, "0", score, name) for (topic, docno), score in scores.items()
    ]
    return Run.of_lines(Path(name), lines)


def qrels_from_frame(frame: pd.DataFrame) -> Qrels:
    """Judgements from a frame of `qid`, `docno` and `label` (PyTerrier) or `relevance`.

    A column `subtopic`, `subtopic_id` or `iteration` has subtopics where documents have several.
    """
    return _judged(frame)


def _judged(given: Qrels | JudgementsInMemory | pd.DataFrame) -> Qrels:
    if isinstance(given, Qrels):
        return given
    known: dict[tuple[str, str, str], int] = {}
    for topic, subtopic, docno, value in _cells(given, _GRADE, "the judgements"):
        of = name_of(topic, "topic"), _subtopic(subtopic), name_of(docno, "document")
        grade = _grade(value, f"topic {topic}, document {docno}")
        if known.setdefault(of, grade) != grade:
            raise UsageError(f"topic {topic} has document {docno} twice, with different grades")
    if not known:
        raise UsageError("the judgements are empty")
    if len({subtopic != "" for _, subtopic, _ in known}) > 1:
        topic, docno = next((topic, docno) for topic, subtopic, docno in known if not subtopic)
        message = f"topic {topic} document {docno} has no subtopic, and other judgements have one"
        raise UsageError(message)
    qrels = Qrels.of_cells([(*of, grade) for of, grade in known.items()])
    for (topic, _, docno), grade in known.items():
        if not qrels.shared and qrels.judgements[topic][docno] != grade:
            raise UsageError(f"topic {topic} has document {docno} twice, with different grades")
    return qrels


def _subtopic(given: Any) -> str:
    """Its name; empty where there is none (None, NaN, or pandas' NA, which equals nothing)."""
    absent = given is None or type(given).__name__ == "NAType" or given != given
    return "" if absent else str(given)


def _number(given: Any) -> float:
    """NaN where it is no number."""
    try:
        return float(given)
    except (TypeError, ValueError):
        return float("nan")


def _score(given: Any, where: str) -> float:
    """A score, which is finite."""
    if not np.isfinite(number := _number(given)):
        raise UsageError(f"{where}: the score is {given!s:.60}, expected a finite number")
    return number


def _grade(given: Any, where: str) -> int:
    """A grade as a whole number."""
    number = _number(given)
    if not (number.is_integer() and abs(number) <= MAX_GRADE):
        wanted = f"expected a whole number of at most {MAX_GRADE}"
        raise UsageError(f"{where}: the grade is {given!r:.60}, {wanted}")
    return int(number)


def score_runs(
    runs: Mapping[str, Run | RunInMemory | pd.DataFrame],
    qrels: Qrels | JudgementsInMemory | pd.DataFrame,
    measures: str | Iterable[Any] = (),
    *,
    rules: Rules | None = None,
) -> Evaluation:
    """Score runs that are in memory, by name; the same numbers as `evaluate` gives for files.

    Runs and judgements are frames, as PyTerrier has them, mappings of topics to documents to scores
    or grades, as pytrec_eval has them, ranx' Run and Qrels, or what ir_measures reads
    (iterators of ScoredDoc and Qrel). Measures are names or ir_measures' objects; none stand for
    ERR@20 and nDCG@20, or for ERR_IA@20 and alpha_nDCG@20 where judgements are by subtopic.
    """
    rules, judged = rules or Rules(), _judged(qrels)
    chosen = measure_names.measures_for(measure_names.texts_of(measures), bool(judged.shared))
    refuse_misfits(judged, chosen)
    scorer = Scorer(
        judged, chosen, max_grade=rules.max_grade, precision=rules.score_precision,
        unjudged=rules.unjudged,
    )  # fmt: skip
    parts: dict[str, list[ScoreMatrix]] = {str(measure): [] for measure in chosen}
    doubted: list[tuple[str, tuple[Doubt, ...]]] = []
    seen: dict[str, Seen] = {}
    for name, given in runs.items():
        run = given if isinstance(given, Run) else _run(given, name)
        scored = scorer.scored(run)
        seen[name] = Seen(scored.topics, scored.shares, scored.top)
        if scored.signs.doubtful:
            doubts = doubts_on(run, None, scored, scorer)
            doubted.append((name, warnings_after(Path(name), doubts)))
        for measure, values in scored.scores.items():
            part = ScoreMatrix(measure, (name,), tuple(scored.topics), values[None, :])
            parts[measure].append(part)
    universe = judged.topics if rules.topics == "judged" else judged.relevant_topics
    evaluation = _joined(parts, universe, rules)
    matrices = with_judging(evaluation.matrices, seen, judged, rules)
    provenance = evaluation.provenance.adding(notes=notes_on(doubted))
    return replace(evaluation, matrices=matrices, provenance=provenance)


def scores_from_frame(frame: pd.DataFrame, measure: str | None = None) -> Evaluation:
    """Score matrices from a frame with a row a score.

    Columns: a run (`name` or `run`), a topic (`qid`, `query_id` or `topic`), `measure`, and a value
    (`value` or `score`), as `pt.Experiment(..., perquery=True)` gives; `measure` names that of a
    frame without such a column. A missing score counts 0, with a warning, as everywhere.
    """
    runs, topics, values = (_column(frame, names) for names in (_RUN, _TOPIC, _VALUE))
    if "measure" in frame.columns:
        names = [measure_names.canonical_name(str(name)) for name in frame["measure"]]
    else:
        names = [measure or "score"] * len(frame)
    return _evaluation(zip(names, runs, topics, values, strict=True))


def scores_from_ir_measures(results: Mapping[str, Iterable[Any]]) -> Evaluation:
    """Score matrices from `ir_measures.iter_calc(...)`, its results for each run by name."""
    evaluation = _evaluation(
        (measure_names.canonical_name(str(result.measure)), run, result.query_id, result.value)
        for run, run_results in results.items()
        for result in run_results
    )
    rounded = [m.measure for m in evaluation.matrices if is_rounded_err(m)]
    provenance = evaluation.provenance.adding(notes=rounded_err(rounded))
    return replace(evaluation, provenance=provenance)


def has_a_row_per_score(frame: pd.DataFrame) -> bool:
    """Whether it is a long table: runs, topics and values are columns of it."""
    return all(any(name in frame.columns for name in names) for names in (_RUN, _TOPIC, _VALUE))


def _column(frame: pd.DataFrame, names: Sequence[str]) -> list[Any]:
    """The first of the columns that the frame has."""
    for name in names:
        if name in frame.columns:
            return list(frame[name])
    columns = ", ".join(map(str, frame.columns))
    raise UsageError(f"the frame has no column {' or '.join(names)}; it has {columns}")


def _evaluation(scores: Iterable[tuple[str, Any, Any, Any]]) -> Evaluation:
    """The scores (measure, run, topic, value) in matrices."""
    cells: dict[str, dict[tuple[str, str], float]] = {}
    for measure, run, topic, value in scores:
        by_cell = cells.setdefault(measure, {})
        cell = name_of(run, "run"), name_of(topic, "topic")
        if cell in by_cell:
            raise UsageError(f"{measure}: run {run} has topic {topic} twice")
        by_cell[cell] = _score(value, f"{measure}: run {run}, topic {topic}")
    if not cells:
        raise UsageError("no scores given")
    parts = {
        measure: [from_cells(measure, ((*index, score) for index, score in scores.items()))]
        for measure, scores in cells.items()
    }
    matrices = [matrix for members in parts.values() for matrix in members]
    notes = notes_on_scores(matrices, "the scores")
    evaluation = _joined(parts, None, Rules())
    return replace(evaluation, provenance=evaluation.provenance.adding(notes=notes))


def _joined(
    parts: Mapping[str, Sequence[ScoreMatrix]], universe: Sequence[str] | None, rules: Rules
) -> Evaluation:
    matrices, notes = join_all(parts, universe, rules.topics, rules.only_topics)
    settings = {"measures": [matrix.measure for matrix in matrices], **rules.settings()}
    return Evaluation(matrices, provenance=Provenance(settings, notes=tuple(notes)))
