"""What `riskeval train` is told: data, baselines, objectives, and how to train."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from riskcli.cli.gathering import PATH, Command, gathered
from riskcli.cli.options import ALPHA, POOL
from riskcli.core.choices import (
    Discount,
    Marginals,
    Pool,
    QueryRisk,
    RiskObjective,
    Spread,
    StopOn,
    words,
)
from riskcli.learn.baselines import parse_source
from riskcli.learn.experiment import Plan
from riskcli.learn.folds import find_folds
from riskcli.learn.lightgbm import lightgbm, read_params, tree_params
from riskcli.learn.swaps import DEFAULT_MEASURE
from riskcli.learn.training import ModelSpec, Settings
from riskcli.trec.source import load

_NOT_RECORDED = ("valid", "test", "alphas", "objectives", "baselines", "starts", "params",
                 "params_file", "seeds", "selector")  # fmt: skip
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
    tr: QueryRisk
    spread: Spread
    marginals: Marginals
    discount: Discount
    truncation: int | None
    trees: int
    patience: int
    stop: StopOn | None
    starts: tuple[float, ...]
    selector: str | None
    params: tuple[str, ...]
    params_file: Path | None
    seed: int
    seeds: int

    @property
    def chosen_alphas(self) -> tuple[float, ...]:
        """Each alpha asked for, once."""
        return tuple(dict.fromkeys(a for group in self.alphas for a in group)) or (1.0,)

    def plan(self) -> Plan:
        """What the options ask for."""
        lightgbm()  # or an error, before anything is read
        sources = [parse_source(text) for text in self.baselines]
        settings = self._settings()
        seeds = range(self.seed, self.seed + self.seeds)
        folds = find_folds(self.data, self.valid, self.test, self.folds, self.seed)
        own = [source.value for source in sources if source.kind == "feature"]
        selector = self.selector or (own[0] if own else None)
        return Plan(folds, sources, self._wanted(), settings, seeds, selector)

    def _settings(self) -> Settings:
        file = self.params_file
        text = None if file is None else load(file).decode(errors="replace")
        return Settings(
            effectiveness=self.measure,
            max_grade=self.max_grade,
            trees=self.trees,
            patience=self.patience,
            truncation=self.truncation,
            discount=self.discount,
            pool=self.pool,
            stop=self.stop,
            start_weights=self.starts,
            params=read_params(self.params, text, str(file)),
        )

    def _wanted(self) -> list[ModelSpec]:
        """A model for each objective and alpha; options that are no default are in its name."""
        risk = {"tr": self.tr, "spread": self.spread}
        own: dict[str, dict[str, Any]] = {
            "tsaro": risk,
            "tfaro": risk,
            "georisk": {"marginals": self.marginals},
        }
        return [
            ModelSpec(name, alpha, _but_defaults(own.get(name, {})))
            for name in dict.fromkeys(self.objectives or ("urisk",))
            for alpha in self.chosen_alphas
        ]

    def recorded(self, plan: Plan) -> dict[str, Any]:
        """The settings, as the folder and machine formats hold them."""
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
            "lightgbm": tree_params(plan.settings.params, self.seed),
        }


def _but_defaults(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value != _DEFAULTS[name]}


_DEFAULTS = {"tr": "weighted", "spread": "current", "marginals": "frozen"}
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
_OBJECTIVE: list[Callable[[Command], Command]] = [
    click.option(
        "--objective",
        "objectives",
        multiple=True,
        type=click.Choice(words(RiskObjective)),
        help="What to train for, beside the plain model. Repeatable. [default: urisk]",
    ),
    ALPHA,
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
    POOL,
    click.option(
        "--tr",
        type=click.Choice(words(QueryRisk)),
        default=_DEFAULTS["tr"],
        show_default=True,
        help="T_R of a query in tsaro and tfaro: w/s_w, delta/s_w, or delta/SE.",
    ),
    click.option(
        "--spread",
        type=click.Choice(words(Spread)),
        default=_DEFAULTS["spread"],
        show_default=True,
        help="The s_w of each iteration in tsaro and tfaro, or of the first.",
    ),
    click.option(
        "--marginals",
        type=click.Choice(words(Marginals)),
        default=_DEFAULTS["marginals"],
        show_default=True,
        help="Whether a swap changes its own query's z in georisk, or every one.",
    ),
    click.option(
        "--discount",
        type=click.Choice(words(Discount)),
        default="full",
        show_default=True,
        help="Whether swaps count below the measure's cutoff, too.",
    ),
    click.option(
        "--truncation",
        type=click.IntRange(min=1),
        metavar="N",
        help="Learn pairs with a document in the first N. [default: cutoff + 3, or 30]",
    ),
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
        help="A parameter of LightGBM. Repeatable.",
    ),
    click.option(
        "--params", "params_file", type=PATH, help="A file of such parameters, one a line."
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


def training_options(command: Command) -> Command:
    """DATA and how to train; the command gets `training`."""
    return gathered(command, "training", Training, [*_DATA, *_OBJECTIVE, *_TRAINING])
