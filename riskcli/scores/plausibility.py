"""Whether scores are those of topics: no summary among them, no index, no percent."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.messages import InputError, Note, UsageError, listed
from riskcli.effectiveness.measures import highest_score, is_measure
from riskcli.effectiveness.plausibility import Doubt, notes_on, warnings_after
from riskcli.trec.records import are_measures

UNNAMED = "score"
"""What the measure is called where nobody says it."""
_INDEX = re.compile(r"__index_level_\d+__|Unnamed: \d+(_level_\d+)?")
_SUMMARIES = frozenset(
    ("all", "amean", "gmean", "geomean", "mean", "average", "avg", "median", "overall", "total",
     "macro", "micro", "std", "stdev", "stddev", "max", "min", "count")
)  # fmt: skip
_AT = re.compile(r"_at_(?=\d)")
"""How MTEB names cutoffs."""
_OF = re.compile(r"\s*\((mean|average|avg|all)\)$|\.$", re.IGNORECASE)
"""What a heading may add."""
_LETTER = re.compile(r"[PRG]", re.IGNORECASE)
_NUMBERED = re.compile(r"([A-Za-z_]*[A-Za-z])[._]?(\d+)")
_LETTER_AT = re.compile(r"([PRG])@(\d+)", re.IGNORECASE)
_CUTOFFS = frozenset(("1", "3", "5", "10", "15", "20", "30", "50", "100", "200", "500", "1000"))
_FAMILIES = frozenset(
    ("p", "r", "ap", "map", "dcg", "ndcg", "rr", "mrr", "err", "precision", "recall", "success",
     "hit", "hits", "acc", "accuracy", "bpref", "rprec", "f")
)  # fmt: skip


class Scores(Protocol):
    """What a score matrix has."""

    @property
    def measure(self) -> str: ...
    @property
    def runs(self) -> tuple[str, ...]: ...
    @property
    def topics(self) -> tuple[str, ...]: ...
    @property
    def values(self) -> Floats: ...


def doubts_on(matrices: Iterable[Scores], of_judgements: bool = False) -> Iterator[Doubt]:
    """What is doubtful in scores by one measure or several; NaN is a topic without an answer.

    Topics `of_judgements` (of files that riskeval wrote) may have any name.
    """
    known: dict[str, None] = {}
    for matrix in matrices:
        new = [topic for topic in matrix.topics if topic not in known]
        known |= dict.fromkeys(new)
        if any(map(is_index, new)):
            yield Doubt("index-column", listed(filter(is_index, new)))
        if not of_judgements and (summaries := _summaries(new)):
            yield Doubt("summary-topic", _described(summaries, matrix.topics))
        if not of_judgements and (runs := [run for run in matrix.runs if _names_summary(run)]):
            yield Doubt("summary-run", listed(runs))
        means = [matrix.topics[column] for column in mean_columns(matrix.values)]
        if means:
            yield Doubt("mean-topic", listed(means), matrix.measure)
        highest = _too_high(matrix)
        if highest:
            yield Doubt("above-one", f"{matrix.measure} up to {highest:.6g}", matrix.measure)


def notes_on_scores(matrices: Iterable[Scores], what: str) -> list[Note]:
    """Warnings about scores in memory; names that are no topics' are an error."""
    try:
        return notes_on([(what, warnings_after(Path(what), doubts_on(matrices)))])
    except InputError as error:
        raise UsageError(f"{what}: {error.message}") from error


def refuse_percent(matrix: Scores) -> None:
    """Refuse to rank by GeoRisk what may be percent: the order depends on the scale."""
    highest = _too_high(matrix)
    if highest:
        raise UsageError(
            f"{matrix.measure} is up to {highest:.6g}, as of percent, and on another scale GeoRisk "
            "gives another order: --scale 0.01 makes fractions of percent, --measure names a "
            "measure that has no upper bound"
        )


_ROUNDING = 1e-6


def _too_high(matrix: Scores) -> float | None:
    """The highest score, where none by that measure can be so high."""
    measure = matrix.measure.split(" [")[0]  # without the name of the judgements
    most = 1.0 if measure == UNNAMED else highest_score(measure)
    highest = float(np.fmax.reduce(matrix.values, axis=None, initial=0.0))
    return highest if highest > most + _ROUNDING else None


def is_index(name: str) -> bool:
    """Whether pandas calls a column so that is an index."""
    return _INDEX.fullmatch(name) is not None


