"""The comparison for people: a table for each alpha."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riskcli.learn.comparison import Comparison
from riskcli.output.display import UNDEFINED, Cell, Display, Heading

_HEADINGS = (
    "run", "chosen", "mean", "±", "W", "L", "L>20%", "risk", "±", "URisk", "TRisk", "GeoRisk",
    "p mean\nplain", "p risk\nplain", "p mean\nblend", "coin\nmean",
)  # fmt: skip
_SHOWN = {
    "chosen": "{:.3g}", "mean": "{:.4f}", "mean_sd": "{:.4f}", "wins": "{:.0f}",
    "losses": "{:.0f}", "losses20": "{:.0f}", "risk": "{:.4f}", "risk_sd": "{:.4f}",
    "urisk": "{:.4f}", "trisk": "{:.2f}", "georisk": "{:.4f}", "p_mean_plain": "{:.2g}",
    "p_risk_plain": "{:.2g}", "p_mean_blend": "{:.2g}", "coin_mean": "{:.4f}",
}  # fmt: skip
_CAPTION = (
    "chosen: trees of a model, weight of a blend, threshold of a selection; means over folds.",
    "risk: mean loss to the baseline. .blend, .select: the plain model blended with the baseline, "
    "or used for some queries only, as risky as the model on validation queries.",
    "p: paired t of the means, or of the losses, against the plain model or the model's blend; "
    "uncorrected.",
    "coin mean: what a coin flip between plain model and baseline comes to at the model's risk.",
)


def displays(comparison: Comparison) -> list[Display]:
    """A table for each alpha; columns that are empty everywhere are left out."""
    return [_display(comparison, alpha) for alpha in comparison.alphas]


def _display(comparison: Comparison, alpha: float) -> Display:
    plan = comparison.outcome.plan
    rows = comparison.rows(alpha)
    columns = list(zip(["run", *_SHOWN], _HEADINGS, strict=True))
    kept = [(key, title) for key, title in columns if any(_is_there(row[key]) for row in rows)]
    headings = [Heading(title, left=key == "run") for key, title in kept]
    cells = [[_cell(row, key) for key, _ in kept] for row in rows]
    sources = ", ".join(map(str, plan.sources))
    title = (
        f"{plan.settings.effectiveness} on {comparison.scores.shape[1]} test queries, baseline "
        f"{sources}, α = {alpha:g}"
    )
    caption = [*_CAPTION]
    if len(plan.seeds) > 1:
        caption.append(f"±: standard deviation over {len(plan.seeds)} seeds.")
    return Display.of_rows(title, headings, cells, caption)


def _is_there(value: Any) -> bool:
    return value is not None and value == value


def _cell(row: Mapping[str, Any], key: str) -> Cell:
    value = row[key]
    if key == "run":
        return Cell(value)
    return Cell(_SHOWN[key].format(value) if _is_there(value) else UNDEFINED)
