"""Relevance judgements (qrels): `topic iteration docno grade`, one judged document a line.

Judgements by subtopic have the subtopic in the second column. They are told from TREC's by what
they hold: more than one in twenty relevant documents is judged under several subtopics. Else the
second column is kept (unless it is the same all over a topic), for measures that ask for it.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
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
_ONE_IN = 20
"""By subtopic are judgements of which more than one in so many relevant documents has several."""
MAX_GRADE = 2**15
"""pytrec_eval allocates a counter for every grade up to the highest; this bounds it."""


Subtopics = Mapping[str, Mapping[str, Mapping[str, int]]]
"""The grades of 1 or more by topic, document and subtopic."""


Cell = tuple[str, str, str, int]
"""Topic, subtopic (TREC's second column), document and grade."""


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
    subtopics: Subtopics | None = None
    """None where no topic has several."""
    shared: tuple[str, str] | None = None
    """Of judgements by subtopic, a topic and a document that is judged under several."""

    @classmethod
    def of_cells(cls, cells: Collection[Cell]) -> Self:
        """From judgements of which none comes twice."""
        judgements: dict[str, dict[str, int]] = {}
        for topic, _, docno, grade in cells:
            grades = judgements.setdefault(topic, {})
            grades[docno] = max(grade, grades.get(docno, grade))
        return cls(judgements, subtopics=_subtopics(cells), shared=shared(cells))

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


def _subtopics(cells: Iterable[Cell]) -> Subtopics | None:
    """What is relevant to which, unless no topic has several subtopics."""
    pairs = {cell[:2] for cell in cells}
    if len(pairs) == len({topic for topic, _ in pairs}):
        return None
    found: dict[str, dict[str, dict[str, int]]] = {}
    for topic, subtopic, docno, grade in cells:
        if grade > 0:
            found.setdefault(topic, {}).setdefault(docno, {})[subtopic] = grade
    return found


def shared(cells: Iterable[Cell]) -> tuple[str, str] | None:
    """A topic and document judged under several subtopics, where judgements are by subtopic.

    So they are where that holds of many relevant documents; few are judged again in another round.
    """
    under: dict[tuple[str, str], set[str]] = {}
    relevant = set()
    for topic, subtopic, docno, grade in cells:
        under.setdefault((topic, docno), set()).add(subtopic)
        if grade > 0:
            relevant.add((topic, docno))
    several = [each for each in relevant or under if len(under[each]) > 1]
    return min(several) if len(several) * _ONE_IN > len(relevant or under) else None


def inspect_qrels(path: Path, text: bytes) -> Iterator[Finding | Cell]:
    """Each judgement, or what is wrong with it."""
    seen: dict[tuple[str, ...], tuple[int | None, int]] = {}
    reader = judgement_reader(text) or _inspect_lines
    column = " (4th column)" if reader is _inspect_lines else ""
    found: list[Finding | tuple[int | None, Cell]] = []
    for item in reported(path, reader(path, text)):
        if isinstance(item, Finding):
            found.append(item)
            continue
        line, topic, docno, spelled, subtopic = item
        grade = findings.whole_number(spelled)
        if grade is None or abs(grade) > MAX_GRADE:
            wanted = f"expected a whole number of at most {MAX_GRADE}"
            message = f"the grade{column} is {spelled!r}, {wanted}"
            found.append(Finding(path, line, "bad-grade", message))
        else:
            found.append((line, (topic, subtopic, docno, grade)))
    cells = [item[1] for item in found if not isinstance(item, Finding)]
    by_subtopic = shared(cells) is not None
    if len({bool(subtopic) for _, subtopic, *_ in cells}) > 1:
        topic, _, docno, _ = next(cell for cell in cells if not cell[1])
        message = f"topic {topic} document {docno} has no subtopic, and other judgements have one"
        yield Finding(path, None, "bad-grade", message)
    for each in found:
        if isinstance(each, Finding):
            yield each
            continue
        line, (topic, subtopic, docno, grade) = each
        key = (topic, subtopic, docno) if by_subtopic else (topic, docno)
        first, first_grade = seen.setdefault(key, (line, grade))
        if grade != first_grade:
            message = f"topic {topic} document {docno} has grade {grade} here and {first_grade}"
            message += "" if first is None else f" on line {first}"
            message += f", both under subtopic {subtopic!r}" if by_subtopic else ""
            yield Finding(path, line, "conflicting-judgement", message)
        else:
            yield each[1]


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
    rows = list(zip(topic_codes.tolist(), docnos, grade_codes.tolist(), strict=True))
    judgements: dict[str, dict[str, int]] = {topic: {} for topic in topics}
    by_code = list(judgements.values())
    for topic, docno, grade in rows:
        by_code[topic][docno] = grades[grade]
    clean = sum(map(len, by_code)) == len(table)
    if len(subtopics) == 1:
        return Qrels(judgements, path) if clean else None
    cells = [
        (topics[topic], subtopics[of], docno, grades[grade])
        for (topic, docno, grade), of in zip(rows, subtopic_codes.tolist(), strict=True)
    ]
    if clean:
        return Qrels(judgements, path, subtopics=_subtopics(cells))
    clean = shared(cells) is not None and len({cell[:3] for cell in cells}) == len(cells)
    return replace(Qrels.of_cells(cells), path=path) if clean else None


def read_closely(path: Path, text: bytes) -> Qrels:
    """Read line by line: slower, but the first wrong line, if there is one, is an `InputError`."""
    lines = list(taken(inspect_qrels(path, text)))
    by_subtopic = shared(lines) is not None
    cells: dict[tuple[str | int, ...], Cell] = {}
    for cell in lines:
        cells.setdefault(cell if by_subtopic else (cell[0], cell[2]), cell)
    repeated = len(lines) - len(cells)
    message = f"{path.name}: {counted(repeated, 'judgement')} given twice with the same grade"
    notes = (Note("repeated-judgement", message),) if repeated else ()
    by_place = None
    if judgement_reader(text) is inspect_features:
        by_place = [(topic, docno) for topic, _, docno, _ in lines]
    read = Qrels.of_cells([*cells.values()])
    return replace(read, path=path, notes=notes, lines=by_place)
