"""`riskeval train`: learn rankers that lose less, and test whether that pays."""

from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from riskcli.cli.option import argument, command, one_option, option, options
from riskcli.cli.options import Against, Output, format_option, tell, write
from riskcli.cli.progress import on_terminal
from riskcli.cli.reading import Quiet
from riskcli.cli.types import FROM_1, PATH, SIZE
from riskcli.core.choices import Pool
from riskcli.core.inputs import note_input, refuse_inputs_below
from riskcli.core.messages import UsageError
from riskcli.core.stopping import INTERRUPTED
from riskcli.learn.choices import DEFAULT_MEASURE, RiskObjective, StopOn

if TYPE_CHECKING:
    from riskcli.learn import experiment, training

_NOT_RECORDED = ("valid", "test", "alphas", "objectives", "baselines", "starts", "seeds")
"""Options that the settings hold in another form, or as input files."""


_ALPHAS_HELP = "Losses count 1 + alpha times: 1 or 0,5,10 or 0:20:5. [default: 1]"

# fmt: off


@dataclass(frozen=True)
class Training:
    """What to train on, for, and how."""

    data: tuple[Path, ...] = argument(
        nargs=-1, required=True, type=PATH, metavar="DATA...",
    )
    valid: Path | None = option("--valid", type=PATH, help="Validation data.")
    test: Path | None = option("--test", type=PATH, help="Test data.")
    folds: int | None = option(
        "--folds", type=int, metavar="N", help="Cut DATA into N folds by query.",
    )
    baselines: tuple[str, ...] = option(
        "-b", "--baseline", multiple=True, required=True, metavar="WHAT",
        help="What models are compared with: feature:110 (number or name), run:bm25.run or "
        "model:old.txt. Repeat it for several.",
    )
    objectives: tuple[RiskObjective, ...] = option(
        "--objective", multiple=True, choice=RiskObjective,
        help="What to train for, in addition to the plain model. Repeatable. [default: urisk]",
    )
    alphas: tuple[tuple[float, ...], ...] = ()
    measure: str = option(
        "-m", "--measure", default=DEFAULT_MEASURE,
        help="The effectiveness measure: nDCG, ERR or AP, with or without a cutoff.",
    )
    max_grade: int = option(
        "--max-grade", type=click.IntRange(1, 60), default=4, help="Highest grade of ERR.",
    )
    pool: Pool = "mean"
    trees: int = option("--trees", type=FROM_1, default=500, help="Most trees of a model.")
    patience: int = option(
        "--patience", type=FROM_1, default=50,
        help="Stop after this many trees without improvement on validation data.",
    )
    stop: StopOn | None = option(
        "--stop", choice=StopOn,
        help="The figure on validation data that decides when to stop (mean: of the effectiveness "
        "measure). [default: what is trained for]",
    )
    starts: tuple[float, ...] = option(
        "--start", multiple=True, type=SIZE, metavar="WEIGHT",
        help="Also try to start from the baseline's ranking with this weight; validation data "
        "decide. Repeatable.",
    )
    selector: str | None = option(
        "--selector", metavar="FEATURE",
        help="The feature whose highest value selects queries for re-ranking. "
        "[default: the first baseline that is a feature]",
    )
    params: tuple[str, ...] = option(
        "--param", multiple=True, metavar="NAME=VALUE",
        help="A parameter of LightGBM, or of the objectives: tr, spread, marginals, discount. "
        "@FILE reads them from a file, one per line. Repeatable.",
    )
    seed: int = option("--seed", type=int, default=1, help="Random seed of the first training.")
    seeds: int = option(
        "--seeds", type=FROM_1, default=1,
        help="Train with this many seeds: what is compared are means over seeds.",
    )

    # fmt: on

    @property
    def chosen_alphas(self) -> tuple[float, ...]:
        """Each alpha asked for, once."""
        return tuple(dict.fromkeys(a for group in self.alphas for a in group)) or (1.0,)

    def plan(self) -> "experiment.Plan":
        """The experiment that the options describe."""
        # Late: help and wrong options need no numpy.
        from riskcli.learn import comparators, experiment, folds, training

        training.lightgbm()  # or an error, before anything is read
        sources = [comparators.parse_source(text) for text in self.baselines]
        given = dict(self._given)
        truncation = given.pop(training.TRUNCATION, None)
        discount = given.pop("discount", "full")
        own = {name: given.pop(name) for name in training.OBJECTIVE_PARAMS if name in given}
        settings = training.Settings(
            self.measure, self.max_grade, self.trees, self.patience, truncation, discount,
            self.pool, self.stop, self.starts, given,
        )  # fmt: skip
        seeds = range(self.seed, self.seed + self.seeds)
        cut = folds.find_folds(self.data, self.valid, self.test, self.folds, self.seed)
        features = [source.value for source in sources if source.kind == "feature"]
        selector = self.selector or (features[0] if features else None)
        return experiment.Plan(cut, sources, self._models(own), settings, seeds, selector)

    @cached_property
    def _given(self) -> dict[str, Any]:
        from riskcli.learn.training import read_params  # late, as above

        return read_params(self.params)

    def _models(self, own: dict[str, str]) -> "list[training.ModelSpec]":
        """A model for each objective and alpha, its name shows parameters other than defaults."""
        from riskcli.learn import objectives, training  # late, as above

        names = list(dict.fromkeys(self.objectives or ("urisk",)))
        defaults = {
            name: {field.name: field.default for field in fields(objectives.OBJECTIVES[name])}
            for name in names
        }
        for param in own:
            if not any(param in taken for taken in defaults.values()):
                raise UsageError(f"--param: {param} has no effect on {' or '.join(names)}")
        return [
            training.ModelSpec(name, alpha, {
                param: value for param, value in own.items()
                if param in defaults[name] and value != defaults[name][param]
            })
            for name in names
            for alpha in self.chosen_alphas
        ]  # fmt: skip

    def recorded(self, plan: "experiment.Plan") -> dict[str, Any]:
        """The settings, as the folder and machine formats hold them."""
        from riskcli.learn.training import tree_params  # late, as above

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


