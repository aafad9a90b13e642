"""One set of statements a column: marks, ranks, letters and who may be best never contradict."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from riskcli import Options, ScoreMatrix, Significance, evaluate, risk_table
from riskcli.analyses.blocks import Block
from riskcli.analyses.significance import compare_pairs
from riskcli.risk import ranks
from riskcli.risk.estimate import Estimate
from riskcli.risk.ranks import MarksAgainst, Stacked, rank_intervals, rank_intervals_of_parts
from riskcli.scores.reading import Rules
from tests.helpers import reference
from tests.helpers.examples import equal_runs
from tests.helpers.shared_data import shared as shared_file
from tests.helpers.strategies import Floats, named, score_values

MEASURES = ("mean", "zrisk", "georisk")
LEVELS = st.sampled_from([0.05, 0.3])


# ---------------------------------------------------------------- against literal loops


@settings(max_examples=60)
@given(score_values(min_runs=2, min_topics=3), LEVELS, st.booleans())
def test_ranks_equal_literal_ones(values: Floats, gamma: float, has_baseline: bool) -> None:
    means, runs = values.mean(axis=1), len(values)
    deviations = values - means[:, None]
    apart = values[:, None] - values[None]
    assume(not ((np.ptp(apart, axis=2) < 1e-9) & (np.abs(apart).max(axis=2) > 1e-12)).any())
    p = reference.p_of_contributions(means.tolist(), deviations.tolist())
    told = reference.told_apart(p, means.tolist(), gamma, 0 if has_baseline else None)
    against = None
    if has_baseline:
        tested = np.array([np.nan, *(cell for cell in p[0][1:])], dtype=float)
        against = MarksAgainst.of(Estimate(means, difference=means - means[0], p=tested), 0, gamma)
    low, high = rank_intervals(means, deviations, gamma, against)
    for run in range(runs):
        assert (low[run], high[run]) == reference.rank_interval(told, runs, run)


@settings(max_examples=40)
@given(score_values(min_runs=2, min_topics=3), LEVELS)
def test_ranks_of_weighted_parts_equal_those_of_their_sum(values: Floats, gamma: float) -> None:
    parts = [part - part.mean(axis=1, keepdims=True) for part in (values, values[:, ::-1] ** 2)]
    weights = np.array([(1.0, -1.0), (1.0, -2.5), (0.0, 1.0)])
    sums = [w * parts[0] + v * parts[1] for w, v in weights]
    apart = [each[:, None] - each[None] for each in sums]
    close = [(a.std(axis=2) < 1e-6) & (a.std(axis=2) > 0) for a in apart]
    assume(not np.any(close))
    means = values.mean(axis=1)
    stacked = Stacked(np.tile(means, (3, 1)), parts, weights)
    together = rank_intervals_of_parts(stacked, gamma, [None] * 3)
    for each, found in zip(sums, together, strict=True):
        assert np.array_equal(found, rank_intervals(means, each, gamma))


def spread_runs(seed: int, runs: int = 5, topics: int = 16) -> Floats:
    generator = np.random.default_rng(seed)
    spread = np.linspace(0.05, 0.9, runs)[:, None]
    noise = spread * generator.standard_normal((runs, topics))
    return np.asarray(generator.beta(2, 2, topics) * np.exp(noise - spread - 1) / 3)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("baseline", ["r0", None])
def test_ranks_of_the_table_equal_literal_jackknives(seed: int, baseline: str | None) -> None:
    values, gamma, narrow = spread_runs(seed), 0.3, 0
    options = Options(alphas=(0.0, 1.0, 5.0), significance=Significance(gamma=gamma))
    table, matrix = risk_table(named(values), baseline, options=options), values.tolist()
    for block in table.blocks:
        for name, kind in (("zrisk", "zeta"), ("georisk", "georisk")):
            p: list[list[float | None]] = [[None] * 5 for _ in range(5)]
            for i, j in combinations(range(5), 2):
                test = reference.difference_jackknife(matrix, i, j, kind, block.alpha)  # type: ignore[arg-type]
                p[i][j] = p[j][i] = test["p"]
            shown = block.estimates[name]
            row = None if baseline is None else 0
            told = reference.told_apart(p, shown.value.tolist(), gamma, row)
            for run in range(5):
                low, high = reference.rank_interval(told, 5, run)
                assert (shown.rank_low[run], shown.rank_high[run]) == (low, high)  # type: ignore[index]
            narrow += len(told)
    assert narrow > 4


def test_ranks_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).random((7, 30)) + np.linspace(0, 0.4, 7)[:, None]
    arguments = values.mean(axis=1), values - values.mean(axis=1, keepdims=True), 0.05
    at_once = rank_intervals(*arguments)
    monkeypatch.setattr(ranks, "_CELLS_AT_ONCE", 14)
    assert np.array_equal(at_once, rank_intervals(*arguments))


def test_of_many_runs_two_steps_of_holms_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more is said than by all steps, and nearly as much."""
    values = np.random.default_rng(5).random((30, 30)) + np.linspace(0, 0.9, 30)[:, None]
    arguments = values.mean(axis=1), values - values.mean(axis=1, keepdims=True), 0.05
    low, high = rank_intervals(*arguments)
    monkeypatch.setattr(ranks, "_MOST_IN_ALL_STEPS", 2)
    wider_low, wider_high = rank_intervals(*arguments)
    assert (wider_low <= low).all() and (wider_high >= high).all()
    assert (wider_high - wider_low).sum() < 1.1 * (high - low).sum()


