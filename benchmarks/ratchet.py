"""How far a gate lets a system drift in a hundred changes, and when the ratchet's audit sees it.

    python benchmarks/ratchet.py [--pipelines N] [--only N]

A change moves every topic: its mean by what the table says, and each topic by a difference of real
runs' shape with a standard deviation of .03; a topic's deviation from the mean reverts to 0 by the
factor rho a change (1: never). The gate accepts or refuses each change by the policy `standard` on
its topics, as `check --ratchet` does; on the others the audit looks ten times in a hundred accepted
changes. The seed is fixed: the same call prints the same table.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import riskcli
from riskcli.analyses.check.gate import judge
from riskcli.analyses.check.ratchet import AuditPlan, Build, Ratchet, audited
from riskcli.scores.matrix import ScoreMatrix

Floats = NDArray[np.float64]

SEED = 20161
CHANGES = 100
SPREAD = 0.03
SAMPLES = Path(__file__).parents[1]
NAMES = ("anchor", "accepted", "candidate")


@dataclass(frozen=True)
class Cell:
    """One line of the table."""

    changes: tuple[float, ...]
    """What a change does to the mean: one of these."""
    gate: int
    audit: int
    rho: float = 0.97


CELLS = (
    Cell((0.0,), 50, 50), Cell((0.0,), 50, 200), Cell((0.0,), 200, 200),
    Cell((-0.001,), 50, 50), Cell((-0.001,), 50, 200), Cell((-0.001,), 200, 200),
    Cell((-0.002,), 50, 200), Cell((0.0, 0.0, 0.004, -0.006), 50, 200),
    Cell((0.0,), 50, 200, 1.0), Cell((-0.001,), 50, 200, 1.0),
)  # fmt: skip


@dataclass
class Pipeline:
    """What became of one pipeline."""

    accepted: int = 0
    drift: float = 0.0
    """The true change of the mean, up to an alarm or the end."""
    seen: float = 0.0
    """What the gate's topics show of it."""
    alarm: int | None = None
    """The change at which there was one."""
    covered: list[bool] = field(default_factory=list)
    """Whether the interval on the audit's topics holds the true drift, at each look."""


def shapes() -> Floats:
    """Differences of every two sample runs by topic, with mean 0 and the spread of a change."""
    found = riskcli.evaluate([SAMPLES / "sample_runs"], qrels=SAMPLES / "qrels" / "simulated.qrels")
    values = found["nDCG@20"].values
    pairs = [(one, two) for one in range(len(values)) for two in range(len(values)) if one != two]
    deltas = np.array([values[one] - values[two] for one, two in pairs])
    deltas -= deltas.mean(axis=1, keepdims=True)
    return np.asarray(deltas / deltas.std(axis=1, keepdims=True) * SPREAD)


def run(cell: Cell, known: Floats, generator: np.random.Generator) -> Pipeline:
    """A hundred changes, or as many as there are before an alarm."""
    count = cell.gate + cell.audit
    topics = tuple(map(str, range(count)))
    start = generator.uniform(0.5, 0.8, count)

    def matrix(*rows: Floats) -> ScoreMatrix:
        return ScoreMatrix("DCG@20", NAMES[-len(rows) :], topics, np.array(rows))

    ratchet = Ratchet.begun(AuditPlan(cell.audit / count), Build("0"), [matrix(start)])
    gate_topics, _ = ratchet.split(topics)
    told, mean, deviation, accepted = Pipeline(), 0.0, np.zeros(count), start
    for number in range(1, CHANGES + 1):
        effect = float(generator.choice(cell.changes))
        shape = known[generator.integers(len(known))]
        moved = cell.rho * deviation + generator.choice(shape, count)
        candidate = start + mean + effect + moved
        rows = matrix(start, accepted, candidate)
        passed = judge(rows.of_runs([1, 2]).of_topics(gate_topics.tolist()), "accepted").passed
        if not passed:
            continue
        mean, deviation, accepted = mean + effect, moved, candidate
        told.accepted += 1
        if not ratchet.is_due:  # nothing is decided on the audit's topics
            ratchet = ratchet.went_on(Build(str(number)), looked=False)
            continue
        audit, _ = audited(ratchet, [rows], Build(str(number)), accepted=True)
        drift, ratchet = (*audit.alarms, *audit.drifts)[0], audit.ratchet
        told.covered.append(drift.lo <= mean <= drift.hi)
        if audit.alarm:
            told.alarm = number
            break
    told.drift = mean
    told.seen = float((accepted - start)[gate_topics].mean())
    return told


def line(cell: Cell, pipelines: Sequence[Pipeline]) -> str:
    """A cell of the table as its line."""
    alarms = [each.alarm for each in pipelines if each.alarm is not None]
    drifts = [each.drift for each in pipelines if each.alarm is not None]
    tried = [each.alarm or CHANGES for each in pipelines]
    covered = [hit for each in pipelines for hit in each.covered]
    figures = (
        f"{sum(each.accepted for each in pipelines) / sum(tried):.2f}",
        f"{len(alarms) / len(pipelines):.3f}",
        f"{np.median(alarms):.0f}" if alarms else "-",
        f"{np.mean(drifts):+.3f}" if alarms else "-",
        f"{np.mean([each.drift for each in pipelines]):+.3f}",
        f"{np.mean([each.seen for each in pipelines]):+.3f}",
        f"{np.mean(covered):.3f}",
    )
    changes = ", ".join(f"{each:+g}" for each in cell.changes)
    return f"| {changes} | {cell.rho:g} | {cell.gate}/{cell.audit} | {' | '.join(figures)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pipelines", type=int, default=400)
    parser.add_argument("--only", type=int, action="append", help="the line of this number, from 0")
    given = parser.parse_args()
    print(f"{given.pipelines} pipelines a line, {CHANGES} changes each, or up to an alarm.\n")
    print(
        "| a change | rho | topics | accepted | alarm | at | drift then | drift | seen | covers |"
    )
    print("|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    known = shapes()
    for number, cell in enumerate(CELLS):
        if given.only is None or number in given.only:
            generator = np.random.default_rng([SEED, number])
            found = [run(cell, known, generator) for _ in range(given.pipelines)]
            print(line(cell, found), flush=True)


if __name__ == "__main__":
    main()
