"""`riskeval` at the command line: the one place where errors become exit codes.

Signals are handled before anything else is imported, so what `main` needs is imported within it.
"""

from __future__ import annotations

import os
import sys

from riskcli.core.stopping import INTERRUPTED, stop_quietly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WRONG_INPUT = 2
UNFORESEEN = 70
LEAST_MEMORY = 512 * 2**20


def start() -> None:
    """The installed program."""
    stop_quietly()
    _mend_streams()
    _refuse_little_memory()
    main()


def main() -> None:
    """Run the command and exit: 0 done, 1 for "no", 2 for wrong input, 70 for a fault of ours."""
    # Nothing here multiplies matrices: threads for that would only cost time to start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    wishes: dict[str, Any] = {"debug": False}
    try:
        code = _run(wishes)
    except KeyboardInterrupt:
        code = _fail("interrupted", INTERRUPTED)
    except Exception as error:
        code = _explained(error, wishes)
    sys.exit(code)


def _run(wishes: dict[str, Any]) -> int:
    """The exit code of the command, where nothing but its input or its answer is wrong."""
    import click

    import riskcli.core.faults  # what says how it ended is loaded while files can be opened
    import riskcli.output.escape  # noqa: F401
    from riskcli.app import riskeval
    from riskcli.core.errors import RiskevalError

    try:
        code = riskeval.main(prog_name="riskeval", standalone_mode=False, obj=wishes)
        sys.stdout.flush()
    except RiskevalError as error:
        code = _fail(str(error), error.exit_code)
        _forget_stdout()
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.Abort:
        code = _fail("interrupted", INTERRUPTED)
    except (BrokenPipeError, SystemExit):  # click makes a SystemExit of the former
        code = 0  # the reader has seen enough
        _forget_stdout()
    return code if isinstance(code, int) else 0


def _explained(error: Exception, wishes: dict[str, Any]) -> int:
    """Say what went wrong; what lies with the machine or its files is no fault of ours."""
    from riskcli.core.faults import report, trouble_with_the_machine

    said = trouble_with_the_machine(error)
    code = UNFORESEEN if said is None else WRONG_INPUT
    _fail(report(error, wishes["debug"]) if said is None else said, code)
    _forget_stdout()
    return code


def _fail(message: str, code: int) -> int:
    import click

    from riskcli.output.escape import visible

    shown = "\n".join(map(visible, message.split("\n")))
    click.echo(f"riskeval: {shown}", err=True)
    return code


def _forget_stdout() -> None:
    """What stdout still holds cannot be written; Python would complain while closing it."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, AttributeError, ValueError):
        return


def _mend_streams() -> None:
    """Put something behind standard streams that are closed, and let no note on stderr fail.

    Otherwise the next file to be opened would take the place of a closed stream. Reading such a
    stdin and writing such a stdout fail, as they should; what is said on stderr is lost.
    """
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    import io

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


def _refuse_little_memory() -> None:
    """With less, the libraries that compute print tracebacks, abort, or wait for ever."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < LEAST_MEMORY:
        found = f"this process may have {limit // 2**20} MiB of memory (ulimit -v)"
        least = f"riskeval needs at least {LEAST_MEMORY // 2**20} MiB"
        sys.exit(_fail(f"out-of-memory: {found}, {least}", WRONG_INPUT))


if __name__ == "__main__":
    start()
