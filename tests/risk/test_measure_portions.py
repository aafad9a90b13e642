"""A matrix too large to be computed with at once gives the numbers of one that is not."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from riskcli import Options, UsageError, baseline_bias, compare_pairs, freeze, risk_table
from riskcli.core import arrays
from riskcli.output.renderers import as_tsv
from riskcli.output.result import Result, rows_of
from riskcli.risk import measure as portions
from riskcli.scores.teams import Teams
from tests.helpers.strategies import Floats, named


def scores() -> Floats:
    """Runs of which one is empty, two are equal, and one topic that nobody answers."""
    values = np.random.default_rng(1).random((23, 40)) ** 2
    values[3], values[:, 4] = 0.0, 0.0
    values[5] = values[6]
    return values


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No shuffles, which are for small matrices only."""
    monkeypatch.setattr("riskcli.risk.inference.MOST_SHUFFLED_CELLS", 10)
    return monkeypatch


CASES: dict[str, dict[str, Any]] = {
    "a run of the first portion": {"baselines": ("r0",)},
    "a run of another portion": {"baselines": ("r9",)},
    "a virtual baseline": {"baselines": ("@mean",)},
    "the best of each topic": {"baselines": ("@max",)},
    "a set in its own population": {"baselines": ("r0", "r7", "r20")},
    "a set in the population of all": {"baselines": ("r0", "r7"), "population": "all"},
    "each of a set": {"baselines": ("r0", "r7"), "pool": "each"},
    "a smooth loss": {"baselines": ("r1",), "loss": "smooth"},
    "a smooth loss, virtual": {"baselines": ("@mean",), "loss": "smooth"},
    "teams": {"baselines": ("@mean",), "teams": Teams(pattern=r"r(\d)")},
    "teams and a run": {"baselines": ("r2",), "teams": Teams(pattern=r"r(\d)")},
    "frozen": {"baselines": ("r2",), "population": "frozen"},
    "frozen, virtual": {"baselines": ("@mean",), "population": "frozen"},
}


@pytest.mark.parametrize("case", CASES)
def test_portions_give_what_the_whole_gives(small: pytest.MonkeyPatch, case: str) -> None:
    matrix, settings = named(scores()), dict(CASES[case])
    if settings.get("population") == "frozen":
        settings["population"] = freeze(matrix)
    options = Options(alphas=(0.0, 5.0), **settings)
    whole = risk_table(matrix, options=options).to_frame()
    small.setattr(portions, "MOST_CELLS_AT_ONCE", 100)
    small.setattr(portions, "_CELLS_IN_PORTION", 120)
    table = risk_table(matrix, options=options)
    found = table.to_frame()
    for name in whole.columns:
        if name.startswith("rank_") and name.endswith(("_lo", "_hi")):
            assert found[name].isna().all()
        elif whole[name].dtype.kind == "f":
            expected = whole[name].to_numpy()
            assert np.allclose(found[name].astype(float), expected, 1e-9, 1e-12, equal_nan=True)
        else:
            assert found[name].tolist() == whole[name].tolist(), name
    assert "no-rank-intervals" in [note.code for note in table.notes]


def test_a_score_below_0_in_one_portion_leaves_zrisk_empty_in_all(
    small: pytest.MonkeyPatch,
) -> None:
    values = scores()
    values[20, 0] = -0.5
    small.setattr(portions, "MOST_CELLS_AT_ONCE", 100)
    small.setattr(portions, "_CELLS_IN_PORTION", 120)
    frame = risk_table(named(values), "r0").to_frame()
    assert frame["zrisk"].isna().all()
    assert frame["mean_p"].notna().sum() == 22


@pytest.mark.slow
def test_scratch_memory_stays_below_that_of_the_matrix(small: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).random((600, 1000))
    small.setattr(portions, "MOST_CELLS_AT_ONCE", 1000)
    small.setattr(portions, "_CELLS_IN_PORTION", 20_000)
    small.setattr(arrays, "_CELLS_AT_ONCE", 5_000)
    matrix = named(values)
    risk_table(named(values[:2]), "r0")  # imports
    for work in (
        lambda: risk_table(matrix, "r0", alpha=[0, 5]),
        lambda: risk_table(matrix, "@mean"),
        lambda: compare_pairs(matrix, "r0", of="mean"),
    ):
        tracemalloc.start()
        work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < values.nbytes


# ---------------------------------------------------------------- many pairs


@pytest.mark.slow
def test_many_rows_are_made_when_they_are_written() -> None:
    """2,000 runs have two million pairs: none of their rows is kept."""
    rows = rows_of(200_000, lambda: ([i, 0.5] for i in range(200_000)))
    assert len(rows) == 200_000
    assert rows[7] == [7, 0.5]
    assert rows[-1] == [199_999, 0.5]
    assert rows[1:3] == [[1, 0.5], [2, 0.5]]
    tracemalloc.start()
    text = as_tsv(Result(("number", "value"), rows))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert text.splitlines()[::100_000] == ["number\tvalue", "99999\t0.5", "199999\t0.5"]
    assert peak < 4 * len(text)


def test_pairs_and_biases_of_many_runs_are_those_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = named(scores())
    expected = [compare_pairs(matrix).to_text(), baseline_bias(matrix).to_text()]
    monkeypatch.setattr("riskcli.output.result._KEPT", 10)
    monkeypatch.setattr("riskcli.analyses.significance._ROWS_AT_ONCE", 7)
    monkeypatch.setattr("riskcli.core.arrays._CELLS_AT_ONCE", 100)
    assert [compare_pairs(matrix).to_text(), baseline_bias(matrix).to_text()] == expected


def test_runs_too_many_to_be_shuffled_have_no_figures_of_equal_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = baseline_bias(named(scores()))
    monkeypatch.setattr("riskcli.analyses.baseline_bias.MOST_WORK", 1000)
    found = baseline_bias(named(scores()))
    assert [note.code for note in found.provenance.notes] == ["not-shuffled"]
    (row,) = found.only("friedman").result().rows
    assert row[-2:] == [None, None]
    assert row[:-2] == whole.only("friedman").result().rows[0][:-2]
    assert "shuffles" not in found.to_text("table")


def test_many_runs_have_no_letters() -> None:
    values = np.random.default_rng(3).random((101, 5))
    table = compare_pairs(named(values), of="mean")
    assert {tuple(row[-2:]) for row in table.result().rows} == {(None, None)}
    assert "any of the 101 runs may be the best" in table.to_text("table")


def test_biases_of_too_many_runs_are_refused() -> None:
    with pytest.raises(UsageError, match=r"2,001 runs make .* at most 1,999,000 pairs"):
        baseline_bias(named(np.ones((2001, 3))))
