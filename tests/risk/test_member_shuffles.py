"""The test against virtual baselines of teams and frozen runs: enumerations, laws, error rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from riskcli import Options, ScoreMatrix, Significance, freeze, risk_table
from riskcli.risk.inference import Inference
from riskcli.risk.measures import statistics
from riskcli.risk.member_shuffles import cohorts, member_tests
from riskcli.risk.shuffles import Key, ShuffleTest
from riskcli.scores.comparisons import comparisons
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.teams import Teams
from tests.helpers.examples import equal_runs
from tests.helpers.strategies import Floats, named, score_values

ZRISK, GEORISK = statistics()
SMALL = np.array([[0.9, 0.1, 0.6, 0.35], [0.4, 0.15, 0.2, 0.5], [0.55, 0.02, 0.1, 0.3]])
POOLS: dict[str, Callable[..., Floats]] = {"@mean": np.mean, "@max": np.max}


class Few(Significance):
    """Fewer shuffles than the program has, for speed."""

    @property
    def number_of_shuffles(self) -> int:
        return 199


def shuffle_test(
    matrix: ScoreMatrix, options: Options, plan: Significance, baseline: str, key: Key
) -> ShuffleTest:
    (comparison,) = comparisons(matrix, replace(options, baselines=(baseline,)))
    keys = [(ZRISK, 5.0), (GEORISK, 1.0)]
    together = cohorts(comparison)
    return member_tests(comparison, together, keys, plan.number_of_shuffles, plan.seed)[key]


# ---------------------------------------------------------------- literally


def value(x: Floats, totals: Floats, key: Key, weights: Floats) -> float:
    """A statistic of a run, its topics weighted."""
    mean = float(weights @ x)
    if key is None:
        return mean
    statistic, alpha = key
    expected = mean * totals / (weights @ totals)
    z = (x - expected) / np.sqrt(expected)
    zeta = float(weights @ np.where(z < 0, (1 + alpha) * z, z))
    return zeta if statistic is ZRISK else float(np.sqrt(mean * ndtr(zeta)))


def excess(
    cells: Floats, key: Key, pool: str, sizes: list[int], row: int, weights: Floats
) -> float:
    """Of a run over what it is compared with: the members, of so many runs each, come first."""
    ends = np.cumsum(sizes)
    members = [cells[end - size : end] for end, size in zip(ends, sizes, strict=True)]
    of_members = np.array([runs.mean(axis=0) for runs in members])
    if key is None:
        return float(weights @ (cells[row] - POOLS[pool](of_members, axis=0)))
    totals = of_members.sum(axis=0)
    theirs = [np.mean([value(x, totals, key, weights) for x in runs]) for runs in members]
    own = totals if row < ends[-1] else totals + cells[row]
    return value(cells[row], own, key, weights) - float(np.mean(theirs))


def literal_t(cells: Floats, key: Key, pool: str, sizes: list[int], row: int) -> float:
    """Difference over error, the influence of each topic by numeric differentiation."""
    topics, step = cells.shape[1], 1e-5
    even = np.full(topics, 1 / topics)
    psi = []
    for q in range(topics):
        towards = (np.arange(topics) == q) - even
        ends = [excess(cells, key, pool, sizes, row, even + s * towards) for s in (step, -step)]
        psi.append((ends[0] - ends[1]) / (2 * step))
    error = np.sqrt(np.sum(np.square(psi)) / (topics * (topics - 1)))
    difference = abs(excess(cells, key, pool, sizes, row, even))
    return 0.0 if difference < 1e-12 else difference / float(error)


@pytest.mark.parametrize("sizes", [[2, 1], [1, 1]], ids=["teams of 2 and 1", "beside 2 frozen"])
@pytest.mark.parametrize(
    ("key", "pool"),
    [(None, "@mean"), (None, "@max"), ((ZRISK, 5.0), "@mean"), ((GEORISK, 1.0), "@mean")],
    ids=["mean", "mean, @max", "zrisk", "georisk"],
)
def test_p_values_equal_those_of_all_shuffles(key: Key, sizes: list[int], pool: str) -> None:
    """Three runs on three topics can be shuffled in 216 ways."""
    cells = SMALL[:, [0, 2, 3]]
    if sizes == [2, 1]:
        # Distinct runs of a team are sorted; the smaller team comes last.
        cells = cells[[1, 2, 0]]
        options, rows = Options(teams=Teams({"r0": "a", "r1": "a", "r2": "b"})), [0, 1, 2]
        kinds, matrix = [0, 0, 1], named(cells)
    else:
        options, rows, kinds = Options(population=freeze(named(cells[:2]))), [2], [0]
        matrix = ScoreMatrix("score", ("new",), named(cells).topics, cells[2:])
    every = []
    for orders in product(permutations(range(3)), repeat=3):
        shuffled = np.array([cells[order, q] for q, order in enumerate(map(list, orders))]).T
        every.append([literal_t(shuffled, key, pool, sizes, row) for row in rows])
    observed = np.array([literal_t(cells, key, pool, sizes, row) for row in rows])
    by_run, shuffles = np.array(every), 20_000
    plan = Significance(shuffles=shuffles, seed=3)
    test = shuffle_test(matrix, options, plan, pool, key)
    assert test.t == pytest.approx(observed, rel=1e-5)
    alone, corrected, so_far = np.empty(len(rows)), np.empty(len(rows)), 0.0
    order = np.argsort(-observed)
    for step, run in enumerate(order):
        bound = observed[run] * (1 - 1e-7)
        alike = [k for k, kind in enumerate(kinds) if kind == kinds[run]]
        alone[run] = (by_run[:, alike] >= bound).mean()
        largest = by_run[:, order[step:]].max(axis=1)
        so_far = corrected[run] = max(so_far, float((largest >= bound).mean()), alone[run])
    stepped = test.step_down(np.ones(len(rows), dtype=bool))
    for mine, exact in ((test.p, alone), (stepped, corrected)):
        noise = 4 * np.sqrt(exact * (1 - exact) / shuffles) + 1 / shuffles
        assert (np.abs(mine - exact) <= noise).all(), (mine, exact)


# ---------------------------------------------------------------- laws


def p_values(matrix: ScoreMatrix, options: Options, baseline: str = "@mean") -> Floats:
    frame = risk_table(matrix, baseline, options=options).to_frame()
    names = [f"{m}_{part}" for m in ("mean", "zrisk", "georisk") for part in ("p", "p_adj")]
    return np.asarray(frame.set_index("run").loc[list(matrix.runs), names], dtype=float)


def beside(values: Floats) -> FrozenPopulation:
    return freeze(named(values))


@settings(max_examples=6, deadline=None)
@given(
    score_values(min_runs=4, max_runs=5, min_topics=3, max_topics=6),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_the_order_of_runs_and_topics_changes_nothing(
    values: Floats, in_teams: bool, random: object
) -> None:
    generator = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    rows, columns = (generator.permutation(size) for size in values.shape)
    matrix = named(values)
    mixed = ScoreMatrix(
        "score", tuple(matrix.runs[row] for row in rows), matrix.topics, values[rows][:, columns]
    )
    if in_teams:
        one = other = Options(teams=Teams({"r0": "a", "r1": "a", "r2": "b"}))
    else:
        kept = sorted(rows[rows < 2], key=rows.tolist().index)
        one = Options(population=beside(values[:2]))
        other = Options(population=beside(values[kept][:, columns]))
    assert p_values(mixed, other, "@median") == pytest.approx(
        p_values(matrix, one, "@median")[rows], nan_ok=True
    )


@pytest.mark.parametrize("baseline", ["@mean", "@median", "@max", "@min"])
def test_runs_that_are_all_frozen_are_tested_like_runs_that_are_not(baseline: str) -> None:
    """The same shuffles; but the topics' order is that of scores less those of a baseline that
    no shuffle changes, where there is one.
    """
    values = np.random.default_rng(2).beta(1, 3, (5, 20))
    filed = p_values(named(values), Options(population=beside(values)), baseline)
    plain = p_values(named(values), Options(), baseline)
    assert np.array_equal(filed[:, 2:], plain[:, 2:])
    assert filed[:, :2] == pytest.approx(plain[:, :2], abs=0 if baseline == "@mean" else 0.06)


@pytest.mark.parametrize("options", [
    Options(teams=Teams({"r0": "a", "r1": "a", "r2": "b"})),
    Options(population=beside(equal_runs(np.random.default_rng(5), 20)[:3])),
], ids=["teams", "frozen"])  # fmt: skip
def test_only_the_tests_differ_from_those_without_shuffles(
    monkeypatch: pytest.MonkeyPatch, options: Options
) -> None:
    matrix = named(equal_runs(np.random.default_rng(5), 20))
    shuffled = risk_table(matrix, "@mean", alpha=5.0, options=options)
    assert shuffled.settings["shuffles"] == 999 and shuffled.settings["seed"] == 20161
    assert "999 shuffles, max-t over" in " ".join(str(shuffled).split())
    monkeypatch.setattr("riskcli.risk.inference.MOST_SHUFFLED_CELLS", 0)
    by_t = risk_table(matrix, "@mean", alpha=5.0, options=options).to_frame()
    frame = shuffled.to_frame()
    tested = [f"{m}_{part}" for m in ("mean", "zrisk", "georisk")
              for part in ("p", "p_adj", "flag", "diff_lo", "diff_hi")]  # fmt: skip
    assert frame.drop(columns=tested).equals(by_t.drop(columns=tested))
    assert not frame[["zrisk_p", "georisk_p"]].equals(by_t[["zrisk_p", "georisk_p"]])
    left_out = (frame["georisk_diff_lo"] > 0) | (frame["georisk_diff_hi"] < 0)
    assert ((frame["georisk_p"] < 0.05) == left_out).all()


def test_the_members_of_the_file_count_among_what_is_too_large_to_shuffle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.random.default_rng(2).random((5, 30))
    options, matrix = Options(population=beside(values[:3])), named(values[2:])
    monkeypatch.setattr("riskcli.risk.inference.MOST_SHUFFLED_CELLS", 90 + 2 * 120)
    assert "not-shuffled" not in [note.code for note in risk_table(matrix, options=options).notes]
    monkeypatch.setattr("riskcli.risk.inference.MOST_SHUFFLED_CELLS", 90 + 2 * 120 - 1)
    (note,) = (n for n in risk_table(matrix, options=options).notes if n.code == "not-shuffled")
    assert "330 scores are too many to shuffle" in note.message


# ---------------------------------------------------------------- error rate


@pytest.mark.slow
@pytest.mark.parametrize(("frozen", "topics"), [(0, 40), (7, 25)], ids=["teams", "frozen"])
def test_family_error_where_all_runs_are_equal(frozen: int, topics: int) -> None:
    """Within three Monte Carlo standard errors of .05 in each column; t and Holm reach .15."""
    simulations, flagged = 200, []
    generator = np.random.default_rng(20161)
    teams = Teams({f"r{row}": team for row, team in enumerate("aaaaabbc")})
    for number in range(simulations):
        matrix = named(equal_runs(generator, topics))
        options = Options(teams=teams)
        if frozen:
            options = Options(population=beside(matrix.values[:frozen]))
        (comparison,) = comparisons(matrix, options)
        found = Inference(comparison, Few(seed=number), statistics(), (0.0, 5.0), ranked=False)
        known = [found.of_statistic(s, a) for s in statistics() for a in (0.0, 5.0)]
        flags = [each.corrected("holm", 0.05).flag for each in (found.of_means, *known)]
        flagged.append([flag is not None and bool((flag != "").any()) for flag in flags])
    shares = np.mean(flagged, axis=0)
    assert (shares <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / simulations)).all(), shares
    assert shares.mean() >= 0.03, shares
