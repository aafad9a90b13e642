"""What the page cannot show, and so refuses."""

from __future__ import annotations

from riskcli.core.errors import UsageError


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
