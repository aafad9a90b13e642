"""Formats: declared once, the same bytes from the command line and the library, refused by name."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

import riskcli
from riskcli import ScoreMatrix, UsageError
from riskcli.output import binary
from riskcli.output.formats import FORMATS, OutputFormat
from riskcli.output.result import Result, rows_of
from tests.helpers.console import on_terminal
from tests.helpers.inprocess import riskeval
from tests.helpers.program import QRELS, SAMPLES, python

NAMES = [format.name for format in FORMATS]
NEW_FORMAT = """
import sys
from riskcli.output import formats
def as_org(displays, _):
    return "".join(f"|{cell.text}" for d in displays for row in d.rows for cell in row)
formats.FORMATS += (formats.TablesFormat("org", ".org", as_org, 100),)
"""


@pytest.mark.parametrize("format", FORMATS, ids=NAMES)
def test_the_library_writes_the_bytes_of_the_command(tmp_path: Path, format: OutputFormat) -> None:
    by_command, by_library = tmp_path / f"a{format.suffix}", tmp_path / f"b{format.suffix}"
    asked = riskeval(
        "score", SAMPLES, "-q", QRELS, "-b", "indriCASP", "-a", "1,5", "-o", by_command
    )
    made = riskcli.evaluate([SAMPLES], qrels=QRELS)
    table = riskcli.risk_table(made, "indriCASP", options=riskcli.Options(alphas=(1, 5)))
    table.sorted_by().write(by_library)
    assert asked.code == 0, asked.err
    assert len(by_command.read_bytes()) > 1000
    assert by_library.read_bytes() == by_command.read_bytes()


@pytest.mark.slow
def test_a_new_format_is_one_declaration(tmp_path: Path) -> None:
    ran = python(
        f"{NEW_FORMAT}\nsys.argv = ['riskeval', 'score', 'sample_runs', '-f', 'org']\n"
        "from riskcli.__main__ import main\nmain()"
    )
    assert ran.code == 0 and ran.out.startswith("|1|boldRerank|0.2913|")
    file = tmp_path / "x.org"
    ran = python(
        f"{NEW_FORMAT}\nsys.argv = ['riskeval', 'score', 'sample_runs', '-o', {str(file)!r}]\n"
        "from riskcli.__main__ import main\nmain()"
    )
    assert ran.code == 0 and file.read_text().startswith("|")
    ran = python(
        f"{NEW_FORMAT}\nimport riskcli, pandas\n"
        "print(riskcli.risk_table(pandas.DataFrame([[.1, .2], [.3, .1]])).to_text('org'))"
    )
    assert ran.code == 0 and ran.out.startswith("|")


@pytest.fixture
def table() -> riskcli.RiskTable:
    scores = np.array([[0.1, 0.5, 0.4], [0.3, 0.3, 0.3]])
    return riskcli.risk_table(ScoreMatrix("m", ("a", "b"), ("1", "2", "3"), scores), "a")


def test_a_format_that_a_result_lacks_is_refused_with_those_it_has(
    table: riskcli.RiskTable, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=r"no format 'junit' here \(table, tsv, csv"):
        table.to_text("junit")
    with pytest.raises(UsageError, match="choose one of table, tsv"):
        table.write(tmp_path / "x.pptx")
    assert not list(tmp_path.iterdir())
    ran = riskeval("score", SAMPLES, "-f", "junit")
    assert ran.code == 2 and "'table', 'tsv', 'csv'" in ran.err
    ran = riskeval("check", SAMPLES, "-b", "indriCASP", "--report", "pdf=x")
    assert ran.code == 2 and "junit, github" in ran.err


def test_each_format_has_a_name_and_a_suffix_of_its_own() -> None:
    assert len(set(NAMES)) == len({format.suffix for format in FORMATS}) == len(FORMATS)


# Notebooks


def test_what_a_cell_ends_with_is_short_and_a_table_says_its_warnings() -> None:
    evaluation = riskcli.evaluate([SAMPLES], qrels=QRELS)
    assert repr(evaluation.matrices[0]) == "ScoreMatrix('ERR@20', 9 runs, 50 topics)"
    assert repr(evaluation).startswith("Evaluation(ScoreMatrix('ERR@20', 9 runs, 50 topics), ")
    assert len(repr(evaluation)) < 200
    table = riskcli.risk_table(evaluation, "indriCASP")
    unanswered = "unanswered topics score 0: partial46 (4)"
    assert f"warning: {unanswered}" in repr(table)
    assert max(map(len, repr(table).splitlines())) <= 80
    assert f"<li>{unanswered}</li>" in table._repr_html_()
    assert unanswered not in table.to_text("html") + table.to_text("table")


IN_A_NOTEBOOK = """
import builtins, io, sys
class ZMQInteractiveShell:
    kernel = object()
