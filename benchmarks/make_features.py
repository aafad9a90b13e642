"""Features and grades like those of MSLR-WEB10K, of any size: the same seed, the same numbers.

    python benchmarks/make_features.py FOLDER --queries 300 --documents 40 --features 20

writes FOLDER/train.txt, vali.txt and test.txt in LETOR's format (three fifths, a fifth, a fifth of
the queries). A query is lexical (most are) or semantic: to the first, matching words tell what is
relevant; to the second they mislead a little, and other features tell. The feature `--bm25`, 110 as
in MSLR where there are so many, is a ranker of matching words; another hints at the query's kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

CUTS = (0.52, 0.84, 0.97, 0.99)
"""Shares of documents below each grade, about those of MSLR-WEB10K."""
LEXICAL_SHARE = 0.65
_PARTS = {"train": 0.6, "vali": 0.2, "test": 0.2}


@dataclass(frozen=True)
class Made:
    """Documents of queries, one after the other."""

    features: NDArray[np.float32]
    grades: NDArray[np.int64]
    sizes: NDArray[np.int64]
    bm25: int
    """The column that is the ranker of matching words."""

    @property
    def baseline(self) -> NDArray[np.float64]:
        """Its scores."""
        return self.features[:, self.bm25].astype(np.float64)


def make_features(
    queries: int, documents: int, features: int, seed: int = 1, vary: bool = False
) -> Made:
    """Made data; `vary` gives queries from 5 documents to eight times `documents`."""
    random = np.random.default_rng(seed)
    sizes = np.full(queries, documents)
    if vary:
        drawn = random.lognormal(np.log(documents) - 0.3, 0.8, size=queries)
        sizes = np.clip(drawn, 5, 8 * documents).astype(np.int64)
    query = np.repeat(np.arange(queries), sizes)
    count = len(query)
    lexical = (random.random(queries) < LEXICAL_SHARE)[query]
    ease = random.normal(scale=0.4, size=queries)[query]
    worth = random.normal(size=count)
    grades = np.digitize(worth + ease, np.quantile(worth + ease, CUTS))
    words = np.where(lexical, 0.9 * worth, -0.1 * worth) + random.normal(scale=0.8, size=count)
    meaning = np.where(lexical, 0.2 * worth, 0.9 * worth) + random.normal(scale=0.8, size=count)
    found = random.standard_normal((count, features), dtype=np.float32)
    bm25 = min(110, features) - 1
    for number in range(features):
        kind = number % 4
        if number == bm25:
            found[:, number] = words
        elif kind == 0:
            found[:, number] = words + found[:, number] * 2
        elif kind == 1:
            found[:, number] = meaning + found[:, number] * 2
        elif number == 2:
            found[:, number] = lexical + 0.7 * found[:, number][np.searchsorted(query, query)]
    return Made(found, grades, sizes, bm25)


def letor(made: Made, queries: range, first_qid: int = 1) -> str:
    """Some of the queries in LETOR's format, with document ids."""
    starts = np.cumsum(made.sizes) - made.sizes
    lines = []
    for number in queries:
        qid = first_qid + number
        for place in range(int(made.sizes[number])):
            row = int(starts[number]) + place
            values = " ".join(
                f"{column}:{value:.5g}" for column, value in enumerate(made.features[row], start=1)
            )
            lines.append(f"{made.grades[row]} qid:{qid} {values} #docid = D{qid:05d}-{place:04d}\n")
    return "".join(lines)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--queries", default=300, show_default=True, type=click.IntRange(min=5))
@click.option("--documents", default=40, show_default=True, type=click.IntRange(min=2))
@click.option("--features", default=20, show_default=True, type=click.IntRange(min=4))
@click.option("--seed", default=1, show_default=True, type=click.IntRange(min=0))
def main(folder: Path, queries: int, documents: int, features: int, seed: int) -> None:
    """Write train.txt, vali.txt and test.txt into FOLDER."""
    made = make_features(queries, documents, features, seed)
    folder.mkdir(parents=True, exist_ok=True)
    start = 0
    for name, share in _PARTS.items():
        end = queries if name == "test" else start + int(queries * share)
        (folder / f"{name}.txt").write_text(letor(made, range(start, end)))
        start = end
    click.echo(f"feature {made.bm25 + 1} is the ranker of matching words", err=True)


if __name__ == "__main__":
    main()
