"""The page: a leaderboard in one HTML file that computes in the reader's browser, offline."""

from __future__ import annotations

from pathlib import Path

from riskcli.core.messages import UsageError

# What the page cannot show, and so refuses.


def refuse_other_formats(page: Path) -> None:
    """Refuse the name of a file that would not be taken for a page."""
    if page.suffix.lower() not in ("", ".html", ".htm", ".gz"):
        raise UsageError(f"{page}: the page is HTML; end its name in .html")


def refuse_what_the_page_lacks(loss: str, convention: str, test: str, family: str) -> None:
    """Refuse what the page would silently do otherwise."""
    lacking = {
        "--loss": (loss, "linear"),
        "--convention": (convention, "plain"),
        "--test": (test, "jackknife"),
        "--family": (family, "column"),
    }
    for option, (found, known) in lacking.items():
        if found != known:
            raise UsageError(f"{option} is {found}, the page supports {known} only")
