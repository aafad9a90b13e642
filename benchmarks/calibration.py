"""How often the tests err where nothing differs, and how often the intervals hold the truth.

    python benchmarks/calibration.py [--simulations N] [--runs FOLDER --qrels FILE] [--only WORD]

Prints the tables of docs/appendix-calibration.md as Markdown. Samples are topics drawn with
replacement from a matrix, which is the truth: real runs where a folder of them is given, and
matrices made here that resemble those of TREC's Robust tracks (average precision, and ERR with
exact zeros). Nulls: two runs swapped at random on every topic; all runs shuffled on every topic; or
one run mixed from two others until it equals the mean over runs, while the others differ. The seed
is fixed: the same call prints the same tables.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import beta

import riskcli
from riskcli.analyses.baseline_bias import each_as_baseline
from riskcli.analyses.pairwise import compare_all, randomised_tukey_hsd
from riskcli.analyses.power import Prospect
from riskcli.risk.choosing import choices
from riskcli.risk.comparison import POOLS, Baseline, Comparison
from riskcli.risk.estimate import Estimate, Significance, holm
from riskcli.risk.inference import Inference
from riskcli.risk.jackknife import Statistic
from riskcli.risk.losses import PUBLISHED
from riskcli.risk.measures import measures, statistics
from riskcli.risk.shuffles import of_means, of_statistics, shuffle_tests

Floats = NDArray[np.float64]
Matrices = dict[str, Floats]

TOPICS = (25, 50, 100)
ALPHAS = (0.0, 1.0, 5.0)
GAMMA = 0.05
SEED = 20161
SHUFFLES = 399
"""Fewer than the program's 999, for speed: they have the same chance of a false flag."""
PLAN = Significance(gamma=GAMMA)
ZRISK, GEORISK = statistics()


def robust_like(runs: int, topics: int, seed: int, zeros: float = 0.0) -> Floats:
    """Scores that share topic difficulty and, in part, four families of systems.

    Margins are beta with a mean near .27, as of average precision; with `zeros`, that share of the
    smallest is exactly 0, as of ERR.
    """
    generator = np.random.default_rng(seed)
    difficulty = generator.standard_normal(topics)
    families = generator.standard_normal((4, topics))
    belongs = 0.5 * generator.random((runs, 4))
    noise = generator.standard_normal((runs, topics))
    latent = 0.87 * difficulty + 0.5 * (belongs @ families) + 0.4 * noise
    latent = (latent - latent.mean()) / latent.std()
    latent += 0.25 * np.sort(generator.standard_normal(runs))[::-1][:, None]
    scores = np.asarray(beta.ppf(ndtr(latent), 0.8, 2.2))
    return np.where(scores < np.quantile(scores, zeros), 0.0, scores) if zeros else scores


def drawn(generator: np.random.Generator, scores: Floats, topics: int) -> Floats:
    """So many topics of a matrix, with replacement."""
    return scores[:, generator.integers(0, scores.shape[1], topics)]


def share(counts: Sequence[bool] | NDArray[np.bool_]) -> float:
    """The share of true ones."""
    return float(np.mean(counts))


def cells(matrices: Matrices) -> Iterator[tuple[str, Floats, int]]:
    """Every matrix with every number of topics."""
    for title, scores in matrices.items():
        for topics in TOPICS:
            yield title, scores, topics


# ------------------------------------------------------------------ a run against another


def print_equal_pair(matrices: Matrices, simulations: int) -> None:
    """Flags of two runs that are swapped at random: each test by itself."""
    print("### Two equal runs, one against the other: share of p < 0.05\n")
    print("| scores | topics | α | mean | ZRisk | GeoRisk | TRisk |\n|:--|--:|--:|--:|--:|--:|--:|")
    for title, scores, topics in cells(matrices):
        generator = np.random.default_rng(SEED)
        found: dict[tuple[str, float], list[bool]] = {}
        for _ in range(simulations):
            sample = drawn(generator, scores, topics).copy()
            swapped = generator.random(topics) < 0.5
            sample[:2, swapped] = sample[1::-1, swapped]
            for (name, alpha), p in _p_of_pair(sample).items():
                found.setdefault((name, alpha), []).append(p < GAMMA)
        for alpha in ALPHAS:
            names = ("mean", "zrisk", "georisk", "trisk")
            shown = " | ".join(f"{share(found[name, alpha]):.3f}" for name in names)
            print(f"| {title} | {topics} | {alpha:g} | {shown} |", flush=True)
    print()


def _p_of_pair(sample: Floats) -> dict[tuple[str, float], float]:
    """The p-values of run 1 against run 0, by measure and alpha."""
    comparison = Comparison(sample, Baseline("0", (0,), sample[0]))
    inference = Inference(comparison, PLAN, statistics(), ALPHAS)
    found = {}
    for alpha in ALPHAS:
        for measure in measures():
            known = measure.estimate(comparison, alpha, inference)
            if known is not None and known.p is not None:
                found[measure.id, alpha] = float(known.p[1])
    return found


