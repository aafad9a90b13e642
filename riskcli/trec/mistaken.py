"""What a file is that could not be read as runs, scores or judgements, and what to do about it.

Readers ask after they failed, so files that can be read cost nothing. A file with a line of a run
is never taken for something else: what is wrong in it keeps its own message, with its line.
"""

import re
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

from riskcli.core.files import object_in
from riskcli.core.messages import InputError
from riskcli.trec.findings import number, whole_number
from riskcli.trec.records import DOCNO, TOPIC, are_measures, judged_heading

KIND = "other-kind"
"""The code of a file that holds no runs or scores: it is skipped in folders."""
FORM = "other-form"
"""The code of a file that may hold what was meant, in a form that is not read."""
BINARY = "not-text"
_OF_SYNTAX = (
    "column-count", "bad-score", "bad-grade", "bad-json", "bad-csv", "nul-byte", "encoding",
    "empty-file", "line-too-long", "not-text", "duplicate-document", "duplicate-run", "no-name",
)  # fmt: skip
"""Codes of the errors that a file of another kind meets."""
_HOLDS = "this file holds "
_START, _LINES, _SMALL, _MOST_GRADES = 2**16, 50, 4096, 12


def explained(error: InputError, path: Path, start: bytes, judgements: bool = False) -> InputError:
    """The error, or one that names the mistake where the first bytes of the file show it.

    `judgements` says that these were expected, in place of runs or scores.
    """
    if error.path != str(path) or error.code not in _OF_SYNTAX:
        return error
    mistake = recognised(start, judgements)
    return InputError(error.path, mistake.code, _HOLDS + mistake.sentence) if mistake else error


def what_is_in(error: InputError) -> str:
    """What a file was found to hold, in a few words."""
    return re.split(r", | \(|: ", error.message.removeprefix(_HOLDS))[0]


def exchanged(error: InputError, qrels: Path, start: bytes) -> InputError:
    """The error for judgements among the runs; it says more where the judgements are a run."""
    if error.message != _HOLDS + _JUDGEMENTS or not _Start(start).run_lines:
        return error
    message = f"{_HOLDS}judgements, and {qrels} (--qrels) a run: exchange them"
    return InputError(error.path, error.code, message)


def begins_as_run(file: Path) -> bool:
    """Whether a file begins with a line of a run, or as one in JSON."""
    try:
        with file.open("rb") as raw:
            start = _Start(raw.read(_SMALL))
    except OSError:
        return False
    trec = bool(start.lines) and start.lines[:1] == start.run_lines[:1]
    return trec or _has_scored_documents(start)


class _Start:
    """How a text begins."""

    def __init__(self, start: bytes) -> None:
        self.bytes = start[:_START]
        self.text = self.bytes.decode(errors="replace")

    @cached_property
    def lines(self) -> list[str]:
        """The first lines that are not blank; not one that is cut off."""
        lines = self.text.split("\n")
        whole = lines[:-1] if len(self.bytes) in (_START, _SMALL) and len(lines) > 1 else lines
        return [line for line in whole if line.strip()][:_LINES]

    @cached_property
    def run_lines(self) -> list[str]:
        return [line for line in self.lines if _is_of_run(line.split())]

    @cached_property
    def judged_lines(self) -> list[str]:
        return [line for line in self.lines if _is_judged(line.split())]

    def most(self, fits: Callable[[str], object]) -> bool:
        """Whether that holds of most of the lines."""
        return 2 * sum(bool(fits(line)) for line in self.lines) > len(self.lines)

    def cells(self, separator: str) -> list[list[str]]:
        """The lines as cells, without quotes."""
        return [[cell.strip('" \r') for cell in line.split(separator)] for line in self.lines]


def _is_of_run(parts: Sequence[str]) -> bool:
    return len(parts) == 6 and whole_number(parts[3]) is not None and number(parts[4]) is not None


def _is_judged(parts: Sequence[str]) -> bool:
    """Whether it is a judgement, and no line of a run that lacks columns."""
    graded = len(parts) == 4 and whole_number(parts[3]) is not None
    return graded and parts[1].isdigit() and len(parts[1]) <= 3


# What is no text, or no text with lines


