"""`riskeval` at the command line: the one place where errors become exit codes."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from riskcli.core.errors import RiskevalError

INTERRUPTED = 130
TERMINATED = 143


class _TerminatedError(BaseException):
    """SIGTERM arrived: like Ctrl-C it unwinds the program, so that nothing half-written stays."""


def main() -> None:
    """Run the command; exit 0 when done, 1 for "no", 2 for bad input, 130 when interrupted."""
    # Nothing here multiplies matrices: threads for that would only cost time to start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from riskcli.app import riskeval

    try:
        with _unwinding_on_sigterm():
            code = riskeval.main(prog_name="riskeval", standalone_mode=False)
            sys.stdout.flush()
    except RiskevalError as error:
        code = _fail(str(error), error.exit_code)
        _forget_stdout()
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = _fail("interrupted", INTERRUPTED)
    except _TerminatedError:
        code = _fail("terminated", TERMINATED)
    except BrokenPipeError:
        code = 0  # the reader has seen enough
        _forget_stdout()
    except OSError as error:
        code = _fail(f"stdout: cannot-write: {error.strerror or error}", RiskevalError.exit_code)
        _forget_stdout()
    sys.exit(code if isinstance(code, int) else 0)


def _forget_stdout() -> None:
    """What stdout still holds cannot be written; Python would complain while closing it."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _unwinding_on_sigterm() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_signal: int, _frame: object) -> None:
        raise _TerminatedError

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _fail(message: str, code: int) -> int:
    from riskcli.output.escape import visible

    shown = "\n".join(map(visible, message.split("\n")))
    click.echo(f"riskeval: {shown}", err=True)
    return code


def start() -> None:
    """The installed program: it ends at once, since nothing is left that Python should tidy up."""
    try:
        main()
    except SystemExit as done:
        with suppress(OSError):
            sys.stderr.flush()
        os._exit(done.code if isinstance(done.code, int) else 0)


if __name__ == "__main__":
    start()
