"""The installed program, run as its users run it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.console import PROGRAMS, ROOT, terminal_environment

SAMPLES = ROOT / "sample_runs"
QRELS = ROOT / "qrels" / "simulated.qrels"


@dataclass(frozen=True)
class Ran:
    """What came out of a call."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Key:
    """A key of settings files among the arguments of a call."""

    name: str
    value: object = True


def with_settings(arguments: Sequence[str | Path | Key], folder: Path) -> list[str | Path]:
    """The arguments, keys written into a settings file that the command is given.

    A file that a key names must lie below the settings: they are written where it lies.
    """
    keys = [each for each in arguments if isinstance(each, Key)]
    plain = [each for each in arguments if not isinstance(each, Key)]
    if not keys:
        return plain
    below = next((key.value.parent for key in keys if isinstance(key.value, Path)), folder)
    file = below / f"keys-{uuid.uuid4().hex}.toml"
    lines = [f"{key.name} = {json.dumps(_plain(key.value))}\n" for key in keys]
    file.write_text("".join(lines), encoding="utf-8")
    return [*plain, "--config", file]


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else value


def riskeval(
    *arguments: str | Path | Key,
    cwd: Path = ROOT,
    stdin: str | None = None,
    variables: Mapping[str, str] | None = None,
    **environment: str,
) -> Ran:
    """Run `riskeval ARGUMENTS` in a pipe."""
    with tempfile.TemporaryDirectory() as folder:
        call = with_settings(arguments, Path(folder))
        done = subprocess.run(
            [str(PROGRAMS / "riskeval"), *map(str, call)],
            cwd=cwd,
            env={**terminal_environment(), **(variables or {}), **environment},
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
    assert "Traceback" not in done.stderr, done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)


LIMITED = """import os, resource, sys
limit, most = getattr(resource, sys.argv[1]), int(sys.argv[2])
resource.setrlimit(limit, (most, most))
os.execv(sys.argv[3], sys.argv[3:])
"""


def limited(limit: str, most: int, *call: str | Path) -> list[str]:
    """The call under a limit such as RLIMIT_AS.

    It is set by a small process before it becomes the call: subprocess's own way copies the whole
    of the tests' process first, for which a busy machine may have no memory.
    """
    return [sys.executable, "-ISc", LIMITED, limit, str(most), *map(str, call)]


def python(code: str) -> Ran:
    """Run a piece of Python in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)
