"""Does training for risk pay? The risk table of the test runs, and what only training can tell."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from riskcli.analyses.score import ComparisonTable, risk_table
from riskcli.core.arrays import Floats
from riskcli.core.messages import Note
from riskcli.learn.comparators import mean_loss
from riskcli.learn.experiment import BLEND, SELECTIVE, Outcome
from riskcli.learn.features import tie_free
from riskcli.learn.training import PLAIN
from riskcli.output.display import UNDEFINED, Cell, Display, Heading, decimal, p_value
from riskcli.output.result import Result, tidy
from riskcli.output.verdict import Statements
from riskcli.page import leaderboard
from riskcli.risk.comparison import POOLS
from riskcli.risk.estimate import adjust
from riskcli.risk.paired import Paired, two_sided_p
from riskcli.scores.comparisons import Options
from riskcli.scores.evaluation import Evaluation
from riskcli.scores.frames import score_runs
from riskcli.scores.matrix import ScoreMatrix
from riskcli.scores.reading import Rules
from riskcli.trec.arrow import Texts
from riskcli.trec.qrels import Qrels
from riskcli.trec.runs import Run

COLUMNS = (
    "run", "chosen", "mean_sd", "risk_sd",
    "p_mean_plain", "p_mean_plain_adj", "risk_diff_plain", "p_risk_plain", "p_risk_plain_adj",
    "p_mean_blend", "p_mean_blend_adj", "risk_diff_blend", "p_risk_blend", "p_risk_blend_adj",
    "coin_chance", "coin_mean", "coin_risk",
    "equal_blend_mean", "equal_blend_risk", "equal_blend_diff",
    "p_mean_equal_blend", "p_mean_equal_blend_adj",
    "equal_select_mean", "equal_select_risk", "equal_select_diff",
    "p_mean_equal_select", "p_mean_equal_select_adj",
    "equal_coin_mean", "equal_coin_risk", "equal_coin_diff",
)  # fmt: skip
"""The figures of a model, or of a comparator that is a run, that the risk table does not have."""
_ADJUSTED = "_adj"
Row = dict[str, Any]


@dataclass(frozen=True)
class ModelComparison:
    """The test runs of an experiment against its baselines."""

    outcome: Outcome
    evaluations: Sequence[Evaluation]
    """The test runs scored, a seed each."""
    whole: Evaluation
    """The means over seeds."""
    table: ComparisonTable
    """What `riskeval score` says of the whole."""

    @property
    def notes(self) -> Sequence[Note]:
        """Those of the table."""
        return self.table.notes

    @property
    def verdict(self) -> Statements:
        """That of the table."""
        return self.table.verdict

    @cached_property
    def scores(self) -> dict[str, Floats]:
        """By run, its mean over seeds on the counted test queries, fold after fold."""
        return self._scores(self.whole)

    @cached_property
    def first(self) -> dict[str, Floats]:
        """The same of the first seed alone, with which coins and equal risks are compared."""
        return self._scores(self.evaluations[0])

    def _scores(self, evaluation: Evaluation) -> dict[str, Floats]:
        (matrix,) = evaluation.matrices
        column = {topic: number for number, topic in enumerate(matrix.topics)}
        counted = [column[topic] for topic in self.outcome.topics]
        return dict(zip(matrix.runs, matrix.values[:, counted], strict=True))

    @cached_property
    def baseline(self) -> Floats:
        """The baseline's scores, or those of several as one."""
        plan = self.outcome.plan
        each = np.array([self.scores[name] for name in plan.baselines])
        return POOLS[plan.settings.baseline_pool](each)

    def _losses(self, scores: Floats) -> Floats:
        """How far each query falls short of the baseline."""
        return np.maximum(self.baseline - scores, 0)

    @cached_property
    def rows(self) -> list[Row]:
        """A row for each model, and for each of its comparators that is a run."""
        plan, rows = self.outcome.plan, []
        runs = self.outcome.complete(plan.seeds[0])
        names = [one.name + end for one in plan.models for end in ("", BLEND, SELECTIVE)]
        for name in [name for name in names if name in runs]:
            figures = {
                "run": name,
                "chosen": _finite_mean(runs[name].chosen),
                **self._over_seeds(name),
                **self._tests(name),
                **self._coin_flip(name),
                **self._at_equal_risk(name),
            }
            rows.append(dict.fromkeys(COLUMNS) | figures)
        correction = self.table.options.significance.correction
        for column in COLUMNS:
            if f"{column}{_ADJUSTED}" in COLUMNS:
                p = np.array([row[column] for row in rows], dtype=np.float64)
                for row, adjusted in zip(rows, adjust(p, correction)[0].tolist(), strict=True):
                    row[f"{column}{_ADJUSTED}"] = adjusted
        return rows

    def _over_seeds(self, name: str) -> Row:
        """The standard deviation of a model's mean and risk over the seeds."""
        each = [scores[name] for scores in map(self._scores, self.evaluations) if name in scores]
        if len(each) < 2:
            return {}
        risks = [mean_loss(scores, self.baseline) for scores in each]
        return {
            "mean_sd": float(np.std([scores.mean() for scores in each], ddof=1)),
            "risk_sd": float(np.std(risks, ddof=1)),
        }

    def _tests(self, name: str) -> Row:
        """Tests of mean and losses against the plain model, and against the model's blend."""
        others = {"plain": PLAIN.name, "blend": f"{name}{BLEND}"}
        tests: Row = {}
        for word, other in others.items():
            if name != other and other in self.scores:
                one, two = self.scores[name], self.scores[other]
                tests[f"p_mean_{word}"] = _paired_p(one, two)
                lost, other_lost = self._losses(one), self._losses(two)
                tests[f"risk_diff_{word}"] = float((lost - other_lost).mean())
                tests[f"p_risk_{word}"] = _paired_p(lost, other_lost)
        return tests

    def _coin_flip(self, name: str) -> Row:
        """Mean and risk of a coin flip that is as risky as the model on validation queries."""
        chances = self.outcome.coins.get(name, [])
        if len(chances) < len(self.outcome.plan.folds):
            return {}
        mean, risk = self._of_coin(chances)
        return {"coin_chance": float(np.mean(chances)), "coin_mean": mean, "coin_risk": risk}

    def _of_coin(self, chances: Sequence[float]) -> tuple[float, float]:
        """Expected mean and risk of using the plain model with that chance in each fold."""
        chance = np.repeat(chances, [len(fold) for fold in self.outcome.fallback])
        plain, fallback = self.first[PLAIN.name], np.concatenate(self.outcome.fallback)
        mean = chance * plain + (1 - chance) * fallback
        lost = chance * self._losses(plain) + (1 - chance) * self._losses(fallback)
        return float(mean.mean()), float(lost.mean())

    def _at_equal_risk(self, name: str) -> Row:
        """What is as risky as the model on these queries, and how much better the model is."""
        folds = self.outcome.equal.get(name, [])
        if len(folds) < len(self.outcome.plan.folds):
            return {}
        model = self.first[name]
        row: Row = {}
        ways = {
            "blend": [fold.blend for fold in folds],
            "select": [fold.selection for fold in folds if fold.selection is not None],
        }
        for way, parts in ways.items():
            if parts:
                values = np.concatenate(parts)
                row[f"equal_{way}_mean"] = float(values.mean())
                row[f"equal_{way}_risk"] = mean_loss(values, self.baseline)
                row[f"equal_{way}_diff"] = float((model - values).mean())
                row[f"p_mean_equal_{way}"] = _paired_p(model, values)
        mean, risk = self._of_coin([fold.chance for fold in folds])
        difference = float(model.mean()) - mean
        return {
            **row, "equal_coin_mean": mean, "equal_coin_risk": risk, "equal_coin_diff": difference
        }  # fmt: skip

    def result(self) -> Result:
        """The rows of the risk table; JSON has those of the comparators beside them."""
        of_models = self.comparators()
        rows = [dict(zip(of_models.columns, row, strict=True)) for row in of_models.rows]
        of_table = self.table.result()
        extra = {**of_table.extra, **alpha_ranges(self.outcome), "comparators": rows}
        return replace(of_table, extra=extra)

    def comparators(self) -> Result:
        """A row for each model and each comparator that is a run."""
        rows = [tuple(tidy([row[name] for name in COLUMNS])) for row in self.rows]
        return Result(COLUMNS, rows, self.table.provenance)

    def displays(self, width: int, /) -> list[Display]:
        """The risk table, the tests against other rankers, and the comparison at equal risk."""
        return [*self.table.displays(width), *self.further_displays()]

    def screen(self, width: int, /) -> list[Display]:
        """The same."""
        return self.displays(width)

    def further_displays(self) -> list[Display]:
        """How models differ from the plain one and their blends, and what is as risky."""
        sources = ", ".join(map(str, self.outcome.plan.sources))
        caption = [f"baseline: {sources}.", *_ABOUT_TESTS]
        seeds = len(self.outcome.plan.seeds)
        if seeds > 1:
            caption.append(f"±: standard deviation over {seeds} seeds.")
        ranges = [
            (_finite_mean(self.outcome.alpha_range), "training queries (SIGIR'12)"),
            (_finite_mean(self.outcome.alpha_range_valid), "validation queries"),
        ]
        if ends := [f"{end:.1f} on {queries}" for end, queries in ranges if end is not None]:
            caption.append(
                f"Interesting range of α: from 0 to gain over risk of the plain model, "
                f"{', '.join(ends)}; above it, the baseline itself has a higher URisk."
            )
        equal = [
            {**row, "risk": mean_loss(self.first[row["run"]], self.baseline)}
            for row in self.rows
            if row["equal_coin_mean"] is not None
        ]
        tests = _display(_TESTS_TITLE, self.rows, _TESTS, caption)
        return [tests, *([_display(_EQUAL_TITLE, equal, _EQUAL, _ABOUT_EQUAL)] if equal else [])]

    def page(self) -> str:
        """One HTML document: the leaderboard of the test runs, and whether training pays."""
        return leaderboard(
            "Rankers trained for less risk",
            self.whole.matrices,
            [self.table],
            further=self.further_displays(),
            further_title="Does training for risk pay?",
        )


