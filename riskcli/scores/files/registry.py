"""Files that hold scores already, in place of runs: which format it is, and what is in it.

A format is recognised by content. One that names no run holds one run's scores.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from riskcli.core.messages import InputError
from riskcli.scores.files import objects, tables
from riskcli.scores.files import objects as columns
from riskcli.scores.files import objects as lines
from riskcli.scores.files.objects import METADATA_KEY as METADATA_KEY
from riskcli.scores.files.rows import UNNAMED_RUN, Items, ScoreRow, assemble, refuse_own_result
from riskcli.scores.files.tables import LONG as LONG
from riskcli.scores.files.tables import RUN as RUN
from riskcli.scores.matrix import ScoreMatrix
from riskcli.trec.findings import Finding, RunFormat
from riskcli.trec.formats import RUN_FORMATS, begins_as_trec, run_format_of
from riskcli.trec.names import file_name

UNNAMED = "score"
"""What the measure is called where the file does not say."""
_OF_IR_MEASURES = ("ir_measures", "jsonl")


@dataclass(frozen=True)
class Format:
    """A format of score files: what it is, whether a text looks like it, and its reader."""

    name: str
    meaning: str
    fits: Callable[[bytes], bool]
    inspect: Callable[[Path, bytes], Items]


_PARQUET = re.compile(rb"PAR1(?:\x15|\S*\Z)")
"""How Parquet begins: its name and a number's field. (A run may begin with a topic called PAR1.)"""
_OBJECT = re.compile(rb'\s*\{\s*["}]')
"""How JSON begins. (A run may begin with a topic called {.)"""


def _is_object(text: bytes) -> bool:
    return _OBJECT.match(text) is not None


def _is_parquet(text: bytes) -> bool:
    return _PARQUET.match(text) is not None


FORMATS = {
    known.name: known
    for known in (
        Format(
            "csv",
            "wide (run and one column per topic) or long (run,topic,measure,score)",
            lambda text: tables.is_table(tables.heading(text, ",")),
            lambda path, text: tables.inspect_table(path, text, ","),
        ),
        Format(
            "tsv",
            "the same, separated by tabs",
            lambda text: tables.is_table(tables.heading(text, "\t")),
            lambda path, text: tables.inspect_table(path, text, "\t"),
        ),
        Format(
            "gdeval",
            "gdeval.pl: runid,topic,ndcg@20,err@20",
            lambda text: tables.is_gdeval(tables.heading(text, ",")),
            lambda path, text: tables.inspect_table(path, text, ","),
        ),
        Format(
            "trec_eval",
            "trec_eval -q: measure, topic, score",
            lambda text: lines.fits(text, lines.TREC_EVAL),
            lambda path, text: lines.inspect_lines(path, text, lines.TREC_EVAL),
        ),
        Format(
            "ir_measures",
            "ir_measures -q: topic, measure, score",
            lambda text: lines.fits(text, lines.IR_MEASURES),
            lambda path, text: lines.inspect_lines(path, text, lines.IR_MEASURES),
        ),
        Format(
            "json",
            "what `riskeval matrix -f json` writes",
            lambda text: _is_object(text) and not objects.is_json_line(text),
            objects.inspect_json,
        ),
        Format(
            "jsonl",
            "one object per line: query_id, measure, value",
            lambda text: _is_object(text) and objects.is_json_line(text),
            objects.inspect_json_lines,
        ),
        Format("parquet", "wide or long, as CSV", _is_parquet, columns.inspect_parquet),
    )
}


def format_of(path: Path, text: bytes, given: str | None = None) -> Format | RunFormat | None:
    """What a file that begins so is: scores, or a run that another program wrote; `given` decides.

    None for TREC's own runs, and for anything else. (Parquet is recognised when whole.)
    """
    if given is not None:
        return FORMATS.get(given) or RUN_FORMATS.get(given)
    if begins_as_trec(text):
        return None
    refuse_own_result(path, text)
    run_format = run_format_of(text)
    if run_format is not None:
        return run_format
    fitting = [format for format in FORMATS.values() if format.fits(text)]
    if len(fitting) > 1:
        names = " or ".join(format.name for format in fitting)
        message = f"could be {names}; say which with input-format in riskeval.toml"
        raise InputError(path, "ambiguous-format", message)
    return fitting[0] if fitting else None


