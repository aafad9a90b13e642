"""What no result takes the place of: runs, judgements, models and scores that others made.

The shell makes `-o a.run b.run` of `-o *.run`, so that the first run is not read but written.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from riskcli.core.inputs import refuse_input
from riskcli.core.messages import Input, InputError, UsageError

_START = 2**16
_NUMBERS = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[-\d]')
"""How JSON by topic and document begins; figures are objects of objects, too."""
_RUN = "a run"
_LINE_OF_RUN = re.compile(
    rb"(?:(?:#[^\n]*|[^\S\n]*)\n)*"  # comments and blank lines
    rb"[^\S\n]*(?:\S+[^\S\n]+){4}[-+.\deE]+[^\S\n]+\S+[^\S\n]*(?:\n|\Z)"
)
_MODEL = re.compile(rb"tree\r?\n")
_OF_OTHERS = ("trec_eval", "gdeval", "ir_measures", "autojudge", "autojudge-ir", "rows")
"""Formats of scores that this program reads and never writes."""


def refuse_to_replace(
    output: Path, inputs: Iterable[Input] = (), *, state: bool = False, is_run: bool = False
) -> None:
    """Refuse an output that somebody made (`_kind_of`), or an input: of this call, or of these.

    An input that is `state` may be replaced (`replace_file`), and a run by what `is_run`.
    """
    if not state:
        refuse_input(output, (each.path for each in inputs))
    kind = _kind_of(output) if output.is_file() else None
    if kind is not None and not (is_run and kind == _RUN):
        raise UsageError(
            f"{output} holds {kind}, which this result would replace: name another file to write "
            "(of `-o *.run` the shell makes `-o a.run b.run`: the first run is the output)"
        )


def _kind_of(path: Path) -> str | None:
    """What a file begins as that is no result of this program; None for the rest."""
    # Late: most outputs are new.
    from riskcli.scores.files.registry import Format, format_of
    from riskcli.trec import discovery, formats, records, source

    try:
        with path.open("rb") as raw:
            archive = source.archive_of(raw.read(source.LONGEST_MAGIC))
            raw.seek(0)
            start = (archive.open(raw) if archive else raw).read(_START)
            if start.startswith(formats.PARQUET):  # its columns are listed at its end
                start += raw.read()
        if start.startswith(formats.PARQUET) and formats.judgement_reader(start):
            return "judgements"
        format = format_of(path, start)
    except (OSError, source.DamagedError, InputError):  # no command would take it
        return None
    if _MODEL.match(start):
        return "a model of LightGBM"
    if isinstance(format, Format) and format.name in _OF_OTHERS:
        return f"scores ({format.name})"
    if isinstance(format, Format) or (records.is_nested(start) and not _NUMBERS.match(start)):
        return None
    if format is not None or _LINE_OF_RUN.match(start):
        return _RUN
    judged = discovery.begins_as_judgements(start) or formats.judgement_reader(start)
    return "judgements" if judged else None
