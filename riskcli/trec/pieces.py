"""A run file read in pieces: each piece quickly, or line by line where something is wrong in it.

Neither the pieces nor the threads that work on them show in the run, or in an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from riskcli.core.parallel import pulled
from riskcli.core.remote_path import place_of
from riskcli.trec import fast
from riskcli.trec.fast import Pairs
from riskcli.trec.findings import Finding
from riskcli.trec.formats import run_format_of
from riskcli.trec.runs import (
    Line,
    Run,
    empty_run,
    inspect_run,
    quick_run,
    read_closely,
    read_foreign,
    uncommented,
)
from riskcli.trec.source import MAX_BYTES, Source

Keep = Callable[[Run], Run]
"""Leaves out lines that nobody will ask for."""


def whole(run: Run) -> Run:
    """Keeps every line."""
    return run


def read_run(path: Path | str, max_bytes: int = MAX_BYTES) -> Run:
    """Read a run file; an `InputError` names the first line that is not one of a run."""
    return run_of(Source(place_of(path), max_bytes))


def run_of(source: Source) -> Run:
    """The run in a file, whatever program wrote it."""
    form = run_format_of(source.start)
    return run_in(source) if form is None else read_foreign(source.path, source.text(), form)


def run_in(source: Source, keep: Keep = whole, jobs: int = 1) -> Run:
    """The run in a file, worked on by `jobs` threads.

    `keep` is applied to each piece of the file, so that no more of it is held than asked for.
    """
    parts = pulled(partial(_part, source.path, keep), source.pieces(), jobs)
    good = list(filter(None, parts))
    if len(good) < len(parts):
        good = _with_closely_read(source, keep, parts)
    if len(good) == 1:
        return good[0].run
    if fast.may_repeat_between([part.pairs for part in good]):
        return keep(read_closely(source.path, source.text_again()))
    return Run.joined([part.run for part in good])


@dataclass(frozen=True)
class _Part:
    """Some lines of a run, as far as they are kept, and all of their pairs."""

    run: Run
    pairs: Pairs


def _part(path: Path, keep: Keep, text: bytes) -> _Part | None:
    """Lines in which nothing is wrong; None asks for a close look."""
    found = quick_run(path, text)
    return None if found is None else _Part(keep(found[0]), found[1])


def _with_closely_read(source: Source, keep: Keep, parts: Sequence[_Part | None]) -> list[_Part]:
    """The parts, with those that are None read line by line; the first wrong line is an error."""
    good: list[_Part] = []
    lines_before = 0
    for part, text in zip(parts, source.pieces_again(), strict=True):
        if part is not None:
            good.append(part)
        elif uncommented(text).strip():
            run = _close_run(source, text, lines_before, good)
            good.append(_Part(keep(run), run.pairs()))
        lines_before += text.count(b"\n")
    if not good:
        raise empty_run(source.path).as_error()
    return good


def _close_run(
    source: Source, text: bytes, lines_before: int, parts_before: Sequence[_Part]
) -> Run:
    """The lines of a piece; an error is that of the first wrong line of the whole file."""
    lines: list[Line] = []
    for item in inspect_run(source.path, text, lines_before):
        if isinstance(item, Finding):
            above = [Run.of_lines(source.path, lines).pairs()] if lines else []
            if fast.may_repeat_between([*(part.pairs for part in parts_before), *above]):
                read_closely(source.path, source.text_again())  # the first wrong line is an error
            raise item.as_error()
        lines.append(item)
    return Run.of_lines(source.path, lines)
