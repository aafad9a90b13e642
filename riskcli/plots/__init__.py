"""Figures for papers and pages: a module a kind, which `save` lists.

They are imported when one is drawn, for they need the extra `plots`.
"""

from __future__ import annotations

from pathlib import Path

from riskcli.core.messages import UsageError

KINDS = {
    "alpha": "a risk measure over alpha (SIGIR'14, Figure 1; SIGIR'16, Figures 2 and 3)",
    "topics": "TR or TJ of every topic, one panel per run and alpha (SIGIR'14, Figure 2)",
    "wins": "how many topics gain and lose how much (SIGIR'12, Figure 1)",
    "profile": "the score on every topic, one line per run (SIGIR'16, Figure 1)",
    "pca": "runs as points on the two axes on which they differ most (ECIR'14, Figures 1 and 2)",
    "box": "differences to the baseline, one box per run (ECIR'20, Figure 1)",
    "qq": "bootstrap replicates of mean w against the normal, a panel per loss (ECIR'20, Figure 3)",
    "tradeoff": "gain against risk, break-even and proportional lines (SIGIR'12, Figure 2)",
    "heatmap": "z of every run on every topic",
    "pair": "two runs topic by topic, either as the other's baseline (ECIR'14, Figure 3)",
    "losses": "terms of URisk in ascending order, one panel per run and alpha (ECIR'14, Figure 4)",
    "loss": "what a difference counts for, linear and smooth (ECIR'20, Figure 2)",
    "power": "the smallest loss that a test shows, over the number of topics",
    "rbo": "how alike linear and smooth loss rank runs, by their number (ECIR'20, Figure 4)",
}
"""Every kind of figure, with the line that the help shows; its module bears its name."""

OF_EXPERIMENTS = {
    "curve": "what models showed after each tree, from the folder of train (SIGIR'12, Figure 4)",
    "churn": "how far models turn rankings round, from the folder of train (SIGIR'12, Figure 5)",
}
"""Figures that are drawn from the folder of `riskeval train`, not from runs."""

FORMATS = {".svg": "svg", ".png": "png", ".pdf": "pdf", ".html": "html", ".json": "json"}
SCALED = ("svg", "png", "pdf")
"""The formats of a figure by suffix, and those that have a size on paper."""


def format_of(output: Path) -> str:
    """The format that the file's suffix asks for."""
    format = FORMATS.get(output.suffix.lower())
    if format is None:
        raise UsageError(f"{output}: a figure ends in one of {', '.join(FORMATS)}")
    return format
