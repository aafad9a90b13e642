"""Every figure that there is: its line in the help, and what may be asked of it."""

from collections.abc import Mapping
from typing import Literal

from riskcli.core.messages import UsageError, nearest

FigureWidth = Literal["column", "page", "lncs", "slide"]
"""The width of a whole figure: ACM's column or page, LNCS's text, or a slide."""
PIXELS = range(100, 4001)
"""How wide a panel may be."""
PAPER = "paper"
"""The kind of which `--figure` says what it is."""


KINDS = {
    "alpha": "a risk measure over alpha (SIGIR'14, Figure 1; SIGIR'16, Figures 2 and 3)",
    "topics": "TR or TJ of every topic, one panel per run and alpha (SIGIR'14, Figure 2)",
    "wins": "how many topics gain and lose how much (SIGIR'12, Figure 1)",
    "profile": "the score on every topic, one line per run (SIGIR'16, Figure 1)",
    "box": "differences to the baseline, one box per run (ECIR'20, Figure 1)",
    "tradeoff": "gain against risk, break-even and proportional lines (SIGIR'12, Figure 2)",
    "heatmap": "z of every run on every topic",
    "power": "the smallest loss that a test shows, over the number of topics",
    "curve": "what models showed after each tree, from the folder of train (SIGIR'12, Figure 4)",
    "churn": "how far models turn rankings round, from the folder of train (SIGIR'12, Figure 5)",
}
"""Every kind of figure, with the line that the help shows."""
_AXES = "runs as points on the two axes on which they differ most (ECIR'14, Figures 1 and 2)"
FIGURES = {
    "ecir14-1": _AXES,
    "ecir14-2": _AXES,
    "ecir14-3": "two runs topic by topic, either as the other's baseline (ECIR'14, Figure 3)",
    "ecir14-4": "terms of URisk in ascending order, one panel per run and alpha (ECIR'14, "
    "Figure 4)",
    "ecir20-2": "what a difference counts for, linear and smooth (ECIR'20, Figure 2)",
    "ecir20-3": "bootstrap replicates of mean w against the normal, a panel per loss (ECIR'20, "
    "Figure 3)",
    "ecir20-4": "how alike linear and smooth loss rank runs, by their number (ECIR'20, Figure 4)",
}
"""Figures of papers that are no kind of their own."""
MEANINGS = {**KINDS, **FIGURES}

WITH_OF = ("alpha", "topics", "power", "curve")
"""What shows one of several values, which --of names."""
WITH_LOSS = ("topics", "ecir20-2", "ecir20-3", "ecir20-4")
"""What --loss changes."""
WITHOUT_BASELINE = ("heatmap", "power")
"""What compares with no baseline; `power` shows the pairs of those that are named."""
BY_GROUP = ("alpha", "box", "tradeoff")
"""What is drawn as a panel for each group of topics, where there are groups."""
WEIGHED = ("alpha", "topics", "wins", "profile", "tradeoff", "heatmap", "power")
"""What shows weighted figures where topics have weights, or topics one by one."""
OF_EXPERIMENTS = ("curve", "churn")
"""What is drawn from the folder of `riskeval train`, not from runs."""

_DRAWN: Mapping[str, tuple[str, str | None]] = {
    **{name: (name, None) for name in FIGURES},
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
"""Every figure of a paper: the kind that it is, or itself, and of what."""
FIGURE_NAMES = sorted(_DRAWN, key=lambda name: (name.split("-")[0][-2:], name))


def find(kind: str, figure: str | None = None, of: str | None = None) -> tuple[str, str | None]:
    """What is drawn (a kind, or a figure of FIGURES) and of what; `figure` belongs to `paper`."""
    if kind != PAPER:
        if figure is not None:
            raise UsageError(f"--figure belongs to {PAPER}, {kind} has none")
        if kind not in KINDS:
            known = [*KINDS, PAPER]
            raise UsageError(f"no figure {kind!r}{nearest(kind, known)} ({', '.join(known)})")
        return kind, of
    if figure in FIGURE_NAMES:
        drawn, usual = _DRAWN[figure]
        return drawn, of if drawn == figure else of or usual
    said = "which figure? name one with --figure" if figure is None else f"no figure {figure!r}"
    listed = "".join(
        f"\n  {name:11}{MEANINGS[_DRAWN[name][0]].split(' (')[0]}" for name in FIGURE_NAMES
    )
    raise UsageError(f"{said}; figures of papers:{listed}")


def refuse_what_figures_lack(kind: str, convention: str, loss: str, of: str | None) -> None:
    """Refuse what a figure would silently ignore."""
    if convention != "plain":
        raise UsageError("figures support the plain convention only")
    if loss != "linear" and kind not in WITH_LOSS:
        raise UsageError(f"--loss belongs to {', '.join(WITH_LOSS)}; {kind} has none")
    if of is not None and kind not in WITH_OF:
        raise UsageError(f"--of belongs to {', '.join(WITH_OF)}; {kind} has none")
