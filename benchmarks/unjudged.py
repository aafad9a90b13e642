"""How far bounds of unjudged documents hold, what they decide, and what is best judged next.

    python benchmarks/unjudged.py --runs FOLDER --qrels FILE [--only WORD] [--draws N] [--every N]

Prints the tables of docs/unjudged.md as Markdown. The truth is the judgements given, where what
nobody judged is judged not relevant; some of it is then hidden, at random or but for the first
documents of some runs (a pool). The seed is fixed: the same call prints the same tables.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

import riskcli
from riskcli import Rules
from riskcli.effectiveness.measures import Measure, parse_measure
from riskcli.effectiveness.parts import parts
from riskcli.effectiveness.unjudged import Bounds, difference_bounds
from riskcli.effectiveness.unjudged.moves import moves
from riskcli.risk.ranges import may_be_below, surely_below
from riskcli.scores.documents import Documents
from riskcli.scores.judging import Judging
from riskcli.scores.matrix import ScoreMatrix

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

SEED = 20162
MEASURES = ("nDCG@20", "ERR@20", "P@20", "RBP(p=0.8)", "AP")
HIDDEN = {"a tenth": 1 / 10, "a third": 1 / 3, "two thirds": 2 / 3}
DEPTHS = (20, 10, 5)
GAMMA = 0.05
TOLERANCE = 1e-9


@dataclass(frozen=True)
class World:
    """The documents at the top of all runs, all of them judged; and judged ones beyond."""

    documents: Documents
    beyond: Floats
    """Of judged documents that no top has: topic (column of the documents) and grade."""

    @classmethod
    def of(cls, runs: Path, qrels: Path, measure: str) -> World:
        """As files say; what nobody judged is judged not relevant."""
        rules = Rules(measures=(measure,), unjudged="bounds", topics="judged", run_names="file")
        documents = riskcli.evaluate([runs], qrels=qrels, rules=rules).documents
        assert documents is not None
        found = {topic: {d for run in documents.runs for d, _ in documents.ranking(run, topic)}
                 for topic in documents.topics}  # fmt: skip
        beyond = [
            (documents.topics[topic], grade)
            for topic, given in riskcli.read_qrels(qrels).judgements.items()
            for docno, grade in given.items()
            if topic in found and docno not in found[topic]
        ]
        return cls(documents, np.array(beyond, dtype=float).reshape(-1, 2))

    @property
    def runs(self) -> list[str]:
        """Their names."""
        return list(self.documents.runs)

    @property
    def topics(self) -> list[str]:
        """Their names."""
        return list(self.documents.topics)

    @cached_property
    def topic_of(self) -> NDArray[np.int64]:
        """The column of each document's topic."""
        numbers = self.documents.numbers
        found = np.zeros(len(self.documents.grades), dtype=np.int64)
        for column in range(numbers.shape[1]):
            found[numbers[:, column].ravel()] = column
        return found

    def judged(self, documents: Mask, beyond: Mask | bool) -> Documents:
        """The documents with only these judged."""
        known = documents.copy()
        known[-1] = False
        grades = np.where(known & self.documents.judged, np.maximum(self.documents.grades, 0), 0)
        others = self.beyond[np.broadcast_to(beyond, len(self.beyond))]
        topics = np.append(self.topic_of[:-1], others[:, 0].astype(np.int64))
        graded = np.append(grades[:-1], others[:, 1])
        levels = [
            np.bincount(topics[graded >= level], minlength=len(self.topics))
            for level in range(1, self.documents.judged_levels.shape[1] + 1)
        ]
        return replace(
            self.documents, grades=grades, judged=known, judged_levels=np.stack(levels, axis=1)
        )

    def pool(self, runs: Sequence[str], depth: int | None) -> Mask:
        """The first documents of these runs."""
        found = np.zeros(len(self.documents.grades), dtype=np.bool_)
        for run in runs:
            found[self.documents.numbers[self.documents.runs[run]][:, :depth].ravel()] = True
        return found

    def all(self) -> Documents:
        """The truth."""
        return self.judged(np.ones(len(self.documents.grades), dtype=np.bool_), True)


def bounds_of(documents: Documents, measure: Measure, run: str, baseline: str) -> Bounds:
    """The bounds of each topic's difference."""
    found = difference_bounds(
        measure, documents.pair(measure, run, baseline, list(documents.topics))
    )
    assert found is not None
    return found


# ------------------------------------------------------------------ bounds: right, and how wide


