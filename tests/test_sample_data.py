"""The sample data: made again byte for byte, and teaching what its README says."""

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from struct import pack, unpack
from typing import TypeVar

import pytest
import pytrec_eval
from scipy import stats

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
RUNS = ROOT / "sample_runs"
QRELS = ROOT / "qrels" / "simulated.qrels"
GENERATOR = RUNS / "make_samples.py"
TOPICS = tuple(str(number) for number in range(101, 151))
BASELINE = "indriCASP"
NAMES = (
    "boldRerank",
    "caspPlus",
    "coarseTies",
    "indriCASP",
    "neuralMix",
    "oldTFIDF",
    "partial46",
    "plainBM25",
    "steadyHand",
)
RIVALS = tuple(name for name in NAMES if name != BASELINE)

Node = TypeVar("Node", bound=ast.AST)
Line = tuple[str, int, float]
"""A document with its rank and its score."""


# Reading and measuring, apart from the package.


@cache
def qrels() -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    for line in QRELS.read_text("ascii").splitlines():
        topic, _, docno, grade = line.split(" ")
        assert docno not in judged.setdefault(topic, {})
        judged[topic][docno] = int(grade)
    return judged


@cache
def run(name: str) -> dict[str, list[Line]]:
    lines: dict[str, list[Line]] = {}
    for line in (RUNS / f"{name}.run").read_text("ascii").splitlines():
        topic, q0, docno, rank, score, tag = line.split(" ")
        assert (q0, tag) == ("Q0", name)
        lines.setdefault(topic, []).append((docno, int(rank), float(score)))
    return lines


def single(score: float) -> float:
    value: float = unpack("f", pack("f", score))[0]
    return value


def as_trec_eval_reads(lines: list[Line]) -> list[str]:
    by_docno = sorted(lines, key=lambda line: line[0].encode(), reverse=True)
    return [docno for docno, _, _ in sorted(by_docno, key=lambda line: -single(line[2]))]


def as_ranked(lines: list[Line]) -> list[str]:
    return [docno for docno, _, _ in sorted(lines, key=lambda line: line[1])]


def err20(topic: str, ranking: list[str]) -> float:
    total, unsatisfied = 0.0, 1.0
    for rank, docno in enumerate(ranking[:20], start=1):
        satisfied = (2 ** max(0, qrels()[topic].get(docno, 0)) - 1) / 2**4
        total += unsatisfied * satisfied / rank
        unsatisfied *= 1 - satisfied
    return total


@cache
def err(name: str) -> list[float]:
    return [err20(topic, as_trec_eval_reads(run(name).get(topic, []))) for topic in TOPICS]


@cache
def err_by_rank_column(name: str) -> list[float]:
    return [err20(topic, as_ranked(run(name).get(topic, []))) for topic in TOPICS]


@cache
def ndcg(name: str) -> list[float]:
    scores = {
        topic: {docno: score for docno, _, score in lines} for topic, lines in run(name).items()
    }
    measured = pytrec_eval.RelevanceEvaluator(qrels(), {"ndcg_cut.20"}).evaluate(scores)
    return [float(measured.get(topic, {}).get("ndcg_cut_20", 0.0)) for topic in TOPICS]


def weighted(name: str, alpha: float) -> list[float]:
    deltas = [score - base for score, base in zip(err(name), err(BASELINE), strict=True)]
    return [delta if delta >= 0 else (1 + alpha) * delta for delta in deltas]


def urisk(name: str, alpha: float) -> float:
    return fmean(weighted(name, alpha))


def trisk(name: str, alpha: float) -> float:
    return urisk(name, alpha) / (stdev(weighted(name, alpha)) / sqrt(len(TOPICS)))


def p_value(name: str, alpha: float) -> float:
    return float(2 * stats.t.sf(abs(trisk(name, alpha)), len(TOPICS) - 1))


def significantly_better(name: str, alpha: float) -> bool:
    return trisk(name, alpha) > 2.01 and p_value(name, alpha) < 0.05


def georisk(name: str, alpha: float) -> float:
    """GeoRisk as SIGIR'16 defines it, over the nine runs."""
    by_topic = [sum(column) for column in zip(*(err(run_name) for run_name in NAMES), strict=True)]
    zrisk = 0.0
    for score, column_total in zip(err(name), by_topic, strict=True):
        expected = sum(err(name)) * column_total / sum(by_topic)
        if expected > 0:
            z = (score - expected) / sqrt(expected)
            zrisk += z if z > 0 else (1 + alpha) * z
    return sqrt(fmean(err(name)) * float(stats.norm.cdf(zrisk / len(TOPICS))))


def place(name: str, scores: dict[str, float]) -> int:
    return 1 + sum(score > scores[name] for score in scores.values())


