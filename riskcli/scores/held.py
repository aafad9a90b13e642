"""Runs and judgements as other libraries hold them, as dictionaries of dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from riskcli.core.errors import UsageError


def as_mapping(given: Any, value: str, what: str) -> Any:
    """The dictionary in a Run or Qrels of ranx, or of ir_measures' ScoredDoc or Qrel objects.

    Mappings and frames are given back as they are.
    """
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        return given
    if hasattr(given, "to_dict"):  # ranx
        return given.to_dict()
    if not isinstance(given, Iterable) or isinstance(given, str | bytes):
        raise UsageError(f"{what}: expected a frame, a mapping or documents, found {given!r:.60}")
    found: dict[str, dict[str, Any]] = {}
    for item in given:
        try:
            topic, docno, new = item.query_id, item.doc_id, getattr(item, value)
        except AttributeError as error:
            raise UsageError(f"{what}: expected query_id, doc_id and {value}: {error}") from error
        cells = found.setdefault(str(topic), {})
        if str(docno) in cells and (value == "score" or cells[str(docno)] != new):
            raise UsageError(f"{what}: topic {topic} has document {docno} twice")
        cells[str(docno)] = new
    return found
