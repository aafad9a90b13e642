"""What files hold: taken from a store of scores where it is known, else read, here or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from riskcli.core.errors import InputError
from riskcli.core.notes import Note
from riskcli.core.parallel import Progress, available_cores, in_order
from riskcli.scores.reading import Part, Reader

if TYPE_CHECKING:
    from riskcli.scores.kept import Kept
    from riskcli.scores.remote import Workers
    from riskcli.scores.store.store import Store


def _elsewhere() -> ModuleType:
    """Loaded late, as a store is: most calls have neither."""
    from riskcli.scores import remote

    return remote


def _keeping() -> ModuleType:
    """Loaded late, for the same reason."""
    from riskcli.scores import kept

    return kept


@dataclass(frozen=True)
class Means:
    """How files are read: by how many threads here, or by whose workers; and which store helps."""

    jobs: int = field(default_factory=available_cores)
    workers: Workers | None = None
    store: Store | None = None

    @classmethod
    def of(
        cls, jobs: int | None, executor: Executor | Workers | None, store: Path | Store | str | None
    ) -> Means:
        """The means, from what `evaluate` is given."""
        workers = _elsewhere().Workers(executor) if isinstance(executor, Executor) else executor
        kept = _keeping().Store(Path(store)) if isinstance(store, str | Path) else store
        return cls(jobs or available_cores(), workers, kept)


class Gatherer:
    """Gathers what files hold, with the reader's rules."""

    def __init__(self, reader: Reader, means: Means, progress: Progress | None) -> None:
        self._reader = reader
        self._means = means
        self._progress = progress
        self._kept: Kept | None = None
        if means.store is not None:
            self._kept = _keeping().Kept(means.store, reader)

    def parts(self, files: Sequence[Path]) -> list[Part | InputError]:
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

    def part(self, path: Path) -> Part:
        """What one file holds; what is wrong with it is always an error."""
        (part,) = self.parts([path])
        if isinstance(part, InputError):
            raise part
        return part

    def close(self) -> list[Note]:
        """Keep what is new, and say what is to be said about the store."""
        return [] if self._kept is None else self._kept.close()

    def _read(self, files: Sequence[Path]) -> Iterator[Part | InputError]:
        """What the files hold, one after the other, as soon as it is known."""
        if not files:
            return iter(())
        if self._means.workers is not None:
            read: Callable[..., Iterator[Part | InputError]] = _elsewhere().read_elsewhere
            return read(self._means.workers, self._reader, files, self._progress)
        self._reader.at_once = min(self._means.jobs, len(files))
        self._reader.threads = -(-self._means.jobs // len(files))
        return in_order(self._reader.try_read, files, self._means.jobs, self._progress)
