"""What a worker does: it scores batches of files with the judgements that it was sent once."""

from __future__ import annotations

import os
import pickle
import socket
import sys
from dataclasses import replace
from threading import Lock
from time import perf_counter
from typing import Any, NamedTuple

from riskcli.core.errors import InputError, RiskevalError
from riskcli.core.remote_path import RemotePath, place_of
from riskcli.core.version import __version__
from riskcli.scores.reading import Part, Reader, Rules
from riskcli.scores.store.keys import as_json, engine


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


class Unlike(NamedTuple):
    """A worker does not see the file that was meant."""

    why: str


class Read(NamedTuple):
    part: Part
    modified_ns: int


Outcome = Read | RiskevalError | Unlike


def stamp() -> str:
    """What must be the same wherever scores are computed."""
    return as_json({"riskeval": __version__, **engine()})


def other_version(worker: str, found: str) -> str:
    """What is said of a worker with that stamp."""
    return f"the worker {worker} computes with other versions: {found}, expected {stamp()}"


_lock = Lock()
_judgements: dict[str, bytes] = {}
_readers: dict[tuple[str, Rules], Reader] = {}
_MOST_KEPT = 4


def work(expected: str, batch: bytes) -> tuple[Any, ...]:
    """Score a batch of files. What is in it is looked at only if the versions are the same."""
    here = worker_name()
    if expected != stamp():
        return ("version", here, stamp())
    asked: Batch = pickle.loads(batch)
    if asked.pickled_qrels is not None:
        keep_judgements(asked.qrels, asked.pickled_qrels)
    reader = _reader(asked)
    if reader is None:
        return ("no-qrels", here)
    start = perf_counter()
    topics: dict[tuple[str, ...], tuple[str, ...]] = {}
    outcomes = [_outcome(reader, file, topics) for file in asked.files]
    return ("done", here, perf_counter() - start, outcomes)


def keep_judgements(checksum: str, pickled: bytes) -> None:
    """Keep judgements on this worker."""
    with _lock:
        _limit(_judgements)
        _judgements[checksum] = pickled


def worker_name() -> str:
    """How this worker is called: by its address in a Dask cluster, else by machine and process."""
    if "distributed" in sys.modules:
        from distributed import get_worker  # late: an extra

        try:
            return str(get_worker().address)
        except ValueError:
            pass  # no worker of Dask
    return f"{socket.gethostname()}, process {os.getpid()}"


def _reader(asked: Batch) -> Reader | None:
    """The reader with these judgements and rules; None where the judgements are not here yet."""
    key = (asked.qrels, asked.rules)
    with _lock:
        if key not in _readers:
            pickled = _judgements.get(asked.qrels)
            if pickled is None:
                return None
            _limit(_readers)
            _readers[key] = Reader([], None, asked.rules, True, pickle.loads(pickled))
        return _readers[key]


def _limit(kept: dict[Any, Any]) -> None:
    """Let go of what was kept first."""
    while len(kept) >= _MOST_KEPT:
        del kept[next(iter(kept))]


def _outcome(reader: Reader, file: Sent, topics: dict[tuple[str, ...], tuple[str, ...]]) -> Outcome:
    """What a file holds, what is wrong with it, or that it is not the file that was meant."""
    seen = _seen(file) if file.content is None else 0
    if isinstance(seen, Unlike):
        return seen
    try:
        part = reader.read(place_of(file.path), file.content)
    except InputError as error:
        path = file.shown if error.path == file.path else error.path
        return InputError(path, error.code, error.message, error.line)
    except RiskevalError as error:
        return error
    matrices = tuple(
        replace(matrix, topics=topics.setdefault(matrix.topics, matrix.topics))
        for matrix in part.matrices
    )
    return Read(replace(part, matrices=matrices), seen)


def _seen(file: Sent) -> int | Unlike:
    """When the file was modified, as this worker sees it (0 at a URL); or it is another one."""
    path = place_of(file.path)
    if isinstance(path, RemotePath):
        try:
            state = path.state()
        except InputError as error:
            return Unlike(error.message)
        return 0 if state == file.state else Unlike("its size or its ETag differs there")
    try:
        status = path.stat()
    except OSError as error:
        return Unlike(error.strerror or str(error))
    if status.st_size != file.size:
        return Unlike(f"it has {status.st_size} bytes there and {file.size} here")
    return status.st_mtime_ns