builtins.get_ipython = lambda: ZMQInteractiveShell()
import pandas, riskcli
table = riskcli.risk_table(pandas.DataFrame([[.1, .2, .3], [.3, .1, .2]]))
table.write(sys.argv[1] if len(sys.argv) > 1 else "/dev/null", "table")
print(len(str(table)), len(table.to_text("table")))
"""


def test_text_is_text_where_rich_sees_a_notebook() -> None:
    """rich knows Jupyter by the class of the shell, and would print nothing to the file given."""
    ran = python(IN_A_NOTEBOOK)
    assert ran.code == 0, ran.err
    assert all(int(size) > 200 for size in ran.out.split()), ran.out


# Files for other programs


def test_parquet_holds_the_rows_and_what_they_rest_on(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    own = ("score", SAMPLES, "-q", QRELS, "-b", "indriCASP")
    assert riskeval(*own, "-o", path).code == 0
    read = parquet.read_table(path)
    about = json.loads(riskeval(*own, "-f", "json").out)
    assert read.to_pylist() == [
        {name: None if value is None else value for name, value in row.items()}
        for row in about.pop("rows")
    ]
    assert json.loads(read.schema.metadata[b"riskeval.result"]) == about
    assert (
        read.schema.field("wins").type == "int64" and read.schema.field("mean_p").type == "double"
    )


def test_a_spreadsheet_holds_numbers_as_numbers_and_formulas_as_texts(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    scores = np.array([[0.1, 0.5, 0.4], [0.3, 0.3, 0.2]])
    names = ("=cmd()", "b\x07")
    table = riskcli.risk_table(ScoreMatrix("m", names, ("1", "2", "3"), scores), "=cmd()")
    for name in ("x.xlsx", "y.xlsx"):
        table.write(tmp_path / name)
    assert (tmp_path / "x.xlsx").read_bytes() == (tmp_path / "y.xlsx").read_bytes()
    book = openpyxl.load_workbook(tmp_path / "x.xlsx")
    rows = list(book["rows"].iter_rows())
    head = [cell.value for cell in rows[0]]
    assert head == list(table.result().columns)
    assert (rows[1][0].value, rows[1][0].data_type) == ("=cmd()", "s")
    assert rows[2][0].value == "b\\x07"
    mean = rows[2][head.index("mean")]
    assert (
        mean.value == pytest.approx(scores[1].mean(), rel=1e-15) and mean.number_format == "0.0000"
    )
    assert rows[1][head.index("urisk")].value is None
    assert ("gamma", "0.05") in [tuple(c.value for c in row) for row in book["about"].iter_rows()]


def test_a_spreadsheet_holds_so_many_lines() -> None:
    pytest.importorskip("openpyxl")
    rows = rows_of(binary.MOST_LINES, lambda: ([1] for _ in range(binary.MOST_LINES)))
    with pytest.raises(UsageError, match="1,048,576 lines, found 1,048,576 rows and a head"):
        binary.as_xlsx(Result(("n",), rows))


def test_a_spreadsheet_is_written_row_by_row() -> None:
    pytest.importorskip("openpyxl")
    rows = rows_of(6_000, lambda: ([0.5, "a", None] for _ in range(6_000)))
    tracemalloc.start()
    binary.as_xlsx(Result(("x", "y", "z"), rows))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 3e6  # a sheet that is held takes 6 MB


def test_bytes_are_not_thrown_at_a_terminal() -> None:
    code, shown = on_terminal("riskeval score sample_runs/ -b indriCASP -f parquet --quiet")
    assert code == 2 and "parquet is not for terminals: name a file" in shown
