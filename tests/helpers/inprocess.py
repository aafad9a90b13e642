"""The program within this process: as fast as a function call, with its exit code and streams."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from contextvars import copy_context
from pathlib import Path
from unittest.mock import patch

from riskcli.__main__ import main
from tests.helpers.console import ROOT, terminal_environment
from tests.helpers.program import Key, Ran, with_settings


def riskeval(
    *arguments: str | Path | Key,
    cwd: Path = ROOT,
    stdin: str = "",
    variables: Mapping[str, str] | None = None,
    **environment: str,
) -> Ran:
    """Run `riskeval ARGUMENTS` as `program.riskeval` does, without a process of its own."""
    environment = {**terminal_environment(), **(variables or {}), **environment}
    typed = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    with (
        chdir(cwd),
        patch.dict(os.environ, environment, clear=True),
        patch.object(sys, "stdin", typed),
    ):
        return _run(*arguments)


def run_inside(*arguments: str | Path | Key) -> Ran:
    """Run `riskeval ARGUMENTS`; an exception that the program does not handle is raised here."""
    environment = {key: value for key, value in os.environ.items() if key != "RISKEVAL_QRELS"}
    with patch.dict(os.environ, environment, clear=True):
        return _run(*arguments)


def _run(*arguments: str | Path | Key) -> Ran:
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(sys, "argv", ["riskeval", *map(str, with_settings(arguments, Path(folder)))]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = copy_context().run(_exit_code)
        out.flush()
    written = out.detach()
    assert isinstance(written, io.BytesIO)
    return Ran(code, written.getvalue().decode("utf-8"), err.getvalue())


def _exit_code() -> int:
    """What the program exits with."""
    try:
        main()
    except SystemExit as stopped:
        return stopped.code if isinstance(stopped.code, int) else 1
    raise AssertionError("the program returned")
