"""Scores in tables of which a row is a topic, as programs write that have models judge answers.

    user_input,response,faithfulness             Ragas: a column a measure, questions are topics
    qid,bm25,colbert                             a column a run
    {"qid": "1", "run_id": "a", "vital": 0.5}    JSON lines, or such objects in a list
    {"testCases": [{"name": "q1", "metricsData": [{"name": "Faithfulness", "score": 0.5}]}]}
    {"evalId": …, "results": {"results": [{"provider": …, "vars": …, "score": 1}]}}

The last two are DeepEval's and promptfoo's. What was taken for topics, runs and measure is told.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from riskcli.core.messages import InputError, listed
from riskcli.effectiveness.measures import canonical_name
from riskcli.scores.files import tables
from riskcli.scores.plausibility import is_index
from riskcli.trec.findings import Finding, number, taken
from riskcli.trec.records import DOCNO, GRADE, full_lines, loaded, unrepeated

_QUESTIONS = ("user_input", "question", "input")
_TOPICS = ("topic", "topic_id", "qid", "q_id", "query_id", "query-id", "query", *_QUESTIONS)
"""Columns of topics. A question that is asked twice is no topic of its own: it is refused."""
_RUNS = (*tables.NAMES["run"], "model")
_TEXTS = {*_TOPICS, *_RUNS, "id", "text", "title", "response", "answer", "reference"}
_TEXTS |= {"ground_truth"}
"""Columns that hold no score, even where all of it are numbers."""
_OTHERS = {*DOCNO, *GRADE, "rank", "weight", "measure", "metric", "Status"} - {"score"}
_OTHERS |= {"epoch", "step", "iteration", "timestamp", "time", "date"}
"""Columns of runs, judgements, weights, long tables, promptfoo's own tables and logs."""
_PLAIN = _TEXTS | {"output", "actual_output", "expected", "expected_output", "prediction", "label"}
_PLAIN |= {"target", "context", "contexts", "reason", "comment", "comments", "category"}
"""Columns that may hold texts beside numbers, as an answer to a sum does."""
_AS_SCORE = re.compile(r"-?(0,\d+|1,0*|\d+(\.\d+)?\s*%)")
"""Scores as some programs of tables write them, which are not read."""
_VALUES = {"true": True, "false": False, **dict.fromkeys(("", "nan", "none", "null", "na", "n/a"))}
"""What is no number in a cell; pandas and others write the rest for nothing."""
is_report = re.compile(rb'\s*\{[\s\S]{,4096}?"(\w*estCases|test_results|evalId)"\s*:\s*["[n]').match
"""Whether a text begins as a report of DeepEval or promptfoo."""
_CURE = ": a column topic tells apart what was asked twice, a column run who answered"

Row = tuple[int | None, dict[str, Any]]


def fits(text: bytes) -> bool:
    """Whether a text begins as such a table, with a score in the first rows, or is a report."""
    rows = _first_rows(text)
    names = {name for _, row in rows for name in row}
    if names.isdisjoint(_TOPICS) or not names.isdisjoint(_OTHERS):
        return is_report(text) is not None
    # Queries may have counts and years beside their texts.
    has_texts = not names.isdisjoint(("query", "text", "title", *_QUESTIONS))
    scores = [item for _, row in rows for item in row.items() if isinstance(item[1], int | float)]
    scores = [item for item in scores if item[0] not in _TEXTS]
    return any(not has_texts or value % 1 or tables.like_measure(name) for name, value in scores)


def _first_rows(text: bytes) -> list[Row]:
    rows: list[Row] = []
    with suppress(InputError, ValueError, LookupError, TypeError, AttributeError):
        start = text[: text.rfind(b"\n", 0, 2**20) + 1] if len(text) > 2**20 else text
        rows.extend(islice(_rows(Path(), start or text), 0 if is_report(text) else 50))
    return rows


def grades_in(text: bytes) -> str | None:
    """The column of grades that alone keeps a table of topics from being one of scores."""
    rows = _first_rows(text)
    names = {name: None for _, row in rows for name in row}
    others = [name for name in names if name in _OTHERS]
    is_one = not names.keys().isdisjoint(_TOPICS) and set(others[:2]) <= set(GRADE)
    return others[0] if len(others) == 1 and is_one and _holds_scores(rows, others[0]) else None


def _rows(path: Path, text: bytes) -> Iterator[Row]:
    """The rows, with their lines where they have one, as names and values."""
    start = text.lstrip()[:1]
    if is_report(text):
        yield from ((None, row) for row in _of_report(loaded(path, text)))
    elif start in (b"{", b"["):
        lines = b",\n".join(raw.strip() or b"null" for raw in text.split(b"\n"))
        rows = loaded(path, b'{"rows":%b}' % (text if start == b"[" else b"[%b]" % lines))["rows"]
        numbered = ((line if start == b"{" else None, row) for line, row in enumerate(rows, 1))
        yield from ((line, _flat(row)) for line, row in numbered if row is not None)
    else:
        yield from _of_table(path, text)


def _of_table(path: Path, text: bytes) -> Iterator[Row]:
    separator = "\t" if b"\t" in text.partition(b"\n")[0] else ","
    header, lines = full_lines(path, text, separator)
    for line, row in taken(lines):
        cells = [(name, cell) for name, cell in zip(header, row, strict=True) if name]  # no index
        yield line, unrepeated([(n, cell if n in _TEXTS else _value(cell)) for n, cell in cells])


def _value(cell: str) -> object:
    plain = cell.strip().lower()
    return _VALUES.get(plain, cell) if (value := number(plain)) is None else value