def compare_models(
    outcome: Outcome, alphas: Sequence[float], settings: Mapping[str, Any]
) -> ModelComparison:
    """Score the test runs, and compare them with the baselines at these alphas."""
    plan = outcome.plan
    seeds = [seed for seed in outcome.runs if outcome.complete(seed)]
    evaluations = [_evaluated(outcome, seed) for seed in seeds]
    first = evaluations[0]
    provenance = first.provenance.adding({"training": settings}, _notes(outcome, alphas))
    first = replace(first, provenance=replace(provenance, inputs=tuple(outcome.inputs)))
    options = Options(tuple(plan.baselines), plan.settings.baseline_pool, alphas=tuple(alphas))
    whole = _over_seeds(first, evaluations)
    table = risk_table(whole, options=options).sorted_by()
    return ModelComparison(outcome, evaluations, whole, table)


def _over_seeds(first: Evaluation, evaluations: Sequence[Evaluation]) -> Evaluation:
    """Of each run the mean over seeds, where there are several, with what is known of the first."""
    if len(evaluations) == 1:
        return first
    of = [each.matrices[0] for each in evaluations]
    systems = {f"{run} of seed {n}": run for n, each in enumerate(of, start=1) for run in each.runs}
    values = np.concatenate([each.values for each in of])
    stacked = ScoreMatrix(of[0].measure, tuple(systems), of[0].topics, values)
    return replace(first, matrices=(stacked,)).of_systems(systems)


