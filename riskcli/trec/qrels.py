"""Relevance judgements (qrels): `topic iteration docno grade`, one judged document a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from riskcli.notes import Note, counted
from riskcli.order import naturally
from riskcli.trec import fields
from riskcli.trec.findings import Finding, text_lines, whole_number, wrong_columns
from riskcli.trec.source import load

LAYOUT = {
    "topic": fields.REPEATED,
    "iteration": fields.REPEATED,
    "docno": fields.TEXT,
    "grade": fields.WHOLE,
}
_WANTED = ("topic", "docno", "grade")
_MAX_GRADE = 2**15
"""pytrec_eval allocates a counter for every grade up to the highest; this bounds it."""


@dataclass(frozen=True)
class Qrels:
    """Grades by topic and document, as the file gives them."""

    judgements: dict[str, dict[str, int]]
    path: Path | None = None
    notes: tuple[Note, ...] = ()

    @property
    def topics(self) -> list[str]:
        """All topics, in natural order."""
        return naturally(self.judgements)

    @property
    def relevant_topics(self) -> list[str]:
        """The topics with at least one document of grade 1 or more, in natural order."""
        graded = self.judgements.items()
        return naturally(topic for topic, grades in graded if max(grades.values()) >= 1)

    @property
    def highest_grade(self) -> int:
        """The highest grade of any document, 0 where none is above it."""
        return max(0, *(max(grades.values()) for grades in self.judgements.values()), 0)


def read_qrels(path: Path | str) -> Qrels:
    """Read a qrels file; an `InputError` names the first line that is not one."""
    path = Path(path)
    text = load(path)
    return _read_quickly(path, text) or _read_closely(path, text)


def inspect_qrels(path: Path, text: bytes) -> Iterator[Finding | tuple[str, str, int]]:
    """Each line as (topic, docno, grade), or what is wrong with it."""
    seen: dict[tuple[str, str], tuple[int, int]] = {}
    for line, raw in text_lines(text):
        parts = raw.split()
        if len(parts) != len(LAYOUT):
            yield wrong_columns(path, line, parts, "4 (topic iteration docno grade)")
            continue
        try:
            topic, _, docno, grade_text = (part.decode() for part in parts)
        except UnicodeDecodeError:
            yield Finding(path, line, "encoding", "this line is not UTF-8 text")
            continue
        if b"\0" in raw:
            yield Finding(path, line, "nul-byte", "this line holds a NUL byte")
            continue
        grade = whole_number(grade_text)
        if grade is None or abs(grade) > _MAX_GRADE:
            message = f"the grade (4th column) is {grade_text!r}, expected a whole number"
            yield Finding(path, line, "bad-grade", f"{message} of at most {_MAX_GRADE}")
            continue
        first, first_grade = seen.setdefault((topic, docno), (line, grade))
        if grade != first_grade:
            yield Finding(
                path,
                line,
                "conflicting-judgement",
                f"topic {topic} document {docno} has grade {grade} here and {first_grade} "
                f"on line {first} (judgements by subtopic are not supported)",
            )
            continue
        yield topic, docno, grade
    if not seen:
        yield Finding(path, None, "empty-file", "no judgement in this file")


def _read_quickly(path: Path, text: bytes) -> Qrels | None:
    """The judgements, or None where a line is wrong or a document is judged twice."""
    table = fields.columns(text, LAYOUT, _WANTED)
    if table is None:
        return None
    judgements: dict[str, dict[str, int]] = {}
    columns = (table[name].to_pylist() for name in _WANTED)
    for topic, docno, grade in zip(*columns, strict=True):
        judgements.setdefault(topic, {})[docno] = grade
    judged = sum(map(len, judgements.values()))
    highest = max(max(map(abs, grades.values())) for grades in judgements.values())
    clean = judged == table.num_rows and highest <= _MAX_GRADE
    return Qrels(judgements, path) if clean else None


def _read_closely(path: Path, text: bytes) -> Qrels:
    judgements: dict[str, dict[str, int]] = {}
    lines = 0
    for item in inspect_qrels(path, text):
        if isinstance(item, Finding):
            raise item.as_error()
        topic, docno, grade = item
        judgements.setdefault(topic, {})[docno] = grade
        lines += 1
    repeated = lines - sum(map(len, judgements.values()))
    message = f"{path.name}: {counted(repeated, 'judgement')} given twice with the same grade"
    notes = (Note("repeated-judgement", message),) if repeated else ()
    return Qrels(judgements, path, notes)