@command(
    options(Training, "training"),
    one_option(Against, "alphas", help=_ALPHAS_HELP),
    one_option(Against, "pool"),
    format_option(),
)
@click.option(
    "-o", "--output", required=True, type=PATH, metavar="DIR",
    help="The folder to write: runs, qrels, models, curves, settings, a page.",
)  # fmt: skip
@click.option("--replace", is_flag=True, help="Overwrite an earlier experiment in DIR.")
@one_option(Quiet, "quiet")
def train(training: Training, format: str | None, output: Path, replace: bool, quiet: bool) -> int:
    """Learn rankers that lose less against a baseline, and compare them with cheaper ways.

    DATA is a file of training data beside --valid and --test, one file to cut into --folds, or
    folders that each hold a train, a vali and a test file. LETOR, CSV and Parquet are read. Test
    queries are not used to train, stop or choose a model. `riskeval score DIR/runs -q DIR/qrels -b
    baseline` prints the same risk table of them.
    """
    # Late: help and wrong options need no numpy.
    from riskcli.learn import comparators, comparison, experiment, folder

    folder.check_folder(output, replace)
    plan = training.plan()
    note_input(*comparators.files_of(plan.sources))
    refuse_inputs_below(output)  # before hours of training
    with experiment.interruptible() as interrupts, on_terminal(quiet, "trees") as on_progress:
        outcome = experiment.run_experiment(plan, on_progress, interrupts)
    settings = training.recorded(plan)
    compared = None
    if outcome.complete(plan.seeds[0]).keys() - set(plan.baselines):
        compared = comparison.compare_models(outcome, training.chosen_alphas, settings)
    folder.write_folder(output, outcome, compared, settings)
    if compared is None:
        tell(outcome.notes, quiet)
    else:
        tell([*compared.table.notes, folder.how_to_score(output, compared)], quiet)
        write(compared, Output(format=format))
    if outcome.interrupted:
        click.echo(f"interrupted: {output} holds the best of the models so far", err=True)
        return INTERRUPTED
    return 0
