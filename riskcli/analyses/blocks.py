"""The risk table: every measure of every run, for each baseline and each alpha."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from riskcli.analyses import human, replicates
from riskcli.analyses.block import Block as Block
from riskcli.analyses.cautions import cautions, cautions_of_tests
from riskcli.analyses.unjudged import Ranges, columns_of, ranges
from riskcli.analyses.verdicts import statements
from riskcli.core.arrays import Flags, Floats, mean_of_known
from riskcli.core.messages import Note
from riskcli.risk.comparison import Comparison
from riskcli.risk.estimate import Estimate, Significance, adjust, rank
from riskcli.risk.inference import Inference
from riskcli.risk.measure import Estimates, RiskMeasure, estimates_of
from riskcli.risk.measures import measures, statistics
from riskcli.scores.comparisons import POOL_EACH, Options, comparisons
from riskcli.scores.matrix import ScoreMatrix


def risk_blocks(
    matrix: ScoreMatrix, options: Options, chosen: Sequence[RiskMeasure] | None = None
) -> tuple[list[Block], list[Note]]:
    """The blocks of one score matrix, and what to keep in mind when reading them.

    Of the `chosen` measures alone, unless all of the table is one family of tests.
    """
    if chosen is None or options.significance.family == "all":
        chosen = measures()
    blocks: list[Block] = []
    notes: list[Note] = []
    compared = comparisons(matrix, options)
    for comparison in compared:
        by_alpha, own = blocks_against(matrix, comparison, options, chosen)
        blocks += by_alpha
        notes += own
    each_in_turn = options.pool == POOL_EACH and len(compared) > 1
    if each_in_turn:
        named = compared[0].named
        blocks += [_macro_average(blocks, alpha, named) for alpha in options.levels]
    if options.significance.family == "all":
        blocks = corrected_together(blocks, options.significance, lambda *_: ())
    elif each_in_turn:
        blocks = corrected_together(blocks, options.significance, lambda b, name: (name, b.alpha))
    by_name = {each.baseline.name: each for each in compared}
    blocks = [_with_statements(each, matrix, by_name, options) for each in blocks]
    return blocks, list(dict.fromkeys(notes))


def blocks_against(
    matrix: ScoreMatrix,
    comparison: Comparison,
    options: Options,
    chosen: Sequence[RiskMeasure],
    ranked: bool = True,
) -> tuple[list[Block], list[Note]]:
    """The blocks of one baseline, by alpha, and their notes; `ranked` with intervals of ranks."""
    plan, levels = options.significance, options.levels
    inference = Inference(comparison, plan, statistics(), levels, ranked=ranked)
    allowed = ranges(matrix, comparison, options.pool)
    by_alpha = _blocks_of(matrix, inference, options, chosen, allowed)
    notes = cautions(matrix, comparison, options.alphas)
    notes += cautions_of_tests(matrix, inference, [block.estimates for block in by_alpha])
    return by_alpha, notes


def _with_statements(
    block: Block, matrix: ScoreMatrix, compared: Mapping[str, Comparison], options: Options
) -> Block:
    """The block with what it says, if it is that of the first alpha, and not of averages."""
    if block.baseline not in compared or block.alpha not in (options.levels[0], None):
        return block
    if "mean" not in block.estimates or "urisk" not in block.estimates:  # it was asked for others
        return block
    comparison = compared[block.baseline]
    said = statements(block, matrix, comparison, options.significance)
    return replace(block, said=human.statements(block, said))


def _blocks_of(
    matrix: ScoreMatrix,
    inference: Inference,
    options: Options,
    chosen: Sequence[RiskMeasure],
    allowed: Ranges | None,
) -> list[Block]:
    comparison, baseline = inference.comparison, inference.comparison.baseline
    estimates = estimates_of(inference, chosen, options.levels)
    spread = replicates.ReplicateSpread.of(matrix)
    corrected = human.columns_of(matrix, comparison, options)
    tested = comparison.weights is None and bool(baseline.members)  # no mean of the runs themselves
    return [
        Block(
            measure=matrix.measure,
            baseline=baseline.name,
            population=comparison.population_name,
            alpha=alpha if comparison.smooth is None else None,
            topics=comparison.topics,
            runs=matrix.runs,
            estimates=_corrected(estimates, chosen, alpha, options),
            baseline_row=baseline.own_row,
            baseline_members=baseline.members,
            baseline_size=len(baseline.members),
            smooth=comparison.smooth,
            ranges_exact=allowed is None or allowed.exact,
            ranges=allowed,
            beside={
                **columns_of(matrix, comparison, allowed, alpha),
                **_beside(matrix, comparison),
                **replicates.columns_of(matrix, comparison, options.pool, alpha),
                **corrected,
            },
            scores=comparison.scores,
            baseline_scores=baseline.scores if tested else None,
            spread=spread,
            judge=matrix.axes.judge,
        )
        for alpha in options.levels
    ]


def _beside(matrix: ScoreMatrix, comparison: Comparison) -> dict[str, Floats | Flags]:
    """What weights of topics add, though in one group of them all may count the same."""
    if len({*matrix.axes.weights.values()}) < 2:
        return {}
    return {"effective_topics": np.full(len(matrix.runs), comparison.effective_topics)}


def _corrected(
    estimates: Estimates, chosen: Sequence[RiskMeasure], alpha: float, options: Options
) -> dict[str, Estimate]:
    """Those at an alpha, the p-values of each measure corrected as one family."""
    plan, first = options.significance, options.levels[0]
    keys = [(m.id, alpha if m.depends_on_alpha else first) for m in chosen]
    return {
        key[0]: estimates[key].corrected(plan.correction, plan.gamma)
        for key in keys
        if key in estimates
    }


TestKey = tuple[str, str, str, str, str, float | None]


def corrected_together(
    blocks: Sequence[Block], plan: Significance, family_of: Callable[[Block, str], object]
) -> list[Block]:
    """The blocks with the p-values of each family corrected together, no test counted twice.

    `family_of` says to which family the tests of a block by a risk measure belong.
    """
    families: dict[object, dict[TestKey, Floats]] = {}
    for block in blocks:
        for name, estimate in block.estimates.items():
            if estimate.p is not None:
                tests = families.setdefault(family_of(block, name), {})
                tests.setdefault(_key(block, name), estimate.p)
    adjusted = {family: _adjusted(tests, plan) for family, tests in families.items()}

    def corrected(block: Block, name: str, estimate: Estimate) -> Estimate:
        if estimate.p is None:
            return estimate
        by_test, size = adjusted[family_of(block, name)]
        return estimate.flagged(by_test[_key(block, name)], size, plan.gamma)

    return [
        replace(b, estimates={name: corrected(b, name, e) for name, e in b.estimates.items()})
        for b in blocks
    ]


def _adjusted(
    tests: Mapping[TestKey, Floats], plan: Significance
) -> tuple[dict[TestKey, Floats], int]:
    """The p-values of one family corrected, and how many tests it has."""
    adjusted, size = adjust(np.concatenate(list(tests.values())), plan.correction)
    ends = np.cumsum([len(p) for p in tests.values()])
    return dict(zip(tests, np.split(adjusted, ends[:-1]), strict=True)), size


def _key(block: Block, name: str) -> TestKey:
    """What tells one column of tests from another: the mean's are alike at every alpha.

    Where losses count once, TRisk is the t of the means; against a virtual baseline its test is
    another all the same, for the means are shuffled.
    """
    measure = next(m for m in measures() if m.id == name)
    alpha = block.alpha if measure.depends_on_alpha else None
    if measure.value_is_t and block.alpha == 0 and block.baseline_size:
        name, alpha = next(m.id for m in measures() if m.plain_mean), None
    return block.measure, block.baseline, block.population, block.group, name, alpha


def _macro_average(blocks: Sequence[Block], alpha: float, named: tuple[int, ...]) -> Block:
    """The mean over baselines of every value (SIGIR'16, Table 7); a mean of tests is no test."""
    same_alpha = [block for block in blocks if block.alpha in (alpha, None)]
    first = same_alpha[0]
    names = ",".join(first.runs[row] for row in named)
    return replace(
        first,
        baseline=f"each({names})",
        estimates={
            measure.id: _averaged(measure, [block.estimates[measure.id] for block in same_alpha])
            for measure in measures()
            if measure.id in first.estimates
        },
        baseline_row=None,
        baseline_members=named,
        baseline_size=len(named),
        ranges=None,
        baseline_scores=None,
        beside={
            name: mean_of_known([np.asarray(block.beside[name], float) for block in same_alpha])
            for name in first.beside
        },
    )


def _averaged(measure: RiskMeasure, estimates: Sequence[Estimate]) -> Estimate:
    """The means of what has a mean, and the ranks of the mean values."""
    value = mean_of_known([estimate.value for estimate in estimates])
    differences = [d for estimate in estimates if (d := estimate.difference) is not None]
    extra = {
        column.name: mean_of_known([estimate.extra[column.name] for estimate in estimates])
        for column in measure.columns
        if column.averages and column.name in estimates[0].extra
    }
    return Estimate(
        value,
        difference=mean_of_known(differences) if differences else None,
        rank=rank(value),
        extra=extra,
    )
