"""Runs and judgements as other programs write them: JSON, JSON lines, tables with a header.

    {"topic": {"docno": 2.5}}                       pytrec_eval and ranx, runs and judgements
    {"qid": "1", "docid": "a", "score": 2.5}        JSON lines, a retrieved document a line
    topic docno rank                                MS MARCO: the score is the rank, turned round
    query-id  corpus-id  score                      BEIR, judgements; or query,docid,rating

What is found is the same as in TREC's own files: `Line` for runs, `Judgement` for judgements.
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from riskcli.trec import findings
from riskcli.trec.findings import Finding

TOPIC = ("qid", "q_id", "query_id", "query-id", "topic", "topic_id", "query")
DOCNO = ("docno", "docid", "doc_id", "corpus-id", "corpus_id", "pid", "doc")
GRADE = ("grade", "rating", "relevance", "label", "score")
_SAMPLE = 50
_NESTED = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')


def is_nested(text: bytes) -> bool:
    """Whether a text begins as an object of objects, which a topic called `{` does not."""
    return _NESTED.match(text) is not None


def unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of a JSON object; a key that occurs twice is a `ValueError`."""
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in members if keys.count(key) > 1)
        raise ValueError(f"an object holds the key {twice!r} twice")
    return members


def loaded(path: Path, text: bytes) -> Mapping[str, Any] | Finding:
    """The JSON object in a text, or what is wrong with it."""
    try:
        content = json.loads(text, object_pairs_hook=unrepeated)
    except UnicodeDecodeError as error:
        return findings.not_utf8(path, findings.line_of(text, error))
    except (ValueError, RecursionError) as error:
        return Finding(path, getattr(error, "lineno", None), "bad-json", str(error))
    cells: Mapping[str, Any] = content
    return cells


Cells = Iterator[Finding | tuple[str, str, Any]]


def _cells(path: Path, text: bytes) -> Cells:
    return cells_of(path, loaded(path, text))


def cells_of(path: Path, content: Mapping[str, Any] | Finding) -> Cells:
    """Topic, document and value of everything in a dictionary of dictionaries."""
    if isinstance(content, Finding):
        yield content
        return
    nothing = True
    for topic, documents in content.items():
        if not isinstance(documents, dict):
            message = f"topic {topic}: expected an object of documents, found {documents!r:.60}"
            yield Finding(path, None, "bad-json", message)
            continue
        for docno, value in documents.items():
            nothing = False
            if topic and docno:
                yield topic, docno, value
            else:
                yield Finding(path, None, "no-name", "the name of a topic or document is empty")
    if nothing:
        yield Finding(path, None, "empty-file", "no document in this file")


# Runs


def score_of(value: object) -> float | None:
    """The finite number that a JSON value is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        score = float(value)
    except OverflowError:
        return None
    return score if math.isfinite(score) else None


def scored(
    path: Path, line: int | None, topic: str, docno: str, value: object
) -> Finding | findings.Retrieved:
    """The document with its score, or the finding that this is no finite number."""
    score = score_of(value)
    if score is not None:
        return findings.Retrieved(line, topic, docno, score)
    where = f"topic {topic}, document {docno}"
    message = f"{where}: the score is {value!r:.60}, expected a finite number"
    return Finding(path, line, "bad-score", message)


def _inspect_nested_run(path: Path, text: bytes) -> Iterator[Finding | findings.Retrieved]:
    return retrieved(path, _cells(path, text))


def retrieved(path: Path, cells: Cells) -> Iterator[Finding | findings.Retrieved]:
    """The documents of a run that is a dictionary of dictionaries."""
    for cell in cells:
        yield cell if isinstance(cell, Finding) else scored(path, None, *cell)


def _first_line(text: bytes) -> bytes:
    return next((raw for _, raw in findings.text_lines(text[: 2**16])), b"")


def _is_run_line(text: bytes) -> bool:
    raw = _first_line(text)
    if not raw.lstrip().startswith(b"{") or is_nested(text):
        return False
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and all(
        any(name in content for name in names) for names in (TOPIC, DOCNO, ("score",))
    )


def _inspect_run_lines(path: Path, text: bytes) -> Iterator[Finding | findings.Retrieved]:
    for line, raw in findings.text_lines(text):
        try:
            members = json.loads(raw, object_pairs_hook=unrepeated)
            topic, docno = (str(_member(members, names)) for names in (TOPIC, DOCNO))
            value = members["score"]
        except UnicodeDecodeError:
            yield findings.not_utf8(path, line)
            continue
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            message = f"expected an object with qid, docid and score ({error!r})"
            yield Finding(path, line, "bad-json", message)
            continue
        if topic and docno:
            yield scored(path, line, topic, docno, value)
        else:
            yield Finding(path, line, "no-name", "the name of a topic or document is empty")


def _member(members: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The member under one of these names; none, or two of them, is an error."""
    present = [name for name in names if name in members]
    if len(present) != 1:
        raise ValueError(f"{len(present)} of {', '.join(names)}, expected one")
    value = members[present[0]]
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f"{present[0]} is {value!r:.60}, expected a name")
    return value


