"""Two thousand spoilt files of the fuzzer, and Hypothesis on the plain reader's side."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.bench.fuzz import GOOD_RUN, SCORE_FILES, Mutant, fuzz, judge

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", [11, 12])
def test_no_mutant_gets_the_better_of_the_readers(seed: int) -> None:
    outcomes, failures = fuzz(seed, 1000, through_program=40)
    assert not failures, "\n".join(failures[:3])
    assert min(outcomes["run taken"], outcomes["run refused"]) > 100
    assert min(outcomes["qrels taken"], outcomes["qrels refused"]) > 50


@pytest.mark.parametrize("kind", SCORE_FILES)
def test_the_files_are_good_before_they_are_spoilt(kind: str, tmp_path: Path) -> None:
    assert judge(Mutant(kind, SCORE_FILES[kind][0]), tmp_path) == "taken"
    assert judge(Mutant("run", GOOD_RUN), tmp_path) == "taken"


pieces = st.lists(
    st.sampled_from(
        [
            b"1", b"2", b"Q0", b"d1", b"d2", b"0.5", b"-3", b"1e5", b"tag", b" ", b"\t", b"\n",
            b"\r\n", b"1 Q0 d1 1 0.5 tag\n", b"2 Q0 d1 1 2 tag\n", b"1 Q0 d2 2 0.25 tag\n", b"nan",
            b"\0", b"\xff", b"\xef\xbb\xbf", b",", b'"', b"run,1\na,1\n", b"map 1 0.5\n", b"all",
            b"{", b"\x1c", b"\x85",
        ]
    )
    | st.binary(max_size=4),
    max_size=12,
).map(b"".join)  # fmt: skip


@given(pieces)
@example(b"1 Q0 d1 1 1e39 tag\n1 Q0 d2 2 1e38 tag\n")
@example(b"1 Q0 d1 1 1.0 tag\n1 Q0 d2 2 1.00000001 tag\n")
def test_any_bytes_are_refused_or_read_as_the_plain_reader_does(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    judge(Mutant("run", data), tmp_path_factory.getbasetemp())
