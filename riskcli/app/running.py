"""Running a command: the one place where errors become exit codes."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from riskcli.app import riskeval
from riskcli.core.errors import RiskevalError
from riskcli.core.faults import report, trouble_with_the_machine
from riskcli.core.stopping import INTERRUPTED
from riskcli.output.escape import visible

WRONG_INPUT = 2
UNFORESEEN = 70


def main() -> None:
    """Run the command and exit: 0 done, 1 for "no", 2 for wrong input, 70 for a fault of ours."""
    # Nothing here multiplies matrices: threads for that would only cost time to start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    wishes: dict[str, Any] = {"debug": False}
    try:
        code = _run(wishes)
    except KeyboardInterrupt:
        code = fail("interrupted", INTERRUPTED)
    except Exception as error:
        code = _explained(error, wishes)
    sys.exit(code)


def _run(wishes: dict[str, Any]) -> int:
    """The exit code of the command, where nothing but its input or its answer is wrong."""
    try:
        code = riskeval.main(prog_name="riskeval", standalone_mode=False, obj=wishes)
        sys.stdout.flush()
    except RiskevalError as error:
        code = fail(str(error), error.exit_code)
        _forget_stdout()
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.Abort:
        code = fail("interrupted", INTERRUPTED)
    except (BrokenPipeError, SystemExit):  # click makes a SystemExit of the former
        code = 0  # the reader has seen enough
        _forget_stdout()
    return code if isinstance(code, int) else 0


def _explained(error: Exception, wishes: dict[str, Any]) -> int:
    """Say what went wrong; what lies with the machine or its files is no fault of ours."""
    said = trouble_with_the_machine(error)
    code = UNFORESEEN if said is None else WRONG_INPUT
    fail(report(error, wishes["debug"]) if said is None else said, code)
    _forget_stdout()
    return code


def fail(message: str, code: int) -> int:
    """Say why, and give the exit code."""
    shown = "\n".join(map(visible, message.split("\n")))
    click.echo(f"riskeval: {shown}", err=True)
    return code


def _forget_stdout() -> None:
    """What stdout still holds cannot be written; Python would complain while closing it."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, AttributeError, ValueError):
        return