def _is_utf_16(start: _Start) -> bool:
    """Whether it says so, or every other byte is zero."""
    sample = start.bytes[:200]
    zeros = sorted(sample[first::2].count(0) for first in (0, 1))
    alternate = len(sample) > 3 and zeros[0] == 0 and zeros[1] > 0.45 * len(sample)
    return alternate or sample.startswith((b"\xff\xfe", b"\xfe\xff"))


def _is_binary(start: _Start) -> bool:
    sample = start.bytes[:1024]
    if sample.startswith((b"PAR1", b"\x04\x22\x4d\x18")):  # Parquet and LZ4 are read
        return False
    return sum(byte < 32 and byte not in b"\t\n\v\f\r\x1b" for byte in sample) > len(sample) / 10


def _ends_lines_in_cr(start: _Start) -> bool:
    return b"\r" in start.bytes.strip() and b"\n" not in start.bytes


class Mistake(NamedTuple):
    """What a file holds and what to do about it, how that is recognised, and the error's code."""

    fits: bytes | Callable[[_Start], object]
    """A regular expression of the first bytes, or a look at the lines."""
    sentence: str
    code: str = FORM

    def is_made(self, start: _Start) -> bool:
        if callable(self.fits):
            return bool(self.fits(start))
        return re.match(self.fits, start.bytes, re.IGNORECASE | re.DOTALL) is not None


_STRUCTURES = (
    Mistake(rb"PK\x03\x04.{0,999}(xl/|\[Content_Types|opendocument)|\xd0\xcf\x11\xe0",
            "a spreadsheet: save the sheet as CSV", BINARY),
    Mistake(rb"PK\x03\x04.{0,99}(\.npy|data\.pkl)|\x93NUMPY|\x80[\x02-\x05]",
            "an object of Python (pickle, numpy, PyTorch): write text", BINARY),
    Mistake(rb"PK\x03\x04|7z\xbc\xaf|Rar!", "an archive (zip, 7z, rar): unpack it first", BINARY),
    Mistake(rb".{257}ustar", "a tar archive: unpack it first (tar -xf)", BINARY),
    Mistake(rb"\x28\xb5\x2f\xfd", "data compressed twice (zstandard): unpack them first", BINARY),
    Mistake(_is_utf_16, "UTF-16 text: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)", BINARY),
    Mistake(rb"%PDF-", "a PDF document: give the file that it was made from", BINARY),
    Mistake(rb"ARROW1|FEA1|\x89HDF|SQLite format 3",
            "a table of Arrow, HDF5 or SQLite: write it as Parquet or CSV", BINARY),
    Mistake(rb"X\n\x00\x00|RD[XA]\d\n|A\n[23]\n\d+\n", "an object of R: write text", BINARY),
    Mistake(rb"b0VIM ", "an editor's copy (Vim): give the file itself", KIND),
    Mistake(_ends_lines_in_cr,
            r"lines that end in CR alone: convert them, tr '\r' '\n' < FILE > NEW"),
)  # fmt: skip


# Runs, scores and judgements in another form; files that lie beside them


def _has_header(start: _Start) -> bool:
    """Whether a line of names stands above lines of a run."""
    return len(start.run_lines) == len(start.lines) - 1 and "score" in start.lines[0].split()


def _has_row_numbers(start: _Start) -> bool:
    """Whether lines of a run have their number in front."""
    rows = [line.split() for line in start.lines]
    numbered = [row[0] for row in rows if len(row) == 7 and _is_of_run(row[1:])]
    return 2 * len(numbered) > len(rows) and numbered[0] in ("0", "1")


def _is_table_of_run(start: _Start) -> bool:
    """Whether the first line names the columns of topic and document."""
    names = {name.strip('"\r').lower() for name in re.split(r"[,;\t ]", start.lines[0])}
    return not names.isdisjoint(TOPIC) and not names.isdisjoint(DOCNO)


def _lacks_run(start: _Start) -> bool:
    """Whether numbers stand below a first line whose first cell is empty."""
    separator = "\t" if "\t" in start.lines[0] else ","
    (first, *_), *rows = start.cells(separator)
    cells = [cell for row in rows for cell in row[1:] if cell]
    return not first and bool(cells) and all(number(cell) is not None for cell in cells)


def _is_judged_table(start: _Start) -> bool:
    heading = judged_heading(start.bytes)
    if heading is None or "rank" in start.lines[0]:
        return False
    separator, (*_, grade_at) = heading
    grades = {row[grade_at] for row in start.cells(separator)[1:] if len(row) > grade_at}
    return len(grades) <= _MOST_GRADES and None not in map(whole_number, grades)