def kind_of(path: Path, text: bytes, given: str | None = None) -> str | None:
    """The name of a score file's format; None for a run or anything else."""
    format = format_of(path, text, given)
    return format.name if isinstance(format, Format) else None


def inspect_scores(path: Path, text: bytes, kind: str) -> Items:
    """The scores of a file, row by row, and all that is wrong with it."""
    return FORMATS[kind].inspect(path, text)


@dataclass(frozen=True)
class ScoreFile:
    """A file's matrices, one a measure. `tag` is what a file of one run calls it, if it does."""

    matrices: list[ScoreMatrix]
    tag: str | None = None
    labelled: bool = False
    """Whether the file does not say by which measure its scores are."""
    rounded_err: bool = False
    """Whether it is ir_measures' and its ERR has no more than five decimals."""

    @property
    def unnamed(self) -> bool:
        """Whether it holds the scores of one run, which its tag or its file must name."""
        return all(matrix.runs == (UNNAMED_RUN,) for matrix in self.matrices)


def read_score_file(path: Path, text: bytes, kind: str, label: str = UNNAMED) -> ScoreFile:
    """What a score file holds; `label` names the measure of a wide table."""
    rows: list[ScoreRow] = []
    for item in inspect_scores(path, text, kind):
        if isinstance(item, Finding):
            raise item.as_error()
        rows.append(item)
    tag = tag_of(text, kind, {row.run for row in rows})
    if tag is not None:
        rows = [row._replace(run=UNNAMED_RUN) for row in rows]
    labelled = any(row.measure is None for row in rows)
    matrices = assemble(rows, label)
    rounded = kind in _OF_IR_MEASURES and any(map(is_rounded_err, matrices))
    return ScoreFile(matrices, tag, labelled, rounded)


def is_rounded_err(matrix: ScoreMatrix) -> bool:
    """Whether these are scores of ERR with no more than five decimals."""
    values = matrix.values[~np.isnan(matrix.values)]
    return matrix.measure.startswith("ERR") and bool((values == np.round(values, 5)).all())


def tag_of(text: bytes, kind: str, runs: Collection[str]) -> str | None:
    """The tag that an evaluation program gives the only run of its output."""
    if kind == "gdeval" and len(runs) == 1:
        return next(iter(runs))
    return lines.tag_of(text) if kind == "trec_eval" else None


def read_scores(path: Path, text: bytes, kind: str, label: str = UNNAMED) -> list[ScoreMatrix]:
    """The matrices in a score file by itself, every run named."""
    content = read_score_file(path, text, kind, label)
    if not content.unnamed:
        return content.matrices
    name = content.tag or file_name(path)
    return [replace(matrix, runs=(name,)) for matrix in content.matrices]


@dataclass(frozen=True)
class Recorded:
    """What a file of scores says of how they were made."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    judgements: tuple[str, ...] = ()
    """The checksums of the qrels."""


def recorded(text: bytes, kind: str) -> Recorded:
    """What a JSON or Parquet file says of how it was made; others say nothing."""
    about: dict[str, Any] = {}
    if kind == "json":
        about = json.loads(text)
    elif kind == "parquet":
        about = columns.about(text)
    settings, inputs = about.get("settings"), about.get("inputs")
    judgements = {
        str(each["sha256"])
        for each in (inputs if isinstance(inputs, list) else ())
        if isinstance(each, dict) and each.get("kind") == "qrels" and each.get("sha256")
    }
    return Recorded(settings if isinstance(settings, dict) else {}, tuple(sorted(judgements)))
