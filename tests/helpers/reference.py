"""A brute-force reference for every number that riskeval prints.

It shares no code with the package. Everything is plain Python (floats, lists, dicts, loops), slow,
and written so that each formula can be laid beside the paper it comes from. The equations meant:

* SIGIR'14: Dincer, Macdonald, Ounis, "Hypothesis Testing for the Risk-Sensitive Evaluation of
  Retrieval Systems" (URisk, TRisk, jackknife, TR, TJ);
* ECIR'14: Dincer, Ounis, Macdonald, "Tackling Biased Baselines ..." (virtual baselines);
* SIGIR'16: Dincer, Macdonald, Ounis, "Risk-Sensitive Evaluation and Learning to Rank using
  Multiple Baselines" (ZRisk, GeoRisk);
* ECIR'20: Benham, Moffat, Culpepper, "On the Pluses and Minuses of Risk" (smooth loss, minus);
* Yilmaz, Aslam, Robertson, SIGIR'08 (tau_AP); Webber, Moffat, Zobel, TOIS 2010 (RBO).

A score matrix is a list of runs, each a list of scores in one order of topics; runs and topics are
named by their index. ``None`` stands for what is undefined.
"""

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from statistics import median, stdev
from typing import Literal, TypedDict

from scipy import stats

Row = Sequence[float]
Matrix = Sequence[Row]
Precision = Literal["single", "double"]
Loss = Literal["linear", "smooth"]
Pool = Literal["mean", "median", "max", "min"]
Measure = Literal["zeta", "georisk"]

NOISE = 1e-12
"""A difference and a standard error both below this are rounding, that is, both are 0."""


# --------------------------------------------------------------------------------------------
# 1. Effectiveness of one topic
# --------------------------------------------------------------------------------------------


def to_single(score: float) -> float:
    """The single-precision number nearest to a score; beyond its range, infinity."""
    try:
        return float(struct.unpack("f", struct.pack("f", score))[0])
    except OverflowError:
        return math.copysign(math.inf, score)


def rank(docs: Mapping[str, float], precision: Precision = "single") -> list[str]:
    """trec_eval's ranking: score descending, then docno descending by its bytes."""
    score = to_single if precision == "single" else float
    return sorted(docs, key=lambda doc: (score(docs[doc]), doc.encode()), reverse=True)


def _top(ranked: Sequence[str], k: int | None) -> Sequence[str]:
    return ranked if k is None else ranked[:k]


def _is_relevant(doc: str, grades: Mapping[str, int], rel: int) -> bool:
    """Judged, with a grade of at least ``rel``."""
    return doc in grades and grades[doc] >= rel


def relevant_count(grades: Mapping[str, int], rel: int = 1) -> int:
    """R: how many documents of the topic are judged relevant."""
    return sum(_is_relevant(doc, grades, rel) for doc in grades)


def grade_of(doc: str, grades: Mapping[str, int]) -> int:
    """The grade that gives gain: unjudged and negative (spam) count as 0."""
    return max(0, grades.get(doc, 0))


def err(ranked: Sequence[str], grades: Mapping[str, int], k: int, max_grade: int = 4) -> float:
    """ERR@k = sum over i <= k of (1/i) R_i prod_{j<i} (1 - R_j), R = (2^g - 1) / 2^G."""
    if any(grade > max_grade for grade in grades.values()):
        raise ValueError(f"a grade above {max_grade}")
    total, still_reading = 0.0, 1.0
    for i, doc in enumerate(ranked[:k], start=1):
        stops = (2 ** grade_of(doc, grades) - 1) / 2**max_grade
        total += still_reading * stops / i
        still_reading *= 1 - stops
    return total


def dcg(gains: Sequence[float]) -> float:
    """Sum of gain_i / log2(i + 1), i = 1, 2, ..."""
    return math.fsum(gain / math.log2(i + 1) for i, gain in enumerate(gains, start=1))


def _ndcg(
    ranked: Sequence[str],
    grades: Mapping[str, int],
    k: int | None,
    gain: Callable[[int], float],
) -> float:
    """DCG of the ranking over DCG of the best one, ideal over *all* judged documents."""
    found = [gain(grade_of(doc, grades)) for doc in _top(ranked, k)]
    ideal = sorted((gain(grade_of(doc, grades)) for doc in grades), reverse=True)
    best = dcg(ideal if k is None else ideal[:k])
    return dcg(found) / best if best > 0 else 0.0


def ndcg(ranked: Sequence[str], grades: Mapping[str, int], k: int | None = None) -> float:
    """trec_eval's ndcg (k None) and ndcg_cut_k: gain = grade."""
    return _ndcg(ranked, grades, k, float)


def ndcg_exp(ranked: Sequence[str], grades: Mapping[str, int], k: int | None = None) -> float:
    """The Web track's (gdeval.pl's): gain = 2^grade - 1."""
    return _ndcg(ranked, grades, k, lambda grade: 2.0**grade - 1)


def precision(ranked: Sequence[str], grades: Mapping[str, int], k: int, rel: int = 1) -> float:
    """Relevant among the first k, over k (also where the ranking is shorter)."""
    return sum(_is_relevant(doc, grades, rel) for doc in ranked[:k]) / k


def recall(ranked: Sequence[str], grades: Mapping[str, int], k: int, rel: int = 1) -> float:
    """Relevant among the first k, over R; 0 where R = 0."""
    found = sum(_is_relevant(doc, grades, rel) for doc in ranked[:k])
    count = relevant_count(grades, rel)
    return found / count if count else 0.0


