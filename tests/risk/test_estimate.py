"""Corrections and flags: worked by hand, and by their definitions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskcli import Options, Significance, risk_table
from riskcli.core.choices import Correction
from riskcli.risk.estimate import adjust, correction_title
from tests.helpers import reference
from tests.helpers.examples import golden_matrix
from tests.helpers.strategies import Floats, named, score_values

HAND_WORKED: dict[Correction, list[float]] = {  # p of four tests, worked by hand
    "none": [0.01, 0.04, 0.03, 0.005],
    "bonferroni": [0.04, 0.16, 0.12, 0.02],
    "holm": [0.03, 0.06, 0.06, 0.02],  # 4*.005, 3*.01, 2*.03, max(.06, 1*.04)
    "bh": [0.02, 0.04, 0.04, 0.02],  # .04*4/4, min(.04, .03*4/3), min(.04, .01*4/2), .005*4
}


@pytest.mark.parametrize("method", HAND_WORKED)
def test_corrections_worked_by_hand(method: Correction) -> None:
    adjusted, size = adjust(np.array([0.01, 0.04, 0.03, 0.005]), method)
    assert adjusted == pytest.approx(HAND_WORKED[method])
    assert size == 4


@given(st.lists(st.none() | st.floats(0, 1), min_size=1, max_size=12))
def test_corrections_equal_their_definitions(p: list[float | None]) -> None:
    values = np.array([np.nan if v is None else v for v in p])
    definitions: dict[Correction, Callable[[list[float | None]], list[float | None]]] = {
        "holm": reference.holm,
        "bonferroni": reference.bonferroni,
        "bh": reference.benjamini_hochberg,
    }
    for method, definition in definitions.items():
        adjusted, size = adjust(values, method)
        expected = [np.nan if v is None else v for v in definition(p)]
        assert adjusted == pytest.approx(np.array(expected), nan_ok=True)
        assert size == sum(v is not None for v in p)


def test_the_family_is_a_column_or_the_whole_table() -> None:
    values = golden_matrix()
    by_column = risk_table(named(values), "r0", options=Options(alphas=(0.0, 5.0)))
    assert by_column.blocks[0].families == dict.fromkeys(["mean", "trisk", "zrisk", "georisk"], 5)
    plan = Options(alphas=(0.0, 5.0), significance=Significance(family="all"))
    together = risk_table(named(values), "r0", options=plan)
    assert together.blocks[1].families == dict.fromkeys(["mean", "trisk", "zrisk", "georisk"], 30)
    frame = together.to_frame()
    # The mean is one test at either alpha, and TRisk at alpha 0 is the same test again.
    plain, weighted = frame[frame["alpha"] == 0], frame[frame["alpha"] == 5]
    assert plain["trisk_p"].tolist()[1:] == pytest.approx(plain["mean_p"].tolist()[1:])
    once = [
        (plain, "mean"), (plain, "zrisk"), (plain, "georisk"),
        (weighted, "trisk"), (weighted, "zrisk"), (weighted, "georisk"),
    ]  # fmt: skip
    p = np.concatenate([part[f"{name}_p"].to_numpy(dtype=float)[1:] for part, name in once])
    expected = np.array(reference.holm(p.tolist()), dtype=float)
    adjusted = [part[f"{name}_p_adj"].to_numpy(dtype=float)[1:] for part, name in once]
    assert np.concatenate(adjusted) == pytest.approx(expected)
    for again in ((weighted, "mean"), (plain, "trisk")):
        mine = again[0][f"{again[1]}_p_adj"].to_numpy(dtype=float)[1:]
        assert mine == pytest.approx(expected[:5])


@given(score_values(min_runs=3), st.sampled_from([0.01, 0.05, 0.5]))
@settings(max_examples=40)
def test_flags_follow_the_adjusted_p_and_the_sign(values: Floats, gamma: float) -> None:
    plan = Options(alphas=(1.0,), significance=Significance(gamma=gamma))
    frame = risk_table(named(values), "r0", options=plan).to_frame()
    for name, effect in (("mean", "mean_diff"), ("trisk", "urisk"), ("georisk", "georisk_diff")):
        for _, row in frame.iterrows():
            significant = row[f"{name}_p_adj"] < gamma
            way = "better" if row[effect] > 0 else "worse"
            assert row[f"{name}_flag"] == (way if significant and row[effect] else "")


def test_only_shuffles_within_a_column_are_corrected_by_their_largest_t() -> None:
    assert correction_title("holm", "column", True).startswith("max-t over runs")
    for correction, family, by_shuffles in (
        ("holm", "column", False), ("holm", "all", True), ("bh", "column", True),
    ):  # fmt: skip
        title = correction_title(correction, family, by_shuffles)  # type: ignore[arg-type]
        assert title == {"holm": "Holm", "bh": "Benjamini-Hochberg"}[correction]