def print_bounds(chosen: argparse.Namespace) -> None:
    """How often a certain loss is none, how many are certain, and how wide ranges are."""
    worlds = {name: World.of(chosen.runs, chosen.qrels, name) for name in MEASURES}
    certain, outside = [], []
    for title, hide in _ways():
        cells: list[list[str]] = [[], []]
        for name, world in worlds.items():
            rng = np.random.default_rng(SEED)
            draws = [_compared(world, name, hide(world, rng)) for _ in range(chosen.draws)]
            sure, wrong, losses, width, *out = np.mean([e for own in draws for e in own], axis=0)
            if wrong or out[0]:
                raise SystemExit(f"{title}, {name}: {wrong:.2g} certain losses are none, or {out}")
            cells[0].append(f"{sure / losses:.0%}, {width:.2f}")
            cells[1].append(f"{out[1]:.1%}, {out[2]:.0%}")
        certain.append(f"| {title} | {' | '.join(cells[0])} |")
        outside.append(f"| {title} | {' | '.join(cells[1])} |")
    for what, rows in (
        ("Losses that are certain, and the mean width of a difference's range", certain),
        ("Differences, and means of them, outside their range where hidden documents of neither "
         "ranking are relevant", outside),
    ):  # fmt: skip
        print(f"### {what}\n\n| hidden | {' | '.join(MEASURES)} |")
        print("|:--" * (1 + len(MEASURES)) + "|", *rows, sep="\n")
        print(flush=True)


_Hide = Callable[[World, np.random.Generator], tuple[Mask, Mask]]


def _ways() -> Iterator[tuple[str, _Hide]]:
    """What is judged yet: of the tops, and beyond."""

    def at_random(world: World, rng: np.random.Generator, share: float) -> tuple[Mask, Mask]:
        return (rng.random(len(world.documents.grades)) >= share,
                rng.random(len(world.beyond)) >= share)  # fmt: skip

    def by_depth(world: World, rng: np.random.Generator, depth: int) -> tuple[Mask, Mask]:
        runs = rng.choice(world.runs, 4, replace=False).tolist()
        return world.pool(runs, depth), np.zeros(len(world.beyond), dtype=np.bool_)

    for title, share in HIDDEN.items():
        yield title, lambda world, rng, share=share: at_random(world, rng, share)  # type: ignore[misc]
    for depth in DEPTHS:
        yield (
            f"all but the top {depth} of 4 runs",
            lambda world, rng, depth=depth: by_depth(world, rng, depth),  # type: ignore[misc]
        )


def _compared(world: World, name: str, known: tuple[Mask, Mask]) -> Iterator[list[float]]:
    """Of every pair of runs: shares of topics, and the mean width."""
    measure, documents, truth = parse_measure(name), world.judged(*known), world.all()
    for pair in combinations(world.runs, 2):
        true = bounds_of(truth, measure, *pair).low
        found = bounds_of(documents, measure, *pair)
        judged = world.judged(known[0] | ~world.pool(pair, measure.cutoff), True)
        certain = found.high < -TOLERANCE
        of_both = bounds_of(judged, measure, *pair)
        yield [
            certain.mean(), (certain & (true >= -TOLERANCE)).mean(), (true < -TOLERANCE).mean(),
            (found.high - found.low).mean(), _outside(of_both.low, true, of_both.high),
            _outside(found.low, true, found.high),
            _outside(found.low.mean(), true.mean(), found.high.mean()),
        ]  # fmt: skip


def _outside(low: Floats | float, true: Floats | float, high: Floats | float) -> float:
    """The share of what its bounds do not hold."""
    return float(np.mean((true < low - TOLERANCE) | (true > high + TOLERANCE)))


# ------------------------------------------------------------------ the gate, runs left out


POLICIES = ("lenient", "standard")
OUTCOMES = ("pass", "fail", "inconclusive")
TRIES = 60
SMALL = (0.02, 0.05, 0.1)
Pair = tuple[str, str]


def print_gate(chosen: argparse.Namespace) -> None:
    """What the gate says of candidates that are judged only in part, and what is true."""
    print("### The gate\n")
    heads = ["passing: pass", "fail", "undecided", "failing: pass", "fail", "undecided", "caught"]
    print(f"| judged | measure | policy | unjudged | {' | '.join(heads)} |")
    print("|:--|:--|:--|:--" + "|--:" * len(heads) + "|")
    for name in chosen.measure or ("nDCG@20", "ERR@20"):
        world = World.of(chosen.runs, chosen.qrels, name)
        truth = matrix_of(world, name, world.all())
        true = {
            (pair, policy): outcome(truth, pair, policy)
            for pair in permutations(world.runs, 2)
            for policy in POLICIES
        }
        for title, cases in _gate_cases(world, chosen):
            counts: Counter[tuple[str, ...]] = Counter()
            for documents, pairs in cases:
                zero, bounds = (matrix_of(world, name, documents, known) for known in (False, True))
                for pair, policy in product(pairs, POLICIES):
                    was, said = true[pair, policy], outcome(bounds, pair, policy)
                    counts[policy, "zero", was, outcome(zero, pair, policy)] += 1
                    counts[policy, "bounds", was, said] += 1
                    if (was, said) == ("fail", "inconclusive"):
                        counts[policy, "missed"] += not _some_passes(bounds, pair, policy)
            for policy, rule in product(POLICIES, ("zero", "bounds")):
                cells = [counts[policy, rule, was, so] for was in OUTCOMES[:2] for so in OUTCOMES]
                caught, missed = counts[policy, rule, "fail", "fail"], counts[policy, "missed"]
                share = f"{caught} of {caught + missed}" if rule == "bounds" else "–"
                row = [title, name, policy, rule, *map(str, cells), share]
                print(f"| {' | '.join(row)} |", flush=True)
    print()


