"""A slow, plain reader of runs, judgements and score files, to hold the fast one against.

It shares no code with the program and knows no shortcut: a line, a split, a dictionary.
"""

from __future__ import annotations

import bz2
import csv
import ctypes
import gzip
import io
import json
import lzma
import math
import zlib
from collections import Counter
from collections.abc import Iterator

Scores = dict[str, dict[str, float]]
Grades = dict[str, dict[str, int]]
TOPIC_WORDS = ("topic", "topic_id", "query", "query_id", "qid")
Cells = Counter[tuple[str, str, float]]


class RefusedError(Exception):
    """The reference would not take this file."""


def text_of(data: bytes) -> bytes:
    for magic, expand in (
        (b"\x1f\x8b", gzip.decompress),
        (b"BZh", bz2.decompress),
        (b"\xfd7zXZ\x00", lzma.decompress),
    ):
        if data.startswith(magic):
            try:
                data = expand(data)
            except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
                raise RefusedError(f"archive: {error}") from error
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[:4] in (b"PK\x03\x04", b"\x28\xb5\x2f\xfd"):
        raise RefusedError("not text")
    return data[3:] if data[:3] == b"\xef\xbb\xbf" else data


def lines_of(data: bytes, columns: int, number_at: int | None = None) -> Iterator[list[bytes]]:
    """The columns of each line; with the place of a number, lines may be comments."""
    found = False
    for line in text_of(data).split(b"\n"):
        parts = line.split()
        if not parts:
            continue
        if number_at is not None and line[:1] == b"#":
            if len(parts) == columns and _is_decimal(parts[number_at]):
                raise RefusedError("a comment that is a line")
            continue
        found = True
        if len(parts) != columns:
            raise RefusedError(f"{len(parts)} columns")
        if 0 in line:
            raise RefusedError("NUL")
        yield parts
    if not found:
        raise RefusedError("nothing")


def text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusedError("not UTF-8") from error


def _is_decimal(raw: bytes) -> bool:
    try:
        decimal(raw.decode(errors="replace"))
    except RefusedError:
        return False
    return True


def decimal(spelled: str) -> float:
    if not spelled or set(spelled) - set("0123456789+-.eE"):
        raise RefusedError(f"no number: {spelled!r}")
    try:
        value = float(spelled)
    except ValueError as error:
        raise RefusedError(f"no number: {spelled!r}") from error
    if not math.isfinite(value):
        raise RefusedError("infinite")
    return value


def read_run(data: bytes) -> tuple[Scores, set[str]]:
    """Scores by topic and document, and the tags."""
    scores: Scores = {}
    tags = set()
    for topic_raw, _, docno_raw, _, score_raw, tag in lines_of(data, 6, 4):
        topic, docno, score = text(topic_raw), text(docno_raw), text(score_raw)
        tags.add(text(tag))
        if docno in scores.setdefault(topic, {}):
            raise RefusedError("document twice")
        scores[topic][docno] = decimal(score)
    return scores, tags


def read_qrels(data: bytes) -> Grades:
    """Grades by topic and document."""
    grades: Grades = {}
    for topic_raw, _, docno_raw, grade_raw in lines_of(data, 4, 3):
        topic, docno, spelled = text(topic_raw), text(docno_raw), text(grade_raw)
        digits = spelled[1:] if spelled[:1] in ("+", "-") else spelled
        if not digits or set(digits) - set("0123456789") or len(digits) > 18:
            raise RefusedError("no grade")
        grade = int(spelled)
        if abs(grade) > 32768 or grades.setdefault(topic, {}).setdefault(docno, grade) != grade:
            raise RefusedError("grade")
    return grades


def evaluated(scores: Scores, grades: Grades) -> dict[str, tuple[float, float]]:
    """Average precision and nDCG@3 of every topic with a relevant document."""
    topics = [topic for topic, judged in grades.items() if max(judged.values()) >= 1]
    if not set(topics) & set(scores):
        raise RefusedError("no topic in common")
    return {topic: _measured(scores.get(topic, {}), grades[topic]) for topic in topics}


