"""What a worker does: it scores batches of files with the judgements that it was sent once."""

import hashlib
import os
import pickle
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any, NamedTuple

from riskcli.core.choices import Sending
from riskcli.core.files import sha256_of_file
from riskcli.core.locations import RemotePath, place_of
from riskcli.core.messages import InputError, RiskevalError, UsageError
from riskcli.core.parallel import Progress
from riskcli.core.version import __version__
from riskcli.scores.files.registry import FileScores
from riskcli.scores.reading import Reader, Rules
from riskcli.scores.store import as_json, engine
from riskcli.trec.source import read_raw


class Sent(NamedTuple):
    """A file as a worker gets it: where it is, what errors call it, its size, perhaps its bytes.

    `state` is what its system says of a file at a URL: its size and its ETag, say.
    """

    path: str
    shown: str
    size: int
    content: bytes | None
    state: tuple[Any, ...] = ()


class Batch(NamedTuple):
    """What a worker is asked; judgements are named by a checksum, and sent along if need be."""

    rules: Rules
    qrels: str
    pickled_qrels: bytes | None
    files: tuple[Sent, ...]


class UnlikeError(Exception):
    """A worker does not see the file that was meant: why."""


class Read(NamedTuple):
    part: FileScores
    modified_ns: int


Outcome = Read | RiskevalError | UnlikeError


def stamp() -> str:
    """What must be the same wherever scores are computed."""
    return as_json({"riskeval": __version__, **engine()})


def other_version(worker: str, stamp_there: str) -> str:
    """Message for a worker with another stamp."""
    return f"the worker {worker} computes with other versions: {stamp_there}, expected {stamp()}"


_lock = Lock()
_judgements: dict[str, bytes] = {}
_MOST_KEPT = 4


def work(expected: str, batch: bytes) -> tuple[Any, ...]:
    """Score a batch of files. What is in it is looked at only if the versions are the same."""
    here = worker_name()
    if expected != stamp():
        return ("version", here, stamp())
    request: Batch = pickle.loads(batch)
    if request.pickled_qrels is not None:
        keep_judgements(request.qrels, request.pickled_qrels)
    with _lock:
        try:
            reader = _reader(request.qrels, request.rules)
        except KeyError:
            return ("no-qrels", here)
    start = perf_counter()
    topics: dict[tuple[str, ...], tuple[str, ...]] = {}
    outcomes = [_outcome(reader, file, topics) for file in request.files]
    return ("done", here, perf_counter() - start, outcomes)


def keep_judgements(checksum: str, pickled: bytes) -> None:
    """Keep judgements on this worker, and let go of those that were kept first."""
    with _lock:
        while len(_judgements) >= _MOST_KEPT:
            del _judgements[next(iter(_judgements))]
        _judgements[checksum] = pickled


@lru_cache(_MOST_KEPT)
def _reader(qrels: str, rules: Rules) -> Reader:
    """The reader with these judgements and rules; a KeyError where they are not here yet."""
    pickled = _judgements[qrels]
    return Reader([], None, rules, True, pickle.loads(pickled))


def worker_name() -> str:
    """How this worker is called: by its address in a Dask cluster, else by machine and process."""
    if "distributed" in sys.modules:
        from distributed import get_worker  # late: an extra

        with suppress(ValueError):  # no worker of Dask
            return str(get_worker().address)
    return f"{socket.gethostname()}, process {os.getpid()}"


def _outcome(reader: Reader, file: Sent, topics: dict[tuple[str, ...], tuple[str, ...]]) -> Outcome:
    """What a file holds, what is wrong with it, or that it is not the file that was meant."""
    try:
        seen = _seen(file) if file.content is None else 0
        scores = reader.read(place_of(file.path), file.content)
    except InputError as error:
        path = file.shown if error.path == file.path else error.path
        return InputError(path, error.code, error.message, error.line)
    except (RiskevalError, UnlikeError) as error:
        return error
    matrices = tuple(
        replace(matrix, topics=topics.setdefault(matrix.topics, matrix.topics))
        for matrix in scores.matrices
    )
    return Read(replace(scores, matrices=matrices), seen)


