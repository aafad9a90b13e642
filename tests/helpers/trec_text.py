"""Runs and judgements as TREC text, and the identifiers that break careless readers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hypothesis import strategies as st

from riskcli import Qrels, Run
from riskcli.trec.runs import quick_table, read_closely
from riskcli.trec.source import MAX_BYTES, TextFile

Docs = Mapping[str, float]
Grades = Mapping[str, int]

STRANGE_IDS = (
    "001", "1", "1e3", "1000", "NA", "null", "nan", "None", "true", "inf", "-0", "0x10",
    "wt-51", "rb-51", "run", "topic", 'qu"ote', "'", '"', '""', "com,ma", "semi;colon", "5#1",
    "é", "日本", "\u00a0", "\u2028", "\x85", "\x1c", "\x01", "\ufeff", "@mean", "all", "=1+1",
    "<b>", "%", "\\", "\\n", "🐘",
)  # fmt: skip
"""Each stands for itself, as topic, document or tag."""

ids = st.sampled_from(STRANGE_IDS) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\v\f\r\0"),
    min_size=1,
    max_size=12,
).filter(lambda text: not text.startswith("#"))
"""All that can stand in a column: any text without white space as `bytes.split` sees it.

At the start of a line # begins a comment, as in trec_eval 10.
"""


def run_text(topics: Mapping[str, Docs], tag: str = "tag") -> bytes:
    """The lines of a run, in the order given."""
    lines = [
        f"{topic} Q0 {docno} {rank} {score!r} {tag}\n"
        for topic, docs in topics.items()
        for rank, (docno, score) in enumerate(docs.items(), start=1)
    ]
    return "".join(lines).encode()


def load(path: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """All of a file's text."""
    return TextFile(path, max_bytes).text()


def parse_run(path: Path, text: bytes) -> Run:
    """The run in a text, as in a file."""
    table = quick_table(text)
    return read_closely(path, text) if table is None else Run.of_table(path, table)


def make_run(topics: Mapping[str, Docs], tag: str = "tag") -> Run:
    """A run as the reader makes it."""
    return parse_run(Path("run"), run_text(topics, tag))


def qrels_text(topics: Mapping[str, Grades]) -> bytes:
    """The lines of a qrels file, in the order given."""
    lines = [
        f"{topic} 0 {docno} {grade}\n"
        for topic, grades in topics.items()
        for docno, grade in grades.items()
    ]
    return "".join(lines).encode()


def make_qrels(topics: Mapping[str, Grades]) -> Qrels:
    """Judgements that no file holds."""
    return Qrels({topic: dict(grades) for topic, grades in topics.items()})


def contents(run: Run) -> tuple[object, ...]:
    """All that a run holds, as values that can be compared."""
    return (
        run.tags,
        run.topics,
        run.topic_codes.tolist(),
        run.docnos.as_strings(),
        [score.hex() for score in run.scores.tolist()],
    )