def _of_report(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The test cases of DeepEval, or the results of promptfoo."""
    content = content.get("testRunData") or content  # as DeepEval keeps its last run
    for kind in ("testCases", "conversationalTestCases", "test_results"):
        yield from map(_flat, content.get(kind) or ())
    results = (content.get("results") or {}).get("results") or [] if "evalId" in content else []
    several = len({result["prompt"]["label"] for result in results}) > 1
    for result in results:
        asked, by = result["vars"], result["provider"]
        text = next((asked[name] for name in reversed(_TOPICS) if name in asked), None)
        run = f"{by.get('label') or by['id']} {result['prompt']['label'] if several else ''}"
        scores = {**(result.get("namedScores") or {}), "score": result["score"]}
        if result.get("failureReason") == 2:  # an error, which counts 0 there
            scores = dict.fromkeys(scores)
        yield {"question": text or ", ".join(map(str, asked.values())), "system": run, **scores}


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """The row; a test case of DeepEval with its measures as members."""
    measures = row.get("metricsData") or row.get("metrics_data")
    if measures is None:
        return row
    named = [("input", row.get("input") or row["name"])]  # a name is but a number, if not given
    return unrepeated([*named, *((each["name"], each.get("score")) for each in measures)])


def inspect(path: Path, text: bytes, wanted: Sequence[str] | None = None) -> tables.Content:
    """The scores by the measures wanted (None: all), what was taken for what, what is wrong."""
    try:
        rows = list(_rows(path, text))
        names = dict.fromkeys(name for _, row in rows for name in row)
        if names.keys().isdisjoint(_TOPICS):
            what = f"column of topics ({listed(_TOPICS, 12)})" if rows else "result of a topic"
            raise InputError(path, "bad-json" if rows else "empty-file", f"no {what} in this file")
        at = [next(name for name in _TOPICS if name in names)]
        at += [name for name in _RUNS if name in names][:1]
        others = [n for n in names if n not in at and n != "id" and not is_index(n)]
        fields = [name for name in others if name not in _TEXTS and _holds_scores(rows, name)]
        fields = fields or [n for n in others if all(row.get(n) is None for _, row in rows)]
        asked = {canonical_name(name) for name in wanted or ()}
        columns = [name for name in others if canonical_name(name) in asked]
        if not columns and (spoilt := list(_spoilt(path, rows, others))):
            yield from spoilt
            return
        columns = columns or (fields if wanted is None or len(fields) == 1 else [])
        may_be_runs = fields == others and len(at) == 1 and text.lstrip()[:1] not in b"[{"
        told = [f"{listed(columns or fields)} as {'measure' if columns else 'runs'}"]
        told += [f"{name} as {what}" for name, what in zip(at, ("topic", "run"), strict=False)]
        if any(isinstance(row.get(name), bool) for _, row in rows for name in columns or fields):
            told.append("true as 1, false as 0")
        if any(row.get(at[0]) == "all" for _, row in rows):
            told.append("all as a summary of topics, passed over")
        if not columns and (not may_be_runs or any(map(tables.like_measure, fields))):
            message = f"which is the measure: {listed(fields, 12)}? name it with --measure"
            raise InputError(path, "ambiguous-format", message)
        if not columns:
            at, columns = [*at, "run"], ["score"]
            several = [(line, row, name) for line, row in rows for name in fields]
            rows = [(n, {at[0]: row[at[0]], "run": f, "score": row[f]}) for n, row, f in several]
        cells = _cells(path, rows, at, columns)
        yield from tables.of_cells(path, cells, "no score of a single topic", _CURE)
        yield tables.About({}, told=f"columns of {path.name} read: {', '.join(told)}")
    except InputError as error:
        yield Finding.of(error)
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration) as error:
        message = f"expected an object or a line for each topic ({error!r:.60})"
        yield Finding(path, None, "bad-json", message)


def _holds_scores(rows: list[Row], name: str) -> bool:
    values = [row[name] for _, row in rows if row.get(name) is not None]
    return bool(values) and all(isinstance(value, int | float) for value in values)


def _spoilt(path: Path, rows: list[Row], names: list[str]) -> Iterator[Finding]:
    """The cells without a score in columns of which most cells are meant as scores."""
    for name in names if rows else ():
        values = [(line, row[name]) for line, row in rows if row.get(name) is not None]
        texts = [(line, value) for line, value in values if not isinstance(value, int | float)]
        meant = len(values) - sum(not _AS_SCORE.fullmatch(str(value).strip()) for _, value in texts)
        for line, value in texts if name not in _PLAIN and 2 * meant > len(values) else ():
            found = f"{name} is {value!r:.60}, expected a score as in most of its cells"
            cure = "mend it, take the column out, or name other columns with --measure"
            yield Finding(path, line, "no-score", f"{found}: {cure}")


def _cells(
    path: Path, rows: list[Row], at: list[str], columns: list[str]
) -> Iterator[Finding | tables.Cell]:
    """The scores in these columns, by the topic and the run that are named in those `at`."""
    for line, row in rows:
        names = ["" if row.get(n) is None else " ".join(str(row[n]).split()) for n in at]
        topic, run = (*names, None)[:2]
        if not all(names):
            yield Finding(path, line, "no-name", f"no name in column {listed(at)}")
        for name in columns if all(names) and topic != "all" else ():
            value, measure = row.get(name), None if name.lower() in tables.NAMES["score"] else name
            if isinstance(value, int | float) and value == value:
                yield line, run, topic, measure, repr(value + 0)
            else:
                found = "empty" if value is None else f"{value!r:.60}, expected a score"
                cure = "if its judge failed, run it again, or leave the topic out of every file"
                yield Finding(path, line, "no-score", f"topic {topic}: {name} is {found}: {cure}")