def _measured(docs: dict[str, float], judged: dict[str, int]) -> tuple[float, float]:
    single = {docno: ctypes.c_float(score).value for docno, score in docs.items()}
    ranking = sorted(docs, key=lambda docno: (single[docno], docno.encode()), reverse=True)
    gains = [max(0, judged.get(docno, 0)) for docno in ranking]
    relevant = sum(grade >= 1 for grade in judged.values())
    hits, precision = 0, 0.0
    for place, gain in enumerate(gains, start=1):
        if gain >= 1:
            hits += 1
            precision += hits / place
    ideal = sorted((max(0, grade) for grade in judged.values()), reverse=True)
    return precision / relevant, _discounted(gains[:3]) / _discounted(ideal[:3])


def _discounted(gains: list[int]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, start=1))


# Score files: their cells as (run, topic, score); "" is the run of a file that names none


def _cell(run: str, topic: str, spelled: str) -> tuple[str, str, float] | None:
    if not spelled.strip():
        return None
    return run, topic, decimal(spelled.strip())


def _count(cells: list[tuple[str, str, float] | None]) -> Cells:
    return Counter(cell for cell in cells if cell is not None)


def read_csv(data: bytes) -> Cells:
    """Wide, long or gdeval.pl's, parted by commas."""
    try:
        rows = list(csv.reader(io.StringIO(text(text_of(data)), newline=""), strict=True))
    except csv.Error as error:
        raise RefusedError("quotes") from error
    header, body = rows[0], [row for row in rows[1:] if row]
    if not body or any(len(row) != len(header) for row in body):
        raise RefusedError("shape")
    if header[:2] == ["runid", "topic"] and "measure" not in header:
        rows = [row for row in body if row[1] != "amean"]
        return _count([_cell(row[0], row[1], cell) for row in rows for cell in row[2:]])
    if set(header) in (
        {"run", "topic", "measure", "score"},
        {"runid", "topic", "measure", "score"},
    ):
        run = next(place for place, name in enumerate(header) if name.startswith("run"))
        topic, score = header.index("topic"), header.index("score")
        return _count([_cell(row[run], row[topic], row[score]) for row in body])
    if len(set(header[1:])) < len(header[1:]) or "" in header:
        raise RefusedError("names")
    return _count(
        [
            _cell(row[0], topic, cell)
            for row in body
            for topic, cell in zip(header[1:], row[1:], strict=True)
        ]
    )


def read_trec_eval(data: bytes) -> Cells:
    """`trec_eval -q`: measure, topic, score."""
    cells = []
    for measure, topic, score in lines_of(data, 3):
        if text(topic) != "all" and text(measure) not in ("runid", "num_q", "relstring"):
            cells.append(_cell("", text(topic), text(score)))
    return _count(cells)


def read_ir_measures(data: bytes) -> Cells:
    """ir_measures' TSV: topic, measure, score."""
    cells = []
    for line in text_of(data).split(b"\n"):
        parts = line.strip().split(b"\t") if b"\t" in line.strip() else line.split()
        fields = [text(part.strip()) for part in parts]
        if not "".join(fields):
            continue
        if len(fields) != 3 or not all(fields) or b"\0" in line:
            raise RefusedError("columns")
        if fields[0] != "all" and fields[1] not in ("runid", "num_q", "relstring"):
            cells.append(_cell("", fields[0], fields[2]))
    return _count(cells)


def read_json_lines(data: bytes) -> Cells:
    """ir_measures' JSON lines."""
    cells = []
    for line in text_of(data).split(b"\n"):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
            (topic,) = [found[name] for name in TOPIC_WORDS if name in found] or [None]
            score = found.get("value")
        except (ValueError, AttributeError, RecursionError) as error:
            raise RefusedError("JSON") from error
        if topic is None or topic == "all":
            continue
        cells.append(_cell("", str(topic), "" if score is None else repr(score)))
    return _count(cells)