def _described(summaries: Sequence[str], topics: Sequence[str]) -> str:
    """The summaries, and what the file may be where it holds nothing else."""
    if len(summaries) < len(topics):
        return f"{listed(summaries)} (leave out the columns or rows)"
    return f"{listed(summaries)} (a table of means: riskeval needs a score for each topic)"


def _summaries(topics: Sequence[str]) -> list[str]:
    """The topics that are named like a summary or a measure."""
    plain = {topic: _OF.sub("", topic.strip()) for topic in topics}
    odd = _serial(plain.values())
    found = [topic for topic in topics if plain[topic] not in odd and _is_summary(plain[topic])]
    families = {_family_of(name) for name in plain.values()}
    if len(families) > 1 and families <= {*_FAMILIES, *_SUMMARIES}:
        return list(topics)  # whatever a table of means calls its columns
    return found


def _names_summary(name: str) -> bool:
    return _OF.sub("", name.strip()).casefold() in _SUMMARIES


def _is_summary(name: str) -> bool:
    """Whether a single name says so, whatever the others are."""
    if name.casefold() in _SUMMARIES:
        return True
    if _NUMBERED.fullmatch(_AT.sub("@", name)):
        return are_measures([name])  # AP_10 may be a topic, and P_10 as trec_eval has it is not
    return is_measure(_AT.sub("@", name))


def _serial(names: Iterable[str]) -> set[str]:
    """The names of a letter or a word and a number that are no usual cutoffs throughout."""
    matched = {n: _LETTER_AT.fullmatch(n) or _NUMBERED.fullmatch(n) for n in names}
    families: dict[str, list[str]] = {}
    for match in matched.values():
        if match:
            families.setdefault(match[1], []).append(match[2])
    odd = {family for family, numbers in families.items() if not _CUTOFFS.issuperset(numbers)}
    letters = {name for name in matched if _LETTER.fullmatch(name)}
    return letters | {name for name, match in matched.items() if match and match[1] in odd}


def _family_of(name: str) -> str:
    """A name without a usual cutoff; all of the name where its number is none."""
    match = _NUMBERED.fullmatch(name) or _LETTER_AT.fullmatch(name)
    usual = match is not None and match[2] in _CUTOFFS
    return (match[1] if match and usual else name).casefold()


# A topic whose scores are the means of the others, as a summary's are.


_SAMPLE = 32
_LEAST_TOPICS, _MANY_TOPICS = 6, 12
_ENOUGH_RUNS = 3
_LEAST_SPREAD = 0.01
_FOUR_DECIMALS, _SIX_DECIMALS = 5.1e-5, 5.1e-7
"""Half of the last digit, and a little more."""


def mean_columns(values: Floats) -> list[int]:
    """The columns in which every row has the mean of its other cells, rounded perhaps.

    A row with NaN says nothing.
    """
    if values.shape[1] < _LEAST_TOPICS:
        return []
    some = values[:_SAMPLE]
    some = some[~np.isnan(some).any(axis=1)]
    size = float(np.ptp(some)) if len(some) else 0.0
    near = _off_mean(some, slice(None)) <= _FOUR_DECIMALS * max(1.0, size)
    columns = np.flatnonzero(near.all(axis=0)) if size > _LEAST_SPREAD else np.array([], int)
    return [column for column in columns.tolist() if _is_mean(values, column, max(1.0, size))]


def _is_mean(values: Floats, column: int, size: float) -> bool:
    """Whether it can hardly be chance: by many distinct values, or by one of many digits."""
    off = _off_mean(values, [column])[:, 0]
    cells = values[~np.isnan(off), column]
    telling = np.unique(cells[np.abs(cells * 100 - np.round(cells * 100)) > _ROUNDING])
    if len(telling) >= _ENOUGH_RUNS:
        return bool(np.nanmax(off) <= _FOUR_DECIMALS * size)
    many = len(telling) > 0 and values.shape[1] >= _MANY_TOPICS
    return many and bool(np.nanmax(off) <= _SIX_DECIMALS * size)


def _off_mean(values: Floats, columns: slice | list[int]) -> Floats:
    """How far the cells of these columns are from the mean of the others in their row."""
    some, topics = values[:, columns], values.shape[1]
    others = (values.sum(axis=1, keepdims=True) - some) / (topics - 1)
    return np.asarray(np.abs(some - others))