def _seen(file: Sent) -> int:
    """When the file was modified, as this worker sees it (0 at a URL); or it is another one."""
    path = place_of(file.path)
    if isinstance(path, RemotePath):
        try:
            state = path.state()
        except InputError as error:
            raise UnlikeError(error.message) from error
        if state != file.state:
            raise UnlikeError("its size or its ETag differs there")
        return 0
    try:
        status = path.stat()
    except OSError as error:
        raise UnlikeError(error.strerror or str(error)) from error
    if status.st_size != file.size:
        raise UnlikeError(f"it has {status.st_size} bytes there and {file.size} here")
    return status.st_mtime_ns


# Files scored elsewhere, by the workers of any executor of `concurrent.futures` (PEP 3148).
#
# Files travel in batches of about a second's work, as paths or, if asked, as bytes; what comes back
# are vectors of scores. Judgements are sent to a worker once. The parts come in the order of the
# files, whatever the workers do, and are those that one machine would have read.


_UNKNOWN_WORKERS = 32
_AHEAD = 3
"""Batches a worker, of which it works on one while the others wait."""
_SHORTEST, _LONGEST = 0.05, 1.0
"""Seconds of work in a batch; sending one costs about two thousandths of a second."""
_FIRST_GUESS = 4e-9
"""Seconds that a byte takes, until a batch has been timed."""
_MOST_BYTES = 32 * 2**20
"""Bytes in a batch of files that are sent along, unless one file is larger."""


def in_one_line(error: BaseException) -> str:
    """What an error is and says."""
    return f"{type(error).__name__}: {error}".split("\n")[0].rstrip(": ")


@dataclass(frozen=True)
class Workers:
    """An executor, with what is known of those who work for it."""

    executor: Executor
    count: int = _UNKNOWN_WORKERS
    send: Sending = "paths"
    deposit: Callable[[str, bytes], object] | None = None
    """Gives the workers of the moment the judgements, by their checksum; others ask for them."""
    explain: Callable[[BaseException], str] = in_one_line
    """Says in words why no answer came."""


def read_remotely(
    workers: Workers, reader: Reader, files: Sequence[Path], progress: Progress | None = None
) -> Iterator[FileScores | InputError]:
    """What each file holds, as `Reader.try_read` says it, in the order of the files."""
    client = _Client(workers, reader, files)
    answers: dict[int, FileScores | InputError] = {}
    following = 0
    try:
        while following < len(files):
            answers.update(client.next_answers())
            if progress:
                progress(following + len(answers), len(files))
            while following in answers:
                answer = answers.pop(following)
                if isinstance(answer, InputError):
                    answer = reader.skipped(files[following], answer)
                yield answer
                following += 1
    finally:
        for future in client.pending:  # nobody waits any more
            future.cancel()


