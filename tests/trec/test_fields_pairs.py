"""The quick test for documents listed twice: never misses one, and cries wolf hardly ever."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from riskcli.trec.arrow import PairHashes, Texts, may_repeat, may_repeat_between

Pairs = list[tuple[int, str]]


def hashed(pairs: Sequence[tuple[int, str]]) -> PairHashes:
    topics = list(dict.fromkeys(str(topic) for topic, _ in pairs))
    codes = np.array([topics.index(str(topic)) for topic, _ in pairs], dtype=np.int32)
    docnos = pa.array([docno for _, docno in pairs], pa.large_string())
    return PairHashes.of(tuple(topics), codes, Texts.of_column(docnos))


def quick(pairs: Sequence[tuple[int, str]]) -> bool:
    return may_repeat(hashed(pairs))


affixes = st.sampled_from(["", "a", "doc", "clueweb", "clueweb0", "clueweb09-en0000-", "é" * 4])
docnos = st.builds(
    lambda before, middle, after: before + middle + after,
    affixes,
    st.text(st.characters(exclude_categories=["Cs"]), max_size=24) | st.text("ab", max_size=17),
    affixes,
).filter(bool)
pair_lists = st.lists(st.tuples(st.integers(0, 3), docnos), min_size=1, max_size=30)


@given(pair_lists, st.data())
def test_a_pair_listed_twice_is_never_missed(pairs: Pairs, data: st.DataObject) -> None:
    again = data.draw(st.sampled_from(pairs))
    place = data.draw(st.integers(0, len(pairs)))
    assert quick([*pairs[:place], again, *pairs[place:]])


@given(pair_lists)
@example([(0, "a"), (1, "a")])
@example([(0, "12345678"), (0, "1234567"), (0, "123456781"), (0, "1234567812345678")])
@example([(0, "a"), (0, "aa"), (0, "aaaaaaaa"), (0, "aaaaaaaaa"), (0, "a" * 16)])
@example([(0, "x"), (0, "abcdefgh"), (0, "y")])
def test_distinct_pairs_raise_no_alarm(pairs: Pairs) -> None:
    assert not quick(list(dict.fromkeys(pairs)))


def parts_of(pairs: Pairs, data: st.DataObject) -> list[Pairs]:
    """The pairs cut anywhere, into parts of which none is empty."""
    cuts = data.draw(st.sets(st.integers(1, len(pairs))))
    edges = sorted({0, len(pairs), *cuts})
    return [pairs[start:end] for start, end in pairwise(edges)]


@given(pair_lists, st.data())
def test_a_pair_listed_twice_is_found_however_the_run_is_cut(
    pairs: Pairs, data: st.DataObject
) -> None:
    pairs = list(dict.fromkeys(pairs))
    assert not may_repeat_between([hashed(part) for part in parts_of(pairs, data)])
    pairs.insert(data.draw(st.integers(0, len(pairs))), data.draw(st.sampled_from(pairs)))
    parts = parts_of(pairs, data)
    assert any(map(quick, parts)) or may_repeat_between([hashed(part) for part in parts])


@pytest.mark.parametrize("length", range(1, 34))
def test_strings_of_every_length_are_compared_whole(length: int) -> None:
    names = ["x" * length]
    for place in range(length):
        names.append("x" * place + "y" + "x" * (length - place - 1))
    assert not quick([(0, name) for name in names])
    for name in names:
        assert quick([(0, other) for other in [*names, name]])


def test_the_neighbours_of_a_string_do_not_matter() -> None:
    # The hash reads eight bytes at a time, and so may look beyond a short string.
    assert quick([(0, "b"), (0, "aaaaaaaaaaaa"), (0, "b"), (0, "cccccccccccc")])
    assert quick([(0, "bbbbbbbbb"), (0, "a"), (0, "bbbbbbbbb"), (0, "c")])


@given(st.lists(docnos, min_size=3, max_size=12, unique=True))
def test_a_slice_of_a_longer_array_is_judged_alone(names: list[str]) -> None:
    whole = pa.array([names[1], *names, names[-1]], pa.large_string())
    texts = Texts.of_column(whole)
    codes = np.zeros(len(whole), dtype=np.int32)
    inner = Texts.of_column(whole.slice(1, len(names)))
    assert not may_repeat(PairHashes.of(("1",), codes[2:], inner))
    assert may_repeat(PairHashes.of(("1",), codes, texts))


REALISTIC = {
    "clueweb": [
        f"clueweb{9 + 3 * (i % 2):02d}-en{i % 13:04d}-{i % 97:02d}-{i:05d}" for i in range(60_000)
    ],
    "numbers": [str(i) for i in range(60_000)],
    "padded numbers": [f"{i:08d}" for i in range(60_000)],
    "msmarco": [f"msmarco_passage_{i % 70:02d}_{i * 3571}" for i in range(60_000)],
    "newswire": [f"FBIS{i % 5}-{i}" for i in range(60_000)],
    "uuids": [str(uuid.UUID(int=i * 0x9E3779B97F4A7C15F39CC0605CED)) for i in range(60_000)],
    "prefixed": [f"{'p' * 40}{i}" for i in range(60_000)],
    "suffixed": [f"{i}{'s' * 40}" for i in range(60_000)],
}


@pytest.mark.parametrize("names", REALISTIC.values(), ids=REALISTIC.keys())
def test_realistic_sets_raise_no_alarm(names: list[str]) -> None:
    codes = np.repeat(np.arange(5, dtype=np.int32), len(names))
    documents = Texts.of_column(pa.array(names * 5, pa.large_string()))
    topics = tuple("abcde")
    assert not may_repeat(PairHashes.of(topics, codes, documents))
    codes[len(names)] = 0  # topic b's first document now stands in topic a, which has it
    assert may_repeat(PairHashes.of(topics, codes, documents))
