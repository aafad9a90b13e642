"""Situations in which a number of the table is less solid than it looks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import compress

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.messages import Note, counted, listed
from riskcli.output.measure_words import about_logarithms
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import Estimate
from riskcli.risk.inference import MOST_SHUFFLED_CELLS, Inference
from riskcli.risk.measure import MOST_CELLS_AT_ONCE, MOST_RANKED_RUNS, in_portions
from riskcli.risk.paired import LEAST_TOPICS
from riskcli.risk.weights import effective_topics
from riskcli.scores.matrix import ScoreMatrix

FEW_TOPICS = 25
FEW_DIFFERING = 10
MANY_ZEROS = 1 / 10
HEAVY_TOPIC = 1 / 2
FEW_EFFECTIVE = 10
HEAVY_WEIGHT = 1 / 5
"""Fewer topics that count, or one that counts for more, make tests and intervals rough."""
NO_RANK_INTERVALS = "no-rank-intervals"


def cautions(matrix: ScoreMatrix, comparison: Comparison, alphas: Sequence[float]) -> list[Note]:
    """The warnings that apply to one comparison (thresholds from the simulation study)."""
    notes = [*_of_weights(matrix), *_of_topics(comparison.topics)]
    notes += _of_differences(matrix, comparison)
    return [*notes, *_of_scores(matrix, comparison, alphas)]


@dataclass(frozen=True, eq=False)
class NamingNote(Note):
    """A warning that names some runs, and can be had of some of them alone."""

    about: str = field(kw_only=True, repr=False)
    """The message, in which {runs} stands for how many they are."""
    named: Mapping[str, str] = field(kw_only=True, repr=False)
    """By run, what the message calls it."""

    def only(self, runs: Iterable[str]) -> Iterator[Note]:
        """The warning for these runs, if it names any."""
        return _naming(self.code, self.about, {r: self.named[r] for r in runs if r in self.named})


def _naming(code: str, about: str, names: Iterable[str], end: str = "") -> Iterator[Note]:
    """The warning that names some runs, where there are any; a mapping has what it calls them."""
    named = names if isinstance(names, Mapping) else {name: name for name in names}
    if named:
        message = about.replace("{runs}", counted(len(named), "run"))
        yield NamingNote(code, f"{message}{listed(named.values())}{end}", about=about, named=named)


def _of_weights(matrix: ScoreMatrix) -> Iterator[Note]:
    """How many topics those with weights count as, and whether a few of them carry all."""
    weights, topics = matrix.weights, len(matrix.topics)
    if weights is None:
        return
    effective, largest = effective_topics(topics, weights), float(weights.max()) / topics
    rough = effective < FEW_EFFECTIVE or largest > HEAVY_WEIGHT
    message = f"weights: {topics} topics count as {effective:.3g} of equal weight"
    if rough:
        has = f"{matrix.topics[int(weights.argmax())]} has {largest:.0%}"
        message += f", and topic {has} of all weight: intervals and tests are rough"
    yield Note("weights", message, warning=rough)


def _of_topics(topics: int) -> Iterator[Note]:
    if topics < LEAST_TOPICS:
        many = "a single topic" if topics == 1 else f"{topics} topics"
        message = f"with {many} nothing can be tested (it takes {LEAST_TOPICS}): p and intervals "
        yield Note("too-few-topics", message + "are empty")
    elif topics < FEW_TOPICS:
        message = f"with {topics} topics (fewer than {FEW_TOPICS}) tests are rough"
        yield Note("few-topics", message)


def _of_differences(matrix: ScoreMatrix, comparison: Comparison) -> Iterator[Note]:
    baseline, paired = comparison.baseline, comparison.paired
    if len(matrix.runs) == 1 and baseline.own_row is None and not paired.wins.any():
        about = f"{matrix.measure}: one run, and {baseline.name} is made of it: "
        yield Note("one-run", about + "there is nothing to compare; name a --baseline")
        return
    few = {
        run: f"{run} ({count})"
        for row, (run, count) in enumerate(zip(matrix.runs, paired.differing, strict=True))
        if count < FEW_DIFFERING and row != baseline.own_row
    }
    message = (
        f"{matrix.measure}: differs from {baseline.name} on fewer than {FEW_DIFFERING} "
        "topics, so its tests have little power: "
    )
    if comparison.topics >= FEW_TOPICS:
        yield from _naming("few-differing-topics", message, few)


def _of_scores(
    matrix: ScoreMatrix, comparison: Comparison, alphas: Sequence[float]
) -> Iterator[Note]:
    """What negative scores, zeros, and runs above 0 on one topic or none do to tests."""
    measure, scores = matrix.measure, comparison.scores
    if comparison.logarithms:
        (told,) = about_logarithms([measure])
        yield Note("negative-score", f"{told} ZRisk and GeoRisk are left empty")
    elif comparison.has_negative:
        negative = np.argwhere(scores < 0)
        run, topic = negative[0]
        message = (
            f"{measure}: ZRisk and GeoRisk are left empty, they need scores of at least 0: run "
            f"{matrix.runs[run]} has {scores[run, topic]:g} on topic {matrix.topics[topic]}"
        )
        more = f", and {len(negative) - 1} more below 0" if len(negative) > 1 else ""
        yield Note("negative-score", message + more)
    zeros = float((scores == 0).mean())
    if comparison.smooth is None and 0.0 in alphas and zeros > MANY_ZEROS:
        message = (
            f"{measure}: {zeros:.0%} of the scores are 0; at alpha 0 intervals and tests of "
            "differences in ZRisk are wrong in up to 1 of 10 samples, not 1 of 20"
        )
        yield Note("many-zeros", message)
    nonzero = np.count_nonzero(scores, axis=1)
    if comparison.topics > 1:
        single = compress(matrix.runs, nonzero == 1)
        message = f"{measure}: {{runs}} above 0 on one topic only, so its "
        yield from _naming("single-topic-run", message + "intervals cannot be trusted: ", single)
    message = f"{measure}: all scores are 0, so ZRisk and GeoRisk are not tested: "
    yield from _naming("only-zeros", message, compress(matrix.runs, nonzero == 0))


def cautions_of_tests(
    matrix: ScoreMatrix, inference: Inference, tables: Sequence[Mapping[str, Estimate]]
) -> Iterator[Note]:
    """The warnings about single tests; `tables` hold the estimates of each alpha."""
    comparison = inference.comparison
    against = f"to {comparison.baseline.name}"
    if comparison.topics >= FEW_DIFFERING:
        yield from _carried_by_one_topic(matrix, against, tables)
    for name in tables[0] if comparison.effective_topics >= LEAST_TOPICS else ():
        untested = np.zeros(len(matrix.runs), dtype=bool)
        for each in (table[name] for table in tables):
            if each.p is not None and each.difference is not None:
                untested |= np.isnan(each.p) & np.isfinite(each.difference)
        message = f"{matrix.measure}: {name}_diff {against}: the same on every topic (up to "
        message += "rounding), so it is not tested: "
        yield from _naming("constant-difference", message, compress(matrix.runs, untested))
    if inference.too_large_to_shuffle:
        message = (
            f"{matrix.measure}: {inference.shuffled_cells:,} scores are too many to shuffle "
            f"(at most {MOST_SHUFFLED_CELLS:,}): differences {against} are tested by t, "
            "which flags equal runs by ZRisk and GeoRisk too often"
        )
        yield Note("not-shuffled", message)
    if in_portions(matrix.values):
        runs, topics = matrix.values.shape
        message = (
            f"{matrix.measure}: intervals of ranks compare every pair of runs; {runs:,} runs by "
            f"{topics:,} topics are too many (at most {MOST_RANKED_RUNS:,} runs and "
            f"{MOST_CELLS_AT_ONCE:,} scores), so they are left empty"
        )
        yield Note(NO_RANK_INTERVALS, message)


def _carried_by_one_topic(
    matrix: ScoreMatrix, against: str, tables: Sequence[Mapping[str, Estimate]]
) -> Iterator[Note]:
    heavy: dict[str, list[str]] = {}
    for name in tables[0]:
        shares = [share for table in tables if (share := table[name].heaviest) is not None]
        heaviest = np.fmax.reduce(shares) if shares else np.zeros(len(matrix.runs))
        for run, share in zip(matrix.runs, heaviest.tolist(), strict=True):
            if share > HEAVY_TOPIC:
                heavy.setdefault(run, []).append(f"{name} {share:.0%}")
    message = (
        f"{matrix.measure}: one topic carries more than half of the variance of a difference "
        f"{against}, so test and interval are rough: "
    )
    runs = {run: f"{run} ({', '.join(shares)})" for run, shares in heavy.items()}
    yield from _naming("one-heavy-topic", message, runs)


# Runs that are copies of each other, or all but that, and runs that score the same everywhere.
#
# Each copy weighs one in the population of ZRisk and GeoRisk, and so changes the figures of all
# runs.


LEAST_COMMON_TOPICS = 10
"""On fewer topics, equal scores may well be chance."""
ALL_BUT = 20
"""Runs that differ on no more than one topic in so many are all but the same."""
_MOST_CELLS = 200_000_000
"""Scores that are compared at most: beyond this only exact copies are told."""


def copy_notes(matrix: ScoreMatrix, teams: Sequence[str | None]) -> Iterator[Note]:
    """What to know before the figures are read. Copies within one team do no harm."""
    runs, topics = matrix.runs, len(matrix.topics)
    if topics >= LEAST_COMMON_TOPICS:
        copies = (
            " = ".join(runs[row] for row in group)
            for group in equal_rows(matrix.values)
            if _apart(group, teams)
        )
        message = f"{matrix.measure}: the same score on every topic: "
        yield from _naming("copies", message, copies, _ADVICE)
        near = (
            f"{runs[one]} and {runs[other]} ({counted(differing, 'topic')})"
            for one, other, differing in nearly_equal_rows(matrix.values)
            if _apart((one, other), teams)
        )
        message = f"{matrix.measure}: all but the same scores, by the number of topics on which "
        yield from _naming("near-copies", f"{message}they differ: ", near, _ADVICE)
    flat = (run for run, row in zip(runs, matrix.values, strict=True) if constant(row))
    message = f"{matrix.measure}: one and the same score on all {topics} topics: "
    yield from _naming("constant-scores", message, flat)


_ADVICE = "; each counts in the population of ZRisk and GeoRisk, unless they are a team (--teams)"


def _apart(rows: Sequence[int], teams: Sequence[str | None]) -> bool:
    """Whether these runs are not all of one team."""
    return len({teams[row] for row in rows}) > 1 or teams[rows[0]] is None


def equal_rows(scores: Floats) -> list[list[int]]:
    """The groups of equal rows, but for those of zeros alone."""
    return [rows for rows in _alike(scores) if scores[rows[0]].any()]


def _alike(scores: Floats) -> list[list[int]]:
    """The groups of equal rows, told by their checksums: the rows themselves may take gigabytes."""
    groups: dict[bytes, list[int]] = {}
    for row, values in enumerate(scores):
        digest = blake2b((values + 0.0).tobytes(), digest_size=16).digest()  # -0 is 0
        groups.setdefault(digest, []).append(row)
    return [rows for rows in groups.values() if len(rows) > 1]


def nearly_equal_rows(scores: Floats) -> Iterator[tuple[int, int, int]]:
    """Pairs that differ on few topics, and agree above 0 on most; with how many topics differ.

    Rows that differ on at most m topics are equal on one of m + 1 parts of the topics at least:
    only rows that share a part are compared.
    """
    topics = scores.shape[1]
    most = max(1, topics // ALL_BUT)
    pairs: dict[tuple[int, int], int] = {}
    cells = 0
    for part in np.array_split(np.arange(topics), most + 1):
        for rows in _alike(scores[:, part[0] : part[-1] + 1]):
            for index, one in enumerate(rows[:-1]):
                others = scores[rows[index + 1 :]]
                cells += others.size
                if cells > _MOST_CELLS:
                    return
                differs = others != scores[one]
                agrees = (~differs & (scores[one] != 0)).sum(axis=1)
                count = differs.sum(axis=1)
                near = (count > 0) & (count <= most) & (2 * agrees > topics)
                for later in np.flatnonzero(near).tolist():
                    pairs[one, rows[index + 1 + later]] = int(count[later])
    for (one, other), differing in sorted(pairs.items()):
        yield one, other, differing


def constant(row: Floats) -> bool:
    """Whether a run has one and the same score above 0 on all topics."""
    return len(row) > 1 and bool(row[0] != 0) and bool((row == row[0]).all())
