"""Write the simulated runs and judgements of riskeval: the same bytes on every machine.

usage: make_samples.py [--output-dir DIR]     (default: the folder above this file's own)

Nothing here was measured: no search system, no collection and no assessor stands behind it.

The simulation. A topic has an *ease*, and a pool of documents: the judged ones with a grade, and
some that nobody judged. A system gives a document the score

    separation x appetite[grade] + noise

where `appetite` says how much the system likes a grade, and `separation` how well it tells the
grades apart on this topic: its skill, plus a share of the topic's ease, plus luck. Luck and noise
come from *channels* (`common`, `casp`, `lexical`, `neural` and one for each system), and systems
which listen to the same channels succeed, and are fooled, on the same topics and documents.

Same bytes everywhere. The only source is `random.Random(seed).random()`, whose sequence Python
guarantees; the arithmetic is +, -, *, / and rounding, which IEEE 754 fixes. No logarithm, root
or sine is taken (C libraries differ in the last digit), nor `sum` of floats (Python 3.12 changed
it).
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SEED = 2558
"""One of a few thousand tried, so that the runs show what README.md says of them.

The topics on which `boldRerank` drifts and which `partial46` skips were chosen with it.
"""

TOPICS = tuple(range(101, 151))
DEPTH = 100
"""Documents that a run returns for each topic."""

LUCK = 0.45
"""How far a channel moves the separation on a topic, as a share of its weight in the noise."""

DRIFTED = -1.4
"""The separation of a system on a topic on which it drifts: the better, the lower it ranks."""

UNJUDGED_HANDICAP = 0.7
"""Nobody judged them since few systems ranked them high: they score that much lower."""

GRADES = (-2, 0, 1, 2, 3, 4)
SHARP = (-0.5, 0.0, 0.8, 1.2, 1.7, 2.1)
"""Appetite for each of GRADES: the better the document, the better liked."""
MODEST = (-0.5, 0.0, 1.0, 1.4, 1.4, 1.4)
"""Appetite of a system that sees no difference between a good document and the best."""


@dataclass(frozen=True)
class System:
    """What makes one simulated search system; scores are printed as `offset + scale * latent`."""

    name: str
    skill: float
    channels: tuple[tuple[str, float], ...]
    offset: float
    scale: float
    ease_share: float = 1.0
    appetite: tuple[float, ...] = SHARP
    drifts: frozenset[int] = frozenset()
    """Topics on which the system follows a wrong reading of the query, and fails."""
    skips: frozenset[int] = frozenset()
    """Topics for which the system returns nothing."""
    step: float = 0.0
    """Where positive, printed scores are multiples of it, and so tie."""


SYSTEMS = (
    System("indriCASP", 0.60, (("common", 0.7), ("casp", 0.7)), -5.2, 0.41),
    System(
        "boldRerank",
        1.60,
        (("common", 0.6), ("neural", 0.5), ("boldRerank", 0.7)),
        3.1,
        1.73,
        drifts=frozenset({104, 108, 123, 126, 132, 138, 144, 145}),
    ),
    System(
        "steadyHand",
        0.57,
        (("common", 0.6), ("steadyHand", 0.4)),
        41.0,
        6.3,
        ease_share=0.15,
        appetite=MODEST,
    ),
    System(
        "caspPlus",
        0.82,
        (("common", 0.7), ("casp", 0.7), ("caspPlus", 0.05)),
        -5.1,
        0.43,
    ),
    System(
        "partial46",
        0.65,
        (("common", 0.7), ("casp", 0.4), ("partial46", 0.5)),
        -6.4,
        0.52,
        skips=frozenset({101, 116, 133, 135}),
    ),
    System(
        "coarseTies",
        0.75,
        (("common", 0.7), ("casp", 0.4), ("coarseTies", 0.5)),
        7.0,
        1.25,
        step=1.0,
    ),
    System(
        "plainBM25",
        0.42,
        (("common", 0.7), ("lexical", 0.6), ("plainBM25", 0.3)),
        14.6,
        2.57,
    ),
    System(
        "neuralMix",
        0.95,
        (("common", 0.7), ("casp", 0.3), ("neural", 0.5), ("neuralMix", 0.2)),
        0.52,
        0.083,
    ),
    System(
        "oldTFIDF",
        -0.10,
        (("common", 0.7), ("lexical", 0.7), ("oldTFIDF", 0.6)),
        0.31,
        0.057,
    ),
)


class Dice:
    """Random numbers made from `random.Random(seed).random()` and exact arithmetic alone."""

    def __init__(self, seed: int) -> None:
        self.uniform = random.Random(seed).random

    def whole(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self.uniform() * (high - low + 1))

    def bell(self) -> float:
        """Nearly normal, mean 0 and deviation 1: four uniform numbers added and scaled."""
        total = self.uniform() + self.uniform() + self.uniform() + self.uniform()
        return (total - 2.0) * 1.7320508


@dataclass(frozen=True)
class Document:
    """A document of one topic's pool; `grade` is None where nobody judged it."""

    docno: str
    grade: int | None
    noise: dict[str, float]


@dataclass(frozen=True)
class Topic:
    """A topic with its ease, the luck of each channel on it, and its pool of documents."""

    number: int
    ease: float
    luck: dict[str, float]
    pool: tuple[Document, ...]


