"""What documents that nobody judged may do to a comparison: shares, and ranges of differences."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from riskcli.core.arrays import Floats, Rows
from riskcli.core.choices import is_virtual
from riskcli.core.messages import Note, UsageError, counted, joined, listed
from riskcli.effectiveness.unjudged import difference_bounds, with_others
from riskcli.output.display import Display, Heading, decimal, in_title
from riskcli.output.verdict import Number, Statement
from riskcli.risk.comparison import Comparison
from riskcli.risk.rounding import NO_DIFFERENCE
from riskcli.scores.documents import Documents
from riskcli.scores.judging import Judging
from riskcli.scores.matrix import ScoreMatrix

MUCH = 1 / 10
"""More of a ranking's top unjudged is said unasked."""
MOST_PAIRS = 20_000
"""Runs times runs of a pooled baseline that are bounded; more would take minutes."""
_AT_ONCE = 2**22
"""Documents that are looked at together."""
_NAMED = 3
_TO_POOLED: dict[str, Callable[[Floats], Floats]] = {
    "mean": lambda differences: np.asarray(differences.mean(axis=0)),
    "median": lambda differences: np.asarray(np.median(differences, axis=0)),
    "max": lambda differences: np.asarray(differences.min(axis=0)),
    "min": lambda differences: np.asarray(differences.max(axis=0)),
}
"""How a difference to a pooled score is made of those to its members: less the largest score it is
the smallest difference. All of them rise with each difference, and so do bounds."""


@dataclass(frozen=True)
class Ranges:
    """The differences that completions of the judgements allow, by run and topic.

    NaN where only the scores of a run are known.
    """

    low: Floats
    high: Floats
    exact: bool
    """Whether both ends are reached; else they are bounds."""

    def of_runs(self, rows: Rows) -> Self:
        """Those of these runs, in this order."""
        return replace(self, low=self.low[rows], high=self.high[rows])


def ranges(matrix: ScoreMatrix, comparison: Comparison, pool: str) -> Ranges | None:
    """The ranges of all differences to a baseline; None where documents were not asked for.

    Less a set, or a virtual run, they are made of those to its members, of which each knows of the
    unjudged documents of all: that bounds them.
    """
    judging = matrix.judging
    if judging is None or judging.documents is None:
        return None
    baseline = comparison.baseline
    if is_virtual(baseline.name):
        pool = baseline.name[1:]
        if comparison.members is not None:
            raise UsageError(
                f"the differences to {baseline.name} of teams or a frozen population have no "
                "bounds: name a run as the --baseline"
            )
    members = comparison.reference
    if len(members) * len(matrix.runs) > max(MOST_PAIRS, len(matrix.runs)):
        raise UsageError(
            f"bounds against {baseline.name} compare {len(matrix.runs)} runs with each of "
            f"{len(members)}, which takes long: name one run as the --baseline"
        )
    rows = [row for row, run in enumerate(matrix.runs) if run in judging.documents.runs]
    each = [_against(matrix, judging, judging.documents, rows, m, members) for m in members]
    if len(each) == 1:
        return each[0]
    combined = _TO_POOLED[pool]
    low, high = (combined(np.stack([getattr(e, end) for e in each])) for end in ("low", "high"))
    return Ranges(low, high, exact=False)


