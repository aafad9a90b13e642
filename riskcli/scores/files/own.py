"""Results of this program: tables of risk and the like, which are no input."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from pathlib import Path

from riskcli.core.errors import InputError

_TOLD_BY = ({"measure", "baseline"}, {"measure", "of"}, {"path", "severity", "code"})
"""Columns of which no file of scores, nor a run, has all of any of these sets."""
_JSON = re.compile(rb'\s*\{\s*"riskeval": "')
_RULE = re.compile("[─ ]*─[─ ]*")
_LATEX = re.compile(rb"% .*\n\\begin\{|\\begin\{(table|longtable)")


def refuse_own_result(path: Path, text: bytes) -> None:
    """Refuse what this program printed, if the text begins so."""
    if _is_own_text(text) or is_own(_columns(text)):
        raise own_result(path)


def own_result(path: Path) -> InputError:
    """The error for a result of this program."""
    message = "a result of riskeval, expected runs or scores by topic (as riskeval matrix writes)"
    return InputError(path, "own-result", message)


def is_own(columns: Collection[str]) -> bool:
    """Whether these are the columns of a result."""
    return any(told.issubset(columns) for told in _TOLD_BY)


def _columns(text: bytes) -> Collection[str]:
    """The names in the first line of a table, or of the first object in JSON lines."""
    first = text[:8192].split(b"\n", 1)[0].decode(errors="replace").rstrip("\r")
    if first.startswith("{") and first.endswith("}"):
        try:
            found = json.loads(first)
        except (ValueError, RecursionError):
            return ()
        return found.keys() if isinstance(found, dict) else ()
    for separator in ",\t":
        if separator in first:
            return first.split(separator)
    return ()


def _is_own_text(text: bytes) -> bool:
    """Whether it is a table for people: a line that is a rule stands near its start."""
    start = text[:4096]
    if _LATEX.match(start):
        return True
    lines = start.decode(errors="replace").split("\n")[:5]
    return any(_RULE.fullmatch(line) for line in lines)
