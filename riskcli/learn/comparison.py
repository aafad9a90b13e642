"""Does training for risk pay? Baseline, plain model, risk models and comparators in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.basis import Basis, Input
from riskcli.core.notes import Note
from riskcli.learn.experiment import BLEND, SELECTIVE, Outcome
from riskcli.learn.training import PLAIN
from riskcli.output.result import Result, tidy
from riskcli.risk.baselines import column_mean
from riskcli.risk.paired import Paired, two_sided_p
from riskcli.risk.population import Population
from riskcli.trec.source import sha256

COLUMNS = (
    "run", "alpha", "topics", "chosen", "mean", "mean_sd", "wins", "losses", "losses20", "reward",
    "risk", "risk_sd", "urisk", "trisk", "zrisk", "georisk", "p_mean_plain", "p_risk_plain",
    "blend_mean", "blend_risk", "p_mean_blend", "p_risk_blend", "coin_mean", "coin_risk",
)  # fmt: skip
_COUNTS = ("topics", "wins", "losses", "losses20")


@dataclass(frozen=True)
class Comparison:
    """The test runs of the first seed, and how much other seeds would have changed."""

    outcome: Outcome
    alphas: Sequence[float]
    inputs: tuple[tuple[Path, str], ...]
    settings: Mapping[str, Any]

    @cached_property
    def runs(self) -> list[str]:
        """All complete runs: baselines, plain model, each risk model with its comparators."""
        models = [
            model.name + suffix
            for model in self.outcome.plan.models
            for suffix in ("", BLEND, SELECTIVE)
        ]
        known = [*self.outcome.plan.baselines, *models]
        return [name for name in known if name in self._ranked]

    @cached_property
    def _ranked(self) -> dict[str, Any]:
        return self.outcome.complete(self.outcome.plan.seeds[0])

    @cached_property
    def scores(self) -> Floats:
        """Runs by counted test queries."""
        return np.array([self._ranked[name].effectiveness for name in self.runs])

    @cached_property
    def _members(self) -> list[int]:
        return [self.runs.index(name) for name in self.outcome.plan.baselines]

    @cached_property
    def baseline(self) -> Floats:
        """The baseline's scores, the mean over several."""
        return column_mean(self.scores[self._members])

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """The outcome's, and what its figures call for."""
        return (*self.outcome.notes, *self._range_note())

    def _range_note(self) -> list[Note]:
        found = [value for value in self.outcome.alpha_range if np.isfinite(value)]
        if not found:
            return []
        top = float(np.mean(found))
        message = (
            f"the interesting range of alpha is 0 to {top:.1f}, gain over risk of the plain model "
            "on training queries: above it, the baseline itself has a higher URisk"
        )
        beyond = [f"{alpha:g}" for alpha in self.alphas if alpha > top]
        if beyond:
            message += f"; alpha {', '.join(beyond)} lies beyond"
        return [Note("alpha-range", message, bool(beyond))]

    def result(self) -> Result:
        """A row a run and alpha."""
        rows = [
            tuple(tidy([row[name]], whole=name in _COUNTS)[0] for name in COLUMNS)
            for alpha in self.alphas
            for row in self.rows(alpha)
        ]
        extra = {"alpha_range": tidy(self.outcome.alpha_range)}
        inputs = tuple(Input(path, kind, sha256(path)) for path, kind in self.inputs)
        return Result(COLUMNS, rows, Basis(self.settings, inputs, self.notes), extra)

    def rows(self, alpha: float) -> list[dict[str, Any]]:
        """The figures of every run at that alpha."""
        paired = Paired(self.scores, self.baseline)
        population = self._population()
        several = {
            "urisk": paired.linear.urisk(1 + alpha), "trisk": paired.linear.trisk(1 + alpha),
            "wins": paired.wins.astype(float), "losses": paired.losses.astype(float),
            "losses20": paired.losses20.astype(float), "reward": paired.reward,
            "risk": paired.risk,
        }  # fmt: skip
        own = {"zrisk": population.zrisk(alpha), "georisk": population.georisk(alpha)}
        found = []
        for row, name in enumerate(self.runs):
            alone = row in self._members and len(self._members) == 1
            empty = float("nan")
            figures = {key: empty if alone else float(v[row]) for key, v in several.items()}
            figures |= {key: float(values[row]) for key, values in own.items()}
            found.append({
                "run": name, "alpha": alpha, "topics": self.scores.shape[1],
                "chosen": self._chosen(name), "mean": float(self.scores[row].mean()),
                **figures, **self._seeds(name), **self._against(name),
            })  # fmt: skip
        return found

    def _population(self) -> Population:
        if len(self._members) > 1:
            return Population.of_baselines(self.scores, self._members)
        return Population.of_all(self.scores)

    def _chosen(self, name: str) -> float | None:
        """Trees, weight or threshold, the mean over folds."""
        if name in self.outcome.plan.baselines:
            return None
        values = [value for value in self._ranked[name].chosen if np.isfinite(value)]
        return float(np.mean(values)) if values else None

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

    def _against(self, name: str) -> dict[str, float | None]:
        """Tests against the plain model and the blend, and what a coin flip comes to."""
        found: dict[str, float | None] = dict.fromkeys(COLUMNS[16:])
        if name != PLAIN.name and PLAIN.name in self.runs:
            found["p_mean_plain"], found["p_risk_plain"] = self._tests(name, PLAIN.name)
        blend = f"{name}{BLEND}"
        if blend in self.runs:
            scores = self.scores[self.runs.index(blend)]
            found["blend_mean"] = float(scores.mean())
            found["blend_risk"] = float(Paired(scores[None], self.baseline).risk[0])
            found["p_mean_blend"], found["p_risk_blend"] = self._tests(name, blend)
        coin = self.outcome.coins.get(name)
        if coin is not None and len(coin.values) == self.scores.shape[1]:
            found["coin_mean"], found["coin_risk"] = float(coin.values.mean()), coin.risk
        return found

    def _tests(self, name: str, other: str) -> tuple[float, float]:
        """Paired t of the means, and of the losses to the baseline, uncorrected."""
        one, two = self.scores[self.runs.index(name)], self.scores[self.runs.index(other)]
        lost = [np.maximum(self.baseline - scores, 0) for scores in (one, two)]
        return _paired_p(one, two), _paired_p(*lost)


def _paired_p(one: Floats, two: Floats) -> float:
    """The two-sided p of Student's paired t: that of TRisk at alpha 0."""
    t = Paired(one[None], two).linear.trisk(1.0)
    return float(two_sided_p(t, len(one) - 1)[0])