def average_precision(
    ranked: Sequence[str], grades: Mapping[str, int], k: int | None = None, rel: int = 1
) -> float:
    """Sum of the precision at each relevant document (of the first k), over R (never over k)."""
    total, found = 0.0, 0
    for i, doc in enumerate(_top(ranked, k), start=1):
        if _is_relevant(doc, grades, rel):
            found += 1
            total += found / i
    count = relevant_count(grades, rel)
    return total / count if count else 0.0


def reciprocal_rank(
    ranked: Sequence[str], grades: Mapping[str, int], k: int | None = None, rel: int = 1
) -> float:
    """1 / rank of the first relevant document (of the first k); 0 where there is none."""
    for i, doc in enumerate(_top(ranked, k), start=1):
        if _is_relevant(doc, grades, rel):
            return 1 / i
    return 0.0


def r_precision(ranked: Sequence[str], grades: Mapping[str, int], rel: int = 1) -> float:
    """Precision at R; 0 where R = 0."""
    count = relevant_count(grades, rel)
    return precision(ranked, grades, count, rel) if count else 0.0


def success(ranked: Sequence[str], grades: Mapping[str, int], k: int, rel: int = 1) -> float:
    """1 where any of the first k is relevant, else 0."""
    return float(any(_is_relevant(doc, grades, rel) for doc in ranked[:k]))


# --------------------------------------------------------------------------------------------
# 2a. Baselines made from a matrix
# --------------------------------------------------------------------------------------------


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean."""
    values = list(values)
    return math.fsum(values) / len(values)


def column(matrix: Matrix, q: int) -> list[float]:
    """The scores of topic q."""
    return [row[q] for row in matrix]


def virtual_baseline(matrix: Matrix, pool: Pool) -> list[float]:
    """Each topic's mean, median, max or min over the runs (ECIR'14 Eq. 2 and Section 3)."""
    of: dict[str, Callable[[list[float]], float]] = {
        "mean": mean,
        "median": median,
        "max": max,
        "min": min,
    }
    return [of[pool](column(matrix, q)) for q in range(len(matrix[0]))]


def pooled_baseline(matrix: Matrix, members: Sequence[int], pool: Pool = "mean") -> list[float]:
    """The same over a named set of runs."""
    return virtual_baseline([matrix[k] for k in members], pool)


# --------------------------------------------------------------------------------------------
# 2b. Risk against a baseline
# --------------------------------------------------------------------------------------------


def smooth(x: float) -> float:
    """s(x) of ECIR'20, Section 4."""
    return 1.38426 * x**3 - 0.51659 * x**2 + 0.11578 * x


def smooth_slope(x: float) -> float:
    """s'(x) of ECIR'20, Section 4."""
    return 3 * 1.38426 * x**2 - 2 * 0.51659 * x + 0.11578


def deltas(run: Row, baseline: Row) -> list[float]:
    """delta_q = x_q - b_q."""
    return [x - b for x, b in zip(run, baseline, strict=True)]


def weighted(run: Row, baseline: Row, alpha: float = 0.0, loss: Loss = "linear") -> list[float]:
    """x_i of SIGIR'14 Eq. 11: delta, a loss counted 1 + alpha times; or s(delta)."""
    if loss == "smooth":
        return [smooth(d) for d in deltas(run, baseline)]
    return [d if d >= 0 else (1 + alpha) * d for d in deltas(run, baseline)]


def reward(run: Row, baseline: Row) -> float:
    """SIGIR'14 Eq. 2: (1/c) sum of max(0, r - b)."""
    return mean(max(0.0, d) for d in deltas(run, baseline))


def risk(run: Row, baseline: Row) -> float:
    """SIGIR'14 Eq. 1: (1/c) sum of max(0, b - r)."""
    return mean(max(0.0, -d) for d in deltas(run, baseline))


def gain(run: Row, baseline: Row) -> float:
    """SIGIR'14 Eq. 3: Reward - Risk."""
    return reward(run, baseline) - risk(run, baseline)


def urisk(run: Row, baseline: Row, alpha: float = 0.0, loss: Loss = "linear") -> float:
    """SIGIR'14 Eq. 4 = SIGIR'16 Eq. 1: the mean of the weighted differences."""
    return mean(weighted(run, baseline, alpha, loss))


def wins_ties_losses(run: Row, baseline: Row) -> tuple[int, int, int]:
    """How many differences are above, at and below 0."""
    d = deltas(run, baseline)
    return sum(v > 0 for v in d), sum(v == 0 for v in d), sum(v < 0 for v in d)


def losses20(run: Row, baseline: Row) -> int:
    """Topics with b > 0 and delta < -0.2 b, by more than rounding."""
    return sum(b > 0 and x - b < -(0.2 + 1e-12) * b for x, b in zip(run, baseline, strict=True))


def ratio(above: float, below: float) -> float | None:
    """Reward/Risk or Wins/Losses: infinite where only the lower is 0, undefined for 0/0."""
    if below == 0:
        return math.inf if above > 0 else None
    return above / below


class Estimate(TypedDict):
    """An estimate, its standard error, t, two-sided p and confidence interval."""

    estimate: float
    se: float | None
    t: float | None
    p: float | None
    lo: float | None
    hi: float | None


class TRisk(TypedDict):
    """URisk, its standard error, TRisk (t), two-sided p and confidence interval."""

    urisk: float
    se: float | None
    t: float | None
    p: float | None
    lo: float | None
    hi: float | None


def student_p(t: float, df: int) -> float:
    """Two-sided p from Student's t."""
    return float(2 * stats.t.sf(abs(t), df))


def student_quantile(df: int, level: float = 0.95) -> float:
    """t(gamma/2, df), gamma = 1 - level."""
    return float(stats.t.isf((1 - level) / 2, df))


