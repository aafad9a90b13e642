"""An experiment: every model on every fold with every seed, and what they are compared with."""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np

from riskcli.core.arrays import Floats
from riskcli.core.messages import Input, Note, UsageError
from riskcli.core.supervisor import be_patient
from riskcli.learn import comparators, training
from riskcli.learn.comparators import BaselineSource
from riskcli.learn.features import Features
from riskcli.learn.folds import Fold, refuse_shared_topics, seen_by_baselines, shared_by_validation
from riskcli.learn.lambdas import Queries
from riskcli.learn.swaps import swap_measure

OnProgress = Callable[[int, int], None]
"""Called with the number of trees so far, and the most that there can be."""


@dataclass
class Interrupts:
    """Whether somebody wants to stop, and whether there is anything to keep."""

    pressed: bool = False
    keeping: bool = False
    """Until there is a tree, Ctrl-C ends the program as it does elsewhere."""


@contextmanager
def interruptible() -> Iterator[Interrupts]:
    """Within, Ctrl-C is noted once there is something to keep; a second one ends the program."""
    interrupts = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    before = signal.getsignal(signal.SIGINT)

    def note(_number: int, _frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        if interrupts.keeping:
            interrupts.pressed = True
        else:
            signal.raise_signal(signal.SIGINT)

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)
        be_patient(signal.SIGINT, interrupts.pressed)  # then what is kept is yet to be written


BLEND, SELECTIVE = ".blend", ".select"
"""What follows a model's name in those of the comparators that are as risky."""


@dataclass(frozen=True)
class Plan:
    """What is to be trained, and compared with what; folds are read when their turn comes."""

    folds: Sequence[Callable[[], Fold]]
    sources: Sequence[BaselineSource]
    specs: Sequence[training.ModelSpec]
    settings: training.Settings
    seeds: Sequence[int] = (1,)
    selector: str | None = None
    """The feature whose highest value selects queries for re-ranking (None: no such comparison)."""

    @property
    def models(self) -> list[training.ModelSpec]:
        """The plain model, then those that were asked for."""
        return [training.PLAIN, *(one for one in self.specs if one != training.PLAIN)]

    @property
    def baselines(self) -> list[str]:
        """What the baselines' runs are called."""
        count = len(self.sources)
        return ["baseline"] if count == 1 else [f"baseline{n}" for n in range(1, count + 1)]


@dataclass
class RunScores:
    """A test run: its scores, and what was chosen for it, in each fold."""

    scores: list[Floats] = field(default_factory=list)
    chosen: list[float] = field(default_factory=list)
    """Trees of a model, weight of a blend, threshold of a selection."""


@dataclass
class Outcome:
    """What an experiment gave."""

    plan: Plan
    tests: list[Features] = field(default_factory=list)
    runs: dict[int, dict[str, RunScores]] = field(default_factory=dict)
    """By seed and name; blends and selections are made of that seed's plain model."""
    fallback: list[Floats] = field(default_factory=list)
    """By fold, the effectiveness of what a coin flip has where it does without the plain model."""
    coins: dict[str, list[float]] = field(default_factory=dict)
    """The chance of the plain model by fold, by the name of the model that is as risky."""
    equal: dict[str, list[comparators.EqualRisk]] = field(default_factory=dict)
    """What is as risky on the test queries themselves, by fold, by the name of the model."""
    models: dict[tuple[int, int, str], training.TrainedModel] = field(default_factory=dict)
    """By seed, fold and name."""
    alpha_range: list[float] = field(default_factory=list)
    """By fold, gain over risk of the plain model on the training queries (SIGIR'12, 5.7)."""
    alpha_range_valid: list[float] = field(default_factory=list)
    """The same on the validation queries, which the model has not learned."""
    topics: list[str] = field(default_factory=list)
    """The counted test queries."""
    of_folds: list[tuple[Input, ...]] = field(default_factory=list)
    """The files of each fold."""
    notes: list[Note] = field(default_factory=list)
    interrupted: bool = False

    @property
    def inputs(self) -> list[Input]:
        """The files that were read, each once."""
        of_folds = [file for files in self.of_folds for file in files]
        of_baselines = [file for source in self.plan.sources for file in source.inputs]
        return list(dict.fromkeys([*of_folds, *of_baselines]))

    def complete(self, seed: int) -> dict[str, RunScores]:
        """The runs of that seed that cover every fold."""
        folds = len(self.plan.folds)
        return {name: run for name, run in self.runs[seed].items() if len(run.scores) == folds}


def run_experiment(
    plan: Plan, on_progress: OnProgress | None = None, interrupts: Interrupts | None = None
) -> Outcome:
    """Train all models on all folds and rank the test queries with each."""
    outcome, stop = Outcome(plan), interrupts or Interrupts()
    seen: dict[str, int] = {}
    trees = plan.settings.trees * (1 + len(plan.settings.start_weights))
    total = len(plan.seeds) * len(plan.folds) * len(plan.models) * trees
    for number, load in enumerate(plan.folds):
        fold = load()
        refuse_shared_topics(fold, number, seen)
        trial = _trial(outcome, number, fold)
        for seed in plan.seeds:
            trial.add_baselines(outcome.runs.setdefault(seed, {}))
            for spec in plan.models:
                if stop.pressed:
                    outcome.interrupted = True
                    return outcome
                done = len(outcome.models) * trees  # as if none had stopped early
                tick = _counting(count(done + 1), total, on_progress, stop)
                trial.add_model(outcome, seed, spec, tick)
            if not stop.pressed:
                trial.add_comparators(outcome, seed)
    outcome.interrupted = stop.pressed
    return outcome


