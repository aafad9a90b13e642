"""The program within this process: as fast as a function call, with its exit code and streams."""

from __future__ import annotations

import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from riskcli.__main__ import main
from tests.program import Ran


def run_inside(*arguments: str | Path) -> Ran:
    """Run `riskeval ARGUMENTS`; an exception that the program does not handle is raised here."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    environment = {key: value for key, value in os.environ.items() if key != "RISKEVAL_QRELS"}
    with (
        patch.object(sys, "argv", ["riskeval", *map(str, arguments)]),
        patch.dict(os.environ, environment, clear=True),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stopped:
            code = stopped.code if isinstance(stopped.code, int) else 1
        out.flush()
    written = out.detach()
    assert isinstance(written, io.BytesIO)
    return Ran(code, written.getvalue().decode("utf-8"), err.getvalue())
