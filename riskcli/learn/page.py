"""The page of an experiment: the leaderboard of its test runs, and whether training pays."""

from __future__ import annotations

from riskcli.analyses.score.analysis import risk_table
from riskcli.core.basis import Basis
from riskcli.core.order import naturally
from riskcli.learn.comparison import Comparison
from riskcli.learn.display import displays
from riskcli.page.document import Page, as_page
from riskcli.risk.options import Options
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.matrix import ScoreMatrix

TITLE = "Rankers trained for less risk"
QUESTION = "Does training for risk pay?"


def page_of(comparison: Comparison) -> str:
    """The page as one HTML document."""
    outcome = comparison.outcome
    column = {topic: number for number, topic in enumerate(outcome.topics)}
    topics = naturally(outcome.topics)
    values = comparison.scores[:, [column[topic] for topic in topics]]
    measure = outcome.plan.settings.effectiveness
    matrix = ScoreMatrix(measure, tuple(comparison.runs), tuple(topics), values)
    basis = Basis(comparison.settings, tuple(outcome.inputs), comparison.notes)
    options = Options(baselines=tuple(outcome.plan.baselines), alphas=tuple(comparison.alphas))
    table = risk_table(Evaluation((matrix,), basis=basis), options=options)
    return as_page(
        Page(TITLE, [matrix], [table], further=displays(comparison), further_title=QUESTION)
    )
