"""A real browser: Debian's Chromium, without a window and without a network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@dataclass
class Tab:
    """An open page, and what happened in it."""

    page: Any
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, path: Path) -> None:
        """Open the file and wait until its table stands."""
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("#app:not([hidden])")

    def set_alpha(self, alpha: float) -> None:
        """Type the number."""
        self.page.fill("#alpha", f"{alpha:g}")
        self.settle()

    def settle(self) -> None:
        """Wait until what was chosen is shown, in all rows."""
        self.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        self.page.wait_for_selector("#app:not([aria-busy=true])")

    def click(self, selector: str) -> None:
        """Click, and wait until it has come to show."""
        self.page.click(selector)
        self.settle()

    def choose(self, select: str, label: str) -> None:
        """Choose an option by what it shows."""
        self.page.select_option(f"#{select}", label=label)
        self.settle()

    def column(self, name: str) -> list[str]:
        """The values of a column, from top to bottom, at full precision (empty: undefined)."""
        cells = f"Array.from(document.querySelectorAll('#board td[data-column={name}]'))"
        return list(self.page.evaluate(f"{cells}.map((cell) => cell.dataset.value ?? '')"))

    def marks(self, name: str) -> list[str]:
        """The flags of a column."""
        cells = f"Array.from(document.querySelectorAll('#board td[data-column={name}]'))"
        return list(self.page.evaluate(f"{cells}.map((cell) => cell.dataset.flag ?? '')"))

    def ranks(self, name: str) -> list[str]:
        """The ranks of a column, without the intervals that stand beside them."""
        cells = f"Array.from(document.querySelectorAll('#board td[data-column={name}] .rank'))"
        return list(self.page.evaluate(f"{cells}.map((cell) => cell.textContent.split(' ')[0])"))

    def runs(self) -> list[str]:
        """The runs that are shown, from top to bottom."""
        found = self.page.evaluate(
            "Array.from(document.querySelectorAll('#board tbody tr:not([hidden]) th button'))"
            ".map((button) => button.textContent)"
        )
        return list(found)


def program() -> str | None:
    """Where the browser is."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser; skips the test where it, or what drives it, is absent."""
    path = program()
    if path is None:
        pytest.skip("no Chromium is installed (apt-get install chromium)")
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (pip install riskeval[browser])"
    )
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def tab(browser: Any, **settings: Any) -> Iterator[Tab]:
    """A fresh page."""
    context = browser.new_context(**settings)
    page = context.new_page()
    opened = Tab(page)
    page.on("console", lambda message: opened.messages.append(message.text))
    page.on("pageerror", lambda error: opened.messages.append(str(error)))
    page.on("request", lambda request: opened.requests.append(request.url))
    page.on("dialog", lambda dialog: opened.messages.append(f"dialog {dialog.message}"))
    try:
        yield opened
    finally:
        context.close()
