"""Workflow commands of GitHub Actions: findings as annotations beside the lines they speak of."""

from __future__ import annotations

from riskcli.output.escape import visible


def annotation(level: str, message: str, **properties: str | int | None) -> str:
    """One annotation (error, warning or notice), as a line of the job's log."""
    named = ",".join(
        f"{name}={_property(str(value))}" for name, value in properties.items() if value is not None
    )
    return f"::{level} {named}::{_data(message)}"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
