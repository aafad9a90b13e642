"""One bit or byte of what riskeval wrote is changed: refused, or the very same numbers.

`python -m tests.bench.flips` tries 2,000 flips of a bit and as many of a byte for each kind of file
that riskeval writes to be read again; `--count`, `--seed` and `--kind` change that. The files are
read in a process of its own, so that one which native code breaks down over is counted, too.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import shutil
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from riskcli import Rules, evaluate, read_population
from riskcli.core.messages import RiskevalError
from riskcli.organise.organise import pack_before
from riskcli.trec.source import TextFile
from tests.helpers.inprocess import run_inside

COUNT = 2_000
SEED = 27
LONGEST = 60.0
"""Seconds that reading one file may take."""
_WRONG = ("other", "traceback", "crash", "too slow")


# What is written, and the numbers that are read from it


def _scored(folder: Path) -> list[str]:
    """Two runs and their judgements; what a command is told of them."""
    rng = random.Random(4)
    topics = [f"{number}" for number in range(1, 13)]
    for run in "ab":
        lines = [
            f"{topic} Q0 d{document} {rank} {9 - rank + rng.random()!r} {run}\n"
            for topic in topics
            for rank, document in enumerate(rng.sample(range(9), 5), start=1)
        ]
        (folder / f"{run}.run").write_text("".join(lines), encoding="utf-8")
    judged = [f"{topic} 0 d{number} {number % 3}\n" for topic in topics for number in range(7)]
    (folder / "qrels").write_text("".join(judged), encoding="utf-8")
    places = [str(folder / name) for name in ("a.run", "b.run")]
    return [*places, "-q", str(folder / "qrels"), "--quiet"]


def _write(folder: Path, command: str, *arguments: str, measures: str = "AP,nDCG@3") -> None:
    done = run_inside(*command.split(), *_scored(folder), "-m", measures, *arguments)
    assert done.code == 0, done.err


def _numbers(evaluation: Any) -> object:
    of_each = [(m.measure, m.runs, m.topics, m.values.tobytes()) for m in evaluation.matrices]
    return of_each, evaluation.settings


def _matrix(suffix: str, long: bool, folder: Path) -> Path:
    file = folder / "kept" / f"matrix{suffix}"
    if long:
        _write(folder, "matrix", "--long", "-o", str(file))
    else:
        _write(folder, "matrix", "-o", str(file), measures="AP")
    return file


def _read_matrix(file: Path) -> object:
    return _numbers(evaluate(file))


def _population(folder: Path) -> Path:
    _write(folder, "population freeze", "-o", str(folder / "kept" / "population.json"))
    return folder / "kept" / "population.json"


def _read_population(file: Path) -> object:
    population = read_population(file)
    return _numbers(population), population.totals, population.teams, population.inputs


def _pack(folder: Path) -> Path:
    _write(folder, "organise", "-b", "a", "-o", str(folder / "kept" / "pack"))
    return folder / "kept" / "pack"


def _store(folder: Path) -> Path:
    _write(
        folder, "matrix", "--long", "--store", str(folder / "kept"), "-o", str(folder / "out.csv")
    )
    return folder / "kept"


def _read_store(folder: Path) -> object:
    runs = [folder.parent / name for name in ("a.run", "b.run")]
    rules = Rules(("AP", "nDCG@3"))
    return _numbers(evaluate(runs, qrels=folder.parent / "qrels", rules=rules, store=folder))


def _model(folder: Path) -> Path:
    lines = [
        f"{(query + document) % 3} qid:{query} 1:{document} 2:{document * query % 7} #d{document}\n"
        for query in range(1, 31)
        for document in range(8)
    ]
    (folder / "features.txt").write_text("".join(lines), encoding="utf-8")
    done = run_inside(
        "train", folder / "features.txt", "--folds", "3", "-b", "feature:1", "--trees", "3",
        "--param", "min_data_in_leaf=1", "--quiet", "-o", folder / "learned",
    )  # fmt: skip
    assert done.code == 0, done.err
    for suffix in (".txt", ".json"):
        shutil.copy(folder / "learned" / "models" / f"plain-fold1{suffix}", folder / "kept")
    return folder / "kept"


def _read_model(folder: Path) -> object:
    from riskcli.learn.model_files import read_model

    model = read_model(TextFile(folder / "plain-fold1.txt"))
    values = np.random.default_rng(3).random((40, 2)) * 9
    return model.booster.predict(values).tobytes(), model.about


@dataclass(frozen=True)
class Kind:
    """What riskeval writes: how, into a folder, and what is read from it."""

    write: Callable[[Path], Path]
    """The file or the folder; it lies in `kept`."""
    read: Callable[[Path], object]


KINDS = {
    **{
        f"{suffix[1:]} {'long' if long else 'wide'}": Kind(
            partial(_matrix, suffix, long), _read_matrix
        )
        for suffix in (".json", ".parquet")
        for long in (False, True)
    },
    "population": Kind(_population, _read_population),
    "pack": Kind(_pack, pack_before),
    "store": Kind(_store, _read_store),
}
if find_spec("lightgbm") is not None:
    KINDS["model"] = Kind(_model, _read_model)


# Flips


def _files(place: Path) -> list[Path]:
    """What is read again."""
    if place.is_file():
        return [place]
    return sorted(path for path in place.rglob("*") if path.is_file())


def flipped(data: bytes, rng: random.Random, whole_byte: bool) -> bytes:
    """The data with one bit, or one byte, that is another."""
    spoilt, at = bytearray(data), rng.randrange(len(data))
    spoilt[at] ^= rng.randrange(1, 256) if whole_byte else 1 << rng.randrange(8)
    return bytes(spoilt)


def outcome(kind: Kind, place: Path, right: object) -> str:
    """What a reader makes of the files as they are now."""
    try:
        return "same" if kind.read(place) == right else "other"
    except RiskevalError:
        return "refused"
    except Exception:
        traceback.print_exc(limit=-2)
        return "traceback"


def outcomes(name: str, seeds: range) -> Iterator[tuple[int, str]]:
    """What became of each flip, by its seed: odd ones change a whole byte."""
    kind = KINDS[name]
    with tempfile.TemporaryDirectory(prefix="riskeval-flips-") as made:
        (Path(made) / "kept").mkdir()
        place = kind.write(Path(made))
        right = kind.read(place)
        whole = Path(made) / "whole"
        shutil.copytree(Path(made) / "kept", whole)
        files = _files(place)
        for seed in seeds:
            rng = random.Random(seed)
            file = rng.choice(files)
            file.write_bytes(flipped(file.read_bytes(), rng, bool(seed % 2)))
            yield seed, outcome(kind, place, right)
            shutil.rmtree(Path(made) / "kept")
            shutil.copytree(whole, Path(made) / "kept")


def _send(name: str, seeds: range, pipe: Connection) -> None:
    for found in outcomes(name, seeds):
        pipe.send(found)


def in_a_child(name: str, seeds: range) -> Iterator[tuple[int, str]]:
    """The same where native code may end the process."""
    context = multiprocessing.get_context("spawn")
    while seeds:
        here, there = context.Pipe(duplex=False)
        child = context.Process(target=_send, args=(name, seeds, there))
        child.start()
        there.close()
        found = "crash"
        try:
            while seeds:
                if not here.poll(LONGEST):
                    found = "too slow"
                    raise EOFError
                yield here.recv()
                seeds = seeds[1:]
        except EOFError:
            child.kill()
            yield seeds[0], found
            seeds = seeds[1:]
        child.join()


def main() -> int:
    """Flips of each kind, counted; 1 where one is neither refused nor harmless."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--kind", choices=KINDS, action="append")
    given = parser.parse_args()
    wrong = 0
    for name in given.kind or KINDS:
        found = list(in_a_child(name, range(given.seed, given.seed + 2 * given.count)))
        bad = [(seed, each) for seed, each in found if each in _WRONG]
        wrong += len(bad)
        for what, odd in (("bit", 0), ("byte", 1)):
            counts = Counter(each for seed, each in found if seed % 2 == odd)
            print(f"{name}, {what}: {dict(counts)}", flush=True)
        if bad:
            print(f"{name}: {bad[:9]}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
