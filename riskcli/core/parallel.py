"""One function over many files at once, with results in the order of the files."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from typing import TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LARGE = 32 * 2**20
Progress = Callable[[int, int], None]
"""Called with how many of how many are done."""


class FileProgress:
    """Progress that also wants to know how far a file is read that takes long."""

    def __call__(self, done: int, total: int) -> None:
        """So many of so many are done."""
        raise NotImplementedError

    def within(self, name: str, done: int, whole: int) -> None:
        """So many bytes of a file are read; called by whichever thread reads it."""
        raise NotImplementedError


Watch = Callable[[str, int, int], None]
"""Called with a file's name, and how many of its bytes are read."""


def watch_of(progress: Progress | None) -> Watch | None:
    """What wants to know how far files are read."""
    return progress.within if isinstance(progress, FileProgress) else None


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(
    function: Callable[[Item], Answer],
    items: Sequence[Item],
    jobs: int,
    progress: Progress | None = None,
) -> Iterator[Answer]:
    """The answers for all items, worked out by `jobs` threads; the first error in order is raised.

    Threads, because the heavy parts (decompressing, parsing, hashing, sorting) run outside of the
    interpreter's lock; processes measured no faster here, and cannot be forked while threads run.
    """
    if jobs <= 1 or len(items) <= 1:
        for done, item in enumerate(items, start=1):
            yield function(item)
            if progress:
                progress(done, len(items))
        return
    pool = ThreadPoolExecutor(max_workers=min(jobs, len(items)))
    try:
        for done, answer in enumerate(pool.map(function, items), start=1):
            yield answer
            if progress:
                progress(done, len(items))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def pulled(function: Callable[[Item], Answer], items: Iterator[Item], jobs: int) -> list[Answer]:
    """The answers in the order of the items, of which a thread takes one when it has time for it.

    So no more than `jobs` items exist at once; the items are made by one thread at a time.
    """
    if jobs <= 1:
        return [function(item) for item in items]
    lock, over = Lock(), Event()
    numbered = enumerate(items)
    answers: dict[int, Answer] = {}

    def work() -> None:
        try:
            while not over.is_set():
                with lock:
                    index, item = next(numbered, (-1, None))
                if item is None:
                    return
                answers[index] = function(item)
        finally:
            over.set()  # after an error the others need not go on

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for future in [pool.submit(work) for _ in range(jobs)]:
                future.result()
        finally:
            over.set()
    return [answers[index] for index in sorted(answers)]


def keep_freed_memory() -> None:
    """Let the C library hold on to freed memory: to have it anew for each file takes long."""
    with suppress(OSError, AttributeError, TypeError):  # there is no such call but in glibc
        import ctypes  # late: where that is not called, it need not load

        c_library = ctypes.CDLL(None)
        c_library.mallopt(_M_MMAP_THRESHOLD, _LARGE)
        c_library.mallopt(_M_TRIM_THRESHOLD, 8 * _LARGE)


# Imports while files are read.


@contextmanager
def importing(load: Callable[[], object]) -> Iterator[None]:
    """Let `load` import what is needed afterwards while files are read, which waits a good deal."""

    def attempt() -> None:
        with suppress(Exception):  # the import that needs it raises the error
            load()

    thread = Thread(target=attempt)
    thread.start()
    try:
        yield
    finally:
        thread.join()
