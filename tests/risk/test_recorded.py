"""The room's numbers, over small and awkward matrices and every option, as they were recorded.

What the numbers mean is checked elsewhere, against papers and literal references; here nothing may
change unnoticed. `python -m tests.risk.test_recorded` records them anew: its diff is then
what a change of a formula has to explain.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import riskcli
from riskcli import Options, ScoreMatrix, Significance
from riskcli.risk import paired
from riskcli.scores.teams import Teams
from tests.helpers import recorded
from tests.helpers.strategies import Floats, named


def scores(kind: str) -> Floats:
    """Runs by topics: rounded scores, so that runs meet on topics, and what is special of it."""
    runs, topics = {
        "usual": (6, 9), "one topic": (3, 1), "two topics": (4, 2), "three topics": (4, 3),
        "many": (12, 30),
    }.get(kind, (5, 12))  # fmt: skip
    values = np.random.default_rng(len(kind)).beta(1, 2, (runs, topics)).round(2)
    if kind == "tiny":
        values /= 1000
    if kind == "alike":
        values[1], values[2], values[3] = values[0], 0.25, values[0] + 0.01
        values[:, 4] = 0
    if kind == "heavy topic":
        values[:, 3] *= 40
    if kind == "below 0":
        values[1:3] -= 0.3
    return values


def matrix(kind: str) -> ScoreMatrix:
    """These with names; by a measure that may be above 1, where some are."""
    scored = named(scores(kind))
    return replace(scored, measure="gain") if kind == "heavy topic" else scored


KINDS = (
    "usual", "one topic", "two topics", "three topics", "many", "tiny", "alike", "heavy topic",
    "below 0",
)  # fmt: skip


def frozen() -> riskcli.FrozenPopulation:
    """Three runs of another day on the usual topics, one of them in a team with a second."""
    others = np.random.default_rng(3).beta(1, 2, (3, 9)).round(2)
    usual = named(scores("usual"))
    matrix = ScoreMatrix(usual.measure, ("old0", "old1", "r0"), usual.topics, others)
    return riskcli.freeze(matrix, options=Options(teams=Teams({"old0": "a", "old1": "a"})))


OPTIONS: Mapping[str, Callable[[], Options]] = {
    "a run, four alphas": lambda: Options(("r0",), alphas=(0.0, 1.0, 5.0, 20.0)),
    "a set": lambda: Options(("r0", "r1")),
    "a set, its median": lambda: Options(("r0", "r1", "r2"), pool="median"),
    "a set, its best": lambda: Options(("r0", "r1"), pool="max"),
    "a set, its worst": lambda: Options(("r0", "r1"), pool="min"),
    "a set, each": lambda: Options(("r0", "r1"), pool="each"),
    "a set as population": lambda: Options(("r0", "r1"), population="baselines", alphas=(2.0,)),
    "@mean": lambda: Options(alphas=(0.0, 1.0, 5.0)),
    "@median": lambda: Options(("@median",)),
    "@max": lambda: Options(("@max",)),
    "@min": lambda: Options(("@min",)),
    "teams": lambda: Options(("r0",), teams=Teams({"r0": "a", "r1": "a", "r2": "b"})),
    "@mean of teams": lambda: Options(teams=Teams({"r0": "a", "r1": "a", "r2": "b"})),
    "smooth": lambda: Options(("r0",), loss="smooth"),
    "smooth, @mean": lambda: Options(loss="smooth"),
    "smooth, fitted": lambda: Options(("r0",), loss="smooth:fit"),
    "minus": lambda: Options(("r0",), convention="minus", alphas=(2.0,)),
    "swaps": lambda: Options(("r0",), significance=Significance(test="swap", gamma=0.2)),
    "Bonferroni": lambda: Options(("r0",), significance=Significance(correction="bonferroni")),
    "Benjamini-Hochberg": lambda: Options(("r0",), significance=Significance(correction="bh")),
    "no correction": lambda: Options(significance=Significance(correction="none", gamma=0.2)),
    "one family": lambda: Options(("r0",), significance=Significance(family="all")),
    "one family, @mean": lambda: Options(significance=Significance(family="all", shuffles=999)),
}
EVERYWHERE = (
    "a run, four alphas", "a set", "a set as population", "@mean", "smooth", "swaps", "one family",
)  # fmt: skip
"""Options for every kind of matrix; the others are for the usual one."""

ONLY_USUAL: Mapping[str, Callable[[], Options]] = {
    "a frozen population": lambda: Options(("r0",), population=frozen()),
    "@mean, a frozen population": lambda: Options(population=frozen(), alphas=(0.0, 5.0)),
    "a set, a frozen population": lambda: Options(("r0", "r1"), population=frozen()),
}


def cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """By name: what computes a table, or a list of values."""
    for kind in KINDS:
        for title, options in OPTIONS.items():
            if kind == "usual" or title in EVERYWHERE:
                yield f"{kind}: {title}", partial(table, kind, options)
        yield f"{kind}: sweep", partial(sweep, kind, "r0")
        yield f"{kind}: sweep, @mean", partial(sweep, kind, None)
        for correction in ("holm", "bh"):
            yield f"{kind}: pairs, {correction}", partial(pairs, kind, correction)
    for title, options in ONLY_USUAL.items():
        yield title, partial(table, "usual", options)
    yield "power", powers


def table(kind: str, options: Callable[[], Options]) -> Any:
    return riskcli.risk_table(matrix(kind), options=options()).to_frame()


def sweep(kind: str, baseline: str | None) -> Any:
    return riskcli.alpha_sweep(matrix(kind), baseline).to_frame()


def pairs(kind: str, correction: Any) -> Any:
    options = Options(significance=Significance(correction=correction))
    compared = riskcli.compare_pairs(matrix(kind), options=options, of=("mean", "georisk"))
    return compared.to_frame()


def powers() -> dict[str, list[float | None]]:
    grid = [(spread, topics) for spread in (0.0, 0.1, 0.3) for topics in (1, 2, 10, 250)]
    return {
        "power": [
            paired.power(loss, *both, level)
            for both in grid for loss in (-0.1, 0.0, 0.02, 0.1, 30.0) for level in (0.01, 0.05)
        ],
        "topics": [
            paired.topics_needed(loss, spread, level)
            for loss in (-0.1, 0.0, 0.02, 0.1) for spread in (0.0, 0.1, 0.3)
            for level in (0.01, 0.05)
        ],
        "loss": [
            paired.smallest_loss(*both, level, wanted)
            for both in grid for level in (0.01, 0.05) for wanted in (0.2, 0.8, 0.99)
        ],
    }  # fmt: skip


def recordable(made: Callable[[], Any]) -> Any:
    """A summary of each column, or the words of the refusal."""
    try:
        result = made()
    except riskcli.RiskevalError as error:
        return str(error)
    columns = result if isinstance(result, dict) else result.to_dict("list")
    return {name: _summary(values) for name, values in columns.items()}


def _summary(values: Sequence[Any]) -> Any:
    """Texts once each; else how many numbers, their sum, and a sum that knows their order."""
    if any(isinstance(value, str) for value in values):
        return " ".join(dict.fromkeys(map(str, values)))
    numbers = np.array([np.nan if value is None else float(value) for value in values])
    there = np.isfinite(numbers)
    placed = numbers * np.sqrt(np.arange(2.0, len(numbers) + 2))
    sums = (float(f"{part[there].sum():.9g}") for part in (numbers, placed))
    return [int(there.sum()), *sums]


def test_every_case_is_recorded_and_none_is_left_over() -> None:
    assert set(recorded.read(__file__)) == {name for name, _ in cases()}


@pytest.mark.parametrize(("name", "made"), [pytest.param(*case, id=case[0]) for case in cases()])
def test_the_numbers_are_those_that_were_recorded(name: str, made: Callable[[], Any]) -> None:
    expected, found = recorded.read(__file__)[name], recordable(made)
    if isinstance(expected, str):
        assert found == expected
        return
    assert list(found) == list(expected)
    digits = 1e-4 if name == "power" else 1e-7  # as the oldest scipy has of Student's noncentral t
    for column, values in expected.items():
        close = values if isinstance(values, str) else pytest.approx(values, rel=digits, abs=1e-8)
        assert found[column] == close, column


if __name__ == "__main__":
    recorded.write(__file__, {name: recordable(made) for name, made in cases()})
