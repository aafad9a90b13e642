"""How much the replicates of systems differ, and which URisk they make alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.messages import joined
from riskcli.output.display import Column, Display, Heading, decimal, decimals
from riskcli.output.verdict import Statement
from riskcli.risk.comparison import Comparison
from riskcli.risk.replicates import Repeats, components, pulls_of
from riskcli.scores.comparisons import repeats_of
from riskcli.scores.matrix import ScoreMatrix

SELF_RISK, FLOOR = "self_risk", "floor"
_NAMED = 3
_HEADINGS = {
    "replicates": "runs", "topic_sd": "sd over\ntopics", "seed_sd": "sd over\nreplicates",
    SELF_RISK: "self-risk", FLOOR: "floor",
}  # fmt: skip
_COMPONENTS = ("systems", "topics", "system × topic", "replicates", "replicate × topic")
_CAPTION = (
    "sd over replicates: of their means. self-risk: URisk of a replicate against another of its "
    "system; floor: URisk to expect from replicates alone, were system and baseline alike."
)


@dataclass(frozen=True)
class ReplicateSpread:
    """How much replicates differ by one measure, beside the columns of the systems."""

    parts: Mapping[str, float]
    """The variance of one score; nothing where it is not known."""
    flaky: Statement | None
    """The topics on which replicates differ most."""

    @classmethod
    def of(cls, matrix: ScoreMatrix) -> "ReplicateSpread | None":
        """None where runs are no systems."""
        repeats = repeats_of(matrix)
        if repeats is None:
            return None
        return cls(components(repeats.each), _flaky(matrix, repeats))

    def display(
        self, title: str, runs: Sequence[str], beside: Mapping[str, Any], precision: int | None
    ) -> Display:
        """A row a system; how the variance of a score is made up below."""
        shown = [Column.of(Heading("run", left=True, names=True), runs)]
        for name, heading in _HEADINGS.items():
            places = 0 if name == "replicates" else 4 if precision is None else precision
            shown.append(Column.of(heading, decimals(beside[name].tolist(), places)))
        caption = [_CAPTION]
        if (whole := sum(self.parts.values())) > 0:
            shares = zip(_COMPONENTS, self.parts.values(), strict=True)
            texts = [f"{name} {100 * part / whole:.0f} %" for name, part in shares]
            caption.insert(0, f"Variance of one score: {', '.join(texts)}.")
        return Display(title, shown, caption, verdict=[self.flaky.text] if self.flaky else [])


def _flaky(matrix: ScoreMatrix, repeats: Repeats) -> Statement | None:
    """The topics on which replicates differ most, on average over systems."""
    several = np.count_nonzero(repeats.counts > 1)
    spread = np.sqrt(repeats.variances.sum(axis=0) / max(several, 1))
    order = np.argsort(-spread, kind="stable")[:_NAMED].tolist()
    sizes = {matrix.topics[topic]: float(spread[topic]) for topic in order if spread[topic] > 0}
    if not sizes:
        return None
    named = joined([f"{topic} ({decimal(size, 4)})" for topic, size in sizes.items()])
    on = "topics" if len(sizes) > 1 else "topic"
    text = f"Replicates differ most on {on} {named}, by standard deviations."
    about, numbers = f"{matrix.measure}, replicates", {"repeat_sd": tuple(sizes.values())}
    return Statement("flaky", text, about, (), tuple(sizes), numbers)


def columns_of(
    matrix: ScoreMatrix, comparison: Comparison, pool: str, alpha: float
) -> dict[str, Floats]:
    """The columns of a risk table that systems add."""
    repeats = repeats_of(matrix)
    if repeats is None:
        return {}

    def counted(delta: Floats) -> Floats:
        """What differences count for under the loss in force."""
        nothing = np.zeros(delta.shape[1])
        return replace(comparison.paired, scores=delta, baseline=nothing).weighted(alpha)

    single = repeats.counts < 2
    risks = repeats.self_risks(counted, comparison.weights)
    over_seeds = [np.std(comparison.mean(own), ddof=len(own) > 1) for own in repeats.each]
    return {
        "replicates": repeats.counts,
        "topic_sd": matrix.values.std(axis=1, ddof=len(matrix.topics) > 1),
        "seed_sd": np.where(single, np.nan, over_seeds),
        SELF_RISK: np.where(single, np.nan, risks),
        FLOOR: comparison.off_baseline(repeats.floors(risks, pulls_of(comparison, pool))),
    }


def within_floor(
    beside: Mapping[str, Any], urisk: Floats, runs: Sequence[str], rows: Sequence[int], about: str
) -> Statement | None:
    """Whose URisk is no more than what replicates make alone, of these rows."""
    floor = beside.get(FLOOR, np.zeros_like(urisk))
    within = [row for row in rows if floor[row] <= urisk[row] < 0]
    if not within:
        return None
    named = [
        f"{runs[row]} ({decimal(float(urisk[row]), 4)}, floor {decimal(float(floor[row]), 4)})"
        for row in within[:_NAMED]
    ]
    named += [f"{len(within) - _NAMED} more"] if len(within) > _NAMED else []
    text = f"URisk of {joined(named)} is no more than what replicates alone make."
    numbers = {"urisk": tuple(urisk[within].tolist()), FLOOR: tuple(floor[within].tolist())}
    return Statement("floor", text, about, tuple(runs[row] for row in within), (), numbers)
