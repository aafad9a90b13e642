"""What the tests share: how properties are explored, and a clean place to work in."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from tests.helpers import shared_data

settings.register_profile("steady", deadline=None, database=None, derandomize=True)
settings.register_profile("explore", deadline=None, database=None, max_examples=3000)
settings.load_profile("steady")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As where a shell starts the tests in the background: programs would start deaf to Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)

Write = Callable[[str, bytes | str], Path]


@pytest.fixture
def shared() -> Path:
    """The folder of real TREC data; skips the test where it is absent."""
    return shared_data.shared()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and no settings from the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RISKEVAL_QRELS", raising=False)
    return tmp_path


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file of that name and content into the test's folder."""

    def _write(name: str, content: bytes | str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _write
