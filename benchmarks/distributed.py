"""Training on more than one machine: U-CRO over LightGBM's Dask interface, and sampling by query.

    python -m benchmarks.distributed [--queries 4000]

Prints Markdown. First, U-CRO trained by one process and by two Dask workers. Their gradients are
the same, their bins are not: LightGBM's workers find the bins of a feature in their own data. Then,
what becomes of models trained on a part of the queries alone, of a start from the baseline's
ranking, and of a blend that is as risky as U-CRO on queries of its own.
Needs `dask[array]` and `distributed`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.make_features import Made, make_features
from riskcli.core.arrays import Floats
from riskcli.learn import DistributedURisk, GeoRisk, Objective, Plain, URisk
from riskcli.learn.comparators import JudgedQueries, RiskMatcher, blended
from riskcli.learn.features import Features, tie_free
from riskcli.learn.lambdas import Queries
from riskcli.learn.swaps import swap_measure
from riskcli.learn.training import RankedDocuments

TREES: dict[str, Any] = {
    "num_leaves": 15, "learning_rate": 0.1, "verbosity": -1, "deterministic": True,
    "force_row_wise": True,
}  # fmt: skip
DOCUMENTS, ROUNDS = 16, 60
START = 0.5
"""The weight of the baseline's ranking where a model starts from it."""
Least = Mapping[str, float]
LEAST: Least = {"min_data_in_leaf": 100}
"""What a leaf must hold."""


def _effectiveness(made: Made, scores: Floats) -> tuple[Floats, Floats]:
    """A ranking's and the baseline's, by query with a relevant document."""
    known = URisk().prepare(made.grades, made.sizes, made.baseline)
    return known.queries.effectiveness(scores), known.baselines[0]


def _line(name: str, made: Made, scores: Floats) -> str:
    model, baseline = _effectiveness(made, scores)
    return f"| {name} | {model.mean():.4f} | {np.maximum(baseline - model, 0).mean():.4f} |"


def one_process(
    made: Made,
    objective: Objective,
    rounds: int = ROUNDS,
    least: Least = LEAST,
    start: Floats | None = None,
) -> Any:
    """A model of one process."""
    import lightgbm

    data = lightgbm.Dataset(made.features, made.grades, group=made.sizes, init_score=start)
    params = {**TREES, "num_threads": 1, "metric": "None", "objective": objective}
    return lightgbm.train({**params, **least}, data, rounds)


def workers(made: Made, count: int, rounds: int = ROUNDS, least: Least = LEAST) -> Floats:
    """The predictions of a model that so many Dask workers trained, each on as many queries."""
    import lightgbm
    from dask import array
    from distributed import Client, LocalCluster

    known = URisk(ties="file").prepare(made.grades, made.sizes, made.baseline)
    effectiveness = np.zeros(len(made.sizes))
    effectiveness[known.queries.counted] = known.baselines[0]
    queries = len(made.sizes) // count
    rows = queries * int(made.sizes[0])
    with (
        LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")

        def cut(values: Any, size: int) -> Any:
            """A part for every worker, which is sent it: Dask might give one of them all."""
            parts = [
                client.scatter(values[number * size :][:size], workers=[address])
                for number, address in enumerate(client.scheduler_info()["workers"])
            ]
            shape = (size, *values.shape[1:])
            return array.concatenate(
                [array.from_delayed(part, shape, dtype=values.dtype) for part in parts]
            )

        ranker = lightgbm.DaskLGBMRanker(
            objective=DistributedURisk(alpha=5, ties="file"), n_estimators=rounds, client=client,
            **TREES, **least,
        )  # fmt: skip
        ranker.fit(
            cut(made.features, rows), cut(made.grades, rows), group=cut(made.sizes, queries),
            sample_weight=cut(np.repeat(effectiveness, made.sizes), rows),
        )  # fmt: skip
        return np.asarray(ranker.to_local().predict(made.features))


@click.command()
@click.option("--queries", default=4000, show_default=True)
@click.option("--count", default=2, show_default=True, help="Dask workers.")
def main(queries: int, count: int) -> None:
    """Train in both ways, then on ever fewer queries."""
    made = make_features(queries, DOCUMENTS, 8, seed=5)
    alone = one_process(made, URisk(alpha=5, baseline=made.baseline, ties="file"))
    single = np.asarray(alone.predict(made.features))
    together = workers(made, count)
    click.echo("| U-CRO, alpha 5, on its training queries | mean | risk |\n|:--|--:|--:|")
    click.echo(_line("one process", made, single))
    click.echo(_line(f"{count} Dask workers", made, together))
    click.echo(f"\nCorrelation of predictions: {np.corrcoef(single, together)[0, 1]:.4f}\n")
    unseen, valid = (make_features(queries, DOCUMENTS, 8, seed=seed) for seed in (6, 8))
    click.echo("| trained on | mean, unseen queries | risk |\n|:--|--:|--:|")
    for share in (1, 2, 4, 8):
        part = make_features(queries // share, DOCUMENTS, 8, seed=7)
        for name, scores in instead(part, valid, unseen).items():
            click.echo(_line(f"{queries // share:,} queries, {name}", unseen, scores))


def instead(part: Made, valid: Made, unseen: Made) -> dict[str, Floats]:
    """What can be done on one machine with a part of the queries: scores of unseen documents."""
    models = {
        kind.declared.title: one_process(part, kind(alpha=5, baseline=part.baseline))
        for kind in (Plain, URisk, GeoRisk)
    }
    scores = {name: np.asarray(model.predict(unseen.features)) for name, model in models.items()}
    held_out, test = _judged(valid), _judged(unseen)
    plain, careful = (
        np.asarray(models[kind.declared.title].predict(valid.features)) for kind in (Plain, URisk)
    )
    weight = RiskMatcher(held_out, plain).weight(held_out.risk(careful))
    objective = URisk(alpha=5, baseline=part.baseline)
    started = one_process(part, objective, start=START * _judged(part).part.start)
    return {
        **scores,
        "LambdaMART, blended": blended(test.part, scores[Plain.declared.title], weight),
        "U-CRO, from the baseline": started.predict(unseen.features) + START * test.part.start,
    }


def _judged(made: Made) -> JudgedQueries:
    topics, docnos, names = (
        tuple(map(str, range(count)))
        for count in (len(made.sizes), len(made.grades), made.features.shape[1])
    )
    values = made.features.astype(np.float64)
    features = Features(Path("made"), topics, made.sizes, made.grades, docnos, values, names)
    queries = Queries(made.grades, made.sizes, swap_measure(), ties="file")
    return JudgedQueries(
        RankedDocuments(features, {"baseline": tie_free(features, made.baseline)}), queries
    )


if __name__ == "__main__":
    main()
