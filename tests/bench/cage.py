"""Files that native code reads, spoilt at random: the program ends with 0, 1 or 2, and soon.

`python -m tests.bench.cage --count 10000` tries so many mutants of each kind of file; `--only`,
`--seed` change that. Children of this process run the program on them, one mutant after the other:
what ends a child (Arrow, pytrec_eval or LightGBM crashed, or ran on for ten seconds) is tried once
more with the installed program, which must get over it.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.bench.fuzz import GOOD_QRELS, GOOD_RUN, TOKENS
from tests.helpers.console import PROGRAMS, ROOT
from tests.helpers.inprocess import run_inside

LONGEST = 10
"""Seconds that a mutant may take."""
MEMORY = 4_000_000_000
"""Bytes of address space that a child may have."""
_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_WORDS = [b"-1", b"0", b"1", b"999999999", b"2147483648", b"-2147483649", b"1e999", b"nan", b"inf"]
_OF_JSON = [b'"\\ud800"', b'"\\u0000"', b"null", b"[]", b"{}", b"true", b'"x"', b"1e400", b"[[[["]


# Files as they should be


_LETOR = "".join(
    f"{n % 3} qid:{topic} 1:{n * topic % 7} 2:{n / 3:.2f} 3:{n % 5} # d{n}\n"
    for topic in (1, 2)
    for n in range(8)
).encode()
_MATRIX = {"riskeval": "1", "rows": [{"run": run, "measure": "AP", "scores": {"1": 0.5, "2": 0.25}}
                                     for run in "ab"]}  # fmt: skip
_LINES = "".join(
    json.dumps({"qid": "1", "docid": f"d{n}", "score": 9.5 - n}) + "\n" for n in range(5)
).encode()


def _foreign(name: str) -> bytes:
    return (ROOT / "tests" / "foreign" / name).read_bytes()


def _parquet(**columns: Sequence[object]) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()


@cache
def _models() -> list[bytes]:
    """Trees on numbers alone, and on categories, and with linear leaves."""
    import lightgbm
    import numpy as np

    rng = np.random.default_rng(1)
    values = rng.integers(0, 9, (300, 3)).astype(float)
    target = values[:, 0] + 9 * (values[:, 1] % 3 == 1) + rng.random(300)
    texts = []
    for more in ({}, {"categorical_feature": "1"}, {"linear_tree": True}):
        params = {"verbosity": -1, "num_leaves": 7, "num_threads": 1, **more}
        data = lightgbm.Dataset(values, target, params=params)
        texts.append(lightgbm.train(params, data, 4).model_to_string().encode())
    return texts


def _packed(codec: str, text: bytes) -> bytes:
    import pyarrow as pa

    stream = pa.BufferOutputStream()
    with pa.CompressedOutputStream(stream, codec) as out:
        out.write(text)
    return bytes(stream.getvalue())


def _unpacked(codec: str, data: bytes) -> bytes:
    import pyarrow as pa

    return bytes(pa.CompressedInputStream(io.BytesIO(data), codec).read())


@dataclass(frozen=True)
class Kind:
    """A kind of file: good ones, by the name that each is given, and what they are packed in."""

    good: Callable[[], Mapping[str, Sequence[bytes]]]
    packed: tuple[str, ...] = ()
    tokens: Sequence[bytes] = ()


def _of_parquet() -> dict[str, list[bytes]]:
    texts = ["1", "1", "2"]
    return {
        "x.run": [
            _foreign("ranx.parquet"),
            _parquet(q_id=texts, doc_id=["d1", "b", "d1"], score=[2.5, 1.5, 0.5]),
            _parquet(run=["a", "b"], **{"1": [0.5, 0.25], "2": [0.25, 1.0]}),
            _parquet(run=["a", "b"], topic=["1", "1"], measure=["AP"] * 2, score=[0.5, 0.25]),
        ],
        "qrels": [_parquet(q_id=texts, doc_id=["d1", "b", "d1"], grade=[2, 0, 1])],
        "features": [_parquet(qid=texts, docno=["a", "b", "a"], grade=[2, 0, 1], f=[0.5, 1, 2],
                              g=[1.5, 1, 2], h=[1, 2, 3])],
    }  # fmt: skip


def _of_json() -> dict[str, list[bytes]]:
    runs = map(_foreign, ("pytrec_eval.json", "rank_eval.json", "msearch.json"))
    judged = map(_foreign, ("pytrec_eval-qrels.json", "rank_eval-request.json"))
    return {
        "x.run": [*runs, _LINES, b'{"1": {"d1": 2.5, "b": 1}, "2": {"d1": 1}}'],
        "x.json": [json.dumps(_MATRIX).encode()],
        "qrels": [*judged, b'{"1": {"d1": 1, "b": 0}, "2": {"d1": 1}}'],
    }


KINDS: Mapping[str, Kind] = {
    "parquet": Kind(_of_parquet),
    "lz4": Kind(lambda: {"x.run": [_foreign("ranx.lz4")]}, ("lz4", "lz4")),
    "zstd": Kind(lambda: {"x.run": [_packed("zstd", GOOD_RUN)],
                          "qrels": [_packed("zstd", GOOD_QRELS)]}, ("zstd",), TOKENS),
    "json": Kind(_of_json, tokens=[*_OF_JSON, *TOKENS]),
    "models": Kind(lambda: {"model.txt": _models()}, tokens=[*_WORDS, *TOKENS]),
    "letor": Kind(lambda: {"qrels": [_LETOR], "features": [_LETOR]}, tokens=[*_WORDS, *TOKENS]),
}  # fmt: skip


# How they are spoilt


def _spoilt_once(rng: random.Random, data: bytes, tokens: Sequence[bytes]) -> bytes:
    spoilt = bytearray(data or b"\0")
    place, other = rng.randrange(len(spoilt)), rng.randrange(len(spoilt))
    size = rng.choice([1, 2, 4, 8, 16, 64])
    way = rng.randrange(8 if tokens else 6)
    if way == 0:
        spoilt[place] ^= 1 << rng.randrange(8)
    elif way == 1:
        spoilt[place] = rng.randrange(256)
    elif way == 2:
        return bytes(spoilt[:place] if rng.random() < 0.5 else spoilt[:place] + spoilt[other:])
    elif way == 3:
        spoilt[place : place + size] = spoilt[other : other + size]
    elif way == 4:
        spoilt[place:place] = spoilt[other : other + size]
    elif way == 5:
        number = rng.choice(_NUMBERS).to_bytes(4, "little")[: min(size, 4)]
        spoilt[place : place + len(number)] = number
    else:  # a token in place of a word, or between two
        end = place
        while way == 6 and end < len(spoilt) and chr(spoilt[end]).isalnum():
            end += 1
        spoilt[place:end] = rng.choice(tokens)
    return bytes(spoilt)


def mutants(kind: str, seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """Names of files with what is in them; the same ones for the same seed."""
    rng, of = random.Random(f"{kind} {seed}"), KINDS[kind]
    good = [(name, data) for name, files in of.good().items() for data in files]
    for _ in range(count):
        name, data = rng.choice(good)
        layers = of.packed if rng.random() < 0.5 else of.packed[: rng.randrange(2)]
        for codec in layers:
            data = _unpacked(codec, data)
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            data = _spoilt_once(rng, data, of.tokens)
        for codec in layers:
            data = _packed(codec, data)
        yield name, data


# What must hold


def _calls(name: str) -> list[str]:
    if name == "qrels":
        return ["matrix good.run -q qrels", "validate good.run -q qrels"]
    if name in ("features", "model.txt"):
        return ["rank model.txt features"]
    return [f"matrix {name} -q qrels", f"validate {name} -q qrels"]


def _good_files() -> dict[str, bytes]:
    files = {
        "good.run": GOOD_RUN + _foreign("plain.run"), "features": _LETOR,
        "qrels": GOOD_QRELS + _foreign("plain.qrels"),
    }  # fmt: skip
    try:
        return {**files, "model.txt": _models()[0]}
    except ImportError:
        return files


def _write(folder: Path, name: str, data: bytes) -> list[list[str]]:
    for good, content in {**_good_files(), name: data}.items():
        (folder / good).write_bytes(content)
    return [call.split() for call in _calls(name)]


def _try(folder: Path, name: str, data: bytes) -> str:
    """What came of the calls: exit codes, or what is wrong."""
    codes = []
    for command, *files in _write(folder, name, data):
        ran = run_inside(command, *(str(folder / f) if f[0] != "-" else f for f in files), "-f",
                         "csv") if command != "rank" else run_inside(
                             command, *(str(folder / f) for f in files))  # fmt: skip
        if ran.code not in (0, 1, 2) or "Traceback" in ran.err:
            return f"FAILED: exit code {ran.code}: {ran.err[-600:]}"
        codes.append(str(ran.code))
    return "exit " + " ".join(codes)


def _with_program(folder: Path, name: str, data: bytes) -> str:
    """What the installed program makes of a mutant that ended a child."""
    for call in _write(folder, name, data):
        try:
            ran = subprocess.run(
                [str(PROGRAMS / "riskeval"), *call], cwd=folder, capture_output=True,
                text=True, errors="replace", timeout=LONGEST, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"FAILED: more than {LONGEST} s"
        if ran.returncode not in (0, 1, 2) or "Traceback" in ran.stderr:
            return f"FAILED: exit code {ran.returncode}: {ran.stderr[-600:]}"
    return "crashed, and the program got over it"


def _child(folder: Path, some: Sequence[tuple[str, bytes]], out: int) -> None:
    """Run the program on mutants, and say of each what came of it."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # to which native code says what is wrong
        os.dup2(nothing, stream)
    tempfile.tempdir = str(folder)
    for name, data in some:
        signal.alarm(LONGEST)
        try:
            said = _try(folder, name, data)
        except BaseException as error:
            said = f"FAILED: {type(error).__name__}: {error}"
        os.write(out, json.dumps(said).encode() + b"\n")


