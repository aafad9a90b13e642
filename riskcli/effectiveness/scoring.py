"""Scores of a run on every topic that it answers, by pytrec_eval or by a measure's function."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple, Self

import numpy as np
import pytrec_eval
from numpy.typing import NDArray

from riskcli.core.arrays import Floats, Mask, divided, logarithms
from riskcli.core.choices import Precision, Unjudged
from riskcli.core.messages import UsageError
from riskcli.effectiveness.grades import JudgedSubtopics, RankedGrades, RankedSubtopics
from riskcli.effectiveness.measures import Measure
from riskcli.effectiveness.ranking import JudgedDocuments, RankedLines, Top, ranked
from riskcli.trec.findings import refuse_unfit
from riskcli.trec.qrels import Qrels
from riskcli.trec.runs import Run

_ONE_AT_A_TIME = Lock()
"""pytrec_eval keeps state between calls. It holds the interpreter's lock, but garbage that is
collected meanwhile may run Python (callbacks, finalisers), which lets another thread in."""
WEB_TRACK_MAX_GRADE = 4
"""The highest grade that gdeval.pl's ERR assumes, whatever the qrels hold."""
MAX_EXPONENTIAL_GRADE = 20
"""pytrec_eval counts documents by gain in an array, which 2^grade - 1 must not outgrow."""
_NO_DOCUMENT = "no document"
"""The space makes sure that no run contains this name."""


@dataclass(frozen=True)
class _Question:
    """What one pytrec_eval evaluator is asked: measures that need the same view of the qrels."""

    relevance: int
    exponential: bool
    list_length: int | None
    relevant_alone: bool

    @classmethod
    def of(cls, measure: Measure) -> Self:
        """What is asked for one measure."""
        length = measure.cutoff if measure.truncates else None
        alone = measure.family.relevant_alone
        return cls(measure.relevance, measure.exponential, length, alone)


@dataclass(frozen=True)
class _Answer:
    """A run's ranking for each judged topic (a row), and where its documents are judged.

    For each document: its topic's row, its place in the ranking, its index in the list of
    judged documents (-1: nowhere) and its grade (0 where it is not judged).
    """

    topics: list[str]
    counts: NDArray[np.intp]
    rows: NDArray[np.intp]
    places: NDArray[np.intp]
    found: NDArray[np.intp]
    grades: NDArray[np.int64]

    signs: "Signs"
    shares: Mapping[int, Floats]
    top: Top | None

    @property
    def longest(self) -> int:
        """The length of the longest ranking."""
        return int(self.counts.max(initial=0))


TOP = 10
"""The ranks of which some documents should be judged."""
LEAST_JUDGED = 1 / 20
USUAL_TOP = 20
"""The ranks that ties should not disturb, at least."""
MOST_MOVED = 1 / 5
"""The share of topics on which they may."""


class Signs(NamedTuple):
    """What was seen of a run's top while it was ranked, and asks for a closer look or does not."""

    judged: int
    """How many of the documents at ranks 1 to TOP are judged."""
    possible: int
    """How many could be: no more of a topic than are judged."""
    tied: bool
    """Whether the scores of each topic are equal, or ties are not in the order of the lines."""

    @property
    def hardly_judged(self) -> bool:
        """Whether next to nothing of the top is judged, if any topic is."""
        return self.judged < LEAST_JUDGED * self.possible

    @property
    def doubtful(self) -> bool:
        """Whether all of the run should be looked at."""
        return self.tied or self.hardly_judged


class Scored(NamedTuple):
    """The judged topics that a run answers, and its scores on them by measure's name."""

    topics: list[str]
    scores: dict[str, Floats]
    signs: Signs
    shares: Mapping[int, Floats]
    """Which part of the first documents of each topic is judged, by their number."""
    top: Top | None = None
    """The documents themselves, where they are asked for."""


