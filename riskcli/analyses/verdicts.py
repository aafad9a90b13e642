"""What a risk table says: who is better, who ruins topics, what is open, what else weighs.

Each rule makes one sentence of facts that the table has tested or counted; a table has at most
three. The sentences are those of the first alpha that is asked for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riskcli.analyses.block import Block
from riskcli.analyses.cautions import FEW_TOPICS, HEAVY_TOPIC
from riskcli.analyses.replicates import within_floor
from riskcli.analyses.unjudged import statement
from riskcli.core.arrays import Floats, Rows
from riskcli.core.messages import counted, joined
from riskcli.output.display import decimal, in_title
from riskcli.output.verdict import Number, Statement, Statements
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import Estimate, Significance
from riskcli.risk.paired import LEAST_TOPICS, topics_needed
from riskcli.scores.matrix import ScoreMatrix

MOST_SENTENCES = 3
MOST_NAMED = 3
"""Of more runs the best are named, and the others counted."""
RUINS = 10
"""A run that loses over a fifth on one topic in so many ruins topics, and is not safe."""
_CALLED = {
    "@mean": "the mean of all runs",
    "@median": "the median of all runs",
    "@max": "the best run of each topic",
    "@min": "the worst run of each topic",
}


def about(block: Block) -> str:
    """The table that the statements are about."""
    against = "against" if block.own_names else "baseline"
    return f"{block.measure}, {against} {in_title(block.baseline)}"


def called(baseline: str, size: int) -> str:
    """What sentences call a baseline of so many runs."""
    name = in_title(baseline)
    return _CALLED.get(name, f"the baselines {name}" if size > 1 else name)


def statements(
    block: Block,
    matrix: ScoreMatrix,
    comparison: Comparison,
    plan: Significance,
    only: Sequence[int] | None = None,
) -> Statements:
    """What is said of one measure and baseline; nothing where every value is a mean of several.

    Of `only` these rows, if any are given: then no other run is named but the baseline.
    """
    if block.estimates["mean"].flag is None:
        return Statements()
    said = Facts(block, matrix, comparison, plan, only)
    if block.topics < LEAST_TOPICS or not len(said.others):
        return Statements((said.untested(),))
    weighs = [said.few_topics(), said.unanswered()]
    found = (
        said.better(), said.ruins(), said.within_floor(), weighs[0], said.undecided(), weighs[1]
    )  # fmt: skip
    first = [each for each in found if each is not None][:MOST_SENTENCES]
    unjudged = said.unjudged()
    return Statements((*first, *([] if unjudged is None else [unjudged])))


@dataclass(frozen=True)
class Facts:
    """The facts of a block, in the order of the means, and the sentences made of them."""

    block: Block
    matrix: ScoreMatrix
    comparison: Comparison
    plan: Significance
    only: Sequence[int] | None

    @property
    def mean(self) -> Estimate:
        return self.block.estimates["mean"]

    @cached_property
    def order(self) -> Rows:
        """All rows, the highest mean first."""
        return np.argsort(-self.mean.value, kind="stable")

    @cached_property
    def others(self) -> list[int]:
        """All rows that are spoken of but the baseline's own, the highest mean first."""
        rows = [row for row in self.order.tolist() if row != self.block.baseline_row]
        return rows if self.only is None else [row for row in rows if row in self.only]

    def flagged(self, flag: str, measure: str = "mean") -> list[int]:
        """The rows with that mark, the highest mean first."""
        estimate = self.block.estimates.get(measure)
        if estimate is None or estimate.flag is None:
            return []
        return [row for row in self.others if estimate.flag[row] == flag]

    @cached_property
    def lost(self) -> Floats:
        """The topics that each run loses by more than a fifth; NaN in the baseline's row."""
        return np.asarray(self.block.estimates["urisk"].extra["losses20"], dtype=float)

    def ruinous(self, row: int) -> bool:
        """Whether a run loses over a fifth on a tenth of the topics or more."""
        return bool(self.lost[row] * RUINS >= self.block.topics)

    @cached_property
    def safe(self) -> list[int]:
        """Better runs whose gains outweigh their losses at alpha, and that do not ruin topics."""
        balanced = self.flagged("better", "trisk")
        return [row for row in self.flagged("better") if row in balanced and not self.ruinous(row)]

    @property
    def baseline(self) -> str:
        return called(self.block.baseline, self.block.baseline_size)

    def better(self) -> Statement:
        """Who is better than the baseline in the mean, by how much, and who of them is safe."""
        better = self.flagged("better")
        if not better:
            return self.stating("better", [], f"No run is shown to be better than {self.baseline}")
        safe = self.safe if self.block.alpha else []
        rows = safe or better
        named = self.named(rows, self.gain)
        text = f"{named} {_are(rows)} better than {self.baseline}"
        if safe:
            whose = "their gains outweigh their" if len(rows) > 1 else "its gains outweigh its"
            text += f", and safe: {whose} losses even if each loss counts {self._times}"
        elif self.block.alpha and not {*better} & {*self.flagged("better", "trisk")}:
            whose = "their" if len(rows) > 1 else "its"
            text += f", but that {whose} gains outweigh losses counted {self._times} is not shown"
        beside = [row for row in better if row not in rows]
        if beside:
            text += f"; {self.named(beside)} {_are(beside)} better, too, but not shown to be safe"
        if self.plan.correction == "none":
            text += f" (not corrected for {counted(self.mean.family, 'test')})"
        return self.stating("better", [*rows, *beside], text)

    @property
    def _times(self) -> str:
        times = 1 + (self.block.alpha or 0.0)
        return "twice" if times == 2 else f"{times:g} times"

    def ruins(self) -> Statement | None:
        """The run that leads by the mean, or by GeoRisk, or is better, but ruins topics.

        Of some runs alone, the best of them that ruins topics.
        """
        leads = {"has the highest mean {mean}": self.order[:1].tolist()}
        if "georisk" in self.block.estimates:
            values = self.block.estimates["georisk"].value
            leads["has the highest GeoRisk {georisk}"] = _highest(values)
        leads["is better {mean}"] = self.flagged("better")
        leads["has a mean of {mean}"] = [] if self.only is None else self.others
        for what, rows in leads.items():
            for row in rows:
                if row in self.others and self.ruinous(row):
                    return self._ruining(row, what)
        return None

    def _ruining(self, row: int, what: str) -> Statement:
        topic, scores = self._worst_of(row)
        before, after = (decimal(score, 4) for score in scores)
        lost, name = int(self.lost[row]), self.block.runs[row]
        text = (
            f"{name} {self._with_value(what, row)} but loses over 20 % on {lost} of "
            f"{self.block.topics} topics, most on {topic} ({before} to {after})"
        )
        numbers: dict[str, Number] = {
            "losses20": lost,
            "before": scores[0],
            "after": scores[1],
        }
        if not self._flag(row) and self.difference(row) > 0:
            numbers["topics_needed"] = needed = self._needed(row)
            text += f"; that it is better than {self.baseline} is not shown" + _would(needed)
        run = (self.block.runs[row],)
        return Statement("ruins", f"{text}.", about(self.block), run, (topic,), numbers)

    def _with_value(self, what: str, row: int) -> str:
        """What the run is, with the value by which it is that."""
        mean = decimal(float(self.mean.value[row]), 4)
        if "{georisk}" in what:
            value = decimal(float(self.block.estimates["georisk"].value[row]), 4)
            alpha = "" if self.block.alpha is None else f" at alpha {self.block.alpha:g}"
            return what.format(georisk=f"({value}{alpha})")
        return what.format(mean=f"({mean})" if "of {" not in what else mean)

    def _worst_of(self, row: int) -> tuple[str, tuple[float, float]]:
        """The topic that loses most of those that lose over a fifth, before and after."""
        own, baseline = self.comparison.scores[row], self.comparison.baseline.scores
        delta = own - baseline
        ruined = self.comparison.of_rows(slice(row, row + 1)).ruined[0]
        worst = int(np.argmin(np.where(ruined, delta, np.inf) if ruined.any() else delta))
        shown = self.comparison.shown_mean(np.array([baseline[worst], own[worst]])).tolist()
        return self.matrix.topics[worst], (shown[0], shown[1])

    def undecided(self) -> Statement | None:
        """Who is worse, and who is neither, with the topics that the largest difference needs."""
        worse, named = self.flagged("worse"), self._said_of
        open_rows = [
            row
            for row in self.others
            if not self._flag(row) and row not in named and self._is_tested(row)
        ]
        parts = []
        if worse:
            named_worse = self.named(worse, self.gain)
            parts.append(f"{named_worse} {_are(worse)} worse than {self.baseline}")
        if open_rows:
            who = counted(len(open_rows), "run") if parts else self.named(open_rows)
            largest = max(open_rows, key=lambda row: abs(self.difference(row)))
            what = f" the largest difference, that of {self.block.runs[largest]}"
            what = what if len(open_rows) > 1 else ""
            parts.append(
                f"{who} {_are(open_rows)} neither shown to be better nor worse"
                + _would(self._needed(largest), what)
            )
        if not parts:
            return None
        return self.stating("undecided", [*worse, *open_rows], "; ".join(parts))

    def within_floor(self) -> Statement | None:
        """Whose URisk is no more than noise of replicates, where runs are systems."""
        urisk, runs = self.block.estimates["urisk"].value, self.block.runs
        return within_floor(self.block.beside, urisk, runs, self.others, about(self.block))

    def few_topics(self) -> Statement | None:
        """What makes every test rough."""
        if self.block.topics >= FEW_TOPICS:
            return None
        return self.stating("weighs", [], f"With {self.block.topics} topics every test is rough")

    def unanswered(self) -> Statement | None:
        """The runs whose missing topics count 0."""
        notes = self.matrix.provenance.notes if self.only is None else ()
        told = next((note.message for note in notes if note.code == "unanswered-topics"), None)
        return None if told is None else self.stating("weighs", [], told[0].upper() + told[1:])

    def unjudged(self) -> Statement | None:
        """How much nobody judged, beside all else: differences may be no more than that."""
        if self.matrix.judging is None:
            return None
        return statement(
            self.block.beside, self.block.runs, self.others, self.block.baseline, self.baseline,
            self.matrix.judging, about(self.block),
        )  # fmt: skip

    def untested(self) -> Statement:
        """Where there are too few topics, or nothing to compare."""
        if not len(self.others):
            return self.stating("untested", [], "There is no other run to compare")
        topics = counted(self.block.topics, "topic")
        return self.stating("untested", [], f"With {topics} nothing can be tested")

    @property
    def _said_of(self) -> list[int]:
        """The rows that the sentence on ruined topics is about."""
        ruins = self.ruins()
        return [] if ruins is None else [self.block.runs.index(run) for run in ruins.runs]

    def _flag(self, row: int) -> str:
        return "" if self.mean.flag is None else str(self.mean.flag[row])

    def _is_tested(self, row: int) -> bool:
        return self.mean.p_adjusted is not None and bool(np.isfinite(self.mean.p_adjusted[row]))

    def difference(self, row: int) -> float:
        return float("nan") if self.mean.difference is None else float(self.mean.difference[row])

    def _needed(self, row: int) -> int | None:
        """Topics that would show a difference of this size, in so many tests, 4 times out of 5.

        None where that is no matter of t: a virtual baseline changes with the runs.
        """
        if self.mean.difference_error is None or not self.block.baseline_size:
            return None
        spread = float(self.mean.difference_error[row]) * self.block.topics**0.5
        tests = max(self.mean.family, 1) if self.plan.correction != "none" else 1
        difference = abs(self.difference(row))
        needed = topics_needed(difference, spread, self.plan.gamma / 2 / tests) if spread else None
        return needed if needed is not None and needed > self.block.topics else None

    def gain(self, row: int) -> str:
        """The difference and its interval; beside them that it hangs on one topic."""
        low, high, heaviest = (
            self.mean.difference_low,
            self.mean.difference_high,
            self.mean.heaviest,
        )
        difference = self.difference(row)
        places = ".4f" if abs(difference) >= 5e-5 else ".1e"  # a small one has a size, too
        text = "mean logarithm" if self.comparison.logarithms else "mean"
        text += f" {difference:+{places}}"
        if low is not None and high is not None and np.isfinite(low[row]):
            text += f" [{low[row] + 0.0:{places}}, {high[row] + 0.0:{places}}]"
        if heaviest is not None and heaviest[row] > HEAVY_TOPIC:
            text += ", resting mostly on one topic"
        return f" ({text})"

    def named(self, rows: Sequence[int], detail: Callable[[int], str] | None = None) -> str:
        shown = [
            self.block.runs[row] + (detail(row) if detail else "") for row in rows[:MOST_NAMED]
        ]
        more = len(rows) - len(shown)
        if more:
            return f"{', '.join(shown)} and {more} more"
        return joined(shown)

    def stating(self, rule: str, rows: Sequence[int], text: str) -> Statement:
        """A sentence about runs, with the differences of their means."""
        columns = {
            "difference": self.mean.difference, "low": self.mean.difference_low,
            "high": self.mean.difference_high,
        }  # fmt: skip
        numbers = {
            name: tuple(float(cells[row]) for row in rows)
            for name, cells in columns.items()
            if cells is not None and rows
        }
        runs = tuple(self.block.runs[row] for row in rows)
        return Statement(rule, f"{text}.", about(self.block), runs, (), numbers)


def _are(rows: Sequence[int]) -> str:
    return "is" if len(rows) == 1 else "are"


def _highest(values: Floats) -> list[int]:
    return [] if np.isnan(values).all() else [int(np.nanargmax(values))]


def _would(needed: int | None, what: str = "") -> str:
    """How many topics would decide, rounded up to two figures; nothing where none would do."""
    if needed is None or needed >= 100_000:
        return ""
    step = 10 ** max(len(str(needed)) - 2, 0)
    about_so_many = -(-needed // step) * step
    return (
        f"; about {about_so_many:,} topics would decide{what}"
        if what
        else (f" (about {about_so_many:,} topics would decide)")
    )
