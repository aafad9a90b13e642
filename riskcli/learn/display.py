"""The comparison for people: figures at each alpha, and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from riskcli.learn.comparison import Comparison
from riskcli.learn.experiment import BLEND, SELECTIVE
from riskcli.learn.training import PLAIN
from riskcli.output.display import UNDEFINED, Cell, Display, Heading

_FIGURES = {
    "run": ("run", ""), "chosen": ("chosen", "{:.3g}"), "mean": ("mean", "{:.4f}"),
    "mean_sd": ("±", "{:.4f}"), "wins": ("W", "{:.0f}"), "losses": ("L", "{:.0f}"),
    "losses20": ("L>20%", "{:.0f}"), "risk": ("risk", "{:.4f}"), "risk_sd": ("±", "{:.4f}"),
    "urisk": ("URisk", "{:.4f}"), "trisk": ("TRisk", "{:.2f}"), "georisk": ("GeoRisk", "{:.4f}"),
}  # fmt: skip
"""By column of the result, its heading and how its numbers are shown."""
_AGAINST = {
    "run": ("run", ""), "mean": ("mean", "{:.4f}"), "risk": ("risk", "{:.4f}"),
    "p_mean_plain": ("p mean\nplain", "{:.2g}"), "p_risk_plain": ("p risk\nplain", "{:.2g}"),
    "blend_mean": ("blend\nmean", "{:.4f}"), "blend_risk": ("blend\nrisk", "{:.4f}"),
    "p_mean_blend": ("p mean\nblend", "{:.2g}"), "coin_mean": ("coin\nmean", "{:.4f}"),
}  # fmt: skip
_ABOUT_FIGURES = (
    "chosen: trees of a model, weight of a blend, threshold of a selection; means over folds.",
    "risk: mean loss to the baseline. .blend, .select: the plain model blended with the baseline, "
    "or used for some queries only, as risky as the model on validation queries.",
)
_ABOUT_TESTS = (
    "p: paired t of the means, or of the losses, against the plain model or the model's blend; "
    "uncorrected.",
    "coin mean: what a coin flip between plain model and baseline comes to at the model's risk.",
)


def displays(comparison: Comparison) -> list[Display]:
    """The figures at each alpha, then the models beside cheaper ways to take as little risk."""
    shown = [_figures(comparison, alpha) for alpha in comparison.alphas]
    others = (*comparison.outcome.plan.baselines, PLAIN.name)
    models = [
        row
        for row in comparison.rows(0.0)
        if row["run"] not in others and not row["run"].endswith((BLEND, SELECTIVE))
    ]
    if not models:
        return shown
    title = "Against the plain model, and against what is as risky without training for it"
    return [*shown, _table(title, models, _AGAINST, _ABOUT_TESTS)]


def _figures(comparison: Comparison, alpha: float) -> Display:
    plan = comparison.outcome.plan
    sources = ", ".join(map(str, plan.sources))
    title = (
        f"{plan.settings.effectiveness} on {comparison.scores.shape[1]} test queries, baseline "
        f"{sources}, α = {alpha:g}"
    )
    caption = [*_ABOUT_FIGURES]
    if len(plan.seeds) > 1:
        caption.append(f"±: standard deviation over {len(plan.seeds)} seeds.")
    return _table(title, comparison.rows(alpha), _FIGURES, caption)


def _table(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, tuple[str, str]],
    caption: Sequence[str],
) -> Display:
    """The rows; columns that are empty everywhere are left out."""
    kept = [key for key in columns if any(_is_there(row[key]) for row in rows)]
    headings = [Heading(columns[key][0], left=key == "run") for key in kept]
    cells = [[_cell(row[key], columns[key][1]) for key in kept] for row in rows]
    return Display.of_rows(title, headings, cells, caption)


def _is_there(value: Any) -> bool:
    return value is not None and value == value


def _cell(value: Any, form: str) -> Cell:
    if isinstance(value, str):
        return Cell(value)
    return Cell(form.format(value) if _is_there(value) else UNDEFINED)
