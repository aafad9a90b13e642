"""Every figure that there is: its line in the help, and what may be asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from riskcli.core.messages import UsageError, nearest

FigureWidth = Literal["column", "page", "lncs", "slide"]
"""The width of a whole figure: ACM's column or page, LNCS's text, or a slide."""
PIXELS = range(100, 4001)
"""How wide a panel may be."""
PAPER = "paper"
"""The kind of which `--figure` says what it is."""


@dataclass(frozen=True)
class Kind:
    """What can be drawn: its line in the help, and what may be asked of it."""

    meaning: str
    of: bool = False
    """Whether it shows one of several values, which --of names."""
    loss: bool = False
    """Whether --loss changes it."""
    baseline: bool = True
    """Whether runs are compared with a baseline; `power` shows the pairs of those named."""
    trained: bool = False
    """Whether it is drawn from the folder of `riskeval train`, not from runs."""


KINDS = {
    "alpha": Kind(
        "a risk measure over alpha (SIGIR'14, Figure 1; SIGIR'16, Figures 2 and 3)", of=True
    ),
    "topics": Kind(
        "TR or TJ of every topic, one panel per run and alpha (SIGIR'14, Figure 2)",
        of=True,
        loss=True,
    ),
    "wins": Kind("how many topics gain and lose how much (SIGIR'12, Figure 1)"),
    "profile": Kind("the score on every topic, one line per run (SIGIR'16, Figure 1)"),
    "box": Kind("differences to the baseline, one box per run (ECIR'20, Figure 1)"),
    "tradeoff": Kind("gain against risk, break-even and proportional lines (SIGIR'12, Figure 2)"),
    "heatmap": Kind("z of every run on every topic", baseline=False),
    "power": Kind(
        "the smallest loss that a test shows, over the number of topics", of=True, baseline=False
    ),
    "curve": Kind(
        "what models showed after each tree, from the folder of train (SIGIR'12, Figure 4)",
        of=True,
        trained=True,
    ),
    "churn": Kind(
        "how far models turn rankings round, from the folder of train (SIGIR'12, Figure 5)",
        trained=True,
    ),
}
"""Every kind of figure."""

_AXES = Kind("runs as points on the two axes on which they differ most (ECIR'14, Figures 1 and 2)")
FIGURES = {
    "ecir14-1": _AXES,
    "ecir14-2": _AXES,
    "ecir14-3": Kind("two runs topic by topic, either as the other's baseline (ECIR'14, Figure 3)"),
    "ecir14-4": Kind(
        "terms of URisk in ascending order, one panel per run and alpha (ECIR'14, Figure 4)"
    ),
    "ecir20-2": Kind(
        "what a difference counts for, linear and smooth (ECIR'20, Figure 2)", loss=True
    ),
    "ecir20-3": Kind(
        "bootstrap replicates of mean w against the normal, a panel per loss (ECIR'20, Figure 3)",
        loss=True,
    ),
    "ecir20-4": Kind(
        "how alike linear and smooth loss rank runs, by their number (ECIR'20, Figure 4)",
        loss=True,
    ),
}
"""Figures of papers that are no kind of their own."""

DRAWABLE = {**KINDS, **FIGURES}

_AS_KINDS: Mapping[str, tuple[str, str | None]] = {
    "sigir12-1": ("wins", None),
    "sigir12-2": ("tradeoff", None),
    "sigir12-4": ("curve", None),
    "sigir12-5": ("churn", None),
    "sigir14-1": ("alpha", "trisk"),
    "sigir14-2": ("topics", "tj"),
    "sigir16-1": ("profile", None),
    "sigir16-2": ("alpha", "georisk"),
    "sigir16-3": ("alpha", "georisk"),
    "ecir20-1": ("box", None),
}
"""The other figures of papers: the kind that each is, and of what."""
FIGURE_NAMES = sorted({*FIGURES, *_AS_KINDS}, key=lambda name: (name.split("-")[0][-2:], name))


def find(kind: str, figure: str | None = None, of: str | None = None) -> tuple[str, str | None]:
    """What is drawn (a kind, or a figure of FIGURES) and of what; `figure` belongs to `paper`."""
    if kind != PAPER:
        if figure is not None:
            raise UsageError(f"--figure belongs to {PAPER}, {kind} has none")
        if kind not in KINDS:
            known = [*KINDS, PAPER]
            raise UsageError(f"no figure {kind!r}{nearest(kind, known)} ({', '.join(known)})")
        return kind, of
    if figure in FIGURES:
        return figure, of
    if figure is not None and figure in _AS_KINDS:
        drawn, usual = _AS_KINDS[figure]
        return drawn, of or usual
    said = "which figure? name one with --figure" if figure is None else f"no figure {figure!r}"
    listed = "".join(f"\n  {name:11}{meaning}" for name, meaning in figures_in_words())
    raise UsageError(f"{said}; figures of papers:{listed}")


def figures_in_words() -> list[tuple[str, str]]:
    """Each figure of a paper with what it shows."""
    return [
        (name, DRAWABLE[_AS_KINDS.get(name, (name, None))[0]].meaning.split(" (")[0])
        for name in FIGURE_NAMES
    ]


def refuse_what_figures_lack(kind: str, convention: str, loss: str, of: str | None) -> None:
    """Refuse what a figure would silently ignore."""
    if convention != "plain":
        raise UsageError("figures support the plain convention only")
    if loss != "linear" and not DRAWABLE[kind].loss:
        able = ", ".join(name for name, each in DRAWABLE.items() if each.loss)
        raise UsageError(f"--loss belongs to {able}; {kind} has none")
    if of is not None and not DRAWABLE[kind].of:
        able = ", ".join(name for name, each in DRAWABLE.items() if each.of)
        raise UsageError(f"--of belongs to {able}; {kind} has none")
