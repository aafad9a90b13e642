"""What the page takes along on wish: names, teams and descriptions of runs, and the top documents
of each run on each topic with their grades.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from riskcli.core.choices import Precision
from riskcli.core.errors import InputError, UsageError
from riskcli.effectiveness.ranking import rank
from riskcli.output.escape import visible
from riskcli.page.data import RunNotes
from riskcli.scores.evaluation import Evaluation
from riskcli.trec.pieces import read_run
from riskcli.trec.qrels import Qrels, read_qrels

ABOUT_COLUMNS = ("run", "name", "team", "description")
Tops = Mapping[str, Mapping[str, Sequence[str]]]
"""By run and topic: the first documents, best first."""


def documents_of(
    evaluation: Evaluation, depth: int, precision: Precision = "single"
) -> dict[str, Any]:
    """The first `depth` documents of every ranking under the evaluation, and their grades."""
    runs = [entry for entry in evaluation.inputs if entry.kind == "run"]
    judged = [entry.path for entry in evaluation.inputs if entry.kind == "qrels"]
    if not runs or not judged:
        raise UsageError("documents can be taken along from runs and qrels only, not from scores")
    tops = {entry.run or "": rank(read_run(entry.path), depth, precision) for entry in runs}
    return listed_documents(tops, read_qrels(judged[0]), evaluation, depth)


def listed_documents(
    tops: Tops, qrels: Qrels, evaluation: Evaluation, depth: int
) -> dict[str, Any]:
    """By topic: its documents once, their grades (None: unjudged), and each run's as numbers."""
    first = evaluation.matrices[0]
    topics: dict[str, Any] = {}
    for topic in first.topics:
        rankings = [list(tops.get(run, {}).get(topic, ())) for run in first.runs]
        docnos = sorted({docno for ranking in rankings for docno in ranking})
        number = {docno: index for index, docno in enumerate(docnos)}
        grades = qrels.judgements.get(topic, {})
        topics[visible(topic)] = {
            "docnos": list(map(visible, docnos)),
            "grades": [grades.get(docno) for docno in docnos],
            "runs": [[number[docno] for docno in ranking] for ranking in rankings],
        }
    return {"depth": depth, "topics": topics}


def read_about(path: Path) -> RunNotes:
    """A CSV or TSV file with a heading: `run`, and any of name, team, description."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, "cannot-read", str(error)) from error
    lines = text.splitlines()
    separator = "\t" if lines and "\t" in lines[0] else ","
    reader = csv.DictReader(lines, delimiter=separator)
    found = list(reader.fieldnames or ())
    if "run" not in found or not set(found) <= set(ABOUT_COLUMNS):
        raise UsageError(
            f"{path}:1: found the columns {', '.join(found) or '(none)'}; "
            f"expected run and any of {', '.join(ABOUT_COLUMNS[1:])}"
        )
    told: dict[str, dict[str, str]] = {}
    for row in reader:
        line = reader.line_num
        if None in row or None in row.values():
            raise UsageError(f"{path}:{line}: expected {len(found)} columns")
        if row["run"] in told:
            raise UsageError(f"{path}:{line}: run {row['run']!r} is described twice")
        told[row["run"]] = {name: row[name] for name in found if name != "run"}
    return told