def place_by_mean(name: str) -> int:
    return place(name, {other: fmean(err(other)) for other in NAMES})


def place_by_georisk(name: str, alpha: float) -> int:
    return place(name, {other: georisk(other, alpha) for other in NAMES})


def wins_ties_losses(name: str) -> tuple[int, int, int]:
    pairs = list(zip(err(name), err(BASELINE), strict=True))
    won, tied = sum(a > b for a, b in pairs), sum(a == b for a, b in pairs)
    return won, tied, len(pairs) - won - tied


# The files.


def walk(tree: ast.AST, kind: type[Node]) -> list[Node]:
    return [node for node in ast.walk(tree) if isinstance(node, kind)]


def test_the_generator_writes_the_same_bytes(tmp_path: Path) -> None:
    command = [sys.executable, str(GENERATOR), "--output-dir", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    written = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    names = [path.relative_to(tmp_path).as_posix() for path in written]
    assert names == ["qrels/simulated.qrels", *(f"sample_runs/{name}.run" for name in NAMES)]
    for path in written:
        assert path.read_bytes() == (ROOT / path.relative_to(tmp_path)).read_bytes(), path.name


def test_the_generator_uses_nothing_that_differs_between_machines() -> None:
    tree = ast.parse(GENERATOR.read_text("utf-8"))
    modules = {alias.name for node in walk(tree, ast.Import) for alias in node.names}
    modules |= {str(node.module) for node in walk(tree, ast.ImportFrom)}
    plain = {"__future__", "argparse", "collections.abc", "dataclasses", "pathlib", "random"}
    assert modules == plain
    names = {node.id for node in walk(tree, ast.Name)}
    assert not names & {"sum", "pow", "hash", "id"}
    assert not [node for node in walk(tree, ast.BinOp) if isinstance(node.op, ast.Pow)]
    from_random = [
        node.attr
        for node in walk(tree, ast.Attribute)
        if isinstance(node.value, ast.Name) and node.value.id == "random"
    ]
    assert from_random == ["Random"]


def test_the_folders_hold_the_nine_runs_and_one_qrels_file() -> None:
    assert tuple(sorted(path.stem for path in RUNS.glob("*.run"))) == NAMES
    others = {path.name for path in RUNS.iterdir() if path.suffix != ".run"}
    assert others - {"__pycache__"} == {"README.md", "make_samples.py"}
    assert [path.name for path in QRELS.parent.iterdir()] == ["simulated.qrels"]


def test_the_files_are_small_and_plain() -> None:
    paths = [QRELS, *RUNS.glob("*.run")]
    assert sum(path.stat().st_size for path in paths) < 3_000_000
    for path in paths:
        content = path.read_bytes()
        assert content.isascii()
        assert content.endswith(b"\n")
        assert b"\r" not in content


def test_the_judgements_look_like_the_web_track() -> None:
    assert tuple(qrels()) == TOPICS
    counts = Counter(grade for judged in qrels().values() for grade in judged.values())
    assert sorted(counts) == [-2, 0, 1, 2, 3, 4]
    assert counts[0] > 0.7 * counts.total()
    assert counts[1] > counts[2] > counts[3] > counts[4]
    for judged in qrels().values():
        assert 120 <= len(judged) <= 200
        assert max(judged.values()) >= 1


@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_well_formed(name: str) -> None:
    for topic, lines in run(name).items():
        assert topic in TOPICS
        assert [rank for _, rank, _ in lines] == list(range(1, 101))
        assert len({docno for docno, _, _ in lines}) == 100
        assert all(re.fullmatch(r"sim12-en\d{4}-\d\d-\d{5}", docno) for docno, _, _ in lines)
        scores = [single(score) for _, _, score in lines]
        assert scores == sorted(scores, reverse=True)
        assert name == "coarseTies" or len(set(scores)) == 100
    assert tuple(run(name)) == TOPICS or name == "partial46"


@pytest.mark.parametrize("name", NAMES)
def test_about_a_fifth_of_a_run_is_unjudged(name: str) -> None:
    found = [docno in qrels()[topic] for topic, lines in run(name).items() for docno, _, _ in lines]
    assert 0.14 < 1 - fmean(found) < 0.23


def test_a_variant_follows_its_parent_most() -> None:
    likeness = {name: float(stats.spearmanr(err(name), err(BASELINE)).statistic) for name in RIVALS}
    assert place("caspPlus", likeness) == 1
    assert likeness["caspPlus"] > 0.95


# What the README says.


def test_the_readme_table_is_measured() -> None:
    row = re.compile(r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \| ([\d/]+) \|", re.MULTILINE)
    printed = row.findall((RUNS / "README.md").read_text("utf-8"))
    by_mean = sorted(RIVALS, key=lambda name: -fmean(err(name)))
    assert printed == [
        (
            name,
            f"{fmean(err(name)):.4f}",
            f"{fmean(ndcg(name)):.4f}",
            "/".join(map(str, wins_ties_losses(name))),
        )
        for name in (BASELINE, *by_mean)
    ]


def test_the_readme_says_that_all_is_simulated() -> None:
    assert "are simulated.**" in (RUNS / "README.md").read_text("utf-8")


def test_indricasp_is_a_middling_baseline() -> None:
    assert 0.19 < fmean(err(BASELINE)) < 0.25
    assert 3 < place_by_mean(BASELINE) < 8


def test_boldrerank_wins_by_its_mean_and_loses_by_its_risk() -> None:
    pairs = list(zip(err(BASELINE), err("boldRerank"), strict=True))
    ruined = [(base, bold) for base, bold in pairs if base >= 0.2 and bold < 0.4 * base]
    assert len(ruined) == 8
    assert min(base for base, _ in ruined) >= 0.32
    assert max(bold for _, bold in ruined) < 0.02
    assert place_by_mean("boldRerank") == 1
    assert (f"{urisk('boldRerank', 0):+.3f}", f"{urisk('boldRerank', 5):+.3f}") == (
        "+0.093",
        "-0.367",
    )
    assert urisk("boldRerank", 10) < urisk("boldRerank", 5)
    assert place_by_georisk("boldRerank", 0) == 1
    assert place_by_georisk("boldRerank", 5) == 5


def test_neuralmix_is_better_and_stays_so() -> None:
    assert significantly_better("neuralMix", 0)
    assert p_value("neuralMix", 0) * len(RIVALS) < 0.05
    assert wins_ties_losses("neuralMix") == (42, 1, 7)
    assert significantly_better("neuralMix", 5)
    assert place_by_georisk("neuralMix", 5) == 1


def test_coarseties_depends_on_the_order_of_ties() -> None:
    for lines in run("coarseTies").values():
        scores = {score for _, _, score in lines}
        assert len(scores) <= 8
        assert all(score == int(score) for score in scores)
        assert as_trec_eval_reads(lines) != as_ranked(lines)
    pairs = list(zip(err("coarseTies"), err_by_rank_column("coarseTies"), strict=True))
    assert sum(read != ranked for read, ranked in pairs) > 40
    assert f"{fmean(err_by_rank_column('coarseTies')):.4f}" == "0.2615"


@pytest.mark.parametrize("name", [name for name in NAMES if name != "coarseTies"])
def test_in_the_other_runs_the_rank_column_is_the_order(name: str) -> None:
    assert err(name) == err_by_rank_column(name)


def test_coarseties_is_better_alone_but_not_after_holm() -> None:
    ps = sorted(p_value(name, 0) for name in RIVALS)
    own = p_value("coarseTies", 0)
    assert significantly_better("coarseTies", 0)
    assert own * (len(ps) - ps.index(own)) > 0.05


@pytest.mark.parametrize("alpha", [0, 1, 5])
def test_caspplus_gains_a_little_nearly_everywhere(alpha: float) -> None:
    assert wins_ties_losses("caspPlus") == (47, 2, 1)
    assert significantly_better("caspPlus", alpha)


def test_steadyhand_is_even() -> None:
    assert [name for name in NAMES if min(err(name)) > 0] == ["steadyHand"]
    no_worse = [name for name in NAMES if fmean(err(name)) >= fmean(err(BASELINE))]
    assert min(no_worse, key=lambda name: stdev(err(name))) == "steadyHand"
    assert place_by_mean("steadyHand") == 5
    assert place_by_georisk("steadyHand", 5) == 2


def test_partial46_is_better_only_where_it_answers() -> None:
    answered = [topic in run("partial46") for topic in TOPICS]
    assert answered.count(True) == 46
    own = [score for score, there in zip(err("partial46"), answered, strict=True) if there]
    base = [score for score, there in zip(err(BASELINE), answered, strict=True) if there]
    assert (f"{fmean(own):.4f}", f"{fmean(base):.4f}") == ("0.2101", "0.1946")
    assert fmean(err("partial46")) < fmean(err(BASELINE))


def test_plainbm25_is_below_the_baseline_but_not_significantly() -> None:
    assert fmean(err("plainBM25")) < fmean(err(BASELINE))
    assert p_value("plainBM25", 0) > 0.05
    won, _, lost = wins_ties_losses("plainBM25")
    assert min(won, lost) > 10


def test_oldtfidf_is_the_weakest_and_significantly_worse() -> None:
    assert place_by_mean("oldTFIDF") == len(NAMES)
    assert trisk("oldTFIDF", 0) < -2.01
    assert p_value("oldTFIDF", 0) * len(RIVALS) < 0.05
