"""Examples in Markdown: `console` blocks are run as on an 80-column terminal and compared."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.shared_data import SHARED

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent
COLUMNS = 80
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A command of a document and the output that the document shows."""

    command: str
    output: str


def examples(document: Path) -> list[Example]:
    """All commands of a document's console blocks, in order."""
    found = []
    for block in _BLOCK.findall(document.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append(Example(command, output))
    return found


def terminal_environment() -> dict[str, str]:
    """An environment in which the programs of this installation come first, without colour."""
    kept = {k: v for k, v in os.environ.items() if k not in ("RISKEVAL_QRELS", "COLUMNS", "LINES")}
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "PATH": path, "NO_COLOR": "1", "TERM": "xterm", "LC_ALL": "C.UTF-8"}


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that looks like the project's, and keeps what a document's commands write.

    The real runs of the Web track, which are not ours to ship, are in `web2012` where they are.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "web2012").symlink_to(SHARED / "trec-web-2012")
        for entry in ROOT.iterdir():
            if not entry.name.startswith("."):
                (folder / entry.name).symlink_to(entry)
        yield folder


def on_terminal(
    command: str, columns: int = COLUMNS, cwd: Path = ROOT, **environment: str
) -> tuple[int, str]:
    """Exit code and output of a shell command whose stdout and stderr are a terminal."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(
        ["bash", "-c", command],
        cwd=cwd,
        env={**terminal_environment(), **environment},
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    chunks = []
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(leader)
    return process.wait(), b"".join(chunks).decode().replace("\r\n", "\n")


def lacks_data(command: str) -> bool:
    """Whether a command is about real runs that are not here."""
    return "web2012/" in command and not SHARED.is_dir()


def rewrite(document: Path) -> None:
    """Put what the commands print now into the document."""

    def block(match: re.Match[str]) -> str:
        if lacks_data(match[1]):
            return match[0]
        commands = [part.partition("\n")[0] for part in re.split(r"^\$ ", match[1], flags=re.M)[1:]]
        shown = "".join(f"$ {line}\n{on_terminal(line, cwd=folder)[1]}" for line in commands)
        return f"```console\n{shown}```"

    text = document.read_text(encoding="utf-8")
    with scratch() as folder:
        document.write_text(_BLOCK.sub(block, text), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name))
