"""Run files and judgements of any size, for measuring speed: the same seed, the same bytes.

    python benchmarks/make_runs.py FOLDER --runs 170 --topics 100 --depth 1000

writes FOLDER/runs/, FOLDER/qrels.txt and FOLDER/subtopics.txt (the same judgements, for each of six
subtopics 0 or as they are). Documents are named, scored and retrieved as in TREC's
files: the runs of a topic share most of their documents, a few hundred of them are judged.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

GRADES = (-2, 0, 1, 2, 3, 4)
SHARES = (0.05, 0.60, 0.20, 0.10, 0.04, 0.01)
SUBTOPICS, ON_SUBTOPIC = 6, 0.4


@dataclass(frozen=True)
class Collection:
    """What documents and topics are called, and how many of a topic's documents are judged."""

    docno: Callable[[int], str]
    first_topic: int
    topic_step: int
    documents: int
    judged: int
    """So many of those that runs may retrieve; where it is one, it is relevant."""


COLLECTIONS = {
    "clueweb": Collection(
        lambda n: f"clueweb09-en{n % 134:04d}-{n // 134 % 100:02d}-{n // 13400 % 100000:05d}",
        first_topic=1,
        topic_step=1,
        documents=50_000_000,
        judged=200,
    ),
    "msmarco": Collection(str, first_topic=1048, topic_step=157, documents=8_841_823, judged=1),
}


@dataclass(frozen=True)
class Size:
    """How much to write."""

    runs: int
    topics: int
    depth: int


class Maker:
    """Makes the files of one collection."""

    def __init__(self, size: Size, collection: Collection, seed: int) -> None:
        self._size = size
        self._collection = collection
        self._seed = seed

    def topics(self) -> Iterator[tuple[str, list[str]]]:
        """Each topic with the documents that runs may retrieve for it, the likeliest first."""
        for place in range(self._size.topics):
            random = np.random.default_rng((self._seed, place))
            pool = max(self._size.depth * 3 // 2, self._collection.judged)
            numbers = random.integers(0, self._collection.documents, size=pool * 2)
            names = map(self._collection.docno, numbers.tolist())
            topic = self._collection.first_topic + place * self._collection.topic_step
            yield str(topic), list(dict.fromkeys(names))[:pool]

    def qrels(self) -> str:
        """The judgements: half of them of the likeliest documents, half of any."""
        random = np.random.default_rng((self._seed, 10**9))
        count = self._collection.judged
        lines = []
        for topic, pool in self.topics():
            best, others = pool[: (count + 1) // 2], pool[(count + 1) // 2 :]
            judged = best + others[:: max(1, len(others) // max(count // 2, 1))][: count // 2]
            grades = random.choice(GRADES, size=len(judged), p=SHARES) if count > 1 else [1]
            lines += [f"{topic} 0 {d} {g}\n" for d, g in zip(judged, grades, strict=True)]
        return "".join(lines)

    def subtopics(self) -> str:
        """The judgements by subtopic: what is relevant is so to two of five."""
        random = np.random.default_rng((self._seed, 10**9, 1))
        lines = []
        for line in self.qrels().splitlines():
            topic, _, docno, grade = line.split()
            on = random.random(SUBTOPICS) < ON_SUBTOPIC
            kept = [int(grade) if each or int(grade) < 1 else 0 for each in on]
            lines += [f"{topic} {s} {docno} {g}\n" for s, g in enumerate(kept, start=1)]
        return "".join(lines)

    def run(self, tag: str, place: int, pools: list[tuple[str, list[str]]]) -> str:
        """One run: its own noise on the common order, scores with six decimals."""
        random = np.random.default_rng((self._seed, place, 1))
        return "".join(self._topic_lines(random, topic, pool, tag) for topic, pool in pools)

    def _topic_lines(
        self, random: np.random.Generator, topic: str, pool: list[str], tag: str
    ) -> str:
        depth = min(self._size.depth, len(pool))
        likely = -np.log1p(np.arange(len(pool))) + random.gumbel(scale=0.7, size=len(pool))
        order: NDArray[np.intp] = np.argsort(-likely)[:depth]
        scores = likely[order] * 1.7 + 20
        pairs = zip(order.tolist(), scores.tolist(), strict=True)
        return "".join(
            f"{topic} Q0 {pool[document]} {rank} {score:.6f} {tag}\n"
            for rank, (document, score) in enumerate(pairs, start=1)
        )


def make(folder: Path, size: Size, ids: str, seed: int, compress: bool) -> None:
    """Write the runs and both files of judgements."""
    maker = Maker(size, COLLECTIONS[ids], seed)
    runs = folder / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    (folder / "qrels.txt").write_text(maker.qrels())
    (folder / "subtopics.txt").write_text(maker.subtopics())
    pools = list(maker.topics())
    width = len(str(size.runs - 1))
    for place in range(size.runs):
        tag = f"run{place:0{width}d}"
        text = maker.run(tag, place, pools).encode()
        if compress:
            (runs / f"{tag}.gz").write_bytes(gzip.compress(text, compresslevel=6, mtime=0))
        else:
            (runs / f"{tag}.run").write_bytes(text)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--runs", default=17, show_default=True, type=click.IntRange(min=1))
@click.option("--topics", default=100, show_default=True, type=click.IntRange(min=1))
@click.option("--depth", default=1000, show_default=True, type=click.IntRange(min=1))
@click.option("--seed", default=1, show_default=True, type=click.IntRange(min=0))
@click.option("--ids", default="clueweb", show_default=True, type=click.Choice([*COLLECTIONS]))
@click.option("--gzip", "compress", is_flag=True, help="Compress the runs.")
def main(
    folder: Path, runs: int, topics: int, depth: int, seed: int, ids: str, compress: bool
) -> None:
    """Write run files and their judgements into FOLDER."""
    make(folder, Size(runs, topics, depth), ids, seed, compress)


if __name__ == "__main__":
    main()
