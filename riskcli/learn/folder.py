"""The folder that an experiment leaves: runs, judgements, models, curves, settings.

It is written beside its place and then moved there, so that nobody ever sees half of one.
"""

import csv
import hashlib
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from riskcli.core.content_hash import with_hash
from riskcli.core.files import replaced_folder, write_part
from riskcli.core.messages import Note, Provenance, UsageError, counted, listed
from riskcli.effectiveness.scoring import WEB_TRACK_MAX_GRADE
from riskcli.learn.comparison import ModelComparison, alpha_ranges
from riskcli.learn.experiment import Outcome
from riskcli.learn.features import qrels_lines, run_lines
from riskcli.learn.model_files import MODEL_HASH, Sidecar
from riskcli.learn.objective import FIGURES
from riskcli.learn.training import TrainedModel, lightgbm
from riskcli.output.renderers import as_csv
from riskcli.output.result import Result

SETTINGS = "settings.json"
_WRITTEN = (
    r"settings\.json|qrels|report\.html|(?:curve|importance|comparison|comparators|models/index)"
    r"\.csv|models/MODEL(?:-seed-?\d+)?-fold\d+\.(?:txt|json)|"
    r"runs(?:-seed-?\d+)?/(?:baseline\d*|MODEL(?:\.\w+)?)\.run"
)
"""The files that an experiment leaves, with the names of its models for MODEL."""
_MODELS = ("run", "seed", "fold", "trees", "start_weight", "validation")
_CURVE = ("seed", "fold", "run", "part", "trees", *FIGURES)
_IMPORTANCE = ("seed", "fold", "run", "feature", "gain", "splits")


def check_folder(path: Path, replace: bool) -> None:
    """Refuse a folder that holds something, unless it is to be replaced and was written here."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if not path.is_dir():
        raise UsageError(f"{path} is a file, expected a folder to write")
    if not (path / SETTINGS).is_file():
        raise UsageError(f"{path} holds something else: name a new folder")
    if not replace:
        raise UsageError(f"{path} holds an experiment already: --replace writes over it")
    if strange := _from_elsewhere(path):
        said = f"{counted(len(strange), 'file')} from elsewhere ({listed(strange)})"
        raise UsageError(f"{path} holds {said}, which would be lost: move them away")


def _from_elsewhere(path: Path) -> list[str]:
    """The files in an experiment's folder that no training wrote, by their names."""
    index = path / "models" / "index.csv"
    lines = index.read_text(encoding="utf-8").splitlines()[1:] if index.is_file() else []
    models = "|".join(sorted({re.escape(row[0]) for row in csv.reader(lines) if row}))
    own = re.compile(_WRITTEN.replace("MODEL", f"(?:{models})"))
    there = (each for each in path.rglob("*") if each.is_symlink() or not each.is_dir())
    names = sorted(each.relative_to(path).as_posix() for each in there)
    return [name for name in names if own.fullmatch(name) is None]


