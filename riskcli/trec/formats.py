"""Formats of runs and of judgements besides TREC's own, recognised by how the text begins."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from riskcli.trec import engines, findings, letor, ranx, records
from riskcli.trec.findings import Finding

_BLANKS = rb"[ \t\v\f\r]"
_FIELDS = (rb'(?!PAR1)[^\s,{"]+', rb"+Q0", rb"+\S+", rb"+[-+]?\d+", rb"+[-+.\deE]+", rb"+\S+")
_TREC_LINE = re.compile(_BLANKS.join((*_FIELDS, rb"*\n")))
JudgementReader = Callable[[Path, bytes], Iterator[Finding | findings.Judgement]]


RUN_FORMATS = {
    format.name: format
    for format in (*engines.FORMATS, *records.FORMATS, *letor.FORMATS, *ranx.FORMATS)
}


def begins_as_trec(text: bytes) -> bool:
    """Whether a text begins with a line that no format but TREC's own has."""
    return _TREC_LINE.match(text) is not None


def run_format_of(text: bytes) -> findings.RunFormat | None:
    """The format of a run that begins so; None for TREC's own. (Parquet: of a whole text.)"""
    if begins_as_trec(text):
        return None
    return next((format for format in RUN_FORMATS.values() if format.fits(text)), None)


def judgement_reader(text: bytes) -> JudgementReader | None:
    """What reads judgements that begin so; None for TREC's own."""
    readers: tuple[tuple[Callable[[bytes], object], JudgementReader], ...] = (
        (engines.is_ratings, engines.inspect_ratings),
        (records.is_nested, records.inspect_nested_judgements),
        (letor.is_features, letor.inspect_features),
        (ranx.is_packed, ranx.inspect_packed_judgements),
        (ranx.is_judged_table, ranx.inspect_judged_table),
        (records.judged_heading, records.inspect_judged_lines),
    )
    return next((reader for fits, reader in readers if fits(text)), None)
