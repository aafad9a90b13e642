"""`riskeval train` and `riskeval rank`: learn rankers that lose less, and rank with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from riskcli.cli.alphas import Alphas
from riskcli.cli.gathering import PATH
from riskcli.cli.options import Output
from riskcli.core.errors import UsageError
from riskcli.output.forms import FORMS, View

if TYPE_CHECKING:
    from riskcli.learn.experiment import Outcome, Plan
    from riskcli.learn.training import Settings, Wanted

OBJECTIVES = ("urisk", "tsaro", "tfaro", "georisk")
_MEASURE = "nDCG(dcg='exp-log2')@10"


@click.command()
@click.argument("data", nargs=-1, required=True, type=PATH, metavar="DATA...")
@click.option("--valid", type=PATH, help="Validation data.")
@click.option("--test", type=PATH, help="Test data.")
@click.option("--folds", type=int, metavar="N", help="Cut DATA into N folds by query.")
@click.option(
    "-b",
    "--baseline",
    "baselines",
    multiple=True,
    required=True,
    metavar="WHAT",
    help="What models are compared with: feature:110 (number or name), run:bm25.run or "
    "model:old.txt. Repeat it for several.",
)
@click.option(
    "--objective",
    "objectives",
    multiple=True,
    type=click.Choice(OBJECTIVES),
    help="What to train for, beside the plain model. Repeatable. [default: urisk]",
)
@click.option(
    "-a",
    "--alpha",
    "alphas",
    multiple=True,
    type=Alphas(),
    help="Losses count 1 + alpha times: 1 or 1,5,10. [default: 1]",
)
@click.option(
    "-m",
    "--measure",
    default=_MEASURE,
    show_default=True,
    help="The effectiveness measure: nDCG, ERR or AP, with or without a cutoff.",
)
@click.option("--max-grade", type=int, default=4, show_default=True, help="ERR's highest grade.")
@click.option(
    "--pool",
    type=click.Choice(["mean", "median", "max", "min", "each"]),
    default="mean",
    show_default=True,
    help="How several baselines are one to urisk, tsaro and tfaro; each: the mean over them.",
)
@click.option(
    "--tr",
    type=click.Choice(["weighted", "plain", "se"]),
    default="weighted",
    show_default=True,
    help="What T_R is to tsaro and tfaro.",
)
@click.option(
    "--spread",
    type=click.Choice(["current", "first"]),
    default="current",
    show_default=True,
    help="When s_w is computed for tsaro and tfaro.",
)
@click.option(
    "--marginals",
    type=click.Choice(["frozen", "exact"]),
    default="frozen",
    show_default=True,
    help="What a swap changes in georisk.",
)
@click.option(
    "--discount",
    type=click.Choice(["full", "cut"]),
    default="full",
    show_default=True,
    help="Whether swaps count below the measure's cutoff.",
)
@click.option(
    "--truncation",
    type=click.IntRange(min=1),
    metavar="N",
    help="Learn pairs with a document in the first N. [default: cutoff + 3, or 30]",
)
@click.option("--trees", type=click.IntRange(min=1), default=500, show_default=True)
@click.option(
    "--patience",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Stop after so many trees without anything better on validation data.",
)
@click.option(
    "--stop",
    type=click.Choice(["ndcg", "urisk", "trisk", "georisk"]),
    help="What tells on validation data when to stop (ndcg: the mean of the measure). "
    "[default: what is trained for]",
)
@click.option(
    "--start",
    "starts",
    multiple=True,
    type=click.FloatRange(min=0, min_open=True),
    metavar="WEIGHT",
    help="Try also to start from the baseline's ranking, with this "
    "weight; validation data choose. Repeatable.",
)
@click.option(
    "--selector",
    metavar="FEATURE",
    help="The feature whose highest value selects "
    "queries for re-ranking. [default: the baseline's, if it is one]",
)
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of LightGBM. Repeatable.",
)
@click.option("--params", "params_file", type=PATH, help="A file of them, one a line.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the first training.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Train with so many seeds, to see how far they matter.",
)
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
def train(
    data: tuple[Path, ...], output: Path, form: str | None, quiet: bool, replace: bool, **given: Any
) -> int:
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
    alphas = tuple(dict.fromkeys(a for group in given["alphas"] for a in group)) or (1.0,)
    plan, inputs = _plan(data, alphas, given)
    with interruptible() as pressed, on_terminal(quiet, "trees") as told:
        outcome = run_experiment(plan, told, pressed)
    described = _described(outcome, alphas, inputs, given)
    comparison = None
    if outcome.complete(plan.seeds[0]).keys() - set(plan.baselines):
        comparison = Comparison(outcome, alphas, inputs, described["settings"])
    write_folder(output, outcome, comparison, described)
    tell(outcome.notes if comparison is None else comparison.notes, quiet)
    if comparison is not None:
        write(View(comparison.result, lambda _: displays(comparison)), Output(form, None))
    if outcome.interrupted:
        click.echo(f"interrupted: {output} holds the best of the models so far", err=True)
        return INTERRUPTED
    return 0


def _plan(
    data: tuple[Path, ...], alphas: tuple[float, ...], given: dict[str, Any]
) -> tuple[Plan, tuple[tuple[Path, str], ...]]:
    """What the options ask for, and the files that it rests on."""
    from riskcli.learn.baselines import parse_source
    from riskcli.learn.experiment import Plan
    from riskcli.learn.folds import find_folds
    from riskcli.learn.lightgbm import lightgbm

    lightgbm()  # or an error, before anything is read
    sources = [parse_source(text) for text in given["baselines"]]
    settings = _settings(given)
    seeds = range(given["seed"], given["seed"] + given["seeds"])
    folds, files = find_folds(data, given["valid"], given["test"], given["folds"], given["seed"])
    own = [source.value for source in sources if source.kind == "feature"]
    selector = given["selector"] or (own[0] if len(sources) == 1 and own else None)
    plan = Plan(folds, sources, _wanted(alphas, given), settings, seeds, selector)
    read = [(source.path, source.kind) for source in sources if source.path is not None]
    return plan, (*files, *read)


def _settings(given: dict[str, Any]) -> Settings:
    from riskcli.learn.training import Settings, read_params
    from riskcli.trec.source import load

    file = given["params_file"]
    text = None if file is None else load(file).decode(errors="replace")
    return Settings(
        effectiveness=given["measure"], max_grade=given["max_grade"], trees=given["trees"],
        patience=given["patience"], truncation=given["truncation"], discount=given["discount"],
        pool=given["pool"], stop=given["stop"], start_weights=given["starts"],
        params=read_params(given["params"], text, str(file)),
    )  # fmt: skip


def _wanted(alphas: tuple[float, ...], given: dict[str, Any]) -> list[Wanted]:
    """A model for each objective and alpha; options that are not the default are in its name."""
    from riskcli.learn.training import Wanted

    own = {
        "tsaro": {"tr": "weighted", "spread": "current"},
        "tfaro": {"tr": "weighted", "spread": "current"},
        "georisk": {"marginals": "frozen"},
    }
    names = dict.fromkeys(given["objectives"] or ("urisk",))
    return [
        Wanted(name, alpha, {
            option: given[option]
            for option, default in own.get(name, {}).items() if given[option] != default
        })
        for name in names for alpha in alphas
    ]  # fmt: skip


def _described(
    outcome: Outcome, alphas: tuple[float, ...], inputs: tuple[tuple[Path, str], ...],
    given: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """What the numbers depend on, and how the models came out."""
    from riskcli.learn.folder import versions
    from riskcli.output.result import tidy
    from riskcli.trec.source import sha256

    plan = outcome.plan
    settings = {
        **{name: given[name] for name in ("measure", "max_grade", "pool", "tr", "spread",
           "marginals", "discount", "truncation", "trees", "patience", "stop", "folds", "seed")},
        "alphas": list(alphas), "models": [one.name for one in plan.models],
        "baselines": [str(source) for source in plan.sources], "selector": plan.selector,
        "starts": list(plan.settings.start_weights), "seeds": list(plan.seeds),
        "lightgbm": plan.settings.tree_params(plan.seeds[0]),
    }  # fmt: skip
    return {
        "versions": versions(),
        "settings": settings,
        "inputs": [
            {"path": path.name, "sha256": sha256(path), "kind": kind} for path, kind in inputs
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
    from riskcli.learn.features import read_features
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


def _scores(model: Path, documents: Any, baselines: tuple[str, ...]) -> tuple[Any, list[Any]]:
    """The model's scores, and what it starts from added again."""
    import json

    from riskcli.learn.baselines import load_model, parse_source, pooled_start, predicted

    beside = model.with_suffix(".json")
    about = json.loads(beside.read_text(encoding="utf-8")) if beside.is_file() else {}
    booster = load_model(model)
    names = tuple(about.get("features", ()))
    if names and len(documents.names) <= len(names):
        documents = documents.widened(names)
    scores = predicted(booster, documents)
    weight = float(about.get("start_weight", 0.0))
    if not weight:
        return scores, []
    started = [parse_source(text).scores(documents) for text in baselines or about["baselines"]]
    notes = [note for _, found in started for note in found]
    return scores + weight * pooled_start(documents, [one for one, _ in started]), notes
