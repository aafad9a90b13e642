"""What a table of power says, in sentences: topics for a loss or a margin, a loss for topics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from riskcli.output.verdict import Statement
from riskcli.risk.paired import MOST_TOPICS

Needs = Sequence[tuple[float, int | None]]
"""Sizes, and the numbers of topics that they need; None beyond all bounds."""


@dataclass(frozen=True)
class Needed:
    """What is enough for a share of the pairs of runs, by one measure."""

    measure: str
    of: str
    share: str
    """In words."""
    power: float
    losses: Needs
    margins: Needs
    topics: int
    """Of the scores at hand."""
    seen: float | None
    """The smallest loss that so many topics show."""

    def statements(self) -> Iterator[Statement]:
        """One on losses, one on margins, one on the topics at hand."""
        whose = f"{self.share} pair{'' if self.share == 'the one' else 's'} of such runs"
        cases = "4 of 5 cases" if self.power == 0.8 else f"{self.power:.4g} of cases"
        if self.losses:
            text = f"A true loss of {_asks(self.losses)}, to be seen in {cases} by {self.of}"
            yield self._statement("topics-for-loss", f"{text} ({whose}).", self.losses)
        if self.margins:
            text = f"A margin of {_asks(self.margins)}, for a candidate that loses nothing to pass"
            text = f"{text} in {cases} by {self.of} ({whose})."
            yield self._statement("topics-for-margin", text, self.margins)
        if self.seen is not None:
            what = f"losses of {self.seen:.2g} and more"
            text = f"The {self.topics} topics at hand show {what} as often."
            yield Statement(
                "loss-at-hand", text, self.measure, (), (),
                {"topics": float(self.topics), "loss": self.seen},
            )  # fmt: skip

    def _statement(self, rule: str, text: str, needs: Needs) -> Statement:
        numbers = {f"{size:g}": None if count is None else float(count) for size, count in needs}
        return Statement(rule, text, self.measure, (), (), numbers)


def _asks(needs: Needs) -> str:
    """`0.01 asks for 63 topics, of 0.02 for 17`."""
    counts = [f"more than {MOST_TOPICS:.0e}" if n is None else f"{n}" for _, n in needs]
    first, *others = (f"{size:g}" for size, _ in needs)
    parts = [f"{first} asks for {counts[0]} topics"]
    parts += [f"of {size} for {count}" for size, count in zip(others, counts[1:], strict=True)]
    return ", ".join(parts)