class Scorer:
    """Scores runs against one set of judgements by several measures, on one ranking a run."""

    def __init__(
        self,
        qrels: Qrels,
        measures: Sequence[Measure],
        *,
        max_grade: int | None = WEB_TRACK_MAX_GRADE,
        precision: Precision = "single",
        unjudged: Unjudged = "zero",
    ) -> None:
        """`max_grade` is ERR's G; None takes the highest grade of the qrels.

        Where `unjudged` is "condensed", documents that nobody judged are taken out of each ranking
        first; where it is "bounds", what is scored keeps its documents (`Scored.top`).
        """
        refuse_unfit("the judgements", qrels.judgements)
        self.qrels, self.measures, self.precision = qrels, measures, precision
        self._unjudged = unjudged
        self.judged = JudgedDocuments(qrels.judgements)
        some = any(measure.family.of_subtopics for measure in measures)
        self._subtopics = JudgedSubtopics(qrels) if some else None
        self._relevant = frozenset(qrels.relevant_topics)
        self._max_grade = qrels.highest_grade if max_grade is None else max_grade
        for measure in measures:
            _refuse_what_nobody_computes(measure)
        self._plan = [(measure, _Question.of(measure)) for measure in measures]
        bounded = next((measure for measure in measures if measure.family.bounded), None)
        if bounded is not None:
            advice = f"set --max-grade {qrels.highest_grade} or --max-grade auto"
            _check_grades(qrels, self._max_grade, f"{bounded.family.name} expects", advice)
        if any(measure.exponential for measure in measures):
            _check_grades(qrels, MAX_EXPONENTIAL_GRADE, "dcg='exp-log2' can take", "leave dcg out")
        self.depth = deepest(measures)
        names: dict[_Question, set[str]] = {}
        for measure, question in self._plan:
            if measure.family.computed_by is None:
                names.setdefault(question, set()).add(measure.trec_name)
        self._evaluators = {
            question: _evaluator(qrels, question, asked) for question, asked in names.items()
        }

    def score(self, run: Run) -> tuple[list[str], dict[str, Floats]]:
        """The judged topics that the run answers, and its scores on them by measure's name."""
        return self.scored(run)[:2]

    def scored(self, run: Run) -> Scored:
        """The same with the signs of trouble that were seen on the way."""
        answer = self._answer(run)
        answers = {
            question: self._ask(question, evaluator, answer)
            for question, evaluator in self._evaluators.items()
        }
        scores = {}
        for measure, question in self._plan:
            compute = measure.family.computed_by
            if compute is None:
                by_topic, key = answers[question], measure.trec_key
                values = np.array([by_topic[topic][key] for topic in answer.topics], dtype=float)
            else:
                values = compute(measure, self._ranked_grades(measure, answer))
            inner = measure.inner
            values = values if inner is None else logarithms(values, inner.family.most)
            scores[str(measure)] = values
        return Scored(answer.topics, scores, answer.signs, answer.shares, answer.top)

    def _answer(self, run: Run) -> _Answer:
        indices = [self.judged.topics.get(topic, -1) for topic in run.topics]
        names = [topic for topic, index in zip(run.topics, indices, strict=True) if index >= 0]
        judged_index = np.array(indices)
        row_of = np.where(judged_index >= 0, np.cumsum(judged_index >= 0) - 1, -1)
        ranking = ranked(run, looked_at(self.measures, self._unjudged), self.precision)
        rows = row_of[ranking.codes]
        judged = rows >= 0
        documents = self.judged.find(
            run.docnos, ranking.lines[judged], judged_index[ranking.codes[judged]]
        )
        counts = ranking.counts[judged_index >= 0]
        grades = self.judged.grades[documents]
        places = ranking.places[judged]
        in_top = np.count_nonzero(documents[places < TOP] >= 0)
        of_topics = self.judged.sizes[judged_index[judged_index >= 0]]
        possible = np.minimum(of_topics, np.minimum(counts, TOP)).sum()
        counted = np.array([topic in self._relevant for topic in run.topics], dtype=bool)
        shown = max((measure.cutoff or USUAL_TOP for measure in self.measures), default=USUAL_TOP)
        tied = _disturbed(run, ranking, counted, self.precision, shown)
        signs = Signs(int(in_top), int(possible), tied)
        rows = rows[judged]
        shares = _shares(self.measures, rows, places, documents >= 0, counts)
        top = None
        if self._unjudged == "bounds":
            within = places < (self.depth or len(places))
            docnos = run.docnos.take(ranking.lines[judged][within]).copy()
            top = Top.of(names, rows[within], docnos, grades[within], documents[within] >= 0)
        if self._unjudged == "condensed":
            kept = documents >= 0
            rows, documents, grades = rows[kept], documents[kept], grades[kept]
            counts = np.bincount(rows, minlength=len(names))
            places = np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows]
        return _Answer(names, counts, rows, places, documents, grades, signs, shares, top)

    def _ask(
        self, question: _Question, evaluator: Any, answer: _Answer
    ) -> dict[str, dict[str, float]]:
        """pytrec_eval's answer, given the ranking as scores that fall by one a rank.

        Documents of which only the place counts go by names that are quick to sort.
        """
        if not answer.topics:
            return {}
        limit = answer.longest if question.list_length is None else question.list_length
        unjudged, falling = _stand_ins(min(limit, answer.longest))
        shown_documents = answer.grades > 0 if question.relevant_alone else answer.found >= 0
        hits = np.flatnonzero(shown_documents & (answer.places < limit))
        docnos = self.judged.docnos
        named = [docnos[index] for index in answer.found[hits].tolist()]
        ranks = answer.places[hits].tolist()
        ends = np.searchsorted(answer.rows[hits], np.arange(len(answer.topics)), side="right")
        rankings: dict[str, dict[str, float]] = {}
        start = 0
        shown = zip(answer.topics, answer.counts.tolist(), ends.tolist(), strict=True)
        for topic, count, end in shown:
            names = unjudged[:count]
            for rank, name in zip(ranks[start:end], named[start:end], strict=True):
                names[rank] = name
            rankings[topic] = dict(zip(names, falling, strict=False))
            start = end
        with _ONE_AT_A_TIME:
            scores: dict[str, dict[str, float]] = evaluator.evaluate(rankings)
        return scores

    def _ranked_grades(self, measure: Measure, answer: _Answer) -> RankedGrades:
        depth = min(measure.cutoff or answer.longest, answer.longest)
        within = answer.places < depth
        cells, found = (answer.rows[within], answer.places[within]), answer.found[within]
        grades = np.zeros((len(answer.topics), depth), dtype=np.int64)
        grades[cells] = answer.grades[within]
        judged = np.zeros(grades.shape, dtype=np.bool_)
        judged[cells] = found >= 0
        counts, subtopics = np.minimum(answer.counts, depth), None
        if measure.family.of_subtopics and self._subtopics is not None:
            documents = np.full(grades.shape, -1, dtype=np.intp)
            documents[cells] = found
            topics = np.array([self.judged.topics[topic] for topic in answer.topics], dtype=np.intp)
            by_subtopic = self._subtopics.of_documents(documents)
            subtopics = RankedSubtopics(by_subtopic, topics, self._subtopics)
        return RankedGrades(grades, judged, counts, self._max_grade, subtopics)