def test_ranks_and_their_intervals_in_the_table() -> None:
    """A run far above the others is the first for certain; the two below may change places."""
    generator = np.random.default_rng(1)
    values = generator.random((3, 40)) * 0.2
    values[2] += 0.5
    frame = risk_table(named(values), "r0").to_frame()
    assert frame[["rank_mean_lo", "rank_mean_hi"]].to_numpy().tolist() == [[2, 3], [2, 3], [1, 1]]
    georisk = frame[["rank_georisk_lo", "rank_georisk", "rank_georisk_hi"]].to_numpy(dtype=float)
    assert (np.diff(georisk, axis=1) >= 0).all()


# ---------------------------------------------------------------- laws of what is said


def check_laws(matrix: ScoreMatrix, options: Options) -> int:
    """No two statements of a table contradict; the number of marks that were looked at."""
    seen = 0
    table = risk_table(matrix, options=options)
    for block in table.blocks:
        for name in MEASURES:
            if name not in block.estimates or block.estimates[name].rank_low is None:
                continue
            plan = Options(
                baselines=options.baselines, alphas=(block.alpha or 0.0,),
                significance=options.significance,
            )  # fmt: skip
            (pairs,) = compare_pairs(matrix, of=name, between="all", options=plan).tables
            if block.population == "all":
                for end in ("rank_low", "rank_high"):
                    ends = getattr(pairs, end), getattr(block.estimates[name], end)
                    assert np.array_equal(*ends, equal_nan=True)
                seen += check_letters(pairs.groups, pairs.pairs)
            seen += check_marks(block, name)
    return seen


def check_letters(groups: tuple[str, ...], pairs: object) -> int:
    """Two runs share a letter exactly if their difference is not significant."""
    columns = (pairs.first, pairs.second, pairs.p, pairs.flag)  # type: ignore[attr-defined]
    for first, second, p, flag in zip(*(c.tolist() for c in columns), strict=True):
        if p == p:
            shared = set(groups[first].split(",")) & set(groups[second].split(","))
            shared |= set(groups[first]) & set(groups[second])
            assert bool(shared) == (flag == "")
    return len(groups)


def check_marks(block: Block, name: str) -> int:
    estimate, row = block.estimates[name], block.baseline_row
    low, high = estimate.rank_low, estimate.rank_high
    assert low is not None and high is not None and estimate.flag is not None
    known = ~np.isnan(low)
    assert (low[known] <= high[known]).all()
    assert not known.any() or (low[known] == 1).any()  # somebody may be best
    if row is None:
        return 0
    worse, better = estimate.flag == "worse", estimate.flag == "better"
    if known[row]:
        assert (low[worse & known] >= low[row] + 1).all()
        assert (high[better & known] <= high[row] - 1).all()
        if better.any():
            assert low[row] > 1
    if low[row] == 1:
        may_be_best = low == 1
        assert not (may_be_best & (worse | better)).any()
    return int(np.count_nonzero(worse | better))


