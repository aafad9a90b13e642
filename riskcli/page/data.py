"""What the page computes with: scores, the sums in which every measure is plain arithmetic, and
the risk table itself at the alphas asked for.

For each run: S/c, and the sums of z above and below 0 (ZRisk is linear in 1 + alpha, GeoRisk
follows). For each baseline and run: reward and risk (URisk is linear), and the variances and the
covariance of gains and losses (TRisk's variance is a quadratic). All in full double precision.

The page's formulas are a second implementation, in JavaScript. It knows them by the id of a risk
measure; ids, titles, decimals and what depends on alpha come from the declarations. A measure or a
test that it does not know, or computes otherwise than the table, is shown from the table alone.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from riskcli.analyses.query_texts import QueryTexts
from riskcli.analyses.score import ComparisonTable
from riskcli.analyses.significance import compare_pairs
from riskcli.analyses.sweep_population import left_out, members_of, who_is_in
from riskcli.core.choices import population_in_words
from riskcli.core.messages import UsageError, nearest
from riskcli.output.escape import visible
from riskcli.output.measure_words import columns, every_column, usual_measures, words_of
from riskcli.page.packing import Numbers, packed
from riskcli.page.unjudged import Taken, documents_of, of_baseline, of_measure, of_ranges, taken
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import CORRECTION_TITLES, Significance, correction_title
from riskcli.risk.inference import Inference
from riskcli.risk.measure import MeasureColumn, RiskMeasure
from riskcli.risk.paired import LEAST_TOPICS
from riskcli.risk.weights import degrees
from riskcli.scores.comparisons import POOL_EACH, Options, comparisons
from riskcli.scores.frozen import FrozenPopulation
from riskcli.scores.matrix import ScoreMatrix

RunNotes = Mapping[str, Mapping[str, str]]
"""By run: `name` to show, `team`, `description`; empty where unknown."""

_NAMING = ("run", "measure", "baseline", "population", "alpha", "topics")
_MOST_WORK = 200_000_000
"""Members to leave out times scores: some seconds."""
_MOST_GROUPED = 40
"""Runs whose letters can still be read."""
_FLAGS = {"better": "+", "worse": "-", "": "."}


def page_data(
    matrices: Sequence[ScoreMatrix],
    tables: Sequence[ComparisonTable],
    about: RunNotes | None = None,
    queries: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Every matrix against the baselines of every table; the tables differ in nothing else."""
    options = tables[0].options
    significance = options.significance
    fits = taken(matrices, tables)
    names = tables[0].result().columns
    return {
        "envelope": tables[0].result().envelope(),
        "about": _about(matrices[0].runs, about or {}),
        "alphas": list(options.alphas),
        "gamma": significance.gamma,
        "correction": significance.correction,
        "pairs": CORRECTION_TITLES["holm"],
        "riskMeasures": [_declared(measure) for measure in usual_measures()],
        "columns": [name for name in every_column() if name in {*columns(), *names}],
        "measures": [
            {**_measure(matrix, tables, fits), **_asked(matrix, queries)} for matrix in matrices
        ],
        **documents_of(matrices, fits),
    }


def _asked(matrix: ScoreMatrix, queries: Mapping[str, str] | None) -> dict[str, list[str]]:
    """What each topic asks, where that was said of any."""
    texts = QueryTexts.of(queries, matrix.topics)
    if not texts.by_topic:
        return {}
    return {"queries": [visible(texts.of_topic(topic)) for topic in matrix.topics]}


def _about(runs: Sequence[str], about: RunNotes) -> list[dict[str, str]] | None:
    """The name to show of each run, its team and description; None where there are no notes."""
    unknown = sorted(set(about) - set(runs))
    if unknown:
        raise UsageError(f"no run is named {unknown[0]!r}{nearest(unknown[0], runs)}")
    if not about:
        return None
    blank = {"name": "", "team": "", "description": ""}
    notes = [{**blank, **about.get(run, {})} for run in runs]
    return [
        {**{key: visible(text) for key, text in each.items()}, "name": visible(each["name"] or run)}
        for run, each in zip(runs, notes, strict=True)
    ]


def _declared(measure: RiskMeasure) -> dict[str, Any]:
    return {
        "id": measure.id,
        "title": words_of(measure).title,
        "decimals": words_of(measure).decimals,
        "dependsOnAlpha": measure.depends_on_alpha,
        "paired": measure.paired,
        "nonnegative": measure.nonnegative,
    }


