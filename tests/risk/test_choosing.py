"""P(best) and the expected loss of choosing: against integrals, and against the truth."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from scipy import stats

from riskcli import Options, ScoreMatrix, UsageError, compare_pairs, freeze
from riskcli.risk import choosing
from riskcli.risk.choosing import choices
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES
from tests.helpers.strategies import Floats, named


def of_means(scores: Floats) -> choosing.Choice:
    means = scores.mean(axis=1)
    return choices(means, scores - means[:, None])


@pytest.mark.parametrize("seed", range(3))
def test_of_two_runs_it_is_an_integral_over_how_far_true_values_lie_apart(seed: int) -> None:
    """Their difference d has the sampling variance v; the true one is normal with variance u."""
    scores = np.random.default_rng(seed).beta(2, 3, (2, 30))
    d, v = float(np.diff(scores.mean(axis=1))[0]), float(np.diff(scores, axis=0).var(ddof=1) / 30)
    # one contrast, (x - y) / sqrt 2, whose deviation goes evenly up to three times its size + error
    most = (3 * abs(d) + np.sqrt(v)) / np.sqrt(2)
    u = 2 * np.linspace(0, most, 4001)[1:] ** 2
    weight = stats.norm.pdf(d, scale=np.sqrt(u + v))
    mean, deviation = d * u / (u + v), np.sqrt(u * v / (u + v))
    above = np.average(stats.norm.cdf(mean / deviation), weights=weight)
    z = mean / deviation
    gains = np.average(mean * stats.norm.cdf(z) + deviation * stats.norm.pdf(z), weights=weight)
    found = of_means(scores)
    assert found.p_best == pytest.approx([1 - above, above], abs=0.015)
    assert found.expected_loss[0] == pytest.approx(gains, rel=0.05, abs=2e-5)


def test_the_covariance_is_shrunk_as_ledoit_and_wolf_have_it() -> None:
    """Literally, topic by topic, in the space of differences between four runs."""
    scores = np.random.default_rng(3).beta(2, 3, (4, 12))
    centred = scores - scores.mean(axis=1, keepdims=True)
    apart = np.linalg.svd(np.eye(4) - 0.25)[0][:, :3].T @ centred
    covariance, level = apart @ apart.T / 11, float(np.trace(apart @ apart.T / 11)) / 3
    distance = ((covariance - level * np.eye(3)) ** 2).sum()
    error = sum(((np.outer(x, x) - apart @ apart.T / 12) ** 2).sum() for x in apart.T) / 12**2
    share = min(error / distance, 1.0)
    expected = (1 - share) * np.linalg.eigvalsh(covariance) + share * level
    found = choosing._Errors.of(centred - centred.mean(axis=0))
    assert 12 * np.sort(found.sizes) == pytest.approx(expected, rel=0.05)
    more = choosing._Errors.of((centred - centred.mean(axis=0))[:, :3])
    trace = more.sizes.sum() + (3 - len(more.sizes)) * more.rest
    assert 3 * trace == pytest.approx(((centred - centred.mean(axis=0))[:, :3] ** 2).sum() / 2)


@pytest.mark.parametrize("topics", [25, 50])
def test_what_is_said_of_the_first_run_is_true_as_often(
    topics: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of ten runs whose true means are drawn anew; by its own interval it would be too sure."""
    monkeypatch.setattr(choosing, "_DRAWS", 1000)
    said, true, naive = [], [], []
    for seed in range(300):
        generator = np.random.default_rng(seed)
        means = 0.3 + 0.02 * generator.standard_normal(10)
        noise = 0.15 * generator.standard_normal((10, topics))
        scores = means[:, None] + 0.2 * generator.standard_normal(topics) + noise
        found, first = of_means(scores), int(scores.mean(axis=1).argmax())
        said.append((found.p_best[first], found.expected_loss[first]))
        true.append((means[first] == means.max(), means.max() - means[first]))
        drawn = scores.mean(axis=1) + 0.15 / np.sqrt(topics) * generator.standard_normal((1000, 10))
        naive.append((drawn.argmax(axis=1) == first).mean())
    (p, loss), (hits, lost) = np.mean(said, axis=0), np.mean(true, axis=0)
    assert abs(p - hits) < 0.05 and abs(loss - lost) < 0.003
    assert np.mean(naive) - hits > p - hits


