"""The scores of each file: from the store where it holds them, else read here or by workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from riskcli.core.files import sha256_of_file
from riskcli.core.messages import InputError, Note, RiskevalError
from riskcli.core.parallel import Progress, available_cores, in_order
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.reading import FileScores, Reader
from riskcli.scores.store import Store, StoredRun, StoreSection
from riskcli.scores.store_segments import FileState, file_state

if TYPE_CHECKING:
    from riskcli.scores.remote import Workers
    from riskcli.scores.store import Store


class StoredScores:
    """Finds and keeps what one reader reads under its judgements and rules."""

    def __init__(self, store: Store, reader: Reader) -> None:
        self._store = store
        self._reader = reader
        self._shelf: StoreSection | None = None
        self._looks: dict[Path, FileState | None] = {}

    def find(self, files: Sequence[Path], jobs: int) -> dict[Path, FileScores]:
        """The runs among the files that need not be read; with 0 jobs no file is hashed."""
        shelf = self._shelf = self._shelf or self._open()
        if shelf is None:
            return {}
        self._looks.update((path, file_state(path)) for path in files)
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

    def keep(self, part: FileScores | InputError) -> FileScores | InputError:
        """The same, kept if it is a run."""
        if isinstance(part, FileScores) and part.kind == "run" and part.sha256 and self._shelf:
            scores = {matrix.measure: matrix.values[0] for matrix in part.matrices}
            about = (part.tags, part.unknown_topics, part.matrices[0].topics)
            self._shelf.keep(part.sha256, StoredRun(*about, scores))
            self._store.looks.keep(self._looks.get(part.path), part.sha256)
        return part

    def close(self) -> list[Note]:
        """Write what is new; what is to be said about the store."""
        return self._shelf.close() if self._shelf else []

    def _open(self) -> StoreSection | None:
        """The scores under the judgements and rules at hand; None where no run could be scored."""
        qrels = self._reader.qrels_or_error
        if isinstance(qrels, RiskevalError) or qrels.sha256 is None:
            return None
        measures = [str(measure) for measure in self._reader.measures]
        return self._store.shelf(qrels.sha256, measures, self._reader.rules.scoring())


def _part(path: Path, checksum: str, kept: StoredRun) -> FileScores:
    """What a file holds, had it been read."""
    matrices = tuple(
        ScoreMatrix(measure, ("",), kept.topics, values[None, :])
        for measure, values in kept.scores.items()
    )
    unknown = kept.unknown_topics
    return FileScores(path, "run", kept.tags, matrices, unknown, named=False, sha256=checksum)


# What files hold: taken from a store of scores where it is known, else read, here or elsewhere.


def _elsewhere() -> ModuleType:
    """Loaded late, as a store is: most calls have neither."""
    from riskcli.scores import remote

    return remote


@dataclass(frozen=True)
class ReadingPlan:
    """How files are read: by how many threads here, or by whose workers; and which store helps."""

    jobs: int = field(default_factory=available_cores)
    workers: Workers | None = None
    store: Store | None = None

    @classmethod
    def of(
        cls, jobs: int | None, executor: Executor | Workers | None, store: Path | Store | str | None
    ) -> ReadingPlan:
        """The means, from what `evaluate` is given."""
        workers = _elsewhere().Workers(executor) if isinstance(executor, Executor) else executor
        kept = Store(Path(store)) if isinstance(store, str | Path) else store
        return cls(jobs or available_cores(), workers, kept)


class ScoreLoader:
    """Gathers what files hold, with the reader's rules."""

    def __init__(self, reader: Reader, means: ReadingPlan, progress: Progress | None) -> None:
        self._reader = reader
        self._means = means
        self._progress = progress
        self._kept: StoredScores | None = None
        if means.store is not None:
            self._kept = StoredScores(means.store, reader)

    def parts(self, files: Sequence[Path]) -> list[FileScores | InputError]:
        """What each file holds, or what is wrong with it where such files are skipped."""
        if self._kept is None:
            return list(self._read(files))
        # Where others read, they also hash: fetching the files for that would be slower.
        known = self._kept.find(files, 0 if self._means.workers else self._means.jobs)
        unread = self._read([path for path in files if path not in known])
        try:
            return [known.get(path) or self._kept.keep(next(unread)) for path in files]
        except BaseException:
            self._kept.close()  # what was read before the error need not be read again
            raise

    def part(self, path: Path) -> FileScores:
        """What one file holds; what is wrong with it is always an error."""
        (part,) = self.parts([path])
        if isinstance(part, InputError):
            raise part
        return part

    def close(self) -> list[Note]:
        """Keep what is new, and say what is to be said about the store."""
        return [] if self._kept is None else self._kept.close()

    def _read(self, files: Sequence[Path]) -> Iterator[FileScores | InputError]:
        """What the files hold, one after the other, as soon as it is known."""
        if not files:
            return iter(())
        if self._means.workers is not None:
            read: Callable[..., Iterator[FileScores | InputError]] = _elsewhere().read_elsewhere
            return read(self._means.workers, self._reader, files, self._progress)
        self._reader.at_once = min(self._means.jobs, len(files))
        self._reader.threads = -(-self._means.jobs // len(files))
        return in_order(self._reader.try_read, files, self._means.jobs, self._progress)
