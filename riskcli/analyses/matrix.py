"""The score matrix itself, and the formats that it alone has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from riskcli.analyses.base import Analysis
from riskcli.core.content_hash import CONTENT_HASH, text_with_hash
from riskcli.core.messages import UsageError, counted, listed
from riskcli.output.binary import parquet_bytes
from riskcli.output.display import Cell, Column, Display, Heading, decimals, folded
from riskcli.output.formats import MATRIX_FORMATS, Formats
from riskcli.output.renderers import as_json
from riskcli.output.result import Result
from riskcli.scores.files.registry import LONG, METADATA_KEY, RUN
from riskcli.scores.matrix import ScoreMatrix
from riskcli.trec.arrow import coded, numbers, table_sha256, texts

# The score matrix in each of its formats; as CSV, TSV, JSON or Parquet every command takes it back.
#
# Parquet is written by whole columns, without a look at single cells.


@dataclass(frozen=True, repr=False)
class Matrices(Analysis):
    """Score matrices as they are: one, a row a run; or several, `long`, a row a score."""

    matrices: tuple[ScoreMatrix, ...]
    long: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further members of JSON, which its hash covers."""

    def __post_init__(self) -> None:
        if not self.long and len(self.matrices) != 1:
            raise UsageError(
                f"one measure per table, found {listed(m.measure for m in self.matrices)}; "
                "choose one with --measure, or use --long"
            )

    @property
    def formats(self) -> Formats:
        """Those of every result, JSON in the shape of the matrix, and Parquet."""
        return MATRIX_FORMATS

    def displays(self, width: int, /) -> list[Display]:
        """Runs by topics, in as many tables as the width asks for."""
        return [table for matrix in self.matrices for table in folded(_display(matrix), width)]

    def result(self) -> Result:
        """A row a score, or a row a run with a column a topic."""
        if not self.long:
            matrix = self.matrices[0]
            named = zip(matrix.runs, matrix.values.tolist(), strict=True)
            return self._rows((RUN, *matrix.topics), [[run, *row] for run, row in named])
        rows = [
            (run, topic, matrix.measure, score)
            for matrix in self.matrices
            for run, row in zip(matrix.runs, matrix.values.tolist(), strict=True)
            for topic, score in zip(matrix.topics, row, strict=True)
        ]
        return self._rows(LONG, rows)

    def as_json(self) -> str:
        """A row a score; or a row a run, with an object of scores by topic."""
        if self.long:
            return text_with_hash(as_json(replace(self.result(), extra=self.extra)))
        matrix = self.matrices[0]
        rows = [
            [run, matrix.measure, dict(zip(matrix.topics, row, strict=True))]
            for run, row in zip(matrix.runs, matrix.values.tolist(), strict=True)
        ]
        return text_with_hash(as_json(self._rows((RUN, "measure", "scores"), rows)))

    def as_parquet(self) -> bytes:
        """The table of the wide or long format, with measure and settings in its metadata."""
        matrices = self.matrices
        table = _long_table(matrices) if self.long else _wide_table(matrices[0])
        about = self._rows(table.column_names, []).envelope()
        if not self.long:
            about["measure"] = matrices[0].measure
        about[CONTENT_HASH] = table_sha256(table, about)
        return parquet_bytes(table, METADATA_KEY, about, write_page_checksum=True)

    def _rows(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Result:
        return Result(tuple(columns), rows, self.provenance)


def _display(matrix: ScoreMatrix) -> Display:
    columns = [Column(Heading(RUN, left=True, names=True), [Cell(run) for run in matrix.runs])]
    columns += [
        Column(Heading(topic), [Cell(text) for text in decimals(scores, 4)])
        for topic, scores in zip(matrix.topics, matrix.values.T.tolist(), strict=True)
    ]
    runs, topics = matrix.values.shape
    title = f"{matrix.measure} of {counted(runs, 'run')} on {counted(topics, 'topic')}"
    return Display(title, columns)


def _wide_table(matrix: ScoreMatrix) -> pa.Table:
    """A row a run, a column a topic."""
    by_topic = np.ascontiguousarray(matrix.values.T)
    columns = [texts(matrix.runs), *(numbers(values, pa.float64()) for values in by_topic)]
    return pa.Table.from_arrays(columns, names=[RUN, *matrix.topics])


def _long_table(matrices: Sequence[ScoreMatrix]) -> pa.Table:
    """A row a score."""
    return pa.concat_tables(map(_long_columns, matrices))


def _long_columns(matrix: ScoreMatrix) -> pa.Table:
    runs, topics = matrix.values.shape
    names = (
        coded(np.repeat(np.arange(runs), topics), matrix.runs),
        coded(np.tile(np.arange(topics), runs), matrix.topics),
        coded(np.zeros(runs * topics), [matrix.measure]),
    )
    columns = [name.cast(pa.string()) for name in names]
    columns.append(numbers(matrix.values.ravel(), pa.float64()))
    return pa.Table.from_arrays(columns, names=list(LONG))