def _is_ranks(text: bytes) -> bool:
    """Whether the first lines are of three columns, the last of them a rank, first of all 1."""
    sample = [raw.split() for raw in text[: 200 * _SAMPLE].split(b"\n")[:_SAMPLE] if raw.strip()]
    if not sample or len(sample[0]) != 3 or sample[0][2] != b"1":
        return False
    whole = sum(len(parts) == 3 and parts[2].isdigit() for parts in sample)
    return 2 * whole > len(sample)


def _inspect_ranks(path: Path, text: bytes) -> Iterator[Finding | findings.Retrieved]:
    lines: dict[tuple[str, int], int] = {}
    for line, raw in findings.text_lines(text):
        parts = raw.split()
        if len(parts) != 3:
            yield findings.wrong_columns(path, line, parts, "3 (topic docno rank)")
            continue
        try:
            topic, docno, spelled = (part.decode() for part in parts)
        except UnicodeDecodeError:
            yield findings.not_utf8(path, line)
            continue
        rank = findings.whole_number(spelled)
        if b"\0" in raw:
            yield Finding(path, line, "nul-byte", "this line holds a NUL byte")
            continue
        if rank is None or rank < 1:
            message = f"the rank (3rd column) is {spelled!r}, expected a whole number from 1 on"
            yield Finding(path, line, "bad-score", message)
            continue
        first = lines.setdefault((topic, rank), line)
        if first != line:  # were it a score, the run would be turned upside down
            message = f"topic {topic} has rank {rank} already on line {first}"
            yield Finding(path, line, "bad-score", message)
        else:
            yield findings.Retrieved(line, topic, docno, -float(rank))


FORMATS = (
    findings.RunFormat(
        "run-json",
        'runs of pytrec_eval and ranx: {"topic": {"docno": score}}',
        is_nested,
        _inspect_nested_run,
    ),
    findings.RunFormat(
        "run-jsonl", "an object a line: qid, docid, score", _is_run_line, _inspect_run_lines
    ),
    findings.RunFormat("msmarco", "MS MARCO: topic, docno, rank", _is_ranks, _inspect_ranks),
)


# Judgements


def inspect_nested_judgements(path: Path, text: bytes) -> Iterator[Finding | findings.Judgement]:
    """The judgements in a JSON object of objects."""
    return judged(_cells(path, text))


def judged(cells: Cells) -> Iterator[Finding | findings.Judgement]:
    """The judgements in a dictionary of dictionaries."""
    for cell in cells:
        if isinstance(cell, Finding):
            yield cell
        else:
            topic, docno, value = cell
            yield findings.Judgement(None, topic, docno, json.dumps(value))


def judged_heading(text: bytes) -> tuple[str, list[int]] | None:
    """The separator and the places of topic, document and grade; None without such a header."""
    first = _first_line(text).decode(errors="replace").strip()
    for separator in ("\t", ","):
        header = [cell.strip('" ').lower() for cell in first.split(separator)]
        columns_of = [[i for i, cell in enumerate(header) if cell in names]
                 for names in (TOPIC, DOCNO, GRADE)]  # fmt: skip
        if len(header) >= 3 and all(len(columns) == 1 for columns in columns_of):
            return separator, [columns[0] for columns in columns_of]
    return None


def inspect_judged_lines(path: Path, text: bytes) -> Iterator[Finding | findings.Judgement]:
    """The judgements below a header of BEIR, Quepid or the like."""
    separator, places = judged_heading(text) or ("\t", [0, 1, 2])
    try:
        decoded = io.StringIO(text.decode(), newline="")
    except UnicodeDecodeError as error:
        yield findings.not_utf8(path, findings.line_of(text, error))
        return
    rows = csv.reader(decoded, delimiter=separator, strict=True)
    width, nothing = 0, True
    try:
        for row in filter(None, rows):
            if not width:
                width = len(row)
                continue
            nothing = False
            if len(row) != width:
                message = f"found {len(row)} cells, expected {width} as in the first line"
                yield Finding(path, rows.line_num, "column-count", message)
                continue
            topic, docno, grade = (row[index].strip() for index in places)
            if topic and docno:
                yield findings.Judgement(rows.line_num, topic, docno, grade)
            else:
                message = "the name of a topic or document is empty"
                yield Finding(path, rows.line_num, "no-name", message)
    except csv.Error as error:
        yield Finding(path, rows.line_num, "bad-csv", str(error))
    if nothing:
        yield Finding(path, None, "empty-file", "no judgement below the first line")