_Cases = Iterator[tuple[Documents, list[Pair]]]


def _gate_cases(world: World, chosen: argparse.Namespace) -> Iterator[tuple[str, _Cases]]:
    """Documents with what is judged of them, and the pairs to compare."""

    def pools(sizes: range) -> _Cases:
        splits = [pool for size in sizes for pool in combinations(world.runs, size)]
        for pool in splits[:: chosen.every]:
            others = [run for run in world.runs if run not in pool]
            pairs = [(run, old) for old in pool for run in others]
            yield world.judged(world.pool(pool, 20), False), pairs

    def at_random(share: float) -> _Cases:
        rng = np.random.default_rng(SEED)
        for _ in range(chosen.draws):
            known = rng.random(len(world.documents.grades)) >= share
            yield world.judged(known, True), list(permutations(world.runs, 2))

    yield "top 20 of 2 to 6 runs", pools(range(2, 7))
    for share in SMALL:
        yield f"all but {share:.0%}", at_random(share)


def matrix_of(world: World, name: str, documents: Documents, known: bool = False) -> ScoreMatrix:
    """The scores of all runs; with their documents, where these are to be known."""
    measure, topics = parse_measure(name), tuple(world.topics)
    levels = documents.levels(topics)
    values = []
    for run in world.runs:
        each = parts(measure, documents.ranked(run, topics, measure.cutoff), levels)
        assert each is not None
        values.append(each.sum(axis=1))
    judging = Judging(measure, topics, {}, "bounds", documents) if known else None
    return ScoreMatrix(name, tuple(world.runs), topics, np.array(values), judging=judging)


def outcome(matrix: ScoreMatrix, pair: Pair, policy: str) -> str:
    """The gate's verdict on a candidate (first) against a baseline."""
    run, baseline = pair
    both = matrix.of_runs([matrix.runs.index(baseline), matrix.runs.index(run)])
    return riskcli.judge(both, baseline, policy).verdicts[0].outcome


def _some_passes(matrix: ScoreMatrix, pair: Pair, policy: str) -> bool:
    """Whether a completion passes: ends of topics' ranges, at random and climbed to."""
    run, baseline = pair
    assert matrix.judging is not None
    assert matrix.judging.documents is not None
    bounds = bounds_of(matrix.judging.documents, matrix.judging.measure, run, baseline)
    rng = np.random.default_rng(SEED)
    for chance in (1.0, 0.0, *rng.random(TRIES)):
        highest = rng.random(len(bounds.low)) < chance
        for at in (highest, _climbed(bounds, highest)):
            scores = np.where(at, bounds.scores_high, bounds.scores_low)
            if outcome(ScoreMatrix(matrix.measure, (baseline, run), matrix.topics, scores),
                       pair, policy) == "pass":  # fmt: skip
                return True
    return False


def _climbed(bounds: Bounds, highest: Mask) -> Mask:
    """One topic after the other moved to its other end while that raises t."""
    at = highest.copy()
    best = _t(np.where(at, bounds.high, bounds.low))
    for topic in [*range(len(at))] * 3:
        at[topic] = not at[topic]
        reached = _t(np.where(at, bounds.high, bounds.low))
        if reached > best:
            best = reached
        else:
            at[topic] = not at[topic]
    return at


def _t(delta: Floats) -> float:
    spread = float(delta.std(ddof=1))
    return float(delta.mean()) / (spread / np.sqrt(len(delta))) if spread else 0.0


# ------------------------------------------------------------------ what to judge next


BUDGETS = (0.05, 0.1, 0.2, 0.3, 0.5)
WAYS = ("depth", "to-judge")
PAIRS = 60


