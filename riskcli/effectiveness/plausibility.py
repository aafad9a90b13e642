"""Whether a run is what it was meant to be: judged, ranked by its scores, and not upside down.

Scoring sees the top of a run only, and never its rank column. It looks for signs of trouble, which
costs next to nothing; only where there are some is all of the run looked at, with its ranks.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Floats, Mask
from riskcli.core.messages import Note, listed
from riskcli.effectiveness.measures import is_logarithm, unanswered_score
from riskcli.effectiveness.ranking import JudgedDocuments, by_topic_and_score, ranked
from riskcli.effectiveness.scoring import MOST_MOVED, TOP, USUAL_TOP, Scored, Scorer
from riskcli.trec.fields import Table
from riskcli.trec.findings import Finding, first_lines, number
from riskcli.trec.runs import Run, run_of_piece, table_in
from riskcli.trec.source import TextFile

SENTENCES = {
    "nothing-judged": "no document is judged",
    "hardly-judged": (
        f"ranks 1 to {TOP} hold fewer than 5% of the judged documents that they could hold"
    ),
    "all-tied": "all scores of a topic are equal, so documents are ranked by their ids alone",
    "tie-order": "tied documents are ranked by their ids, not by the rank column",
    "upside-down": (
        "scores rise with the rank, but the highest counts as the best (if low scores are better, "
        "negate them)"
    ),
    "exchanged-columns": (
        "rank (4th column) and score (5th) are exchanged; put them right with "
        "awk '{ print $1, $2, $3, $5, $4, $6 }'"
    ),
    "perhaps-exchanged": (
        "rank (4th column) and score (5th) may be exchanged: the 5th counts 1, 2, 3 ..., and the "
        "4th falls"
    ),
    "summary-run": "these runs are named like summaries, but count as runs",
    "summary-topic": "these are measures or summaries, not topics",
    "index-column": "this is an index of pandas, not a topic (write the frame with index=False)",
    "mean-topic": "every run scores the mean of its other topics here, as in a summary",
    "above-one": (
        "scores above 1, as of percent; --scale 0.01 makes fractions of them (of a measure "
        "without an upper bound, give the name with --measure)"
    ),
}
"""What is said of what does not look as it was meant, by code."""


class Doubt(NamedTuple):
    """Something that does not look as it was meant: a code of `SENTENCES`, and details."""

    code: str
    detail: str
    measure: str = ""
    """The effectiveness measure that it is about, if it is about one."""


def findings_of(path: Path, doubts: Iterable[Doubt]) -> list[Finding]:
    """The doubts as findings on a file, one of each code."""
    return [
        Finding(path, None, code, f"{SENTENCES[code]}: {details}")
        for code, details in _joined(doubts).items()
    ]


def _joined(doubts: Iterable[Doubt]) -> dict[str, str]:
    """The details of each code."""
    details: dict[str, list[str]] = {}
    for doubt in doubts:
        details.setdefault(doubt.code, []).append(doubt.detail)
    return {code: "; ".join(dict.fromkeys(some)) for code, some in details.items()}


def warnings_after(path: Path, doubts: Iterable[Doubt]) -> tuple[Doubt, ...]:
    """The doubts that are warnings; one for which a number would be wrong is raised."""
    kept = tuple(doubts)
    for finding in findings_of(path, kept):
        if finding.severity == "error":
            raise finding.as_error()
    return kept


def notes_on(named: Iterable[tuple[str, Sequence[Doubt]]]) -> list[Note]:
    """A warning for each code, with the names of the runs or files that it is about."""
    by_code: dict[str, list[str]] = {}
    for name, doubts in named:
        for code, details in _joined(doubts).items():
            by_code.setdefault(code, []).append(f"{name} ({details})")
    return [Note(code, f"{SENTENCES[code]}: {listed(some)}") for code, some in by_code.items()]


# A file in TREC's format, read once more for what scoring did not need.

_LARGEST = 2**27
"""The most text of which all columns are looked at; of more, whether anything is judged."""


def doubts_in(source: TextFile, run: Run, scored: Scored, scorer: Scorer) -> list[Doubt]:
    """What is doubtful in a file of which `run` is what scoring sees."""
    odd = starts_oddly(source.start)
    if not (scored.signs.doubtful or odd):
        return []
    if source.likely_size > _LARGEST:
        parts = (run_of_piece(source.path, text) for text in source.pieces_again())
        return list(_unjudged(run, parts, scored, scorer))
    table = table_in(source.path, source.text_again())
    whole, ranks = Run.of_table(source.path, table), ranks_in(table)
    return list(doubts_on(whole, ranks, scored, scorer, odd))


def starts_oddly(start: bytes) -> bool:
    """Whether nothing in the first lines says that scores are scores, and fall with the rank."""
    before: tuple[bytes, float, float] = (b"", 0.0, 0.0)
    rises, all_whole, no_rank = True, True, False
    for parts in map(bytes.split, first_lines(start)):
        try:
            here = parts[0], float(parts[3]), float(parts[4])
        except (IndexError, ValueError):
            continue
        if here[0] == before[0]:
            rises &= (here[2] - before[2]) * (here[1] - before[1]) >= 0
            no_rank |= abs(here[1] - before[1]) > 1
        all_whole &= here[2] % 1 == 0
        no_rank |= here[1] % 1 != 0
        if not (rises or all_whole):
            return False
        before = here
    return rises or no_rank


def ranks_in(table: Table) -> Floats:
    """The rank column; NaN where it holds no number."""
    spelled = table.texts("rank").as_bytes()
    try:
        ranks = np.array(spelled).astype(np.float64)  # Arrow's cast would take long to load
    except ValueError:
        numbers = (number(text.decode(errors="replace")) for text in spelled)
        ranks = np.array([np.nan if rank is None else rank for rank in numbers])
    return np.where(np.isfinite(ranks), ranks, np.nan)


# All of a run.


def doubts_on(
    run: Run,
    ranks: Floats | None,
    scored: Scored | None,
    scorer: Scorer | None,
    starts_oddly: bool = False,
) -> Iterator[Doubt]:
    """What is doubtful in a whole run: in its judgements and scores, where it has any, and ties."""
    if scored is not None and scorer is not None:
        yield from _unjudged(run, [run], scored, scorer)
    tied = _all_tied(run)
    if tied:
        yield Doubt("all-tied", f"{len(run.scores):,} lines")
    if ranks is None:
        return
    if starts_oddly and not tied:
        yield from _turned(run, ranks)
    if scored is not None and scorer is not None:
        yield from _moved(run, ranks, scored, scorer)


def _unjudged(run: Run, parts: Iterable[Run], scored: Scored, scorer: Scorer) -> Iterator[Doubt]:
    """That nothing is judged, or next to nothing of the top; the run consists of the parts."""
    judged, possible, _ = scored.signs
    if not judged and possible and _none_is_judged(parts, scorer.judged):
        cause = _cause_of_none(run, scorer.qrels.judgements)
        if cause is not None:
            yield Doubt("nothing-judged", cause)
            return
    if scored.signs.hardly_judged:
        yield Doubt("hardly-judged", f"{judged} of {possible}")


def _none_is_judged(parts: Iterable[Run], judged: JudgedDocuments) -> bool:
    """Whether no document is judged for its topic."""
    for run in parts:
        index = np.array([judged.topics.get(topic, -1) for topic in run.topics], dtype=np.intp)
        topics = index[run.topic_codes]
        lines = np.flatnonzero(topics >= 0)
        if np.any(judged.find(run.docnos, lines, topics[lines]) >= 0):
            return False
    return True


_SAMPLE = 200
_ENOUGH = 100
"""So many judged documents, and as many of a run, do not miss each other by chance."""
_SEPARATOR = re.compile(r"[-_:/.]")


def _cause_of_none(run: Run, judgements: Mapping[str, Mapping[str, int]]) -> str | None:
    """Why none of them is: letter case, a prefix that one side has, or another collection.

    None where it may be chance: few are judged, and the run's look like them.
    """
    spread = np.linspace(0, len(run.docnos) - 1, min(_SAMPLE, len(run.docnos))).astype(np.intp)
    sample = run.docnos.take(spread).as_strings()
    judged_docnos = {docno for grades in judgements.values() for docno in grades}
    folded = {docno.casefold() for docno in judged_docnos}
    if any(d.casefold() in folded and d not in judged_docnos for d in sample):
        return "they differ from the judged ones in upper and lower case"
    if not judged_docnos.isdisjoint(sample):
        return "they are judged for other topics"
    for docno in sample:
        for start in _starts(docno):
            if docno[start:] in judged_docnos:
                return f"the qrels lack their prefix {docno[:start]!r}"
    shorter = {docno[start:]: docno[:start] for docno in judged_docnos for start in _starts(docno)}
    for docno in sample:
        if docno in shorter:
            return f"they lack the prefix {shorter[docno]!r} of the qrels"
    of_topics = sum(len(judgements.get(topic, ())) for topic in run.topics)
    if min(of_topics, len(run.docnos)) >= _ENOUGH or _are_foreign(sample, judged_docnos):
        return f"is {sample[0]!r} of the collection that was judged?"
    return None


def _are_foreign(docnos: Iterable[str], judged: Set[str]) -> bool:
    """Whether the judged ones are of one make or few, and none of these is of it."""
    for make in (_with_any_number, _with_any_letters, _has_number):
        known: set[object] = {make(docno) for docno in judged}
        if len(known) <= max(1, len(judged) // 3) and known.isdisjoint(map(make, docnos)):
            return len(judged) > 1 or any(map(_has_number, judged))
    return False


def _with_any_number(docno: str) -> str:
    return re.sub(r"\d+", "0", docno)


def _has_number(docno: str) -> bool:
    return any(map(str.isdigit, docno))


def _with_any_letters(docno: str) -> str:
    return re.sub("[a-z]", "a", re.sub("[A-Z]", "A", _with_any_number(docno)))


def _starts(docno: str) -> Iterable[int]:
    """Where a document number goes on behind a separator."""
    return (match.end() for match in _SEPARATOR.finditer(docno) if match.end() < len(docno))


def _same_topic(codes: NDArray[np.int32]) -> Mask:
    return np.asarray(codes[1:] == codes[:-1])


def _all_tied(run: Run) -> bool:
    """Whether the scores of each topic are equal, and some topic has several."""
    _, scores, codes = by_topic_and_score(run, "single")
    same = _same_topic(codes)
    return bool(same.any() and (scores[1:] == scores[:-1])[same].all())


def _turned(run: Run, ranks: Floats) -> Iterator[Doubt]:
    """Scores that rise with the rank, or that are the ranks themselves."""
    order = np.lexsort((ranks, run.scores, run.topic_codes))
    codes, scores, ranks = run.topic_codes[order], run.scores[order], ranks[order]
    same = _same_topic(codes)
    step, rank_step = np.diff(scores)[same], np.diff(ranks)[same]
    falling = np.all(rank_step <= 0) and np.any(rank_step < 0)
    if falling and _are_ranks(scores, step, np.append(True, ~same)):
        if np.any(ranks % 1 != 0) or np.any(rank_step == 0):
            yield Doubt("exchanged-columns", "the 5th counts 1, 2, 3 ..., and the 4th does not")
        elif np.mean(rank_step == -1) < _MOST_STEPS:
            yield Doubt("perhaps-exchanged", f"on {len(run.topics)} topics")
    elif np.all(rank_step > 0) and np.any(step > 0):
        yield Doubt("upside-down", f"on {len(run.topics)} of {len(run.topics)} topics")


_MOST_STEPS = 0.9


def _are_ranks(scores: Floats, step: Floats, first: Mask) -> bool:
    """Whether scores count the documents of a topic from 0 or 1, but for some left out."""
    counted = np.all(scores % 1 == 0) and np.mean(step == 1) >= _MOST_STEPS
    return bool(counted and np.mean(np.isin(scores[first], (0, 1))) > 1 / 2)


def _moved(run: Run, ranks: Floats, scored: Scored, scorer: Scorer) -> Iterator[Doubt]:
    """What the scores would be, if the rank column decided where scores tie."""
    steps = np.diff(ranks[np.lexsort((ranks, run.topic_codes))])
    relevant = set(scorer.qrels.relevant_topics)
    counted = np.array([topic in relevant for topic in run.topics])
    if not (np.all(steps[_same_topic(np.sort(run.topic_codes))] > 0) and counted.any()):
        return  # such ranks do not say which of two is the better one
    lines, keys, codes = by_topic_and_score(run, scorer.precision)
    by_rank = lines[np.lexsort((ranks[lines], -keys, codes))]
    ranking = ranked(run, None, scorer.precision)
    by_name = np.empty(len(by_rank))
    by_name[by_rank] = -ranking.places
    moved = (ranking.lines != by_rank) & counted[codes]
    there = scorer.score(replace(run, scores=by_name))[1] if moved.any() else {}
    for measure in scorer.measures if there else ():
        name, depth = str(measure), measure.cutoff or USUAL_TOP
        topics = len(np.unique(codes[moved & (ranking.places < depth)]))
        if topics > MOST_MOVED * counted.sum():
            before, after = (
                f"{_mean(name, scored.topics, scores[name], relevant):.4f}"
                for scores in (scored.scores, there)
            )
            many = f"another top {depth} on {topics} of {counted.sum()} topics"
            yield Doubt("tie-order", many, name)
            yield Doubt("tie-order", f"by rank {name} is {after}, not {before}", name)


def _mean(measure: str, topics: Sequence[str], scores: Floats, relevant: Set[str]) -> float:
    """The mean over the topics with a relevant document, answered or not, as it is shown."""
    answered = [score for topic, score in zip(topics, scores, strict=True) if topic in relevant]
    missing = len(relevant) - len(answered)
    mean = float(sum(answered) + missing * unanswered_score(measure)) / len(relevant)
    return math.exp(mean) if is_logarithm(measure) else mean
