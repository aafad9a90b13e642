"""What a rule can speak of: the columns of the risk table, and losses topic by topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.errors import UsageError, nearest
from riskcli.risk.block import Block
from riskcli.risk.columns import Column
from riskcli.risk.measures import all_columns, columns_by_name

_NO_RULES = ("run", "measure", "baseline", "population", "alpha")


@dataclass(frozen=True)
class TopicQuantity:
    """A quantity that comes from the scores on topics; `of_topic` ones name a topic."""

    name: str
    meaning: str
    of_topic: bool
    value: Callable[[Floats, Floats], float]
    """From the candidate's and the baseline's scores (on the topic named, or on all)."""


TOPIC_QUANTITIES = (
    TopicQuantity(
        "max_loss", "the largest loss on any topic, 0 where there is none", False,
        lambda run, base: float(max(0.0, (base - run).max())),
    ),
    TopicQuantity(
        "max_gain", "the largest gain on any topic, 0 where there is none", False,
        lambda run, base: float(max(0.0, (run - base).max())),
    ),
    TopicQuantity(
        "loss", "how far the candidate falls below the baseline on a topic (a gain is below 0)",
        True, lambda run, base: float((base - run)[0]),
    ),
    TopicQuantity(
        "score", "the candidate's score on a topic", True, lambda run, _base: float(run[0])
    ),
)  # fmt: skip


def column_quantities() -> list[Column]:
    """The columns that rules can speak of: numbers, counts, p-values, ranks and flags."""
    return [column for column in all_columns() if column.name not in _NO_RULES]


def topic_quantity(name: str) -> TopicQuantity | None:
    """The quantity of that name that comes from single topics, if there is one."""
    return next((quantity for quantity in TOPIC_QUANTITIES if quantity.name == name), None)


def check_quantity(name: str, topic: str | None, topics: Sequence[str], text: str) -> None:
    """Refuse a name that nothing answers to, and a topic where none belongs or none is known."""
    known = [column.name for column in column_quantities()]
    known += [quantity.name for quantity in TOPIC_QUANTITIES]
    if name not in known:
        hint = nearest(name, known) or "; --list-rules prints all quantities"
        raise UsageError(f"rule {text!r}: nothing is called {name!r}{hint}")
    quantity = topic_quantity(name)
    wants_topic = quantity is not None and quantity.of_topic
    if wants_topic and topic is None:
        raise UsageError(f"rule {text!r}: {name} needs a topic, as in {name}({topics[0]})")
    if topic is not None and not wants_topic:
        raise UsageError(f"rule {text!r}: {name} takes no topic")
    if topic is not None and topic not in topics:
        raise UsageError(f"rule {text!r}: no topic {topic!r}{nearest(topic, topics)}")


def column_value(block: Block, name: str, row: int) -> float | str | None:
    """The cell of a column: a number, a flag (`none` where it is empty), None for undefined."""
    if name == "topics":
        return float(block.topics)
    column = columns_by_name()[name]
    if column.kind != "flag":
        return block.number(column, row)
    cells = block.cells(column)
    return None if cells is None else str(cells[row]) or "none"


def baseline_value(block: Block, name: str, row: int) -> float | None:
    """The same quantity of the baseline, measured in the same matrix as the candidate's."""
    column = columns_by_name()[name]
    known = block.estimates.get(column.measure or "")
    if column.field != "value" or known is None or known.difference is None:
        return None
    value, difference = float(known.value[row]), float(known.difference[row])
    return None if np.isnan(value) or np.isnan(difference) else value - difference