@settings(max_examples=60, deadline=None)
@given(score_values(min_runs=1, min_topics=3), LEVELS, st.integers(0, 6), st.booleans())
def test_no_two_statements_contradict(
    values: Floats, gamma: float, row: int, virtual: bool
) -> None:
    name = () if virtual else (f"r{row % len(values)}",)
    plan = Significance(gamma=gamma)
    check_laws(named(values), Options(baselines=name, alphas=(1.0,), significance=plan))


def test_no_two_statements_contradict_where_runs_differ() -> None:
    """As above, on runs of which many differ; the leader and a run in the middle as baselines."""
    seen = 0
    for seed in range(6):
        values = spread_runs(seed, runs=9, topics=40) * np.linspace(1, 0.4, 9)[:, None]
        for row in (0, 4):
            options = Options(baselines=(f"r{row}",), alphas=(0.0, 5.0))
            seen += check_laws(named(values), options)
    assert seen > 100


@pytest.mark.parametrize("measure", ["ERR@20", "nDCG@20"])
def test_no_two_statements_contradict_on_real_runs(measure: str) -> None:
    runs, qrels = (shared_file("trec-web-2012", name) for name in ("runs", "qrels.txt.gz"))
    matrix = evaluate([runs], qrels=qrels, rules=Rules(measures=(measure,)))[measure]
    for name in [(), *((run,) for run in matrix.runs)]:
        check_laws(matrix, Options(baselines=name, alphas=(1.0, 5.0)))


def test_above_the_baseline_is_above_what_lies_below_it() -> None:
    """Noise that turns both ways hides the largest difference from the tests of pairs."""
    generator = np.random.default_rng(4)
    easy, noise = generator.uniform(0.3, 0.5, 50), generator.normal(0, 1, 50)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    values = np.array([easy + 0.02 + 0.05 * noise, easy, easy - 0.02 - 0.05 * noise])
    options = Options(baselines=("r1",))
    mean = risk_table(named(values), options=options).blocks[0].estimates["mean"]
    assert mean.flag is not None and mean.flag.tolist() == ["better", "", "worse"]
    assert mean.rank_low is not None and mean.rank_low.tolist() == [1, 2, 3]
    assert mean.rank_high is not None and mean.rank_high.tolist() == [1, 2, 3]
    (pairs,) = compare_pairs(named(values), of="mean", between="all", options=options).tables
    assert pairs.pairs.flag.tolist() == ["better", "better", "better"]
    assert len(set(pairs.groups)) == 3
    assert pairs.pairs.p[1] > 0.1 * 0.05 / 3  # that pair alone would not be told apart


def test_marks_of_other_populations_do_not_turn_ranks_round() -> None:
    """Where the difference tested has another sign than that of the values, ranks are open."""
    values = np.array([0.5, 0.4, 0.6])
    estimate = Estimate(
        values, difference=np.array([np.nan, 0.1, 0.2]), p=np.array([np.nan, 1e-9, 1e-9])
    )
    marks = MarksAgainst.of(estimate, 0, 0.05)
    assert marks is not None and marks.sides.tolist() == [0, 0, 1]
    assert MarksAgainst.of(estimate, None, 0.05) is None


def test_a_constant_difference_is_no_test_of_the_family() -> None:
    generator = np.random.default_rng(6)
    first = generator.uniform(0.3, 0.5, 20)
    values = np.array([first, first + 0.01, first + 0.02 + generator.normal(0, 0.03, 20)])
    means = values.mean(axis=1)
    deviations = values - means[:, None]
    p = reference.p_of_contributions(means.tolist(), deviations.tolist())
    known = sorted(p[i][j] or 1.0 for i, j in ((0, 2), (1, 2)))
    for gamma, told in ((2.5 * known[0], 1), (1.9 * known[0], 0)):
        low, _ = rank_intervals(means, deviations, min(gamma, 0.99))
        assert (low > 1).sum() >= told and ((low > 1).any() == bool(told))


def test_with_one_run_nothing_is_claimed() -> None:
    table = risk_table(named(np.random.default_rng(1).random((1, 30))))
    for name in MEASURES:
        estimate = table.blocks[0].estimates[name]
        assert np.isnan(estimate.rank_low).all()  # type: ignore[arg-type]


