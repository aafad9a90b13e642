"""LambdaMART's gradients by literally swapping documents and scoring everything anew.

Plain Python on `tests/helpers/reference.py`; it shares no code with the package.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev

import numpy as np
from numpy.typing import NDArray

from tests.helpers import reference

Floats = NDArray[np.float64]
Grades = Sequence[int]
OfRanking = Callable[[Grades], float]
"""An effectiveness measure of grades in the order of a ranking."""
OfModel = Callable[[Sequence[float], int], float]
"""What an objective comes to (times c) for the model's scores, of which only this query moved."""


def measured(name: str, k: int | None = None) -> OfRanking:
    """The reference's measure of that name."""
    functions: dict[str, Callable[[list[str], Mapping[str, int]], float]] = {
        "exp": lambda order, grades: reference.ndcg_exp(order, grades, k),
        "ndcg": lambda order, grades: reference.ndcg(order, grades, k),
        "err": lambda order, grades: reference.err(order, grades, k or 10**6),
        "ap": lambda order, grades: reference.average_precision(order, grades, k),
    }

    def of_ranking(grades: Grades) -> float:
        names = [str(number) for number in range(len(grades))]
        return functions[name](names, dict(zip(names, grades, strict=True)))

    return of_ranking


@dataclass(frozen=True)
class Data:
    """Queries of any sizes, the documents' grades and scores, and those of baselines."""

    sizes: tuple[int, ...]
    grades: Floats
    scores: Floats
    baselines: tuple[Floats, ...]

    def queries(self) -> list[slice]:
        """Where each query's documents lie."""
        ends = np.cumsum(self.sizes).tolist()
        return [slice(end - size, end) for end, size in zip(ends, self.sizes, strict=True)]

    def ranking(self, query: slice, scores: Floats) -> list[int]:
        """The documents of a query by falling score; ties as they lie in the file."""
        documents = range(query.start, query.stop)
        return sorted(documents, key=lambda document: -scores[document])

    def graded(self, documents: Sequence[int]) -> list[int]:
        """Their grades."""
        return [int(self.grades[document]) for document in documents]

    def counted(self) -> list[slice]:
        """The queries with a relevant document."""
        return [query for query in self.queries() if self.grades[query].max() > 0]

    def effectiveness(self, measure: OfRanking, scores: Floats) -> list[float]:
        """The measure of each counted query."""
        return [measure(self.graded(self.ranking(query, scores))) for query in self.counted()]


def made(seed: int, queries: int = 7, most: int = 9, baselines: int = 1, ties: bool = True) -> Data:
    """Random data with ties, one-document queries and queries without a relevant document."""
    random = np.random.default_rng(seed)
    sizes = (1, *random.integers(1, most, size=queries - 1).tolist())
    count = sum(sizes)
    grades = random.choice([0, 0, 1, 2, 3, 4], size=count).astype(float)
    grades[sizes[0] : sizes[0] + sizes[1]] = 0
    grades[-sizes[-1]] = 2
    scores = random.normal(size=count)
    several = tuple(grades + random.normal(scale=2, size=count) for _ in range(baselines))
    return Data(sizes, grades, np.round(scores, 0 if ties else 9), several)


def plain(_model: Sequence[float]) -> OfModel:
    """The sum of the measure."""
    return lambda moved, _query: math.fsum(moved)


def u_cro(baselines: Sequence[Sequence[float]], alpha: float) -> Callable[..., OfModel]:
    """c times URisk, the mean over the baselines."""

    def start(_model: Sequence[float]) -> OfModel:
        return lambda moved, _query: reference.mean(
            len(moved) * reference.urisk(moved, baseline, alpha) for baseline in baselines
        )

    return start


def own_alphas(
    model: Sequence[float], baseline: Sequence[float], alpha: float, tr: str = "weighted"
) -> list[float]:
    """alpha' of SIGIR'14, Eq. 25."""
    w = reference.weighted(model, baseline, alpha)
    unit = stdev(w) if len(w) > 1 else 0.0
    if tr == "se":
        unit /= math.sqrt(len(w))
    over = w if tr == "weighted" else reference.deltas(model, baseline)
    return [alpha * (1 - reference.phi_cdf(x / unit if unit > 1e-15 else 0.0)) for x in over]


def t_saro(
    baselines: Sequence[Sequence[float]], alpha: float, tr: str = "weighted"
) -> Callable[..., OfModel]:
    """The sum of w with an alpha for each query, kept as it was before the swap."""

    def start(model: Sequence[float]) -> OfModel:
        alphas = [own_alphas(model, baseline, alpha, tr) for baseline in baselines]

        def value(moved: Sequence[float], _query: int) -> float:
            return reference.mean(
                math.fsum(d if d >= 0 else (1 + a) * d for d, a in zip(deltas, own, strict=True))
                for deltas, own in zip(
                    [reference.deltas(moved, b) for b in baselines], alphas, strict=True
                )
            )

        return value

    return start


