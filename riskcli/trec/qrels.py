"""Relevance judgements (qrels): `topic iteration docno grade`, one judged document a line.

Judgements by subtopic have the subtopic in the second column. They are told from TREC's by what
they hold: a document of a topic is judged under several subtopics. Where each is judged once, the
second column is kept (unless it is the same all over a topic), for measures that ask for it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Self

from riskcli.core.limits import refuse_file
from riskcli.core.locations import DataSetPath, place_of
from riskcli.core.messages import Note, counted, naturally
from riskcli.trec import fields, findings
from riskcli.trec.findings import Entries, Entry, Finding, LineFormat, reported, taken
from riskcli.trec.formats import Documents, inspect_features, judgement_reader
from riskcli.trec.source import TextFile

LAYOUT = {
    "topic": fields.REPEATED,
    "iteration": fields.REPEATED,
    "docno": fields.TEXT,
    "grade": fields.REPEATED,
}
_LINES = LineFormat(len(LAYOUT), " ".join(LAYOUT), list(LAYOUT).index("grade"))
MAX_GRADE = 2**15
"""pytrec_eval allocates a counter for every grade up to the highest; this bounds it."""


Subtopics = Mapping[str, Mapping[str, Mapping[str, int]]]
"""The grades of 1 or more by topic, document and subtopic."""


@dataclass(frozen=True)
class Qrels:
    """Grades by topic and document, as the file gives them."""

    judgements: dict[str, dict[str, int]]
    """Of judgements by subtopic, the highest grade of each document."""
    path: Path | None = None
    notes: tuple[Note, ...] = ()
    sha256: str | None = None
    """The checksum of the file that was read."""
    text_sha256: str | None = None
    """That of its text, which packing and ends of lines do not change."""
    lines: Documents | None = None
    """Of a feature file: topic and document of each line, which rankers give scores to."""
    subtopics: Subtopics = field(default_factory=dict)
    """Empty where no topic has several."""
    shared: tuple[str, str] | None = None
    """A topic and a document that is judged under several subtopics, where there is one."""

    @classmethod
    def of_cells(cls, cells: Iterable[tuple[str, str, str, int]]) -> Self:
        """From topic, subtopic, document and grade, of which none comes twice."""
        judgements: dict[str, dict[str, int]] = {}
        subtopics: dict[str, dict[str, dict[str, int]]] = {}
        names: dict[str, set[str]] = {}
        shared = None
        for topic, subtopic, docno, grade in cells:
            grades = judgements.setdefault(topic, {})
            if docno in grades:
                shared = shared or (topic, docno)
            grades[docno] = max(grade, grades.get(docno, grade))
            names.setdefault(topic, set()).add(subtopic)
            if grade > 0:
                subtopics.setdefault(topic, {}).setdefault(docno, {})[subtopic] = grade
        several = any(len(each) > 1 for each in names.values())
        return cls(judgements, subtopics=subtopics if several else {}, shared=shared)

    @cached_property
    def topics(self) -> list[str]:
        """All topics, in natural order."""
        return naturally(self.judgements)

    @cached_property
    def relevant_topics(self) -> list[str]:
        """The topics with at least one document of grade 1 or more, in natural order."""
        return [topic for topic in self.topics if max(self.judgements[topic].values()) >= 1]

    @property
    def highest_grade(self) -> int:
        """The highest grade of any document, 0 where none is above it."""
        return max(0, *(max(grades.values()) for grades in self.judgements.values()), 0)


def read_qrels(path: Path | str, checksum: bool = True) -> Qrels:
    """Read a qrels file; an `InputError` names the first line that is not one."""
    source = TextFile(place_of(path), checksum=checksum)
    refuse_file(source.path, "qrels", source.likely_size, 1)
    with source.mistakes_named(judgements=True):
        text = b"".join(source.pieces())
        qrels = parse_qrels(source.path, text)
    notes = qrels.notes
    if isinstance(source.path, DataSetPath):
        message = f"grades of {source.path}: {source.path.grades()}"
        notes = (*notes, Note("grades", message, warning=False))
    of_text = None if source.sha256 is None else _sha256(text)
    return replace(qrels, notes=notes, sha256=source.sha256, text_sha256=of_text)


def text_sha256(path: Path) -> str:
    """The checksum of the text of judgements that were read without one."""
    return _sha256(TextFile(path).text())


def _sha256(text: bytes) -> str:
    """The checksum of judgements; ends of lines, which version control may change, are alike."""
    return hashlib.sha256(text.replace(b"\r\n", b"\n")).hexdigest()


def parse_qrels(path: Path, text: bytes) -> Qrels:
    """The judgements in a file's text; `path` is what errors call it."""
    return quick_qrels(path, text) or read_closely(path, text)