def test_copies_share_and_runs_without_a_value_have_none() -> None:
    scores = np.random.default_rng(1).beta(2, 3, (5, 20))
    scores[1] = scores[0]
    found = of_means(scores)
    assert found.p_best.sum() == pytest.approx(1.0) and (found.expected_loss >= 0).all()
    assert found.p_best[0] == pytest.approx(found.p_best[1], abs=0.02)
    assert of_means(np.repeat(scores[:1], 3, axis=0)).p_best == pytest.approx([1 / 3] * 3, abs=0.01)
    values = scores.mean(axis=1)
    values[2] = np.nan
    found = choices(values, scores - scores.mean(axis=1, keepdims=True))
    assert np.isnan(found.p_best[2]) and np.nansum(found.p_best) == pytest.approx(1.0)
    assert np.isnan(of_means(scores[:, :2]).p_best).all()
    assert of_means(scores[:1]).p_best.tolist() == [1.0]


def test_more_runs_than_topics_and_tiny_scores() -> None:
    scores = np.random.default_rng(2).beta(2, 3, (12, 8))
    scores[7] += 0.6
    found, tiny = of_means(scores), of_means(scores * 2.0**-600)
    assert found.p_best.argmax() == 7 and found.p_best[7] > 0.8
    assert tiny.p_best == pytest.approx(found.p_best)
    assert tiny.expected_loss * 2.0**600 == pytest.approx(found.expected_loss)


def test_a_constant_lead_is_certain() -> None:
    scores = np.random.default_rng(2).beta(2, 3, 20)
    found = of_means(np.array([scores, scores + 0.1, scores - 0.1]))
    assert found.p_best == pytest.approx([0, 1, 0])
    assert found.expected_loss == pytest.approx([0.1, 0, 0.2])


def test_the_command_says_it_before_all_else() -> None:
    asked = ("significance", SAMPLES, "-q", QRELS, "-m", "ERR@20", "--of", "georisk", "--best")
    lines = riskeval(*asked, "-f", "table").out.splitlines()
    assert lines[0].startswith("boldRerank: P(best) 0.5")
    assert "; expected loss by choosing it 0.0" in lines[0]
    assert lines[1] == "GeoRisk of ERR@20, α = 1: which run is the best"
    rows = list(csv.DictReader(io.StringIO(riskeval(*asked, "-f", "csv").out)))
    assert len(rows) == 9 and sum(float(row["p_best"]) for row in rows) == pytest.approx(1)
    whole = json.loads(riskeval(*asked, "-f", "json").out)
    assert [row["p_best"] for row in whole["rows"]] == [float(row["p_best"]) for row in rows]
    assert len(whole["pairs"]) == 36 and whole["settings"]["best"] is True
    without = json.loads(riskeval(*asked[:-1], "-f", "json").out)
    assert without["rows"] == whole["pairs"] and "best" not in without["settings"]
    assert riskeval(*asked, "-b", "indriCASP").code == 2


def test_the_library_has_a_table_for_each_measure_and_alpha() -> None:
    matrix = named(np.random.default_rng(4).beta(2, 3, (4, 15)))
    options = Options(alphas=(0.0, 5.0))
    tables = compare_pairs(matrix, of=["mean", "georisk"], best=True, options=options).best
    assert [(table.of.id, table.alpha) for table in tables] == [
        ("mean", 0.0), ("georisk", 0.0), ("georisk", 5.0),
    ]  # fmt: skip
    with pytest.raises(UsageError, match="does not go with one baseline"):
        compare_pairs(matrix, "r0", best=True)
    few = ScoreMatrix("score", matrix.runs, matrix.topics[:2], matrix.values[:, :2])
    (display, *_) = compare_pairs(few, of="mean", best=True).displays(80)
    assert not display.verdict and "nothing can be said" in display.caption[0]
    frozen = Options(population=freeze(matrix))
    assert (
        compare_pairs(matrix, of="georisk", best=True, options=frozen)
        .best[0]
        .population.startswith("frozen")
    )


def test_the_best_run_stands_on_the_screen_of_the_two_default_measures_too() -> None:
    asked = ("significance", SAMPLES, "-q", QRELS, "--best", "-f", "table")
    screen = riskeval(*asked).out
    assert screen.count("which run is the best") == 4 and "every pair" not in screen
    whole = json.loads(riskeval(*asked[:-1], "json").out)
    said = [each["text"] for each in whole["verdicts"] if each["rule"] == "best"]
    assert len(said) == 4 and all(text in screen for text in said)
    assert "which run is the best" in riskeval(*asked, "--full").out
