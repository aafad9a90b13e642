"""Two runs topic by topic: scores, what unjudged documents may do, and how far rankings moved."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

import numpy as np

from riskcli.analyses.churn_distances import SharedDocuments, agreement, kendall_distance
from riskcli.analyses.query_texts import QueryTexts
from riskcli.core.arrays import Floats
from riskcli.core.messages import counted
from riskcli.effectiveness.measures import Measure, is_logarithm
from riskcli.effectiveness.unjudged import Bounds, difference_bounds
from riskcli.output.display import Cell, Column, Display, Heading, decimals, in_title, width_of
from riskcli.output.measure_words import about_logarithms, g_squared_line
from riskcli.output.result import tidy
from riskcli.output.verdict import Statement
from riskcli.risk.paired import loses_a_fifth
from riskcli.risk.population import g_squared_of_two
from riskcli.scores.documents import Documents
from riskcli.scores.judging import Judging
from riskcli.scores.matrix import ScoreMatrix

PERSISTENCE = 0.9
"""RBO's, as in `topics --columns churn`."""
FIGURES = (
    "score", "baseline_score", "delta", "delta_min", "delta_max", "judged", "baseline_judged",
    "distance", "rbo", "overlap",
)  # fmt: skip
_LINES = 25
"""What a screen has, beside the line of the command."""
_LEAST_ROWS = 4
_FOR_QUERIES = 18
"""Columns of a terminal in which most queries say what they are about."""


@dataclass(frozen=True)
class Pair:
    """A run and its baseline by one measure."""

    run: str
    baseline: str
    measure: str
    kind: Measure
    topics: tuple[str, ...]
    columns: dict[str, Floats]
    """A cell a topic, by the names of `FIGURES`; NaN where nothing is known."""
    means: tuple[float, float]
    """The run's and the baseline's, as tables show them."""
    bounds: Bounds | None
    depth: int
    """The number of documents of which the judged share is told."""
    documents: Documents

    @property
    def g_squared(self) -> float:
        """SIGIR'16, Eq. 8."""
        return g_squared_of_two(self.columns["score"], self.columns["baseline_score"])

    @property
    def about(self) -> str:
        """What tells it from others."""
        return f"{self.measure}, baseline {self.baseline}"

    @property
    def delta(self) -> Floats:
        """Score less the baseline's, by topic."""
        return self.columns["delta"]

    @property
    def order(self) -> list[int]:
        """The topics, most lost first."""
        order: list[int] = np.argsort(self.delta, kind="stable").tolist()
        return order

    @property
    def top(self) -> str:
        """Where the measure looks."""
        return "ranking" if self.kind.cutoff is None else f"top {self.kind.cutoff}"


def compared(
    matrix: ScoreMatrix, judging: Judging, documents: Documents, run: str, baseline: str
) -> Pair:
    """The run and its baseline in the matrix."""
    measure, topics, runs = judging.measure, matrix.topics, (run, baseline)
    rows = [matrix.runs.index(name) for name in runs]
    own, other = matrix.values[rows]
    seen = documents.pair(measure, run, baseline, topics)
    scores = np.stack([other, own])
    bounds = difference_bounds(measure, replace(seen, scores=scores))
    unknown = np.full(len(topics), np.nan)
    ends = (unknown, unknown) if bounds is None else (bounds.low, bounds.high)
    lengths = seen.run.counts, seen.baseline.counts
    at, places = np.nonzero(seen.places >= 0)
    shared = SharedDocuments(*lengths, at, places, seen.places[at, places])
    overlap, rbo = agreement(shared, judging.depth, PERSISTENCE)
    figures = (
        own, other, own - other, *ends, *judging.shares(runs, topics),
        kendall_distance(shared), rbo, overlap,
    )  # fmt: skip
    means = matrix.shown_means()[rows].tolist()
    return Pair(
        run, baseline, matrix.measure, measure, topics, dict(zip(FIGURES, figures, strict=True)),
        (means[0], means[1]), bounds, judging.depth, documents,
    )  # fmt: skip


def rows_of(pair: Pair, queries: QueryTexts, most: int | None) -> Iterator[tuple[Any, ...]]:
    """A row a topic, most lost first."""
    columns = [tidy(pair.columns[name]) for name in FIGURES]
    for i in pair.order[:most]:
        topic = pair.topics[i]
        text = queries.of_topic(topic) if queries.given else None
        head = (pair.run, pair.baseline, pair.measure, topic, text)
        yield (*head, *(column[i] for column in columns))