# ------------------------------------------------------------------ coverage


OWN, TESTED = ("mean", "urisk", "zrisk", "georisk"), ("mean", "zrisk", "georisk")
COVERED = (
    "mean", "URisk", "ZRisk", "GeoRisk", "mean_diff", "zrisk_diff", "georisk_diff", "mean_dz",
)  # fmt: skip
KINDS = ("best", "middle", "worst")
HEAVY = 0.5
TOO_LOW = 0.9


def print_coverage(matrices: Matrices, simulations: int) -> None:
    """All intervals, against the best, the middle and the worst run: mean over runs [least].

    The least is over those in whose matrix no topic carries more than half of the variance. All
    that is below .90 is listed after the table.
    """
    print("### How often 95 % intervals hold the truth: mean over runs and baselines [least]\n")
    print(f"| scores | topics | α | {' | '.join(COVERED)} |")
    print("|:--|--:|--:|" + "--:|" * len(COVERED))
    everything: dict[tuple[int, float], list[Floats]] = {}
    low: list[str] = []
    for title, scores, topics in cells(matrices):
        order = np.argsort(-scores.mean(axis=1), kind="stable")
        rows = order[[0, len(order) // 2, -1]].tolist()
        covered, heavy = _coverage(scores, topics, simulations, rows)
        for alpha in ALPHAS:
            light = np.where(heavy[alpha] > HEAVY, np.nan, covered[alpha])
            everything.setdefault((topics, alpha), []).append(
                np.array([covered[alpha], light]).reshape(2, len(COVERED), -1)
            )
            print(
                f"| {title} | {topics} | {alpha:g} | {_shown(covered[alpha], light)} |", flush=True
            )
            low += _too_low(f"{title} | {topics} | {alpha:g}", covered[alpha], heavy[alpha])
    for (topics, alpha), parts in everything.items():
        both = np.concatenate(parts, axis=2)
        print(f"| **all** | {topics} | {alpha:g} | {_shown(*both)} |", flush=True)
    print("\n#### Those below .90\n")
    print("| scores | topics | α | interval | baseline | run | covered | heaviest topic |")
    print("|:--|--:|--:|:--|:--|--:|--:|--:|", *low, sep="\n")
    print()


def _coverage(
    scores: Floats, topics: int, simulations: int, rows: Sequence[int]
) -> tuple[dict[float, Floats], dict[float, Floats]]:
    """By alpha: the coverage of each column, baseline and run, and its heaviest topic's share."""
    generator = np.random.default_rng(SEED)
    truths = {(alpha, row): _estimates(scores, alpha, row) for alpha in ALPHAS for row in rows}
    held: dict[float, list[Floats]] = {alpha: [] for alpha in ALPHAS}
    for _ in range(simulations):
        sample = drawn(generator, scores, topics)
        for alpha in ALPHAS:
            parts = [
                _all_held(_estimates(sample, alpha, row), truths[alpha, row], scores, topics)
                for row in rows
            ]
            held[alpha].append(np.stack(parts, axis=1))
    heavy = {
        alpha: np.stack([_heaviest(scores, alpha, row) for row in rows], axis=1) for alpha in ALPHAS
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a run against itself has no difference
        return {alpha: np.nanmean(np.array(each), axis=0) for alpha, each in held.items()}, heavy


def _all_held(
    mine: dict[str, Estimate], true: dict[str, Estimate], scores: Floats, topics: int
) -> Floats:
    """By column and run: 1 where the interval holds the truth."""
    own = [_holds(mine[n].low, mine[n].high, _scaled(n, true, scores, topics)) for n in OWN]
    differences = [
        _holds(
            mine[n].difference_low,
            mine[n].difference_high,
            _scaled(n, true, scores, topics, difference=True),
        )
        for n in TESTED
    ]
    extra = mine["mean"].extra
    effect = _holds(extra["mean_dz_lo"], extra["mean_dz_hi"], true["mean"].extra["mean_dz"])
    return np.array([*own, *differences, effect])


def _heaviest(scores: Floats, alpha: float, row: int) -> Floats:
    """By column and run: the share of the variance that one topic of the matrix carries."""
    comparison = Comparison(scores, Baseline(str(row), (row,), scores[row]))
    by_id = {measure.id: measure for measure in measures()}
    spread = {
        name: deviations
        for name in TESTED
        if (deviations := by_id[name].deviations_of(comparison, alpha)) is not None
    }
    w = comparison.paired.weighted(alpha)
    spread["urisk"] = w - w.mean(axis=1, keepdims=True)
    own = [_share_of_one(spread[name]) for name in OWN]
    differences = [_share_of_one(spread[name] - spread[name][row]) for name in TESTED]
    none = np.zeros(len(scores))
    return np.array([*own, *differences, differences[0], none, none, none])


def _share_of_one(deviations: Floats) -> Floats:
    squares = deviations**2
    total = squares.sum(axis=1)
    return np.where(total > 0, squares.max(axis=1) / np.where(total > 0, total, 1.0), 0.0)


def _shown(covered: Floats, light: Floats) -> str:
    return " | ".join(
        f"{np.nanmean(column):.3f} [{np.nanmin(least):.3f}]"
        for column, least in zip(covered, light, strict=True)
    )


def _too_low(where: str, covered: Floats, heavy: Floats) -> list[str]:
    """A line for each coverage below .90."""
    return [
        f"| {where} | {COVERED[k]} | {KINDS[b]} | {run + 1} | {covered[k, b, run]:.3f} | "
        f"{heavy[k, b, run]:.2f} |"
        for k, b, run in np.argwhere(covered < TOO_LOW).tolist()
        if b == 0 or COVERED[k] not in ("mean", "ZRisk", "GeoRisk")
    ]


def _estimates(scores: Floats, alpha: float, row: int = 0) -> dict[str, Estimate]:
    """All estimates of all runs against one of them."""
    comparison = Comparison(scores, Baseline(str(row), (row,), scores[row]))
    inference = Inference(comparison, PLAN, statistics(), (alpha,))
    known = {m.id: m.estimate(comparison, alpha, inference) for m in measures()}
    return {name: each for name, each in known.items() if each is not None}


def _scaled(
    name: str, true: dict[str, Estimate], scores: Floats, topics: int, difference: bool = False
) -> Floats | None:
    """The truth; ZRisk is a sum over topics."""
    value = true[name].difference if difference else true[name].value
    scale = topics / scores.shape[1] if name == "zrisk" else 1.0
    return None if value is None else value * scale


def _holds(low: Floats | None, high: Floats | None, truth: Floats | None) -> Floats:
    """1 where the interval holds the truth, NaN where there is none."""
    assert low is not None and high is not None and truth is not None
    inside = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
    return np.where(np.isnan(low) | np.isnan(truth), np.nan, inside)


LARGE_ALPHA = 5.0


def print_lent(matrices: Matrices, simulations: int) -> None:
    """URisk's own interval at a large alpha, by its own variance and with that of other runs."""
    print(
        "### URisk's interval at α = 5: mean over runs [least], alone and with others' variance\n"
    )
    print("| scores | topics | baseline | alone | with others | width |\n|:--|--:|:--|--:|--:|--:|")
    for title, scores, topics in cells(matrices):
        order = np.argsort(-scores.mean(axis=1), kind="stable")
        for name, row in zip(KINDS, order[[0, len(order) // 2, -1]].tolist(), strict=True):
            held, wider = _lent(scores, topics, simulations, row)
            shown = " | ".join(f"{each.mean():.3f} [{each.min():.3f}]" for each in held)
            print(f"| {title} | {topics} | {name} | {shown} | {wider:.2f} |", flush=True)
    print()


def _lent(scores: Floats, topics: int, simulations: int, row: int) -> tuple[Floats, float]:
    """Coverage of each run but the baseline, either way; how many times as wide the second is."""
    truth = Comparison(scores, Baseline("b", (row,), scores[row])).paired.urisk(LARGE_ALPHA)
    generator = np.random.default_rng(SEED)
    held, widths = [], []
    for _ in range(simulations):
        sample = drawn(generator, scores, topics)
        comparison = Comparison(sample, Baseline("b", (row,), sample[row]))
        both = _alone_and_lent(comparison)
        held.append([_holds(*ends, truth) for ends in both])
        widths.append([high - low for low, high in both])
    covered = np.nanmean(np.delete(np.array(held), row, axis=2), axis=0)
    alone, lent = np.nanmean(np.delete(np.array(widths), row, axis=2), axis=(0, 2))
    return covered, lent / alone


def _alone_and_lent(comparison: Comparison) -> list[tuple[Floats, Floats]]:
    """The intervals of each run beside the baseline alone, which nobody lends to, and of all."""
    together = Inference(comparison, PLAN, (), ()).urisk_interval(LARGE_ALPHA)
    alone = np.empty((2, len(comparison.scores)))
    for row, scores in enumerate(comparison.scores):
        single = Comparison(scores[None], replace(comparison.baseline, members=()))
        alone[:, row] = np.ravel(Inference(single, PLAN, (), ()).urisk_interval(LARGE_ALPHA))
    return [(alone[0], alone[1]), together]


# ------------------------------------------------------------------ topics needed


def print_needed(matrices: Matrices, simulations: int) -> None:
    """How often the range of a number of topics holds the one that the whole matrix gives."""
    print(
        "### The range of the number of topics that `power` prints: how often it holds the truth\n"
    )
    kinds = [f"{of}, {share}" for of in ("Mean", "GeoRisk") for share in ("half", "9 of 10")]
    print(f"| scores | topics | {' | '.join(kinds)} |\n|:--|--:|" + "--:|" * len(kinds))
    for title, scores, topics in cells(matrices):
        if len(scores) > MOST_PAIRED:
            continue
        true = [one.spread for one in _prospects(scores)]
        generator = np.random.default_rng(SEED)
        held = []
        for _ in range(simulations):
            found = _prospects(drawn(generator, scores, topics))
            pairs = zip(found, true, strict=True)
            held.append([one.ends[0] <= spread <= one.ends[1] for one, spread in pairs])
        shown = " | ".join(f"{share(column):.3f}" for column in np.array(held).T)
        print(f"| {title} | {topics} | {shown} |", flush=True)
    print()


MOST_PAIRED = 20


def _prospects(scores: Floats) -> Sequence[Prospect]:
    runs, topics = (tuple(map(str, range(size))) for size in scores.shape)
    return riskcli.power_table(riskcli.ScoreMatrix("score", runs, topics, scores)).prospects


# ------------------------------------------------------------------ the best run


def print_chosen(matrices: Matrices, simulations: int) -> None:
    """What is said of the run of the highest value, and how often that is true of it."""
    print("### P(best) of the first run, and what choosing it loses: said, and true\n")
    print("| runs | topics | measure | P(best) said | true | loss said | true |")
    print("|:--|--:|:--|--:|--:|--:|--:|")
    draws: dict[str, Callable[[np.random.Generator], Floats]] = {
        "10 made anew": lambda g: robust_like(10, 300, int(g.integers(1_000_000))),
        "4 made anew": lambda g: robust_like(4, 300, int(g.integers(1_000_000))),
    }
    for title, scores in matrices.items():
        few = len(scores) * 3 // 4 if len(scores) < MOST_PAIRED else 10
        draws[f"{few} of {title}"] = partial(_some_runs, scores, few)
    for title, draw in draws.items():
        for topics in (25, 50):
            for of in ("mean", "georisk"):
                found = [_chosen(draw, topics, of, seed) for seed in range(simulations)]
                p, hit, loss, lost = np.mean(found, axis=0)
                shown = f"{p:.3f} | {hit:.3f} | {loss:.4f} | {lost:.4f}"
                print(f"| {title} | {topics} | {of} | {shown} |", flush=True)
    print()


def _some_runs(scores: Floats, count: int, generator: np.random.Generator) -> Floats:
    return scores[generator.choice(len(scores), count, replace=False)]


def _chosen(
    draw: Callable[[np.random.Generator], Floats], topics: int, of: str, seed: int
) -> tuple[float, bool, float, float]:
    """Of the first run of a sample: both as said, each followed by the truth."""
    generator = np.random.default_rng(seed)
    truth = draw(generator)
    (measure,) = (m for m in measures() if m.id == of)

    def against_mean(scores: Floats) -> Comparison:
        return Comparison(scores, Baseline("@mean", (), scores.mean(axis=0)))

    sample = against_mean(drawn(generator, truth, topics))
    true, values = (measure.values(each, 1.0) for each in (against_mean(truth), sample))
    deviations = measure.deviations_of(sample, 1.0)
    assert deviations is not None
    said, first = choices(values, deviations), int(values.argmax())
    lost = float(true.max() - true[first])
    return float(said.p_best[first]), lost == 0, float(said.expected_loss[first]), lost


# ------------------------------------------------------------------ against virtual baselines


def print_virtual(matrices: Matrices, simulations: int) -> None:
    """Any false flag where all runs are equal: shuffles (the program's test), and t with Holm."""
    print("### All runs equal: chance of any flag of a column\n")
    print(
        "| scores | topics | mean @mean | @median | @max | @min | ZRisk α 0 | α 1 | α 5 | "
        "GeoRisk α 0 | α 1 | α 5 | ZRisk α 0, t and Holm | GeoRisk α 5, t and Holm |\n"
        "|:--|--:|" + "--:|" * 12
    )
    for title, scores, topics in cells(matrices):
        generator = np.random.default_rng(SEED)
        flagged = []
        for number in range(simulations):
            sample = generator.permuted(drawn(generator, scores, topics), axis=0)
            flagged.append(_any_flags(sample, number))
        shown = " | ".join(f"{share(column):.3f}" for column in np.array(flagged).T)
        print(f"| {title} | {topics} | {shown} |", flush=True)
    print()


def _any_flags(sample: Floats, seed: int) -> list[bool]:
    tested: NDArray[np.bool_] = np.asarray(sample.any(axis=1))
    everyone: NDArray[np.bool_] = np.ones(len(sample), dtype=np.bool_)
    flags = []
    for name in ("mean", "median", "max", "min"):
        (test,) = shuffle_tests([of_means(sample, POOLS[name](sample))], SHUFFLES, seed).values()
        flags.append((test.step_down(everyone) < GAMMA).any())
    keys = [(statistic, alpha) for statistic in (ZRISK, GEORISK) for alpha in ALPHAS]
    tests = shuffle_tests([of_statistics(sample, keys)], SHUFFLES, seed)
    flags += [(tests[key].step_down(tested) < GAMMA).any() for key in keys]
    # The set of all runs is the reference that a virtual baseline stands for, tested by t.
    by_t = Comparison(sample, Baseline("all", tuple(range(len(sample))), sample.mean(axis=0)))
    inference = Inference(by_t, PLAN, statistics(), ALPHAS)
    for statistic, alpha in ((ZRISK, 0.0), (GEORISK, 5.0)):
        known = inference.of_statistic(statistic, alpha).corrected("holm", GAMMA)
        assert known.p_adjusted is not None
        flags.append((known.p_adjusted < GAMMA).any())
    return [bool(flag) for flag in flags]


def print_partial(matrices: Matrices, simulations: int) -> None:
    """One run equals the mean over runs, the others do not: its own test, uncorrected.

    Mean over ways to mix the run [the largest], with half of the shuffles: p is of all runs' t.
    """
    print("### One run equal to the mean over runs, the others not: share of p < 0.05\n")
    columns: list[tuple[Statistic | None, float]] = [
        (None, 0.0), *((statistic, alpha) for statistic in (ZRISK, GEORISK) for alpha in ALPHAS),
    ]  # fmt: skip
    print("| scores | topics | mean | ZRisk α 0 | α 1 | α 5 | GeoRisk α 0 | α 1 | α 5 |")
    print("|:--|--:|" + "--:|" * len(columns))
    for title, scores, topics in cells(matrices):
        shown = []
        for statistic, alpha in columns:
            made = mixed_to_the_mean(scores, statistic, alpha)
            errs = [_errs(mixed, statistic, alpha, topics, simulations) for mixed in made]
            shown.append(f"{np.mean(errs):.3f} [{max(errs):.3f}]" if errs else "–")
        print(f"| {title} | {topics} | {' | '.join(shown)} |", flush=True)
    print()


def _errs(
    matrix: Floats, statistic: Statistic | None, alpha: float, topics: int, simulations: int
) -> float:
    """How often run 0 is told apart from the mean over runs."""
    generator = np.random.default_rng(SEED)
    flagged = []
    for number in range(simulations):
        sample = drawn(generator, matrix, topics)
        if statistic is None:
            shuffled = of_means(sample, sample.mean(axis=0))
        else:
            shuffled = of_statistics(sample, [(statistic, alpha)])
        (test,) = shuffle_tests([shuffled], SHUFFLES // 2, number).values()
        flagged.append(bool(test.p[0] < GAMMA))
    return share(flagged)


MIXTURES = 5


def mixed_to_the_mean(scores: Floats, statistic: Statistic | None, alpha: float) -> list[Floats]:
    """The matrix with run 0 a mixture of two others, equal to the mean over runs.

    The two are the best and the worst, the second best and the second worst, and so on: a matrix
    for each, as far as they lie on either side of the mean.
    """

    def excess(mixed: Floats) -> Floats:
        if statistic is None:
            values = mixed.mean(axis=1)
        else:
            population = Comparison(mixed, Baseline("@", (), mixed.mean(axis=0))).population
            values = statistic.tested(population.departures, alpha)
        return np.asarray(values - values.mean())

    order = np.argsort(excess(scores)).tolist()
    pairs = list(zip(order, reversed(order), strict=True))[: min(MIXTURES, len(order) // 2)]
    found = (_mixed(scores, scores[low], scores[high], excess) for low, high in pairs)
    return [mixed for mixed in found if mixed is not None]


def _mixed(
    scores: Floats, worst: Floats, best: Floats, excess: Callable[[Floats], Floats]
) -> Floats | None:
    """The matrix with a mixture of two runs, which has no excess, for run 0; None if none has."""

    def mixture(weight: float) -> Floats:
        return np.concatenate([[weight * best + (1 - weight) * worst], scores[1:]])

    low, high = 0.0, 1.0
    signs = [excess(mixture(weight))[0] > 0 for weight in (low, high)]
    if signs[0] == signs[1]:
        return None
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (low, middle) if (excess(mixture(middle))[0] > 0) == signs[1] else (middle, high)
        )
    return mixture(low)


# ------------------------------------------------------------------ families


def print_families(matrices: Matrices, simulations: int) -> None:
    """All runs equal: any flag of a column after Holm, against a run, a set, and of all pairs."""
    print("### All runs equal: chance of any flag of a column against a run, a set, and of pairs\n")
    against = [
        f"{what} {name}"
        for what in ("a run:", "three runs:")
        for name in ("mean", "ZRisk α 0", "α 5", "GeoRisk α 0", "α 5")
    ]
    pairs = ["all pairs: mean", "GeoRisk α 1"]
    print(f"| scores | topics | {' | '.join([*against, *pairs])} |")
    print("|:--|--:|" + "--:|" * (len(against) + 2))
    for title, scores, topics in cells(matrices):
        generator = np.random.default_rng(SEED)
        flagged = []
        for _ in range(simulations):
            sample = generator.permuted(drawn(generator, scores, topics), axis=0)
            flagged.append(
                [
                    *_flags_against(Comparison(sample, Baseline("r", (0,), sample[0]))),
                    *_flags_against(_against_three(sample)),
                    *_flags_of_pairs(sample),
                ]
            )
        shown = " | ".join(f"{share(column):.3f}" for column in np.array(flagged).T)
        print(f"| {title} | {topics} | {shown} |", flush=True)
    print()


def _against_three(sample: Floats) -> Comparison:
    """Three runs as the baseline, and as the population beside each run."""
    baseline = Baseline("s", (0, 1, 2), sample[:3].mean(axis=0))
    return Comparison(sample, baseline, "baselines", (0, 1, 2))


def _flags_against(comparison: Comparison) -> list[bool]:
    """Whether any run is flagged: by the mean, and by ZRisk and GeoRisk at the ends of alpha."""
    inference = Inference(comparison, PLAN, statistics(), (0.0, 5.0))
    known = [inference.of_means]
    known += [inference.of_statistic(s, a) for s in (ZRISK, GEORISK) for a in (0.0, 5.0)]
    flags = [each.corrected("holm", GAMMA).flag for each in known]
    return [flag is not None and bool(np.any(flag != "")) for flag in flags]


def _flags_of_pairs(sample: Floats) -> list[bool]:
    comparison = Comparison(sample, Baseline("@mean", (), sample.mean(axis=0)))
    found = []
    for name in ("mean", "georisk"):
        (measure,) = (m for m in measures() if m.id == name)
        values, spread = measure.values(comparison, 1.0), measure.deviations_of(comparison, 1.0)
        assert spread is not None
        found.append(bool((compare_all(values, spread, GAMMA, "holm").flag != "").any()))
    return found


def print_each(matrices: Matrices, simulations: int) -> None:
    """All runs equal, three baselines in turn: a family each, and (as the program has it) one."""
    print("### All runs equal, each of three baselines in turn: any flag of a column\n")
    names = ("mean", "ZRisk α 0", "α 5", "GeoRisk α 0", "α 5")
    kinds = [f"{kind} {name}" for kind in ("a family each:", "one family:") for name in names]
    print(f"| scores | topics | {' | '.join(kinds)} |\n|:--|--:|" + "--:|" * len(kinds))
    for title, scores, topics in cells(matrices):
        generator = np.random.default_rng(SEED)
        flagged = []
        for _ in range(simulations):
            sample = generator.permuted(drawn(generator, scores, topics), axis=0)
            each = np.array([_p_against(sample, row) for row in range(3)])
            apart = [any((holm(p) < GAMMA).any() for p in column) for column in each.swapaxes(0, 1)]
            one = [(holm(column.ravel()) < GAMMA).any() for column in each.swapaxes(0, 1)]
            flagged.append([*apart, *one])
        shown = " | ".join(f"{share(column):.3f}" for column in np.array(flagged).T)
        print(f"| {title} | {topics} | {shown} |", flush=True)
    print()


def _p_against(sample: Floats, row: int) -> list[Floats]:
    """By column the p-values of all runs but one, against that one of three baselines."""
    comparison = Comparison(sample, Baseline("b", (row,), sample[row]), "baselines", (0, 1, 2))
    inference = Inference(comparison, PLAN, statistics(), (0.0, 5.0), ranked=False)
    known = [inference.of_means]
    known += [inference.of_statistic(s, a) for s in (ZRISK, GEORISK) for a in (0.0, 5.0)]
    columns = [np.ones(len(sample)) if each.p is None else each.p for each in known]
    return [np.nan_to_num(np.delete(column, row), nan=1.0) for column in columns]


def print_others(matrices: Matrices, simulations: int) -> None:
    """What else has a p-value: swaps, the smooth loss, and figures over baselines."""
    print("### Equal runs: share of p < 0.05 of what else is tested\n")
    print(
        "| scores | topics | swap: ZRisk α 1 | GeoRisk α 1 | smooth: ZRisk | GeoRisk | TRisk | "
        "bias: W | bias r | partial |\n|:--|--:|" + "--:|" * 8
    )
    plan = Significance(gamma=GAMMA, test="swap")
    for title, scores, topics in cells(matrices):
        generator = np.random.default_rng(SEED)
        flagged = []
        for _ in range(simulations):
            drawn_topics = drawn(generator, scores[:8], topics)
            sample = drawn_topics.copy()
            swapped = generator.random(topics) < 0.5
            sample[:2, swapped] = sample[1::-1, swapped]
            pair = Baseline("0", (0,), sample[0])
            by_swaps = Inference(Comparison(sample, pair), plan, statistics(), (1.0,))
            smooth = Comparison(sample, pair, smooth=PUBLISHED)
            by_t = Inference(smooth, PLAN, statistics(), (0.0,))
            p = [by_swaps.of_statistic(s, 1.0).p for s in (ZRISK, GEORISK)]
            p += [by_t.of_statistic(s, 0.0).p for s in (ZRISK, GEORISK)]
            (trisk,) = (m for m in measures() if m.id == "trisk")
            known = trisk.estimate(smooth, 0.0, by_t)
            p.append(None if known is None else known.p)
            few = generator.permuted(drawn_topics, axis=0)
            flagged.append([*(each is not None and each[1] < GAMMA for each in p), *_of_bias(few)])
        shown = " | ".join(f"{share(column):.3f}" for column in np.array(flagged).T)
        print(f"| {title} | {topics} | {shown} |", flush=True)
    print()


def _of_bias(sample: Floats) -> list[bool]:
    """Whether W, *bias r* and *partial* of the first baseline differ from those of equal runs."""
    equal = each_as_baseline(sample, 10.0).equal_runs
    return [bool(each.p[0] < GAMMA) for each in (equal.w, equal.bias, equal.partial)]


# ------------------------------------------------------------------ pairs and ranks of equal runs


def equal_runs(generator: np.random.Generator, topics: int, loud: int, runs: int = 8) -> Floats:
    """Runs of equal mean that share each topic's difficulty, so many of them far more variable."""
    difficulty = generator.standard_normal((1, topics))
    spread = np.where(np.arange(runs) < loud, 0.4, 0.05)[:, None]
    return np.asarray(0.1 * difficulty + spread * generator.standard_normal((runs, topics)))


def print_pairs(simulations: int, permutations: int = 499) -> None:
    """The chance of any flag among all pairs of equal runs, some of them more variable."""
    print("### Any flag among the 28 pairs of 8 runs of equal mean\n")
    print("| topics | runs of eightfold deviation | Tukey, studentised | Holm | uncorrected |")
    print("|--:|--:|--:|--:|--:|")
    for topics in TOPICS:
        for loud in (0, 1, 2):
            generator = np.random.default_rng(SEED)
            flagged = []
            for number in range(simulations):
                scores = equal_runs(generator, topics, loud)
                deviations = scores - scores.mean(axis=1, keepdims=True)
                tukey = randomised_tukey_hsd(scores, permutations, number)
                pairs = compare_all(scores.mean(axis=1), deviations, GAMMA, "holm")
                flagged.append([(p < GAMMA).any() for p in (tukey, pairs.p_adjusted, pairs.p)])
            shown = " | ".join(f"{share(column):.3f}" for column in np.array(flagged).T)
            print(f"| {topics} | {loud} | {shown} |", flush=True)
    print()


STATED = (("mean", 1.0), ("zrisk", 1.0), ("zrisk", 5.0), ("georisk", 1.0), ("georisk", 5.0))
ALIKE: dict[str, Callable[[int], list[list[int]]]] = {
    "all": lambda runs: [[*range(runs)]],
    "either half": lambda runs: [[*range(runs // 2)], [*range(runs // 2, runs)]],
    "every other": lambda runs: [[*range(0, runs, 2)], [*range(1, runs, 2)]],
    "each two": lambda runs: [[row, row + 1][: runs - row] for row in range(0, runs, 2)],
}
"""Which runs are alike, of those in the order of their means."""


def print_statements(matrices: Matrices, simulations: int) -> None:
    """Any false statement of a column against a run: a mark, or a bracket of ranks."""
    print("### A column against one of the runs: any false mark, and any false statement\n")
    names = [name if name == "mean" else f"{name} α {alpha:g}" for name, alpha in STATED]
    print(f"| scores | topics | runs alike | {' | '.join(names)} |")
    print("|:--|--:|:--|" + "--:|" * len(names))
    for title, scores, topics in cells(matrices):
        ordered = scores[np.argsort(-scores.mean(axis=1), kind="stable")]
        for alike, groups in ALIKE.items() if topics < max(TOPICS) else ():
            wrong = _false_statements(ordered, groups(len(scores)), topics, simulations)
            shown = " | ".join(f"{marks:.3f} {either:.3f}" for marks, either in wrong)
            print(f"| {title} | {topics} | {alike} | {shown} |", flush=True)
    print()


def _false_statements(
    scores: Floats, groups: list[list[int]], topics: int, simulations: int
) -> Floats:
    """By statistic: how often a mark is false, and how often a mark or a bracket is."""
    generator, group = np.random.default_rng(SEED), np.empty(len(scores), dtype=int)
    for number, rows in enumerate(groups):
        group[rows] = number
    true = {
        key: np.array([each.value[rows].mean() for rows in groups])[group]
        for key, each in _stated(_shuffled(scores, groups, 4000, generator), 0).items()
    }
    wrong = np.zeros((len(STATED), 2))
    for _ in range(simulations):
        row = int(generator.integers(len(scores)))
        sample = _stated(_shuffled(scores, groups, topics, generator), row)
        for k, key in enumerate(STATED):
            each, truth = sample[key].corrected("holm", GAMMA), true[key]
            above = (truth[None] > truth[:, None]).sum(axis=1)
            below = (truth[None] < truth[:, None]).sum(axis=1)
            side = np.select([each.flag == "better", each.flag == "worse"], [1, -1], 0)
            mark = ((side != 0) & (side != np.sign(truth - truth[row]))).any()
            bracket = (each.rank_low > above + 1) | (each.rank_high < len(scores) - below)
            wrong[k] += [mark, mark or bracket.any()]
    return wrong / simulations


def _shuffled(
    scores: Floats, groups: list[list[int]], topics: int, generator: np.random.Generator
) -> Floats:
    """Topics drawn, and runs that are alike shuffled within each."""
    sample = drawn(generator, scores, topics)
    for rows in groups:
        sample[rows] = generator.permuted(sample[rows], axis=0)
    return sample


def _stated(scores: Floats, row: int) -> dict[tuple[str, float], Estimate]:
    """The estimates that statements are made of, against one of the runs."""
    comparison = Comparison(scores, Baseline(str(row), (row,), scores[row]))
    inference = Inference(comparison, PLAN, statistics(), (1.0, 5.0))
    by_id = {measure.id: measure for measure in measures()}
    found = {
        (name, alpha): by_id[name].estimate(comparison, alpha, inference) for name, alpha in STATED
    }
    return {key: each for key, each in found.items() if each is not None}


# ------------------------------------------------------------------ many zeros


def print_zeros(simulations: int) -> None:
    """What more and more scores of 0 do to ZRisk: its intervals, and flags of two equal runs."""
    shares = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6)
    matrices = {f"{zeros:.0%} zeros": robust_like(17, 100, 2, zeros=zeros) for zeros in shares}
    print_coverage(matrices, simulations)
    print_equal_pair(matrices, 2 * simulations)


def main() -> None:
    """Print all tables, or those of one kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--runs", type=Path, help="a folder of real runs")
    parser.add_argument("--qrels", type=Path, help="their judgements")
    matrices: Matrices = {}
    kinds: dict[str, Callable[[int], None]] = {
        "pair": lambda n: print_equal_pair(matrices, n),
        "coverage": lambda n: print_coverage(matrices, n),
        "lent": lambda n: print_lent(matrices, n),
        "needed": lambda n: print_needed(matrices, n // 2),
        "chosen": lambda n: print_chosen(matrices, n),
        "virtual": lambda n: print_virtual(matrices, n),
        "partial": lambda n: print_partial(matrices, n // 2),
        "statements": lambda n: print_statements(matrices, n // 2),
        "families": lambda n: print_families(matrices, n),
        "each": lambda n: print_each(matrices, n),
        "others": lambda n: print_others(matrices, n // 2),
        "pairs": lambda n: print_pairs(n // 2),
        "zeros": lambda n: print_zeros(n // 2),
    }
    parser.add_argument("--only", choices=kinds, action="append", help="tables of this kind")
    chosen = parser.parse_args()
    if chosen.runs:
        evaluation = riskcli.evaluate([chosen.runs], qrels=chosen.qrels)
        matrices |= {f"real, {m.measure}": m.values for m in evaluation.matrices}
    matrices["made, like AP"] = robust_like(17, 100, 1)
    matrices["made, like ERR"] = robust_like(17, 100, 2, zeros=0.12)
    matrices["made, 45 runs"] = robust_like(45, 249, 3)
    for kind, table in kinds.items():
        if not chosen.only or kind in chosen.only:
            table(chosen.simulations)


if __name__ == "__main__":
    main()
