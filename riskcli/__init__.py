"""Risk-sensitive evaluation of search systems: URisk, TRisk, ZRisk and GeoRisk.

    import riskcli

    evaluation = riskcli.evaluate(["sample_runs/"], qrels="qrels/simulated.qrels")
    table = riskcli.risk_table(evaluation.matrices, baseline="indriCASP")
    table.to_frame()

Importing this package is quick; what a name needs is imported when it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from riskcli.version import __version__

if TYPE_CHECKING:
    from riskcli.agreement import Agreement, ranking_agreement
    from riskcli.bias import Bias, baseline_bias
    from riskcli.check.gate import judge
    from riskcli.check.grammar import parse_rule
    from riskcli.check.policy import policy
    from riskcli.effectiveness.measures import parse_measure
    from riskcli.effectiveness.scoring import Scorer
    from riskcli.errors import InputError, RiskevalError, UsageError
    from riskcli.evaluation import Evaluation, evaluate
    from riskcli.explain import explain_run
    from riskcli.frames import (
        qrels_from_frame,
        run_from_frame,
        score_runs,
        scores_from_frame,
        scores_from_ir_measures,
    )
    from riskcli.matrix import ScoreMatrix
    from riskcli.reading import Rules
    from riskcli.results import RiskTable, risk_table
    from riskcli.risk.inference import Significance
    from riskcli.risk.table import Options
    from riskcli.significance import compare_pairs
    from riskcli.sweep import Sweep, alpha_sweep
    from riskcli.topics import TopicTable, topic_table
    from riskcli.trec.qrels import Qrels, read_qrels
    from riskcli.trec.runs import Run, read_run
    from riskcli.validation import Checks, Validation, validate

_HOMES = {
    "Agreement": "riskcli.agreement",
    "ranking_agreement": "riskcli.agreement",
    "Bias": "riskcli.bias",
    "baseline_bias": "riskcli.bias",
    "parse_measure": "riskcli.effectiveness.measures",
    "Scorer": "riskcli.effectiveness.scoring",
    "InputError": "riskcli.errors",
    "RiskevalError": "riskcli.errors",
    "UsageError": "riskcli.errors",
    "Evaluation": "riskcli.evaluation",
    "Rules": "riskcli.reading",
    "evaluate": "riskcli.evaluation",
    "ScoreMatrix": "riskcli.matrix",
    "RiskTable": "riskcli.results",
    "risk_table": "riskcli.results",
    "Significance": "riskcli.risk.inference",
    "Options": "riskcli.risk.table",
    "Sweep": "riskcli.sweep",
    "alpha_sweep": "riskcli.sweep",
    "TopicTable": "riskcli.topics",
    "topic_table": "riskcli.topics",
    "Qrels": "riskcli.trec.qrels",
    "read_qrels": "riskcli.trec.qrels",
    "Run": "riskcli.trec.runs",
    "read_run": "riskcli.trec.runs",
    "run_from_frame": "riskcli.frames",
    "qrels_from_frame": "riskcli.frames",
    "score_runs": "riskcli.frames",
    "scores_from_frame": "riskcli.frames",
    "scores_from_ir_measures": "riskcli.frames",
    "compare_pairs": "riskcli.significance",
    "explain_run": "riskcli.explain",
    "Checks": "riskcli.validation",
    "Validation": "riskcli.validation",
    "validate": "riskcli.validation",
    "judge": "riskcli.check.gate",
    "parse_rule": "riskcli.check.grammar",
    "policy": "riskcli.check.policy",
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
