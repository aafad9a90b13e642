"""Runs and judgements as other programs write them: JSON, JSON lines, tables with a header.

    {"topic": {"docno": 2.5}}                       pytrec_eval and ranx, runs and judgements
    {"topic": {"docno": {"subtopic": 1}}}           the same of judgements by subtopic
    {"qid": "1", "docid": "a", "score": 2.5}        JSON lines, a retrieved document a line
    query-id  corpus-id  score                      BEIR, judgements; or query,docid,rating

Elasticsearch and OpenSearch:

    {"details": {"topic": {"hits": [{"hit": {"_id": "a", "_score": 2.5}}]}}}   _rank_eval, a run
    {"responses": [{"hits": {"hits": [{"_id": "a", "_score": 2.5}]}}]}         _msearch, a run
    {"requests": [{"id": "topic", "ratings": [{"_id": "a", "rating": 1}]}]}    judgements

Answers of _msearch do not say what was asked: their topics are the places, counted from 1. Hits
without a score, as those that were sorted otherwise, keep the order in which they came.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from riskcli.core.files import object_in
from riskcli.core.messages import InputError, listed
from riskcli.trec import findings
from riskcli.trec.findings import Entries, Entry, Finding, RunFormat

TOPIC = ("qid", "q_id", "query_id", "query-id", "topic", "topic_id", "query")
DOCNO = ("docno", "docid", "doc_id", "corpus-id", "corpus_id", "pid", "doc")
GRADE = ("grade", "rating", "relevance", "label", "score")
is_nested = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{').match
"""Whether a text begins as an object of objects, which a topic called `{` does not."""


def unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of a JSON object; a key that occurs twice is a `ValueError`."""
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in members if keys.count(key) > 1)
        raise ValueError(f"an object holds the key {twice!r} twice")
    return members


def loaded(path: Path, text: bytes) -> dict[str, Any]:
    """The JSON object in a text."""
    try:
        content = json.loads(text, object_pairs_hook=unrepeated)
    except UnicodeDecodeError as error:
        raise findings.not_utf8(path, findings.line_of(text, error)).as_error() from error
    except (ValueError, RecursionError) as error:
        raise InputError(path, "bad-json", str(error), getattr(error, "lineno", None)) from error
    if not isinstance(content, dict):
        raise InputError(path, "bad-json", f"expected an object, found {content!r:.60}")
    return content


def held(value: object, name: str, kind: type = list, default: object = None) -> Any:
    """What an object holds under that name, if it is of the kind; None for anything else."""
    member = value.get(name, default) if isinstance(value, dict) else None
    return member if isinstance(member, kind) else None


def _wrong(path: Path, message: str) -> Finding:
    return Finding(path, None, "bad-json", message)


_CUTOFFS = "5|10|15|20|30|100|200|500|1000"
_MEASURE = (
    r"(gm_)?(map|bpref)|ndcg(_rel)?|Rndcg|(bin)?G|Rprec(_mult_[\d.]+)?|infAP|recip_rank|"
    rf"((map|ndcg)_cut|(relative_)?P|recall|success)_({_CUTOFFS})|success_1|"
    r"set_((relative_)?P|recall|map|F(_[\d.]+)?)|iprec_at_recall_[01]\.\d+|11pt_avg|utility|"
    r"num_(q|ret|rel|rel_ret|nonrel_judged_ret)|runid|relstring(_10)?|"
    r"(?i:(n?dcg|map|ap|m?rr|err|precision|recall|hit_rate|success)((@|_at_)\d+)?|[pr]@\d+)"
)
"""What pytrec_eval, ranx and MTEB call measures."""
_RESULTS = (
    "this file holds results of an evaluation ('map' or the like in place of documents): give the "
    "run, or the scores as CSV with the columns run,topic,measure,score"
)


def are_measures(names: Iterable[str]) -> bool:
    """Whether all of these are names of measures."""
    return all(re.fullmatch(_MEASURE, name) for name in names)


_COUNTS = re.compile(r"num_|utility|n?dcg|runid|relstring", re.IGNORECASE)
_ONE_LETTER = re.compile(r"[PR][_@]\d+", re.IGNORECASE)