def student_test(
    estimate: float, se: float | None, df: int, level: float = 0.95, noise: float = 0.0
) -> Estimate:
    """t = estimate / se; 0/0 is t 0 and p 1, and anything else over 0 is infinite and no test.

    Fewer than 3 topics (df < 2) have neither p nor interval.

    An estimate and a standard error that are both below ``noise`` are both 0.
    """
    if se is None or df < 1:
        return Estimate(estimate=estimate, se=None, t=None, p=None, lo=None, hi=None)
    if df < 2:
        t = estimate / se if se else math.copysign(math.inf, estimate) if estimate else 0.0
        return Estimate(estimate=estimate, se=se, t=t, p=None, lo=None, hi=None)
    if abs(estimate) <= noise and se <= noise:
        return Estimate(estimate=0.0, se=0.0, t=0.0, p=1.0, lo=0.0, hi=0.0)
    if se == 0:
        t = math.copysign(math.inf, estimate)
        return Estimate(estimate=estimate, se=0.0, t=t, p=None, lo=None, hi=None)
    t, half = estimate / se, student_quantile(df, level) * se
    lo, hi = estimate - half, estimate + half
    return Estimate(estimate=estimate, se=se, t=t, p=student_p(t, df), lo=lo, hi=hi)


def deviation(values: Sequence[float]) -> float:
    """The sample deviation (c - 1), computed exactly: 0 if and only if all values are equal."""
    return stdev(values) if len(values) > 1 else math.nan


def mean_test(values: Sequence[float], level: float = 0.95) -> Estimate:
    """Student's t of a sample's mean against 0 (SIGIR'14 Eq. 7-8, divisor c - 1)."""
    c = len(values)
    se = deviation(values) / math.sqrt(c) if c > 1 else None
    return student_test(mean(values), se, c - 1, level)


def trisk(
    run: Row, baseline: Row, alpha: float = 0.0, loss: Loss = "linear", level: float = 0.95
) -> TRisk:
    """SIGIR'14 Eq. 10, 12: URisk / (s_w / sqrt(c)), c - 1 degrees of freedom."""
    test = mean_test(weighted(run, baseline, alpha, loss), level)
    return TRisk(
        urisk=test["estimate"],
        se=test["se"],
        t=test["t"],
        p=test["p"],
        lo=test["lo"],
        hi=test["hi"],
    )


def _without(values: Row, q: int) -> list[float]:
    return [v for j, v in enumerate(values) if j != q]


def jackknife_se(
    run: Row, baseline: Row, alpha: float = 0.0, loss: Loss = "linear"
) -> float | None:
    """SIGIR'14 Eq. 15-17, literally: URisk again without each topic in turn."""
    c = len(run)
    if c < 2:
        return None
    left = [urisk(_without(run, q), _without(baseline, q), alpha, loss) for q in range(c)]
    centre = mean(left)
    return math.sqrt((c - 1) / c * math.fsum((v - centre) ** 2 for v in left))


def topic_tr(
    run: Row, baseline: Row, alpha: float = 0.0, loss: Loss = "linear"
) -> list[float] | None:
    """SIGIR'14 Eq. 21: w_q / s_w; undefined where s_w = 0."""
    w = weighted(run, baseline, alpha, loss)
    s = deviation(w)
    return [v / s for v in w] if s > 0 else None


def topic_tj(
    run: Row, baseline: Row, alpha: float = 0.0, loss: Loss = "linear"
) -> list[float] | None:
    """SIGIR'14 Eq. 23 with Figure 2's sign: sqrt(c - 1) (URisk - URisk without q) / SE_J."""
    c = len(run)
    if c < 2 or deviation(weighted(run, baseline, alpha, loss)) == 0:
        return None
    se = jackknife_se(run, baseline, alpha, loss)
    assert se is not None
    whole = urisk(run, baseline, alpha, loss)
    left = [urisk(_without(run, q), _without(baseline, q), alpha, loss) for q in range(c)]
    return [math.sqrt(c - 1) * (whole - v) / se for v in left]


# --------------------------------------------------------------------------------------------
# 2c. Risk in a population
# --------------------------------------------------------------------------------------------


def row_total(matrix: Matrix, i: int) -> float:
    """S_i (SIGIR'16 Table 2)."""
    return math.fsum(matrix[i])


def topic_total(matrix: Matrix, j: int) -> float:
    """T_j (SIGIR'16 Table 2)."""
    return math.fsum(column(matrix, j))


def grand_total(matrix: Matrix) -> float:
    """N (SIGIR'16 Table 2)."""
    return math.fsum(x for row in matrix for x in row)


def _check_not_negative(matrix: Matrix) -> None:
    for i, row in enumerate(matrix):
        for j, x in enumerate(row):
            if x < 0:
                raise ValueError(f"a negative score: run {i}, topic {j}, {x}")


def expected(matrix: Matrix) -> list[list[float]]:
    """SIGIR'16 Eq. 5: e_ij = S_i T_j / N; all 0 where N = 0."""
    _check_not_negative(matrix)
    n = grand_total(matrix)
    s = [row_total(matrix, i) for i in range(len(matrix))]
    t = [topic_total(matrix, j) for j in range(len(matrix[0]))]
    return [[s_i * t_j / n if n > 0 else 0.0 for t_j in t] for s_i in s]


def zmatrix(matrix: Matrix, loss: Loss = "linear") -> list[list[float]]:
    """SIGIR'16 Section 3.1: z_ij = (x_ij - e_ij) / sqrt(e_ij), 0 where e_ij = 0; or s(x - e)."""
    change = smooth if loss == "smooth" else float
    return [
        [change(x - e) / math.sqrt(e) if e > 0 else 0.0 for x, e in zip(xs, es, strict=True)]
        for xs, es in zip(matrix, expected(matrix), strict=True)
    ]


