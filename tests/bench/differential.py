"""Odd but valid files, and every common measure by two programs that share no code.

`python -m tests.bench.differential --count 10000 --seed 1` makes as many pairs of judgements and
runs (ties, scores that tie only in single precision, numbers in every notation, topics interleaved,
archives of several streams, ...), has them read in pieces of a few bytes, and compares each score
with `plain_reader.py` and `plain_measures.py`, to a part in 10^9.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import lzma
import math
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa

from riskcli import InputError, Rules, evaluate
from riskcli.trec import source
from tests.bench import plain_measures, plain_reader
from tests.bench.plain_measures import Measured
from tests.helpers import reference
from tests.helpers.trec_text import STRANGE_IDS

TOLERANCE = 1e-9
PIECES = (1, 13, 100, 1000, source.PIECE)
BASES = (
    0.0,
    1.0,
    -1.0,
    0.5,
    1000.0,
    1 / 3,
    2.0**24,
    1e-40,
    1e-46,
    1e38,
    1e39,
    1e300,
    -1e39,
    5e-324,
)
TOPICS = [name for name in STRANGE_IDS if name != "\ufeff"]  # which begins a file otherwise
DOCNOS = (*STRANGE_IDS, *(f"d{number}" for number in range(30)))


def _packed_by_arrow(codec: str) -> Callable[[bytes], bytes]:
    def pack(text: bytes) -> bytes:
        stream = pa.BufferOutputStream()
        with pa.CompressedOutputStream(stream, codec) as out:
            out.write(text)
        return bytes(stream.getvalue())

    return pack


PACKERS: tuple[Callable[[bytes], bytes], ...] = (
    gzip.compress,
    bz2.compress,
    lzma.compress,
    _packed_by_arrow("zstd"),
    _packed_by_arrow("lz4"),
)


@dataclass(frozen=True)
class Case:
    """Judgements, runs by tag, and how they are to be scored."""

    qrels: bytes
    runs: dict[str, bytes]
    rules: Rules
    measures: dict[str, Measured]
    piece: int
    jobs: int
    pack: Callable[[random.Random, bytes], bytes]


# Numbers, lines and files in every notation


def spelled(rng: random.Random, value: float) -> str:
    """A notation that stands for exactly this number."""
    text = repr(value)
    sign, digits = ("-", text[1:]) if text.startswith("-") else (rng.choice(["", "", "+"]), text)
    ways = [digits, f"{abs(value):.17e}", f"{abs(value):.20E}", "00" + digits]
    if digits.startswith("0."):
        ways.append(digits[1:])
    if digits.endswith(".0"):
        ways += [digits[:-2], digits[:-1], digits + "0" * 30, digits[:-2] + "e0"]
    if value == 0:
        return rng.choice(["0", "-0", "+0", "0.0", "-.0", "0e9", "0E-99", "-0."])
    return sign + rng.choice(ways)


def score(rng: random.Random, pool: list[float]) -> float:
    """One of a few numbers, or one that differs from it only beyond single precision."""
    base = rng.choice(pool)
    kind = rng.random()
    if kind < 0.5:
        return base
    if kind < 0.8:
        return base * (1 + rng.randint(-4, 4) * 2.0 ** -rng.choice([52, 40, 25, 24, 23]))
    return rng.choice([float(rng.randint(-5, 5)), rng.gauss(0, 1), round(rng.random(), 1)])


def line(rng: random.Random, *columns: str) -> bytes:
    """The columns with white space between, and sometimes around them."""
    blanks = [" ", " ", "\t", "  ", " \t ", "\v", "\f"]
    text = columns[0] + "".join(rng.choice(blanks) + column for column in columns[1:])
    return text.encode() + rng.choice([b"", b"", b"", b" ", b"\t", b"\r"]) + b"\n"


def file(rng: random.Random, lines: list[bytes]) -> bytes:
    """The lines in some order, with what may stand between them."""
    if rng.random() < 0.6:
        rng.shuffle(lines)
    if rng.random() < 0.3:
        extra = [b"\n", b" \t\n", b"\r\n", b"# a comment\n", b"#\n"]
        for _ in range(rng.randint(1, 5)):
            lines.insert(rng.randrange(len(lines) + 1), rng.choice(extra))
    text = b"".join(lines)
    if rng.random() < 0.3:
        text = text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    if rng.random() < 0.3:
        text = text[:-1]
    return (b"\xef\xbb\xbf" if rng.random() < 0.2 else b"") + text


def packed(rng: random.Random, text: bytes) -> bytes:
    """As it is, or as an archive of one to five streams, cut anywhere."""
    if rng.random() < 0.5:
        return text
    pack = rng.choice(PACKERS)
    cuts = sorted(rng.randrange(len(text) + 1) for _ in range(rng.randint(0, 4)))
    return b"".join(
        pack(text[start:end]) for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)
    )


# Cases


def _grade(rng: random.Random, highest: int) -> int:
    return rng.choice([0, 0, 1, 1, 2, highest, rng.randint(-3, highest)])


def _grade_spelled(rng: random.Random, grade: int) -> str:
    sign = "-" if grade < 0 or (grade == 0 and rng.random() < 0.1) else rng.choice(["", "", "+"])
    return sign + rng.choice(["", "", "0", "000"]) + str(abs(grade))


def _qrels(rng: random.Random, topics: list[str], highest: int) -> bytes:
    lines = [line(rng, topics[0], "0", "sure", "1")]
    for topic in topics:
        for docno in rng.sample(DOCNOS, rng.randint(1, 40)):
            lines.append(line(rng, topic, "0", docno, _grade_spelled(rng, _grade(rng, highest))))
            if rng.random() < 0.02:
                lines.append(lines[-1])
    return file(rng, lines)


def _run(rng: random.Random, topics: list[str], tag: str) -> bytes:
    lines = []
    for topic in [topics[0], *rng.sample(topics[1:], rng.randint(0, len(topics) - 1))]:
        pool = [rng.choice(BASES) for _ in range(rng.randint(1, 4))]
        for docno in rng.sample(DOCNOS, rng.randint(1, len(DOCNOS))):
            number = spelled(rng, score(rng, pool))
            lines.append(line(rng, topic, "Q0", docno, str(rng.randint(-1, 99)), number, tag))
    return file(rng, lines)


def case(rng: random.Random) -> Case:
    """One set of files, and what is asked of them."""
    names = rng.sample(TOPICS, 6)
    topics = names[: rng.randint(1, 5)]
    high = rng.random() < 0.2
    highest = rng.choice([100, 32768]) if high else rng.choice([1, 4, 4, 12])
    rel, p, k = (
        rng.randint(1, 3),
        rng.choice([0.1, 0.5, 0.8, 0.95]),
        rng.choice([1, 2, 5, 10, 1000]),
    )
    measures = plain_measures.cut(k, rel, p)
    if rng.random() < 0.7:
        measures |= plain_measures.whole(rel, p)
    qrels = _qrels(rng, topics, highest)
    auto = not high and rng.random() < 0.3
    max_grade = 4 if high else rng.randint(max(4, highest), 16)
    if not high:
        measures |= plain_measures.graded(k, _highest(qrels) if auto else max_grade)
    rules = Rules(
        tuple(rng.sample(list(measures), len(measures))),
        topics=rng.choice(["relevant", "judged"]),
        max_grade=None if auto else max_grade,
        score_precision=rng.choice(["single", "double"]),
    )
    answered = [*topics, names[5]]
    runs = {tag: _run(rng, answered, tag) for tag in ("one", "two")[: rng.randint(1, 2)]}
    piece, jobs = rng.choice(PIECES), rng.choice([1, 1, 3])
    return Case(qrels, runs, rules, measures, piece, jobs, packed)


def _highest(qrels: bytes) -> int:
    return max(max(grades.values()) for grades in plain_reader.read_qrels(qrels).values())


def expected(given: Case) -> dict[tuple[str, str, str], float]:
    """Scores by measure, run and topic, by the plain reader and the plain formulas."""
    grades = plain_reader.read_qrels(given.qrels)
    kept = [t for t in grades if given.rules.topics == "judged" or max(grades[t].values()) >= 1]
    scores = {}
    for tag, text in given.runs.items():
        read, _ = plain_reader.read_run(text)
        for topic in kept:
            ranked = reference.rank(read.get(topic, {}), given.rules.score_precision)
            for name, measured in given.measures.items():
                scores[name, tag, topic] = float(measured(ranked, grades[topic]))
    return scores


def found(given: Case, rng: random.Random, folder: Path) -> dict[tuple[str, str, str], float]:
    """The same by the package, from files."""
    for name, text in (*given.runs.items(), ("qrels", given.qrels)):
        (folder / name).write_bytes(given.pack(rng, text))
    with patch.object(source, "PIECE", given.piece):
        evaluation = evaluate(
            [folder / tag for tag in given.runs],
            qrels=folder / "qrels",
            rules=given.rules,
            jobs=given.jobs,
        )
    scores: dict[tuple[str, str, str], float] = {}
    for name in given.measures:
        matrix = evaluation[name]
        for tag, row in zip(matrix.runs, matrix.values.tolist(), strict=True):
            scores |= {(name, tag, t): value for t, value in zip(matrix.topics, row, strict=True)}
    return scores


def _none_is_judged(given: Case, tag: str) -> bool:
    """Whether the plain reader finds no document of the run judged for its topic."""
    grades, (run, _) = plain_reader.read_qrels(given.qrels), plain_reader.read_run(given.runs[tag])
    return all(grades.get(topic, {}).keys().isdisjoint(docnos) for topic, docnos in run.items())


def differences(seed: str, folder: Path) -> list[str]:
    """Where the two do not agree about the case of this seed."""
    rng = random.Random(seed)
    given = case(rng)
    try:
        theirs, ours = expected(given), found(given, rng, folder)
    except InputError as error:  # names in capitals may be those of another collection
        if error.code == "nothing-judged" and _none_is_judged(given, Path(error.path).name):
            return []
        raise
    if set(theirs) != set(ours):
        return [f"{seed}: only in one: {sorted(set(theirs) ^ set(ours))[:5]}"]
    return [
        f"{seed}: {key}: {ours[key]!r}, expected {value!r}"
        for key, value in theirs.items()
        if not math.isclose(ours[key], value, rel_tol=TOLERANCE, abs_tol=1e-15)
    ]


def compare(seed: int, start: int, count: int) -> list[str]:
    """The differences of these cases; one that is refused or breaks is a difference too."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(start, start + count):
            name = f"{seed}-{number}"
            try:
                wrong += differences(name, Path(folder))
            except Exception as error:
                wrong.append(f"{name}: {type(error).__name__}: {error}")
    return wrong


def main() -> int:
    """Compare as many cases as asked for, and print those that differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so long")
    given = parser.parse_args()
    began, done, wrong = time.monotonic(), 0, 0
    while done < given.count and time.monotonic() - began < given.seconds:
        step = min(100, given.count - done)
        differing = compare(given.seed, done, step)
        print(*differing[:5], sep="\n", end="\n" if differing else "")
        done, wrong = done + step, wrong + len(differing)
    print(f"{done:,} cases, {wrong:,} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
