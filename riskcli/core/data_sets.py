"""Judgements and runs of ir_datasets (`irds:NAME`), as paths; the library is an extra."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path, PosixPath
from typing import Any

from riskcli.core.errors import InputError

PREFIX = "irds:"


class DataSetPath(PosixPath):
    """A data set of ir_datasets; as a run, what it calls scored documents."""

    scored = False

    @classmethod
    def of(cls, place: Path | str, scored: bool = False) -> DataSetPath:
        """The data set that a text names."""
        path = cls(str(place))
        path.scored = scored
        return path

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        return True

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return False

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return False

    def resolve(self, strict: bool = False) -> DataSetPath:
        return self

    def read_bytes(self) -> bytes:
        """Its judgements, or scored documents, as JSON: names there may hold blanks."""
        value, rows = ("score", "scoreddocs") if self.scored else ("relevance", "qrels")
        found: dict[str, dict[str, Any]] = {}
        try:
            for item in self._rows(rows):
                cells = found.setdefault(str(item.query_id), {})
                new = getattr(item, value)
                if cells.setdefault(str(item.doc_id), new) != new:
                    message = f"topic {item.query_id} document {item.doc_id} is there twice"
                    raise InputError(self, "conflicting-judgement", message)
        except InputError:
            raise
        except Exception as error:  # a download, a licence, a damaged file: it says what
            raise InputError(self, "unreadable", " ".join(str(error).split())[:200]) from error
        return json.dumps(found).encode()

    def grades(self) -> str:
        """What its grades mean."""
        meanings: dict[int, str] = self._data_set().qrels_defs()
        return "; ".join(f"{grade}: {' '.join(text.split())}" for grade, text in meanings.items())

    def _rows(self, kind: str) -> Iterator[Any]:
        data_set = self._data_set()
        if not getattr(data_set, f"has_{kind}")():
            what = "scored documents" if self.scored else "judgements"
            raise InputError(self, "not-found", f"this data set has no {what}")
        rows: Iterable[Any] = getattr(data_set, f"{kind}_iter")()
        yield from rows

    def _data_set(self) -> Any:
        try:
            import ir_datasets  # late: it is an extra, and only asked for by name
        except ImportError as error:
            message = "irds: needs the extra `datasets` (the package ir-datasets)"
            raise InputError(self, "unreadable", message) from error
        name = str(self).removeprefix(PREFIX)
        try:
            return ir_datasets.load(name)
        except KeyError as error:
            message = f"ir_datasets knows no data set {name!r}"
            raise InputError(self, "not-found", message) from error
