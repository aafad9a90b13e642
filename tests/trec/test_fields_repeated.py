"""Encoding by neighbours gives what Arrow's own dictionary encoding gives."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from riskcli.trec.fields import encoded

texts = st.sampled_from(["1", "2", "10", "11", "ab", "ba", "101", "é", "ée", "topic-1", "topic-2"])
standing_together = st.lists(st.tuples(texts, st.integers(1, 40)), min_size=1, max_size=8)


def expand(groups: list[tuple[str, int]]) -> list[str]:
    return [text for text, count in groups for _ in range(count)]


def check(column: list[str], skipped: int = 0, chunk: int = 1000) -> None:
    array = pa.array(["?"] * skipped + column, pa.large_string()).slice(skipped)
    chunks = [array.slice(start, chunk) for start in range(0, len(array), chunk)]
    found, expected = encoded(pa.chunked_array(chunks)), array.dictionary_encode()
    assert found.type == pa.dictionary(pa.int32(), pa.string())
    assert found.dictionary.to_pylist() == expected.dictionary.to_pylist()
    assert found.indices.to_pylist() == expected.indices.to_pylist()


@given(standing_together, st.integers(0, 3), st.integers(1, 30))
@example([("1", 9), ("2", 9), ("1", 9)], 0, 4)
@example([("10", 1)], 2, 1)
def test_texts_that_stand_together(groups: list[tuple[str, int]], skipped: int, chunk: int) -> None:
    check(expand(groups), skipped, chunk)


@given(st.lists(texts, min_size=1, max_size=80))
def test_texts_in_any_order(column: list[str]) -> None:
    check(column)


@pytest.mark.parametrize(
    "column",
    [
        [str(topic) for topic in range(1, 120) for _ in range(50)],
        [str(topic) for topic in sorted(map(str, range(1, 120))) for _ in range(50)],
        [str(topic) for _ in range(50) for topic in range(1, 120)],
        [f"{row:06d}" for row in range(3000)],
        ["aaaa"] * 2000 + ["aaaaaa"] * 2000 + ["aa"] * 2000,
    ],
    ids=["natural order", "text order", "interleaved", "all different", "one within another"],
)
def test_columns_of_real_length(column: list[str]) -> None:
    check(column)
