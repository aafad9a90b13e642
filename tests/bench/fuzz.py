"""Real-looking files, spoilt at random: nothing but a clean refusal or the right numbers.

`python -m tests.bench.fuzz` tries 100,000 mutants on all cores; `--count`, `--seed` and `--jobs`
change that. A mutant fails where the program raises what is no error of its own, where it takes a
file and finds other numbers than the plain reader, where it refuses a run that the plain reader
takes, or where `validate` and the readers disagree about refusing.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import lzma
import math
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from riskcli import InputError, Rules, evaluate
from riskcli.analyses.checker import Checks
from riskcli.analyses.validate import validate
from riskcli.core.messages import RiskevalError
from riskcli.scores.files.registry import kind_of, read_score_file
from tests.bench import plain_reader
from tests.bench.plain_reader import Cells, RefusedError
from tests.helpers.inprocess import run_inside
from tests.helpers.trec_text import load

SEED = 3
COUNT = 100_000
LIMIT = 1_000_000
RULES = Rules(("AP", "nDCG@3"), max_bytes=LIMIT)
CHECKS = Checks(max_findings=3, max_bytes=LIMIT)


# Files as they should be


def _run(rng: random.Random, separator: str, end: str) -> bytes:
    lines = []
    for topic in ("1", "2", "10", "wt-51"):
        for rank in range(1, rng.randint(2, 7)):
            score = rng.choice([f"{9 - rank}.{rng.randint(0, 99)}", f"-{rank}", f"{1 / rank!r}"])
            docno = f"clueweb09-{topic}-{rank:02d}" if rng.random() < 0.7 else f"d{rank}"
            lines.append(separator.join([topic, "Q0", docno, str(rank), score, "tag"]))
    return (end.join(lines) + end).encode()


def _qrels(rng: random.Random) -> bytes:
    return (
        "".join(
            f"{topic} 0 {docno} {rng.choice([-2, 0, 0, 1, 2, 3])}\n"
            for topic in ("1", "2", "10", "wt-51")
            for docno in (
                *(f"d{rank}" for rank in range(1, 5)),
                *(f"clueweb09-{topic}-{rank:02d}" for rank in range(1, 5)),
            )
        ).encode()
        + b"1 0 sure 1\n"
    )


GOOD_RUN = _run(random.Random(1), " ", "\n")
GOOD_QRELS = _qrels(random.Random(1))
_TREC_EVAL = "".join(
    f"{name:<22}\t{topic}\t{score}\n"
    for topic, score in (("1", "0.5000"), ("2", "0.2500"), ("all", "0.3750"))
    for name in ("map", "ndcg_cut_10", "P_5")
)
SCORE_FILES: dict[str, tuple[bytes, Callable[[bytes], Cells]]] = {
    "csv": (b"run,1,2,wt-51\na,0.5,0.25,0\nb,1e-3,,1\n", plain_reader.read_csv),
    "long": (
        b"run,topic,measure,score\na,1,AP,0.5\na,2,AP,0.25\nb,1,AP,1\nb,2,AP,\n",
        plain_reader.read_csv,
    ),
    "gdeval": (
        b"runid,topic,ndcg@20,err@20\na,1,0.5,0.25\na,2,0.125,1\na,amean,0.3125,0.625\n",
        plain_reader.read_csv,
    ),
    "trec_eval": (
        f"runid                 \tall\ttag\n{_TREC_EVAL}".encode(),
        plain_reader.read_trec_eval,
    ),
    "ir_measures": (
        b"1\tAP\t0.5\n2\tAP\t0.25\n1\tnDCG@10\t0.5\n2\tnDCG@10\t1\nall\tAP\t0.375\n",
        plain_reader.read_ir_measures,
    ),
    "jsonl": (
        b'{"query_id": "1", "measure": "AP", "value": 0.5}\n'
        b'{"query_id": "2", "measure": "AP", "value": 0.25}\n'
        b'{"query_id": "all", "measure": "AP", "value": 0.375}\n',
        plain_reader.read_json_lines,
    ),
}


# How they are spoilt


TOKENS = [
    b"", b" ", b"\t", b"\n", b"\r\n", b"\r", b"\0", b"\x0b", b"\x0c", b"\x1a", b"\x85", b"\xa0",
    b"\xef\xbb\xbf", b"\xff\xfe", b"\xe9", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"nan", b"inf",
    b"-inf", b"1e999", b"-1e999", b"1e-999", b"1_0", b"0x1F", b"1,5", b"+1", b"-0", b".5", b"5.",
    b"1e5", b"NA", b"null", b'"', b"'", b",", b";", b"=1+1", b"@mean", b"all", b"amean", b"run",
    b"runid", b"map", b"AP", b"{", b"}", b"PAR1", b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"1.00000001",
    b"99999999999999999999", b"0.1000000000000000055511151231257827", b"3.4e38", b"3.5e38",
    "１".encode(), "٣".encode(), b"Infinity", b"1d3", b"1L", b"--1", b"1.2.3", b"#", b"%", b"\\",
    b"$(x)", b"\x1b[2J",
]  # fmt: skip


def _anywhere(rng: random.Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


def _flip(rng: random.Random, data: bytes) -> bytes:
    if not data:
        return data
    spoilt = bytearray(data)
    spoilt[rng.randrange(len(spoilt))] ^= 1 << rng.randrange(8)
    return bytes(spoilt)


def _insert(rng: random.Random, data: bytes) -> bytes:
    place = _anywhere(rng, data)
    return data[:place] + rng.choice(TOKENS) + data[place:]


def _remove(rng: random.Random, data: bytes) -> bytes:
    place = _anywhere(rng, data)
    return data[:place] + data[place + rng.randint(1, 8) :]


def _cut(rng: random.Random, data: bytes) -> bytes:
    place = _anywhere(rng, data)
    return data[:place] if rng.random() < 0.7 else data[place:]


def _drop_line(rng: random.Random, lines: list[bytes]) -> None:
    del lines[rng.randrange(len(lines))]


def _double_line(rng: random.Random, lines: list[bytes]) -> None:
    lines.insert(rng.randrange(len(lines)), rng.choice(lines))


def _join_lines(rng: random.Random, lines: list[bytes]) -> None:
    place = rng.randrange(len(lines))
    lines[place : place + 2] = [b"".join(lines[place : place + 2])]


def _swap_lines(rng: random.Random, lines: list[bytes]) -> None:
    one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]


def _swap_columns(rng: random.Random, lines: list[bytes]) -> None:
    place = rng.randrange(len(lines))
    separator = rng.choice([b" ", b"\t", b","])
    cells = lines[place].split(separator)
    rng.shuffle(cells)
    lines[place] = separator.join(cells)


def _replace_cell(rng: random.Random, lines: list[bytes]) -> None:
    place = rng.randrange(len(lines))
    separator = next((sign for sign in (b" ", b"\t", b",") if sign in lines[place]), b" ")
    cells = lines[place].split(separator)
    cells[rng.randrange(len(cells))] = rng.choice(TOKENS)
    lines[place] = separator.join(cells)


_ON_BYTES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _flip,
    _flip,
    _insert,
    _insert,
    _remove,
    _cut,
)
_PACKERS: tuple[Callable[[bytes], bytes], ...] = (gzip.compress, bz2.compress, lzma.compress)
_ON_LINES: tuple[Callable[[random.Random, list[bytes]], None], ...] = (
    _drop_line, _double_line, _join_lines, _swap_lines, _swap_columns, _replace_cell, _replace_cell,
)  # fmt: skip


def mutate(rng: random.Random, data: bytes) -> bytes:
    """The file after one to three mishaps; one in ten is packed, and some of those spoilt again."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if rng.random() < 0.45:
            data = rng.choice(_ON_BYTES)(rng, data)
        else:
            lines = data.split(b"\n")
            rng.choice(_ON_LINES)(rng, lines)
            data = b"\n".join(lines)
    if rng.random() < 0.1:
        data = rng.choice(_PACKERS)(data)
        data = rng.choice(_ON_BYTES)(rng, data) if rng.random() < 0.3 else data
    return data