def g_squared(matrix: Matrix) -> float:
    """SIGIR'16 Eq. 4: the sum of the squares of z."""
    return math.fsum(z * z for row in zmatrix(matrix) for z in row)


def zrisk(matrix: Matrix, i: int, alpha: float = 0.0, loss: Loss = "linear") -> float:
    """SIGIR'16 Eq. 6: sum of z > 0, plus (1 + alpha) times the sum of z < 0."""
    z = zmatrix(matrix, loss)[i]
    if loss == "smooth":
        return math.fsum(z)
    return math.fsum(v for v in z if v > 0) + (1 + alpha) * math.fsum(v for v in z if v < 0)


def phi_cdf(x: float) -> float:
    """Phi: the standard normal distribution function."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


def phi_pdf(x: float) -> float:
    """The standard normal density."""
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def georisk_value(mean_score: float, zrisk_score: float, c: int) -> float:
    """SIGIR'16 Eq. 7 with a square root: sqrt(S_i / c * Phi(ZRisk_i / c))."""
    return math.sqrt(mean_score * phi_cdf(zrisk_score / c))


def georisk(matrix: Matrix, i: int, alpha: float = 0.0, loss: Loss = "linear") -> float:
    """SIGIR'16 Eq. 7 over a matrix."""
    c = len(matrix[i])
    return georisk_value(row_total(matrix, i) / c, zrisk(matrix, i, alpha, loss), c)


def population_members(population: Sequence[int], i: int) -> list[int]:
    """The named set plus run i; a member of the set is not added twice."""
    return [*population] if i in population else [*population, i]


def population_matrix(matrix: Matrix, population: Sequence[int], i: int) -> list[Row]:
    """The rows of the named set plus run i, in the order of ``population_members``."""
    return [matrix[k] for k in population_members(population, i)]


def zrisk_population(
    matrix: Matrix,
    population_indices: Sequence[int],
    i: int,
    alpha: float = 0.0,
    loss: Loss = "linear",
) -> float:
    """ZRisk of run i among the named set plus itself (SIGIR'16 Table 4: one baseline)."""
    place = population_members(population_indices, i).index(i)
    return zrisk(population_matrix(matrix, population_indices, i), place, alpha, loss)


def georisk_population(
    matrix: Matrix,
    population_indices: Sequence[int],
    i: int,
    alpha: float = 0.0,
    loss: Loss = "linear",
) -> float:
    """GeoRisk of run i among the named set plus itself."""
    place = population_members(population_indices, i).index(i)
    return georisk(population_matrix(matrix, population_indices, i), place, alpha, loss)


# --------------------------------------------------------------------------------------------
# 3a. Inference for ZRisk / c and GeoRisk: delete-one-topic jackknife
# --------------------------------------------------------------------------------------------


def theta(
    matrix: Matrix, i: int, measure: Measure, alpha: float = 0.0, loss: Loss = "linear"
) -> float:
    """What is tested: zeta = ZRisk / c, or GeoRisk."""
    if measure == "zeta":
        return zrisk(matrix, i, alpha, loss) / len(matrix[i])
    return georisk(matrix, i, alpha, loss)


def without_topic(matrix: Matrix, q: int) -> list[list[float]]:
    """The matrix without one column."""
    return [_without(row, q) for row in matrix]


def jackknife(
    matrix: Matrix, statistic: Callable[[Matrix], float], level: float = 0.95
) -> Estimate:
    """Delete one topic, recompute everything; centred on the plug-in value, t with c - 1."""
    c = len(matrix[0])
    whole = statistic(matrix)
    if c < 2:
        return student_test(whole, None, c - 1, level)
    left = [statistic(without_topic(matrix, q)) for q in range(c)]
    centre = mean(left)
    se = math.sqrt((c - 1) / c * math.fsum((v - centre) ** 2 for v in left))
    return student_test(whole, se, c - 1, level, NOISE)


def contrast(
    matrix: Matrix,
    i: int,
    members: Sequence[int],
    measure: Measure,
    alpha: float = 0.0,
    loss: Loss = "linear",
) -> float:
    """theta_i minus the mean of theta over the members, as the mean of the differences."""
    own = theta(matrix, i, measure, alpha, loss)
    return mean(own - theta(matrix, k, measure, alpha, loss) for k in members)


def _undefined(test: Estimate) -> Estimate:
    return Estimate(estimate=test["estimate"], se=None, t=None, p=None, lo=None, hi=None)


def own_jackknife(
    matrix: Matrix,
    i: int,
    measure: Measure,
    alpha: float = 0.0,
    loss: Loss = "linear",
    level: float = 0.95,
) -> Estimate:
    """theta_i with its standard error and interval (its t and p test nothing of interest)."""
    test = jackknife(matrix, lambda m: theta(m, i, measure, alpha, loss), level)
    return _undefined(test) if row_total(matrix, i) == 0 else test


def set_jackknife(
    matrix: Matrix,
    i: int,
    members: Sequence[int],
    measure: Measure,
    alpha: float = 0.0,
    loss: Loss = "linear",
    level: float = 0.95,
) -> Estimate:
    """theta_i minus the mean over a baseline set (or over all runs: a virtual baseline)."""
    test = jackknife(matrix, lambda m: contrast(m, i, members, measure, alpha, loss), level)
    single_zero = len(members) == 1 and row_total(matrix, members[0]) == 0
    return _undefined(test) if row_total(matrix, i) == 0 or single_zero else test


