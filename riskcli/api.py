"""The risk table as the library offers it: one that can draw itself and become a page.

Figures and the page lie above the analyses, so what needs them lies here, above both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from riskcli.analyses.base import Names, Scores, matrices_of
from riskcli.analyses.check.gate import judge
from riskcli.analyses.check.rules import parse_rule, policy
from riskcli.analyses.checker import Checks
from riskcli.analyses.churn import ChurnTable, churn_table
from riskcli.analyses.explain import explain_run
from riskcli.analyses.population import freeze
from riskcli.analyses.power import PowerTable, power_table
from riskcli.analyses.score import RiskTable as Comparisons
from riskcli.analyses.score import risk_table as compared
from riskcli.analyses.significance import compare_pairs
from riskcli.analyses.sweep_alpha import Sweep, alpha_sweep
from riskcli.analyses.sweep_baseline import Bias, baseline_bias
from riskcli.analyses.sweep_measure import Agreement, ranking_agreement
from riskcli.analyses.sweep_population import population_bias
from riskcli.analyses.topics import TopicTable, topic_table
from riskcli.analyses.validate import Validation, validate
from riskcli.core.choices import FigureSize, check_words
from riskcli.core.messages import InputError, RiskevalError, UsageError, nearest
from riskcli.effectiveness.names import parse_measure
from riskcli.effectiveness.scoring import Scorer
from riskcli.output.formats import emit
from riskcli.page import refuse_other_formats, refuse_what_the_page_lacks
from riskcli.plots import KINDS
from riskcli.plots.lacking import refuse_what_figures_lack
from riskcli.risk.significance import Significance
from riskcli.scores.comparisons import Options, as_names
from riskcli.scores.evaluation import Evaluation, evaluate
from riskcli.scores.frames import (
    qrels_from_frame,
    run_from_frame,
    score_runs,
    scores_from_frame,
    scores_from_ir_measures,
)
from riskcli.scores.frozen import FrozenPopulation, read_population
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.reading import Rules
from riskcli.trec.qrels import Qrels, read_qrels
from riskcli.trec.runs import Run, read_run

if TYPE_CHECKING:
    import altair as alt

__all__ = [
    "Agreement",
    "Bias",
    "Checks",
    "ChurnTable",
    "Evaluation",
    "FrozenPopulation",
    "InputError",
    "Options",
    "PowerTable",
    "Qrels",
    "RiskTable",
    "RiskevalError",
    "Rules",
    "Run",
    "ScoreMatrix",
    "Scorer",
    "Significance",
    "Sweep",
    "TopicTable",
    "UsageError",
    "Validation",
    "alpha_sweep",
    "baseline_bias",
    "churn_table",
    "compare_pairs",
    "evaluate",
    "explain_run",
    "freeze",
    "judge",
    "parse_measure",
    "parse_rule",
    "policy",
    "population_bias",
    "power_table",
    "qrels_from_frame",
    "ranking_agreement",
    "read_population",
    "read_qrels",
    "read_run",
    "risk_table",
    "run_from_frame",
    "score_runs",
    "scores_from_frame",
    "scores_from_ir_measures",
    "topic_table",
    "validate",
]
"""The names of the library: each is an attribute of `riskcli`."""


@dataclass(frozen=True, repr=False)
class RiskTable(Comparisons):
    """A risk table with the scores that it was computed from, for figures and for the page."""

    scores: tuple[ScoreMatrix, ...] = ()

    def plot(
        self,
        kind: str = "alpha",
        *,
        run: Names = (),
        of: str | None = None,
        measure: str | None = None,
        alpha: float | Sequence[float] | None = None,
        width: int | None = None,
        height: int | None = None,
        size: FigureSize | None = None,
        seed: int = 20161,
    ) -> alt.TopLevelMixin:
        """A figure as an Altair chart, which a notebook shows and `.save(...)` writes.

        The kinds and their options are those of `riskeval plot`: `run` names runs to show, `of` is
        what the figure shows, `measure` the effectiveness measure (none: the first).
        """
        if kind not in KINDS:
            raise UsageError(f"no figure {kind!r}{nearest(kind, KINDS)} ({', '.join(KINDS)})")
        if size is not None:
            check_words(size=(size, FigureSize))
        refuse_what_figures_lack(kind, self.options.convention, self.options.loss, of)
        try:  # late: figures are an extra
            from riskcli.plots import request, save
        except ImportError as error:
            raise UsageError(
                f"figures need {error.name}: install riskeval with the extra `plots` (in a "
                "checkout: pip install '.[plots]')"
            ) from error
        options = self.options if alpha is None else _with_alphas(self.options, alpha)
        wanted = request.Request(
            self._matrix(measure), options, as_names(run or ()), of, width, height, seed,
            None if size is None else request.SIZES[size], ranged=alpha is not None,
        )  # fmt: skip
        return save.chart(kind, wanted)

    def report(
        self,
        path: Path | str,
        *,
        also: Names = (),
        both_populations: bool = False,
        title: str = "Risk-sensitive leaderboard",
        collection: str = "",
        date: str = "",
    ) -> None:
        """Write the leaderboard page: one HTML file, as `riskeval report` makes it.

        `also` names further baselines that a reader can switch to.
        """
        refuse_other_formats(Path(path))
        significance = self.options.significance
        refuse_what_the_page_lacks(
            self.options.loss, self.options.convention, significance.test, significance.family
        )
        # Late: the page's scripts are read for those who write one.
        from riskcli.page import document
        from riskcli.page import document as plans

        made = plans.plans(self.options, as_names(also or ()), both_populations)
        tables = [compared(self.scores, options=plan) for plan in made]
        tables[0] = replace(tables[0], provenance=self.provenance)
        page = document.Page(title, self.scores, tables, collection, date)
        emit(document.as_page(page), Path(path))

    def _matrix(self, measure: str | None) -> ScoreMatrix:
        """The scores by that effectiveness measure."""
        if measure is None:
            return self.scores[0]
        return Evaluation(self.scores)[measure]


def _with_alphas(options: Options, alpha: float | Sequence[float]) -> Options:
    alphas = (float(alpha),) if isinstance(alpha, int | float) else tuple(alpha)
    return replace(options, alphas=alphas)


def risk_table(
    scores: Scores,
    baseline: Names = None,
    *,
    alpha: float | Sequence[float] | None = None,
    options: Options | None = None,
) -> RiskTable:
    """URisk, TRisk, ZRisk and GeoRisk of every run of one or several score matrices.

    `scores` is an evaluation, a matrix or several, or a DataFrame: runs (index) by topics
    (columns), or one row per score (run, topic, measure, value). `baseline` is a run's name, a
    glob, several of them, or one of @mean, @median, @max, @min (none: @mean). `alpha` is a number
    or several; `options` holds the rest, and the baseline where it is not given here.
    """
    held = scores if isinstance(scores, Evaluation) else matrices_of(scores)
    found = compared(held, baseline, alpha=alpha, options=options)
    parts = {part.name: getattr(found, part.name) for part in fields(found)}
    return RiskTable(**parts, scores=matrices_of(held))
