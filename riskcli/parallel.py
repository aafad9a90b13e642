"""One function over many files at once, with results in the order of the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Thread
from typing import TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Progress = Callable[[int, int], None]
"""Called with how many of how many are done."""


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
    interpreter's lock; measured faster here than processes.
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


@contextmanager
def importing(module: str) -> Iterator[None]:
    """Import a module that is needed afterwards while files are read, which waits a good deal."""

    def attempt() -> None:
        with suppress(ImportError):  # whoever needs it will meet the error
            import_module(module)

    thread = Thread(target=attempt)
    thread.start()
    try:
        yield
    finally:
        thread.join()
