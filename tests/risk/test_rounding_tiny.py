"""Scores down to the least size, as RBP gives them: every figure against 60 exact digits."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcli import Options, ScoreMatrix, compare_pairs, risk_table
from riskcli.core.arrays import sums_of_others
from riskcli.core.limits import LEAST_SCORE
from riskcli.risk.intervals import _degrees
from riskcli.risk.paired import Paired
from riskcli.risk.population import Population
from tests.helpers.inprocess import run_inside
from tests.helpers.strategies import Floats

EXACT = Context(prec=60, Emin=-99_999, Emax=99_999)
Row = list[Decimal]

exponents = st.sampled_from([-302, -300, -200, -150, -100, -72, -50, -20, -3, -1])
tiny_or_not = st.just(0.0) | st.builds(
    lambda digits, power: max(digits * 10.0**power, LEAST_SCORE), st.floats(1, 9), exponents
)


@st.composite
def matrices(draw: st.DrawFn) -> Floats:
    """Two to four runs; the second is sometimes the first but for one topic."""
    runs, topics = draw(st.integers(2, 4)), draw(st.integers(3, 7))
    cells = st.lists(tiny_or_not, min_size=topics, max_size=topics)
    values = np.array([draw(cells) for _ in range(runs)])
    if draw(st.booleans()):
        topic = draw(st.integers(0, topics - 1))
        values[1] = np.where(np.arange(topics) == topic, draw(tiny_or_not), values[0])
    return values


def zrisk(own: Row, totals: Row, alpha: int, without: int | None = None) -> Decimal:
    """By its definition, without a topic."""
    topics = [q for q in range(len(own)) if q != without]
    total, grand = (sum((x[q] for q in topics), Decimal(0)) for x in (own, totals))
    found = Decimal(0)
    for q in topics:
        expected = total * totals[q] / grand if grand else Decimal(0)
        if abs(own[q] - expected) > Decimal("4e-15") * expected:  # less is rounding
            z = (own[q] - expected) / expected.sqrt()
            found += z if z > 0 else (1 + alpha) * z
    return found


def near(found: float, exact: Decimal, scale: Decimal = Decimal(0), part: str = "1e-9") -> bool:
    return abs(Decimal(float(found)) - exact) <= Decimal(part) * max(abs(exact), scale)


@given(matrices(), st.sampled_from([0, 1, 5]))
def test_paired_figures_are_exact(values: Floats, alpha: int) -> None:
    paired = Paired(values, values[0])
    with localcontext(EXACT):
        exact = [[Decimal(x) for x in row] for row in values.tolist()]
        for i, row in enumerate(exact):
            delta = [x - b for x, b in zip(row, exact[0], strict=True)]
            w = [(1 + alpha) * d if d < 0 else d for d in delta]
            largest = max(map(abs, w))
            mean = sum(w, Decimal(0)) / len(w)
            error = (sum(((x - mean) ** 2 for x in w), Decimal(0)) / (len(w) - 1) / len(w)).sqrt()
            assert paired.wins[i] == sum(d > 0 for d in delta)
            assert paired.losses[i] == sum(d < 0 for d in delta)
            assert near(paired.urisk(alpha)[i], mean, largest)
            if not paired.constant[i]:
                assert near(paired.urisk_se(alpha)[i], error, largest * Decimal("1e-3"))
            if not paired.constant[i] and abs(mean) > largest / 1000 and error > largest / 1000:
                assert near(paired.trisk(alpha)[i], mean / error)


@given(matrices(), st.sampled_from([0, 5]))
def test_zrisk_is_exact_and_so_is_it_without_each_topic(values: Floats, alpha: int) -> None:
    population = Population.of_all(values)
    found, deleted = population.zrisk(alpha), population.without_each().zrisk(1 + alpha)
    with localcontext(EXACT):
        exact = [[Decimal(x) for x in row] for row in values.tolist()]
        totals = [sum(column, Decimal(0)) for column in zip(*exact, strict=True)]
        for i, row in enumerate(exact):
            scale = sum(row, Decimal(0)).sqrt()
            assert near(found[i], zrisk(row, totals, alpha), scale)
            for q in range(len(row)):
                left = sum((y for j, y in enumerate(row) if j != q), Decimal(0)).sqrt()
                # A rest beyond twelve digits of the run's own scale is none to any test.
                scale_left = max(left, scale * Decimal("1e-12"))
                assert near(deleted[i, q], zrisk(row, totals, alpha, q), scale_left, "1e-8")


@pytest.mark.parametrize("size", [0.3, 1e-20, 1e-72, 1e-150, 1e-200, 9.3e-302])
def test_a_run_that_differs_on_one_topic_has_a_trisk_of_1(size: float) -> None:
    base = np.array([0.25, 0.5, 0.0, 0.125])
    values = np.array([base, base + np.array([0, 0, size, 0]), base])
    matrix = ScoreMatrix("RBP", ("base", "one", "same"), tuple("1234"), values)
    table = risk_table(matrix, "base", options=Options(alphas=(0.0, 5.0))).to_frame()
    rows = table[table["run"] == "one"]
    assert rows["wins"].tolist() == [1, 1] and rows["ties"].tolist() == [3, 3]
    assert rows["trisk"].tolist() == pytest.approx([1, 1])
    for column in ("urisk", "urisk_se", "reward"):
        assert rows[column].tolist() == pytest.approx([size / 4] * 2, rel=1e-12, abs=0)
    assert rows["mean_dz"].tolist() == pytest.approx([0.5, 0.5])
    same = table[table["run"] == "same"]
    assert same["trisk"].tolist() == [0, 0] and same["trisk_p"].tolist() == [1, 1]


SCALED = (
    "mean", "mean_lo", "mean_hi", "mean_diff", "mean_diff_lo", "mean_diff_hi", "urisk", "urisk_lo",
    "urisk_hi", "urisk_se", "reward", "risk", "shortfall",
)  # fmt: skip
WITH_THE_ROOT = ("zrisk", "zrisk_lo", "zrisk_hi", "zrisk_diff", "zrisk_diff_lo", "zrisk_diff_hi")
UNCHANGED = (
    "trisk", "trisk_p", "mean_p", "mean_p_adj", "zrisk_p", "zrisk_p_adj", "mean_dz", "mean_dz_lo",
    "wins", "losses", "rank_mean_lo", "rank_mean_hi", "rank_zrisk_lo", "rank_zrisk_hi",
)  # fmt: skip


@pytest.mark.parametrize("scale", [2.0**-200, 2.0**-500, 2.0**-900])
@pytest.mark.parametrize("baseline", ["a", "@mean"])
def test_tiny_scores_are_tested_as_the_same_scores_are(scale: float, baseline: str) -> None:
    """TRisk and p do not change with the scale; means and URisk do, ZRisk with its root."""
    rng = np.random.default_rng(7)
    values = rng.random((5, 12)) * (rng.random((5, 12)) > 0.2)
    names = tuple("abcde"), tuple(map(str, range(12)))
    plain, tiny = (
        risk_table(ScoreMatrix("RBP", *names, values * factor), baseline).to_frame()
        for factor in (1.0, scale)
    )
    root = float(np.sqrt(scale))
    factors = {
        **dict.fromkeys(SCALED, scale), **dict.fromkeys(WITH_THE_ROOT, root),
        **dict.fromkeys(UNCHANGED, 1.0),
    }  # fmt: skip
    for column, factor in factors.items():
        found, expected = tiny[column].to_numpy(float) / factor, plain[column].to_numpy(float)
        assert found == pytest.approx(expected, rel=1e-9, nan_ok=True), column


@pytest.mark.parametrize("tukey", [False, True])
def test_every_pair_of_tiny_runs_is_told_apart_as_at_any_scale(tukey: bool) -> None:
    values = np.random.default_rng(3).random((4, 20)) + np.array([[0], [0.2], [0.4], [0.6]])
    values /= 2
    names = tuple("abcd"), tuple(map(str, range(20)))
    one, other = (
        compare_pairs(ScoreMatrix("RBP", *names, values * scale), of="mean", tukey=tukey).to_frame()
        for scale in (1.0, 2.0**-900)
    )
    assert one["p_adj"].tolist() == pytest.approx(other["p_adj"].tolist())
    assert (one["diff_se"] * 2.0**-900).tolist() == pytest.approx(
        other["diff_se"].tolist(), rel=1e-9, abs=0
    )
    assert one["letters"].tolist() == other["letters"].tolist()


@given(st.lists(tiny_or_not, min_size=1, max_size=8))
def test_a_rest_is_added_up_where_a_subtraction_would_lose_it(values: list[float]) -> None:
    found = sums_of_others(np.array(values))
    with localcontext(EXACT):
        for index, value in enumerate(found.tolist()):
            others = [Decimal(x) for i, x in enumerate(values) if i != index]
            assert near(value, sum(others, Decimal(0)))


CALLS = (
    "score -b r0", "score -b @mean", "score -b r0 --loss smooth", "score -b @mean --loss smooth",
    "score -b r0,r1", "significance --of mean", "significance --of georisk", "sweep -b r0",
    "sweep --over baseline", "sweep --over population", "sweep --over measure -b r0",
    "topics -b r0", "explain -b r0 --run r1 --of georisk", "check --baseline r0",
)  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_every_command_takes_scores_of_every_size(
    call: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = [
        "0.3,1.18e-72,0,9.3e-302,0.25", "0.3,0,0,9.3e-302,0.25", "0,1e-20,1e-302,0,0",
        "1e-200,1e-200,0,1e-300,1e-302", "0.5,0,0,0,1e-5",
    ]  # fmt: skip
    lines = ["run,1,2,3,4,5", *(f"r{i},{row}" for i, row in enumerate(rows))]
    file = tmp_path_factory.mktemp("scores") / "tiny.csv"
    file.write_text("\n".join(lines) + "\n")
    command, *rest = call.split()
    ran = run_inside(command, file, *rest, "-f", "json")
    assert ran.code in ((0, 1) if command == "check" else (0,)), ran.err
    assert "NaN" not in ran.out and "Infinity" not in ran.out


def test_what_is_lost_in_larger_scores_is_no_interval() -> None:
    """Without its topic a sum of z is a difference of larger sums, whose last digits it may be."""
    values = np.array(
        [[0.5, 3e-80, 1e-80, 2e-80], [0.3, 1e-80, 2e-80, 4e-80], [0.4, 2e-80, 2e-80, 1e-80]]
    )
    matrix = ScoreMatrix("RBP", ("r0", "r1", "r2"), tuple("1234"), values)
    table = risk_table(matrix, "r0", alpha=1).to_frame()
    assert (table["zrisk"].abs() < 1e-39).all()
    assert table[["zrisk_lo", "zrisk_hi"]].isna().all(axis=None)


def test_a_kurtosis_below_1_is_rounding() -> None:
    """m4 >= m2^2, of tiny deviations too; degrees of freedom below 0 would leave no interval."""
    assert _degrees(np.array([0.5]), np.array([1.0]), 20).tolist() == [19]


@pytest.mark.parametrize("runs", [9, 100, 400])
def test_a_common_difference_to_the_mean_of_many_runs_is_constant(runs: int) -> None:
    rng = np.random.default_rng(runs)
    values = np.round(rng.random(50) * 0.6, 4) + np.round(rng.random((runs, 1)) * 0.3, 4)
    table = risk_table(ScoreMatrix("P", tuple(map(str, range(runs))),
                                   tuple(map(str, range(50))), values), "@mean")  # fmt: skip
    rows = table.to_frame().query("abs(urisk) > 1e-6")
    assert len(rows) > runs / 2 and rows["trisk"].isna().all()
