"""What an effectiveness measure is: families, their parameters, and one measure of a family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Floats

Argument = Literal["none", "cutoff", "optional cutoff", "value"]
Value = int | float | str
HIGHEST_GRADE = 2**15


@dataclass(frozen=True)
class RankedGrades:
    """The rankings of a run by topic (row) and rank (column): what a measure computed here sees.

    Beyond the end of a ranking nothing is judged.
    """

    grades: NDArray[np.int64]
    """0 where a document is not judged."""
    judged: NDArray[np.bool_]
    counts: NDArray[np.intp]
    """How many documents each topic has, as far as there are columns."""
    max_grade: int
    """The highest grade that there can be (--max-grade)."""


@dataclass(frozen=True)
class Parameter:
    """What may stand in brackets behind a measure's name."""

    name: str
    default: Value
    meaning: str
    """A sentence for the help; {0} is the measure's name."""
    parse: Callable[[str], Value]
    """The value that a text spells; a `ValueError` says what was expected."""
    always_shown: bool = False
    """Whether the canonical name shows the default, too."""


def _grade(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= HIGHEST_GRADE:
        raise ValueError(f"rel is {text!r}, expected a grade from 1 to {HIGHEST_GRADE}")
    return int(text)


REL = Parameter("rel", 1, "rel=N in brackets: grades from N count as relevant (default 1).", _grade)


@dataclass(frozen=True)
class Family:
    """Measures that differ in their cutoff and parameters only.

    `name` is ir_measures' name (trec_eval's own where ir_measures has none). A family is computed
    by pytrec_eval, which calls it `plain` without and `cut` with a cutoff, or by a function here.
    """

    name: str
    summary: str
    argument: Argument = "none"
    plain: str = ""
    cut: str = ""
    parameters: tuple[Parameter, ...] = ()
    highest: int = 10_000_000
    """The highest cutoff or value that means something."""
    unanswered: float = 0.0
    """The score of a topic that a run does not answer."""
    relevant_alone: bool = False
    """Whether a document judged not relevant is to it one that was not judged."""
    computed_by: Callable[[Measure, RankedGrades], Floats] | None = None
    """The scores of the topics, where pytrec_eval does not compute them."""
    bounded: bool = False
    """Whether a grade above --max-grade is an error."""
    position: int = 100
    """Where it stands in lists."""

    @property
    def names(self) -> list[str]:
        """Every way to spell the family."""
        return [name for name in (self.name, self.plain, self.cut) if name]

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name, if it has one."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


@dataclass(frozen=True)
class Measure:
    """An effectiveness measure; `str` gives the canonical name, which parses back to the same."""

    family: Family
    at: str | None = None
    given: tuple[tuple[str, Value], ...] = ()
    """The parameters that differ from their defaults, in the family's order."""

    def __str__(self) -> str:
        shown = [
            f"{parameter.name}={self[parameter.name]!r}"
            for parameter in self.family.parameters
            if parameter.always_shown or parameter.name in dict(self.given)
        ]
        brackets = f"({','.join(shown)})" if shown else ""
        return f"{self.family.name}{brackets}{'' if self.at is None else '@' + self.at}"

    def __getitem__(self, name: str) -> Value:
        """The value of a parameter."""
        parameter = self.family.parameter(name)
        if parameter is None:
            raise KeyError(name)
        return dict(self.given).get(name, parameter.default)

    @property
    def relevance(self) -> int:
        """The lowest grade that counts as relevant."""
        return int(self["rel"]) if self.family.parameter("rel") else 1

    @property
    def exponential(self) -> bool:
        """Whether the gain of a grade is 2^grade - 1."""
        return dict(self.given).get("dcg") == "exp-log2"

    @property
    def cutoff(self) -> int | None:
        """The number of documents that matter, None where the whole list does."""
        counts = self.at is not None and self.family.argument != "value"
        return int(self.at) if counts and self.at else None

    @property
    def truncates(self) -> bool:
        """Whether the cutoff works by handing pytrec_eval a shorter list (RR@10)."""
        by_pytrec_eval = self.family.computed_by is None
        return self.cutoff is not None and not self.family.cut and by_pytrec_eval

    @property
    def trec_name(self) -> str:
        """What pytrec_eval is asked for."""
        if self.at is None or self.truncates:
            return self.family.plain
        return f"{self.family.cut}.{self.at}"

    @property
    def trec_key(self) -> str:
        """What pytrec_eval calls it in its answer."""
        if self.at is None or self.truncates:
            return self.family.plain
        shown = f"{float(self.at):.2f}" if self.family.argument == "value" else self.at
        return f"{self.family.cut}_{shown}"