# What must hold


@dataclass(frozen=True)
class Mutant:
    """A spoilt file and what it was."""

    kind: str
    data: bytes


def mutants(seed: int, count: int) -> Iterator[Mutant]:
    """The same ones for the same seed."""
    rng = random.Random(seed)
    for _ in range(count):
        kind = rng.choices(["run", "qrels", "scores"], [6, 2, 2])[0]
        if kind == "run":
            base = _run(rng, rng.choice([" ", " ", "\t", "  "]), rng.choice(["\n", "\n", "\r\n"]))
        elif kind == "qrels":
            base = _qrels(rng)
        else:
            kind = rng.choice(list(SCORE_FILES))
            base = SCORE_FILES[kind][0]
        yield Mutant(kind, mutate(rng, base))


def judge(mutant: Mutant, folder: Path) -> str:
    """`taken` or `refused`; an `AssertionError` says what is wrong with the program."""
    run, qrels = folder / "tag.run", folder / "qrels"
    spoilt, good = (qrels, run) if mutant.kind == "qrels" else (run, qrels)
    spoilt.write_bytes(mutant.data)
    good.write_bytes(GOOD_RUN if mutant.kind == "qrels" else GOOD_QRELS)
    checked = validate([run], qrels=qrels, checks=CHECKS, jobs=1)
    if mutant.kind in SCORE_FILES:
        return _judge_scores(mutant, run, bool(checked.count("error")))
    return _judge_run(run, qrels, bool(checked.count("error")))


