"""`riskeval` at the command line: the one place where errors become exit codes."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import click

from riskcli.errors import RiskevalError

INTERRUPTED = 130


def main() -> None:
    """Run the command; exit 0 when done, 1 for "no", 2 for bad input, 130 when interrupted."""
    # Nothing here multiplies matrices: threads for that would only cost time to start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from riskcli.cli import riskeval

    try:
        code = riskeval.main(prog_name="riskeval", standalone_mode=False)
        sys.stdout.flush()
    except RiskevalError as error:
        code = _fail(str(error), error.exit_code)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more while closing stdout.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> int:
    from riskcli.report.escape import visible

    shown = "\n".join(map(visible, message.split("\n")))
    click.echo(f"riskeval: {shown}", err=True)
    return code


if __name__ == "__main__":
    main()
