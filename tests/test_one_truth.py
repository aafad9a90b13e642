"""Each formula stands in one place: change it there, and everything that shows it follows."""

from __future__ import annotations

import base64
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcli import Options, risk_table
from riskcli.analyses.blocks import risk_blocks
from riskcli.analyses.explain import explain_run
from riskcli.analyses.significance import compare_pairs
from riskcli.analyses.sweep_alpha import alpha_sweep
from riskcli.analyses.topics import topic_table
from riskcli.output.measure_words import ORDER, columns
from riskcli.page.data import page_data
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import Estimate
from riskcli.risk.measures import measures
from riskcli.risk.paired import Moments, Paired
from riskcli.risk.population import Departures, Population
from riskcli.scores.comparisons import comparisons
from tests.helpers.examples import golden_matrix
from tests.helpers.strategies import Floats, named, score_values

ALPHA = 5.0


def crossing_matrix() -> Floats:
    """Runs that swap places by every measure as alpha grows."""
    return np.round(np.random.default_rng(5).beta(1.5, 2.5, (6, 20)), 6)


def numbers_of(measure: str) -> dict[str, Floats]:
    """A measure's values of the matrix against r0, from everything that shows them."""
    matrix, options = named(crossing_matrix()), Options(baselines=("r0",), alphas=(ALPHA,))
    ((block,), _) = risk_blocks(matrix, options)
    swept = alpha_sweep(matrix, "r0", options=Options(alphas=(0.0, ALPHA))).parts[0]
    runs = [run for run in matrix.runs if run != "r0"]
    topics = topic_table(matrix, runs=runs, options=options).parts
    explained = [
        explain_run(matrix, run=run, of=measure, options=options).steps[-1][1] for run in runs
    ]
    return {
        "score": block.estimates[measure].value[1:],
        "sweep": swept.series[0].values[measure][1, 1:],
        "topics": np.array([part.totals[measure] for part in topics]),
        "explain": np.array(explained),
    }


def assert_all_agree(measure: str, before: dict[str, Floats]) -> None:
    after = numbers_of(measure)
    for name, values in after.items():
        assert values.tolist() == after["score"].tolist(), name
        assert not np.any(values == before[name]), f"{name} did not follow"
    assert_swaps_are_where_values_meet(measure)


def assert_swaps_are_where_values_meet(measure: str) -> None:
    """At the alpha of a swap, the values that the table shows are equal."""
    matrix = named(crossing_matrix())
    (chosen,) = [each for each in measures() if each.id == measure]
    (comparison,) = comparisons(matrix, Options(baselines=("r0",)))
    swept = alpha_sweep(matrix, "r0", of=[measure], options=Options(alphas=(0.0, 20.0)))
    events = [event for event in swept.parts[0].events if event.kind == "swap"]
    assert events
    for event in events:
        values = chosen.of(comparison, event.alpha)
        assert values is not None and event.other is not None
        assert values[event.run] == pytest.approx(values[event.other], rel=1e-7, abs=1e-8)


def wider(original: Callable[[Paired], Floats]) -> Callable[[Paired], Floats]:
    """Adds .01^2 to the squared standard error, in the one place of its quadratic."""

    def variance(paired: Paired) -> Floats:
        return np.asarray(original(paired) + np.array([1e-4 * paired.topics, 0.0, 0.0]))

    return variance


def test_trisks_error_is_changed_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    before = numbers_of("trisk")
    monkeypatch.setattr(Paired, "_variance", wider(Paired._variance))
    assert_all_agree("trisk", before)
    t = numbers_of("trisk")["score"]
    paired = Paired(crossing_matrix(), crossing_matrix()[0])
    expected = np.hypot(np.asarray(before["score"] ** -1 * paired.urisk(ALPHA)[1:]), 0.01)
    assert t == pytest.approx(paired.urisk(ALPHA)[1:] / expected)
    edges = alpha_sweep(
        named(crossing_matrix()), "r0", of=["trisk"], options=Options(alphas=(0.0, 20.0))
    ).parts[0]
    turned = [event for event in edges.events if event.kind == "significance"]
    (comparison,) = comparisons(named(crossing_matrix()), Options(baselines=("r0",)))
    for event in turned:
        assert comparison.paired.trisk(event.alpha)[event.run] == pytest.approx(event.value)
    matrix = named(crossing_matrix())
    table = risk_table(matrix, "r0", options=Options(alphas=(ALPHA,)))
    shown = page_data([matrix], [table])["measures"][0]["comparisons"][0]
    mine = [_page_error(shown, run, ALPHA) for run in range(1, 6)]
    assert mine == pytest.approx(expected)


def _page_error(shown: dict[str, str], run: int, alpha: float) -> float:
    """SE(URisk) from what the page computes with."""
    gain, loss, both = (
        np.frombuffer(base64.b64decode(shown[name]), dtype="<f8")[run]
        for name in ("varGain", "varLoss", "covariance")
    )
    t = 1 + alpha
    return float(np.sqrt((gain - 2 * t * both + t**2 * loss) / 20))


