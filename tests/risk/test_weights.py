"""Topics that count differently: a topic of weight 3 is that topic three times."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import t as student

from riskcli.core.arrays import Floats
from riskcli.risk.comparison import VIRTUAL, Baseline, Comparison
from riskcli.risk.estimate import Estimate, Significance
from riskcli.risk.inference import Inference
from riskcli.risk.jackknife import Jackknife
from riskcli.risk.losses import PUBLISHED, Cubic
from riskcli.risk.measure import estimates_of
from riskcli.risk.measures import measures, statistics
from riskcli.risk.population import Members
from riskcli.risk.weights import degrees, effective_topics, leveraged

RUNS, TOPICS = 5, 16
ALPHAS = (0.0, 1.0, 5.0)
COUNTS = np.array([1, 3, 2, 1, 1, 4, 2, 1, 1, 1, 3, 1, 2, 1, 1, 5])


def scores() -> Floats:
    generator = np.random.default_rng(30)
    values = generator.beta(0.8, 1.6, (RUNS, TOPICS))
    values[generator.random((RUNS, TOPICS)) < 0.15] = 0.0
    return values


def against_first(values: Floats, **kept: object) -> Comparison:
    return Comparison(values, Baseline("r0", (0,), values[0]), **kept)  # type: ignore[arg-type]


def against_mean(values: Floats, **kept: object) -> Comparison:
    return Comparison(values, Baseline("@mean", (), VIRTUAL["@mean"](values)), **kept)  # type: ignore[arg-type]


def within_set(values: Floats, **kept: object) -> Comparison:
    pooled = Baseline("mean(r0,r1)", (0, 1), VIRTUAL["@mean"](values[:2]))
    return Comparison(values, pooled, "baselines", (0, 1), **kept)  # type: ignore[arg-type]


def within_teams(values: Floats, **kept: object) -> Comparison:
    teams = ["a", "a", "b", None, None]
    members = Members.of_teams(values, [f"r{row}" for row in range(len(values))], teams, "teams")
    baseline = Baseline("@mean", (), VIRTUAL["@mean"](members.rows))
    return Comparison(values, baseline, members=members, **kept)  # type: ignore[arg-type]


def within_frozen(values: Floats, **kept: object) -> Comparison:
    """Two of the runs are no members."""
    members = Members.of_runs(values[:3], "frozen")
    baseline = Baseline("@mean", (), VIRTUAL["@mean"](members.rows))
    return Comparison(values, baseline, members=members, **kept)  # type: ignore[arg-type]


Compared = Callable[..., Comparison]
EVERY = (against_first, against_mean, within_set, within_teams, within_frozen)


def weights() -> Floats:
    return np.asarray(COUNTS / COUNTS.mean())


@pytest.mark.parametrize("smooth", [None, PUBLISHED])
@pytest.mark.parametrize("compared", EVERY)
def test_whole_weights_are_repeated_topics(compared: Compared, smooth: Cubic | None) -> None:
    values = scores()
    weighed = compared(values, weights=weights(), smooth=smooth)
    repeated = compared(np.repeat(values, COUNTS, axis=1), smooth=smooth)
    for alpha in ALPHAS:
        one, other = by_measure(weighed, alpha), by_measure(repeated, alpha)
        for name in ("mean", "reward", "risk", "urisk", "zrisk", "georisk", "shortfall"):
            assert one[name] == pytest.approx(other[name], rel=1e-12, abs=1e-14), name


def by_measure(comparison: Comparison, alpha: float) -> dict[str, Floats]:
    """Every value, ZRisk by topic; nothing of it where losses are smooth, which have no parts."""
    found = {m.id: m.values(comparison, alpha) for m in measures()}
    found["zrisk"] = found["zrisk"] / comparison.topics
    return {**found, "reward": comparison.paired.reward, "risk": comparison.paired.risk}


@pytest.mark.parametrize("compared", EVERY)
def test_what_topics_add_makes_the_value(compared: Compared) -> None:
    comparison = compared(scores(), weights=weights())
    for measure in measures():
        if measure.contributions is None or measure.id == "georisk":
            continue
        added = measure.contributions(comparison, 5.0).sum(axis=1)
        if measure.id in ("urisk", "trisk"):
            added, value = added / TOPICS, comparison.paired.urisk(5.0)
        elif measure.id == "mean":
            added, value = added / TOPICS, comparison.paired.gain
        else:
            value = measure.values(comparison, 5.0)
        assert added == pytest.approx(value, abs=1e-13), measure.id


@pytest.mark.parametrize("smooth", [None, PUBLISHED])
@pytest.mark.parametrize("compared", EVERY)
def test_without_each_topic_is_computed_again(compared: Compared, smooth: Cubic | None) -> None:
    """The prefix sums against everything computed anew from the other topics."""
    values = scores()
    comparison = compared(values, weights=weights(), smooth=smooth)
    for statistic in statistics():
        found = statistic.tested(Jackknife(comparison).without_each, 5.0)
        for topic in range(TOPICS):
            others = np.arange(TOPICS) != topic
            left = weights()[others]
            rest = compared(values[:, others], weights=left / left.mean(), smooth=smooth)
            anew = statistic.tested(rest.population.departures, 5.0)
            assert found[:, topic] == pytest.approx(anew, rel=1e-11, abs=1e-13)


def test_deviations_of_a_mean_are_those_of_the_jackknife() -> None:
    x, w = scores()[0], weights()
    mean = (w * x).mean()
    others = [np.arange(TOPICS) != topic for topic in range(TOPICS)]
    without = np.array([np.average(x[rest], weights=w[rest]) for rest in others])
    assert leveraged(x - mean, w) == pytest.approx((TOPICS - 1) * (mean - without), rel=1e-12)


@pytest.mark.parametrize("smooth", [None, PUBLISHED])
@pytest.mark.parametrize("compared", EVERY)
def test_weights_of_one_change_nothing(compared: Compared, smooth: Cubic | None) -> None:
    """Every value, interval, p and rank interval, to all digits but the last few."""
    plain = estimates(compared(scores(), smooth=smooth))
    ones = estimates(compared(scores(), weights=np.ones(TOPICS), smooth=smooth))
    for key, estimate in plain.items():
        for name, cells in vars(estimate).items():
            if isinstance(cells, np.ndarray) and cells.dtype == np.float64:
                other = getattr(ones[key], name)
                assert other == pytest.approx(cells, rel=1e-8, abs=1e-9, nan_ok=True), (key, name)


def estimates(comparison: Comparison) -> dict[tuple[str, float], Estimate]:
    inference = Inference(comparison, Significance(), statistics(), ALPHAS)
    return dict(estimates_of(inference, measures(), ALPHAS))


@pytest.mark.parametrize("compared", EVERY)
def test_order_of_topics_and_scale_of_weights_change_nothing(compared: Compared) -> None:
    order = np.random.default_rng(1).permutation(TOPICS)
    values = scores()
    one = estimates(compared(values, weights=weights()))
    other = estimates(compared(np.ascontiguousarray(values[:, order]), weights=weights()[order]))
    for key, estimate in one.items():
        if estimate.p is not None:
            assert other[key].p == pytest.approx(estimate.p, rel=1e-8, nan_ok=True), key


def test_effective_topics() -> None:
    assert effective_topics(4, None) == 4
    assert degrees(4, None) == 3
    assert effective_topics(4, np.ones(4)) == 4
    one_counts_all = np.array([4.0, 0.0, 0.0, 0.0])
    assert effective_topics(4, one_counts_all) == 1


def test_t_of_a_mean_has_as_many_degrees_as_effective_topics() -> None:
    values = scores()
    estimate = Inference(against_first(values, weights=weights()), Significance(), (), ()).of_means
    delta = values[1] - values[0]
    mean, freedom = np.average(delta, weights=COUNTS), COUNTS.sum() ** 2 / np.sum(COUNTS**2) - 1
    without = [np.average(np.delete(delta, q), weights=np.delete(COUNTS, q)) for q in range(TOPICS)]
    error = np.sqrt((TOPICS - 1) / TOPICS * np.sum((np.array(without) - mean) ** 2))
    assert estimate.p is not None
    assert estimate.p[1] == pytest.approx(2 * student.sf(abs(mean) / error, freedom), rel=1e-9)
    assert freedom < 11


def test_a_virtual_baseline_is_tested_on_the_weighted_statistic() -> None:
    """A run that is best where it counts is told from the mean; without weights it is not."""
    values = np.random.default_rng(3).beta(2, 4, (6, 40))
    values[0, :20] += 0.3
    values[0, 20:] -= 0.28
    heavy = np.where(np.arange(40) < 20, 1.9, 0.1)
    plain = estimates(against_mean(np.clip(values, 0, 1)))
    weighed = estimates(against_mean(np.clip(values, 0, 1), weights=heavy))
    for name, alpha in (("mean", 0.0), ("georisk", 0.0)):
        p, p_weighed = plain[name, alpha].p, weighed[name, alpha].p
        assert p is not None and p_weighed is not None
        assert p_weighed[0] < 0.01 < p[0]