# Sentences, each by a rule of its own: moved, worst, unjudged.


def sentences(pair: Pair, queries: QueryTexts) -> Iterator[Statement]:
    """How many topics lost and gained, which lost most, and what is certain of it."""
    runs, delta = (pair.run, pair.baseline), pair.delta
    lost, gained = int((delta < 0).sum()), int((delta > 0).sum())
    equal, logarithm = len(delta) - lost - gained, is_logarithm(pair.measure)
    fifths = int(loses_a_fifth(delta, pair.columns["baseline_score"]).sum())
    much = "" if logarithm or not lost else f", over a fifth on {fifths}"
    text = (
        f"{pair.run} loses on {lost} of {counted(len(delta), 'topic')} against {pair.baseline}"
        f"{much}; it gains on {gained}, {equal} {'is' if equal == 1 else 'are'} equal."
    )
    numbers: dict[str, Any]
    numbers = {"losses": lost, "gains": gained, "equal": equal,
               "lost_over_a_fifth": None if logarithm else fifths}  # fmt: skip
    yield Statement("moved", text, pair.about, runs, numbers=numbers)
    mean, own, other = float(delta.mean()), *pair.means
    text = f"Mean {other:.3f} to {own:.3f}, a difference of {signed(mean)}"
    text += " (of logarithms)" if logarithm else ""
    topics: tuple[str, ...] = ()
    if lost:
        i = pair.order[0]
        topics = (pair.topics[i],)
        score, base = pair.columns["score"][i], pair.columns["baseline_score"][i]
        text += f"; most lost on {queries.named(topics[0])} ({base:.3f} to {score:.3f})"
    numbers = {"mean": own, "baseline_mean": other, "mean_diff": mean}
    yield Statement("worst", f"{text}.", pair.about, runs, topics, numbers)
    yield _of_unjudged(pair, lost)


def _of_unjudged(pair: Pair, lost: int) -> Statement:
    """How much of both is judged, and what the rest can do."""
    shares = [_mean(pair.columns[name]) for name in ("judged", "baseline_judged")]
    numbers: dict[str, Any] = dict(zip(("judged", "baseline_judged"), shares, strict=True))
    about, runs = pair.about, (pair.run, pair.baseline)
    if min(shares) == 1 and pair.kind.cutoff is not None:
        text = f"All documents in either {pair.top} are judged."
        return Statement("unjudged", text, about, runs, numbers=numbers)
    judged = (
        f"Judged in the top {pair.depth}: {100 * shares[0]:.0f} % of {pair.run}, "
        f"{100 * shares[1]:.0f} % of {pair.baseline}"
    )
    if pair.bounds is None:
        text = f"{judged}; nothing bounds what the rest can do to {pair.measure}."
        return Statement("unjudged", text, about, runs, numbers=numbers)
    low, high = float(pair.bounds.low.mean()), float(pair.bounds.high.mean())
    certain = int((pair.bounds.high < 0).sum())
    lies = "lies in" if pair.bounds.exact else "lies within (a bound)"
    text = (
        f"{judged}. Whatever the grades of the unjudged documents in either {pair.top}, the mean "
        f"difference {lies} [{signed(low)}, {signed(high)}]"
    )
    if lost:
        text += f"; {_certain(certain, lost)}"
    numbers |= {"mean_diff_min": low, "mean_diff_max": high, "losses_certain": certain}
    return Statement("unjudged", f"{text}.", about, runs, numbers=numbers)


def _certain(certain: int, lost: int) -> str:
    if lost == 1:
        return f"the loss is {'' if certain else 'not '}certain"
    of = f"all {lost}" if certain == lost else f"{certain} of the {lost}"
    return f"{of} losses {'is' if certain == 1 else 'are'} certain"


def _mean(shares: Floats) -> float:
    known = shares[~np.isnan(shares)]
    return float(known.mean()) if len(known) else 0.0


def signed(value: float) -> str:
    """With its sign, 0 without one."""
    text = f"{value:+.3f}"
    return text[1:] if float(text) == 0 else text


# Tables: of all topics, or of those that lost and gained most.


