"""Judgements before the runs, as trec_eval and ir_measures have them on their command lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from riskcli.core.errors import InputError, UsageError
from riskcli.core.notes import Note
from riskcli.trec.findings import text_lines, whole_number
from riskcli.trec.names import named_place
from riskcli.trec.source import Source

_JUDGED = 4
_SAMPLE = 2**16
_LINES = 50
_HEADINGS = ("run", "runid", "run_id", "system")
"""How a table of scores begins, that may have three topics and whole numbers below."""


def judgements_first(
    places: Sequence[Path | str], qrels: Path | str | None
) -> tuple[list[Path | str], Path | str | None, list[Note]]:
    """The places of runs, the judgements, and news where they stood first among the places."""
    given = list(places)
    if qrels is not None or not given:
        return given, qrels, []
    name, first = named_place(given[0])
    if name is not None or not first.is_file() or not _holds_judgements(first):
        return given, None, []
    if len(given) == 1:
        raise UsageError(f"{first} holds judgements: name runs behind it, or give it with --qrels")
    message = f"judgements: {first} (the first file, as in trec_eval's order)"
    return given[1:], first, [Note("qrels-first", message, warning=False)]


def _holds_judgements(path: Path) -> bool:
    """Whether the first lines are `topic iteration docno grade`, which no run and no score is."""
    try:
        start = Source(path).start[:_SAMPLE]
    except InputError:
        return False
    lines = [line.decode(errors="replace").split() for _, line in text_lines(start)]
    lines = [parts for parts in lines if not parts[0].startswith("#")][:_LINES]
    if not lines or lines[0][0] in _HEADINGS:
        return False
    judged = [len(parts) == _JUDGED and whole_number(parts[-1]) is not None for parts in lines]
    return judged[0] and 2 * sum(judged) > len(lines)
