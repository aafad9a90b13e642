"""What `riskeval train` is told: data, baselines, objectives, and how to train."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from riskcli.cli.option import Function, one_option
from riskcli.cli.options import Against
from riskcli.cli.types import PATH
from riskcli.core.choices import Pool, words
from riskcli.core.messages import UsageError
from riskcli.learn.choices import DEFAULT_MEASURE, RiskObjective, StopOn

if TYPE_CHECKING:
    from riskcli.learn.experiment import Plan
    from riskcli.learn.training import ModelSpec

_NOT_RECORDED = ("valid", "test", "alphas", "objectives", "baselines", "starts", "seeds")
"""Options that the settings hold in another form, or as input files."""


@dataclass(frozen=True)
class Training:
    """What to train on, for, and how."""

    data: tuple[Path, ...]
    valid: Path | None
    test: Path | None
    folds: int | None
    baselines: tuple[str, ...]
    objectives: tuple[RiskObjective, ...]
    alphas: tuple[tuple[float, ...], ...]
    measure: str
    max_grade: int
    pool: Pool
    trees: int
    patience: int
    stop: StopOn | None
    starts: tuple[float, ...]
    selector: str | None
    params: tuple[str, ...]
    seed: int
    seeds: int

    @property
    def chosen_alphas(self) -> tuple[float, ...]:
        """Each alpha asked for, once."""
        return tuple(dict.fromkeys(a for group in self.alphas for a in group)) or (1.0,)

    def plan(self) -> Plan:
        """What the options ask for."""
        # Late: help and wrong options need no numpy.
        from riskcli.learn.baselines import parse_source
        from riskcli.learn.experiment import Plan
        from riskcli.learn.folds import find_folds
        from riskcli.learn.lightgbm import OBJECTIVE_PARAMS, TRUNCATION, lightgbm
        from riskcli.learn.training import Settings

        lightgbm()  # or an error, before anything is read
        sources = [parse_source(text) for text in self.baselines]
        given = dict(self._given)
        truncation = given.pop(TRUNCATION, None)
        discount = given.pop("discount", "full")
        own = {name: given.pop(name) for name in OBJECTIVE_PARAMS if name in given}
        settings = Settings(
            effectiveness=self.measure,
            max_grade=self.max_grade,
            trees=self.trees,
            patience=self.patience,
            truncation=truncation,
            discount=discount,
            pool=self.pool,
            stop=self.stop,
            start_weights=self.starts,
            params=given,
        )
        seeds = range(self.seed, self.seed + self.seeds)
        folds = find_folds(self.data, self.valid, self.test, self.folds, self.seed)
        features = [source.value for source in sources if source.kind == "feature"]
        selector = self.selector or (features[0] if features else None)
        return Plan(folds, sources, self._models(own), settings, seeds, selector)

    @cached_property
    def _given(self) -> dict[str, Any]:
        from riskcli.learn.lightgbm import read_params  # late, as above

        return read_params(self.params)

    def _models(self, own: dict[str, str]) -> list[ModelSpec]:
        """A model for each objective and alpha; parameters that are no default are in its name."""
        from riskcli.learn.objectives import OBJECTIVES  # late, as above
        from riskcli.learn.training import ModelSpec

        names = list(dict.fromkeys(self.objectives or ("urisk",)))
        defaults = {
            name: {field.name: field.default for field in fields(OBJECTIVES[name])}
            for name in names
        }
        for param in own:
            if not any(param in taken for taken in defaults.values()):
                raise UsageError(f"--param: {param} has no effect on {' or '.join(names)}")
        return [
            ModelSpec(name, alpha, {
                param: value for param, value in own.items()
                if param in defaults[name] and value != defaults[name][param]
            })
            for name in names
            for alpha in self.chosen_alphas
        ]  # fmt: skip

    def recorded(self, plan: Plan) -> dict[str, Any]:
        """The settings, as the folder and machine formats hold them."""
        from riskcli.learn.lightgbm import tree_params  # late, as above

        plain = {key: value for key, value in asdict(self).items() if key not in _NOT_RECORDED}
        return {
            **plain,
            "data": [path.name for path in self.data],
            "alphas": list(self.chosen_alphas),
            "models": [one.name for one in plan.models],
            "baselines": [str(source) for source in plan.sources],
            "selector": plan.selector,
            "starts": list(self.starts),
            "seeds": list(plan.seeds),
            "params": self._given,
            "lightgbm": tree_params(plan.settings.params, self.seed),
        }


_DATA = [
    click.argument("data", nargs=-1, required=True, type=PATH, metavar="DATA..."),
    click.option("--valid", type=PATH, help="Validation data."),
    click.option("--test", type=PATH, help="Test data."),
    click.option("--folds", type=int, metavar="N", help="Cut DATA into N folds by query."),
    click.option(
        "-b",
        "--baseline",
        "baselines",
        multiple=True,
        required=True,
        metavar="WHAT",
        help="What models are compared with: feature:110 (number or name), run:bm25.run or "
        "model:old.txt. Repeat it for several.",
    ),
]
_OBJECTIVE: list[Callable[[Function], Function]] = [
    click.option(
        "--objective",
        "objectives",
        multiple=True,
        type=click.Choice(words(RiskObjective)),
        help="What to train for, beside the plain model. Repeatable. [default: urisk]",
    ),
    one_option(Against, "alphas"),
    click.option(
        "-m",
        "--measure",
        default=DEFAULT_MEASURE,
        show_default=True,
        help="The effectiveness measure: nDCG, ERR or AP, with or without a cutoff.",
    ),
    click.option(
        "--max-grade",
        type=click.IntRange(1, 60),
        default=4,
        show_default=True,
        help="Highest grade of ERR.",
    ),
    one_option(Against, "pool"),
]
_TRAINING = [
    click.option("--trees", type=click.IntRange(min=1), default=500, show_default=True),
    click.option(
        "--patience",
        type=click.IntRange(min=1),
        default=50,
        show_default=True,
        help="Stop after so many trees without anything better on validation data.",
    ),
    click.option(
        "--stop",
        type=click.Choice(words(StopOn)),
        help="What tells on validation data when to stop (mean: that of the measure). "
        "[default: what is trained for]",
    ),
    click.option(
        "--start",
        "starts",
        multiple=True,
        type=click.FloatRange(min=0, min_open=True),
        metavar="WEIGHT",
        help="Try also to start from the baseline's ranking, with this weight; validation data "
        "choose. Repeatable.",
    ),
    click.option(
        "--selector",
        metavar="FEATURE",
        help="The feature whose highest value selects queries for re-ranking. "
        "[default: that of the first baseline that is one]",
    ),
    click.option(
        "--param",
        "params",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of LightGBM, or of the objectives: tr, spread, marginals, discount. "
        "@FILE: a file of them, one a line. Repeatable.",
    ),
    click.option(
        "--seed", type=int, default=1, show_default=True, help="Random seed of the first training."
    ),
    click.option(
        "--seeds",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help="Train with so many seeds, to see how far they matter.",
    ),
]


def training_options(command: Function) -> Function:
    """DATA and how to train; the command gets `training`."""

    @wraps(command)
    def with_training(**given: Any) -> Any:
        own = {of.name: given.pop(of.name) for of in fields(Training) if of.name in given}
        return command(training=Training(**own), **given)

    declared: list[Callable[[Function], Function]] = [*_DATA, *_OBJECTIVE, *_TRAINING]
    for option in reversed(declared):
        option(with_training)
    return with_training