Cell = tuple[str, str, str, int]
"""Topic, subtopic (TREC's second column), document and grade."""


def inspect_qrels(path: Path, text: bytes) -> Iterator[Finding | Cell]:
    """Each judgement, or what is wrong with it."""
    seen: dict[tuple[str, str, str], tuple[int | None, int]] = {}
    reader = judgement_reader(text) or _inspect_lines
    for item in reported(path, reader(path, text)):
        if isinstance(item, Finding):
            yield item
            continue
        line, topic, docno, spelled, subtopic = item
        grade = findings.whole_number(spelled)
        if grade is None or abs(grade) > MAX_GRADE:
            where = "the grade (4th column)" if reader is _inspect_lines else "the grade"
            message = f"{where} is {spelled!r}, expected a whole number of at most {MAX_GRADE}"
            yield Finding(path, line, "bad-grade", message)
            continue
        cell = topic, subtopic, docno
        first, first_grade = seen.setdefault(cell, (line, grade))
        if grade != first_grade:
            of = f"topic {topic} document {docno} has grade {grade} here and {first_grade}"
            message = f"{of} on line {first}, both under {subtopic!r} (2nd column)"
            yield Finding(path, line, "conflicting-judgement", message if subtopic else of)
        else:
            yield *cell, grade


def _inspect_lines(path: Path, text: bytes) -> Entries:
    """TREC's own lines."""
    text = _LINES.uncommented(text)
    yield from _LINES.inspect(path, text, _line)
    if not text.strip():
        yield Finding(path, None, "empty-file", "no judgement in this file")


def _line(line: int, parts: list[bytes]) -> Entry:
    topic, docno, grade = (parts[used].decode() for used in (0, 2, 3))
    return Entry(line, topic, docno, grade, parts[1].decode(errors="backslashreplace"))


def quick_qrels(path: Path, text: bytes) -> Qrels | None:
    """The judgements, or None where a line is wrong or a document is judged twice."""
    undoubted = _LINES.undoubted(text)
    table = None if undoubted is None else fields.read(undoubted, LAYOUT, tuple(LAYOUT))
    if table is None:
        return None
    topics, topic_codes = table.coded("topic")
    spelled, grade_codes = table.coded("grade")
    subtopics, subtopic_codes = table.coded("iteration")
    numbers = [findings.whole_number(text) for text in spelled]
    grades = [grade for grade in numbers if grade is not None and abs(grade) <= MAX_GRADE]
    if len(grades) < len(spelled):
        return None
    docnos = table.texts("docno").as_strings()
    rows = zip(topic_codes.tolist(), docnos, grade_codes.tolist(), strict=True)
    if len(subtopics) > 1:
        under = (subtopics[code] for code in subtopic_codes.tolist())
        cells = [
            (topics[topic], of, docno, grades[grade])
            for (topic, docno, grade), of in zip(rows, under, strict=True)
        ]
        clean = len({cell[:3] for cell in cells}) == len(cells)
        return replace(Qrels.of_cells(cells), path=path) if clean else None
    judgements: dict[str, dict[str, int]] = {topic: {} for topic in topics}
    by_code = list(judgements.values())
    for topic, docno, grade in rows:
        by_code[topic][docno] = grades[grade]
    clean = sum(map(len, by_code)) == len(table)
    return Qrels(judgements, path) if clean else None


def read_closely(path: Path, text: bytes) -> Qrels:
    """Read line by line: slower, but the first wrong line, if there is one, is an `InputError`."""
    lines = list(taken(inspect_qrels(path, text)))
    cells = dict.fromkeys(lines)
    repeated = len(lines) - len(cells)
    message = f"{path.name}: {counted(repeated, 'judgement')} given twice with the same grade"
    notes = (Note("repeated-judgement", message),) if repeated else ()
    by_place = None
    if judgement_reader(text) is inspect_features:
        by_place = [(topic, docno) for topic, _, docno, _ in lines]
    return replace(Qrels.of_cells(cells), path=path, notes=notes, lines=by_place)
