"""Scores of a run on every topic it answers: ERR computed here, the rest by pytrec_eval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytrec_eval
from numpy.typing import NDArray

from riskcli.effectiveness.err import expected_reciprocal_rank
from riskcli.effectiveness.measures import Measure
from riskcli.effectiveness.ranking import Precision, rank
from riskcli.errors import UsageError
from riskcli.trec.qrels import Qrels
from riskcli.trec.runs import Run

WEB_TRACK_MAX_GRADE = 4
"""The highest grade that gdeval.pl's ERR assumes, whatever the qrels hold."""
_MAX_EXPONENTIAL_GRADE = 20
"""pytrec_eval counts documents by gain in an array, which 2^grade - 1 must not outgrow."""
_NO_DOCUMENT = "no document"
"""A name that no run can hold, for its blank."""


@dataclass(frozen=True)
class _Question:
    """What one pytrec_eval evaluator is asked: measures that need the same view of the qrels."""

    relevance: int
    exponential: bool
    list_length: int | None


class Scorer:
    """Scores runs against one set of judgements by several measures, on one ranking a run."""

    def __init__(
        self,
        qrels: Qrels,
        measures: Sequence[Measure],
        *,
        max_grade: int | None = WEB_TRACK_MAX_GRADE,
        precision: Precision = "single",
    ) -> None:
        """`max_grade` is ERR's G; None takes the highest grade of the qrels."""
        self._judgements = qrels.judgements
        self._measures = tuple(measures)
        self._precision = precision
        self._max_grade = qrels.highest_grade if max_grade is None else max_grade
        if any(measure.is_err for measure in measures):
            advice = f"set --max-grade {qrels.highest_grade} or --max-grade auto"
            _check_grades(qrels, self._max_grade, "ERR expects", advice)
        if any(measure.exponential for measure in measures):
            _check_grades(qrels, _MAX_EXPONENTIAL_GRADE, "dcg='exp-log2' can take", "leave dcg out")
        self.depth = _deepest(measures)
        self._evaluators = {
            question: _evaluator(qrels, question, names)
            for question, names in _questions(measures).items()
        }

    def score(self, run: Run) -> tuple[list[str], dict[Measure, NDArray[np.float64]]]:
        """The judged topics that the run answers, and its scores on them by each measure."""
        ranking = {
            topic: docnos
            for topic, docnos in rank(run, self.depth, self._precision).items()
            if topic in self._judgements
        }
        answers = {
            question: self._ask(question, evaluator, ranking)
            for question, evaluator in self._evaluators.items()
        }
        scores = {}
        for measure in self._measures:
            if measure.is_err:
                scores[measure] = self._err(measure, ranking)
            else:
                by_topic = answers[_question(measure)]
                values = [by_topic[topic][measure.trec_key] for topic in ranking]
                scores[measure] = np.array(values, dtype=np.float64)
        return list(ranking), scores

    def _ask(
        self, question: _Question, evaluator: Any, ranking: Mapping[str, list[str]]
    ) -> dict[str, dict[str, float]]:
        """pytrec_eval's answer, given the ranking as scores that fall by one a rank."""
        longest = max(map(len, ranking.values()), default=0)
        falling = [float(-place) for place in range(longest)]
        length = question.list_length
        asked = {
            topic: dict(zip(docnos[:length], falling, strict=False))
            for topic, docnos in ranking.items()
        }
        answer: dict[str, dict[str, float]] = evaluator.evaluate(asked)
        return answer

    def _err(self, measure: Measure, ranking: Mapping[str, list[str]]) -> NDArray[np.float64]:
        depth = measure.cutoff or max(map(len, ranking.values()), default=0)
        grades = np.zeros((len(ranking), depth), dtype=np.int64)
        for row, (topic, docnos) in enumerate(ranking.items()):
            judged = self._judgements[topic]
            found = [judged.get(docno, 0) for docno in docnos[:depth]]
            grades[row, : len(found)] = found
        return expected_reciprocal_rank(grades, self._max_grade)


def _question(measure: Measure) -> _Question:
    length = measure.cutoff if measure.truncates else None
    return _Question(measure.relevance, measure.exponential, length)


def _questions(measures: Iterable[Measure]) -> dict[_Question, set[str]]:
    questions: dict[_Question, set[str]] = {}
    for measure in measures:
        if not measure.is_err:
            questions.setdefault(_question(measure), set()).add(measure.trec_name)
    return questions


def _evaluator(qrels: Qrels, question: _Question, names: set[str]) -> Any:
    judgements = {
        # pytrec_eval crashes on a topic with grades below -1 alone: add one that is not relevant.
        topic: grades if max(grades.values()) >= 0 else {**grades, _NO_DOCUMENT: 0}
        for topic, grades in qrels.judgements.items()
    }
    if question.exponential:
        judgements = {
            topic: {docno: 2**grade - 1 if grade > 0 else 0 for docno, grade in grades.items()}
            for topic, grades in judgements.items()
        }
    return pytrec_eval.RelevanceEvaluator(judgements, names, relevance_level=question.relevance)


def _deepest(measures: Iterable[Measure]) -> int | None:
    """The number of documents a topic that can matter to any of the measures; None: all."""
    cutoffs = [measure.cutoff for measure in measures]
    return None if None in cutoffs else max(cutoff for cutoff in cutoffs if cutoff)


def _check_grades(qrels: Qrels, highest: int, limited_by: str, advice: str) -> None:
    for topic in qrels.topics:
        for docno, grade in qrels.judgements[topic].items():
            if grade > highest:
                raise UsageError(
                    f"{qrels.path or 'qrels'}: topic {topic} document {docno} has grade {grade}, "
                    f"above the highest that {limited_by} ({highest}); {advice}"
                )
