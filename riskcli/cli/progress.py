"""Progress on stderr, for people only and only where there is something to wait for."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from riskcli.core.parallel import Progress

PATIENCE = 1.0
INTERVAL = 0.1


@contextmanager
def on_terminal(quiet: bool, noun: str = "runs") -> Iterator[Progress | None]:
    """A progress line that appears after about a second and leaves no trace; None in a pipe."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    line = _Line(noun)
    try:
        yield line.show
    finally:
        line.clear()


class _Line:
    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._start = time.monotonic()
        self._last = self._start
        self._length = 0

    def show(self, done: int, total: int) -> None:
        """How many are done of how many, rate, time left."""
        now = time.monotonic()
        elapsed = now - self._start
        if elapsed < PATIENCE or now - self._last < INTERVAL:
            return
        self._last = now
        rate = done / elapsed
        left = (total - done) / rate
        text = f"{done} of {total} {self._noun}, {rate:.0f} a second, {_clock(left)} left"
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
