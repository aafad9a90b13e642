"""The hash of content: of what a document says, not of how it is spelled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcli import InputError
from riskcli.core.content_hash import (
    CONTENT_HASH,
    check_hash,
    content_sha256,
    parsed,
    text_with_hash,
    with_hash,
)

numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
documents = st.dictionaries(st.text().filter(lambda name: name != CONTENT_HASH), values, max_size=4)


def respelled(value: Any) -> Any:
    """The same as JavaScript writes it: 1 for 1.0; members in another order."""
    if isinstance(value, dict):
        return {name: respelled(value[name]) for name in reversed(value)}
    if isinstance(value, list):
        return list(map(respelled, value))
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return int(value) if whole else value


def hashed(document: dict[str, Any], **spelling: Any) -> str:
    return content_sha256(parsed(json.dumps(document, **spelling)))


@given(documents)
def test_spelling_does_not_count(document: dict[str, Any]) -> None:
    document = {"riskeval": "1", **document}
    stated = with_hash(document)
    assert stated[CONTENT_HASH] == hashed(stated) == hashed(document)
    assert hashed(respelled(stated), indent=7, ensure_ascii=False) == stated[CONTENT_HASH]


def test_zero_has_no_sign() -> None:
    """JavaScript spells -0.0 as 0; names and other numbers stay as they are."""
    zeros = {"rows": [-0.0, {"a": -0.0, "b": [-0.0]}]}
    assert hashed(zeros) == hashed({"rows": [0, {"a": 0, "b": [0]}]})
    assert hashed({"a": "-0.0"}) != hashed({"a": "0.0"})
    assert hashed({"a": -0.01}) != hashed({"a": 0.01})


@given(documents, documents)
def test_other_content_has_another_hash(one: dict[str, Any], two: dict[str, Any]) -> None:
    same = parsed(json.dumps(one)) == parsed(json.dumps(two))
    if not same:
        assert hashed(one) != hashed(two)
    elif not {True, False} & {type(value) is bool for value in (*one.values(), *two.values())}:
        assert hashed(one) == hashed(two)


def test_the_hash_stands_behind_the_first_member() -> None:
    document = {"riskeval": "1", "settings": {"max_grade": 4}, "rows": [{"run": "a,\nb"}]}
    text = text_with_hash(json.dumps(document, indent=2) + "\n")
    assert list(json.loads(text)) == ["riskeval", CONTENT_HASH, "settings", "rows"]
    assert json.loads(text) == with_hash(document)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({CONTENT_HASH: "0" * 64}, "does not fit the hash that it carries"),
        ({CONTENT_HASH: None}, "does not fit the hash that it carries"),
        ({}, "carries no hash of its content; do that"),
    ],
)
def test_what_does_not_fit_is_refused(stated: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        check_hash(Path("kept.json"), stated, content_sha256(stated), "do that")
    assert (caught.value.path, caught.value.code) == ("kept.json", "altered")
