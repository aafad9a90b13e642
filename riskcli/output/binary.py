"""Rows as Parquet and as a spreadsheet, and beside them what they rest on."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import parquet

from riskcli.core.errors import UsageError
from riskcli.output.escape import visible
from riskcli.output.result import Result, Value, as_one_text

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

METADATA_KEY = b"riskeval.result"
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_TIME = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")


def as_parquet(result: Result) -> bytes:
    """The rows; version, settings, inputs and warnings are JSON in the file's metadata."""
    columns = [pa.array(values, _type(values)) for values in _by_column(result)]
    about = json.dumps(result.envelope(), ensure_ascii=False).encode()
    table = pa.Table.from_arrays(columns, names=list(result.columns))
    stream = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({METADATA_KEY: about}), stream)
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
        from openpyxl import Workbook  # late: an extra
    except ImportError as error:
        raise UsageError(
            "xlsx needs openpyxl: install riskeval with the extra `xlsx` (in a checkout: "
            "pip install '.[xlsx]')"
        ) from error
    book = Workbook()
    sheet = book.active
    sheet.title = "rows"
    _fill(sheet, [result.columns, *result.rows])
    sheet.freeze_panes = "B2"
    about = result.envelope()
    inputs = [(entry["kind"], f"{entry['path']} {entry['sha256']}") for entry in about["inputs"]]
    warnings = [("warning", entry["message"]) for entry in about["warnings"]]
    settings = [(name, json.dumps(value)) for name, value in about["settings"].items()]
    lines = [("riskeval", about["riskeval"]), *settings, *inputs, *warnings]
    _fill(book.create_sheet("about"), lines)
    stream = io.BytesIO()
    book.save(stream)
    return _without_times(stream.getvalue())


def _fill(sheet: Worksheet, rows: Sequence[Sequence[Value]]) -> None:
    """Texts stay texts, whatever they begin with; numbers have a format."""
    for number, row in enumerate(rows, start=1):
        for index, value in enumerate(map(as_one_text, row), start=1):
            if value is None or value == "":
                continue
            cell = sheet.cell(number, index)
            if isinstance(value, str):
                cell.value = visible(value)
                cell.data_type = "s"
            else:
                cell.value = value
                cell.number_format = "0.0000" if isinstance(value, float) else "0"


def _without_times(data: bytes) -> bytes:
    """The same file whenever it is written: the times within it are those of no clock."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            content = _TIME.sub(rb"\g<1>1980-01-01T00:00:00Z", old.read(name))
            new.writestr(zipfile.ZipInfo(name, _EARLIEST), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()