def _disturbed(
    run: Run, ranking: RankedLines, counted: Mask, precision: Precision, shown: int
) -> bool:
    """Whether all scores tie, or ties order many of the `counted` topics otherwise than the file.

    A tie below the `shown` ranks disturbs nothing.
    """
    with np.errstate(over="ignore"):
        of_run = run.scores if precision == "double" else run.scores.astype(np.float32)
    keys = of_run[ranking.lines]
    same = ranking.codes[1:] == ranking.codes[:-1]
    equal = same & (keys[1:] == keys[:-1])
    first = np.maximum.accumulate(np.where(equal, 0, np.arange(1, len(keys))))  # of its tie
    moved = equal & (ranking.lines[1:] < ranking.lines[:-1]) & (ranking.places[first] < shown)
    topics = np.union1d(ranking.codes[1:][moved], _left_out(run, of_run, ranking))
    many = counted[topics].sum() > MOST_MOVED * counted.sum()
    return bool(many or (equal.any() and equal[same].all()))


def _left_out(run: Run, keys: NDArray[np.floating[Any]], ranking: RankedLines) -> NDArray[np.int32]:
    """The topics of lines that are not ranked, though a later one of the same score is."""
    is_left = np.ones(len(keys), dtype=bool)
    is_left[ranking.lines] = False
    left = np.flatnonzero(is_left)
    if not len(left):
        return np.empty(0, dtype=np.int32)
    lowest = keys[ranking.lines[ranking.starts + ranking.counts - 1]]
    last = np.full(len(run.topics), -1)
    tied = keys[ranking.lines] == lowest[ranking.codes]
    np.maximum.at(last, ranking.codes[tied], ranking.lines[tied])
    codes = run.topic_codes[left]
    return np.asarray(codes[(keys[left] == lowest[codes]) & (left < last[codes])])