def _measure(matrix: ScoreMatrix, tables: Sequence[ComparisonTable], fits: Taken) -> dict[str, Any]:
    shared = _shared(matrix, tables[0].options)
    ranges = of_ranges(matrix, tables, fits)
    by_baseline = {name: number for number, name in enumerate(ranges)}
    return {
        "name": visible(matrix.measure),
        "runs": list(map(visible, matrix.runs)),
        "topics": list(map(visible, matrix.topics)),
        "scores": packed(matrix.values),
        **_weights(matrix),
        "comparisons": [
            {
                **_comparison(comparison, table.options.significance),
                "family": number if table.options.pool == POOL_EACH else None,
                "tables": _tables(matrix, comparison, table, shared),
                **_verdict(matrix, comparison, table),
                **of_baseline(matrix, comparison),
                **_numbered(by_baseline, comparison.baseline.name),
            }
            for number, table in enumerate(tables)
            for comparison in comparisons(matrix, table.options)
        ],
        **of_measure(matrix, fits),
        **({"systems": True} if matrix.axes.replicates else {}),
        **({"ranges": list(ranges.values())} if ranges else {}),
    }


def _weights(matrix: ScoreMatrix) -> dict[str, Any]:
    """How much topics count, and the degrees of freedom that this leaves; nothing without."""
    weights = matrix.weights
    if weights is None:
        return {}
    return {"weights": packed(weights), "degrees": degrees(len(matrix.topics), weights)}


def _numbered(numbers: Mapping[str, int], name: str) -> dict[str, int]:
    """Which of the measure's ranges are those to this baseline, if there are any."""
    return {"ranges": numbers[name]} if name in numbers else {}


def _verdict(matrix: ScoreMatrix, comparison: Comparison, table: ComparisonTable) -> dict[str, Any]:
    """What the table says of this measure and baseline, and the alpha that it says it at."""
    of_it = (matrix.measure, comparison.baseline.name)
    blocks = [block for block in table.blocks if (block.measure, block.baseline) == of_it]
    said = next((block for block in blocks if block.said), None)
    if said is None:
        return {"verdict": [], "verdictAlpha": None}
    return {"verdict": [*map(visible, said.said.sentences)], "verdictAlpha": said.alpha}


def _comparison(comparison: Comparison, significance: Significance) -> dict[str, Any]:
    paired = comparison.paired
    by_shuffles = Inference(comparison, significance, (), ()).by_shuffles
    names = ("wins", "ties", "losses", "reward", "risk")
    sums: dict[str, Numbers] = {name: getattr(paired, name) for name in names}
    sums["losses20"] = comparison.losses20
    sums |= _spread(comparison)
    return {
        "baseline": visible(comparison.baseline.name),
        "population": comparison.population_name,
        "sharesPopulation": comparison.rule == "all",
        "populationTitle": visible(population_in_words(comparison.population_name)),
        "shuffled": by_shuffles,
        "correctionTitle": correction_title(
            significance.correction, significance.family, by_shuffles
        ),
        "own": comparison.baseline.own_row,
        "members": comparison.baseline.members,
        "named": comparison.named,
        **_members(comparison),
        "scores": packed(comparison.baseline.scores),
        "mean": packed(comparison.shown_mean(comparison.population.mean)),
        **{name: packed(comparison.off_baseline(values)) for name, values in sums.items()},
        **_sums_of_z(comparison),
    }


def _members(comparison: Comparison) -> dict[str, Any]:
    """The totals of a population that is not made of the runs on the page, and who is in them."""
    if comparison.members is None:
        return {"memberTotals": None, "inside": []}
    inside = comparison.members.include(comparison.scores)
    return {
        "memberTotals": packed(comparison.members.rows.sum(axis=0)),
        "inside": np.flatnonzero(inside).tolist(),
    }


def _spread(comparison: Comparison) -> dict[str, Numbers]:
    """The variances of gains and losses and their covariance; 0 for a constant difference.

    Beside those of tiny differences is the unit of each run that they are in the square of.
    """
    names = ("varGain", "varLoss", "covariance")
    if comparison.topics < 2:
        return {name: np.full(len(comparison.scores), np.nan) for name in names}
    moments = comparison.paired.moments
    fixed, linear, square = moments.variance.T
    units = {} if (moments.unit == 1).all() else {"unit": moments.unit}
    return dict(zip(names, (fixed, square, linear / -2 + 0.0), strict=True)) | units


def _sums_of_z(comparison: Comparison) -> dict[str, Any]:
    """The sums of z above and below 0; none where a score below 0 forbids ZRisk."""
    if comparison.has_negative:
        return {"above": None, "below": None}
    departures = comparison.population.departures
    return {"above": packed(departures.above), "below": packed(departures.below)}


