"""How far the documents behind a score matrix are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from riskcli.core.arrays import Floats, Mask, mean_of_known
from riskcli.core.choices import Unjudged
from riskcli.core.messages import UsageError
from riskcli.effectiveness.measures import Measure, parse_measure
from riskcli.effectiveness.ranking import Top
from riskcli.effectiveness.scoring import top_of
from riskcli.scores.documents import Documents
from riskcli.trec.qrels import Qrels


@dataclass(frozen=True)
class Judging:
    """Which part of each run's first documents is judged, topic by topic; they themselves perhaps.

    Runs and topics go by their names, so that it serves any part of a matrix.
    """

    measure: Measure
    topics: tuple[str, ...]
    by_run: Mapping[str, Floats]
    """The judged shares by topic; NaN where a run has no document."""
    rule: Unjudged = "zero"
    """What the others count as."""
    documents: Documents | None = None
    gaps: Mapping[str, Mask] = field(default_factory=dict)
    """Of systems: the topics that one of their runs, or more, does not answer."""

    @property
    def depth(self) -> int:
        """The number of documents that count as the first."""
        return top_of(self.measure)

    @cached_property
    def _column(self) -> dict[str, int]:
        return {topic: index for index, topic in enumerate(self.topics)}

    def shares(self, runs: Sequence[str], topics: Sequence[str]) -> Floats:
        """By run and topic; NaN where there is no document, or only its score is known."""
        unknown = np.full(len(self.topics), np.nan)
        rows = np.array([self.by_run.get(run, unknown) for run in runs])
        return rows if tuple(topics) == self.topics else rows[:, [self._column[t] for t in topics]]

    def unanswered(self, run: str, topics: Sequence[str]) -> Mask:
        """Which of the topics a run, or any of a system's, does not answer."""
        if run not in self.gaps:
            return np.asarray(np.isnan(self.shares([run], topics)[0]))
        return self.gaps[run][[self._column[topic] for topic in topics]]

    def mean_shares(self, runs: Sequence[str], topics: Sequence[str]) -> Floats:
        """By run, on average over the topics of which it has documents; NaN where it has none."""
        by_topic = self.shares(runs, topics)
        known = ~np.isnan(by_topic)
        totals, counts = np.where(known, by_topic, 0.0).sum(axis=1), known.sum(axis=1)
        return np.where(counts > 0, totals / np.maximum(counts, 1), np.nan)

    def renamed(self, shown: Mapping[str, str]) -> Judging:
        """The same with other names for runs."""
        by_run = {shown.get(run, run): shares for run, shares in self.by_run.items()}
        documents = self.documents and self.documents.renamed(shown)
        gaps = {shown.get(run, run): own for run, own in self.gaps.items()}
        return replace(self, by_run=by_run, documents=documents, gaps=gaps)

    def averaged(self, systems: Mapping[str, Sequence[str]]) -> Judging:
        """The same of systems, each the mean of these runs: shares of documents, no documents."""
        if self.documents is not None:
            raise UsageError(
                "a mean of replicates has no documents: bounds of unjudged ones, diff, churn and "
                "what to judge are of runs; leave out either"
            )
        each = {name: self.shares(runs, self.topics) for name, runs in systems.items()}
        gaps = {name: np.asarray(np.isnan(own).any(axis=0)) for name, own in each.items()}
        by_run = {name: mean_of_known(own) for name, own in each.items()}
        return replace(self, by_run=by_run, gaps=gaps)


class Seen(NamedTuple):
    """What scoring saw of a run."""

    topics: Sequence[str]
    """Those that it answers."""
    shares: Mapping[int, Floats]
    """Which part of the first documents of each is judged, by their number."""
    top: Top | None


def judgings(
    measures: Sequence[tuple[str, tuple[str, ...]]],
    seen: Mapping[str, Seen],
    qrels: Qrels,
    max_grade: int | None,
    rule: Unjudged,
) -> list[Judging]:
    """Of each measure with its topics, what is known of these runs."""
    documents: dict[tuple[str, ...], Documents] = {}
    tops = {run: each.top for run, each in seen.items() if each.top is not None}
    found = []
    for name, topics in measures:
        if tops and topics not in documents:
            documents[topics] = Documents.of(tops, topics, qrels, max_grade)
        measure = parse_measure(name)
        columns = {topic: index for index, topic in enumerate(topics)}
        shares = _by_run(seen, top_of(measure), columns)
        found.append(Judging(measure, topics, shares, rule, documents.get(topics)))
    return found


def _by_run(seen: Mapping[str, Seen], depth: int, column: Mapping[str, int]) -> dict[str, Floats]:
    """The shares of each run, on these topics."""
    places: dict[tuple[str, ...], tuple[list[int], list[int]]] = {}
    shares = {}
    for run, each in seen.items():
        answered = tuple(each.topics)
        if answered not in places:
            rows = [row for row, topic in enumerate(answered) if topic in column]
            places[answered] = rows, [column[answered[row]] for row in rows]
        source, target = places[answered]
        shares[run] = np.full(len(column), np.nan)
        shares[run][target] = each.shares[depth][source]
    return shares
