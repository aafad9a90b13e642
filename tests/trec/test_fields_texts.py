"""Packed texts: hashes depend on nothing but the text, equality is exact."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from riskcli.trec.arrow import PairHashes, Texts, may_repeat

strings = st.lists(st.text(max_size=20) | st.text("ab", max_size=9), min_size=1, max_size=30)


@given(strings)
@example([""])
@example(["a", "ab", "abc", "abcdefgh", "abcdefghi"])
def test_a_hash_depends_on_the_text_alone(texts: list[str]) -> None:
    packed = Texts.of_strings(texts)
    together = packed.hashes().tolist()
    alone = [int(Texts.of_strings([text]).hashes()[0]) for text in texts]
    assert together == alone
    backwards = packed.take(np.arange(len(texts))[::-1]).hashes().tolist()
    assert together == backwards[::-1]
    assert len(set(together)) == len(set(texts))


@given(strings, st.data())
def test_equal_is_equality(texts: list[str], data: st.DataObject) -> None:
    near = [data.draw(st.sampled_from([text, text[:-1], text + "a", text[::-1]])) for text in texts]
    found = Texts.of_strings(texts).equal(Texts.of_strings(near)).tolist()
    assert found == [one == other for one, other in zip(texts, near, strict=True)]


@given(strings, st.integers(0, 3))
def test_a_slice_of_an_arrow_column(texts: list[str], skipped: int) -> None:
    column = pa.array(["x" * 9] * skipped + texts, pa.large_string()).slice(skipped)
    packed = Texts.of_column(column)
    assert packed.as_bytes() == [text.encode() for text in texts]
    assert packed.hashes().tolist() == Texts.of_strings(texts).hashes().tolist()


def test_a_repetition_far_apart_among_texts_of_other_lengths_is_found() -> None:
    names = [f"doc-{place}" for place in range(40_000)]
    names += [f"a-longer-name-of-a-document-{place}" for place in range(40_000)]
    codes = np.zeros(len(names) + 1, dtype=np.int32)
    for repeated in (names[0], names[16_384], names[-1]):
        for place in (0, 20_000, len(names)):
            listed = [*names[:place], repeated, *names[place:]]
            assert may_repeat(PairHashes.of(("1",), codes, Texts.of_strings(listed)))
    assert not may_repeat(PairHashes.of(("1",), codes[1:], Texts.of_strings(names)))
