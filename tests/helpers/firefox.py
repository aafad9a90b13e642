"""Firefox as it is installed, without a window, driven by WebDriver BiDi, which it speaks itself.

Neither geckodriver nor a patched Firefox is needed. Playwright drives an installed Firefox, too,
but not Debian's: its first command to a page (emulation.setMediaFeaturesOverride) is unknown there.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("firefox-esr", "firefox")
SETTINGS = {
    "browser.sessionhistory.max_total_viewers": 0,
    "browser.shell.checkDefaultBrowser": False,
    "browser.aboutwelcome.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "datareporting.policy.firstRunURL": "",
    "startup.homepage_welcome_url": "",
}
"""Back loads a page again and fills in its forms; nothing asks and nothing is sent."""
_LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
_PATIENCE = 60.0


class Firefox:
    """A running Firefox, and its first tab."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.numbers = count(1)
        self.messages: list[str] = []
        self.ask("session.new", {"capabilities": {}})
        self.ask("session.subscribe", {"events": ["log.entryAdded"]})
        self.tab = self.tabs()[0]["context"]

    def ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv(timeout=_PATIENCE))
            if answer.get("method") == "log.entryAdded":
                self.messages.append(str(answer["params"]["text"]))
            if answer.get("id") == number:
                assert answer["type"] == "success", answer
                return dict(answer["result"])

    def tabs(self) -> list[dict[str, Any]]:
        """The open tabs, each with its `context` and `url`."""
        return list(self.ask("browsingContext.getTree", {})["contexts"])

    def go(self, address: str) -> None:
        """Open the address in the tab."""
        where = {"context": self.tab, "url": address, "wait": "complete"}
        self.ask("browsingContext.navigate", where)

    def reload(self) -> None:
        """As the reader's button does, which keeps what stands in forms."""
        self.ask("browsingContext.reload", {"context": self.tab, "wait": "complete"})

    def back(self) -> None:
        """One step back in the tab's history."""
        self.ask("browsingContext.traverseHistory", {"context": self.tab, "delta": -1})

    def evaluate(self, expression: str) -> Any:
        """The value of the expression in the page, promises awaited."""
        told = self.ask(
            "script.evaluate",
            {
                "expression": f"(async () => JSON.stringify((await ({expression})) ?? null))()",
                "target": {"context": self.tab},
                "awaitPromise": True,
            },
        )
        assert told["type"] == "success", told
        return json.loads(told["result"]["value"])

    def wait_for(self, expression: str) -> None:
        """Until the expression is true in the page."""
        until = time.monotonic() + _PATIENCE
        while not self.evaluate(expression):
            assert time.monotonic() < until, expression
            time.sleep(0.1)


@contextmanager
def firefox(profile: Path) -> Iterator[Firefox]:
    """A Firefox with that profile; skips the test where it, or what speaks to it, is absent."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("no Firefox is installed (apt-get install firefox-esr)")
    client = pytest.importorskip(
        "websockets.sync.client",
        reason="websockets is not installed (pip install riskeval[browser])",
    )
    profile.mkdir(exist_ok=True)
    settings = (f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in SETTINGS.items())
    (profile / "user.js").write_text("".join(settings), encoding="utf-8")
    log = profile / "log.txt"
    with log.open("w") as stream:
        process = subprocess.Popen(
            [program, "--headless", "--no-remote", "--profile", profile,
             "--remote-debugging-port", "0"],
            stdout=stream, stderr=stream,
        )  # fmt: skip
    try:
        with client.connect(f"{_address(process, log)}/session", max_size=None) as socket:
            opened = Firefox(socket)
            yield opened
            opened.ask("browser.close", {})
        process.wait(timeout=_PATIENCE)
    finally:
        process.kill()
        process.wait()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    until = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < until:
        found = _LISTENS.search(log.read_text(errors="replace"))
        if found:
            return found[1]
        time.sleep(0.1)
    raise AssertionError(f"Firefox does not listen: {log.read_text(errors='replace')[-500:]}")
