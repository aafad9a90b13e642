"""Figures of what `riskeval train` wrote: curves (SIGIR'12, Figure 4), churn (Figure 5)."""

import csv
from collections import defaultdict
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from riskcli.analyses.rank_agreement import kendall_tau_b
from riskcli.core.arrays import Floats
from riskcli.core.messages import InputError, UsageError, naturally
from riskcli.plots.labels import Frame, domain, end_names, run_lines, shortened
from riskcli.plots.request import ExperimentRequest
from riskcli.plots.style import GAIN, MOST_COLOURS, bars_between, grid, on_scale, outer_titles
from riskcli.trec.runs import read_run

FILE = "curve.csv"
FIGURES = {
    "mean": "mean of the measure",
    "risk": "risk: mean loss to the baseline",
    "reward": "reward: mean gain over the baseline",
    "urisk": "URisk at the model's own alpha",
    "trisk": "TRisk at the model's own alpha",
    "georisk": "GeoRisk at the model's own alpha",
}
"""What a curve may show, which is a column of the file, and the axis."""


def draw_curve(request: ExperimentRequest) -> Any:
    """A line a model on the validation queries, the mean over folds and seeds.

    It ends with the tree at which the first of them stopped.
    """
    of = request.one_of(list(FIGURES))
    lines = _means(request.folder / FILE, of)
    names = chosen_models(list(lines), request.runs)
    every = np.concatenate([lines[name] for name in names])
    longest = max(len(lines[name]) for name in names)
    frame = Frame((0, longest), domain(every), *request.panel(520, 330))
    x = on_scale(alt.X, "trees", "trees", frame.x)
    y = on_scale(alt.Y, "value", FIGURES[of], frame.y)
    quiet = [name for name in lines if name not in names]
    layers = run_lines(_curve_rows(lines, quiet), _curve_rows(lines, names), names, x, y)
    ends = np.array([lines[name][-1] for name in names])
    layers += end_names(names, ends, frame)
    return alt.layer(*layers).properties(width=frame.width, height=frame.height)


def _means(path: Path, column: str) -> dict[str, Floats]:
    """By model, the mean over folds and seeds after each tree that all of them reached."""
    found: dict[str, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                if row["part"] == "valid":
                    found[row["run"]][row["seed"], row["fold"]].append(float(row[column]))
    except OSError as error:
        message = f"{error.strerror}; expected a folder that `riskeval train` wrote"
        raise InputError(path, "unreadable", message) from error
    except (KeyError, ValueError) as error:
        raise InputError(path, "bad-curve", f"not a curve of riskeval train: {error}") from error
    if not found:
        raise InputError(path, "bad-curve", "no curve of any model is in it")
    return {name: _mean(list(curves.values())) for name, curves in found.items()}


def _mean(curves: Sequence[Sequence[float]]) -> Floats:
    shortest = min(map(len, curves))
    return np.asarray(np.mean([curve[:shortest] for curve in curves], axis=0))


def chosen_models(known: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The models asked for by name or glob, else as many as there are colours."""
    if not wanted:
        return list(known[:MOST_COLOURS])
    names = [name for glob in wanted for name in known if fnmatchcase(name, glob)]
    if not names:
        raise UsageError(f"no model is called {', '.join(wanted)}; there are {', '.join(known)}")
    return list(dict.fromkeys(names))


def _curve_rows(lines: dict[str, Floats], names: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"run": name, "trees": tree, "value": value}
        for name in names
        for tree, value in enumerate(lines[name].tolist(), start=1)
    ]


# How far models turn the baseline's rankings round: SIGIR'12, Figure 5, from train's folder.


BINS = 10
_COMPARATORS = (".blend", ".select")
_TITLE = "Kendall distance of rankings to the baseline's; % of queries below 0.1"
Rankings = dict[str, dict[str, float]]
"""By query and document, its score."""


def draw_churn(request: ExperimentRequest) -> Any:
    """A histogram of the distances, a panel a model; the title tells the share in the first bin.

    Comparators are drawn where they are asked for by name.
    """
    folder = request.folder / "runs"
    paths = {path.stem: path for path in sorted(folder.glob("*.run"))}
    baselines = [name for name in paths if name.startswith("baseline")]
    if not baselines or len(baselines) == len(paths):
        message = "no baseline and models are in it; expected a folder that `riskeval train` wrote"
        raise InputError(folder, "unreadable", message)
    known = naturally(name for name in paths if name not in baselines)
    models = [name for name in known if not name.endswith(_COMPARATORS)]
    names = chosen_models(known, request.runs) if request.runs else chosen_models(models, ())
    before = [_rankings(paths[name]) for name in baselines]
    columns = min(2 if request.narrow else 3, len(names))
    outer = outer_titles(len(names), columns, "distance", "% of queries")
    width, height = request.panel(190, 120)
    panels = []
    for name, titles in zip(names, outer, strict=True):
        model = _rankings(paths[name])
        distances = np.mean([_distances(paths[name], model, one) for one in before], axis=0)
        shares = histogram(distances).tolist()
        rows = [
            {"run": name, "low": number / BINS, "high": (number + 1) / BINS, "share": share}
            for number, share in enumerate(shares)
        ]
        title = alt.Title(f"{shortened(name, 18)}  {shares[0]:.0f} %", fontSize=12, anchor="middle")
        drawn = bars_between(rows, "share", [0, 1], titles, color=GAIN)
        panels.append(drawn.properties(title=title, width=width, height=height))
    whole = _TITLE if len(before) == 1 else f"{_TITLE}, mean over {len(before)} baselines"
    return grid(panels, columns, whole, offset=12)


def histogram(distances: Floats) -> Floats:
    """The share of the queries, in percent, in each tenth from 0 to 1."""
    bins = np.minimum(np.round(distances * BINS, 9).astype(np.int64), BINS - 1)
    return np.asarray(100 * np.bincount(bins, minlength=BINS) / len(distances))


def _rankings(path: Path) -> Rankings:
    run = read_run(path)
    by_query: Rankings = {topic: {} for topic in run.topics}
    rows = zip(run.topic_codes.tolist(), run.docnos.as_strings(), run.scores.tolist(), strict=True)
    for code, docno, score in rows:
        by_query[run.topics[code]][docno] = score
    return by_query


def _distances(path: Path, model: Rankings, baseline: Rankings) -> Floats:
    """Of every query with two documents or more: the share of its pairs that changed sides."""
    distances = []
    for topic, scores in model.items():
        others = baseline.get(topic, {})
        if scores.keys() != others.keys():
            message = f"query {topic} has other documents than the baseline's run"
            raise InputError(path, "no-common-document", message)
        if len(scores) > 1:
            tau = kendall_tau_b(_ranks(scores, scores), _ranks(others, scores))
            distances.append((1 - tau) / 2)
    if not distances:
        raise InputError(path, "no-common-document", "no query has two documents")
    return np.array(distances)


def _ranks(scores: dict[str, float], order: dict[str, float]) -> Floats:
    """The rank of each document, the documents in the order of `order`; written runs never tie."""
    listed = np.array([scores[docno] for docno in order])
    return np.argsort(np.argsort(-listed)).astype(np.float64)
