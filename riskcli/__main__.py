"""`riskeval` at the command line: signals and streams are seen to before anything is imported."""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys

from riskcli.core.stopping import stop_quietly
from riskcli.core.supervisor import supervise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WRONG_INPUT = 2
LEAST_MEMORY = 768 * 2**20
_PIPES = 2
"""To the process that waits (`supervisor`)."""
LEAST_FILES = 8 + _PIPES
"""Files that imports, readers and the supervisor have open at once, besides standard streams."""


def start() -> None:
    """The installed program."""
    stop_quietly()
    _open_streams()
    supervise()
    _collect_seldom()
    _mend_streams()
    _refuse_few_files()
    _refuse_little_memory()
    main()


def _collect_seldom() -> None:
    """Look for garbage seldom: what was imported stays, and looking takes a third of a run."""
    gc.set_threshold(200_000, 50, 50)
    atexit.register(gc.freeze)


def main() -> None:
    """Run the command and exit."""
    from riskcli.commands import run  # late: only now do signals end the program quietly

    run()


def _open_streams() -> None:
    """Put something behind standard streams that are closed.

    Otherwise the next file to be opened would take the place of a closed stream. Reading such a
    stdin and writing such a stdout fail, as they should.
    """
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)


def _mend_streams() -> None:
    """Let Python know streams that were closed, and let no note on stderr fail: it is lost then."""

    class Lossy(io.FileIO):
        def write(self, data: Any, /) -> int:
            try:
                return super().write(data) or 0
            except OSError:
                return len(data)

    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    encoding = sys.stderr.encoding if sys.stderr else "utf-8"
    raw = Lossy(2, "w", closefd=False)
    sys.stderr = io.TextIOWrapper(raw, encoding, "backslashreplace", write_through=True)


def _refuse_few_files() -> None:
    """With less, imports fail half-way, and not even a traceback can be made."""
    opened: list[int] = []
    try:
        opened.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(LEAST_FILES - _PIPES))
    except OSError as error:
        why = f"{error.strerror} (ulimit -n)"
        sys.stderr.write(f"riskeval: no-file: riskeval opens up to {LEAST_FILES} files: {why}\n")
        sys.exit(WRONG_INPUT)
    finally:
        for number in opened:
            os.close(number)


def _refuse_little_memory() -> None:
    """With less, the libraries that compute print tracebacks, abort, or wait for ever."""
    try:
        import resource  # late: Windows has none
    except ImportError:
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < LEAST_MEMORY:
        found = f"this process may have {limit // 2**20} MiB of memory (ulimit -v)"
        least = f"riskeval needs at least {LEAST_MEMORY // 2**20} MiB"
        sys.stderr.write(f"riskeval: out-of-memory: {found}, {least}\n")
        sys.exit(WRONG_INPUT)


if __name__ == "__main__":
    start()
