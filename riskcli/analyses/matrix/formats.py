"""The score matrix as a file that every command takes in place of runs."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from typing import Any

from riskcli.analyses.matrix.columns import columns_long, columns_wide
from riskcli.core.errors import UsageError
from riskcli.core.notes import listed
from riskcli.output.formats import WRITERS
from riskcli.output.result import Result
from riskcli.output.spreadsheet import FORMATS as SPREADSHEET_FORMATS
from riskcli.output.spreadsheet import spreadsheet_safe
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.files.registry import LONG, METADATA_KEY, RUN


def write_matrices(evaluation: Evaluation, form: str, long: bool, csv_safe: bool = False) -> bytes:
    """The matrices in one of the forms, wide (one measure) or long."""
    matrices = evaluation.matrices
    if not long and len(matrices) != 1:
        raise UsageError(
            f"one measure a table, found {listed(m.measure for m in matrices)}; "
            "choose one with --measure, or use --long"
        )
    if form == "parquet":
        return _parquet(evaluation, long)
    shape: Callable[[Evaluation], Result] = _long if long else _wide
    if form == "json" and not long:
        shape = _wide_json
    result = shape(evaluation)
    result = spreadsheet_safe(result) if csv_safe and form in SPREADSHEET_FORMATS else result
    return WRITERS[form](result).encode("utf-8", "surrogateescape")


def _result(
    evaluation: Evaluation, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> Result:
    return Result(tuple(columns), rows, evaluation.basis)


def _wide(evaluation: Evaluation) -> Result:
    """A row a run, a column a topic."""
    matrix = evaluation.matrices[0]
    named = zip(matrix.runs, matrix.values.tolist(), strict=True)
    return _result(evaluation, (RUN, *matrix.topics), [[run, *row] for run, row in named])


def _wide_json(evaluation: Evaluation) -> Result:
    """A row a run, with an object of scores by topic."""
    matrix = evaluation.matrices[0]
    rows = [
        [run, matrix.measure, dict(zip(matrix.topics, row, strict=True))]
        for run, row in zip(matrix.runs, matrix.values.tolist(), strict=True)
    ]
    return _result(evaluation, (RUN, "measure", "scores"), rows)


def _long(evaluation: Evaluation) -> Result:
    """A row a score."""
    rows = [
        (run, topic, matrix.measure, score)
        for matrix in evaluation.matrices
        for run, row in zip(matrix.runs, matrix.values.tolist(), strict=True)
        for topic, score in zip(matrix.topics, row, strict=True)
    ]
    return _result(evaluation, LONG, rows)


def _parquet(evaluation: Evaluation, long: bool) -> bytes:
    """The table of the wide or long form, with measure and settings in its metadata."""
    from pyarrow import parquet

    matrices = evaluation.matrices
    table = columns_long(matrices) if long else columns_wide(matrices[0])
    about = _result(evaluation, table.column_names, []).envelope()
    if not long:
        about["measure"] = matrices[0].measure
    metadata = json.dumps(about, ensure_ascii=False).encode()
    stream = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({METADATA_KEY: metadata}), stream)
    return stream.getvalue()
