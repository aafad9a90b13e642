"""The search system of the example: BM25 over `docs.tsv`, for the queries of `queries.tsv`.

`python rank.py > candidate.run` is the pipeline that the gate guards; change what you like.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
K1, B, DEPTH = 1.2, 0.75, 20


def texts(name: str) -> dict[str, str]:
    """Lines of an id, a tab and a text."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t", 1) for line in lines)


def words(text: str) -> list[str]:
    """The words of a text."""
    return re.findall(r"[a-z]+", text.lower())


def rankings() -> Iterator[tuple[str, list[tuple[float, str]]]]:
    """The best documents of every query, with their scores."""
    docs = {docno: Counter(words(text)) for docno, text in texts("docs.tsv").items()}
    mean = sum(count.total() for count in docs.values()) / len(docs)
    found_in = Counter(word for count in docs.values() for word in count)

    def score(query: list[str], doc: Counter[str]) -> float:
        norm = K1 * (1 - B + B * doc.total() / mean)
        return sum(idf(word) * doc[word] * (K1 + 1) / (doc[word] + norm) for word in query)

    def idf(word: str) -> float:
        return math.log(1 + (len(docs) - found_in[word] + 0.5) / (found_in[word] + 0.5))

    for topic, text in texts("queries.tsv").items():
        scored = [(score(words(text), doc), docno) for docno, doc in docs.items()]
        yield topic, sorted((pair for pair in scored if pair[0] > 0), reverse=True)[:DEPTH]


def lines() -> Iterator[str]:
    """The run, as TREC has it."""
    for topic, found in rankings():
        for rank, (score, docno) in enumerate(found, start=1):
            yield f"{topic} Q0 {docno} {rank} {score:.6f} bm25"


if __name__ == "__main__":
    print("\n".join(lines()))
