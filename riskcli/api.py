"""Everything that the library offers by its name in `riskcli`: the one list."""

from __future__ import annotations

from riskcli.analyses.agree.analysis import Agreement as Agreement
from riskcli.analyses.agree.analysis import ranking_agreement as ranking_agreement
from riskcli.analyses.bias.analysis import Bias as Bias
from riskcli.analyses.bias.analysis import baseline_bias as baseline_bias
from riskcli.analyses.bias.population import population_bias as population_bias
from riskcli.analyses.check.gate import judge as judge
from riskcli.analyses.check.grammar import parse_rule as parse_rule
from riskcli.analyses.check.policy import policy as policy
from riskcli.analyses.explain.analysis import explain_run as explain_run
from riskcli.analyses.population.analysis import freeze as freeze
from riskcli.analyses.power.analysis import PowerTable as PowerTable
from riskcli.analyses.power.analysis import power_table as power_table
from riskcli.analyses.score.analysis import RiskTable as RiskTable
from riskcli.analyses.score.analysis import risk_table as risk_table
from riskcli.analyses.significance.analysis import compare_pairs as compare_pairs
from riskcli.analyses.sweep.analysis import Sweep as Sweep
from riskcli.analyses.sweep.analysis import alpha_sweep as alpha_sweep
from riskcli.analyses.topics.analysis import TopicTable as TopicTable
from riskcli.analyses.topics.analysis import topic_table as topic_table
from riskcli.analyses.validate.analysis import Checks as Checks
from riskcli.analyses.validate.analysis import Validation as Validation
from riskcli.analyses.validate.analysis import validate as validate
from riskcli.core.errors import InputError as InputError
from riskcli.core.errors import RiskevalError as RiskevalError
from riskcli.core.errors import UsageError as UsageError
from riskcli.effectiveness.names import parse_measure as parse_measure
from riskcli.effectiveness.scoring import Scorer as Scorer
from riskcli.risk.options import Options as Options
from riskcli.risk.options import Significance as Significance
from riskcli.scores.evaluation import Evaluation as Evaluation
from riskcli.scores.evaluation import evaluate as evaluate
from riskcli.scores.frames import qrels_from_frame as qrels_from_frame
from riskcli.scores.frames import run_from_frame as run_from_frame
from riskcli.scores.frames import score_runs as score_runs
from riskcli.scores.frames import scores_from_frame as scores_from_frame
from riskcli.scores.frames import scores_from_ir_measures as scores_from_ir_measures
from riskcli.scores.frozen import FrozenPopulation as FrozenPopulation
from riskcli.scores.frozen import read_population as read_population
from riskcli.scores.matrix import ScoreMatrix as ScoreMatrix
from riskcli.scores.reading import Rules as Rules
from riskcli.trec.pieces import read_run as read_run
from riskcli.trec.qrels import Qrels as Qrels
from riskcli.trec.qrels import read_qrels as read_qrels
from riskcli.trec.runs import Run as Run
