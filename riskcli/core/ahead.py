"""Imports beside the reading of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread


@contextmanager
def importing(load: Callable[[], object]) -> Iterator[None]:
    """Let `load` import what is needed afterwards while files are read, which waits a good deal."""

    def attempt() -> None:
        with suppress(Exception):  # whoever needs it will meet the error
            load()

    thread = Thread(target=attempt)
    thread.start()
    try:
        yield
    finally:
        thread.join()
