"""The reference itself, held against the papers' tables, scipy and pytrec_eval.

The tables lie in ``tests/papers``; for the real runs see ``tests/helpers/shared_data.py``.
"""

import csv
import gzip
import math
import random
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Literal

import pytest
import pytrec_eval
from scipy import stats

from tests.helpers import reference as ref
from tests.helpers.shared_data import shared

TABLES = Path(__file__).parents[1] / "papers"
ALPHAS = (0.0, 1.0, 5.0, 10.0)
MEASURES: tuple[Literal["zeta", "georisk"], ...] = ("zeta", "georisk")
LOSSES: tuple[Literal["linear", "smooth"], ...] = ("linear", "smooth")

Cells = dict[str, str]
Grades = dict[str, int]
Docs = dict[str, float]


def table(name: str) -> list[Cells]:
    """One of the papers' tables."""
    with (TABLES / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def half_unit(printed: str) -> float:
    """Half a unit of the last printed digit."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])


def as_printed(value: float, printed: str, more: float = 0.0) -> bool:
    """Equal to the last printed digit; ``more`` is what the printed inputs' rounding adds."""
    return abs(value - float(printed)) <= half_unit(printed) + more + 1e-9


def random_matrix(seed: int, runs: int, topics: int, zeros: float = 0.1) -> list[list[float]]:
    """Scores in (0, 1), some of them exactly 0."""
    rng = random.Random(seed)
    return [
        [0.0 if rng.random() < zeros else rng.betavariate(1.5, 2.5) for _ in range(topics)]
        for _ in range(runs)
    ]


def golden_matrix() -> list[list[float]]:
    """6 runs by 20 topics, with one zero and one run at 0.9 of another."""
    matrix = [[(7 * i + 3) * (5 * q + 2) % 101 / 101 for q in range(20)] for i in range(6)]
    matrix[2][4] = 0.0
    matrix[3] = [0.9 * x for x in matrix[0]]
    return matrix


# --------------------------------------------------------------------------------------------
# Effectiveness
# --------------------------------------------------------------------------------------------


def test_rank_breaks_ties_by_docno_descending() -> None:
    docs = {"a": 1.0, "c": 1.0, "b": 1.0, "B": 1.0, "é": 1.0, "z": 2.0, "0": -1.0}
    assert ref.rank(docs) == ["z", "é", "c", "b", "a", "B", "0"]


def test_rank_in_single_precision_ties_what_doubles_tell_apart() -> None:
    docs = {"a": 1.0 + 1e-8, "b": 1.0}
    assert ref.rank(docs, "single") == ["b", "a"]
    assert ref.rank(docs, "double") == ["a", "b"]
    assert ref.rank({"a": 1e40, "b": 1e39, "c": -1e39, "d": -1e40}, "single") == list("badc")


def test_err_by_hand() -> None:
    grades = {"a": 1, "b": 4, "c": -2, "d": 2}
    # R: c 0, a 1/16, unjudged 0, b 15/16
    first, second = Fraction(1, 16), Fraction(15, 16)
    expected = first / 2 + (1 - first) * second / 4
    assert ref.err(["c", "a", "u", "b", "d"], grades, 4) == pytest.approx(float(expected))
    assert ref.err(["c", "a", "u", "b", "d"], grades, 1) == 0
    assert ref.err(["a"], {"a": 1}, 20, max_grade=1) == 0.5
    with pytest.raises(ValueError, match="grade above 3"):
        ref.err(["a"], grades, 20, max_grade=3)


def adversarial_topic(rng: random.Random) -> tuple[Docs, Grades]:
    """Ties, near ties, negative scores and grades, unjudged and unretrieved documents."""
    pool = [f"d{k:02d}" for k in range(40)] + ["D1", "d1", "é", "日"]
    levels = [rng.choice([0.5, 1.0, 3.0, -2.0, 1e-3]) for _ in range(4)]
    docs = {
        doc: rng.choice(levels) * (1 + rng.choice([0, 0, 1e-9, -1e-9, 1e-8, 1e-7, 1e-6]))
        for doc in rng.sample(pool, rng.randint(1, 40))
    }
    choice = rng.choice([[-2, 0, 1, 2, 3, 4], [-2, -1, 0], [0, 1], [-1, 0, 0, 0, 4]])
    grades = {doc: rng.choice(choice) for doc in rng.sample(pool, rng.randint(1, 30))}
    return docs, grades


def adversarial_topics(seed: int, count: int) -> dict[str, tuple[Docs, Grades]]:
    """Without topics of negative grades alone: those make pytrec_eval 0.5 end the process."""
    rng = random.Random(seed)
    drawn = (adversarial_topic(rng) for _ in range(count))
    return {str(q): (d, g) for q, (d, g) in enumerate(drawn) if max(g.values()) >= 0}


def reference_values(docs: Docs, grades: Grades, rel: int) -> dict[str, float]:
    ranked = ref.rank(docs)
    values = {
        "ndcg": ref.ndcg(ranked, grades),
        "map": ref.average_precision(ranked, grades, rel=rel),
        "recip_rank": ref.reciprocal_rank(ranked, grades, rel=rel),
        "Rprec": ref.r_precision(ranked, grades, rel),
    }
    for k in (1, 2, 3, 5, 10, 20, 100):
        values[f"ndcg_cut_{k}"] = ref.ndcg(ranked, grades, k)
        values[f"map_cut_{k}"] = ref.average_precision(ranked, grades, k, rel)
        values[f"P_{k}"] = ref.precision(ranked, grades, k, rel)
        values[f"recall_{k}"] = ref.recall(ranked, grades, k, rel)
        values[f"success_{k}"] = ref.success(ranked, grades, k, rel)
    return values


CUTS = "1,2,3,5,10,20,100"
NAMES = {"ndcg", "map", "recip_rank", "Rprec"} | {
    f"{name}.{CUTS}" for name in ("ndcg_cut", "map_cut", "P", "recall", "success")
}


@pytest.mark.parametrize("rel", [1, 2, 3])
def test_effectiveness_equals_pytrec_eval(rel: int) -> None:
    topics = adversarial_topics(rel, 400)
    assert len(topics) > 350
    evaluator = pytrec_eval.RelevanceEvaluator(
        {q: grades for q, (_, grades) in topics.items()}, NAMES, relevance_level=rel
    )
    found = evaluator.evaluate({q: docs for q, (docs, _) in topics.items()})
    for q, (docs, grades) in topics.items():
        expected = reference_values(docs, grades, rel)
        assert found[q] == pytest.approx(expected, abs=1e-12), q


def test_near_ties_do_matter_in_the_comparison() -> None:
    drawn = [docs for docs, _ in adversarial_topics(1, 400).values()]
    differ = sum(ref.rank(docs, "single") != ref.rank(docs, "double") for docs in drawn)
    assert differ > 100


@pytest.mark.parametrize("grades", [{}, {"a": 0}, {"a": -2, "b": -1}, {"z": -2}])
def test_a_topic_without_relevant_documents_scores_0(grades: Grades) -> None:
    docs = {"a": 2.0, "b": 1.0}
    assert set(reference_values(docs, grades, 1).values()) == {0}
    assert ref.err(ref.rank(docs), grades, 20) == 0
    assert ref.ndcg_exp(ref.rank(docs), grades, 20) == 0


def test_ndcg_exp_equals_pytrec_eval_on_mapped_grades() -> None:
    topics = adversarial_topics(7, 300)
    mapped = {
        q: {doc: 2 ** max(0, g) - 1 for doc, g in grades.items()}
        for q, (_, grades) in topics.items()
    }
    evaluator = pytrec_eval.RelevanceEvaluator(mapped, {"ndcg", "ndcg_cut.5,20"})
    found = evaluator.evaluate({q: docs for q, (docs, _) in topics.items()})
    for q, (docs, grades) in topics.items():
        ranked = ref.rank(docs)
        for name, k in (("ndcg", None), ("ndcg_cut_5", 5), ("ndcg_cut_20", 20)):
            expected = ref.ndcg_exp(ranked, grades, k)
            assert found[q][name] == pytest.approx(expected, abs=1e-12), (q, name)


def read_qrels() -> dict[str, Grades]:
    qrels: dict[str, Grades] = defaultdict(dict)
    with gzip.open(shared("trec-web-2012", "qrels.txt.gz"), "rt") as file:
        for line in file:
            topic, _, doc, grade = line.split()
            qrels[topic][doc] = int(grade)
    return qrels


def read_run(name: str) -> dict[str, Docs]:
    run: dict[str, Docs] = defaultdict(dict)
    with gzip.open(shared("trec-web-2012", "runs", f"{name}.txt.gz"), "rt") as file:
        for line in file:
            topic, _, doc, _, score, _ = line.split()
            run[topic][doc] = float(score)
    return run


def web_track_values(ranked: list[str], grades: Grades) -> dict[str, float]:
    return {
        "gdeval_err@20": ref.err(ranked, grades, 20),
        "gdeval_ndcg@20": ref.ndcg_exp(ranked, grades, 20),
        "ndcg_cut_20": ref.ndcg(ranked, grades, 20),
        "map": ref.average_precision(ranked, grades),
        "P_10": ref.precision(ranked, grades, 10),
        "recip_rank": ref.reciprocal_rank(ranked, grades),
    }


def web_track_matrix(
    name: str, precision: Literal["single", "double"] = "double"
) -> dict[str, dict[str, float]]:
    """One value a topic and measure, over the topics with a relevant document."""
    run, qrels = read_run(name), read_qrels()
    return {
        topic: web_track_values(ref.rank(run.get(topic, {}), precision), grades)
        for topic, grades in qrels.items()
        if ref.relevant_count(grades)
    }


def web_track_rows() -> list[Cells]:
    with shared("trec-web-2012", "expected_per_topic.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_effectiveness_equals_gdeval_and_trec_eval_on_real_runs() -> None:
    rows = web_track_rows()
    found = {name: web_track_matrix(name) for name in {row["run"] for row in rows}}
    for row in rows:
        values = found[row["run"]]
        measure, topic = row["measure"], row["topic"]
        if topic in values:
            value = values[topic][measure]
        else:
            assert topic == "amean", topic
            value = ref.mean(v[measure] for v in values.values())
        assert as_printed(value, row["value"]), (row, value)
    assert len(rows) == 2448


def test_indri_casp_has_the_mean_err_of_the_papers() -> None:
    values = web_track_matrix("indriCASP", "single")
    assert as_printed(ref.mean(v["gdeval_err@20"] for v in values.values()), "0.1947")


def test_urisk_equals_the_printed_one_on_real_runs() -> None:
    with shared("trec-web-2012", "expected_urisk_vs_indriCASP.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    baseline = web_track_matrix("indriCASP")
    found = {name: web_track_matrix(name) for name in {row["run"] for row in rows}}
    for row in rows:
        for measure in ("gdeval_ndcg@20", "gdeval_err@20"):
            run = [found[row["run"]][topic][measure] for topic in baseline]
            base = [values[measure] for values in baseline.values()]
            value = ref.urisk(run, base, float(row["alpha"]))
            assert as_printed(value, row[f"urisk_{measure}"]), (row, measure, value)


# --------------------------------------------------------------------------------------------
# Risk against a baseline
# --------------------------------------------------------------------------------------------


def test_paired_measures_by_hand() -> None:
    run, baseline = [0.5, 0.25, 0.0, 1.0, 0.75], [0.25, 0.5, 0.0, 1.0, 1.0]
    assert ref.deltas(run, baseline) == [0.25, -0.25, 0, 0, -0.25]
    assert ref.weighted(run, baseline, 3) == [0.25, -1, 0, 0, -1]
    assert ref.reward(run, baseline) == 0.25 / 5
    assert ref.risk(run, baseline) == 0.5 / 5
    assert ref.urisk(run, baseline, 3) == -1.75 / 5
    assert ref.wins_ties_losses(run, baseline) == (1, 2, 2)
    assert ref.losses20(run, baseline) == 2  # -0.25 < -0.1 and -0.25 < -0.2
    assert ref.losses20([0.5], [0.75]) == 1
    assert ref.losses20([0.75, 0.0, 4.0], [0.9, 0.0, 5.0]) == 0  # the last: -1 is not < -1
    assert ref.losses20([0.1], [0.2]) == 1
    assert ref.ratio(1, 0) == math.inf
    assert ref.ratio(0, 0) is None
    assert ref.ratio(1, 2) == 0.5


@pytest.mark.parametrize("alpha", ALPHAS)
def test_urisk_identities(alpha: float) -> None:
    run, baseline = random_matrix(3, 2, 30)
    d = ref.deltas(run, baseline)
    value = ref.urisk(run, baseline, alpha)
    assert value == pytest.approx(ref.reward(run, baseline) - (1 + alpha) * ref.risk(run, baseline))
    assert value == pytest.approx(ref.gain(run, baseline) - alpha * ref.risk(run, baseline))
    half = alpha / 2
    assert value == pytest.approx((1 + half) * ref.mean(d) - half * ref.mean(map(abs, d)))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_jackknife_and_parametric_standard_errors_of_urisk_agree(alpha: float) -> None:
    run, baseline = random_matrix(4, 2, 25)
    assert ref.jackknife_se(run, baseline, alpha) == pytest.approx(
        ref.trisk(run, baseline, alpha)["se"], rel=1e-12
    )


def test_trisk_equals_scipy() -> None:
    for seed in range(20):
        run, baseline = random_matrix(seed, 2, 15)
        expected = stats.ttest_rel(run, baseline)
        interval = expected.confidence_interval()
        risk, paired = ref.trisk(run, baseline), ref.paired_t(run, baseline)
        assert risk["t"] == paired["t"] == pytest.approx(expected.statistic)
        assert risk["p"] == paired["p"] == pytest.approx(expected.pvalue)
        assert risk["lo"] == pytest.approx(interval.low)
        assert risk["hi"] == pytest.approx(interval.high)
        weighted = stats.ttest_1samp(ref.weighted(run, baseline, 5), 0)
        assert ref.trisk(run, baseline, 5)["t"] == pytest.approx(weighted.statistic)
        assert ref.trisk(run, baseline, 5)["p"] == pytest.approx(weighted.pvalue)
        dz = ref.cohen_dz(run, baseline)
        assert dz == pytest.approx(expected.statistic / math.sqrt(15))


def test_trisk_of_degenerate_samples() -> None:
    assert ref.trisk([0.1, 0.2], [0.1, 0.2], 5) == {
        "urisk": 0, "se": 0, "t": 0, "p": None, "lo": None, "hi": None,
    }  # fmt: skip
    assert ref.trisk([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], 5) == {
        "urisk": 0, "se": 0, "t": 0, "p": 1, "lo": 0, "hi": 0,
    }  # fmt: skip
    up, down = ref.trisk([0.5] * 3, [0.25] * 3), ref.trisk([0.1] * 3, [0.0] * 3)
    assert (up["t"], up["p"], up["urisk"]) == (math.inf, None, 0.25)
    assert (down["t"], down["p"], down["se"]) == (math.inf, None, 0)
    assert ref.trisk([0.0] * 3, [0.1] * 3)["t"] == -math.inf
    one = ref.trisk([0.5], [0.25])
    assert (one["urisk"], one["se"], one["t"], one["p"]) == (0.25, None, None, None)
    # exactly one topic differs: t is 1 or -1 whatever alpha is
    for alpha in ALPHAS:
        assert ref.trisk([0.5, 0.3, 0.3], [0.25, 0.3, 0.3], alpha)["t"] == pytest.approx(1)
        assert ref.trisk([0.25, 0.3, 0.3], [0.5, 0.3, 0.3], alpha)["t"] == pytest.approx(-1)
    assert ref.cohen_dz([0.5], [0.25]) is None
    assert ref.cohen_dz([0.5, 0.5], [0.5, 0.5]) == 0
    assert ref.cohen_dz([0.25, 0.25], [0.5, 0.5]) == -math.inf


def test_exploratory_topics() -> None:
    run, baseline = random_matrix(5, 2, 20)
    c = len(run)
    for alpha in ALPHAS:
        w = ref.weighted(run, baseline, alpha)
        s = stats.tstd(w)
        tr, tj = ref.topic_tr(run, baseline, alpha), ref.topic_tj(run, baseline, alpha)
        assert tr is not None
        assert tj is not None
        assert tr == pytest.approx([v / s for v in w])
        # SIGIR'14 Eq. 20: TRisk = sum of TR / sqrt(c)
        assert sum(tr) / math.sqrt(c) == pytest.approx(ref.trisk(run, baseline, alpha)["t"])
        # a loss has a negative TJ (Figure 2), and TJ is the centred w, so that it sums to 0:
        # Eq. 22, which adds the TJ up to TRisk, cannot hold
        centre = ref.mean(w)
        assert tj == pytest.approx([math.sqrt(c / (c - 1)) * (v - centre) / s for v in w])
        assert sum(tj) == pytest.approx(0, abs=1e-9)
        assert tj[w.index(min(w))] < 0
    assert ref.topic_tr([0.5, 0.5], [0.25, 0.25]) is None
    assert ref.topic_tj([0.5, 0.5], [0.25, 0.25]) is None


def test_virtual_baselines() -> None:
    matrix = [[0.0, 0.5, 1.0], [0.25, 0.25, 0.0], [0.5, 0.0, 0.5], [0.25, 0.25, 0.25]]
    assert ref.virtual_baseline(matrix, "mean") == [0.25, 0.25, 0.4375]
    assert ref.virtual_baseline(matrix, "median") == [0.25, 0.25, 0.375]
    assert ref.virtual_baseline(matrix, "max") == [0.5, 0.5, 1.0]
    assert ref.virtual_baseline(matrix, "min") == [0.0, 0.0, 0.0]
    assert ref.pooled_baseline(matrix, [0, 2]) == [0.25, 0.25, 0.75]
    assert ref.pooled_baseline(matrix, [0, 1, 2], "median") == [0.25, 0.25, 0.5]


def test_sigir14_tables_1_and_2() -> None:
    rows = table("sigir14_tables1_2_indriCASP")
    for row in rows:
        urisk, se, t = float(row["URisk"]), float(row["SE"]), float(row["TRisk"])
        # T = URisk / SE, each known to half a unit of the fourth digit
        assert abs(t - urisk / se) <= 5e-5 * (1 + (1 + abs(t)) / se)
        more = abs(ref.student_p(t + 5e-5, 49) - ref.student_p(t - 5e-5, 49)) / 2
        assert as_printed(ref.student_p(t, 49), row["p_value"], more), row
        # at alpha = 0 URisk is the difference of the means (indriCASP: 0.1947)
        alone = {float(r["alpha"]): float(r["URisk"]) for r in rows if r["run"] == row["run"]}
        assert alone[0] == pytest.approx(float(row["ERR@20"]) - 0.1947, abs=1.51e-4)
        # Reward and Risk from two printed values, put on two topics, give the others
        risk = (alone[0] - alone[10]) / 10
        run, baseline = [2 * (alone[0] + risk), 0.0], [0.0, 2 * risk]
        value = ref.urisk(run, baseline, float(row["alpha"]))
        assert as_printed(value, row["URisk"], 5e-5), row


def test_ecir14_table_2_is_one_matrix_of_urisk() -> None:
    rows = table("ecir14_table2_each_run_as_baseline_alpha10")
    err = {r["run"]: float(r["ERR@20"]) for r in table("sigir14_tables1_2_indriCASP")}
    for row in rows:
        for other in rows:
            # Reward and Risk change places with the roles: the difference is 12 mean deltas
            there, back = float(row[other["run"]]), float(other[row["run"]])
            means = err[row["run"]] - err[other["run"]]
            assert (there - back) / 12 == pytest.approx(means, abs=1e-4 + 1e-3 / 12 + 1e-9)


def ecir14_mean_baseline(row: Cells, pool: str, values: Cells | None = None) -> float:
    """The mean of the baseline that a row of Table 3 implies: ERR - URisk at alpha 0."""
    cells = values or row
    at5, at10 = (float(cells[f"URisk_{pool}_a{alpha}"]) for alpha in (5, 10))
    return float(row["ERR@20"]) - (2 * at5 - at10)


def test_ecir14_table_3_has_two_pairs_of_rows_interchanged() -> None:
    rows = {row["run"]: row for row in table("ecir14_table3_virtual_baselines")}
    whole = {"mean": 0.2408, "median": 0.2043, "max": 0.5447}
    swap = {
        "mean": {"srchvrs12c09": "DFalah121A", "DFalah121A": "srchvrs12c09"},
        "median": {"indriCASP": "qutwb", "qutwb": "indriCASP"},
        "max": {},
    }
    assert ref.mean(float(row["ERR@20"]) for row in rows.values()) == pytest.approx(
        0.2408, abs=5e-5
    )
    for pool, baseline in whole.items():
        for name, row in rows.items():
            taken_from = swap[pool].get(name, name)
            implied = ecir14_mean_baseline(row, pool, rows[taken_from])
            assert implied == pytest.approx(baseline, abs=7e-4), (pool, name)
            printed = ecir14_mean_baseline(row, pool)
            assert (abs(printed - baseline) > 0.01) == (name in swap[pool]), (pool, name)


# --------------------------------------------------------------------------------------------
# Risk in a population
# --------------------------------------------------------------------------------------------


def sigir16_matrix() -> list[list[float]]:
    return [[float(row[f"t{j}"]) for j in range(1, 6)] for row in table("sigir16_table3_matrix")]


def index_of(name: str) -> int:
    """s1 is run 0."""
    return int(name[1:]) - 1


def test_sigir16_table_4() -> None:
    matrix = sigir16_matrix()
    rows = table("sigir16_table4_single_baseline_alpha0")
    assert len(rows) == 14
    for row in rows:
        i, b = index_of(row["run"]), index_of(row["baseline"])
        z = ref.zmatrix([matrix[i], matrix[b]])[0]
        for j in range(5):
            assert as_printed(z[j], row[f"t{j + 1}"]), (row, j, z[j])
        assert as_printed(ref.zrisk_population(matrix, [b], i), row["ZRisk"]), row


def test_sigir16_table_5() -> None:
    matrix = sigir16_matrix()
    rows = table("sigir16_table5_all_baselines")
    assert len(rows) == 32
    for row in rows:
        i, alpha = index_of(row["run"]), float(row["alpha"])
        assert as_printed(ref.mean(matrix[i]), row["mean"]), row
        assert as_printed(ref.zrisk(matrix, i, alpha), row["ZRisk"]), row
        assert as_printed(ref.georisk(matrix, i, alpha), row["GeoRisk"]), row
        # the c-th root, as Eq. 7 is printed, gives none of the cells
        fifth = ref.georisk(matrix, i, alpha) ** (2 / 5)
        assert not as_printed(fifth, row["GeoRisk"]), row


def test_sigir16_table_6() -> None:
    for row in table("sigir16_table6_trec2012"):
        at0, at5 = float(row["ZRisk_a0"]), float(row["ZRisk_a5"])
        if row["run"] == "ICTNET12ADR2":
            assert at0 == -0.233
            at0 = 0.233  # a slip in sign: the printed rank (3) and GeoRisk say so
        for alpha, column in ((0, "GeoRisk_a0"), (5, "GeoRisk_a5"), (20, "GeoRisk_a20")):
            z = at0 + (at5 - at0) * alpha / 5
            value = ref.georisk_value(float(row["ERR@20"]), z, 50)
            # the printed ERR is known to 5e-5: GeoRisk to Phi 5e-5 / (2 GeoRisk)
            more = ref.phi_cdf(z / 50) * 5e-5 / (2 * value)
            assert as_printed(value, row[column], more), (row["run"], alpha, value)


def test_ecir20_table_2_follows_its_equation_8() -> None:
    err = {r["run"]: float(r["ERR@20"]) for r in table("sigir16_table6_trec2012")}
    for row in table("ecir20_table2_minus_conventions"):
        for loss in LOSSES:
            z, printed = float(row[f"Z_{loss}"]), row[f"Geo_{loss}"]
            # DFalah121A alone needs another mean than SIGIR'16 prints (0.2920): both of its
            # cells fit any mean from 0.2951 to 0.3090
            mean = 0.300 if row["run"] == "DFalah121A" else err[row["run"]]
            assert as_printed(-ref.georisk_value(mean, z, 50), printed), (row, loss)
        if row["run"] == "DFalah121A":
            value = -ref.georisk_value(err[row["run"]], float(row["Z_linear"]), 50)
            assert not as_printed(value, row["Geo_linear"])
            assert value == pytest.approx(-0.4029, abs=5e-5)


def normal_equations(points: list[tuple[Fraction, Fraction]]) -> list[Fraction]:
    """Least-squares cubic (constant first), by Gauss-Jordan in fractions."""
    size = 4
    rows = [
        [sum((x ** (i + j) for x, _ in points), Fraction()) for j in range(size)]
        + [sum((y * x**i for x, y in points), Fraction())]
        for i in range(size)
    ]
    for i in range(size):
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for other in range(size):
            if other != i:
                factor = rows[other][i]
                rows[other] = [v - factor * w for v, w in zip(rows[other], rows[i], strict=True)]
    return [row[-1] for row in rows]


def test_the_smooth_loss_is_the_cubic_with_intercept_dropped() -> None:
    printed = [("-1", "-2"), ("-0.241", "-0.05"), ("0", "0"), ("0.292", "0.05"), ("1", "1")]
    points = [(Fraction(x), Fraction(y)) for x, y in printed]
    constant, linear, square, cube = (float(v) for v in normal_equations(points))
    assert abs(constant) > 1e-3
    assert as_printed(linear, "0.11578")
    assert as_printed(square, "-0.51659")
    assert as_printed(cube, "1.38426")
    for x in (-1.0, -0.241, 0.0, 0.292, 1.0):
        assert ref.smooth(x) == pytest.approx(linear * x + square * x**2 + cube * x**3, abs=2e-5)
        step = (ref.smooth(x + 1e-6) - ref.smooth(x - 1e-6)) / 2e-6
        assert ref.smooth_slope(x) == pytest.approx(step, abs=1e-8)


def test_population_laws() -> None:
    matrix = random_matrix(11, 6, 12)
    expected = ref.expected(matrix)
    for i, row in enumerate(matrix):
        assert sum(expected[i]) == pytest.approx(sum(row))
        # linear in alpha, and the whole population is the matrix itself
        z0, z1, z7 = (ref.zrisk(matrix, i, alpha) for alpha in (0, 1, 7))
        assert z7 == pytest.approx(z0 + 7 * (z1 - z0))
        assert ref.zrisk_population(matrix, range(6), i, 7) == pytest.approx(z7)
        georisk = ref.georisk(matrix, i, 7)
        assert ref.georisk_population(matrix, range(6), i, 7) == pytest.approx(georisk)
        assert georisk**2 == pytest.approx(ref.mean(row) * stats.norm.cdf(z7 / 12))
    # a member of the set is not added twice; another run is
    assert ref.population_members([0, 2], 2) == [0, 2]
    assert ref.population_members([0, 2], 1) == [0, 2, 1]
    assert ref.zrisk_population(matrix, [0, 2], 2, 1) == ref.zrisk([matrix[0], matrix[2]], 1, 1)
    trio = [matrix[0], matrix[2], matrix[1]]
    assert ref.zrisk_population(matrix, [0, 2], 1, 1) == ref.zrisk(trio, 2, 1)
    assert ref.zrisk_population(matrix, [4], 4, 5) == pytest.approx(0, abs=1e-12)


def test_g_squared_equals_pearsons_statistic() -> None:
    matrix = random_matrix(12, 4, 9, zeros=0)
    found = stats.chi2_contingency(matrix, correction=False)
    assert ref.g_squared(matrix) == pytest.approx(found.statistic)


def test_population_edges() -> None:
    matrix = [[0.5, 0.0, 0.25], [0.0, 0.0, 0.0], [0.25, 0.0, 0.75]]
    z = ref.zmatrix(matrix)
    assert [row[1] for row in z] == [0, 0, 0]
    assert z[1] == [0, 0, 0]
    assert ref.zrisk(matrix, 1, 5) == 0
    assert ref.georisk(matrix, 1, 5) == 0
    assert ref.zmatrix([[0.0, 0.0]]) == [[0, 0]]
    with pytest.raises(ValueError, match=r"run 1, topic 0, -0\.1"):
        ref.zrisk([[0.1, 0.2], [-0.1, 0.2]], 0)


# --------------------------------------------------------------------------------------------
# Inference
# --------------------------------------------------------------------------------------------

GOLDEN = [
    ("georisk", 5, "-0.0572900755", "0.0541176949", "0.0533843606", "0.30304661"),
    ("zeta", 5, "-0.0704707873", "0.1510826445", "0.1469253055", "0.64620511"),
    ("georisk", 0, "-0.0608423896", "0.0451317015", None, "0.19347753"),
    ("zeta", 0, "0.0071118105", "0.0138226242", None, "0.61283198"),
]


@pytest.mark.parametrize(("measure", "alpha", "d", "jk", "ij", "p"), GOLDEN)
def test_golden_matrix(
    measure: Literal["zeta", "georisk"], alpha: float, d: str, jk: str, ij: str | None, p: str
) -> None:
    matrix = golden_matrix()
    test = ref.difference_jackknife(matrix, 1, 0, measure, alpha)
    assert test["se"] is not None
    assert test["p"] is not None
    assert as_printed(test["estimate"], d)
    assert as_printed(test["se"], jk)
    assert as_printed(test["p"], p)
    if ij is not None:
        se = ref.difference_influence_se(matrix, 1, 0, measure, alpha)
        assert se is not None
        assert as_printed(se, ij)


def test_the_jackknife_of_raw_zrisk_is_another_thing() -> None:
    matrix = golden_matrix()

    def raw(m: ref.Matrix) -> float:
        return ref.zrisk(m, 1, 5) - ref.zrisk(m, 0, 5)

    whole = ref.jackknife(matrix, raw)
    se = ref.difference_jackknife(matrix, 1, 0, "zeta", 5)["se"]
    assert se is not None
    assert whole["se"] is not None
    assert as_printed(whole["se"], "2.871")
    assert as_printed(20 * se, "3.022")
    assert as_printed(whole["estimate"], "-1.41")
    left = [raw(ref.without_topic(matrix, q)) for q in range(20)]
    assert as_printed(ref.mean(20 * whole["estimate"] - 19 * v for v in left), "-2.71")


def test_a_run_at_nine_tenths_looks_less_risky() -> None:
    test = ref.difference_jackknife(golden_matrix(), 3, 0, "zeta", 5)
    assert test["p"] is not None
    assert as_printed(test["estimate"], "0.036")
    assert as_printed(test["p"], "0.000004")


def test_the_jackknife_of_a_mean_is_students_t() -> None:
    matrix = random_matrix(13, 2, 18)
    expected = stats.ttest_rel(matrix[0], matrix[1])
    found = ref.jackknife(matrix, lambda m: ref.mean(m[0]) - ref.mean(m[1]))
    assert found["t"] == pytest.approx(expected.statistic)
    assert found["p"] == pytest.approx(expected.pvalue)
    assert found["lo"] == pytest.approx(expected.confidence_interval().low)
    assert found["hi"] == pytest.approx(expected.confidence_interval().high)


def weighted_theta(
    matrix: ref.Matrix,
    i: int,
    weights: list[float],
    measure: Literal["zeta", "georisk"],
    alpha: float,
    loss: Literal["linear", "smooth"],
) -> float:
    """theta with topic q counted weights[q] times (the weights sum to 1)."""
    totals = [sum(row[q] for row in matrix) for q in range(len(weights))]
    own = sum(w * x for w, x in zip(weights, matrix[i], strict=True))
    share = own / sum(w * t for w, t in zip(weights, totals, strict=True))
    zeta = 0.0
    for w, x, t in zip(weights, matrix[i], totals, strict=True):
        e = share * t
        if e > 0:
            kind = x - e if x >= e else (1 + alpha) * (x - e)
            zeta += w * (ref.smooth(x - e) if loss == "smooth" else kind) / math.sqrt(e)
    return zeta if measure == "zeta" else math.sqrt(own * stats.norm.cdf(zeta))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_influence_is_the_derivative_in_a_topics_weight(
    measure: Literal["zeta", "georisk"], alpha: float, loss: Literal["linear", "smooth"]
) -> None:
    matrix, c, step = random_matrix(14, 5, 12), 12, 1e-6
    for i in range(5):
        even = [1 / c] * c
        value = weighted_theta(matrix, i, even, measure, alpha, loss)
        assert value == pytest.approx(ref.theta(matrix, i, measure, alpha, loss))
        psi = ref.influence(matrix, i, measure, alpha, loss)
        assert sum(psi) == pytest.approx(0, abs=1e-12)
        for q in range(c):
            slope = []
            for h in (step, -step):
                weights = [(1 - h) / c + (h if j == q else 0) for j in range(c)]
                slope.append(weighted_theta(matrix, i, weights, measure, alpha, loss))
            assert psi[q] == pytest.approx((slope[0] - slope[1]) / (2 * step), abs=1e-6)


@pytest.mark.parametrize("measure", MEASURES)
def test_set_of_one_is_a_single_baseline_and_all_is_the_mean(
    measure: Literal["zeta", "georisk"],
) -> None:
    matrix = random_matrix(15, 5, 14)
    single = ref.difference_jackknife(matrix, 1, 3, measure, 5)
    assert ref.set_jackknife(matrix, 1, [3], measure, 5) == single
    both = ref.set_jackknife(matrix, 1, [0, 3], measure, 5)
    values = [ref.theta(matrix, i, measure, 5) for i in range(5)]
    assert both["estimate"] == pytest.approx(values[1] - (values[0] + values[3]) / 2)
    whole = ref.set_jackknife(matrix, 1, range(5), measure, 5)
    assert whole["estimate"] == pytest.approx(values[1] - sum(values) / 5)
    for members in ([3], [0, 3], range(5)):
        jk = ref.set_jackknife(matrix, 1, members, measure, 5)["se"]
        ij = ref.set_influence_se(matrix, 1, members, measure, 5)
        assert jk is not None
        assert ij is not None
        assert 0.8 < ij / jk < 1.25


def test_inference_edges() -> None:
    matrix = random_matrix(16, 4, 10)
    matrix[2] = list(matrix[0])
    for measure in MEASURES:
        same = ref.difference_jackknife(matrix, 2, 0, measure, 5)
        assert (same["estimate"], same["se"], same["t"], same["p"]) == (0, 0, 0, 1)
        assert ref.swap_statistic(matrix, 2, 0, measure, 5) == 0
        zero = [*matrix, [0.0] * 10]
        for i, b in ((4, 0), (0, 4)):
            test = ref.difference_jackknife(zero, i, b, measure, 5)
            assert (test["se"], test["t"], test["p"], test["lo"]) == (None, None, None, None)
        assert ref.own_jackknife(zero, 4, measure, 5)["se"] is None
        alone = ref.own_jackknife([[0.5], [0.25]], 0, measure)
        assert alone["se"] is None
        # one non-zero topic: without it the run has no score, and theta is 0 by convention
        lone = [*matrix, [0.0] * 9 + [0.5]]
        assert ref.theta(ref.without_topic(lone, 9), 4, measure, 5) == 0
        assert ref.own_jackknife(lone, 4, measure, 5)["se"] is not None


@pytest.mark.parametrize("measure", MEASURES)
def test_t_of_zeta_does_not_depend_on_the_scale(measure: Literal["zeta", "georisk"]) -> None:
    matrix = random_matrix(17, 4, 12)
    percent = [[100 * x for x in row] for row in matrix]
    small = ref.difference_jackknife(matrix, 1, 0, measure, 5)
    large = ref.difference_jackknife(percent, 1, 0, measure, 5)
    if measure == "zeta":
        assert large["estimate"] == pytest.approx(10 * small["estimate"])
        assert large["t"] == pytest.approx(small["t"])
    else:
        assert large["t"] != pytest.approx(small["t"], rel=0.01)


@pytest.mark.parametrize("measure", MEASURES)
def test_swap_test_laws(measure: Literal["zeta", "georisk"]) -> None:
    matrix = random_matrix(18, 4, 6)
    for alpha in (0.0, 5.0):
        p = ref.swap_test(matrix, 1, 0, measure, alpha)
        # the identity and the exchange of all topics both reach |T|; every swap has its mirror
        assert p * 2**6 == pytest.approx(round(p * 2**5) * 2)
        assert 2 / 2**6 <= p <= 1
        assert ref.swap_test(matrix, 0, 1, measure, alpha) == p
        every = ref.swapped(matrix, 1, 0, [True] * 6)
        mirrored = ref.swap_statistic(every, 1, 0, measure, alpha)
        assert mirrored == pytest.approx(-ref.swap_statistic(matrix, 1, 0, measure, alpha))
    ahead = [[0.9, 0.8, 0.7, 0.9, 0.8, 0.6], [0.1, 0.2, 0.1, 0.2, 0.3, 0.1], *matrix[2:]]
    assert ref.swap_test(ahead, 0, 1, "georisk", 5) == 2 / 2**6
    assert ref.swap_test([matrix[0], matrix[0], matrix[2]], 0, 1, measure, 5) == 1


def test_swap_test_on_exchangeable_runs_is_uniform_enough() -> None:
    values = [ref.swap_test(random_matrix(s, 3, 5), 0, 1, "zeta", 5) for s in range(60)]
    assert 0.35 < ref.mean(values) < 0.7
    assert sum(p <= 0.25 for p in values) <= 25


def test_corrections_by_hand_and_by_scipy() -> None:
    p = [0.04, 0.01, None, 0.03, 0.02, 0.05, None]
    assert ref.bonferroni(p) == pytest.approx([0.2, 0.05, None, 0.15, 0.1, 0.25, None])
    assert ref.holm(p) == pytest.approx([0.09, 0.05, None, 0.09, 0.08, 0.09, None])
    assert ref.benjamini_hochberg(p) == pytest.approx([0.05] * 2 + [None] + [0.05] * 3 + [None])
    assert ref.holm([0.6, 0.01, 0.6]) == pytest.approx([1, 0.03, 1])
    assert ref.holm([]) == ref.bonferroni([]) == ref.benjamini_hochberg([]) == []
    assert ref.holm([None]) == [None]
    rng = random.Random(19)
    for _ in range(50):
        drawn = [rng.choice([rng.random(), 0.5, rng.random() ** 4]) for _ in range(12)]
        found = ref.benjamini_hochberg(drawn)
        assert found == pytest.approx(list(stats.false_discovery_control(drawn)))


# --------------------------------------------------------------------------------------------
# Agreement of rankings
# --------------------------------------------------------------------------------------------


def test_kendall_equals_scipy() -> None:
    rng = random.Random(20)
    for _ in range(100):
        n = rng.randint(2, 12)
        x, y = ([float(rng.randint(0, 6)) for _ in range(n)] for _ in range(2))
        if len(set(x)) > 1 and len(set(y)) > 1:
            assert ref.kendall_tau_b(x, y) == pytest.approx(stats.kendalltau(x, y).statistic)
        else:
            assert ref.kendall_tau_b(x, y) is None


def test_tau_ap_by_hand() -> None:
    assert ref.tau_ap("abcd", "abcd") == 1
    assert ref.tau_ap("abcd", "dcba") == -1
    # only b before a is wrong: C(2) = 0 of 1, C(3) = 2 of 2, C(4) = 3 of 3
    assert ref.tau_ap("abcd", "bacd") == pytest.approx(2 / 3 * (0 + 1 + 1) - 1)
    # the same mistake at the bottom costs less: 1, 1, 2 of 3
    assert ref.tau_ap("abcd", "abdc") == pytest.approx(2 / 3 * (1 + 1 + 2 / 3) - 1)


def webber_min(a: list[str], b: list[str], p: float) -> float:
    """Webber et al. Eq. 11, lists of one length."""
    k = len(a)
    x = [len(set(a[:d]) & set(b[:d])) for d in range(1, k + 1)]
    total = sum((x[d - 1] - x[-1]) * p**d / d for d in range(1, k + 1))
    return (1 - p) / p * (total - x[-1] * math.log(1 - p))


def webber_residual(a: list[str], b: list[str], p: float) -> float:
    """Webber et al., the residual of lists of any lengths s <= l, with f = l + s - X_l."""
    s, m = sorted((len(a), len(b)))
    x = len(set(a) & set(b))
    f = m + s - x
    from_s = s * sum(p**d / d for d in range(s + 1, f + 1))
    from_m = m * sum(p**d / d for d in range(m + 1, f + 1))
    tail = x * (-math.log(1 - p) - sum(p**d / d for d in range(1, f + 1)))
    return p**s + p**m - p**f - (1 - p) / p * (from_s + from_m + tail)


def webber_ext(a: list[str], b: list[str], p: float) -> float:
    """Webber et al. Eq. 32, lists of any lengths s <= l."""
    s, m = sorted((len(a), len(b)))
    x = [len(set(a[:d]) & set(b[:d])) for d in range(m + 1)]
    seen = sum(x[d] / d * p**d for d in range(1, m + 1))
    filled = sum(x[s] * (d - s) / (s * d) * p**d for d in range(s + 1, m + 1))
    return (1 - p) / p * (seen + filled) + ((x[m] - x[s]) / m + x[s] / s) * p**m


def test_rbo_equals_the_closed_forms() -> None:
    rng = random.Random(21)
    for _ in range(60):
        p = rng.choice([0.5, 0.9, 0.98])
        items = [f"s{k}" for k in range(14)]
        a = rng.sample(items, rng.randint(1, 10))
        b = rng.sample(items, rng.randint(1, 10))
        found = ref.rbo(a, b, p)
        assert found["residual"] == pytest.approx(webber_residual(a, b, p), abs=1e-9)
        assert found["min"] + found["residual"] == pytest.approx(found["max"])
        assert found["ext"] == pytest.approx(webber_ext(a, b, p), abs=1e-9)
        shorter = min(len(a), len(b))
        direct = sum(len(set(a[:d]) & set(b[:d])) / d * p**d for d in range(1, shorter + 1))
        assert found["base"] == pytest.approx((1 - p) / p * direct)
        assert found["base"] <= found["min"] + 1e-12
        assert found["min"] - 1e-12 <= found["ext"] <= found["max"] + 1e-12
        same = rng.sample(items, len(a))
        assert ref.rbo(a, same, p)["min"] == pytest.approx(webber_min(a, same, p), abs=1e-9)
    assert ref.rbo(list("abc"), list("abc"))["ext"] == pytest.approx(1)
    assert ref.rbo(list("abc"), list("xyz"))["ext"] == 0
    # agreement 0 at depth 1, 1 at depth 2 and, extrapolated, below
    assert ref.rbo(["a", "b"], ["b", "a"], 0.5)["ext"] == pytest.approx(0.5)


def test_friedman_of_ecir14_table_2() -> None:
    rows = table("ecir14_table2_each_run_as_baseline_alpha10")
    matrix = [[float(row[other["run"]]) for other in rows] for row in rows]
    found = ref.friedman(matrix)
    assert found is not None
    assert as_printed(found["chi2"], "27.25")
    assert as_printed(found["p"], "0.0003")
    assert as_printed(found["w"], "0.487")
    other_way = ref.friedman([list(column) for column in zip(*matrix, strict=True)])
    assert other_way is not None
    assert other_way["chi2"] == pytest.approx(28.583, abs=1e-3)


def test_friedman_equals_scipy_with_ties() -> None:
    rng = random.Random(22)
    for _ in range(40):
        k, n = rng.randint(3, 6), rng.randint(2, 8)
        matrix = [[float(rng.randint(0, 3)) for _ in range(n)] for _ in range(k)]
        found = ref.friedman(matrix)
        if found is not None:
            expected = stats.friedmanchisquare(*matrix)
            assert found["chi2"] == pytest.approx(expected.statistic)
            assert found["p"] == pytest.approx(expected.pvalue)
    assert ref.friedman([[1.0, 2.0]] * 3) is None