def difference_jackknife(
    matrix: Matrix,
    i: int,
    b: int,
    measure: Measure,
    alpha: float = 0.0,
    loss: Loss = "linear",
    level: float = 0.95,
) -> Estimate:
    """D = theta_i - theta_b, both measured in the same matrix."""
    return set_jackknife(matrix, i, [b], measure, alpha, loss, level)


# --------------------------------------------------------------------------------------------
# 3b. Inference for ZRisk / c and GeoRisk: influence functions
# --------------------------------------------------------------------------------------------


def _minus_log_slope(x: float, e: float, z: float, alpha: float, loss: Loss) -> float:
    """-p dz/dp of one weighted cell; linear: w (x + e) / (2 sqrt(e)); 0 where e = 0."""
    if e <= 0:
        return 0.0
    if loss == "smooth":
        return smooth_slope(x - e) * math.sqrt(e) + z / 2
    w = 1 + alpha if z < 0 else 1.0
    return w * (x + e) / (2 * math.sqrt(e))


def influence_zeta(
    matrix: Matrix, i: int, alpha: float = 0.0, loss: Loss = "linear"
) -> list[float]:
    """phi_iq = w z - zeta_i - h_i (x - e) / m_i, h_i = mean of w (x + e) / (2 sqrt(e))."""
    c = len(matrix[i])
    m = row_total(matrix, i) / c
    if m == 0:
        return [0.0] * c
    x, e, z = matrix[i], expected(matrix)[i], zmatrix(matrix, loss)[i]
    h = mean(_minus_log_slope(x[q], e[q], z[q], alpha, loss) for q in range(c))
    weigh = alpha if loss == "linear" else 0.0
    wz = [(1 + weigh) * v if v < 0 else v for v in z]
    zeta = mean(wz)
    return [wz[q] - zeta - h * (x[q] - e[q]) / m for q in range(c)]


def influence_georisk(
    matrix: Matrix, i: int, alpha: float = 0.0, loss: Loss = "linear"
) -> list[float]:
    """gam_iq = [Phi(zeta) (x - m) + m phi_N(zeta) phi_iq] / (2 G_i)."""
    c = len(matrix[i])
    m = row_total(matrix, i) / c
    g = georisk(matrix, i, alpha, loss)
    if m == 0 or g == 0:
        return [0.0] * c
    zeta = theta(matrix, i, "zeta", alpha, loss)
    phi = influence_zeta(matrix, i, alpha, loss)
    high, density = phi_cdf(zeta), phi_pdf(zeta)
    return [(high * (matrix[i][q] - m) + m * density * phi[q]) / (2 * g) for q in range(c)]


def influence(
    matrix: Matrix, i: int, measure: Measure, alpha: float = 0.0, loss: Loss = "linear"
) -> list[float]:
    """psi: phi for zeta, gam for GeoRisk; it sums to 0 over the topics."""
    if measure == "zeta":
        return influence_zeta(matrix, i, alpha, loss)
    return influence_georisk(matrix, i, alpha, loss)


def _se_of_influence(psi: Sequence[float]) -> float | None:
    """sqrt(sum of squares / (c (c - 1)))."""
    c = len(psi)
    return math.sqrt(math.fsum(v * v for v in psi) / (c * (c - 1))) if c > 1 else None


def own_influence_se(
    matrix: Matrix, i: int, measure: Measure, alpha: float = 0.0, loss: Loss = "linear"
) -> float | None:
    """The infinitesimal-jackknife standard error of theta_i."""
    return _se_of_influence(influence(matrix, i, measure, alpha, loss))


def set_influence_se(
    matrix: Matrix,
    i: int,
    members: Sequence[int],
    measure: Measure,
    alpha: float = 0.0,
    loss: Loss = "linear",
) -> float | None:
    """The same of theta_i minus the mean over a baseline set."""
    own = influence(matrix, i, measure, alpha, loss)
    others = [influence(matrix, k, measure, alpha, loss) for k in members]
    return _se_of_influence([mean(own[q] - psi[q] for psi in others) for q in range(len(own))])


def difference_influence_se(
    matrix: Matrix, i: int, b: int, measure: Measure, alpha: float = 0.0, loss: Loss = "linear"
) -> float | None:
    """The same of theta_i - theta_b."""
    return set_influence_se(matrix, i, [b], measure, alpha, loss)


# --------------------------------------------------------------------------------------------
# 3c. Studentised label-swap test, by exhaustion
# --------------------------------------------------------------------------------------------


def swap_statistic(
    matrix: Matrix, i: int, b: int, measure: Measure, alpha: float = 0.0, loss: Loss = "linear"
) -> float:
    """T = D / SE_IJ; 0/0 is 0."""
    d = contrast(matrix, i, [b], measure, alpha, loss)
    se = difference_influence_se(matrix, i, b, measure, alpha, loss)
    t = student_test(d, se, len(matrix[i]) - 1, noise=NOISE)["t"]
    return 0.0 if t is None else t


def swapped(matrix: Matrix, i: int, b: int, topics: Sequence[bool]) -> list[list[float]]:
    """The matrix with the scores of i and b exchanged on the chosen topics."""
    rows = [list(row) for row in matrix]
    for q, exchange in enumerate(topics):
        if exchange:
            rows[i][q], rows[b][q] = matrix[b][q], matrix[i][q]
    return rows


def swap_test(
    matrix: Matrix, i: int, b: int, measure: Measure, alpha: float = 0.0, loss: Loss = "linear"
) -> float:
    """p: the share of all 2^c exchanges with |T*| >= |T| - 1e-12."""
    observed = abs(swap_statistic(matrix, i, b, measure, alpha, loss))
    extreme = [
        abs(swap_statistic(swapped(matrix, i, b, topics), i, b, measure, alpha, loss))
        >= observed - 1e-12
        for topics in product([False, True], repeat=len(matrix[i]))
    ]
    return sum(extreme) / len(extreme)