@lru_cache(maxsize=4)
def _stand_ins(count: int) -> tuple[list[str], list[float]]:
    """Names of documents that are not judged, and scores, for a ranking of that length.

    No judged document has such a name: a line end in one is refused.
    """
    return [f"\n{rank:07d}" for rank in range(count)], [float(-rank) for rank in range(count)]


def _evaluator(qrels: Qrels, question: _Question, names: set[str]) -> Any:
    judgements = {topic: _shown(grades, question) for topic, grades in qrels.judgements.items()}
    with _ONE_AT_A_TIME:
        return pytrec_eval.RelevanceEvaluator(judgements, names, relevance_level=question.relevance)


def _shown(grades: Mapping[str, int], question: _Question) -> dict[str, int]:
    """A topic's judgements as pytrec_eval is given them."""
    if question.relevant_alone:
        shown = {docno: grade for docno, grade in grades.items() if grade > 0}
    else:
        shown = dict(grades)
    if question.exponential:
        shown = {docno: 2**grade - 1 if grade > 0 else 0 for docno, grade in shown.items()}
    # pytrec_eval crashes on a topic with grades below -1 alone: add one that is not relevant.
    return shown if max(shown.values(), default=-1) >= 0 else {**shown, _NO_DOCUMENT: 0}


def deepest(measures: Iterable[Measure]) -> int | None:
    """The number of documents a topic that can matter to any of the measures; None: all."""
    cutoffs = [measure.cutoff for measure in measures]
    return None if None in cutoffs else max(cutoff for cutoff in cutoffs if cutoff)


def looked_at(measures: Iterable[Measure], unjudged: Unjudged = "zero") -> int | None:
    """The same, but so many that doubts on a run do not depend on the measures.

    Where documents are taken out, those below move up: all.
    """
    depth = deepest(measures)
    return None if depth is None or unjudged == "condensed" else max(depth, USUAL_TOP)


def top_of(measure: Measure) -> int:
    """The number of documents of which it matters to a measure how many are judged."""
    return measure.cutoff or USUAL_TOP


def depths_of(measures: Iterable[Measure]) -> list[int]:
    """The same of several measures, each number once."""
    return sorted({top_of(measure) for measure in measures})


def _shares(
    measures: Iterable[Measure],
    rows: NDArray[np.intp],
    places: NDArray[np.intp],
    judged: Mask,
    counts: NDArray[np.intp],
) -> dict[int, Floats]:
    """Which part of each topic's first documents is judged; NaN where it has none."""
    shares = {}
    for depth in depths_of(measures):
        found = np.bincount(rows[judged & (places < depth)], minlength=len(counts))
        shares[depth] = divided(found, np.minimum(counts, depth), otherwise=np.nan)
    return shares


def _refuse_what_nobody_computes(measure: Measure) -> None:
    """Refuse a measure that the installed pytrec_eval does not have."""
    name = measure.trec_name.split(".")[0]
    if measure.family.computed_by is None and name not in pytrec_eval.supported_measures:
        raise UsageError(f"measure {measure}: the pytrec_eval installed here does not compute it")


def _check_grades(qrels: Qrels, highest: int, limited_by: str, advice: str) -> None:
    for topic in qrels.topics:
        for docno, grade in qrels.judgements[topic].items():
            if grade > highest:
                raise UsageError(
                    f"{qrels.path or 'qrels'}: topic {topic} document {docno} has grade {grade}, "
                    f"above the highest that {limited_by} ({highest}); {advice}"
                )
