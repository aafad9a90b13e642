"""The order in which people expect names."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcli.core.messages import naturally

ORDERED = [
    ["01", "1", "2", "00010", "10", "11"],
    ["run1", "run2", "run10", "run10b"],
    ["1.2", "1.10", "2"],
    ["", "1", "a", "b1", "b1a", "b2"],
    ["9" * 5000, "1" + "0" * 5000],  # more digits than Python turns into a number
    ["2", "10", "\u0663"],  # an Arabic digit is text
]


@pytest.mark.parametrize("names", ORDERED)
def test_numbers_are_compared_as_numbers(names: list[str]) -> None:
    assert naturally(random.Random(1).sample(names, len(names))) == names


@given(st.lists(st.from_regex(r"[0-9]{1,4}", fullmatch=True), unique=True))
def test_numbers_alone_come_in_the_same_order(names: list[str]) -> None:
    assert naturally(names) == sorted(names, key=lambda name: (int(name), name))
    assert naturally([*names, "x"]) == [*naturally(names), "x"]