@pytest.mark.parametrize(
    ("owner", "formula", "measure"),
    [
        (Moments, "urisk_se", "trisk"),
        (Moments, "trisk", "trisk"),
        (Departures, "zrisk", "zrisk"),
        (Departures, "georisk", "georisk"),
    ],
)
def test_a_formula_is_changed_in_one_place(
    owner: type, formula: str, measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Doubled at its place, it is doubled wherever it is shown, tests and intervals included."""
    before = numbers_of(measure)
    original = getattr(owner, formula)
    monkeypatch.setattr(owner, formula, lambda *given: 2 * original(*given))
    assert_all_agree(measure, before)


def test_urisk_is_changed_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    before = numbers_of("urisk")
    original = Moments.urisk
    monkeypatch.setattr(Moments, "urisk", lambda *given: 2 * original(*given))
    assert_all_agree("urisk", before)


@given(score_values(min_topics=2), st.floats(1, 30))
def test_curves_are_the_formulas(values: Floats, t: float) -> None:
    """The polynomials and the logarithm that sweep finds its events by are those of the table."""
    moments = Paired(values, values[0]).linear
    powers = np.array([1.0, t, t**2])
    assert moments.squared_urisk @ powers == pytest.approx(moments.urisk(t) ** 2, abs=1e-12)
    assert moments.squared_error @ powers == pytest.approx(moments.urisk_se(t) ** 2, abs=1e-12)
    departures = Population.of_all(values).departures
    rows = np.flatnonzero(departures.georisk(t) > 1e-150)
    expected = 2 * np.log(departures.georisk(t, rows))
    assert departures.log_georisk(t, rows) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    step = 1e-6
    rise = departures.log_georisk(t + step, rows) - departures.log_georisk(t - step, rows)
    slope = departures.log_georisk_slope(t, rows)
    assert slope == pytest.approx(rise / (2 * step), rel=1e-3, abs=1e-3)


def test_rows_and_weights_of_their_own_choose_cells() -> None:
    moments = Paired(golden_matrix(), golden_matrix()[0]).linear
    rows, t = np.array([3, 1]), np.array([2.0, 6.0])
    assert moments.trisk(t, rows).tolist() == [moments.trisk(2.0)[3], moments.trisk(6.0)[1]]
    departures = Population.of_all(golden_matrix()).departures
    found = departures.georisk(t, rows).tolist()
    assert found == [departures.georisk(2.0)[3], departures.georisk(6.0)[1]]


def test_effect_sizes_are_the_same_in_score_and_significance() -> None:
    options = Options(baselines=("r0",))
    frame = risk_table(named(golden_matrix()), "r0").to_frame()
    pairs = compare_pairs(named(golden_matrix()), of="mean", options=options)
    assert pairs.tables[0].effect.tolist() == frame["mean_dz"].tolist()[1:]


# ---------------------------------------------------------------- columns are declared


def test_every_column_of_the_contract_is_declared_once() -> None:
    names = list(columns())
    assert len(set(names)) == len(names)
    assert names[: len(ORDER)] == list(ORDER)


@pytest.mark.parametrize("values", [golden_matrix(), golden_matrix() - 0.5])
def test_an_estimate_holds_just_what_its_measure_declares(values: Floats) -> None:
    """No column is declared that stays empty, and nothing is computed that has no column."""
    ((block,), _) = risk_blocks(named(values), Options(baselines=("r0",)))
    fields = {column.field for column in columns().values() if column.field is not None}
    for measure in measures():
        estimate = block.estimates.get(measure.id)
        if estimate is None:
            assert measure.nonnegative
            continue
        declared = {column.field for column in measure.all_columns if column.field is not None}
        assert {name for name in fields if getattr(estimate, name) is not None} == declared
        assert set(estimate.extra) == {column.name for column in measure.columns}
        assert all(columns()[name].measure == measure.id for name in estimate.extra)


def test_an_estimate_of_some_runs_keeps_all_that_belongs_to_them() -> None:
    ((block,), _) = risk_blocks(named(golden_matrix()), Options(baselines=("r0",)))
    chosen = block.of_runs([4, 0])
    assert chosen.runs == ("r4", "r0") and chosen.baseline_row == 1
    for name, column in columns().items():
        whole, part = block.cells(name), chosen.cells(name)
        if whole is not None and part is not None:
            assert part.tolist() == pytest.approx(whole[[4, 0]].tolist(), nan_ok=True) or (
                column.kind == "flag" and part.tolist() == whole[[4, 0]].tolist()
            )


def test_the_minus_convention_turns_what_belongs_together() -> None:
    one, two = np.array([1.0, 0.0]), np.array([2.0, 0.5])
    flag = np.array(["better", ""])
    turned = Estimate(
        one, low=one - 1, high=one + 1, difference=two, difference_low=two - 1,
        difference_high=two + 2, flag=flag, rank=two,
    ).negated()  # fmt: skip
    assert turned.value.tolist() == [-1.0, 0.0] and not np.signbit(turned.value[1])
    assert turned.low is not None and turned.low.tolist() == [-2.0, -1.0]
    assert turned.difference_low is not None
    assert turned.difference_low.tolist() == [-4.0, -2.5]
    assert turned.flag is flag and turned.rank is two


def test_no_measure_is_told_apart_by_its_id() -> None:
    """What a measure is like is declared by it: nothing outside compares ids with words."""
    import re
    from pathlib import Path

    import riskcli

    ids = "|".join(measure.id for measure in measures())
    wrong = re.compile(rf"[=!]=\s*\"({ids})\"")
    folder = Path(riskcli.__file__).parent
    found = [
        f"{path.relative_to(folder)}: {line.strip()}"
        for path in sorted(folder.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if wrong.search(line)
    ]
    assert not found


def test_the_population_is_the_object() -> None:
    comparison = Comparison(
        golden_matrix(), comparisons(named(golden_matrix()), Options())[0].baseline
    )
    assert isinstance(comparison.population, Population) and comparison.rule == "all"
