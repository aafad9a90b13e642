"""What figures cannot show, and so refuse."""

from __future__ import annotations

from riskcli.core.messages import UsageError

LOSS_KINDS = ("topics", "qq", "loss", "rbo")
OF_KINDS = ("alpha", "topics", "power")
WITHOUT_BASELINE = ("heatmap", "power")
"""Figures that compare with no baseline; `power` shows the pairs of those that are named."""


def refuse_what_figures_lack(kind: str, convention: str, loss: str, of: str | None) -> None:
    """Refuse what a figure would silently ignore."""
    if convention != "plain":
        raise UsageError("figures support the plain convention only")
    if loss != "linear" and kind not in LOSS_KINDS:
        raise UsageError(f"--loss belongs to {', '.join(LOSS_KINDS)}; {kind} has none")
    if of is not None and kind not in OF_KINDS:
        raise UsageError(f"--of belongs to {', '.join(OF_KINDS)}; {kind} has none")
