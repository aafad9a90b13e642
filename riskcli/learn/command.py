"""`riskeval train` and `riskeval rank`: learn rankers that lose less, and rank with them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from riskcli.cli.alphas import Alphas
from riskcli.cli.gathering import PATH, Command, gathered
from riskcli.cli.options import Output
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
from riskcli.core.errors import UsageError
from riskcli.output.forms import FORMS, View

if TYPE_CHECKING:
    from riskcli.core.arrays import Floats
    from riskcli.core.notes import Note
    from riskcli.learn.experiment import Outcome, Plan
    from riskcli.learn.features import Features
    from riskcli.learn.training import Settings, Wanted

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
        from riskcli.learn.baselines import parse_source
        from riskcli.learn.experiment import Plan
        from riskcli.learn.folds import find_folds
        from riskcli.learn.lightgbm import lightgbm

        lightgbm()  # or an error, before anything is read
        sources = [parse_source(text) for text in self.baselines]
        settings = self._settings()
        seeds = range(self.seed, self.seed + self.seeds)
        folds = find_folds(self.data, self.valid, self.test, self.folds, self.seed)
        own = [source.value for source in sources if source.kind == "feature"]
        selector = self.selector or (own[0] if own else None)
        return Plan(folds, sources, self._wanted(), settings, seeds, selector)

    def _settings(self) -> Settings:
        from riskcli.learn.training import Settings, read_params
        from riskcli.trec.source import load

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

    def _wanted(self) -> list[Wanted]:
        """A model for each objective and alpha; options that are no default are in its name."""
        from riskcli.learn.training import Wanted

        risk = {"tr": self.tr, "spread": self.spread}
        own: dict[str, dict[str, Any]] = {
            "tsaro": risk,
            "tfaro": risk,
            "georisk": {"marginals": self.marginals},
        }
        return [
            Wanted(name, alpha, _but_defaults(own.get(name, {})))
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
            "lightgbm": plan.settings.tree_params(self.seed),
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
_OBJECTIVE = [
    click.option(
        "--objective",
        "objectives",
        multiple=True,
        type=click.Choice(words(RiskObjective)),
        help="What to train for, beside the plain model. Repeatable. [default: urisk]",
    ),
    click.option(
        "-a",
        "--alpha",
        "alphas",
        multiple=True,
        type=Alphas(),
        help="Losses count 1 + alpha times: 1 or 1,5,10. [default: 1]",
    ),
    click.option(
        "-m",
        "--measure",
        default="nDCG(dcg='exp-log2')@10",
        show_default=True,
        help="The effectiveness measure: nDCG, ERR or AP, with or without a cutoff.",
    ),
    click.option(
        "--max-grade", type=int, default=4, show_default=True, help="Highest grade of ERR."
    ),
    click.option(
        "--pool",
        type=click.Choice(words(Pool)),
        default="mean",
        show_default=True,
        help="How several baselines are one to urisk, tsaro and tfaro; each: the mean over them.",
    ),
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


def _training_options(command: Command) -> Command:
    """DATA and how to train; the command gets `training`."""
    return gathered(command, "training", Training, [*_DATA, *_OBJECTIVE, *_TRAINING])


@click.command()
@_training_options
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice([form.name for form in FORMS]),
    help="Form of the table. [default: table on a terminal, tsv in a pipe]",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=PATH,
    metavar="DIR",
    help="The folder to write: runs, qrels, models, curves, settings.",
)
@click.option("--replace", is_flag=True, help="Write over an earlier experiment in DIR.")
@click.option("--quiet", is_flag=True, help="No progress and no notes, only warnings.")
def train(training: Training, form: str | None, output: Path, replace: bool, quiet: bool) -> int:
    """Learn rankers that lose less against a baseline, and compare them with cheaper ways.

    DATA is a file of training data beside --valid and --test, one file to cut into --folds, or
    folders that each hold a train, a vali and a test file. LETOR, CSV and Parquet are read. Models
    are trained, stopped and chosen without a look at test queries. `riskeval score DIR/runs -q
    DIR/qrels -b baseline` says the same of the test queries as the table.
    """
    from riskcli.cli.conclude import tell
    from riskcli.cli.progress import on_terminal
    from riskcli.cli.rendering import write
    from riskcli.core.stopping import INTERRUPTED
    from riskcli.learn.comparison import Comparison
    from riskcli.learn.display import displays
    from riskcli.learn.experiment import run_experiment
    from riskcli.learn.folder import check_folder, write_folder
    from riskcli.learn.training import interruptible

    check_folder(output, replace)
    shown = Output(form, None)
    plan = training.plan()
    with interruptible() as pressed, on_terminal(quiet, "trees") as told:
        outcome = run_experiment(plan, told, pressed)
    settings = training.recorded(plan)
    comparison = None
    if outcome.complete(plan.seeds[0]).keys() - set(plan.baselines):
        comparison = Comparison(outcome, training.chosen_alphas, settings)
    write_folder(output, outcome, comparison, _described(outcome, settings))
    tell(outcome.notes if comparison is None else comparison.notes, quiet)
    if comparison is not None:
        write(View(comparison.result, lambda _: displays(comparison)), shown)
    if outcome.interrupted:
        click.echo(f"interrupted: {output} holds the best of the models so far", err=True)
        return INTERRUPTED
    return 0


def _described(outcome: Outcome, settings: dict[str, Any]) -> dict[str, Any]:
    """What the numbers depend on, and how the training went."""
    from riskcli.learn.folder import versions
    from riskcli.output.result import tidy

    return {
        "versions": versions(),
        "settings": settings,
        "inputs": [
            {"path": file.path.name, "sha256": file.sha256, "kind": file.kind}
            for file in outcome.inputs
        ],
        "alpha_range": tidy(outcome.alpha_range),
        "interrupted": outcome.interrupted,
        "notes": [{"code": note.code, "message": note.message} for note in outcome.notes],
    }


@click.command()
@click.argument("model", type=PATH)
@click.argument("features", type=PATH)
@click.option("-o", "--output", type=PATH, help="The run to write. [default: stdout]")
@click.option("--tag", help="The run's name. [default: the model's]")
@click.option(
    "-b",
    "--baseline",
    "baselines",
    multiple=True,
    metavar="WHAT",
    help="The baseline that the model starts from, where it does: as for train. "
    "[default: what it was trained with]",
)
@click.option("--quiet", is_flag=True, help="No notes, only warnings.")
def rank(
    model: Path,
    features: Path,
    output: Path | None,
    tag: str | None,
    baselines: tuple[str, ...],
    quiet: bool,
) -> int:
    """Rank the documents in FEATURES with MODEL: a TREC run without ties.

    MODEL is a model of LightGBM as `riskeval train` writes it, or any other.
    """
    from riskcli.cli.conclude import tell
    from riskcli.learn.feature_files import read_features
    from riskcli.learn.rankings import run_lines
    from riskcli.output.emit import emit

    name = model.stem if tag is None else tag
    if not name or name.split() != [name]:
        raise UsageError(f"the run would be called {name!r}: --tag gives a name without spaces")
    documents = read_features(features)
    scores, notes = _scores(model, documents, baselines)
    tell([*documents.notes, *notes], quiet)
    emit("".join(run_lines(documents, scores, name)), output)
    return 0


def _scores(
    model: Path, documents: Features, baselines: tuple[str, ...]
) -> tuple[Floats, list[Note]]:
    """The model's scores, and what it starts from added again."""
    from riskcli.learn.baselines import load_model, parse_source, pooled_start, predicted
    from riskcli.learn.folder import read_sidecar

    about = read_sidecar(model)
    booster = load_model(model)
    if about.features and len(documents.names) <= len(about.features):
        documents = documents.widened(about.features)
    scores = predicted(booster, documents)
    if not about.start_weight:
        return scores, []
    started = [parse_source(text).scores(documents) for text in baselines or about.baselines]
    notes = [note for _, found in started for note in found]
    start = pooled_start(documents, [places for places, _ in started])
    return scores + about.start_weight * start, notes