# --------------------------------------------------------------------------------------------
# 3d. Corrections, paired t, effect size
# --------------------------------------------------------------------------------------------

PValues = Sequence[float | None]


def _family(p: PValues) -> list[float]:
    """The p-values that exist, ascending: the empty ones are not of the family."""
    return sorted(v for v in p if v is not None)


def bonferroni(p: PValues) -> list[float | None]:
    """min(1, m p)."""
    m = len(_family(p))
    return [None if v is None else min(1.0, m * v) for v in p]


def holm(p: PValues) -> list[float | None]:
    """The largest (m - k + 1) p_(k) over the k-th smallest p-values up to this one, at most 1."""
    family = _family(p)
    m = len(family)

    def adjusted(v: float) -> float:
        steps = [(m - k + 1) * w for k, w in enumerate(family, start=1) if w <= v]
        return min(1.0, max(steps))

    return [None if v is None else adjusted(v) for v in p]


def benjamini_hochberg(p: PValues) -> list[float | None]:
    """The smallest m p_(k) / k over the k-th smallest p-values from this one on, at most 1."""
    family = _family(p)
    m = len(family)

    def adjusted(v: float) -> float:
        steps = [m * w / k for k, w in enumerate(family, start=1) if w >= v]
        return min(1.0, min(steps))

    return [None if v is None else adjusted(v) for v in p]


def paired_t(run: Row, baseline: Row, level: float = 0.95) -> Estimate:
    """Student's t for matched pairs (SIGIR'14 Eq. 7): TRisk at alpha = 0."""
    return mean_test(deltas(run, baseline), level)


def cohen_dz(run: Row, baseline: Row) -> float | None:
    """d_z = mean of delta / s of delta; 0 for equal runs, infinite for a constant difference."""
    d = deltas(run, baseline)
    if len(d) < 2:
        return None
    s, centre = deviation(d), mean(d)
    if s > 0:
        return centre / s
    return math.copysign(math.inf, centre) if centre else 0.0


# --------------------------------------------------------------------------------------------
# 4. Agreement of rankings
# --------------------------------------------------------------------------------------------


def _sign(x: float) -> int:
    return (x > 0) - (x < 0)


def kendall_tau_b(x: Row, y: Row) -> float | None:
    """(concordant - discordant) / sqrt(pairs untied in x * pairs untied in y)."""
    pairs = [(i, j) for j in range(len(x)) for i in range(j)]
    dx = [_sign(x[i] - x[j]) for i, j in pairs]
    dy = [_sign(y[i] - y[j]) for i, j in pairs]
    untied = sum(v != 0 for v in dx) * sum(v != 0 for v in dy)
    return sum(a * b for a, b in zip(dx, dy, strict=True)) / math.sqrt(untied) if untied else None


def tau_ap(truth: Sequence[str], estimate: Sequence[str]) -> float:
    """2/(n-1) sum_{i=2..n} C(i)/(i-1) - 1, C(i): items above i in estimate, also so in truth."""
    n = len(estimate)
    place = {item: k for k, item in enumerate(truth)}
    total = 0.0
    for i in range(2, n + 1):
        item = estimate[i - 1]
        right = sum(place[above] < place[item] for above in estimate[: i - 1])
        total += right / (i - 1)
    return 2 / (n - 1) * total - 1


class Rbo(TypedDict):
    """RBO of two finite prefixes."""

    base: float
    min: float
    max: float
    residual: float
    ext: float


def _overlap(a: Sequence[str], b: Sequence[str], d: int) -> int:
    """X_d: items in both prefixes of depth d (a list shorter than d counts whole)."""
    return len(set(a[:d]) & set(b[:d]))


def _rbo_depth(p: float) -> int:
    """A depth beyond which the weights sum to less than 1e-18."""
    return math.ceil(math.log(1e-18) / math.log(p)) + 1


def _best_overlap(a: Sequence[str], b: Sequence[str], d: int) -> int:
    """The most that X_d can be: each unseen place above d matches an item, never more than d."""
    unseen = max(0, d - len(a)) + max(0, d - len(b))
    return min(d, _overlap(a, b, d) + unseen)


def _held_agreement(a: Sequence[str], b: Sequence[str], d: int) -> float:
    """A_d extrapolated: beyond each list's end, what was seen of it goes on at the same rate.

    To the shorter length s: X_d / d. To the longer length: (X_d + X_s (d - s) / s) / d. Beyond:
    what it was there (Webber et al., Section 4.5).
    """
    s, longer = sorted((len(a), len(b)))
    if d > longer:
        return _held_agreement(a, b, longer)
    unseen = max(0, d - s) * _overlap(a, b, s) / s
    return (_overlap(a, b, d) + unseen) / d


def rbo(a: Sequence[str], b: Sequence[str], p: float = 0.9) -> Rbo:
    """Webber et al. Eq. 4: (1 - p) sum of p^(d-1) X_d / d, the tail summed term by term.

    base: the sum to the depth of the shorter list. min: unseen items all differ (their Eq. 11).
    max: unseen items agree where they can. residual: max - min. ext: agreement extrapolated.
    """
    seen, depths = min(len(a), len(b)), range(1, _rbo_depth(p) + 1)
    weight = {d: (1 - p) * p ** (d - 1) for d in depths}
    low = math.fsum(weight[d] * _overlap(a, b, d) / d for d in depths)
    high = math.fsum(weight[d] * _best_overlap(a, b, d) / d for d in depths)
    ext = math.fsum(weight[d] * _held_agreement(a, b, d) for d in depths)
    base = math.fsum(weight[d] * _overlap(a, b, d) / d for d in depths[:seen])
    return Rbo(base=base, min=low, max=high, residual=high - low, ext=ext)


