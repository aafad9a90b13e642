"""Findings of one file: all are counted, and the first are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from riskcli.trec.findings import Tally, count_lines


@pytest.mark.parametrize(("most", "kept"), [(None, [1, 2, 3, 4]), (3, [1, 2, 3]), (0, [])])
def test_a_tally_counts_all_and_keeps_the_first(most: int | None, kept: list[int]) -> None:
    tally = Tally(Path("x.run"), most)
    tally.add_all("bad-score", [], lambda line: (line, "none"))
    tally.add_all("bad-score", [1, 2], lambda line: (line, f"on {line}"))
    tally.add_all("bad-score", [3, 4], lambda line: (line, f"on {line}"))
    assert tally.counts == {"bad-score": 4} and tally.count("error") == 4
    assert [finding.line for finding in tally.kept] == kept
    assert [finding.message for finding in tally.kept] == [f"on {line}" for line in kept]


@pytest.mark.parametrize(
    ("text", "lines"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2)]
)
def test_lines_are_counted_whether_the_last_one_ends_or_not(text: bytes, lines: int) -> None:
    assert count_lines(text) == lines
