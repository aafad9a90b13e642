"""Files that hold scores already, a module a family of formats. `registry` is the door."""

import re
from collections.abc import Collection
from pathlib import Path

from riskcli.core.files import object_in
from riskcli.core.messages import InputError

INPUT_FORMATS = (
    "run", "rank_eval", "msearch", "run-json", "run-jsonl", "msmarco", "ranklib", "predictions",
    "run-parquet", "run-lz4",
    "csv", "tsv", "gdeval", "trec_eval", "ir_measures", "autojudge", "autojudge-ir", "json",
    "jsonl", "parquet", "rows",
)  # fmt: skip
"""What a file among RUNS can be: runs of TREC or other programs, then files of scores."""


# Results of this program: tables of risk and the like, which are no input.


_RESULT_COLUMNS = ({"measure", "baseline"}, {"measure", "of"}, {"path", "severity", "code"})
"""Columns of which no file of scores, nor a run, has all of any of these sets."""
_RULE = re.compile("[─ ]*─[─ ]*")
_TITLE = re.compile(r"(\S.* of \S.* by \S.*, (α = |against )|\d+ files?: \d+ refused, )")
"""The title of a table that may have no rule: those of explain and validate."""
_SAID = 8
"""Sentences stand above a title, in so many lines at most."""
_LATEX = re.compile(rb"(% .*\n)+\\begin\{|\\begin\{(table|longtable)")
POOL_TAG = "riskeval-to-judge"
"""The tag of a pool of documents to judge, which is a run in form only."""
_POOL = re.compile(rb"(\S+[ \t]+){5}%b[ \t\r]*\n" % POOL_TAG.encode())


def refuse_own_result(path: Path, text: bytes) -> None:
    """Refuse what this program printed, if the text begins so."""
    if _is_own_text(text) or is_pool(text) or is_own(_columns(text)):
        raise own_result(path)


def is_pool(text: bytes) -> bool:
    """Whether it begins as a pool that this program wrote."""
    return _POOL.match(text) is not None


def own_result(path: Path) -> InputError:
    """The error for a result of this program."""
    message = "a result of riskeval, expected runs or scores by topic (as riskeval matrix writes)"
    return InputError(path, "own-result", message)


def is_own(columns: Collection[str]) -> bool:
    """Whether these are the columns of a result."""
    return any(marks.issubset(columns) for marks in _RESULT_COLUMNS)


def _columns(text: bytes) -> Collection[str]:
    """The names in the first line of a table, or of the first object in JSON lines."""
    first = text[:8192].split(b"\n", 1)[0].decode(errors="replace").rstrip("\r")
    if first.startswith("{") and first.endswith("}"):
        return object_in(first)
    for separator in ",\t":
        if separator in first:
            return first.split(separator)
    return ()


def _is_own_text(text: bytes) -> bool:
    """Whether it is a table for people: its title says so, or one of its lines is a rule."""
    start = text[:4096]
    lines = start.decode(errors="replace").split("\n")
    if _LATEX.match(start) or any(map(_TITLE.match, lines[: _SAID + 1])):
        return True
    return any(_RULE.fullmatch(line) for line in lines)