def _evaluated(outcome: Outcome, seed: int) -> Evaluation:
    """The test runs of a seed that cover every fold, as `riskeval score` scores their files."""
    tests, settings = outcome.tests, outcome.plan.settings
    topics = tuple(topic for test in tests for topic in test.topics)
    sizes = np.concatenate([test.sizes for test in tests])
    codes = np.repeat(np.arange(len(topics), dtype=np.int32), sizes)
    docnos = Texts.of_strings([docno for test in tests for docno in test.docnos])
    grades = np.concatenate([test.grades for test in tests]).tolist()
    judgements: dict[str, dict[str, int]] = {topic: {} for topic in topics}
    for code, docno, grade in zip(codes.tolist(), docnos.as_strings(), grades, strict=True):
        judgements[topics[code]][docno] = grade
    runs = {}
    for name, run in outcome.complete(seed).items():
        places = [tie_free(test, scores) for test, scores in zip(tests, run.scores, strict=True)]
        runs[name] = Run(Path(name), (name,), topics, codes, docnos, np.concatenate(places))
    rules = Rules(max_grade=settings.max_grade)
    return score_runs(runs, Qrels(judgements), settings.effectiveness, rules=rules)


def _notes(outcome: Outcome, alphas: Sequence[float]) -> list[Note]:
    """The notes of the experiment, and one if an alpha is beyond the interesting range."""
    top = _finite_mean(outcome.alpha_range_valid)
    beyond = [f"{alpha:g}" for alpha in alphas if top is not None and alpha > top]
    if not beyond:
        return outcome.notes
    message = (
        f"alpha {', '.join(beyond)} lies beyond the interesting range on validation queries, "
        f"0 to {top:.1f}: there the baseline itself has a higher URisk than the plain model"
    )
    return [*outcome.notes, Note("alpha-range", message)]