def _are_judgements(start: _Start) -> bool:
    grades = {line.split()[3] for line in start.judged_lines}
    return 2 * len(start.judged_lines) > len(start.lines) and len(grades) <= _MOST_GRADES


def _has_scored_documents(start: _Start) -> bool:
    """Whether it begins as a run in JSON, with scores that are no whole numbers."""
    is_object = start.text.lstrip().startswith("{")
    match = _SCORED_DOCUMENTS(start.text) if is_object else None
    return match is not None and not are_measures(re.findall(r'"([^"]*)"', match[1]))


def _has_semicolons(start: _Start) -> bool:
    widths = {len(row) for row in start.cells(";")}
    return len(widths) == 1 and min(widths) > 1


def _has_commas(start: _Start) -> bool:
    """Whether lines of a run have commas for white space."""
    rows = start.cells(",")
    plain = all(len(row) in (4, 6) and number(row[0]) is not None for row in rows)
    return plain or 2 * sum("Q0" in row for row in rows) > len(rows)


def _is_summary(start: _Start) -> bool:
    """Whether there are means alone, as of trec_eval without -q, of ir_measures, or in JSON."""
    if start.text.lstrip().startswith("{"):
        members = object_in(start.bytes)
        return bool(members) and are_measures(members)
    names = [cell for cell in start.cells(",")[0] if cell]
    if len(names) > 1 and names[0] in ("name", "model") and are_measures(names[1:]):
        return True
    rows = [line.split() for line in start.lines]
    of_all = all(len(row) == 3 and row[1] == "all" for row in rows)
    return of_all or all(len(row) == 2 and are_measures(row[:1]) for row in rows)


def _is_log(start: _Start) -> bool:
    header = [cell.strip('" \r') for cell in re.split(r"[,\t;]", start.lines[0].lower())]
    return start.most(_LOG_LINE) or (len(header) > 1 and header[0] in _LOGGED)


def _are_queries(start: _Start) -> bool:
    """Whether lines are an id and words, or objects with a text and no score."""
    if start.text.startswith("{"):
        return all(_TEXT(line) and not _OF_RUN(line) for line in start.lines)
    if all(re.fullmatch(r"\d+:(?![\d:., ]+$)\S.*", line.strip()) for line in start.lines):
        return True  # as the Web tracks have them
    in_two = all(len(row) == 2 for row in start.cells("\t"))
    return in_two and start.most(lambda line: " " in line.partition("\t")[2].strip())


