"""What Elasticsearch and OpenSearch answer, and the ratings that they are asked with.

    {"details": {"topic": {"hits": [{"hit": {"_id": "a", "_score": 2.5}}]}}}   _rank_eval, a run
    {"responses": [{"hits": {"hits": [{"_id": "a", "_score": 2.5}]}}]}         _msearch, a run
    {"requests": [{"id": "topic", "ratings": [{"_id": "a", "rating": 1}]}]}    judgements

Answers of _msearch do not say what was asked: their topics are the places, counted from 1. Hits
without a score, as those that were sorted otherwise, keep the order in which they came.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from riskcli.trec import findings, records
from riskcli.trec.findings import Finding

_START = 2**20
_RANK_EVAL = re.compile(rb'\s*\{\s*"(?:metric_score|details|failures)"\s*:')
_METRIC = re.compile(rb'"(?:metric_score|unrated_docs)"\s*:')
_MSEARCH = re.compile(rb'\s*\{\s*(?:"took"\s*:\s*\d+\s*,\s*)?"responses"\s*:\s*\[')
_RATINGS = re.compile(rb'"ratings"\s*:\s*\[')
_REQUESTS = re.compile(rb'\s*\{\s*"(?:requests|metric|templates|max_concurrent_searches)"\s*:')


def _is_rank_eval(text: bytes) -> bool:
    return _RANK_EVAL.match(text) is not None and _METRIC.search(text, 0, _START) is not None


def _is_msearch(text: bytes) -> bool:
    return _MSEARCH.match(text) is not None


def is_ratings(text: bytes) -> bool:
    """Whether it is what _rank_eval is asked with."""
    return _REQUESTS.match(text) is not None and _RATINGS.search(text, 0, _START) is not None


def _inspect_rank_eval(path: Path, text: bytes) -> Iterator[Finding | findings.Retrieved]:
    answer = records.loaded(path, text)
    if isinstance(answer, Finding):
        yield answer
        return
    failures = answer.get("failures") or {}
    for topic, why in failures.items() if isinstance(failures, dict) else ():
        yield _wrong(path, f"topic {topic} failed: {json.dumps(why)[:60]}")
    details = answer.get("details")
    if not isinstance(details, dict):
        yield _wrong(path, 'expected an object under "details"')
        return
    for topic, detail in details.items():
        hits = detail.get("hits") if isinstance(detail, dict) else None
        if isinstance(hits, list):
            inner = [hit.get("hit") if isinstance(hit, dict) else None for hit in hits]
            yield from _hits(path, topic, inner)
        else:
            yield _wrong(path, f'topic {topic}: expected "hits"')


def _inspect_msearch(path: Path, text: bytes) -> Iterator[Finding | findings.Retrieved]:
    answer = records.loaded(path, text)
    if isinstance(answer, Finding):
        yield answer
        return
    for number, response in enumerate(answer["responses"], start=1):
        why = _incomplete(response)
        if why is not None:
            yield _wrong(path, f"response {number}: {why}")
            continue
        hits = response["hits"]
        yield from _hits(path, str(number), hits.get("hits", []) if isinstance(hits, dict) else [])


def _incomplete(response: Any) -> str | None:
    """Why a response is not the whole answer."""
    if not isinstance(response, dict):
        return "expected an object"
    if "error" in response:
        return f"an error: {json.dumps(response['error'])[:60]}"
    if response.get("timed_out"):
        return "the search timed out: its hits are not complete"
    shards = response.get("_shards")
    if isinstance(shards, dict) and shards.get("failed"):
        return f"{shards['failed']} shards failed: its hits are not complete"
    return None if "hits" in response else 'expected "hits"'


def _hits(path: Path, topic: str, hits: Sequence[Any]) -> Iterator[Finding | findings.Retrieved]:
    unscored = all(isinstance(hit, dict) and hit.get("_score") is None for hit in hits)
    for rank, hit in enumerate(hits, start=1):
        if not isinstance(hit, dict) or not isinstance(hit.get("_id"), str) or not hit["_id"]:
            yield _wrong(path, f'topic {topic}: hit {rank} has no "_id"')
            continue
        score = -float(rank) if unscored else hit.get("_score")
        yield records.scored(path, None, topic, hit["_id"], score)


def inspect_ratings(path: Path, text: bytes) -> Iterator[Finding | findings.Judgement]:
    """The ratings of a request to _rank_eval."""
    request_body = records.loaded(path, text)
    if isinstance(request_body, Finding):
        yield request_body
        return
    requests = request_body.get("requests")
    for number, request in enumerate(requests if isinstance(requests, list) else (), start=1):
        topic = request.get("id") if isinstance(request, Mapping) else None
        ratings = request.get("ratings", ()) if isinstance(request, Mapping) else ()
        if not isinstance(topic, str) or not topic:
            yield _wrong(path, f'request {number} has no "id"')
            continue
        for rating in ratings:
            docno = rating.get("_id") if isinstance(rating, Mapping) else None
            if isinstance(docno, str) and docno:
                yield findings.Judgement(None, topic, docno, json.dumps(rating.get("rating")))
            else:
                yield _wrong(path, f'topic {topic}: a rating has no "_id"')


def _wrong(path: Path, message: str) -> Finding:
    return Finding(path, None, "bad-json", message)


FORMATS = (
    findings.RunFormat(
        "rank_eval", "Elasticsearch's and OpenSearch's _rank_eval", _is_rank_eval,
        _inspect_rank_eval,
    ),
    findings.RunFormat(
        "msearch", "their _msearch: topics are the places of answers", _is_msearch,
        _inspect_msearch,
    ),
)  # fmt: skip
