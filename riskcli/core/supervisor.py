"""The program runs in a child process, and this one waits for it.

Native code may crash on a damaged file, and it answers no signal while it works: Python's handlers
wait for it. So the process that was started does nothing but wait: it says in one line what native
code crashed on, and it ends a child that does not answer a signal by itself. (It imports little:
all of it happens before the program is loaded.)
"""

import os
import sys
from time import monotonic, sleep

from riskcli.core import stopping

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from typing import NoReturn
else:
    import _signal as signal  # as in `stopping`

_TEXT = 128
"""Where in what is shared it says what native code reads."""
_TO_ARRIVE, _TO_ANSWER, _STEP = 0.05, 0.2, 0.005
"""Seconds until a signal of the terminal has reached the child, and for the child to answer it."""
_CRASHES = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL")
_WRONG_INPUT, _UNFORESEEN = 2, 70
_busy_with: list[str] = []


def supervise() -> None:
    """Go on in a child process; the process itself ends as the child does."""
    if len(sys.argv) < 3 or not hasattr(os, "fork"):  # no file is named; Windows
        return
    import fcntl
    import mmap

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, it would keep how the child ended
    try:
        stopping.shared, parent = mmap.mmap(-1, stopping.PAGE), os.getpid()
        (lives, alive), (arrived, arrival) = os.pipe(), os.pipe()
        child = os.fork()
    except OSError:  # no process is left: without one, all but crashes and deafness is the same
        return
    if child:
        os.set_blocking(arrived, False)
        _wait(child, arrived)
        return
    os.close(alive)  # so the system closes the last one with the parent, and sends SIGIO
    os.close(arrived)
    if sys.platform == "linux":
        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(lives, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lives, fcntl.F_SETFL, os.O_ASYNC)
    if os.getppid() != parent:
        os._exit(_UNFORESEEN)
    os.set_blocking(arrival, False)
    signal.set_wakeup_fd(arrival, warn_on_full_buffer=False)


def be_patient(number: int, wanted: bool = True) -> None:
    """Let this signal be answered when Python comes to it: something is to be kept."""
    stopping.shared[number] = wanted


class Natively:
    """Native code reads a file: what is said of the file if that crashes."""

    def __init__(self, path: object, code: str, message: str) -> None:
        self._said = f"{path}: {code}: {message}"

    def __enter__(self) -> None:
        _busy_with.append(self._said)
        _note()

    def __exit__(self, *_: object) -> None:
        _busy_with.remove(self._said)
        _note()


def _note() -> None:
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in "; ".join(_busy_with[:3]))
    room = stopping.PAGE - _TEXT
    stopping.shared[_TEXT:] = shown.encode("utf-8", "backslashreplace")[:room].ljust(room, b"\0")


# In the process that waits


def _wait(child: int, arrived: int) -> None:
    """End as the child does. A gate that was ended goes on in another, which tells its reports."""
    status, told = _watched(child, arrived), False
    if os.WIFSIGNALED(status) and _is_gate():
        try:
            teller = os.fork()
        except OSError:  # no process is left, so the reports stay as they are
            _end_alike(status)
        if not teller:
            stopping.crash = _last_words(status)[0].decode(errors="replace")
            stopping.stop_quietly()
            return
        told = os.waitstatus_to_exitcode(_watched(teller, arrived)) == _WRONG_INPUT
    _end_alike(status, told)


def _is_gate() -> bool:
    """Whether the command is `check`: a file may be called so as well."""
    return next((word for word in sys.argv[1:] if word != "--debug"), "") == "check"


def _watched(child: int, arrived: int) -> int:
    """How the child ended; until then it is what signals to this process are for."""
    for name, (code, word) in stopping.ENDINGS.items():
        number = getattr(signal, name)
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _answering(child, arrived, code, word))
    return os.waitpid(child, 0)[1]


def _answering(child: int, arrived: int, code: int, word: bytes) -> "Callable[[int, object], None]":
    """What handles a signal here: the child ends by itself, or is ended."""

    def answer(number: int, _frame: object) -> None:
        try:
            _look(child, _TO_ARRIVE)
            if not _read(arrived):  # it was sent to this process alone
                stopping.attempt(os.kill, child, number)
            _look(child, _TO_ANSWER)
            while stopping.shared[0] or stopping.shared[number]:
                _look(child, _STEP)
        except ChildProcessError:  # this had just been told of its end, and goes on from there
            return
        stopping.attempt(os.kill, child, signal.SIGKILL)
        stopping.announce(word)
        os._exit(code)

    return answer


def _look(child: int, seconds: float) -> None:
    """Look for so long whether the child ends; if it does, end alike."""
    until = monotonic() + seconds
    while monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            _end_alike(status)
        sleep(_STEP)


def _read(arrived: int) -> bytes:
    """The signals that have reached the child since this was last asked."""
    try:
        return os.read(arrived, stopping.PAGE)
    except OSError:
        return b""


def _last_words(status: int) -> tuple[bytes, int | None]:
    """What is said of a child that a signal ended, and the exit code then; None: by that signal."""
    number = -os.waitstatus_to_exitcode(status)
    for name, (code, word) in stopping.ENDINGS.items():
        if getattr(signal, name) == number:  # while Python ended, it was not answered as usual
            return word, code
    crash = next((name for name in _CRASHES if getattr(signal, name) == number), None)
    if crash is None:
        return b"killed", None
    said = bytes(stopping.shared[_TEXT:]).rstrip(b"\0")
    fault = b"a fault in riskeval, please report it: native code crashed"
    return b"%s (%s)" % (said or fault, crash.encode()), _WRONG_INPUT if said else _UNFORESEEN


def _end_alike(status: int, told: bool = False) -> "NoReturn":
    """End with that exit code, or by that signal; `told` that somebody has said why."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        os._exit(code)
    words, exit_code = _last_words(status)
    if not told:
        stopping.announce(words)
    if exit_code is not None:
        os._exit(exit_code)
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    raise AssertionError("the signal ends the process")