def _against(
    matrix: ScoreMatrix,
    judging: Judging,
    documents: Documents,
    rows: Sequence[int],
    member: int,
    members: Sequence[int],
) -> Ranges:
    """The ranges of the differences of these rows to one of the members."""
    shape = matrix.values.shape
    low, high, exact = np.full(shape, np.nan), np.full(shape, np.nan), True
    depth = max(documents.numbers.shape[2], 1)
    size = max(_AT_ONCE // (depth * len(matrix.topics)), 1)
    for first in range(0, len(rows), size):
        some = list(rows[first : first + size])
        names = [matrix.runs[row] for row in some]
        pairs = documents.pairs(judging.measure, names, matrix.runs[member], matrix.topics)
        own, others = matrix.values[some], np.tile(matrix.values[member], len(some))
        scored = replace(pairs, scores=np.stack([others, own.ravel()]))
        found = difference_bounds(judging.measure, scored)
        if found is None:
            raise UsageError(
                f"nothing bounds what unjudged documents do to {judging.measure}: take another "
                "measure, or leave out --unjudged bounds"
            )
        if len(members) > 1:
            others = documents.unjudged_elsewhere(
                judging.measure, names, matrix.runs[member],
                [matrix.runs[each] for each in members], matrix.topics,
            )  # fmt: skip
            found = with_others(judging.measure, found, scored.levels, others.ravel())
        low[some], high[some] = found.low.reshape(own.shape), found.high.reshape(own.shape)
        exact &= found.exact
    if matrix.runs[member] in documents.runs:
        low[member] = high[member] = 0.0
    return Ranges(low, high, exact)


def shares(matrix: ScoreMatrix, comparison: Comparison) -> tuple[Floats, Floats] | None:
    """How much of each run's first documents is judged, on average over topics; the baseline's.

    None where it is not known of any run. Of several runs it is the mean.
    """
    if matrix.judging is None:
        return None
    own = matrix.judging.mean_shares(matrix.runs, matrix.topics)
    if np.isnan(own).all():
        return None
    baseline = own[list(comparison.reference)].mean()
    return own, np.full(len(own), baseline)


def columns_of(
    matrix: ScoreMatrix, comparison: Comparison, allowed: Ranges | None, alpha: float
) -> dict[str, Floats]:
    """By name of the column: what is judged, and what differences and losses may be."""
    judged = shares(matrix, comparison)
    columns = (
        {} if judged is None else dict(zip(("judged", "baseline_judged"), judged, strict=True))
    )
    if allowed is None:
        return columns
    none = comparison.is_baseline
    found = {
        "mean_diff_min": comparison.mean(allowed.low),
        "mean_diff_max": comparison.mean(allowed.high),
        "urisk_min": _urisk(comparison, allowed.low, alpha),
        "urisk_max": _urisk(comparison, allowed.high, alpha),
        "losses_certain": losses(allowed.high),
        "losses_possible": losses(allowed.low),
    }
    return {name: np.where(none, np.nan, values) for name, values in found.items()} | columns


def losses(delta: Floats) -> Floats:
    """The topics with a loss that is more than rounding; NaN where a difference is not known."""
    count = np.count_nonzero(delta < -NO_DIFFERENCE, axis=1)
    return np.where(np.isnan(delta).any(axis=1), np.nan, count)


def _urisk(comparison: Comparison, delta: Floats, alpha: float) -> Floats:
    """URisk of these differences, with which it rises."""
    if comparison.smooth is not None and not comparison.smooth.rises:
        return np.full(len(delta), np.nan)
    paired = replace(comparison.paired, scores=delta, baseline=np.zeros(delta.shape[1]))
    return comparison.mean(paired.weighted(alpha))


# In words.


def statement(
    columns: Mapping[str, Any],
    runs: Sequence[str],
    rows: Sequence[int],
    baseline: str,
    called: str,
    judging: Judging,
    about: str,
) -> Statement | None:
    """How much of these rows nobody judged, where it is much of a run's top or the baseline's."""
    if "judged" not in columns or not len(rows):
        return None
    own, of_baseline = columns["judged"], float(columns["baseline_judged"][0])
    much = [row for row in rows if own[row] < 1 - MUCH]
    if not much and not of_baseline < 1 - MUCH:
        return None
    known = [row for row in rows if not np.isnan(own[row])]  # of others only scores are known
    much = sorted(much, key=lambda row: own[row]) or sorted(known, key=lambda row: own[row])[:1]
    named = [f"{_percent(own[row])} of {runs[row]}" for row in much[:_NAMED]]
    if len(much) > _NAMED:
        named.append(f"more than a tenth of {counted(len(much) - _NAMED, 'other')}")
    elif len(known) > 1 and not own[much[0]] < 1 - MUCH:
        named = [f"at most {_percent(own[much[0]])} of a run"]
    compared = compared_with(baseline, called)
    if not np.isnan(of_baseline):
        named.append(f"{_percent(of_baseline)} of {compared}")
    text = f"Nobody judged {joined(named)} (first {judging.depth} documents); "
    if judging.rule == "condensed":
        text += "they are taken out of the rankings, as if they were like the judged"
    elif "mean_diff_min" in columns:
        text += _in_the_mean(columns, runs, rows, compared)
    else:
        text += "they count as not relevant: differences may be no more than that"
    numbers: dict[str, Number | tuple[Number, ...]]
    numbers = {"judged": tuple(float(own[row]) for row in much)}
    if not np.isnan(of_baseline):
        numbers["baseline_judged"] = of_baseline
    return Statement("unjudged", f"{text}.", about, tuple(runs[row] for row in much), (), numbers)


def compared_with(baseline: str, called: str) -> str:
    """Whose documents these are: of all runs, where the baseline is made of them."""
    return "all runs on average" if is_virtual(baseline) else called


def _in_the_mean(
    columns: Mapping[str, Any], runs: Sequence[str], rows: Sequence[int], compared: str
) -> str:
    """Whose mean stays on its side of the baseline's."""
    above = [runs[row] for row in rows if columns["mean_diff_min"][row] > NO_DIFFERENCE]
    below = [runs[row] for row in rows if columns["mean_diff_max"][row] < -NO_DIFFERENCE]
    sides = [
        f"{listed(names, _NAMED)} {'stay' if len(names) > 1 else 'stays'} {side} {compared}"
        for names, side in ((above, "above"), (below, "below"))
        if names
    ]
    if not sides:
        return f"in the mean no run is sure to be above or below {compared}"
    return f"whatever their grades, in the mean {' and '.join(sides)}"


def _percent(judged: float) -> str:
    return f"{1 - judged:.0%}".replace("%", " %")


def of_comparison(
    matrix: ScoreMatrix, comparison: Comparison, rows: Sequence[int], allowed: Ranges | None
) -> list[Statement]:
    """The same of a score matrix against a baseline, by the name of which it is called."""
    if matrix.judging is None:
        return []
    columns, name = columns_of(matrix, comparison, allowed, 0.0), comparison.baseline.name
    about = f"{matrix.measure}, baseline {name}"
    said = statement(columns, matrix.runs, rows, name, in_title(name), matrix.judging, about)
    return [] if said is None else [said]


def notes(
    matrix: ScoreMatrix, comparison: Comparison, rows: Sequence[int] | None = None
) -> list[Note]:
    """The same as a warning, where no verdict says it."""
    own = comparison.baseline.own_row
    others = [row for row in range(len(matrix.runs)) if row != own] if rows is None else rows
    said = of_comparison(matrix, comparison, others, None)
    return [Note("unjudged-documents", f"{matrix.measure}: {each.text[:-1]}") for each in said]


def table(runs: Sequence[str], columns: Mapping[str, Any], title: str, exact: bool) -> Display:
    """The ranges of each run: of its mean difference, of URisk, and of its losses."""
    headings: list[str | Heading] = [Heading("run", left=True, names=True)]
    headings += ["mean difference", "URisk", "losses", "judged"]
    rows = []
    for row, run in enumerate(runs):
        lost = [columns[f"losses_{end}"][row] for end in ("certain", "possible")]
        cells = [_span(columns, name, row) for name in ("mean_diff", "urisk")]
        rows.append([run, *cells, _between(lost), decimal(float(columns["judged"][row]), 2)])
    ends = "" if exact else "; these are bounds, which may not be reached"
    caption = [
        "Ranges over all grades that unjudged documents of the rankings compared could have"
        f"{ends}. Losses: those that are certain, and those that are possible."
    ]
    return Display.of_rows(title, headings, rows, caption)


def _span(columns: Mapping[str, Any], name: str, row: int) -> str:
    low, high = (decimal(float(columns[f"{name}_{end}"][row]), 4) for end in ("min", "max"))
    return low if low == high else f"[{low}, {high}]"


def _between(lost: Sequence[float]) -> str:
    texts = dict.fromkeys(decimal(float(count), 0) for count in lost)
    return "–".join(texts)