def average_ranks(values: Sequence[float]) -> list[float]:
    """1 = smallest; equal values share the mean of their ranks."""
    return [sum(w < v for w in values) + (sum(w == v for w in values) + 1) / 2 for v in values]


class Friedman(TypedDict):
    """Friedman's statistic, its p and Kendall's W."""

    chi2: float
    p: float
    w: float


def friedman(matrix: Matrix) -> Friedman | None:
    """Treatments as rows, blocks as columns; corrected for ties; None where all are tied.

    chi2 = [12 / (n k (k+1)) sum R_i^2 - 3 n (k+1)] / [1 - sum (t^3 - t) / (n (k^3 - k))].
    """
    k, n = len(matrix), len(matrix[0])
    ranks = [average_ranks(column(matrix, q)) for q in range(n)]
    sums = [math.fsum(block[i] for block in ranks) for i in range(k)]
    # sum of t^3 - t over the groups of ties: each of the t values of a group gives t^2 - 1
    ties = sum(column(matrix, q).count(v) ** 2 - 1 for q in range(n) for v in column(matrix, q))
    correction = 1 - ties / (n * (k**3 - k))
    if correction == 0:
        return None
    plain = 12 / (n * k * (k + 1)) * math.fsum(r * r for r in sums) - 3 * n * (k + 1)
    chi2 = plain / correction
    return Friedman(chi2=chi2, p=float(stats.chi2.sf(chi2, k - 1)), w=chi2 / (n * (k - 1)))


# --------------------------------------------------------------------------------------------
# 7. Intervals of single values, ranks, and the test against virtual baselines
# --------------------------------------------------------------------------------------------

Ends = tuple[float, float] | None
LEAST_TOPICS = 3


def kurtosis_degrees(values: Sequence[float]) -> float:
    """min(c - 1, 2 c / (k - (c - 3)/(c - 1))), k = m4 / m2^2 of the values (3 for equal ones)."""
    c, centre = len(values), mean(values)
    second = mean((v - centre) ** 2 for v in values)
    fourth = mean((v - centre) ** 4 for v in values)
    k = fourth / second**2 if second**2 > 0 else 3.0
    return min(c - 1, 2 * c / (k - (c - 3) / (c - 1)))


def _pseudo_values(whole: float, left: Sequence[float]) -> list[float]:
    c = len(left)
    return [c * whole - (c - 1) * v for v in left]


def _quantile(df: float, level: float) -> float:
    return float(stats.t.isf((1 - level) / 2, df))


def log_interval(whole: float, left: Sequence[float], level: float = 0.95) -> Ends:
    """Of a value above 0, from its values without each topic: t interval of the logarithm."""
    if len(left) < LEAST_TOPICS or whole <= 0 or min(left) <= 0:
        return None
    pseudo = _pseudo_values(math.log(whole), [math.log(v) for v in left])
    se = deviation(pseudo) / math.sqrt(len(left))
    if se < NOISE:
        return None
    margin = _quantile(kurtosis_degrees(pseudo), level) * se
    return whole * math.exp(-margin), whole * math.exp(margin)


def _root_interval(
    values: Sequence[float], whole: float, df: float, level: float
) -> tuple[float, float]:
    """Of a part at least 0: sqrt(part) +- t SE / (2 sqrt(part)), squared; never below 0."""
    if whole == 0:
        return 0.0, 0.0
    se = deviation(values) / math.sqrt(len(values))
    margin = _quantile(min(df, kurtosis_degrees(values)), level) * se / (2 * math.sqrt(whole))
    return max(math.sqrt(whole) - margin, 0.0) ** 2, (math.sqrt(whole) + margin) ** 2


def _degrees_of_value(ps: Sequence[float], ms: Sequence[float], weight: float) -> float:
    """By the kurtosis of p - weight m; no bound where p and weight m all but cancel."""
    centred = [(x - mean(ps), weight * (y - mean(ms))) for x, y in zip(ps, ms, strict=True)]
    terms = [math.comb(4, k) * mean(x ** (4 - k) * (-y) ** k for x, y in centred) for k in range(5)]
    if math.fsum(terms) <= 1e-6 * math.fsum(map(abs, terms)):
        return math.inf
    return kurtosis_degrees([x - y for x, y in centred])


def parts_interval(
    plus: tuple[float, Sequence[float]],
    minus: tuple[float, Sequence[float]],
    weight: float,
    level: float = 0.95,
    wider: float = 1.0,
) -> Ends:
    """Of plus - weight minus, each with its values by topic (Zou and Donner 2008).

    It reaches `wider` times as far to either side.
    """
    (p, ps), (m, ms) = plus, minus
    c = len(ps)
    if c < LEAST_TOPICS:
        return None
    sp, sm = deviation(ps), deviation(ms)
    cov = math.fsum((x - mean(ps)) * (y - mean(ms)) for x, y in zip(ps, ms, strict=True)) / (c - 1)
    r = cov / (sp * sm) if sp > 0 and sm > 0 else 0.0
    if sp**2 - 2 * weight * cov + (weight * sm) ** 2 < (1e-9 * max(p, weight * m)) ** 2:
        return None
    df = _degrees_of_value(ps, ms, weight)
    (lp, up), (lm, um) = _root_interval(ps, p, df, level), _root_interval(ms, m, df, level)

    def reach(a: float, b: float) -> float:
        return math.sqrt(max(a * a - 2 * r * a * b + b * b, 0.0))

    value = p - weight * m
    low = value - wider * reach(p - lp, weight * (um - m))
    return low, value + wider * reach(up - p, weight * (m - lm))