def all_channels() -> tuple[str, ...]:
    """Every channel that a system listens to, in the order of first mention."""
    return tuple(dict.fromkeys(name for system in SYSTEMS for name, _ in system.channels))


def draw_grades(dice: Dice) -> list[int | None]:
    """The grades of one pool: mostly 0, some 1, few above, some spam; then the unjudged."""
    best, good, fair = max(0, dice.whole(-2, 1)), dice.whole(0, 3), dice.whole(1, 10)
    related, spam = dice.whole(6, 36), dice.whole(2, 12)
    judged = dice.whole(120, 200)
    zeros = judged - best - good - fair - related - spam
    counts = zip(GRADES, (spam, zeros, related, fair, good, best), strict=True)
    grades: list[int | None] = [grade for grade, count in counts for _ in range(count)]
    return grades + [None] * dice.whole(70, 110)


def draw_docno(dice: Dice, taken: set[str]) -> str:
    """A document number in ClueWeb's fashion that no document bears yet."""
    while True:
        part, folder, number = dice.whole(0, 11), dice.whole(0, 99), dice.whole(0, 39999)
        docno = f"sim12-en{part:04d}-{folder:02d}-{number:05d}"
        if docno not in taken:
            taken.add(docno)
            return docno


def draw_topic(dice: Dice, number: int, taken: set[str]) -> Topic:
    """One topic with all that chance decides about it."""
    channels = all_channels()
    ease = 0.65 * dice.bell()
    luck = {channel: dice.bell() for channel in channels}
    pool = tuple(
        Document(draw_docno(dice, taken), grade, {channel: dice.bell() for channel in channels})
        for grade in draw_grades(dice)
    )
    return Topic(number, ease, luck, pool)


def heard(system: System, values: dict[str, float]) -> float:
    """The channels' values as the system hears them: weighted and added, in a fixed order."""
    total = 0.0
    for channel, weight in system.channels:
        total += weight * values[channel]
    return total


def separation(system: System, topic: Topic) -> float:
    """How well the system tells the grades apart on the topic; below 0 where it drifts."""
    if topic.number in system.drifts:
        return DRIFTED
    return system.skill + system.ease_share * topic.ease + LUCK * heard(system, topic.luck)


def latent_score(system: System, separated: float, document: Document) -> float:
    """The score before it is scaled and printed."""
    noise = heard(system, document.noise)
    if document.grade is None:
        return noise - UNJUDGED_HANDICAP
    return separated * system.appetite[GRADES.index(document.grade)] + noise


def printed_scores(system: System, latent: Sequence[float]) -> Iterator[str]:
    """Scores with five decimals, strictly falling; or the coarse steps of a run that ties."""
    previous: int | None = None
    for value in latent:
        score = system.offset + system.scale * value
        if system.step:
            yield f"{round(score / system.step) * system.step:.1f}"
            continue
        units = round(score * 100_000)
        if previous is not None and units >= previous:
            units = previous - 1
        previous = units
        yield f"{units / 100_000:.5f}"


def run_lines(system: System, topic: Topic) -> Iterator[str]:
    """The topic's lines of the system's run, best document first."""
    if topic.number in system.skips:
        return
    separated = separation(system, topic)
    scored = [(latent_score(system, separated, document), document) for document in topic.pool]
    scored.sort(key=lambda pair: (-pair[0], pair[1].docno))
    scored = scored[:DEPTH]
    scores = printed_scores(system, [latent for latent, _ in scored])
    for rank, ((_, document), score) in enumerate(zip(scored, scores, strict=True), start=1):
        yield f"{topic.number} Q0 {document.docno} {rank} {score} {system.name}\n"


def qrels_lines(topic: Topic) -> Iterator[str]:
    """The topic's judgements, by document number."""
    for document in sorted(topic.pool, key=lambda document: document.docno):
        if document.grade is not None:
            yield f"{topic.number} 0 {document.docno} {document.grade}\n"


def write_lines(path: Path, lines: Iterator[str]) -> None:
    """Write plain ASCII with LF, whatever the platform's habits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(lines).encode("ascii"))


def write_samples(folder: Path) -> None:
    """Write `sample_runs/*.run` and `qrels/simulated.qrels` below the folder."""
    dice, taken = Dice(SEED), set[str]()
    topics = [draw_topic(dice, number, taken) for number in TOPICS]
    judgements = (line for topic in topics for line in qrels_lines(topic))
    write_lines(folder / "qrels" / "simulated.qrels", judgements)
    for system in SYSTEMS:
        lines = (line for topic in topics for line in run_lines(system, topic))
        write_lines(folder / "sample_runs" / f"{system.name}.run", lines)


def main() -> None:
    """Read the command line and write the files."""
    parser = argparse.ArgumentParser(description="Write riskeval's simulated sample data.")
    parser.add_argument(
        "--output-dir",
        type=Path,
        default=Path(__file__).resolve().parent.parent,
        metavar="DIR",
        help="the folder to write sample_runs/ and qrels/ into (default: the project's root)",
    )
    options = parser.parse_args()
    write_samples(options.output_dir)


if __name__ == "__main__":
    main()