_LOGGED = ("epoch", "step", "iteration", "timestamp", "time", "date")
_LOG_LINE = partial(
    re.match,
    r"\W*\d{4}-\d\d-\d\d[T ]\d\d:\d\d|(?:.{0,60}[\s\[|])?(?:INFO|WARN|WARNING|ERROR|DEBUG)[\s\]:|]",
)
_TEXT = partial(re.match, r'\s*\{.*"(?:text|query|title|contents|question)"\s*:')
_OF_RUN = partial(
    re.search,
    r'"(?:score|value|measure|scores|hits)"\s*:|:\s*(?:-?\d+\.\d|true|false|null|NaN)|'
    rf'(?=.*"(?:{"|".join(TOPIC[:-1])})"\s*:).*"(?:{"|".join(DOCNO)})"\s*:',
)
_DECIMAL_COMMA = partial(re.match, r"(?:.*\s)?-?\d+,\d+(?:\s|$)")
_QUOTED = partial(re.match, r'"[^"]*" |.*\s"Q0"\s')
_SCORED_DOCUMENTS = partial(
    re.match, r'\s*\{\s*"[^"]*"\s*:\s*\{((?:\s*"[^"]*"\s*:\s*-?\d+\.\d+(?:[eE][-+]?\d+)?\s*,){4})'
)
_AS_RUN = "a run's lines are topic Q0 document rank score tag"
_AS_LINES = "write an object a line (pandas: orient='records', lines=True)"
_MEANS = "means over topics alone: give scores by topic (trec_eval -q)"
_JUDGEMENTS = "judgements (topic iteration document grade): give it with --qrels"
_HEADED = (Mistake(_has_header, "a run below a line of column names: remove that line"),)
_FOR_JUDGEMENTS = (
    Mistake(lambda start: 2 * len(start.run_lines) > len(start.lines)
            or _has_scored_documents(start),
            "a run: name it among RUNS, --qrels expects topic iteration document grade"),
)  # fmt: skip
_FOR_RUNS = (
    Mistake(_are_judgements, _JUDGEMENTS, KIND),
    Mistake(_is_judged_table, "judgements (a table): give it with --qrels", KIND),
    Mistake(rb"\S+ qid:\S+ \d+:", "features (LETOR): give it with --qrels", KIND),
    Mistake(_has_row_numbers, "a run with row numbers in front: write none (pandas: index=False)"),
    Mistake(_is_table_of_run, f"a run as a table with a header: {_AS_RUN} (PyTerrier: "
            "pt.io.write_results)"),
    Mistake(_lacks_run, "a table whose first column has no name: call it run "
            "(pandas: df.rename_axis('run').to_csv(FILE))"),
    Mistake(_has_commas, f"a run with commas between columns: {_AS_RUN}, with white space"),
)  # fmt: skip
_OTHERS = (
    Mistake(_is_binary, "binary data: give runs or scores as text", BINARY),
    Mistake(rb"\s*(<\?xml[^>]*>\s*)?<(!doctype\s+html|html|head|body|table)\b",
            "an HTML page (a login or an error?): download the file itself"),
    Mistake(rb"version https://git-lfs|.{0,20}/annex/objects/",
            "a pointer of Git LFS or git-annex in place of the file: fetch it (git lfs pull)"),
    Mistake(rb"\s*<.{0,400}?(topics|top|topic|query|queries|parameters)\b",
            "topics as XML: give runs or scores", KIND),
    Mistake(rb"\s*<[?!\w]", "XML (a server's error message?): download the file itself"),
    Mistake(rb'\s*\{.{0,400}"(cells"\s*:\s*\[.{0,400}"cell_type|nbformat)"',
            "a Jupyter notebook: give the files that it writes", KIND),
    Mistake(rb'[^\n]*,"?Status"?,"?Score"?,', "promptfoo's table: give its JSON (-o results.json)"),
    Mistake(rb'\s*\{\s*"(error|message|detail)"\s*:', "a server's error message: ask it again"),
    Mistake(rb'\s*\{\s*"took"\s*:\s*\d+\s*,\s*"timed_out"',
            'one answer of _search: put those of all topics into {"responses": […]}'),
    Mistake(rb"\s*\[\s*[\[{]", f"a JSON list: {_AS_LINES}"),
    Mistake(rb'\s*\{\s*"[\w-]+"\s*:\s*\{\s*"0"\s*:', f"JSON by columns: {_AS_LINES}"),
    Mistake(rb"\s*\{\s*'", "a dictionary as Python prints it: write it with json.dump"),
    Mistake(rb"tree\r?\nversion=v", "a model of LightGBM: rank with it (riskeval rank)", KIND),
    Mistake(rb'\s*\{.{0,400}"(mteb_version|model_names)"\s*:', _MEANS, KIND),
    Mistake(_is_summary, _MEANS, KIND),
    Mistake(_are_queries, "queries or documents: give runs or scores", KIND),
    Mistake(_is_log, "a log: give runs or scores", KIND),
    Mistake(_has_semicolons, "columns between semicolons (a spreadsheet's?): write white space in "
            "runs, commas in scores, and decimal points"),
    Mistake(lambda start: start.most(_QUOTED), "names in quotes: write none (R: write.table(..., "
            "quote=FALSE, row.names=FALSE, col.names=FALSE))"),
    Mistake(lambda start: start.most(_DECIMAL_COMMA), "decimal commas: write decimal points"),
)  # fmt: skip


def recognised(start: bytes, judgements: bool = False) -> Mistake | None:
    """The mistake that a text's first bytes show, if they do."""
    text = _Start(start)
    known: Sequence[Mistake] = _STRUCTURES
    if text.run_lines and not judgements:
        known = (*known, *_HEADED)
    elif text.lines and not judgements:
        known = (*known, *_OTHERS, *_FOR_RUNS)
    elif text.lines and not text.judged_lines:
        known = (*known, *_FOR_JUDGEMENTS, *_OTHERS)
    return next((mistake for mistake in known if mistake.is_made(text)), None)
