"""Files that hold scores already, in place of runs: which format it is, and what is in it.

A format is recognised by content. One that names no run holds one run's scores.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.messages import InputError, listed
from riskcli.effectiveness.plausibility import Doubt
from riskcli.effectiveness.ranking import Top
from riskcli.scores.files import is_pool, objects, refuse_own_result, rows, tables
from riskcli.scores.files.objects import METADATA_KEY as METADATA_KEY
from riskcli.scores.files.tables import JUDGEMENTS as JUDGEMENTS
from riskcli.scores.files.tables import LONG as LONG
from riskcli.scores.files.tables import RUN as RUN
from riskcli.scores.files.tables import SCALE as SCALE
from riskcli.scores.files.tables import UNNAMED_RUN, About, Content, ScoreRow, assemble
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.plausibility import UNNAMED as UNNAMED
from riskcli.trec.findings import RunFormat, taken
from riskcli.trec.formats import RUN_FORMATS, begins_as_trec, run_format_of

_OF_IR_MEASURES = ("ir_measures", "jsonl")
_TAG = re.compile(rb"^runid[ \t]+all[ \t]+(\S+)[ \t\r]*$", re.MULTILINE)
"""The run's tag, where trec_eval printed it."""


@dataclass(frozen=True)
class Format:
    """A format of score files: whether a text looks like it, and its reader."""

    name: str
    fits: Callable[[bytes], bool]
    inspect: Callable[[Path, bytes], Content]


_PARQUET = re.compile(rb"PAR1(?:\x15|\S*\Z)")
"""How Parquet begins: its name and a number's field. (A run may begin with a topic called PAR1.)"""


def _is_headed(is_it: Callable[[list[str]], bool], delimiter: str, text: bytes) -> bool:
    return is_it(tables.heading(text, delimiter))


FORMATS = {
    known.name: known
    for known in (
        # Wide (run and one column per topic) or long (run,topic,measure,score).
        *(
            Format(name, partial(_is_headed, is_it, cut),
                   partial(tables.inspect_table, delimiter=cut))
            for name, is_it, cut in (("csv", tables.is_table, ","), ("tsv", tables.is_table, "\t"),
                                     ("gdeval", tables.is_gdeval, ","))
        ),
        # What evaluation programs print line by line, called with -q.
        *(
            Format(name, partial(objects.fits, columns=columns),
                   partial(objects.inspect_lines, columns=columns))
            for name, columns in objects.PRINTED.items()
        ),
        Format("json", lambda text: objects.is_object(text)
               and not (objects.is_json_line(text) or rows.fits(text)), objects.inspect_json),
        Format("jsonl", lambda text: objects.is_object(text) and objects.is_json_line(text),
               objects.inspect_json_lines),
        Format("parquet", lambda text: _PARQUET.match(text) is not None, objects.inspect_parquet),
        Format("rows", rows.fits, rows.inspect),
    )
}  # fmt: skip


def format_of(path: Path, text: bytes, given: str | None = None) -> Format | RunFormat | None:
    """What a file that begins so is: scores, or a run that another program wrote; `given` decides.

    None for TREC's own runs, and for anything else. (Parquet is recognised when whole.)
    """
    if given is not None:
        return FORMATS.get(given) or RUN_FORMATS.get(given)
    if begins_as_trec(text) and not is_pool(text):
        return None
    refuse_own_result(path, text)
    run_format = None if rows.is_report(text) else run_format_of(text)
    if run_format is not None:
        return run_format
    fitting = [format for format in FORMATS.values() if format.fits(text)]
    fitting = [format for format in fitting if format.name != "rows"] or fitting
    if len(fitting) > 1:
        names = " or ".join(format.name for format in fitting)
        message = f"could be {names}; say which with input-format in riskeval.toml"
        raise InputError(path, "ambiguous-format", message)
    if not fitting and (column := rows.grades_in(text)):
        message = f"a table of topics with a column {column}, as judgements have: rename it if it"
        raise InputError(path, "other-form", f"{message} holds scores, drop it if not")
    return fitting[0] if fitting else None


