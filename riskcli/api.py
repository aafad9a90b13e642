"""The names of the library, and its risk table, which can draw itself and become a page.

Figures and the page are annexes: each is imported when it is asked for, through its own door.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from riskcli.analyses.base import Names, Scores, matrices_of
from riskcli.analyses.check.gate import judge
from riskcli.analyses.check.rules import parse_rule, policy
from riskcli.analyses.checker import Checks
from riskcli.analyses.churn import ChurnTable, churn_table
from riskcli.analyses.diff import RunDiff, diff
from riskcli.analyses.diff_documents import DocumentDiff
from riskcli.analyses.explain import explain_run
from riskcli.analyses.population import freeze
from riskcli.analyses.power import PowerTable, power_table
from riskcli.analyses.score import ComparisonTable
from riskcli.analyses.score import risk_table as compared
from riskcli.analyses.significance import compare_pairs
from riskcli.analyses.sweep_alpha import Sweep, alpha_sweep
from riskcli.analyses.sweep_baseline import Bias, baseline_bias
from riskcli.analyses.sweep_measure import Agreement, ranking_agreement
from riskcli.analyses.sweep_population import population_bias
from riskcli.analyses.to_judge import PoolToJudge, to_judge
from riskcli.analyses.topics import TopicTable, topic_table
from riskcli.analyses.validate import Validation, validate
from riskcli.core.messages import InputError, RiskevalError, UsageError
from riskcli.effectiveness.measures import parse_measure
from riskcli.effectiveness.scoring import Scorer
from riskcli.risk.estimate import Significance
from riskcli.risk.population import g_squared, g_squared_of_two
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
from riskcli.scores.human import evaluate_corrected
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.reading import Rules
from riskcli.trec.qrels import Qrels, read_qrels
from riskcli.trec.queries import read_queries
from riskcli.trec.runs import Run, read_run

if TYPE_CHECKING:
    import altair as alt

    from riskcli.plots import FigureWidth

__all__ = [
    "Agreement", "Bias", "Checks", "ChurnTable", "DocumentDiff", "Evaluation", "FrozenPopulation",
    "InputError", "Options", "PoolToJudge", "PowerTable", "Qrels", "RiskTable", "RiskevalError",
    "Rules", "Run", "RunDiff", "ScoreMatrix", "Scorer", "Significance", "Sweep", "TopicTable",
    "UsageError", "Validation", "alpha_sweep", "baseline_bias", "churn_table", "compare_pairs",
    "diff", "evaluate", "evaluate_corrected", "explain_run", "freeze", "g_squared",
    "g_squared_of_two", "judge", "parse_measure", "parse_rule", "policy", "population_bias",
    "power_table", "qrels_from_frame",
    "ranking_agreement", "read_population", "read_qrels", "read_queries", "read_run", "risk_table",
    "run_from_frame", "score_runs", "scores_from_frame", "scores_from_ir_measures", "to_judge",
    "topic_table", "validate",
]  # fmt: skip
"""The names of the library: each is an attribute of `riskcli`."""


@dataclass(frozen=True, repr=False)
class RiskTable(ComparisonTable):
    """A risk table with the scores that it was computed from, for figures and for the page."""

    scores: tuple[ScoreMatrix, ...] = ()

    def plot(
        self,
        kind: str = "alpha",
        *,
        figure: str | None = None,
        run: Names = (),
        of: str | None = None,
        measure: str | None = None,
        alpha: float | Sequence[float] | None = None,
        width: "int | FigureWidth | None" = None,
        height: int | None = None,
        seed: int = 20161,
    ) -> "alt.TopLevelMixin":
        """A figure as an Altair chart, which a notebook shows and `.save(...)` writes.

        The kinds and their options are those of `riskeval plot`: `run` names runs to show, `of` is
        what the figure shows, `measure` the effectiveness measure (none: the first), `figure` the
        figure of a paper (`plot("paper", figure="ecir20-2")`), `width` the pixels of a panel or
        the place that the whole figure is for.
        """
        from riskcli.plots import chart  # late: an annex, and an extra

        matrix = self.scores[0] if measure is None else Evaluation(self.scores)[measure]
        options = self.options
        if alpha is not None:
            alphas = (float(alpha),) if isinstance(alpha, int | float) else tuple(alpha)
            options = replace(options, alphas=alphas)
        return chart(
            matrix, options, kind, figure=figure, runs=as_names(run or ()), of=of,
            width=width, height=height, seed=seed, ranged=alpha is not None,
        )  # fmt: skip

    def report(
        self,
        path: Path | str,
        *,
        also: Names = (),
        both_populations: bool = False,
        title: str = "Risk-sensitive leaderboard",
        collection: str = "",
        date: str = "",
        queries: Mapping[str, str] | None = None,
    ) -> None:
        """Write the leaderboard page: one HTML file, as `riskeval report` makes it.

        `also` names further baselines that a reader can switch to, `queries` what topics ask.
        """
        from riskcli.page import write_page  # late: an annex

        labels = (title, collection, date)
        others = as_names(also or ())
        write_page(Path(path), self, self.scores, others, both_populations, labels, queries)


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