def _judge_run(run: Path, qrels: Path, found_wrong: bool) -> str:
    """Runs and judgements: both readers must agree about taking them, and about the numbers."""
    try:
        scores, tags = plain_reader.read_run(run.read_bytes())
        grades = plain_reader.read_qrels(qrels.read_bytes())
        if len(tags) == 1 and next(iter(tags)).startswith("@"):
            raise RefusedError("virtual name")
        expected = plain_reader.evaluated(scores, grades)
    except RefusedError as error:
        expected, why = None, str(error)
    try:
        found = evaluate([run], qrels=qrels, rules=RULES, jobs=1)
    except RiskevalError as error:
        assert expected is None, f"refused ({error}), the plain reader takes it"
        assert found_wrong or not isinstance(error, InputError), f"validate is silent: {error}"
        return "refused"
    assert expected is not None, f"taken, the plain reader refuses it: {why}"
    assert not found_wrong, "validate finds an error, score takes it"
    for place, matrix in enumerate(found.matrices):
        assert set(matrix.topics) == set(expected), (matrix.topics, expected)
        for topic, value in zip(matrix.topics, matrix.values[0].tolist(), strict=True):
            assert math.isclose(value, expected[topic][place], abs_tol=1e-6), (topic, value)
    return "taken"


def _judge_scores(mutant: Mutant, path: Path, found_wrong: bool) -> str:
    """Score files: what is taken must be, cell by cell, what the plain reader finds."""
    with suppress(RiskevalError):
        evaluate([path], qrels=path.parent / "qrels", rules=RULES, jobs=1)
    try:
        text = load(path, LIMIT)
        kind = kind_of(path, text)
        if kind is None:
            return "refused"  # by the reader of runs, which the others try
        file = read_score_file(path, text, kind)
    except InputError as error:
        assert found_wrong, f"validate is silent: {error}"
        return "refused"
    try:
        expected = SCORE_FILES[mutant.kind][1](mutant.data)
    except RefusedError as error:
        raise AssertionError(f"taken, the plain reader refuses it: {error}") from error
    found: Cells = Counter(
        (run, topic, value)
        for matrix in file.matrices
        for run, row in zip(matrix.runs, matrix.values.tolist(), strict=True)
        for topic, value in zip(matrix.topics, row, strict=True)
        if not math.isnan(value)
    )
    if not file.named:
        expected = Counter({("", t, s): n for (_, t, s), n in expected.items()})
    assert found == expected, (found - expected, expected - found)
    return "taken"


def _judge_by_program(mutant: Mutant, folder: Path) -> None:
    """The whole program on the files that were judged: no traceback, no strange exit code."""
    for command in ("score", "validate"):
        files = (folder / "tag.run", "-q", folder / "qrels")
        ran = run_inside(command, *files, "--jobs", "1", "-f", "table")
        assert ran.code in (0, 1, 2), ran
        assert "\x1b" not in ran.out + ran.err, "a control character reached the terminal"


def fuzz(seed: int, count: int, through_program: int = 50) -> tuple[Counter[str], list[str]]:
    """What became of the mutants, and reports of those that failed; one in 50 takes all the way."""
    outcomes: Counter[str] = Counter()
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, mutant in enumerate(mutants(seed, count)):
            try:
                outcome = judge(mutant, folder)
                if number % through_program == 0:
                    _judge_by_program(mutant, folder)
            except Exception as error:
                outcome = "FAILED"
                failures.append(
                    f"{mutant.kind}: {mutant.data!r}\n    {type(error).__name__}: {error}"
                )
            outcomes[f"{mutant.kind} {outcome}"] += 1
    return outcomes, failures


def main() -> int:
    """Fuzz on all cores, and print what became of the mutants."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    part = 1000
    parts = [min(part, given.count - start) for start in range(0, given.count, part)]
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    with ProcessPoolExecutor(given.jobs) as pool:
        seeds = [given.seed * 1_000_003 + place for place in range(len(parts))]
        for found, wrong in pool.map(fuzz, seeds, parts):
            outcomes += found
            failures += wrong
    for outcome, times in sorted(outcomes.items()):
        print(f"{times:8,} {outcome}")
    for failure in failures[:20]:
        print(failure)
    print(f"{given.count:,} mutants, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