def _are_results(content: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether topics or documents are called like measures, and values are like theirs."""
    named = {name for row in rows for name in row}
    if are_measures(named):
        cells = [(name, value) for row in rows for name, value in row.items()]
    elif are_measures(content):
        named, cells = set(content), [(name, v) for name in content for v in content[name].values()]
    else:
        return False
    if all(map(_ONE_LETTER.fullmatch, named)) and any(set(row) != set(rows[0]) for row in rows):
        return False
    figures = [cell for cell in cells if isinstance(cell[1], int | float)]
    return all(_COUNTS.match(name) or value <= 1 for name, value in figures)


def cells(path: Path, content: Mapping[str, Any]) -> Entries:
    """Topic, document and value of everything in a dictionary of dictionaries."""
    rows = [documents for documents in content.values() if isinstance(documents, dict)]
    if any(rows) and _are_results(content, rows):
        yield Finding(path, None, "other-form", _RESULTS)
        return
    for topic, documents in content.items():
        if isinstance(documents, dict):
            yield from (Entry(None, topic, *of) for of in documents.items())
        else:
            found = f"found {documents!r:.60}"
            yield _wrong(path, f"topic {topic}: expected an object of documents, {found}")
    if not any(rows):
        yield Finding(path, None, "empty-file", "no document in this file")


def _first_line(text: bytes) -> bytes:
    return next((raw for _, raw in findings.text_lines(text[: 2**16])), b"")


# Runs


def _inspect_nested(path: Path, text: bytes) -> Entries:
    content = loaded(path, text)
    if "model_name" in content.get("mteb_model_meta", ()):  # beside {subset: {split: run}}
        del content["mteb_model_meta"]
        splits = {f"{a}/{b}": runs for a, parts in content.items() for b, runs in parts.items()}
        if len(splits) != 1:
            message = f"predictions of MTEB for {listed(splits)}: give a file with one of them"
            raise InputError(path, "other-form", message)
        (content,) = splits.values()
    yield from cells(path, content)


def _is_run_line(text: bytes) -> bool:
    raw = _first_line(text)
    if not raw.lstrip().startswith(b"{") or is_nested(text):
        return False
    members = object_in(raw)
    return all(any(name in members for name in names) for names in (TOPIC, DOCNO, ("score",)))


def _inspect_run_lines(path: Path, text: bytes) -> Entries:
    for line, raw in findings.text_lines(text):
        try:
            members = json.loads(raw, object_pairs_hook=unrepeated)
            topic = name_in("topic", only_member(members, TOPIC))
            docno = name_in("document", only_member(members, DOCNO))
            yield Entry(line, str(topic), str(docno), members["score"])
        except UnicodeDecodeError:
            yield findings.not_utf8(path, line)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            message = f"expected an object with qid, docid and score ({error!r})"
            yield Finding(path, line, "bad-json", message)


def only_member(members: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The member under one of these names, if there is any; two of them are one too many."""
    present = [name for name in names if name in members]
    if len(present) > 1:
        raise ValueError(f"{present[0]!r} and {present[1]!r} mean the same")
    return members[present[0]] if present else None


def name_in(what: str, value: object) -> object:
    """A name is a text, or a whole number as programs hold topics."""
    if isinstance(value, str) or type(value) is int:
        return value
    raise ValueError(f"a {what} is {json.dumps(value)[:80]}, expected text")


# Runs: what search engines answer


_START = 2**20
_RANK_EVAL = re.compile(rb'\s*\{\s*"(?:metric_score|details|failures)"\s*:')
_METRIC = re.compile(rb'"(?:metric_score|unrated_docs)"\s*:')
_MSEARCH = re.compile(rb'\s*\{\s*(?:"took"\s*:\s*\d+\s*,\s*)?"responses"\s*:\s*\[')


def _is_rank_eval(text: bytes) -> bool:
    return _RANK_EVAL.match(text) is not None and _METRIC.search(text, 0, _START) is not None


def _inspect_rank_eval(path: Path, text: bytes) -> Entries:
    answer = loaded(path, text)
    for topic, why in (held(answer, "failures", dict) or {}).items():
        yield _wrong(path, f"topic {topic} failed: {json.dumps(why)[:60]}")
    details = held(answer, "details", dict)
    if details is None:
        yield _wrong(path, 'expected an object under "details"')
    for topic, detail in (details or {}).items():
        hits = held(detail, "hits")
        if hits is None:
            yield _wrong(path, f'topic {topic}: expected "hits"')
        else:
            yield from _hits(path, topic, [held(hit, "hit", dict) for hit in hits])


def _inspect_msearch(path: Path, text: bytes) -> Entries:
    responses = held(loaded(path, text), "responses")
    if responses is None:
        yield _wrong(path, 'expected a list under "responses"')
    for number, response in enumerate(responses or (), start=1):
        hits = held(held(response, "hits", dict), "hits", default=[])
        why = _incomplete(response) or ("" if hits is not None else 'expected a list of "hits"')
        if why:
            yield _wrong(path, f"response {number}: {why}")
        else:
            yield from _hits(path, str(number), hits)


def _incomplete(response: Any) -> str | None:
    """Why a response is not the whole answer."""
    if not isinstance(response, dict):
        return "expected an object"
    if "error" in response:
        return f"an error: {json.dumps(response['error'])[:60]}"
    if response.get("timed_out"):
        return "the search timed out: its hits are not complete"
    shards = held(response, "_shards", dict)
    if shards and shards.get("failed"):
        return f"{shards['failed']} shards failed: its hits are not complete"
    return None if "hits" in response else 'expected "hits"'


def _hits(path: Path, topic: str, hits: Sequence[Any]) -> Entries:
    unscored = all(isinstance(hit, dict) and hit.get("_score") is None for hit in hits)
    for rank, hit in enumerate(hits, start=1):
        if docno := held(hit, "_id", str):
            yield Entry(None, topic, docno, -float(rank) if unscored else hit.get("_score"))
        else:
            yield _wrong(path, f'topic {topic}: hit {rank} has no "_id"')


RUNS = (
    RunFormat("rank_eval", "Elasticsearch's and OpenSearch's _rank_eval", _is_rank_eval,
              _inspect_rank_eval),
    RunFormat("msearch", "their _msearch: topics are the places of answers", _MSEARCH.match,
              _inspect_msearch),
    RunFormat("run-json", 'runs of pytrec_eval and ranx: {"topic": {"docno": score}}', is_nested,
              _inspect_nested),
    RunFormat("run-jsonl", "an object a line: qid, docid, score", _is_run_line, _inspect_run_lines),
)  # fmt: skip


# Judgements


def judged(entries: Entries, spelled: Callable[[Any], str] = json.dumps) -> Entries:
    """Grades as they are spelled, by default those of a dictionary; one more is of subtopics."""
    for entry in entries:
        if isinstance(entry, Finding):
            yield entry
        elif isinstance(entry.value, dict) and entry.value:
            for subtopic, grade in entry.value.items():
                yield entry._replace(value=spelled(grade), subtopic=subtopic)
        else:
            yield entry._replace(value=spelled(entry.value))


def inspect_nested_judgements(path: Path, text: bytes) -> Entries:
    """The judgements in a JSON object of objects."""
    return judged(_inspect_nested(path, text))


_RATINGS = re.compile(rb'"ratings"\s*:\s*\[')
_REQUESTS = re.compile(rb'\s*\{\s*"(?:requests|metric|templates|max_concurrent_searches)"\s*:')


def is_ratings(text: bytes) -> bool:
    """Whether it is what _rank_eval is asked with."""
    return _REQUESTS.match(text) is not None and _RATINGS.search(text, 0, _START) is not None


def inspect_ratings(path: Path, text: bytes) -> Entries:
    """The ratings of a request to _rank_eval."""
    requests = held(loaded(path, text), "requests")
    for number, request in enumerate(requests or (), start=1):
        topic, ratings = held(request, "id", str), held(request, "ratings", default=[])
        if not topic:
            yield _wrong(path, f'request {number} has no "id"')
        elif ratings is None:
            yield _wrong(path, f'topic {topic}: expected a list of "ratings"')
        else:
            for rating in ratings:
                if docno := held(rating, "_id", str):
                    yield Entry(None, topic, docno, json.dumps(rating.get("rating")))
                else:
                    yield _wrong(path, f'topic {topic}: a rating has no "_id"')


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


def table_lines(path: Path, text: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The lines of a table that are not blank, with numbers, as cells that may stand in quotes."""
    try:
        decoded = io.StringIO(text.decode(), newline="")
    except UnicodeDecodeError as error:
        raise findings.not_utf8(path, findings.line_of(text, error)).as_error() from error
    rows = csv.reader(decoded, delimiter=separator, strict=True)
    try:
        yield from ((rows.line_num, row) for row in rows if row)
    except csv.Error as error:
        raise InputError(path, "bad-csv", str(error), rows.line_num) from error


def of_full_lines(
    path: Path, width: int, lines: Iterable[tuple[int, list[str]]]
) -> Iterator[Finding | tuple[int, list[str]]]:
    """The lines, which must have as many cells as the first one of the table."""
    for line, row in lines:
        if len(row) == width:
            yield line, row
        else:
            message = f"found {len(row)} cells, expected {width} as in the first line"
            yield Finding(path, line, "column-count", message)


def full_lines(
    path: Path, text: bytes, separator: str
) -> tuple[list[str], Iterator[Finding | tuple[int, list[str]]]]:
    """The heading of a table and the lines below it."""
    lines = table_lines(path, text, separator)
    _, header = next(lines, (0, []))
    return header, of_full_lines(path, len(header), lines)


def inspect_judged_lines(path: Path, text: bytes) -> Entries:
    """The judgements below a header of BEIR, Quepid or the like."""
    separator, places = judged_heading(text) or ("\t", [0, 1, 2])
    _, lines = full_lines(path, text, separator)
    judgements = (
        item if isinstance(item, Finding)
        else Entry(item[0], *(item[1][index].strip() for index in places))
        for item in lines
    )  # fmt: skip
    yield from findings.or_empty(path, judgements, "no judgement below the first line")
