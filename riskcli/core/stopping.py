"""Ctrl-C and SIGTERM: the program ends at once and quietly, and leaves nothing half-written.

An exception would have to unwind through whatever is going on: imports and native code turn it into
errors of their own, a destructor swallows it, a thread lets it wait. So nothing is unwound: what
is still being written is removed, and the process ends. (This module imports little, since a signal
may arrive while the others are imported.)
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
else:
    import _signal as signal  # what is under `signal`, which takes a while to import

INTERRUPTED = 130
UNFINISHED: set[str] = set()
"""Unfinished files and folders, removed if the program is stopped."""

_ENDINGS = {
    "SIGINT": (INTERRUPTED, b"interrupted"),
    "SIGTERM": (143, b"terminated"),
    "SIGHUP": (129, b"terminated"),
}
"""The exit code and the word for each signal that people and schedulers stop programs with."""


def stop_quietly() -> None:
    """From now on these signals end the process; one that is ignored (`nohup`) stays ignored."""
    for name, (code, word) in _ENDINGS.items():
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stopping(code, word))


def _stopping(code: int, word: bytes) -> "Callable[[int, object], None]":
    """What handles a signal."""
    return lambda _number, _frame: _stop(code, word)


def _stop(code: int, word: bytes) -> None:
    for name in tuple(UNFINISHED):
        _attempt(os.unlink, name)
    for name in sorted(UNFINISHED, reverse=True):
        _attempt(os.rmdir, name)
    clear = b"\r\x1b[K" if os.isatty(2) else b""  # the line of progress
    _attempt(os.write, 2, clear + b"riskeval: " + word + b"\n")
    os._exit(code)


def _attempt(function: "Callable[..., object]", *arguments: object) -> None:
    try:
        function(*arguments)
    except OSError:
        return