def urisk_interval(
    run: Row, baseline: Row, alpha: float, loss: Loss = "linear", level: float = 0.95,
    others: Sequence[Row] = (),
) -> Ends:  # fmt: skip
    """From those of reward and risk; under the smooth loss of its gains and its losses.

    Wider from alpha = 5 on, where two of the other runs or more differ from the baseline.
    """
    w = weighted(run, baseline, 0.0, loss)
    gains, losses = [max(v, 0.0) for v in w], [max(-v, 0.0) for v in w]
    weight = 1 + alpha if loss == "linear" else 1.0
    lent = [
        deviation(weighted(other, baseline, alpha)) ** 2
        for other in others
        if list(other) != list(baseline)
    ]
    own, c, wider = deviation(weighted(run, baseline, alpha, loss)) ** 2, len(run), 1.0
    if loss == "linear" and alpha >= 5 and len(lent) > 1 and own > 0:
        wider = math.sqrt(max(((c - 1) * own + 5 * mean(lent)) / ((c + 4) * own), 1.0))
    parts = (mean(gains), gains), (mean(losses), losses)
    return parts_interval(*parts, weight, level, min(wider, 1.3))


def zeta_interval(matrix: Matrix, i: int, alpha: float, level: float = 0.95) -> Ends:
    """ZRisk / c from the means of z above 0 and of -z below 0, both jackknifed."""

    def part(m: Matrix, sign: float) -> float:
        return mean(max(sign * z, 0.0) for z in zmatrix(m)[i])

    parts = []
    for sign in (1.0, -1.0):
        left = [part(without_topic(matrix, q), sign) for q in range(len(matrix[i]))]
        parts.append((part(matrix, sign), _pseudo_values(part(matrix, sign), left)))
    return parts_interval(parts[0], parts[1], 1 + alpha, level)


def smooth_zeta_interval(matrix: Matrix, i: int, level: float = 0.95) -> Ends:
    """ZRisk / c under the smooth loss: Student's of the pseudo-values, degrees by kurtosis."""
    whole = theta(matrix, i, "zeta", 0.0, "smooth")
    left = [
        theta(without_topic(matrix, q), i, "zeta", 0.0, "smooth") for q in range(len(matrix[i]))
    ]
    pseudo = _pseudo_values(whole, left)
    se = deviation(pseudo) / math.sqrt(len(left))
    if len(left) < LEAST_TOPICS or se < NOISE * max(abs(whole), NOISE):
        return None
    margin = _quantile(kurtosis_degrees(pseudo), level) * se
    return whole - margin, whole + margin


def georisk_interval(
    matrix: Matrix, i: int, alpha: float, loss: Loss = "linear", level: float = 0.95
) -> Ends:
    """On the log scale."""
    left = [
        theta(without_topic(matrix, q), i, "georisk", alpha, loss) for q in range(len(matrix[i]))
    ]
    return log_interval(theta(matrix, i, "georisk", alpha, loss), left, level)


def mean_interval(row: Row, level: float = 0.95) -> Ends:
    """On the log scale; Student's with degrees by kurtosis where a score is below 0."""
    return log_interval(mean(row), [mean(_without(row, q)) for q in range(len(row))], level)


def told_apart(
    p: Sequence[Sequence[float | None]],
    values: Sequence[float],
    gamma: float,
    baseline: int | None = None,
) -> set[tuple[int, int]]:
    """Pairs (upper, lower) of runs that are significantly different, from the p of every pair.

    Holm over all pairs. Beside a baseline: Holm over its comparisons, Holm over all pairs at a
    tenth of gamma for the others, and whoever is above it is above whoever is below it.
    """
    runs = range(len(values))
    pairs = [(i, j) for i in runs for j in runs if i < j]
    adjusted = holm([p[i][j] for i, j in pairs])
    level = gamma if baseline is None else gamma / 10
    found = {pair for pair, v in zip(pairs, adjusted, strict=True) if v is not None and v < level}
    if baseline is not None:
        found = {pair for pair in found if baseline not in pair}
        others = [k for k in runs if k != baseline]
        marks = zip(others, holm([p[baseline][k] for k in others]), strict=True)
        marked = [k for k, v in marks if v is not None and v < gamma]
        found |= {(baseline, k) for k in marked}
        above = [k for k in marked if values[k] > values[baseline]]
        below = [k for k in marked if values[k] < values[baseline]]
        found |= {(i, j) for i in above for j in below}
    return {(i, j) if values[i] > values[j] else (j, i) for i, j in found}


def rank_interval(told: set[tuple[int, int]], runs: int, j: int) -> tuple[int, int]:
    """The best and the worst rank that the pairs told apart leave open."""
    above, below = sum(low == j for _, low in told), sum(up == j for up, _ in told)
    return 1 + above, runs - below


def p_of_contributions(values: Sequence[float], contributions: Matrix) -> list[list[float | None]]:
    """Of every pair: a paired t test of what the topics contribute."""
    c, runs = len(contributions[0]), range(len(values))
    p: list[list[float | None]] = [[None] * len(values) for _ in runs]
    for i in runs:
        for k in runs:
            if i != k:
                d = [a - b for a, b in zip(contributions[i], contributions[k], strict=True)]
                error = deviation(d) / math.sqrt(c)
                p[i][k] = student_test(values[i] - values[k], error, c - 1, noise=NOISE)["p"]
    return p