def table(pair: Pair, queries: QueryTexts, most: int | None, width: int) -> Display:
    """Every topic, most lost first."""
    return replace(_table(pair, queries, pair.order[:most], width), caption=_legend(pair))


def screen(pair: Pair, queries: QueryTexts, most: int | None, width: int, more: str) -> Display:
    """As many topics as a screen has lines for: those that lost most, and those that gained."""
    said = [each.text for each in sentences(pair, queries)]
    order = pair.order[:most]
    example = f"One topic, document by document: --topic {pair.topics[order[0]]}." if order else ""
    below = [*_legend(pair), f"{example}{more}"]
    title = _table(pair, queries, [], width).title
    fixed = sum(len(wrap(line, width)) for line in [*said, title, *below]) + 2
    room = max(_LINES - fixed, _LEAST_ROWS)
    if len(order) <= room:
        return replace(_table(pair, queries, order, width), caption=below)
    rows = room - 2  # a line between both, and one that counts the rest
    lost, gained = ([i for i in order if sign * pair.delta[i] > 0] for sign in (-1, 1))
    at_top = min(len(lost), rows - min(len(gained), rows // 3))
    last = gained[max(len(gained) - (rows - at_top), 0) :]
    first = order[: rows - len(last)]
    between = [-1] if first and last else []
    shown = _table(pair, queries, [*first, *between, *last], width)
    rest = pair.delta[[i for i in order if i not in {*first, *last}]]
    counts = ((rest < 0).sum(), (rest == 0).sum(), (rest > 0).sum())
    words = zip(counts, ("that lose", "equal", "that gain"), strict=True)
    hidden = ", ".join(f"{number} {word}" for number, word in words if number)
    return replace(shown, caption=[f"Not shown: {hidden}; all: --full.", *below])


def _table(pair: Pair, queries: QueryTexts, rows: Sequence[int], width: int) -> Display:
    """These topics; -1 is a line between them."""
    topics = [Cell("⋯" if i < 0 else pair.topics[i]) for i in rows]
    columns = [
        Column.of(Heading("topic", left=True), topics),
        _numbers(pair, "base", "baseline_score", rows, 3),
        _numbers(pair, "score", "score", rows, 3),
        _numbers(pair, "δ", "delta", rows, 3),
        *(_numbers(pair, title, name, rows, 3)
          for title, name in (("δ min", "delta_min"), ("δ max", "delta_max"))
          if pair.bounds is not None),
        Column.of("judged", [_judged(pair, i) for i in rows]),
        _numbers(pair, "overlap", "overlap", rows, 2),
        _numbers(pair, "distance", "distance", rows, 2),
        _numbers(pair, "RBO", "rbo", rows, 2),
    ]  # fmt: skip
    asked = [pair.topics[i] if i >= 0 else "" for i in rows]
    if queries.given:  # what a topic asks says more than a third figure of how rankings moved
        while columns[-1].heading.text != "overlap" and width - width_of(columns) < _FOR_QUERIES:
            columns.pop()
    title = f"{pair.measure}: {pair.run} against {in_title(pair.baseline)}, most lost first"
    return Display(title, queries.beside(columns, asked, width))


def _numbers(pair: Pair, title: str, name: str, rows: Sequence[int], places: int) -> Column:
    values = pair.columns[name]
    texts = decimals((float(values[i]) for i in rows if i >= 0), places)
    signed = name.startswith("delta")
    shown = iter(f"+{text}" if signed and text[0] in "0123456789" and float(text) else text
                 for text in texts)  # fmt: skip
    return Column.of(title, ["" if i < 0 else next(shown) for i in rows])


def _judged(pair: Pair, topic: int) -> str:
    if topic < 0:
        return ""
    both = (pair.columns[name][topic] for name in ("judged", "baseline_judged"))
    return "/".join("–" if share != share else f"{100 * share:.0f}" for share in both)


def _legend(pair: Pair) -> list[str]:
    ends = "" if pair.bounds is None else "; δ min, max: for all grades of unjudged documents"
    text = (
        f"δ: score less base{ends}; judged: % of the top {pair.depth} of run and baseline; "
        "overlap ...: of the two rankings."
    )
    of_both = g_squared_line("the two runs", {pair.measure: pair.g_squared})
    return [text, *about_logarithms([pair.measure]), of_both]