def kind_of(path: Path, text: bytes, given: str | None = None) -> str | None:
    """The name of a score file's format; None for a run or anything else."""
    format = format_of(path, text, given)
    return format.name if isinstance(format, Format) else None


@dataclass(frozen=True)
class FileScores:
    """What one file holds: a run's scores (not named yet), or a score file's matrices."""

    path: Path
    kind: Literal["run", "scores"]
    tags: tuple[str, ...]
    matrices: tuple[ScoreMatrix, ...]
    unknown_topics: int = 0
    named: bool = True
    """False for a run, or the scores of one, that its tag or its file must name."""
    taken_as: str | None = None
    """The measure asked for, where a file of scores does not name its own."""
    sha256: str | None = None
    """The checksum of the file that was read, where one was asked for."""
    rounded_err: bool = False
    """Whether it is ir_measures' and its ERR has no more than five decimals."""
    about: About = field(default_factory=About)
    """What a file of scores says of how they were made."""
    scales: tuple[float, ...] = ()
    """What scores of files were multiplied by: here, or before as a file of scores says."""
    doubts: tuple[Doubt, ...] = ()
    """What does not look as it was meant."""
    judged: Mapping[int, Floats] = field(default_factory=dict)
    """Of a run, which part of the first documents of each topic is judged, by their number."""
    top: Top | None = None
    """Of a run, those documents, where they are asked for."""

    @property
    def tag(self) -> str | None:
        """The run's tag, where all of its lines carry the same one."""
        return self.tags[0] if len(self.tags) == 1 else None


def read_score_file(
    path: Path, text: bytes, kind: str, measures: Sequence[str] | None = ()
) -> FileScores:
    """What it holds of these measures (None: of all); a single one names that of a wide table."""
    label = tables.measure_name(measures[0]) if measures and len(measures) == 1 else UNNAMED
    inspect: Callable[..., Content] = FORMATS[kind].inspect
    items = list(taken(inspect(path, text, *([measures] if kind == "rows" else ()))))
    scores = [item for item in items if isinstance(item, ScoreRow)]
    about = next((item for item in items if isinstance(item, About)), About())
    tag = tag_of(text, kind, {row.run for row in scores})
    if tag is not None:
        scores = [row._replace(run=UNNAMED_RUN) for row in scores]
    matrices = assemble(scores, label)
    return FileScores(
        path,
        "scores",
        (tag,) if tag else (),
        matrices,
        named=any(matrix.runs != (UNNAMED_RUN,) for matrix in matrices),
        taken_as=label if any(row.measure is None for row in scores) else None,
        rounded_err=kind in _OF_IR_MEASURES and any(map(is_rounded_err, matrices)),
        about=about,
        scales=about.scales,
    )


def on_scale(taken: FileScores, scale: float) -> FileScores:
    """The scores multiplied by the scale, unless the file states that this was done before."""
    if scale == 1 or taken.scales == (scale,):
        return taken
    if taken.scales:
        then = listed(f"{each:g}" for each in taken.scales)
        message = f"its scores were multiplied by {then} before, --scale asks for {scale:g}"
        cure = "give it without --scale, or what it was made from"
        raise InputError(taken.path, "other-settings", f"{message}: {cure}")
    matrices = tuple(matrix.scaled(scale) for matrix in taken.matrices)
    return replace(taken, matrices=matrices, scales=(scale,))


def is_rounded_err(matrix: ScoreMatrix) -> bool:
    """Whether these are scores of ERR with no more than five decimals."""
    values = matrix.values[~np.isnan(matrix.values)]
    return matrix.measure.startswith("ERR") and bool((values == np.round(values, 5)).all())


def tag_of(text: bytes, kind: str, runs: Collection[str]) -> str | None:
    """The tag that an evaluation program gives the only run of its output."""
    if kind == "gdeval" and len(runs) == 1:
        return next(iter(runs))
    match = _TAG.search(text) if kind == "trec_eval" else None
    return match[1].decode(errors="replace") if match else None
