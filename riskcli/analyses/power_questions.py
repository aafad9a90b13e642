"""What is asked of past runs: topics that a loss or a margin needs, the loss that topics show."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import ceil, isfinite
from typing import Literal

from riskcli.core.messages import UsageError, counted
from riskcli.risk.paired import smallest_loss, topics_needed


@dataclass(frozen=True)
class Answer:
    """A loss (or margin) and a number of topics that belong together; None: beyond all bounds."""

    question: Literal["loss", "margin", "topics"]
    """Topics that detect a loss, or settle a margin; the loss that so many topics detect."""
    size: float | None
    count: int | None
    range: tuple[float | None, float | None] = (None, None)
    """Of what was asked for, over the range of the true spread."""


@dataclass(frozen=True)
class Questions:
    """Losses to detect, margins to settle, numbers of topics; at which level and power."""

    losses: tuple[float, ...]
    margins: tuple[float, ...]
    counts: tuple[int, ...]
    level: float
    power: float

    def __post_init__(self) -> None:
        for name, size in self._sizes():
            if not (isfinite(size) and size > 0):
                raise UsageError(f"the {name} is {size:g}, expected a number above 0")
        for count in self.counts:
            if count < 2:
                raise UsageError(f"{counted(count, 'topic')}, expected 2 or more")
        if not 0 < self.power < 1:
            raise UsageError(f"the power is {self.power:g}, expected a number between 0 and 1")

    def _sizes(self) -> Iterator[tuple[Literal["loss", "margin"], float]]:
        yield from (("loss", loss) for loss in self.losses)
        yield from (("margin", margin) for margin in self.margins)

    def answers(
        self, spread: float, ends: tuple[float, float], times: float = 1.0
    ) -> Iterator[Answer]:
        """What holds for differences of that spread, the true one being between these ends.

        It takes so many `times` the topics that it would if all counted the same.

        A candidate that loses nothing passes a test with a margin as often as a test without one
        shows a loss of the margin's size: the distance from what is tested is the same.
        """
        low, high = ends
        for name, size in self._sizes():
            needed = partial(self._needed, size, times)
            yield Answer(name, size, needed(spread), (needed(low), needed(high)))
        for count in self.counts:
            seen = partial(smallest_loss, topics=count / times, level=self.level, wanted=self.power)
            yield Answer("topics", seen(spread), count, (seen(low), seen(high)))

    def _needed(self, size: float, times: float, spread: float) -> int | None:
        found = topics_needed(size, spread, level=self.level, wanted=self.power)
        return None if found is None else ceil(found * times)
