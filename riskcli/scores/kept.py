"""A store of scores as one reader uses it: runs that are known need not be read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from riskcli.core.errors import InputError, RiskevalError
from riskcli.core.files import sha256_of_file
from riskcli.core.notes import Note
from riskcli.core.parallel import in_order
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.reading import Part, Reader
from riskcli.scores.store.looks import Look, look_at
from riskcli.scores.store.store import RunScores, Shelf, Store


class Kept:
    """Finds and keeps what one reader reads under its judgements and rules."""

    def __init__(self, store: Store, reader: Reader) -> None:
        self._store = store
        self._reader = reader
        self._shelf: Shelf | None = None
        self._looks: dict[Path, Look | None] = {}

    def find(self, files: Sequence[Path], jobs: int) -> dict[Path, Part]:
        """The runs among the files that need not be read; with 0 jobs no file is hashed."""
        shelf = self._shelf = self._shelf or self._open()
        if shelf is None:
            return {}
        self._looks.update((path, look_at(path)) for path in files)
        sums = {path: self._store.looks.checksum(self._looks[path]) for path in files}
        if jobs and not shelf.is_empty:
            strange = [path for path in files if sums[path] is None and self._looks[path]]
            sums.update(zip(strange, in_order(sha256_of_file, strange, jobs), strict=True))
        found = shelf.find({checksum for checksum in sums.values() if checksum})
        parts = {
            path: _part(path, checksum, found[checksum])
            for path, checksum in sums.items()
            if checksum in found
        }
        for path, part in parts.items():
            self._store.looks.keep(self._looks[path], str(part.sha256))
        return parts

    def keep(self, part: Part | InputError) -> Part | InputError:
        """The same, kept if it is a run."""
        if isinstance(part, Part) and part.kind == "run" and part.sha256 and self._shelf:
            scores = {matrix.measure: matrix.values[0] for matrix in part.matrices}
            about = (part.tags, part.unknown_topics, part.matrices[0].topics)
            self._shelf.keep(part.sha256, RunScores(*about, scores))
            self._store.looks.keep(self._looks.get(part.path), part.sha256)
        return part

    def close(self) -> list[Note]:
        """Write what is new; what is to be said about the store."""
        return self._shelf.close() if self._shelf else []

    def _open(self) -> Shelf | None:
        """The scores under the judgements and rules at hand; None where no run could be scored."""
        qrels = self._reader.qrels_or_error
        if isinstance(qrels, RiskevalError) or qrels.sha256 is None:
            return None
        measures = [str(measure) for measure in self._reader.measures]
        return self._store.shelf(qrels.sha256, measures, self._reader.rules.scoring())


def _part(path: Path, checksum: str, kept: RunScores) -> Part:
    """What a file holds, had it been read."""
    matrices = tuple(
        ScoreMatrix(measure, ("",), kept.topics, values[None, :])
        for measure, values in kept.scores.items()
    )
    unknown = kept.unknown_topics
    return Part(path, "run", kept.tags, matrices, unknown, named=False, sha256=checksum)
