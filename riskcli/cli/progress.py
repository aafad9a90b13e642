"""Progress on stderr, for people only and only where there is something to wait for."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from riskcli.core.parallel import FileProgress, Progress
from riskcli.output.escape import visible

PATIENCE = 1.0
INTERVAL = 0.1
LARGE = 32 * 2**20
"""Bytes from which on it is told how far a file is read."""
_NAME = 24


@contextmanager
def on_terminal(quiet: bool, noun: str = "runs") -> Iterator[Progress | None]:
    """A progress line that appears after about a second and leaves no trace; None in a pipe."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    line = _Line(noun)
    try:
        yield line
    finally:
        line.clear()


class _Line(FileProgress):
    def __init__(self, noun: str) -> None:
        self._lock = Lock()
        self._count = ""
        self._noun = noun
        self._start = time.monotonic()
        self._last = self._start
        self._length = 0

    def __call__(self, done: int, total: int) -> None:
        """How many are done of how many, rate, time left."""
        elapsed = time.monotonic() - self._start
        rate = done / elapsed if elapsed else 0.0
        left = f", {_clock((total - done) / rate)} left" if rate else ""
        self._count = f"{done} of {total} {self._noun}, {rate:.0f} a second{left}"
        self._show(self._count)

    def within(self, name: str, done: int, whole: int) -> None:
        """How much of a large file is read, and the time that the rest of it takes."""
        if whole < LARGE or done >= whole:
            return
        elapsed = time.monotonic() - self._start
        left = _clock(elapsed * (whole - done) / done) if done and not self._count else ""
        shown = visible(name)
        shown = shown if len(shown) <= _NAME else f"…{shown[1 - _NAME :]}"
        part = f"{shown}: {done / 2**20:,.0f} of {whole / 2**20:,.0f} MiB read"
        self._show(", ".join(filter(None, [self._count, part, left and f"{left} left"])))

    def _show(self, text: str) -> None:
        with self._lock:
            now = time.monotonic()
            if now - self._start >= PATIENCE and now - self._last >= INTERVAL:
                self._last = now
                self._write(text)

    def clear(self) -> None:
        """Take the line away again."""
        if self._length:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _write(self, text: str) -> None:
        """Over what stood there, with blanks: no escape sequence, which not all terminals know."""
        sys.stderr.write(f"\r{text:{self._length}}")
        sys.stderr.flush()
        self._length = len(text)


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60}:{whole % 60:02d}"
