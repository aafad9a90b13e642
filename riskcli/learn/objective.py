"""What all objectives share: how LightGBM calls them, how they are declared and validated."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskcli.core.arrays import Floats
from riskcli.core.choices import check_word, check_words
from riskcli.core.messages import UsageError
from riskcli.learn.choices import DEFAULT_MEASURE, Discount, StopOn, Ties
from riskcli.learn.lambdas import PairWeighting, Queries, SwapChange, gradients, rank
from riskcli.learn.swaps import SwapMeasure, swap_measure
from riskcli.risk.comparison import POOLS
from riskcli.risk.paired import Paired
from riskcli.risk.population import Population
from riskcli.scores.comparisons import POOL_EACH

BaselineScores = ArrayLike | Mapping[str, ArrayLike]
"""A baseline's scores, one a document, or its effectiveness, one a query; several by name."""
FloatPair = tuple[Floats, Floats]
FIGURES = ("mean", "reward", "risk", "urisk", "trisk", "georisk")
"""What is shown after each tree, of which one tells when to stop."""
Evaluated = tuple[str, float, bool]
"""What LightGBM wants of an evaluation: name, value, whether higher is better."""


@dataclass(frozen=True)
class Declaration:
    """The name, formula and source of an objective."""

    id: str
    title: str
    formula: str
    source: str
    stop: str
    """The id of the figure that tells on validation data when to stop."""


@dataclass
class QueryData:
    """A data set as the objective knows it."""

    queries: Queries
    baselines: Floats
    """The effectiveness of each baseline (row) on each counted query."""
    weights: Floats | None = None
    memory: dict[str, Any] = field(default_factory=dict)
    """What an objective keeps from one iteration to the next."""

    def set_weights(self, weights: ArrayLike | None) -> None:
        """Take the weights of documents, where there are any."""
        self.weights = None if weights is None else np.asarray(weights, dtype=np.float64)


@dataclass(kw_only=True, eq=False)
class Objective(ABC):
    """An objective that LightGBM takes as `params["objective"]`, and LGBMRanker as `objective`.

    `baseline` is one number a document of the training data (scores to rank by) or one a query (its
    effectiveness); or several of them by name, which `pool` makes one, or "each" keeps apart.
    Ties of scores, as all are before the first iteration, are broken in a shuffled order, so that
    a file sorted by grade gains nothing; "file" breaks them as LightGBM's lambdarank does.
    """

    declared: ClassVar[Declaration]
    pools: ClassVar[tuple[str, ...]] = (*POOLS, POOL_EACH)
    needs_baseline: ClassVar[bool] = True
    """Whether the objective compares with anything."""

    baseline: BaselineScores | None = None
    alpha: float = 1.0
    pool: str = "mean"
    effectiveness: str = DEFAULT_MEASURE
    max_grade: int = 4
    truncation: int | None = None
    discount: Discount = "full"
    normalize: bool = True
    sigma: float = 1.0
    ties: Ties = "shuffled"
    history: list[dict[str, float]] = field(default_factory=list, repr=False)
    """What the training data showed before each iteration."""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.alpha) and self.alpha >= 0):
            raise UsageError(f"alpha is {self.alpha}, expected a number of at least 0")
        check_word("pool", self.pool, self.pools)
        check_words(ties=(self.ties, Ties))
        if self.truncation is not None and self.truncation < 1:
            raise UsageError(f"truncation is {self.truncation}, expected at least 1")
        self.swaps: SwapMeasure = swap_measure(self.effectiveness, self.discount, self.max_grade)
        self._training = _DataSets(self, self.baseline)

    def __deepcopy__(self, _memo: Any) -> Self:
        """Itself: lgb.train copies its parameters, but the history must stay in this object."""
        return self

    @abstractmethod
    def swapped(self, model: Floats, data: QueryData) -> SwapChange:
        """How changes of the measure change the objective, at the model's effectiveness."""

    def __call__(self, first: Any, second: Any, weight: Any = None, group: Any = None) -> FloatPair:
        """The gradients and hessians: from (scores, Dataset), as lgb.train asks, or from
        (grades, scores, weights, query sizes), as LGBMRanker does.
        """
        data, scores = self._training.shown(first, second, weight, group)
        return self.derivatives(np.asarray(scores, dtype=np.float64), data)

    def derivatives(self, scores: Floats, data: QueryData) -> FloatPair:
        """The gradients and hessians at these scores."""
        queries = data.queries
        if scores.shape != (queries.documents,):
            raise UsageError(f"{scores.size} scores for {queries.documents} documents")
        ranked, model = rank(queries, scores)
        self.history.append(summary(model, data.baselines, self.alpha))
        options = PairWeighting(self.truncation or self.swaps.rows, self.sigma, self.normalize)
        grad, hess = gradients(queries, ranked, scores, self.swapped(model, data), options)
        if data.weights is not None:
            grad, hess = grad * data.weights, hess * data.weights
        return grad, hess

    def measure(
        self,
        baseline: BaselineScores | None = None,
        stop: str | None = None,
        history: list[dict[str, float]] | None = None,
    ) -> Callable[..., Evaluated]:
        """How far validation data get in what is trained for: LightGBM's `feval`, or the
        `eval_metric` of LGBMRanker.

        `baseline` is the baseline's on the validation data, given as to the objective; `stop` names
        another figure: mean (of the effectiveness measure), urisk, trisk or georisk. All figures
        are appended to `history` at each call.
        """
        figure = stop or self.declared.stop
        check_words(stop=(figure, StopOn))
        validation = _DataSets(self, baseline)

        def evaluated(first: Any, second: Any, weight: Any = None, group: Any = None) -> Evaluated:
            data, scores = validation.shown(first, second, weight, group)
            figures = summary(data.queries.effectiveness(scores), data.baselines, self.alpha)
            if history is not None:
                history.append(figures)
            return figure, figures[figure], True

        return evaluated

    def prepare(
        self, grades: ArrayLike, sizes: ArrayLike, baseline: BaselineScores | None
    ) -> QueryData:
        """A data set with its baselines, for `derivatives`."""
        queries = Queries(grades, sizes, self.swaps, self.ties)
        if not len(queries.counted):
            raise UsageError("no query has a relevant document: nothing can be learned")
        return QueryData(queries, self._pooled(queries, baseline))

    def _pooled(self, queries: Queries, baseline: BaselineScores | None) -> Floats:
        """The effectiveness of the baselines (rows), pooled as asked for."""
        if baseline is None:
            if self.needs_baseline:
                raise UsageError(f"{self.declared.title} needs a baseline")
            return np.zeros((1, len(queries.counted)))
        several = list(baseline.values()) if isinstance(baseline, Mapping) else [baseline]
        each = np.array([queries.baseline_effectiveness(one) for one in several])
        return self._merged(each)

    def _merged(self, each: Floats) -> Floats:
        return each if self.pool == POOL_EACH else POOLS[self.pool](each)[None]


