"""Smooth losses and the minus convention: ECIR'20, Benham, Moffat and Culpepper."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from riskcli import (
    Options,
    Significance,
    UsageError,
    alpha_sweep,
    ranking_agreement,
    risk_table,
    topic_table,
)
from riskcli.risk.losses import PUBLISHED, Cubic, fences, through_fences
from riskcli.risk.measures import measures
from riskcli.risk.paired import two_sided_p
from tests.helpers import reference
from tests.helpers.inprocess import riskeval
from tests.helpers.program import SAMPLES, Key, Ran
from tests.helpers.strategies import Floats, named, score_values
from tests.helpers.tables import paper_table

SIGNED = {measure.id for measure in measures() if measure.signed}


def close(expected: object) -> object:
    return pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_the_published_coefficients_are_refitted() -> None:
    fitted = through_fences(-0.241, 0.292)
    assert round(fitted.cube, 5) == 1.38426
    assert round(fitted.square, 5) == -0.51659
    assert round(fitted.slope, 5) == 0.11578
    for x in (-1.0, -0.3, 0.0, 0.2, 1.0):
        assert PUBLISHED(np.array(x)) == close(reference.smooth(x))


def test_fences_are_a_box_plots() -> None:
    # quartiles 2 and 4, so that 1.5 quartile ranges are 3
    assert fences(np.array([1.0, 2.0, 3.0, 4.0, 5.0])) == (-1.0, 7.0)


@pytest.mark.parametrize(("low", "high"), [(-1.2, 0.3), (-0.2, 1.0), (0.0, 0.0), (0.1, 0.3)])
def test_fences_that_leave_no_room_are_refused(low: float, high: float) -> None:
    with pytest.raises(UsageError, match="take --loss smooth"):
        through_fences(low, high)


def test_whether_a_cubic_rises() -> None:
    assert PUBLISHED.rises  # ECIR'20: the discriminant of s' is below 0
    assert Cubic(0.0, 0.0, 1.0).rises
    assert not Cubic(1.0, 0.0, -0.1).rises
    assert Cubic(1 / 3, -1.5, 2.1).rises  # s' is lowest at 1.5, where no difference is, and below 0
    assert not Cubic(1 / 3, -0.75, 0.5).rises  # and here at 0.75
    assert not Cubic(0.0, 1.0, 1.0).rises  # s'(-1) = -1
    assert not Cubic(1.0, -0.9, 0.1).rises  # falls around 0.3 only


@settings(max_examples=60)
@given(score_values(max_runs=5, min_topics=3, max_topics=7))
def test_smooth_measures_equal_brute_force(values: Floats) -> None:
    matrix = [row.tolist() for row in values]
    table = risk_table(named(values), "r0", options=Options(loss="smooth")).to_frame()
    for i, row in enumerate(table.to_dict("records")):
        assert row["alpha"] is None or math.isnan(row["alpha"])
        assert row["zrisk"] == close(reference.zrisk(matrix, i, loss="smooth"))
        assert row["georisk"] == close(reference.georisk(matrix, i, loss="smooth"))
        if i > 0:
            assert row["urisk"] == close(reference.urisk(matrix[i], matrix[0], loss="smooth"))
            expected = reference.trisk(matrix[i], matrix[0], loss="smooth")
            if np.ptp(values[i] - values[0]) > 1e-6:
                assert row["trisk"] == close(expected["t"])
                assert row["trisk_p"] == close(expected["p"])
            assert row["mean_diff"] == close(reference.gain(matrix[i], matrix[0]))


@settings(max_examples=30)
@given(score_values(min_runs=3, max_runs=5, min_topics=3, max_topics=6))
def test_smooth_jackknife_equals_brute_force(values: Floats) -> None:
    matrix = [row.tolist() for row in values]
    options = Options(loss="smooth", significance=Significance(correction="none"))
    table = risk_table(named(values), "r0", options=options).to_frame()
    for i, row in enumerate(table.to_dict("records")):
        if not values[i].any() or not values[0].any():
            continue
        for name, measure, scale in (("zrisk", "zeta", len(matrix[0])), ("georisk", "georisk", 1)):
            if name == "georisk" and not math.isnan(row["georisk_lo"]):
                ends = reference.georisk_interval(matrix, i, 0.0, loss="smooth")
                assert (row["georisk_lo"], row["georisk_hi"]) == pytest.approx(ends, rel=1e-6)
            ends = reference.smooth_zeta_interval(matrix, i) if name == "zrisk" else None
            if ends is not None and ends[1] - ends[0] > 1e-6:
                found_ends = row["zrisk_lo"] / scale, row["zrisk_hi"] / scale
                assert found_ends == pytest.approx(ends, rel=1e-6, abs=1e-9)
            if i == 0:
                continue
            found = reference.difference_jackknife(matrix, i, 0, measure, loss="smooth")  # type: ignore[arg-type]
            assert row[f"{name}_diff"] / scale == pytest.approx(found["estimate"], abs=1e-9)
            if found["se"] is not None and found["se"] > 1e-6:
                assert row[f"{name}_p"] == pytest.approx(found["p"], rel=1e-5, abs=1e-9)


def test_many_topics_left_out_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    from riskcli.risk import losses as smooth

    values = np.random.default_rng(4).random((3, 40))
    options = Options(loss="smooth")
    at_once = risk_table(named(values), "r0", options=options).to_frame()
    monkeypatch.setattr(smooth, "_CELLS_AT_ONCE", 120)
    in_portions = risk_table(named(values), "r0", options=options).to_frame()
    assert at_once.equals(in_portions)


@settings(max_examples=40)
@given(score_values())
def test_minus_turns_signs_and_keeps_ranks_and_flags(values: Floats) -> None:
    plain, minus = (
        risk_table(
            named(values), "r0", options=Options(alphas=(0.0, 5.0), convention=convention)
        ).to_frame()
        for convention in ("plain", "minus")
    )
    assert {"urisk", "trisk", "zrisk", "georisk"} <= SIGNED and "mean" not in SIGNED
    for column in plain.columns:
        stem, _, ending = column.rpartition("_")
        if column in SIGNED or (stem in SIGNED and ending == "diff"):
            assert np.allclose(minus[column], -plain[column], equal_nan=True)
        elif stem.removesuffix("_diff") in SIGNED and ending in ("lo", "hi"):
            other = f"{stem}_{'hi' if ending == 'lo' else 'lo'}"
            assert np.allclose(minus[column], -plain[other], equal_nan=True)
        else:
            assert minus[column].equals(plain[column]), column


def test_ecir20_t_is_u_over_its_error_in_both_losses() -> None:
    """Table 2 as printed: T- has the sign of U-, and is never significant under s(x)."""
    for row in paper_table("ecir20_table2_minus_conventions"):
        for loss in ("linear", "smooth"):
            assert float(row[f"U_{loss}"]) * float(row[f"T_{loss}"]) > 0
        assert two_sided_p(np.array([float(row["T_smooth"])]), 49)[0] > 0.05


def rows_of(ran: Ran) -> list[dict[str, Any]]:
    assert ran.code == 0, ran.err
    return list(json.loads(ran.out)["rows"])


def test_minus_on_the_command_line_takes_alpha_hat() -> None:
    shared = ("score", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "--convention", "minus")
    by_hat = rows_of(riskeval(*shared, "-a", "2,6.1", "-f", "json"))
    plain = rows_of(riskeval(*shared[:-2], "-a", "1,5.1", "-f", "json"))
    assert [row["alpha"] for row in by_hat] == [row["alpha"] for row in plain]
    assert {row["alpha"] for row in by_hat} == {1.0, 5.1}
    for minus, row in zip(by_hat, plain, strict=True):
        assert minus["georisk"] == -row["georisk"] and minus["mean"] == row["mean"]
    table = riskeval(*shared, "-a", "6", "-f", "table").out
    assert "α̂ = 6" in table and "GeoRisk⁻" in table and "higher is riskier" in table


def test_a_fit_is_recorded() -> None:
    ran = riskeval(
        "score", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "--loss", "smooth:fit", "-f", "json"
    )
    settings_ = json.loads(ran.out)["settings"]
    assert settings_["alphas"] is None and settings_["loss"] == "smooth:fit"
    (fit,) = settings_["fitted"]
    assert fit["measure"] == "ERR@20" and fit["cube"] > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--loss", "smooth", "--alpha", "5"], "has no alpha"),
        (["--convention", "minus", "-a", "0.5"], "--alpha is 0.5: under --convention minus"),
        (["--loss", "cubic"], "--loss"),
        (["--loss", "smooth", Key("test", "swap"), "-b", "indriCASP"], "use the jackknife"),
    ],
)
def test_wrong_calls(arguments: list[str], words: str) -> None:
    ran = riskeval("score", SAMPLES, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


def test_significance_knows_the_linear_loss_only() -> None:
    ran = riskeval("significance", SAMPLES, "--loss", "smooth")
    assert (ran.code, ran.out) == (2, "")
    assert "linear loss" in ran.err


def test_every_analysis_records_a_fit_and_doubts_one_that_falls() -> None:
    rng = np.random.default_rng(2)
    values = np.clip(rng.normal(0.5, 0.22, (4, 30)), 0, 1)
    options = Options(alphas=(0.0, 5.0), loss="smooth:fit")
    one_alpha = Options(loss="smooth:fit")
    found: list[Any] = [
        risk_table(named(values), "r0", options=options),
        topic_table(named(values), baseline="r0", options=options),
        alpha_sweep(named(values), "r0", options=options),
        ranking_agreement(named(values), "r0", options=one_alpha),
    ]
    records = [each.settings["fitted"] for each in found]
    assert all(record == records[0] for record in records)
    (fit,) = records[0]
    cubic = Cubic(fit["cube"], fit["square"], fit["slope"])
    delta = (values[1:] - values[0]).ravel()
    assert cubic == through_fences(*fences(delta))
    for each in found:
        assert any(note.code == "loss-falls" for note in each.notes) != cubic.rises
    assert not cubic.rises
