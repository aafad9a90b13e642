"""Scores as evaluation programs print them topic by topic: `trec_eval -q` and ir_measures' TSV.

trec_eval: `measure topic score`; ir_measures: `topic measure score`. Both name no run, and end with
summaries over `all` topics, which are left out.
"""

from __future__ import annotations

import re
from pathlib import Path

from riskcli.effectiveness.names import is_measure
from riskcli.scores.files.rows import UNNAMED_RUN, Cells, Items
from riskcli.trec.findings import Finding, not_utf8, text_lines, wrong_columns

SUMMARY = "all"
_NO_SCORES = frozenset({"runid", "num_q", "relstring"})
"""What trec_eval prints among the measures."""
_SAMPLE = 50
_TAG = re.compile(rb"^runid[ \t]+all[ \t]+(\S+)[ \t\r]*$", re.MULTILINE)
TREC_EVAL, IR_MEASURES = 0, 1
"""The column in which the measure stands."""


def fits(text: bytes, measure_at: int) -> bool:
    """Whether most of the first lines have three columns, and a measure where it should stand."""
    first_lines = text[: 200 * _SAMPLE].split(b"\n")[:_SAMPLE]
    sample = [_parts(raw, measure_at) for raw in first_lines if raw.strip()]
    if not sample or len(sample[0]) != 3:
        return False
    known = sum(len(parts) == 3 and _is_measure(parts[measure_at]) for parts in sample)
    return 2 * known > len(sample)


def _is_measure(name: bytes) -> bool:
    text = name.decode(errors="replace")
    return text in _NO_SCORES or is_measure(text)


def _parts(raw: bytes, measure_at: int) -> list[bytes]:
    """The fields of a line. (Some of ir_measures' names hold blanks.)"""
    if measure_at == IR_MEASURES and b"\t" in raw:
        return [part.strip() for part in raw.strip().split(b"\t")]
    return raw.split()


def tag_of(text: bytes) -> str | None:
    """The run's tag, where trec_eval printed it."""
    match = _TAG.search(text)
    return match[1].decode(errors="replace") if match else None


def inspect_lines(path: Path, text: bytes, measure_at: int) -> Items:
    """The scores that a program printed, and what is wrong with them."""
    expected = "3 (measure topic score)" if measure_at == TREC_EVAL else "3 (topic measure score)"
    cells = Cells(path)
    nothing = True
    for line, raw in text_lines(text):
        parts = _parts(raw, measure_at)
        if len(parts) != 3 or not all(parts):
            yield wrong_columns(path, line, parts, expected)
            continue
        if b"\0" in raw:
            yield Finding(path, line, "nul-byte", "this line holds a NUL byte")
            continue
        try:
            fields = [part.decode() for part in parts]
        except UnicodeDecodeError:
            yield not_utf8(path, line)
            continue
        measure, topic, score = fields[measure_at], fields[1 - measure_at], fields[2]
        if topic == SUMMARY or measure in _NO_SCORES:
            continue
        nothing = False
        yield cells.row(UNNAMED_RUN, topic, measure, score, line)
    if nothing:
        message = "no score of a single topic; was -q left out?"
        yield Finding(path, None, "empty-file", message)