class _DataSets:
    """What the objective knows of the data sets that LightGBM shows it."""

    def __init__(self, objective: Objective, baseline: BaselineScores | None) -> None:
        self._objective, self._baseline = objective, baseline
        self._read: WeakKeyDictionary[Any, QueryData] = WeakKeyDictionary()
        self._last: QueryData | None = None

    def shown(self, first: Any, second: Any, weight: Any, group: Any) -> tuple[QueryData, Any]:
        """The data set and its scores, in the order of arguments of either interface."""
        if not hasattr(second, "get_group"):
            return self._of_arrays(first, weight, group), second
        if second not in self._read:
            self._read[second] = self._of_dataset(second)
        return self._read[second], first

    def _of_dataset(self, dataset: Any) -> QueryData:
        if dataset.get_group() is None:
            raise UsageError("the data set has no query groups: give Dataset(..., group=sizes)")
        rows, baseline = _rows_of_the_whole(dataset), self._baseline
        chosen = baseline if rows is None or baseline is None else _of_rows(baseline, rows)
        data = self._objective.prepare(dataset.get_label(), dataset.get_group(), chosen)
        data.set_weights(dataset.get_weight())
        return data

    def _of_arrays(self, grades: Any, weights: Any, sizes: Any) -> QueryData:
        """The one data set that LGBMRanker shows to each function, known by grades and queries."""
        if sizes is None:
            raise UsageError("the objective needs the query groups: fit(..., group=sizes)")
        last = None if self._last is None else self._last.queries
        if last is None or not (
            np.array_equal(last.grades, grades) and np.array_equal(last.sizes, sizes)
        ):
            self._last = self._objective.prepare(grades, sizes, self._baseline)
        assert self._last is not None
        self._last.set_weights(weights)
        return self._last


def summary(model: Floats, baselines: Floats, alpha: float) -> dict[str, float]:
    """The figures of a model; with several baselines, the mean over them."""
    pairs = [Paired(model[None], baseline) for baseline in baselines]
    population = Population.of_baselines(np.vstack([baselines, model]), list(range(len(baselines))))
    figures = (
        model.mean(),
        np.mean([pair.reward[0] for pair in pairs]),
        np.mean([pair.risk[0] for pair in pairs]),
        np.mean([pair.urisk(alpha)[0] for pair in pairs]),
        np.mean([pair.trisk(alpha)[0] for pair in pairs]),
        population.georisk(alpha)[-1],
    )
    return dict(zip(FIGURES, map(float, figures), strict=True))


def _rows_of_the_whole(dataset: Any) -> NDArray[np.intp] | None:
    """Which rows of the data set that was cut up (lgb.cv, subset) these are; None for a whole."""
    rows: NDArray[np.intp] | None = None
    while getattr(dataset, "used_indices", None) is not None:
        own = np.asarray(dataset.used_indices, dtype=np.intp)
        rows = own if rows is None else own[rows]
        dataset = dataset.reference
    return rows


def _of_rows(baseline: BaselineScores, rows: NDArray[np.intp]) -> BaselineScores:
    if isinstance(baseline, Mapping):
        return {name: _taken(scores, rows) for name, scores in baseline.items()}
    return _taken(baseline, rows)


def _taken(given: ArrayLike, rows: NDArray[np.intp]) -> Floats:
    scores = np.asarray(given, dtype=np.float64)
    if len(scores) <= rows.max(initial=-1):
        raise UsageError(
            f"a baseline has {len(scores)} numbers, but part of a data set is used (lgb.cv, "
            "subset): give one score for each document of the whole"
        )
    return np.asarray(scores[rows])


def xgboost_objective(objective: Objective) -> Callable[[Any, Any], FloatPair]:
    """The objective as `xgb.train(..., obj=...)` takes it; its DMatrix must know its queries."""

    def adapted(scores: Any, matrix: Any) -> FloatPair:
        bounds = np.asarray(matrix.get_uint_info("group_ptr"), dtype=np.int64)
        if len(bounds) < 2:
            raise UsageError("the DMatrix has no query groups: give it qid or set_group")
        sizes = np.diff(bounds)
        weights = np.asarray(matrix.get_weight(), dtype=np.float64)
        spread = np.repeat(weights, sizes) if len(weights) == len(sizes) else weights
        return objective(matrix.get_label(), scores, spread if len(spread) else None, sizes)

    return adapted