def _counting(
    done: Iterator[int], total: int, on_progress: OnProgress | None, stop: Interrupts
) -> training.Ticked:
    """Counts a tree, and tells whether to go on."""

    def tick() -> bool:
        stop.keeping = True
        be_patient(signal.SIGINT)
        if on_progress:
            on_progress(min(next(done), total), total)
        return not stop.pressed

    return tick


@dataclass(frozen=True)
class _Trial:
    """One fold."""

    plan: Plan
    number: int
    train: comparators.JudgedQueries
    valid: comparators.JudgedQueries
    test: comparators.JudgedQueries

    def add_baselines(self, runs: dict[str, RunScores]) -> None:
        for name, places in self.test.part.baselines.items():
            self._add(runs, name, places, 0.0)

    def add_model(
        self, outcome: Outcome, seed: int, spec: training.ModelSpec, tick: training.Ticked
    ) -> None:
        parts = (self.train.part, self.valid.part)
        model = training.Trainer(*parts, self.plan.settings, seed).best_model(spec, tick)
        outcome.models[seed, self.number, spec.name] = model
        self._add(outcome.runs[seed], spec.name, model.scores(self.test.part), model.trees)
        if spec == training.PLAIN and seed == self.plan.seeds[0]:
            outcome.alpha_range.append(_gain_over_risk(self.train, model))
            outcome.alpha_range_valid.append(_gain_over_risk(self.valid, model))

    def add_comparators(self, outcome: Outcome, seed: int) -> None:
        """For each model trained for risk, what takes as much risk without.

        Coins and what is as risky on the test queries are told of the first seed alone.
        """
        runs = outcome.runs[seed]
        plain = outcome.models[seed, self.number, training.PLAIN.name]
        test = plain.scores(self.test.part)
        matching = comparators.RiskMatcher(self.valid, plain.scores(self.valid.part))
        matching_test = comparators.RiskMatcher(self.test, test)
        is_first = seed == self.plan.seeds[0]
        if is_first:
            outcome.fallback.append(self.test.fallback)
        for spec in self.plan.models[1:]:
            model = outcome.models[seed, self.number, spec.name]
            risk = self.valid.risk(model.scores(self.valid.part))
            weight = matching.weight(risk)
            scores = comparators.blended(self.test.part, test, weight)
            self._add(runs, f"{spec.name}{BLEND}", scores, weight)
            selector = self.plan.selector
            if selector is not None:
                threshold = matching.threshold(selector, risk)
                scores = comparators.selected(self.test.part, test, selector, threshold)
                self._add(runs, f"{spec.name}{SELECTIVE}", scores, threshold)
            if not is_first:
                continue
            outcome.coins.setdefault(spec.name, []).append(matching.chance(risk))
            equal = matching_test.at_risk(self.test.risk(model.scores(self.test.part)), selector)
            outcome.equal.setdefault(spec.name, []).append(equal)

    def _add(self, runs: dict[str, RunScores], name: str, scores: Floats, chosen: float) -> None:
        run = runs.setdefault(name, RunScores())
        run.scores.append(scores)
        run.chosen.append(chosen)


def _trial(outcome: Outcome, number: int, fold: Fold) -> _Trial:
    """The fold's queries, whose files and notes the outcome gets."""
    plan = outcome.plan
    parts = [_judged(features, outcome) for features in (fold.train, fold.valid, fold.test)]
    outcome.of_folds.append(fold.inputs)
    outcome.notes += [*shared_by_validation(fold), *seen_by_baselines(plan.sources, fold)]
    outcome.tests.append(replace(fold.test, values=np.zeros((0, 0))))
    outcome.topics += [fold.test.topics[query] for query in parts[2].queries.counted]
    return _Trial(plan, number, *parts)


def _gain_over_risk(queries: comparators.JudgedQueries, model: training.TrainedModel) -> float:
    """The alpha from which on the baseline's URisk, 0, is the higher one: 0 if there is no gain."""
    model_effectiveness = queries.effectiveness(model.scores(queries.part))
    loss = comparators.mean_loss(model_effectiveness, queries.baseline)
    gain = float((model_effectiveness - queries.baseline).mean())
    return max(gain, 0.0) / loss if loss > 0 else float("inf")


def _judged(features: Features, outcome: Outcome) -> comparators.JudgedQueries:
    """The queries of a file against the baselines."""
    plan, baselines = outcome.plan, {}
    settings = plan.settings
    outcome.notes += features.notes
    for name, source in zip(plan.baselines, plan.sources, strict=True):
        baselines[name], notes = source.scores(features)
        outcome.notes += notes
    measure = swap_measure(settings.effectiveness, settings.discount, settings.max_grade)
    queries = Queries(features.grades, features.sizes, measure, ties="file")
    if not len(queries.counted):
        raise UsageError(f"{features.path}: no query has a relevant document")
    return comparators.JudgedQueries(
        training.RankedDocuments(features, baselines), queries, settings.baseline_pool
    )