def t_faro(
    baselines: Sequence[Sequence[float]], alpha: float, tr: str = "weighted"
) -> Callable[..., OfModel]:
    """The sum of the measure, each query 1 + alpha' times."""

    def start(model: Sequence[float]) -> OfModel:
        alphas = [own_alphas(model, baseline, alpha, tr) for baseline in baselines]
        return lambda moved, _query: reference.mean(
            math.fsum((1 + a) * x for a, x in zip(own, moved, strict=True)) for own in alphas
        )

    return start


def georisk_exact(baselines: Sequence[Sequence[float]], alpha: float) -> Callable[..., OfModel]:
    """c times GeoRisk, everything anew."""

    def start(_model: Sequence[float]) -> OfModel:
        return lambda moved, _query: (
            len(moved) * reference.georisk([*baselines, moved], len(baselines), alpha)
        )

    return start


def georisk_frozen(baselines: Sequence[Sequence[float]], alpha: float) -> Callable[..., OfModel]:
    """c times GeoRisk, where only the z of the query that moved is computed anew."""

    def weighted_z(model: Sequence[float], query: int) -> float:
        matrix = [*baselines, model]
        grand = math.fsum(math.fsum(row) for row in matrix)
        column = math.fsum(row[query] for row in matrix)
        e = math.fsum(model) * column / grand if grand > 0 else 0.0
        z = (model[query] - e) / math.sqrt(e) if e > 0 else 0.0
        return z if z >= 0 else (1 + alpha) * z

    def start(model: Sequence[float]) -> OfModel:
        before = [weighted_z(model, query) for query in range(len(model))]

        def value(moved: Sequence[float], query: int) -> float:
            others = math.fsum(before[:query] + before[query + 1 :])
            zrisk = others + weighted_z(moved, query)
            c = len(moved)
            return c * reference.georisk_value(math.fsum(moved) / c, zrisk, c)

        return value

    return start


@dataclass(frozen=True)
class Literal:
    """Gradients by the book."""

    measure: OfRanking
    objective: Callable[[Sequence[float]], OfModel]
    rows: int = 10**6
    sigma: float = 1.0
    normalize: bool = False
    clamped: bool = False

    def swaps(self, data: Data) -> dict[tuple[int, int], tuple[float, float]]:
        """For each pair of unequal grades (upper, lower): change of measure, of objective."""
        model = data.effectiveness(self.measure, data.scores)
        value = self.objective(model)
        found = {}
        for number, query in enumerate(data.counted()):
            ranking = data.ranking(query, data.scores)
            before = value(model, number)
            for i in range(min(self.rows, len(ranking) - 1)):
                for j in range(i + 1, len(ranking)):
                    upper, lower = ranking[i], ranking[j]
                    if data.grades[upper] == data.grades[lower]:
                        continue
                    swapped = [*ranking]
                    swapped[i], swapped[j] = lower, upper
                    moved = [*model]
                    moved[number] = self.measure(data.graded(swapped))
                    change = moved[number] - model[number]
                    weight = value(moved, number) - before
                    if self.clamped and weight * change <= 0:
                        weight = 0.0
                    found[upper, lower] = (change, weight)
        return found

    def gradients(self, data: Data) -> tuple[Floats, Floats]:
        """First and second derivatives."""
        grad, hess = np.zeros(len(data.grades)), np.zeros(len(data.grades))
        swaps = self.swaps(data)
        for query in data.counted():
            mine = {pair: both for pair, both in swaps.items() if pair[0] in range(*_span(query))}
            scores = data.scores[query]
            spread = self.normalize and scores.max() != scores.min()
            total = 0.0
            parts = []
            for (upper, lower), (change, weight) in mine.items():
                better, worse = (lower, upper) if change > 0 else (upper, lower)
                apart = float(data.scores[better] - data.scores[worse])
                rho = 1 / (1 + math.exp(self.sigma * apart))
                over = float(np.float32(0.01)) + abs(apart) if spread else 1.0
                total += 2 * self.sigma * rho * abs(change) / over
                size = weight / over if change > 0 else -weight / over
                parts.append((better, worse, rho, size))
            shrunk = math.log2(1 + total) / total if self.normalize and total > 0 else 1.0
            for better, worse, rho, size in parts:
                grad[better] -= shrunk * self.sigma * rho * size
                grad[worse] += shrunk * self.sigma * rho * size
                for document in (better, worse):
                    hess[document] += shrunk * self.sigma**2 * rho * (1 - rho) * abs(size)
        return grad, hess


def _span(query: slice) -> tuple[int, int]:
    return query.start, query.stop
