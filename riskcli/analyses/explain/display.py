"""An explanation for people: the steps one below the other, then the worst topics."""

from __future__ import annotations

import numpy as np

from riskcli.analyses.explain.account import Account
from riskcli.output.display import Cell, Display, Heading


def displays(found: Account) -> list[Display]:
    """Value, test, and topics."""
    alpha = f", α = {found.alpha:g}" if found.of.depends_on_alpha else ""
    against = f", against {found.baseline}"
    title = f"{found.of.title} of {found.run} by {found.measure}{alpha}{against}"
    about = [f"{found.of.title} = {found.of.formula}", f"({found.of.source})", found.of.reading]
    made = [_steps(title, found.steps, about)]
    if found.test:
        made.append(_steps("Its test", found.test, [found.verdict]))
    if found.topics:
        made.append(_topics(found))
    return made


def _steps(title: str, steps: tuple[tuple[str, float], ...], caption: list[str]) -> Display:
    rows = [[Cell(what), Cell(_shown(value))] for what, value in steps]
    return Display.of_rows(title, [Heading("", left=True), Heading("")], rows, caption)


def _shown(value: float) -> str:
    if np.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:g}" if float(value).is_integer() else f"{value:.6g}"


def _topics(found: Account) -> Display:
    headings = [
        Heading("topic", left=True), Heading("score"), Heading(found.reference_title),
        Heading("adds"),
    ]  # fmt: skip
    rows = [
        [
            Cell(share.topic),
            Cell(f"{share.score:.4f}"),
            Cell(f"{share.reference:.4f}"),
            Cell(f"{share.contribution:.4f}"),
        ]
        for share in found.topics
    ]
    return Display.of_rows("The topics that cost most", headings, rows)
