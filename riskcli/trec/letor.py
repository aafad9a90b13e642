"""LETOR's feature files as judgements, and the scores that rankers print for their lines.

2 qid:10 1:0.03 2:0.66 #docid = GX029-35-5894638      a judged document
0.7312                                                a score a line, as the lines stand
10<TAB>0<TAB>0.7312                                   RankLib: query, place in it from 0, score
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from riskcli.trec import findings
from riskcli.trec.findings import Finding

Documents = Sequence[tuple[str, str]]
"""Topic and document of each line of a feature file."""

_FEATURES = re.compile(rb"(?:[ \t]*#[^\n]*\n|\s)*[-+.\d]+[ \t]+qid:\S+[ \t]*(?:\d+:|#|\r?\n|\Z)")
_NAMED = (
    re.compile(rb"#.*?\bdocno\s*=\s*(\S+)", re.IGNORECASE),
    re.compile(rb"#.*?\bdocid\s*=\s*(\S+)", re.IGNORECASE),
    re.compile(rb"#\s*(\S+)(?!.*=)"),
)
_SAMPLE = 50


def is_features(text: bytes) -> bool:
    """Whether the first line is a grade and a query with its features."""
    return _FEATURES.match(text) is not None


def docno_of(line: bytes) -> str:
    """The document's id in a line's comment, or nothing."""
    match = next((match_here for pattern in _NAMED if (match_here := pattern.search(line))), None)
    return match[1].decode() if match else ""


def inspect_features(path: Path, text: bytes) -> Iterator[Finding | findings.Judgement]:
    """The grade of each line's document; one without an id is called `<qid>-<n>`."""
    counts: Counter[str] = Counter()
    for line, raw in findings.text_lines(text):
        parts = raw.partition(b"#")[0].split()
        if not parts:
            continue
        try:
            grade, topic, docno = parts[0].decode(), parts[1].decode(), docno_of(raw)
        except IndexError:
            yield findings.wrong_columns(path, line, parts, "a grade and qid:<query>")
            continue
        except UnicodeDecodeError:
            yield findings.not_utf8(path, line)
            continue
        if not topic.startswith("qid:") or topic == "qid:":
            yield findings.wrong_columns(path, line, parts, "qid:<query> behind the grade")
            continue
        topic = topic.removeprefix("qid:")
        counts[topic] += 1
        yield findings.Judgement(line, topic, docno or f"{topic}-{counts[topic]}", grade)


# Scores of the lines


def _first_lines(text: bytes) -> list[list[bytes]]:
    lines = text[: 200 * _SAMPLE].split(b"\n")[:_SAMPLE]
    return [raw.split() for raw in (lines[:-1] if len(lines) > 1 else lines) if raw.strip()]


def _is_number(text: bytes) -> bool:
    return findings.number(text.decode(errors="replace")) is not None


def _are_predictions(text: bytes) -> bool:
    sample = _first_lines(text)
    good = sum(len(parts) == 1 and _is_number(parts[0]) for parts in sample)
    return (
        bool(sample) and len(sample[0]) == 1 and _is_number(sample[0][0]) and 2 * good > len(sample)
    )


def _are_of_ranklib(text: bytes) -> bool:
    """Whether the second of three columns counts from 0 within each query."""
    sample = [parts for parts in _first_lines(text) if len(parts) == 3]
    places: Counter[bytes] = Counter()
    right = 0
    for topic, place, score in sample:
        right += place == str(places[topic]).encode() and _is_number(score)
        places[topic] += 1
    counted = len(sample) == 1 or max(places.values(), default=0) > 1
    return bool(sample) and sample[0][1] == b"0" and counted and 2 * right > len(sample)


def _inspect_predictions(path: Path, text: bytes) -> Iterator[Finding | findings.Retrieved]:
    for place, (line, raw) in enumerate(findings.text_lines(text)):
        parts = raw.split()
        if len(parts) != 1:
            yield findings.wrong_columns(path, line, parts, "1 (a score)")
            continue
        yield from _scored(path, line, "", place, parts[0])


def _inspect_ranklib(path: Path, text: bytes) -> Iterator[Finding | findings.Retrieved]:
    for line, raw in findings.text_lines(text):
        parts = raw.split()
        place = (
            findings.whole_number(parts[1].decode(errors="replace")) if len(parts) == 3 else None
        )
        if len(parts) != 3:
            yield findings.wrong_columns(path, line, parts, "3 (query, place, score)")
        elif place is None or place < 0:
            message = f"the place (2nd column) is {parts[1]!r:.60}, expected a whole number from 0"
            yield Finding(path, line, "bad-score", message)
        else:
            yield from _scored(path, line, parts[0].decode(errors="replace"), place, parts[2])


def _scored(
    path: Path, line: int, topic: str, place: int, cell: bytes
) -> Iterator[Finding | findings.Retrieved]:
    score = findings.number(cell.decode(errors="replace"))
    if score is None:
        shown = cell.decode(errors="replace")
        yield Finding(path, line, "bad-score", f"the score is {shown!r:.60}, expected a number")
    else:
        yield findings.Retrieved(line, topic, str(place), score)


FORMATS = (
    findings.RunFormat(
        "ranklib", "RankLib's -score: query, place, score", _are_of_ranklib,
        _inspect_ranklib, by_place=True,
    ),
    findings.RunFormat(
        "predictions", "a score a line of a feature file (--qrels)", _are_predictions,
        _inspect_predictions, by_place=True,
    ),
)  # fmt: skip


def named(
    path: Path, items: Iterator[Finding | findings.Retrieved], documents: Documents | None
) -> Iterator[Finding | findings.Retrieved]:
    """Scores of line numbers as scores of the feature file's documents on these lines."""
    if documents is None:
        message = "scores of places: give the feature file whose documents they are as --qrels"
        yield Finding(path, None, "wrong-format", message)
        return
    of_topic: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for document in documents:
        of_topic[document[0]].append(document)
    count, complete = 0, True
    for item in items:
        if isinstance(item, Finding):
            complete = False
            yield item
            continue
        ranked = of_topic.get(item.topic, []) if item.topic else documents
        place, count = int(item.docno), count + 1
        if place < len(ranked):
            topic, docno = ranked[place]
            yield findings.Retrieved(item.line, topic, docno, item.score)
        elif item.topic or place == len(ranked):
            of = f" of query {item.topic}" if item.topic else ""
            message = f"place {place}{of}, but the judgements list {len(ranked)} documents there"
            yield Finding(path, item.line, "wrong-format", message)
    if complete and count < len(documents):
        message = f"found {count} scores, the judgements list {len(documents)} documents"
        yield Finding(path, None, "wrong-format", message)
