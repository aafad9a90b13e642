"""Rows as Parquet and as a spreadsheet, and beside them what they rest on."""

import io
import json
import re
import zipfile
from collections.abc import Iterable, Sequence
from itertools import chain
from shutil import copyfileobj
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from riskcli.core.messages import UsageError, lacking
from riskcli.output.escape import visible
from riskcli.output.result import Result, Value, as_one_text

METADATA_KEY = b"riskeval.result"
MOST_LINES = 1_048_576
"""That a spreadsheet holds."""
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_PROPERTIES = "docProps/core.xml"
_TIME = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")


def as_parquet(result: Result) -> bytes:
    """The rows; version, settings, inputs and warnings are JSON in the file's metadata."""
    columns = [pa.array(values, _type(values)) for values in _by_column(result)]
    table = pa.Table.from_arrays(columns, names=list(result.columns))
    return parquet_bytes(table, METADATA_KEY, result.envelope())


def parquet_bytes(table: pa.Table, key: bytes, about: dict[str, Any], **options: Any) -> bytes:
    """A table as a file, with JSON under that key of its metadata."""
    metadata = {key: json.dumps(about, ensure_ascii=False).encode()}
    stream = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata(metadata), stream, **options)
    return stream.getvalue()


def _by_column(result: Result) -> list[Sequence[Value]]:
    return list(zip(*result.rows, strict=True)) or [()] * len(result.columns)


def _type(values: Sequence[Value]) -> Any:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    if kinds == {tuple}:
        return pa.list_(pa.string())
    return pa.string() if str in kinds else pa.float64()


def as_xlsx(result: Result) -> bytes:
    """A sheet of the rows, with numbers as numbers, and one of what they rest on."""
    try:
        import openpyxl  # late: an extra
    except ImportError as error:
        raise lacking("xlsx needs openpyxl", "xlsx") from error
    if len(result.rows) >= MOST_LINES:
        raise UsageError(
            f"a sheet of xlsx holds {MOST_LINES:,} lines, found {len(result.rows):,} rows and a "
            "head: write csv or parquet"
        )
    book = openpyxl.Workbook(write_only=True)  # keeps no row: a sheet takes kilobytes for each
    sheet = book.create_sheet("rows")
    sheet.freeze_panes = "B2"
    cells = [openpyxl.cell.WriteOnlyCell(sheet) for _ in range(3)]
    _fill(sheet, chain([result.columns], result.rows), cells)
    about = result.envelope()
    inputs = [(entry["kind"], f"{entry['path']} {entry['sha256']}") for entry in about["inputs"]]
    warnings = [("warning", entry["message"]) for entry in about["warnings"]]
    settings = [(name, json.dumps(value)) for name, value in about["settings"].items()]
    lines = [("riskeval", about["riskeval"]), *settings, *inputs, *warnings]
    _fill(book.create_sheet("about"), lines, cells)
    stream = io.BytesIO()
    book.save(stream)
    return _without_times(stream.getvalue())


def _fill(sheet: Any, rows: Iterable[Sequence[Value]], cells: Sequence[Any]) -> None:
    """Texts stay texts, whatever they begin with; all have a format.

    A cell is written before the next one is asked for, so that one of each kind serves for all.
    """
    text, decimal, whole = cells
    text.number_format, decimal.number_format, whole.number_format = "@", "0.0000", "0"

    def cell(value: Value) -> Any:
        if value is None or value == "":
            return None
        if isinstance(value, str):
            text.value, text.data_type = visible(value), "s"
            return text
        number = decimal if isinstance(value, float) else whole
        number.value = value
        return number

    for row in rows:
        sheet.append(cell(as_one_text(value)) for value in row)


def _without_times(data: bytes) -> bytes:
    """The same file whenever it is written: the times within it are those of no clock."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            about = zipfile.ZipInfo(name, _EARLIEST)
            about.compress_type = zipfile.ZIP_DEFLATED
            with old.open(name) as content, new.open(about, "w") as written:
                if name == _PROPERTIES:
                    written.write(_TIME.sub(rb"\g<1>1980-01-01T00:00:00Z", content.read()))
                else:
                    copyfileobj(content, written)
    return stream.getvalue()