@dataclass
class _Client:
    """Makes batches, sends them, and takes the answers."""

    workers: Workers
    reader: Reader
    files: Sequence[Path]
    pending: dict[Future[Any], tuple[range, tuple[Sent, ...]]] = field(default_factory=dict)
    """What each answer is about, as it was sent: a pipe cannot be read again."""
    _sent: int = 0
    _bytes: int = 0
    _seconds: float = 0.0

    def __post_init__(self) -> None:
        self._sizes = [_size(path) for path in self.files]
        self._left = sum(self._sizes)
        self._pickled = pickle.dumps(self.reader.qrels_or_error)
        self._qrels = hashlib.sha256(self._pickled).hexdigest()
        try:
            if self.workers.deposit is not None:
                self.workers.deposit(self._qrels, self._pickled)
        except (OSError, RuntimeError) as error:
            raise self._failed(error) from error

    def next_answers(self) -> dict[int, FileScores | InputError]:
        """The answers to the batches that are done next, by the index of the file."""
        while self._sent < len(self.files) and len(self.pending) < _AHEAD * self.workers.count:
            batch = self._next_batch()
            self._send(batch, tuple(map(self._file, batch)))
        answers: dict[int, FileScores | InputError] = {}
        for future in wait(self.pending, return_when="FIRST_COMPLETED").done:
            batch, sent = self.pending.pop(future)
            try:
                reply = future.result()
            except Exception as error:  # whatever it is, the line says so
                raise self._failed(error) from error
            answers.update(self._answers(batch, sent, reply))
        return answers

    def _next_batch(self) -> range:
        """The files of the next batch; batches get shorter towards the end."""
        rate = self._seconds / self._bytes if self._bytes else _FIRST_GUESS
        share = self._left * rate / (_AHEAD * self.workers.count)
        most = min(max(share, _SHORTEST), _LONGEST) / rate
        if self.workers.send == "bytes":
            most = min(most, _MOST_BYTES)
        start, size = self._sent, 0
        while self._sent < len(self.files):
            size += self._sizes[self._sent]
            if size > most and self._sent > start:
                break
            self._left -= self._sizes[self._sent]
            self._sent += 1
        return range(start, self._sent)

    def _send(self, batch: range, files: tuple[Sent, ...], with_qrels: bool = False) -> None:
        along = self._pickled if with_qrels else None
        request = Batch(self.reader.rules, self._qrels, along, files)
        try:
            future = self.workers.executor.submit(work, stamp(), pickle.dumps(request))
        except (OSError, RuntimeError) as error:  # a broken or closed executor
            raise self._failed(error) from error
        self.pending[future] = batch, files

    def _file(self, index: int) -> Sent:
        path = self.files[index]
        by_path = self.workers.send == "paths" and path.is_file()
        if by_path and isinstance(path, RemotePath):
            return Sent(str(path), str(path), self._sizes[index], None, path.state())
        content = None if by_path else read_raw(path)
        return Sent(os.path.abspath(path), str(path), self._sizes[index], content)  # noqa: PTH100

    def _failed(self, error: BaseException) -> UsageError:
        return UsageError(f"the workers failed: {self.workers.explain(error)}")

    def _answers(
        self, batch: range, files: tuple[Sent, ...], reply: tuple[Any, ...]
    ) -> dict[int, FileScores | InputError]:
        kind, worker, *rest = reply
        if kind == "version":
            raise UsageError(other_version(worker, rest[0]))
        if kind == "no-qrels":
            self._send(batch, files, with_qrels=True)
            return {}
        seconds, outcomes = rest
        self._seconds += seconds
        self._bytes += sum(self._sizes[i] for i in batch)
        return {
            i: self._part(self.files[i], worker, outcome)
            for i, outcome in zip(batch, outcomes, strict=True)
        }

    def _part(self, path: Path, worker: str, outcome: Outcome) -> FileScores | InputError:
        if isinstance(outcome, InputError):
            return outcome
        if isinstance(outcome, RiskevalError):
            raise outcome
        if isinstance(outcome, Read):
            if outcome.modified_ns == 0 or _is_same(path, outcome):
                return replace(outcome.part, path=path)
            outcome = UnlikeError("its content differs there")
        raise UsageError(
            f"{path}: the worker {worker} cannot read this file ({outcome}); put it "
            "where every worker can read it under the same path, or send it along: "
            "RISKEVAL_SEND=bytes"
        )


def _is_same(path: Path, read: Read) -> bool:
    """Whether what a worker read is what lies here."""
    modified_ns = path.stat().st_mtime_ns if path.is_file() else read.modified_ns
    return read.modified_ns == modified_ns or sha256_of_file(path) == read.part.sha256


def _size(path: Path) -> int:
    if isinstance(path, RemotePath):
        return path.size() or 0
    try:
        return path.stat().st_size
    except OSError:
        return 0