def test_a_run_without_scores_is_neither_best_nor_ranked() -> None:
    """Its mean is tested; ZRisk and GeoRisk are not, and say nothing of its rank."""
    values = np.random.default_rng(2).random((4, 30))
    values[1] = 0.0
    estimates = risk_table(named(values), "r0").blocks[0].estimates
    assert estimates["mean"].rank_low is not None and estimates["mean"].rank_low[1] == 4
    for name in ("zrisk", "georisk"):
        low = estimates[name].rank_low
        assert low is not None and np.isnan(low).tolist() == [False, True, False, False]
    (pairs,) = compare_pairs(named(values), of="georisk").tables
    assert pairs.groups[1] == "" and all(pairs.groups[run] for run in (0, 2, 3))


# ---------------------------------------------------------------- how often a column errs


def rates(runs: Floats, groups: list[list[int]], topics: int, samples: int) -> dict[str, float]:
    """How often a column says anything false of runs that are alike within groups, by measure.

    A mark, or a bracket that leaves out one of the ranks that a run and its equals share.
    """
    generator, baselines = np.random.default_rng(20), np.random.default_rng(21)
    wrong = dict.fromkeys((f"{name} {what}" for name in MEASURES for what in ("any", "mark")), 0)
    group = np.empty(len(runs), dtype=int)
    for number, members in enumerate(groups):
        group[members] = number
    order = _true_order(runs, groups, generator)
    for _ in range(samples):
        matrix = _drawn(runs, groups, topics, generator)
        row = int(baselines.integers(len(runs)))
        options = Options(baselines=(f"r{row}",), alphas=(5.0,))
        estimates = risk_table(named(matrix), options=options).blocks[0].estimates
        for name in MEASURES:
            estimate, true = estimates[name], order[name][group]
            assert estimate.rank_low is not None and estimate.rank_high is not None
            above = (true[None] > true[:, None]).sum(axis=1)
            below = (true[None] < true[:, None]).sum(axis=1)
            outside = (estimate.rank_low > above + 1) | (estimate.rank_high < len(runs) - below)
            side = np.sign(true - true[row])
            flag = np.select([estimate.flag == "better", estimate.flag == "worse"], [1, -1], 0)
            marked = bool(((flag != 0) & (flag != side)).any())
            wrong[f"{name} any"] += marked or bool(outside.any())
            wrong[f"{name} mark"] += marked
    return {name: count / samples for name, count in wrong.items()}


def _drawn(
    runs: Floats, groups: list[list[int]], topics: int, generator: np.random.Generator
) -> Floats:
    drawn = runs[:, generator.integers(0, runs.shape[1], topics)].copy()
    for members in groups:
        drawn[members] = generator.permuted(drawn[members], axis=0)
    return drawn


def _true_order(
    runs: Floats, groups: list[list[int]], generator: np.random.Generator
) -> dict[str, Floats]:
    """What each group is worth by each measure, from very many topics."""
    block = risk_table(
        named(_drawn(runs, groups, 4000, generator)), options=Options(alphas=(5.0,))
    ).blocks[0]
    return {
        name: np.array([block.estimates[name].value[members].mean() for members in groups])
        for name in MEASURES
    }


@pytest.mark.slow
@pytest.mark.parametrize("groups", [[[*range(8)]], [[*range(4)], [*range(4, 8)]]])
def test_a_column_seldom_says_anything_false(groups: list[list[int]]) -> None:
    runs = equal_runs(np.random.default_rng(7), 60) * np.linspace(1, 0.9, 8)[:, None]
    for name, rate in rates(runs, groups, topics=50, samples=250).items():
        assert rate <= 0.085, name  # .06, and two standard errors


def test_ranks_hold_equal_runs_together() -> None:
    """Coverage of all ranks at once: all runs are equal, so each interval should hold each rank."""
    generator = np.random.default_rng(7)
    held = 0
    for _ in range(300):
        values = equal_runs(generator, 50)
        means = values.mean(axis=1)
        low, high = rank_intervals(means, values - means[:, None], 0.05)
        held += bool(((low == 1) & (high == 8)).all())
    assert 0.94 <= held / 300 <= 1.0
