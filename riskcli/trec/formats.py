"""Formats of runs and of judgements besides TREC's own, each told by how a text begins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from riskcli.trec.engines import MSEARCH, RANK_EVAL, inspect_ratings, is_ratings
from riskcli.trec.findings import Finding
from riskcli.trec.letor import PREDICTIONS, RANKLIB, inspect_features, is_features
from riskcli.trec.ranx import RUN_TABLE, inspect_judged_table, is_judged_table, is_packed, unpacked
from riskcli.trec.records import (
    FORMATS,
    Judgement,
    Retrieved,
    RunFormat,
    cells_of,
    inspect_judged_lines,
    inspect_nested_judgements,
    is_nested,
    judged,
    judged_heading,
    retrieved,
)

_BLANKS = rb"[ \t\v\f\r]"
_TREC_LINE = re.compile(
    _BLANKS.join(
        (
            rb'(?!PAR1)[^\s,{"]+',
            rb"+Q0",
            rb"+\S+",
            rb"+[-+]?\d+",
            rb"+[-+.\deE]+",
            rb"+\S+",
            rb"*\n",
        )
    )
)
JudgementReader = Callable[[Path, bytes], Iterator[Finding | Judgement]]


def _inspect_packed_run(path: Path, text: bytes) -> Iterator[Finding | Retrieved]:
    return retrieved(path, cells_of(path, unpacked(path, text)))


def _inspect_packed_judgements(path: Path, text: bytes) -> Iterator[Finding | Judgement]:
    return judged(cells_of(path, unpacked(path, text)))


PACKED = RunFormat("run-lz4", "ranx' LZ4", is_packed, _inspect_packed_run)
RUN_FORMATS = {
    known.name: known
    for known in (RANK_EVAL, MSEARCH, *FORMATS, RANKLIB, PREDICTIONS, RUN_TABLE, PACKED)
}


def begins_as_trec(text: bytes) -> bool:
    """Whether a text begins with a line that no format but TREC's own has."""
    return _TREC_LINE.match(text) is not None


def run_format_of(text: bytes) -> RunFormat | None:
    """The format of a run that begins so; None for TREC's own. (Parquet is told when whole.)"""
    if begins_as_trec(text):
        return None
    return next((format for format in RUN_FORMATS.values() if format.fits(text)), None)


def judgement_reader(text: bytes) -> JudgementReader | None:
    """What reads judgements that begin so; None for TREC's own."""
    readers: tuple[tuple[Callable[[bytes], object], JudgementReader], ...] = (
        (is_ratings, inspect_ratings),
        (is_nested, inspect_nested_judgements),
        (is_features, inspect_features),
        (is_packed, _inspect_packed_judgements),
        (is_judged_table, inspect_judged_table),
        (judged_heading, inspect_judged_lines),
    )
    return next((reader for fits, reader in readers if fits(text)), None)
