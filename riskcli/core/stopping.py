"""Ctrl-C and SIGTERM: the program ends at once and quietly, and leaves nothing half-written.

An exception would have to unwind through whatever is going on: imports and native code turn it into
errors of their own, a destructor swallows it, a thread lets it wait. So nothing is unwound: what
is still being written is removed, and the process ends. (This module imports little, since a signal
may arrive while the others are imported.)
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterable
    from typing import Any
else:
    import _signal as signal  # what is under `signal`, which takes a while to import

INTERRUPTED = 130
PAGE = 4096
crash = ""
"""What native code crashed on, where this process only has to tell it (`supervisor`)."""
shared: "Any" = bytearray(PAGE)
"""What the process that waits (`supervisor`) shall know: byte n is 1 where signal n is answered
when Python comes to it, byte 0 where all are."""


class _Names(set[str]):
    """While there are any, they are to be removed, so no signal ends the process by itself."""

    def add(self, name: str, /) -> None:
        super().add(name)
        shared[0] = 1

    def update(self, *names: "Iterable[str]") -> None:
        super().update(*names)
        shared[0] = bool(self)

    def discard(self, name: object, /) -> None:
        super().discard(name)
        shared[0] = bool(self)

    def difference_update(self, *names: "Iterable[object]") -> None:
        super().difference_update(*names)
        shared[0] = bool(self)


UNFINISHED: set[str] = _Names()
"""Unfinished files and folders, removed if the program is stopped."""

ENDINGS = {
    "SIGINT": (INTERRUPTED, b"interrupted"),
    "SIGTERM": (143, b"terminated"),
    "SIGHUP": (129, b"terminated"),
}
"""The exit code and the word for each signal that people and schedulers stop programs with."""


def stop_quietly() -> None:
    """From now on these signals end the process; one that is ignored (`nohup`) stays ignored."""
    for name, (code, word) in ENDINGS.items():
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stopping(code, word))


def _stopping(code: int, word: bytes) -> "Callable[[int, object], None]":
    """What handles a signal."""
    return lambda _number, _frame: _stop(code, word)


def _stop(code: int, word: bytes) -> None:
    shared[0] = 1  # however busy the machine is, this is the answer
    for name in tuple(UNFINISHED):
        attempt(os.unlink, name)
    for name in sorted(UNFINISHED, reverse=True):
        attempt(os.rmdir, name)
    announce(word)
    os._exit(code)


def announce(words: bytes) -> None:
    """Say on stderr why the program ends."""
    clear = b"\r\x1b[K" if os.isatty(2) else b""  # the line of progress
    attempt(os.write, 2, clear + b"riskeval: " + words + b"\n")


def attempt(function: "Callable[..., object]", *arguments: object) -> None:
    """Call it, whatever the system says."""
    try:
        function(*arguments)
    except OSError:
        return


def forget_stdout() -> None:
    """What stdout still holds cannot be written; Python would complain while closing it."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, AttributeError, ValueError):
        return
