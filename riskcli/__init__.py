"""Risk-sensitive evaluation of search systems: URisk, TRisk, ZRisk and GeoRisk.

    import riskcli

    evaluation = riskcli.evaluate(["sample_runs/"], qrels="qrels/simulated.qrels")
    table = riskcli.risk_table(evaluation.matrices, baseline="indriCASP")
    table.to_frame()

Importing this package is quick; what a name needs is imported when it is used.
"""

from __future__ import annotations

from importlib import import_module

from riskcli.core.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from riskcli.analyses.agree.analysis import Agreement, ranking_agreement
    from riskcli.analyses.bias.analysis import Bias, baseline_bias
    from riskcli.analyses.check.gate import judge
    from riskcli.analyses.check.grammar import parse_rule
    from riskcli.analyses.check.policy import policy
    from riskcli.analyses.explain.analysis import explain_run
    from riskcli.analyses.score.analysis import RiskTable, risk_table
    from riskcli.analyses.significance.analysis import compare_pairs
    from riskcli.analyses.sweep.analysis import Sweep, alpha_sweep
    from riskcli.analyses.topics.analysis import TopicTable, topic_table
    from riskcli.analyses.validate.analysis import Checks, Validation, validate
    from riskcli.core.errors import InputError, RiskevalError, UsageError
    from riskcli.effectiveness.names import parse_measure
    from riskcli.effectiveness.scoring import Scorer
    from riskcli.risk.options import Options, Significance
    from riskcli.scores.evaluation import Evaluation, evaluate
    from riskcli.scores.frames import (
        qrels_from_frame,
        run_from_frame,
        score_runs,
        scores_from_frame,
        scores_from_ir_measures,
    )
    from riskcli.scores.matrix import ScoreMatrix
    from riskcli.scores.reading import Rules
    from riskcli.trec.qrels import Qrels, read_qrels
    from riskcli.trec.runs import Run, read_run

_HOMES = {
    "Agreement": "riskcli.analyses.agree.analysis",
    "ranking_agreement": "riskcli.analyses.agree.analysis",
    "Bias": "riskcli.analyses.bias.analysis",
    "baseline_bias": "riskcli.analyses.bias.analysis",
    "parse_measure": "riskcli.effectiveness.names",
    "Scorer": "riskcli.effectiveness.scoring",
    "InputError": "riskcli.core.errors",
    "RiskevalError": "riskcli.core.errors",
    "UsageError": "riskcli.core.errors",
    "Evaluation": "riskcli.scores.evaluation",
    "Rules": "riskcli.scores.reading",
    "evaluate": "riskcli.scores.evaluation",
    "ScoreMatrix": "riskcli.scores.matrix",
    "RiskTable": "riskcli.analyses.score.analysis",
    "risk_table": "riskcli.analyses.score.analysis",
    "Significance": "riskcli.risk.inference",
    "Options": "riskcli.risk.options",
    "Sweep": "riskcli.analyses.sweep.analysis",
    "alpha_sweep": "riskcli.analyses.sweep.analysis",
    "TopicTable": "riskcli.analyses.topics.analysis",
    "topic_table": "riskcli.analyses.topics.analysis",
    "Qrels": "riskcli.trec.qrels",
    "read_qrels": "riskcli.trec.qrels",
    "Run": "riskcli.trec.runs",
    "read_run": "riskcli.trec.runs",
    "run_from_frame": "riskcli.scores.frames",
    "qrels_from_frame": "riskcli.scores.frames",
    "score_runs": "riskcli.scores.frames",
    "scores_from_frame": "riskcli.scores.frames",
    "scores_from_ir_measures": "riskcli.scores.frames",
    "compare_pairs": "riskcli.analyses.significance.analysis",
    "explain_run": "riskcli.analyses.explain.analysis",
    "Checks": "riskcli.analyses.validate.analysis",
    "Validation": "riskcli.analyses.validate.analysis",
    "validate": "riskcli.analyses.validate.analysis",
    "judge": "riskcli.analyses.check.gate",
    "parse_rule": "riskcli.analyses.check.grammar",
    "policy": "riskcli.analyses.check.policy",
}

__all__ = [
    "Agreement",
    "Bias",
    "Checks",
    "Evaluation",
    "InputError",
    "Options",
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
    "__version__",
    "alpha_sweep",
    "baseline_bias",
    "compare_pairs",
    "evaluate",
    "explain_run",
    "judge",
    "parse_measure",
    "parse_rule",
    "policy",
    "qrels_from_frame",
    "ranking_agreement",
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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'riskcli' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
