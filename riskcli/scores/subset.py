"""Some of the topics, where not all are evaluated: ids, ranges of numbers, and globs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from riskcli.core.errors import UsageError
from riskcli.core.files import LIST_MARK, listed_in
from riskcli.core.notes import Note, counted, listed
from riskcli.core.order import by_value, is_number

ONLY_TOPICS = "only_topics"
"""The setting that names them."""
_RANGE = re.compile(r"([0-9]*)-([0-9]*)")
_SEPARATOR = re.compile(r"[\s,]+")


def topics_asked(texts: str | Iterable[str]) -> tuple[str, ...]:
    """Each distinct item of lists whose items commas or white space separate."""
    given = [texts] if isinstance(texts, str) else list(map(str, texts))
    items = [item for text in given for item in _SEPARATOR.split(text) if item]
    if given and not items:
        raise UsageError("no topic is named: expected ids, ranges such as 151-160, or globs")
    return tuple(dict.fromkeys(items))


def topics_of_option(texts: Iterable[str]) -> tuple[str, ...]:
    """The same of an option, where @FILE stands for what a file lists; # begins a comment there."""
    return topics_asked([item for text in texts for item in _told(text)])


def _told(text: str) -> list[str]:
    if not text.startswith(LIST_MARK):
        return [text]
    return [item for _, item in listed_in(Path(text.removeprefix(LIST_MARK)), "topic")]


def some_topics(topics: Sequence[str], asked: Sequence[str]) -> tuple[list[str], list[Note]]:
    """Those of the topics that are asked for, in their order, and what is to be said of that."""
    known = set(topics)
    found = {item: {item} if item in known else _alike(item, topics) for item in asked}
    chosen = set().union(*found.values())
    strange = [item for item, matching in found.items() if not matching]
    if not chosen:
        there = f"{counted(len(topics), 'topic')} to evaluate ({listed(topics, 3)})"
        raise UsageError(f"none of the topics asked for ({listed(strange)}) is among the {there}")
    said = f"{len(chosen)} of {counted(len(topics), 'topic')} evaluated, as asked for"
    notes = [Note("some-topics", said, warning=False)]
    if strange:
        message = f"asked for, but not among the topics to evaluate: {listed(strange)}"
        notes.append(Note("topics-not-found", message))
    return [topic for topic in topics if topic in chosen], notes


def _alike(item: str, topics: Sequence[str]) -> set[str]:
    """The topics in a range of numbers, or that fit a glob."""
    ends = _RANGE.fullmatch(item)
    if ends is None or item == "-":
        return {topic for topic in topics if fnmatchcase(topic, item)}
    low, high = (by_value(end) if end else None for end in ends.groups())
    return {
        topic
        for topic in topics
        if is_number(topic)
        and (low is None or low <= by_value(topic))
        and (high is None or by_value(topic) <= high)
    }