Shared = Mapping[float, Mapping[str, Any]]
"""Columns by alpha of what hangs on the runs at hand alone."""


def _shared(matrix: ScoreMatrix, options: Options) -> Shared:
    """These columns for the runs at hand in their own population, or in that of a file."""
    shared: dict[float, dict[str, Any]] = defaultdict(dict)
    for alpha, column, values in _ranges(matrix, _of_all(options)):
        shared[alpha][column] = values
    return shared


def _of_all(options: Options, *baseline: str) -> Options:
    """The options in the population of all runs, or of a file, by which every pair is compared."""
    frozen = isinstance(options.population, FrozenPopulation)
    return replace(
        options,
        baselines=baseline,
        population=options.population if frozen else None,
        significance=replace(options.significance, correction="holm"),
    )


def _groups(matrix: ScoreMatrix, plan: Options) -> Iterator[tuple[float, str, list[str]]]:
    """The letters of each run by each measure: runs that share one do not differ significantly.

    They are read from the same tests as the brackets of ranks, and as marks against a run.
    """
    if len(matrix.runs) > _MOST_GROUPED or len(matrix.topics) < LEAST_TOPICS:
        return
    able = [
        measure.id
        for measure in usual_measures()
        if (measure.deviations or measure.statistic) is not None
        and not (measure.nonnegative and (matrix.values < 0).any())
    ]
    for table in compare_pairs(matrix, of=able, between="all", options=plan).tables:
        for alpha in [table.alpha] if table.of.depends_on_alpha else plan.alphas:
            yield alpha, f"{table.of.id}_letters", list(table.groups)


def _ranges(matrix: ScoreMatrix, plan: Options) -> Iterator[tuple[float, str, str]]:
    """The ranks by each measure of runs in their population, each other one left out in turn.

    Nothing where they would take long, or where there is nobody to leave out.
    """
    inside, teams = who_is_in(matrix, plan)
    members = members_of(inside.runs, teams)
    work = len(members) * matrix.values.size
    if len(inside.runs) < 3 or len(members) < 2 or work > _MOST_WORK or (matrix.values < 0).any():
        return
    able = [measure for measure in usual_measures() if measure.statistic is not None]
    for part in left_out(matrix, plan, able):
        ends = np.array([part.range_of(row)[2:] for row in range(len(matrix.runs))])
        for end, ranks in zip(("min", "max"), ends.T, strict=True):
            yield part.alpha, f"rank_{part.of.id}_{end}", packed(ranks)


def _tables(
    matrix: ScoreMatrix, comparison: Comparison, table: ComparisonTable, shared: Shared
) -> list[dict[str, Any]]:
    """The risk table's columns at each of its alphas, runs in the order of the matrix.

    In the population of all runs, or of a file, beside them: how far ranks hang on who is there,
    and letters.
    """
    beside: dict[float, dict[str, Any]] = defaultdict(dict)
    if comparison.rule == "all":
        beside |= {alpha: dict(columns) for alpha, columns in shared.items()}
        named = [comparison.baseline.name] if comparison.baseline.own_row is not None else []
        for alpha, column, letters in _groups(matrix, _of_all(table.options, *named)):
            beside[alpha][column] = letters
    result = replace(table, by_group=()).result()  # groups have a section of their own
    index = {name: number for number, name in enumerate(result.columns)}
    wanted = (matrix.measure, comparison.baseline.name, comparison.population_name)
    by_alpha: dict[float, dict[str, Sequence[Any]]] = {}
    for row in result.rows:
        if wanted == tuple(row[index[name]] for name in ("measure", "baseline", "population")):
            by_alpha.setdefault(row[index["alpha"]], {})[row[index["run"]]] = row
    return [
        {
            "alpha": alpha,
            "columns": {
                **{
                    column.name: _packed_column(
                        column, [by_run[run][index[column.name]] for run in matrix.runs]
                    )
                    for column in every_column().values()
                    if column.name not in _NAMING and column.name in index
                },
                **beside.get(alpha, {}),
            },
        }
        for alpha, by_run in by_alpha.items()
    ]


def _packed_column(column: MeasureColumn, values: Sequence[Any]) -> Any:
    """A flag a character; whole numbers as they are; the rest as doubles, NaN for undefined."""
    if column.kind == "flag":
        return "".join(_FLAGS[value] for value in values)
    if all(value is None or isinstance(value, int) for value in values):
        return list(values)
    if column.kind == "name":
        return [visible(str(value)) for value in values]
    return packed(np.array([np.nan if value is None else value for value in values]))