def write_folder(path: Path, outcome: Outcome, comparison: ModelComparison | None,
                 settings: Mapping[str, Any]) -> None:  # fmt: skip
    """All that an experiment gave; without a comparison no model was trained on all folds."""
    with replaced_folder(path) as part:
        index = [
            (name, seed, fold + 1, model.trees, model.start_weight, model.figure)
            for (seed, fold, name), model in outcome.models.items()
        ]
        write_part(part / "models" / "index.csv", _csv(_MODELS, index))
        for (seed, fold, name), model in outcome.models.items():
            of_seed = "" if seed == outcome.plan.seeds[0] else f"-seed{seed}"
            stem = f"{name}{of_seed}-fold{fold + 1}"
            text = model.booster.model_to_string(num_iteration=model.trees)
            write_part(part / "models" / f"{stem}.txt", [text])
            sidecar = json.dumps(with_hash(_about(outcome, fold, model, text)), indent=2)
            write_part(part / "models" / f"{stem}.json", [sidecar + "\n"])
        curves = [
            (seed, fold + 1, name, *row.values())
            for (seed, fold, name), model in outcome.models.items()
            for row in model.curve
        ]
        write_part(part / "curve.csv", _csv(_CURVE, curves))
        write_part(part / "importance.csv", _csv(_IMPORTANCE, list(_importance(outcome))))
        described = json.dumps(_described(outcome, settings), indent=2, ensure_ascii=False)
        write_part(part / SETTINGS, [described + "\n"])
        write_part(part / "qrels", (line for test in outcome.tests for line in qrels_lines(test)))
        for seed in outcome.runs:
            folder = part / ("runs" if seed == outcome.plan.seeds[0] else f"runs-seed{seed}")
            for name, run in outcome.complete(seed).items():
                pairs = zip(outcome.tests, run.scores, strict=True)
                lines = (line for test, scores in pairs for line in run_lines(test, scores, name))
                write_part(folder / f"{name}.run", lines)
        if comparison is not None:
            write_part(part / "comparison.csv", [as_csv(comparison.result())])
            write_part(part / "comparators.csv", [as_csv(comparison.comparators())])
            write_part(part / "report.html", [comparison.page()])


def how_to_score(path: Path, comparison: ModelComparison) -> Note:
    """What says the same of the runs in the folder."""
    plan, settings = comparison.outcome.plan, comparison.outcome.plan.settings
    alphas = ",".join(f"{alpha:g}" for alpha in comparison.table.options.alphas)
    several = f' -b "baseline*" --pool {settings.baseline_pool}'
    against = several if len(plan.sources) > 1 else " -b baseline"
    usual = settings.max_grade == WEB_TRACK_MAX_GRADE
    grades = "" if usual else f" --max-grade {settings.max_grade}"
    runs = " ".join(shlex.quote(str(folder)) for folder in sorted(path.glob("runs*")))
    averaged = " --replicates '[^/]+$'" if len(comparison.evaluations) > 1 else ""
    command = (
        f"riskeval score {runs} -q {shlex.quote(str(path / 'qrels'))}"
        f'{against} -m "{settings.effectiveness}" -a {alphas}{grades}{averaged}'
    )
    message = f"{path} has runs, models and a page; to score the runs again: {command}"
    return Note("scored-again", message, False)


def _csv(columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> list[str]:
    return [as_csv(Result(columns, rows))] if rows else []


def _importance(outcome: Outcome) -> Iterator[tuple[Any, ...]]:
    """How much each feature gained in each model, and how often it split."""
    for (seed, fold, name), model in outcome.models.items():
        gains = model.booster.feature_importance("gain", iteration=model.trees)
        splits = model.booster.feature_importance("split", iteration=model.trees)
        for n in np.argsort(-gains, kind="stable").tolist():
            yield seed, fold + 1, name, model.feature_names[n], float(gains[n]), int(splits[n])


def _about(outcome: Outcome, fold: int, model: TrainedModel, text: str) -> dict[str, Any]:
    """The sidecar, and what else a reader may want to know."""
    sources = tuple(str(source) for source in outcome.plan.sources)
    seen = tuple(str(file.sha256) for file in outcome.of_folds[fold] if file.kind != "test")
    return {
        **asdict(Sidecar(model.feature_names, model.start_weight, sources, seen)),
        "objective": model.spec.objective, "alpha": model.spec.alpha,
        "options": dict(model.spec.options), "measure": outcome.plan.settings.effectiveness,
        MODEL_HASH: hashlib.sha256(text.encode()).hexdigest(),
    }  # fmt: skip


def _described(outcome: Outcome, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the numbers depend on, and how the training went."""
    versions = {"lightgbm": lightgbm().__version__, "numpy": np.__version__}
    provenance = Provenance(settings, tuple(outcome.inputs), tuple(dict.fromkeys(outcome.notes)))
    extra = {**alpha_ranges(outcome), "interrupted": outcome.interrupted, "versions": versions}
    return Result((), (), provenance, extra).envelope()
