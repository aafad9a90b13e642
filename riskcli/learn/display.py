"""The comparison for people: tables of figures at each alpha and of tests, and the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from riskcli.analyses.score import risk_table
from riskcli.core.provenance import Provenance
from riskcli.core.text import naturally
from riskcli.learn.comparison import ModelComparison
from riskcli.output.display import UNDEFINED, Cell, Display, Heading, decimal
from riskcli.page.document import Page, as_page
from riskcli.scores.comparisons import Options
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.matrix import ScoreMatrix

_FIGURES = {
    "run": ("run", None), "mean": ("mean", 4), "wins": ("W", 0), "losses": ("L", 0),
    "loss_win_ratio": ("L/W", 2), "losses20": ("L\n>20%", 0), "risk": ("risk", 4),
    "urisk": ("URisk", 4), "trisk": ("TRisk", 2), "georisk": ("Geo-\nRisk", 4),
}  # fmt: skip
"""By column of the result, its heading and how many decimals its numbers have."""
_TESTS = {
    "run": ("run", None), "chosen": ("chosen", "{:.3g}"), "mean_sd": ("± mean", 4),
    "risk_sd": ("± risk", 4), "p_mean_plain": ("p mean\nplain", "{:.2g}"),
    "p_risk_plain": ("p risk\nplain", "{:.2g}"), "p_mean_blend": ("p mean\nblend", "{:.2g}"),
    "p_risk_blend": ("p risk\nblend", "{:.2g}"),
}  # fmt: skip
_EQUAL = {
    "run": ("run", None), "mean": ("mean", 4), "risk": ("risk", 4),
    "equal_blend_mean": ("blend\nmean", 4), "equal_blend_risk": ("blend\nrisk", 4),
    "p_mean_equal_blend": ("p", "{:.2g}"), "equal_select_mean": ("select\nmean", 4),
    "equal_select_risk": ("select\nrisk", 4), "p_mean_equal_select": ("p", "{:.2g}"),
    "equal_coin_mean": ("coin\nmean", 4),
}  # fmt: skip
_TITLE = "Rankers trained for less risk"
_QUESTION = "Does training for risk pay?"
_ABOUT_FIGURES = (
    "L/W: losses over wins.",
    ".blend, .select, .coin: the plain model blended with the baseline, used for some queries "
    "only, or with a chance only (the mean over all flips), as risky as the model on validation "
    "queries.",
)
_ABOUT_TESTS = (
    "chosen: trees of a model, weight of a blend, threshold of a selection, chance of a coin; "
    "means over folds.",
    "p: paired t of the means, or of the losses, against the plain model or the model's blend; "
    "uncorrected.",
)
_ABOUT_EQUAL = (
    "Blend, selection and coin as risky as the model on the test queries themselves, so that the "
    "means alone compare. Nothing can be chosen by them, since they look at test queries.",
    "p: paired t of the model's mean against the mean before it; uncorrected.",
)


def displays(comparison: ModelComparison) -> list[Display]:
    """The figures at each alpha; how models differ from the plain one and their blends; and what
    is as risky on the test queries.
    """
    plan = comparison.outcome.plan
    rows = [row for row in comparison.rows(0.0) if row["run"] not in plan.baselines]
    caption = [*_ABOUT_TESTS]
    if len(plan.seeds) > 1:
        caption.append(f"±: standard deviation over {len(plan.seeds)} seeds.")
    ends = [
        f"{end:.1f} on {queries}"
        for end, queries in (
            (comparison.highest_alpha, "training queries (SIGIR'12)"),
            (comparison.highest_alpha_valid, "validation queries"),
        )
        if end is not None
    ]
    if ends:
        caption.append(
            f"Interesting range of α: from 0 to gain over risk of the plain model, "
            f"{', '.join(ends)}; above it, the baseline itself has a higher URisk."
        )
    title = "Against the plain model, and the blend that is as risky without training for it"
    models = [row for row in rows if row["equal_blend_mean"] is not None]
    equal = _table("At equal risk on the test queries", models, _EQUAL, _ABOUT_EQUAL)
    return [
        *(_figures(comparison, alpha) for alpha in comparison.alphas),
        _table(title, rows, _TESTS, caption),
        *([equal] if models else []),
    ]


def page_of(comparison: ModelComparison) -> str:
    """One HTML document: the leaderboard of the test runs, and whether training pays."""
    outcome = comparison.outcome
    column = {topic: number for number, topic in enumerate(outcome.topics)}
    topics = naturally(outcome.topics)
    values = comparison.scores[:, [column[topic] for topic in topics]]
    measure = outcome.plan.settings.effectiveness
    matrix = ScoreMatrix(measure, tuple(comparison.runs), tuple(topics), values)
    provenance = Provenance(comparison.settings, tuple(outcome.inputs), comparison.notes)
    options = Options(baselines=tuple(outcome.plan.baselines), alphas=tuple(comparison.alphas))
    table = risk_table(Evaluation((matrix,), provenance=provenance), options=options)
    return as_page(
        Page(_TITLE, [matrix], [table], further=displays(comparison), further_title=_QUESTION)
    )


def _figures(comparison: ModelComparison, alpha: float) -> Display:
    plan = comparison.outcome.plan
    sources = ", ".join(map(str, plan.sources))
    title = (
        f"{plan.settings.effectiveness} on {comparison.scores.shape[1]} test queries, baseline "
        f"{sources}, α = {alpha:g}"
    )
    several = len(plan.sources) > 1
    pool = plan.settings.baseline_pool
    baseline = f"{pool} of the baselines on each query" if several else "baseline"
    population = "the baselines and the run itself" if several else "all runs of the table"
    caption = [
        f"risk: mean loss to the {baseline}.",
        f"GeoRisk: in the population of {population}.",
        *_ABOUT_FIGURES,
    ]
    return _table(title, comparison.rows(alpha), _FIGURES, caption)


def _table(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, tuple[str, int | str | None]],
    caption: Sequence[str],
) -> Display:
    """The rows; columns that are empty everywhere are left out."""
    kept = [key for key in columns if any(_is_there(row[key]) for row in rows)]
    headings = [Heading(columns[key][0], left=key == "run", names=key == "run") for key in kept]
    cells = [[_cell(row[key], columns[key][1]) for key in kept] for row in rows]
    return Display.of_rows(title, headings, cells, caption)


def _is_there(value: Any) -> bool:
    return value is not None and value == value


def _cell(value: Any, form: int | str | None) -> Cell:
    if isinstance(value, str):
        return Cell(value)
    if isinstance(form, str):
        return Cell(form.format(value) if _is_there(value) else UNDEFINED)
    return Cell(decimal(value, form or 0))