def print_budgets(chosen: argparse.Namespace) -> None:
    """Verdicts that are settled with so many judgements more, in two orders."""
    print("### What to judge next\n")
    print("| measure | open | order | shown |" + "".join(f" {b:.0%} |" for b in BUDGETS))
    print("|:--|--:|:--|:--|" + "--:|" * len(BUDGETS))
    for name in chosen.measure or MEASURES[:3]:
        world = World.of(chosen.runs, chosen.qrels, name)
        found: dict[str, list[list[list[float]]]] = {way: [] for way in WAYS}
        for pool, depth, pair in _cases(world):
            known = world.pool(pool, depth)
            if _settled(world, name, known, pair)[:2] != (True, True):
                for way, order in _orders(world, name, known, pair).items():
                    found[way].append(_spent(world, name, known, pair, order))
        for way, rows in found.items():
            shown = np.mean(rows, axis=0)
            for title, column in zip(("sign", "test", "width"), shown[:, :3].T, strict=True):
                cells = " | ".join(f"{value:.2f}" for value in column)
                print(f"| {name} | {shown[0, 3]:.0f} | {way} | {title} | {cells} |", flush=True)
    print()


def _cases(world: World) -> Iterator[tuple[list[str], int, Pair]]:
    """Pools of one to three runs down to some depth; a new run against one of them, mostly."""
    rng = np.random.default_rng(SEED)
    for _ in range(PAIRS):
        pool = rng.choice(world.runs, rng.integers(1, 4), replace=False).tolist()
        run, baseline = rng.choice(world.runs, 2, replace=False).tolist()
        if rng.random() < 0.7:
            baseline = rng.choice(pool)
            run = rng.choice([each for each in world.runs if each != baseline])
        yield pool, int(rng.choice(DEPTHS)), (run, baseline)


def _orders(world: World, name: str, known: Mask, pair: Pair) -> dict[str, NDArray[np.int64]]:
    """The documents that are open, by rank in either run and as `--to-judge` orders them."""
    measure, documents = parse_measure(name), world.judged(known, False)
    found = moves(measure, documents.pair(measure, *pair, world.topics))
    assert found is not None
    own, others = (documents.numbers[documents.runs[run]][found.topics] for run in pair)
    each = np.arange(len(found.topics))
    numbers = np.where(found.in_run >= 0, own[each, found.in_run], others[each, found.in_baseline])
    by_rank = np.lexsort((found.topics, found.rank))
    return {"depth": numbers[by_rank], "to-judge": numbers[found.order()[0]]}


def _spent(
    world: World, name: str, known: Mask, pair: Pair, order: NDArray[np.int64]
) -> list[list[float]]:
    """After each budget: sign and test settled, the width of the mean's range; the documents."""
    rows = []
    for budget in BUDGETS:
        then = known.copy()
        then[order[: round(budget * len(order))]] = True
        rows.append([*_settled(world, name, then, pair), len(order)])
    return rows


def _settled(world: World, name: str, known: Mask, pair: Pair) -> tuple[bool, bool, float]:
    """Whether the sign of the mean and its test are settled (and right), and the range's width."""
    measure, critical = parse_measure(name), float(stdtrit(len(world.topics) - 1, 1 - GAMMA))
    everywhere = known | world.pool(pair, 20)
    true = bounds_of(world.judged(everywhere, False), measure, *pair).low
    bounds = bounds_of(world.judged(known, False), measure, *pair)
    now = bounds.low if (bounds.low == bounds.high).all() else _as_judged(world, name, known, pair)
    below, above = bool(bounds.high.mean() < 0), bool(bounds.low.mean() > 0)
    fails = surely_below(bounds.low, bounds.high, critical)
    keeps = not fails and not may_be_below(bounds.low, bounds.high, critical, now)
    for sure, holds in (
        (below, true.mean() < 0), (above, true.mean() > 0),
        (fails, _t(true) < -critical), (keeps, _t(true) >= -critical),
    ):  # fmt: skip
        if sure and not holds:
            raise SystemExit(f"a settled verdict is wrong: {name}, {pair}")
    return below or above, fails or keeps, float((bounds.high - bounds.low).mean())


def _as_judged(world: World, name: str, known: Mask, pair: Pair) -> Floats:
    matrix = matrix_of(world, name, world.judged(known, False))
    own, others = (matrix.values[matrix.runs.index(run)] for run in pair)
    return np.asarray(own - others)


def main() -> None:
    """Print all tables, or those of one kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, required=True, help="a folder of real runs")
    parser.add_argument("--qrels", type=Path, required=True, help="their judgements")
    parser.add_argument("--draws", type=int, default=5, help="so many times something is hidden")
    parser.add_argument("--every", type=int, default=1, help="take every so many-th pool only")
    parser.add_argument("--measure", action="append", help="of gate and budgets, only this one")
    kinds = {"bounds": print_bounds, "gate": print_gate, "budgets": print_budgets}
    parser.add_argument("--only", choices=kinds, action="append", help="tables of this kind")
    chosen = parser.parse_args()
    for kind, table in kinds.items():
        if not chosen.only or kind in chosen.only:
            table(chosen)


if __name__ == "__main__":
    main()
