"""Does training for risk pay? Baseline, plain model, risk models and comparators in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.messages import Note
from riskcli.core.provenance import Provenance
from riskcli.learn.comparators import mean_loss, pooled
from riskcli.learn.experiment import BLEND, COIN, SELECTIVE, Outcome, RunScores
from riskcli.learn.lambdas import Ints
from riskcli.learn.training import PLAIN
from riskcli.output.result import Result, tidy
from riskcli.risk.baselines import POOLS
from riskcli.risk.paired import Paired, two_sided_p
from riskcli.risk.population import Population

COLUMNS = (
    "run", "alpha", "topics", "chosen", "mean", "mean_sd", "wins", "losses", "losses20",
    "loss_win_ratio", "reward", "risk", "risk_sd", "urisk", "trisk", "zrisk", "georisk",
    "p_mean_plain", "p_risk_plain", "blend_mean", "blend_risk", "p_mean_blend", "p_risk_blend",
    "coin_mean", "coin_risk", "equal_blend_mean", "equal_blend_risk", "p_mean_equal_blend",
    "equal_select_mean", "equal_select_risk", "p_mean_equal_select", "equal_coin_mean",
    "equal_coin_risk",
)  # fmt: skip
_COUNTS = ("topics", "wins", "losses", "losses20")
Row = dict[str, Any]


@dataclass(frozen=True)
class ModelComparison:
    """The test runs of the first seed, and how much other seeds would have changed."""

    outcome: Outcome
    alphas: Sequence[float]
    settings: Mapping[str, Any]

    @cached_property
    def _names(self) -> list[str]:
        """All that may have a row: baselines, plain model, each risk model with its comparators."""
        models = [
            model.name + suffix
            for model in self.outcome.plan.models
            for suffix in ("", BLEND, SELECTIVE, COIN)
        ]
        return [*self.outcome.plan.baselines, *models]

    @cached_property
    def runs(self) -> list[str]:
        """The complete runs."""
        return [name for name in self._names if name in self._ranked]

    @cached_property
    def _ranked(self) -> dict[str, RunScores]:
        return self.outcome.complete(self.outcome.plan.seeds[0])

    @cached_property
    def coins(self) -> dict[str, list[float]]:
        """The chances of the coin flips that cover every fold, by model."""
        folds, coins = len(self.outcome.plan.folds), self.outcome.coins
        return {name: chances for name, chances in coins.items() if len(chances) == folds}

    @cached_property
    def scores(self) -> Floats:
        """Runs by counted test queries."""
        return np.array([self._ranked[name].effectiveness for name in self.runs])

    @cached_property
    def _members(self) -> list[int]:
        return [self.runs.index(name) for name in self.outcome.plan.baselines]

    @cached_property
    def baseline(self) -> Floats:
        """The baseline's scores, or those of several as one."""
        pool = self.outcome.plan.settings.baseline_pool
        return POOLS[pool](self.scores[self._members])

    @cached_property
    def paired(self) -> Paired:
        """All runs against the baseline."""
        return Paired(self.scores, self.baseline)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """The outcome's, and what its figures call for."""
        top = self.highest_alpha_valid
        beyond = [f"{alpha:g}" for alpha in self.alphas if top is not None and alpha > top]
        if not beyond:
            return tuple(self.outcome.notes)
        message = (
            f"alpha {', '.join(beyond)} lies beyond the interesting range on validation queries, "
            f"0 to {top:.1f}: there the baseline itself has a higher URisk than the plain model"
        )
        return (*self.outcome.notes, Note("alpha-range", message))

    @property
    def highest_alpha(self) -> float | None:
        """Where the interesting range of alpha ends on training queries (SIGIR'12, 5.7)."""
        return _finite_mean(self.outcome.alpha_range)

    @property
    def highest_alpha_valid(self) -> float | None:
        """Where it ends on validation queries, which the plain model has not learned."""
        return _finite_mean(self.outcome.alpha_range_valid)

    def result(self) -> Result:
        """A row a run and alpha; a coin flip has no run, but a row."""
        rows = [
            tuple(tidy([row[name]], whole=name in _COUNTS)[0] for name in COLUMNS)
            for alpha in self.alphas
            for row in self.rows(alpha)
        ]
        extra = {
            "alpha_range": tidy(self.outcome.alpha_range),
            "alpha_range_valid": tidy(self.outcome.alpha_range_valid),
        }
        provenance = Provenance(self.settings, tuple(self.outcome.inputs), self.notes)
        return Result(COLUMNS, rows, provenance, extra)

    def rows(self, alpha: float) -> list[Row]:
        """The figures of every run at that alpha, and of the coin flip after those of its model."""
        rows = {
            name: self._row(
                name,
                alpha,
                {**figures, **self._seeds(name), **self.tests(name), **self.at_equal_risk(name)},
            )
            for name, figures in zip(self.runs, self._of_matrix(alpha), strict=True)
        }
        for model in self.coins:
            rows[model + COIN] = self._row(
                model + COIN, alpha, self._of_coin(self.coins[model], alpha)
            )
        return [rows[name] for name in self._names if name in rows]

    def _row(self, name: str, alpha: float, figures: Mapping[str, Any]) -> Row:
        """A row with what every run has; `figures` may lack what this one has not."""
        about = {"run": name, "alpha": alpha, "topics": self.scores.shape[1]}
        return {**dict.fromkeys(COLUMNS), **about, "chosen": self._chosen(name), **figures}

    def _of_matrix(self, alpha: float) -> list[Row]:
        """The figures of each run: against the baseline, and in the population."""
        population = self._population()
        against = _figures(self.paired, alpha) | {"trisk": self.paired.linear.trisk(1 + alpha)}
        ratio = _ratio(against["losses"], against["wins"])
        inside = {"mean": self.scores.mean(axis=1), "zrisk": population.zrisk(alpha),
                  "georisk": population.georisk(alpha)}  # fmt: skip
        columns = {**against, "loss_win_ratio": ratio}
        if len(self._members) == 1:
            columns = {name: values.astype(float) for name, values in columns.items()}
            for values in columns.values():
                values[self._members] = np.nan
        return [
            {name: float(values[row]) for name, values in {**columns, **inside}.items()}
            for row in range(len(self.runs))
        ]

    def _of_coin(self, chances: Sequence[float], alpha: float) -> Row:
        """What a coin flip comes to on average: each figure that is linear in its chance."""
        plain, parts = self._ranked[PLAIN.name], []
        ends = np.cumsum([len(values) for values in plain.values])
        for chance, values, fallback, end in zip(
            chances, plain.values, self.outcome.fallback, ends.tolist(), strict=True
        ):
            both = np.array([values, fallback])
            paired = Paired(both, self.baseline[end - len(values) : end])
            figures = {"mean": both.mean(axis=1), **_figures(paired, alpha)}
            odds = np.array([chance, 1 - chance])
            parts.append({name: float(odds @ each) for name, each in figures.items()})
        sizes = np.diff(ends, prepend=0)
        row: Row = {
            name: float(np.dot([part[name] for part in parts], _weights(name, sizes)))
            for name in parts[0]
        }
        ratio = _ratio(np.array(row["losses"]), np.array(row["wins"]))
        return {**row, "loss_win_ratio": float(ratio)}

    def _population(self) -> Population:
        if len(self._members) > 1:
            return Population.of_baselines(self.scores, self._members)
        return Population.of_all(self.scores)

    def _chosen(self, name: str) -> float | None:
        """Trees, weight, threshold or chance, the mean over folds."""
        if name in self.outcome.plan.baselines:
            return None
        coin = self.coins.get(name.removesuffix(COIN)) if name.endswith(COIN) else None
        chosen = self._ranked[name].chosen if coin is None else coin
        return _finite_mean(chosen)

    def _seeds(self, name: str) -> dict[str, float | None]:
        """The standard deviation of a model's mean and risk over the seeds."""
        means, risks = [], []
        for seed in self.outcome.plan.seeds:
            run = self.outcome.complete(seed).get(name) if seed in self.outcome.runs else None
            if run is not None and name not in self.outcome.plan.baselines:
                means.append(run.effectiveness.mean())
                risks.append(Paired(run.effectiveness[None], self.baseline).risk[0])
        if len(means) < 2:
            return {"mean_sd": None, "risk_sd": None}
        return {"mean_sd": float(np.std(means, ddof=1)), "risk_sd": float(np.std(risks, ddof=1))}

    def tests(self, name: str) -> Row:
        """Tests against the plain model and the blend, and what a coin flip comes to."""
        tests: Row = {}
        if name != PLAIN.name and PLAIN.name in self.runs:
            tests["p_mean_plain"], tests["p_risk_plain"] = self._tests(name, PLAIN.name)
        blend = f"{name}{BLEND}"
        if blend in self.runs:
            row = self.runs.index(blend)
            tests["blend_mean"] = float(self.scores[row].mean())
            tests["blend_risk"] = float(self.paired.risk[row])
            tests["p_mean_blend"], tests["p_risk_blend"] = self._tests(name, blend)
        if name in self.coins:
            coin = self._of_coin(self.coins[name], 0.0)
            tests["coin_mean"], tests["coin_risk"] = coin["mean"], coin["risk"]
        return tests

    def at_equal_risk(self, name: str) -> Row:
        """The means of what is as risky as the model on these queries, and tests of them."""
        folds = self.outcome.equal.get(name, [])
        if len(folds) < len(self.outcome.plan.folds):
            return {}
        blend, selection = pooled(folds)
        model = self.scores[self.runs.index(name)]
        row: Row = {}
        for way, values in (("blend", blend), ("select", selection)):
            if values is not None:
                row[f"equal_{way}_mean"] = float(values.mean())
                row[f"equal_{way}_risk"] = mean_loss(values, self.baseline)
                row[f"p_mean_equal_{way}"] = _paired_p(model, values)
        coin = self._of_coin([fold.chance for fold in folds], 0.0)
        return {**row, "equal_coin_mean": coin["mean"], "equal_coin_risk": coin["risk"]}

    def _tests(self, name: str, other: str) -> tuple[float, float]:
        """Paired t of the means, and of the losses to the baseline, uncorrected."""
        one, two = self.scores[self.runs.index(name)], self.scores[self.runs.index(other)]
        lost = [np.maximum(self.baseline - scores, 0) for scores in (one, two)]
        return _paired_p(one, two), _paired_p(*lost)


def _figures(paired: Paired, alpha: float) -> dict[str, Floats]:
    """By run, all that is linear in how often a run is taken."""
    return {
        "wins": paired.wins.astype(float), "losses": paired.losses.astype(float),
        "losses20": paired.losses20.astype(float), "reward": paired.reward, "risk": paired.risk,
        "urisk": paired.linear.urisk(1 + alpha),
    }  # fmt: skip


def _finite_mean(values: Sequence[float]) -> float | None:
    """The mean over folds, of those that have a number."""
    finite = [value for value in values if np.isfinite(value)]
    return float(np.mean(finite)) if finite else None


def _weights(name: str, sizes: Ints) -> Floats:
    """How folds of these sizes count: counts add up, means are those over all queries."""
    return np.ones(len(sizes)) if name in _COUNTS else sizes / sizes.sum()


def _ratio(over: Floats, under: Floats) -> Floats:
    """Infinite where only the divisor is 0; undefined where both are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(over / under)


def _paired_p(one: Floats, two: Floats) -> float:
    """The two-sided p of Student's paired t: that of TRisk at alpha 0."""
    t = Paired(one[None], two).linear.trisk(1.0)
    return float(two_sided_p(t, len(one) - 1)[0])
