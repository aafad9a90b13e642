"""How much the replicates of systems differ, and which URisk they make alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from riskcli.core.arrays import Floats, Rows
from riskcli.core.messages import joined
from riskcli.output.display import Column, Display, Heading, decimal, decimals
from riskcli.output.result import tidy
from riskcli.output.verdict import Statement
from riskcli.risk.comparison import Comparison
from riskcli.risk.paired import LEAST_TOPICS
from riskcli.risk.replicates import Loss, Repeats, VarianceParts, components
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.replicates import pulls_of, repeats_of

SELF_RISK, FLOOR = "self_risk", "floor"
_NAMED = 3
_SHOWN = {
    "topic_sd": "sd over\ntopics", "seed_sd": "sd of\nmeans", "seed_topic_sd": "replicate\n× topic"
}  # fmt: skip
_COMPONENTS = ("systems", "topics", "system × topic", "replicates", "replicate × topic")
_CAPTION = (
    "sd of means: of the means of a system's replicates; replicate × topic: standard deviation of "
    "what is left of a score without these and the topic.",
    "self-risk: URisk of a replicate against another of its system; floor: URisk to expect from "
    "replicates alone, were system and baseline alike. Best and worst are not tested.",
)


@dataclass(frozen=True)
class ReplicateSpread:
    """How much the replicates of each system differ by one measure."""

    columns: Mapping[str, Floats]
    parts: VarianceParts | None
    """The variance of one score; None where there are too few topics."""
    flaky: Statement | None
    """The topics on which replicates differ most."""

    @classmethod
    def of(cls, matrix: ScoreMatrix, comparison: Comparison) -> "ReplicateSpread | None":
        """None where runs are no systems."""
        repeats = repeats_of(matrix)
        if repeats is None:
            return None
        scored = [
            own if len(own) else row[None]
            for own, row in zip(repeats.each, matrix.values, strict=True)
        ]
        means = [np.average(own, axis=1, weights=comparison.weights) for own in scored]
        single = repeats.counts < 2
        shown = comparison.shown_mean
        ones = [components([own]) for own in scored]
        columns = {
            "mean": shown(np.average(matrix.values, axis=1, weights=comparison.weights)),
            "topic_sd": matrix.values.std(axis=1, ddof=1 if len(matrix.topics) > 1 else 0),
            "seed_sd": np.array([np.std(own, ddof=len(own) > 1) for own in means]),
            "seed_topic_sd": np.sqrt([each.seed_topic for each in ones]),
            "worst": shown(np.array([own.min() for own in means])),
            "best": shown(np.array([own.max() for own in means])),
        }
        for name in ("seed_sd", "seed_topic_sd"):
            columns[name] = np.where(single, np.nan, columns[name])
        enough = len(matrix.topics) >= LEAST_TOPICS
        return cls(columns, components(scored) if enough else None, _flaky(matrix, repeats))

    def of_runs(self, rows: Rows) -> Self:
        """The same of these systems, in this order."""
        return replace(self, columns={name: each[rows] for name, each in self.columns.items()})

    def display(
        self, title: str, runs: Sequence[str], beside: Mapping[str, Any], precision: int | None
    ) -> Display:
        """A row a system; how the variance of a score is made up below."""
        places = 4 if precision is None else precision

        def column(heading: str, values: Floats, digits: int = places) -> Column:
            return Column.of(heading, decimals(values.tolist(), digits))

        shown = [
            Column.of(Heading("run", left=True, names=True), runs),
            column("runs", beside["replicates"], 0),
            *(column(heading, self.columns[name]) for name, heading in _SHOWN.items()),
            Column.of("worst to\nbest mean", self._ends(places)),
            column("self-risk", beside[SELF_RISK]),
            column("floor", beside[FLOOR]),
        ]
        caption = list(_CAPTION)
        if self.parts is not None and sum(self.parts) > 0:
            shares = zip(_COMPONENTS, self.parts, strict=True)
            whole = sum(self.parts)
            texts = [f"{name} {100 * part / whole:.0f} %" for name, part in shares]
            caption.insert(0, f"Variance of one score: {', '.join(texts)}.")
        return Display(title, shown, caption, verdict=[self.flaky.text] if self.flaky else [])

    def _ends(self, places: int) -> list[str]:
        """The means of the worst and the best replicate."""
        ends = (decimals(self.columns[name].tolist(), places) for name in ("worst", "best"))
        return [" – ".join(dict.fromkeys(each)) for each in zip(*ends, strict=True)]

    def records(self, measure: str, runs: Sequence[str]) -> list[dict[str, Any]]:
        """A record a system, as JSON holds it."""
        cells = {name: tidy(each) for name, each in self.columns.items()}
        return [
            {"run": run, "measure": measure, **{name: cells[name][row] for name in cells}}
            for row, run in enumerate(runs)
        ]


def _flaky(matrix: ScoreMatrix, repeats: Repeats) -> Statement | None:
    """The topics on which replicates differ most, on average over systems."""
    spread = np.sqrt(repeats.variances[repeats.counts > 1].mean(axis=0))
    order = np.argsort(-spread, kind="stable")[:_NAMED].tolist()
    worst = [topic for topic in order if spread[topic] > 0]
    if not worst:
        return None
    named = [f"{matrix.topics[topic]} ({decimal(float(spread[topic]), 4)})" for topic in worst]
    on = "topic" if len(worst) == 1 else "topics"
    text = f"Replicates differ most on {on} {joined(named)}, by standard deviations."
    numbers = {"repeat_sd": tuple(float(spread[topic]) for topic in worst)}
    topics = tuple(matrix.topics[topic] for topic in worst)
    return Statement("flaky", text, f"{matrix.measure}, replicates", (), topics, numbers)


def columns_of(
    matrix: ScoreMatrix, comparison: Comparison, pool: str, alpha: float
) -> dict[str, Floats]:
    """The columns of a risk table that systems add: how many replicates, self-risk and floor."""
    repeats = repeats_of(matrix)
    if repeats is None:
        return {}
    pulls = pulls_of(comparison.baseline, matrix.values, pool, comparison.members is not None)
    risks = repeats.self_risks(_loss(comparison, alpha), comparison.weights)
    floors = comparison.off_baseline(repeats.floors(risks, pulls))
    known = np.where(repeats.counts > 1, risks, np.nan)
    return {"replicates": repeats.counts, SELF_RISK: known, FLOOR: floors}


def _loss(comparison: Comparison, alpha: float) -> Loss:
    """What differences count for under the loss in force."""

    def counted(delta: Floats) -> Floats:
        nothing = np.zeros(delta.shape[1])
        return replace(comparison.paired, scores=delta, baseline=nothing).weighted(alpha)

    return counted


def within_floor(
    beside: Mapping[str, Any], urisk: Floats, runs: Sequence[str], rows: Sequence[int], about: str
) -> Statement | None:
    """Whose URisk is no more than what replicates make alone, of these rows."""
    if FLOOR not in beside:
        return None
    floor = beside[FLOOR]
    within = [row for row in rows if floor[row] <= urisk[row] < 0]
    if not within:
        return None
    own, alone = (
        [decimal(float(cells[row]), 4) for row in within[:_NAMED]] for cells in (urisk, floor)
    )
    text = f"URisk {own[0]} of {runs[within[0]]} is no more than the {alone[0]} that replicates"
    if len(within) > 1:
        each = zip((runs[row] for row in within), own, alone, strict=False)
        named = [f"{run} ({value}, of {least} by replicates alone)" for run, value, least in each]
        named += [f"{len(within) - _NAMED} more"] if len(within) > _NAMED else []
        text = f"URisk of {joined(named)} is no more than that which replicates"
    numbers = {
        name: tuple(float(cells[row]) for row in within)
        for name, cells in (("urisk", urisk), (FLOOR, floor))
    }
    text += " alone make."
    return Statement("floor", text, about, tuple(runs[row] for row in within), (), numbers)
