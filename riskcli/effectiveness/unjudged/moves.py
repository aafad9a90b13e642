"""What judging one more document would do to the range of a difference."""

from dataclasses import dataclass, replace

import numpy as np

from riskcli.core.arrays import Floats, Rows, row_blocks
from riskcli.effectiveness.grades import RankedGrades
from riskcli.effectiveness.measures import Measure
from riskcli.effectiveness.unjudged import difference_bounds
from riskcli.effectiveness.unjudged.pairs import RankedPair, cut, rows_of

_CELLS = 2**21
_NOTHING = 1e-12
"""An end that moves by less is where it was."""
_WEIGHED = 30
"""Ranks whose documents are weighed one by one; others come after them, by rank. (Without a cutoff
there are thousands a topic, of which those that are deep hardly move anything.)"""
_ADDITIVE = ("P", "RBP", "SetP")
"""A document that moves nothing by these moves nothing whatever is judged beside it."""
_OTHER_END = 0.01


@dataclass(frozen=True)
class GradeMoves:
    """The unjudged documents of either ranking, and how far each brings the ends together.

    By grade that it may have (row) and document (column).
    """

    topics: Rows
    """The topic's row in the pair."""
    in_run: Rows
    """The rank, from 0; -1: nowhere."""
    in_baseline: Rows
    up: Floats
    """How much the topic's smallest difference rises."""
    down: Floats
    """How much its largest falls."""
    low: Floats
    """Each topic's smallest difference as it is."""
    high: Floats
    shares: Floats
    """How many of the documents that are judged have each grade."""

    @property
    def rank(self) -> Rows:
        """The better of both ranks."""
        return _rank(self.in_run, self.in_baseline)

    def order(self) -> tuple[Rows, Floats]:
        """The documents, the most decisive first, and how decisive each is for the mean.

        That is how far it is expected to move the end of the mean's range that is nearer to 0,
        where grades are as frequent as among the judged documents; the other end breaks ties.
        """
        up, down = self.shares @ self.up, self.shares @ self.down
        near, far = (up, down) if self.low.mean() + self.high.mean() > 0 else (down, up)
        weight = (near + _OTHER_END * far) / len(self.low)
        return np.lexsort((self.topics, self.rank, -weight)), weight


def moves(measure: Measure, pair: RankedPair) -> GradeMoves | None:
    """The unjudged documents of topics whose difference is open; None without bounds."""
    pair = cut(replace(pair, scores=None), measure.cutoff)
    now = difference_bounds(measure, pair)
    if now is None:
        return None
    topics, in_run, in_baseline = _unjudged(pair)
    wide = (now.high > now.low)[topics]
    topics, in_run, in_baseline = topics[wide], in_run[wide], in_baseline[wide]
    highest = pair.run.max_grade if measure.family.name == "ERR" else pair.levels.shape[1]
    up, down = np.zeros((2, highest + 1, len(topics)))
    weighed = np.flatnonzero(_rank(in_run, in_baseline) < _WEIGHED)
    width = pair.run.grades.shape[1] + pair.baseline.grades.shape[1]
    for block in row_blocks(len(weighed), width, _CELLS):
        some = weighed[block]
        for grade in range(highest + 1):
            graded = _graded(pair, topics[some], in_run[some], in_baseline[some], grade)
            then = difference_bounds(measure, graded)
            assert then is not None
            up[grade, some] = then.low - now.low[topics[some]]
            down[grade, some] = now.high[topics[some]] - then.high
    shares = _shares(pair, highest)
    found = GradeMoves(topics, in_run, in_baseline, up, down, now.low, now.high, shares)
    return _without_idle(found, weighed) if measure.family.name in _ADDITIVE else found


def _without_idle(found: GradeMoves, weighed: Rows) -> GradeMoves:
    """The same without weighed documents that move nothing."""
    idle = np.zeros(len(found.topics), dtype=np.bool_)
    idle[weighed] = True
    idle &= (np.maximum(found.up, found.down) <= _NOTHING).all(axis=0)
    kept = {
        name: getattr(found, name)[..., ~idle]
        for name in ("topics", "in_run", "in_baseline", "up", "down")
    }
    return replace(found, **kept)


def _rank(in_run: Rows, in_baseline: Rows) -> Rows:
    ranks = np.stack([in_run, in_baseline])
    return np.asarray(np.where(ranks < 0, np.iinfo(np.intp).max, ranks).min(axis=0))


def _shares(pair: RankedPair, highest: int) -> Floats:
    """The grades' shares of what is judged in both rankings; half a document more of each."""
    grades = np.concatenate([side.grades[side.judged] for side in (pair.run, pair.baseline)])
    counts = np.bincount(np.clip(grades, 0, highest), minlength=highest + 1) + 0.5
    return np.asarray(counts / counts.sum())


def _unjudged(pair: RankedPair) -> tuple[Rows, Rows, Rows]:
    """Each unjudged document once: its topic, and its rank in the run and in the baseline."""
    case = rows_of(pair, slice(None))
    topics, in_run = np.nonzero(case.run.unjudged)
    others, rank = np.nonzero(case.baseline.alone)
    nowhere = np.full(len(others), -1)
    return (
        np.append(topics, others),
        np.append(in_run, nowhere),
        np.append(case.run.elsewhere[topics, in_run], rank),
    )


def _graded(
    pair: RankedPair, topics: Rows, in_run: Rows, in_baseline: Rows, grade: int
) -> RankedPair:
    """A row a document: its topic, with that document of that grade."""
    levels = pair.levels[topics]
    levels[:, :grade] += 1
    run, baseline = (
        _with_grade(side, topics, ranks, grade)
        for side, ranks in ((pair.run, in_run), (pair.baseline, in_baseline))
    )
    return RankedPair(run, baseline, pair.places[topics], levels)


def _with_grade(side: RankedGrades, topics: Rows, ranks: Rows, grade: int) -> RankedGrades:
    grades, judged = side.grades[topics], side.judged[topics]
    there = np.flatnonzero(ranks >= 0)
    grades[there, ranks[there]], judged[there, ranks[there]] = grade, True
    return replace(side, grades=grades, judged=judged, counts=side.counts[topics])