def alpha_ranges(outcome: Outcome) -> dict[str, Any]:
    """By fold, the alpha up to which the plain model has the higher URisk than the baseline."""
    return {
        "alpha_range": tidy(outcome.alpha_range),
        "alpha_range_valid": tidy(outcome.alpha_range_valid),
    }


def _finite_mean(values: Sequence[float]) -> float | None:
    """The mean over folds, of those that have a number."""
    finite = [value for value in values if np.isfinite(value)]
    return float(np.mean(finite)) if finite else None


def _paired_p(one: Floats, two: Floats) -> float:
    """The two-sided p of Student's paired t: that of TRisk at alpha 0."""
    t = Paired(one[None], two).linear.trisk(1.0)
    return float(two_sided_p(t, len(one) - 1)[0])


def _four(value: float | None) -> str:
    return decimal(value, 4)


def _three(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.3g}"


_Columns = Mapping[str, tuple[str, Callable[[Any], str]]]
"""By column, its heading and how its values are written."""
_TESTS: _Columns = {
    "run": ("run", str), "chosen": ("chosen", _three), "mean_sd": ("± mean", _four),
    "risk_sd": ("± risk", _four), "p_mean_plain_adj": ("p mean\nplain", p_value),
    "risk_diff_plain": ("risk vs\nplain", _four), "p_risk_plain_adj": ("p risk\nplain", p_value),
    "p_mean_blend_adj": ("p mean\nblend", p_value), "risk_diff_blend": ("risk vs\nblend", _four),
    "p_risk_blend_adj": ("p risk\nblend", p_value),
}  # fmt: skip
_EQUAL: _Columns = {
    "run": ("run", str), "risk": ("risk", _four), "equal_blend_risk": ("blend\nrisk", _four),
    "equal_blend_diff": ("blend\ndiff", _four), "p_mean_equal_blend_adj": ("p", p_value),
    "equal_select_risk": ("select\nrisk", _four), "equal_select_diff": ("select\ndiff", _four),
    "p_mean_equal_select_adj": ("p", p_value), "equal_coin_diff": ("coin\ndiff", _four),
}  # fmt: skip
_TESTS_TITLE = "Against the plain model, and the blend that is as risky without training for it"
_EQUAL_TITLE = "At nearly equal risk on the test queries"
_ABOUT_TESTS = (
    ".blend, .select: the plain model blended with the baseline, or used for some queries only, as "
    "risky as the model on validation queries.",
    "chosen: trees of a model, weight of a blend, threshold of a selection; means over folds.",
    "risk vs: the model's mean loss to the baseline less that of the plain model, or of its own "
    "blend. p: paired t tests of means or losses, corrected for the number of tests in a column.",
)
_ABOUT_EQUAL = (
    "diff: the model's mean less that of the blend, the selection or the coin flip (the plain "
    "model with a chance only, the mean over all flips) whose risk on the test queries themselves "
    "comes nearest to the model's. Where the risk beside it is another, a higher mean may be "
    "bought with more risk. They look at test queries, so nothing may be chosen by them.",
    "p: paired t test of the difference before it, corrected for the number of tests in a column.",
)


def _display(title: str, rows: list[Row], columns: _Columns, caption: Sequence[str]) -> Display:
    """The rows; columns that are empty everywhere are left out."""
    shown = {
        name: column for name, column in columns.items()
        if any(row[name] is not None and row[name] == row[name] for row in rows)
    }  # fmt: skip
    headings = [
        Heading(text, left=write is str, names=write is str) for text, write in shown.values()
    ]
    cells = [[Cell(write(row[name])) for name, (_, write) in shown.items()] for row in rows]
    return Display.of_rows(title, headings, cells, caption)