def fuzz(kind: str, seed: int, count: int) -> tuple[Counter[str], list[str]]:
    """What became of the mutants of a kind of file, and reports of those that failed."""
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    left = list(mutants(kind, seed, count))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        while left:
            said = _in_a_child(folder, left)
            if len(said) < len(left):  # the child ended at the next one
                said.append(_with_program(folder, *left[len(said)]))
            for (file, data), outcome in zip(left, said, strict=False):
                outcomes[outcome.partition(":")[0]] += 1
                if outcome.startswith("FAILED"):
                    failures.append(f"{kind} {file}: {data!r:.3000}\n    {outcome}")
            left = left[len(said) :]
    return outcomes, failures


def _in_a_child(folder: Path, some: Sequence[tuple[str, bytes]]) -> list[str]:
    """What a child says of the first of them, as far as it came."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(out)
            _child(folder, some, into)
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as stream:
        said = [json.loads(line) for line in stream]
    os.waitpid(child, 0)
    return said


def main() -> int:
    """Fuzz, and print what became of the mutants."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=KINDS)
    given = parser.parse_args()
    wrong = 0
    for kind in [given.only] if given.only else KINDS:
        outcomes, failures = fuzz(kind, given.seed, given.count)
        wrong += len(failures)
        print(f"{kind}: {dict(sorted(outcomes.items()))}", flush=True)
        seen: set[str] = set()
        for failure in failures:
            last = failure.splitlines()[-1][:80]
            if last not in seen and len(seen) < 20:
                seen.add(last)
                print(failure)
    print(f"{wrong} failures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
