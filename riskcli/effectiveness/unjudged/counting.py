"""Measures of relevant documents: which unjudged ones are relevant where delta is highest."""

import numpy as np

from riskcli.core.arrays import Floats, Mask, divided
from riskcli.effectiveness.measures import Measure
from riskcli.effectiveness.parts import binary_weights, row_sums
from riskcli.effectiveness.unjudged.pairs import End, Side, TwoSides


def weighted(measure: Measure, case: TwoSides) -> End:
    """Sums of a weight for each relevant rank (P, RBP, SetP).

    A document is relevant where it weighs more in the run than in the baseline.
    """
    run, baseline = case.run, case.baseline
    of_run, of_baseline = (binary_weights(measure, side.ranked) for side in (run, baseline))
    in_run = _relevant(measure, run) | (run.unjudged & (of_run > run.gather(of_baseline)))
    gained = baseline.unjudged & (baseline.gather(of_run) > of_baseline)
    in_baseline = _relevant(measure, baseline) | gained
    return End(row_sums(in_baseline * of_baseline), row_sums(in_run * of_run))


def recall(measure: Measure, case: TwoSides) -> End:
    """Recall: (d + x - y) / (R + x + y + s), of x documents of the run alone, y, s shared ones.

    d is the difference of the judged hits, -R <= d <= R. The derivative by x has the sign of
    R + 2y + s - d >= 0 and that by y of -(R + d + 2x + s) <= 0, so that x is as large as can be
    and y is 0. That by s has the sign of -(d + x), whatever s is: none or all of them.
    """
    found = [case.counted(_relevant(measure, side)) for side in (case.run, case.baseline)]
    alone = case.counted(case.run.alone)
    shared = case.counted(case.run.shared)
    shared = np.where(found[0] - found[1] + alone >= 0, 0, shared)
    relevant = case.relevant(measure.relevance) + alone + shared
    return End(
        baseline=divided(found[1] + shared, relevant),
        run=divided(found[0] + alone + shared, relevant),
    )


def success(measure: Measure, case: TwoSides) -> End:
    """Success: a document of the run alone costs nothing; a shared one only what is there."""
    found = [_relevant(measure, side).any(axis=1) for side in (case.run, case.baseline)]
    alone = case.run.alone.any(axis=1)
    shared = case.run.shared.any(axis=1)
    run = found[0] | alone | (found[1] & shared)
    return End(baseline=found[1].astype(float), run=run.astype(float))


def reciprocal_rank(measure: Measure, case: TwoSides) -> End:
    """RR: of the unjudged documents only the run's first relevant one is relevant, or none is.

    Any other one leaves the run's score as it is, and can only raise the baseline's.
    """
    run, baseline = _first(_relevant(measure, case.run)), _first(_relevant(measure, case.baseline))
    ranks = case.run.ranked.grades.shape[1]
    own = np.maximum(1 / np.arange(1, ranks + 1), run[:, None])
    theirs = divided(np.ones(1), case.run.elsewhere + 1)
    theirs = np.maximum(theirs, baseline[:, None])
    own = np.where(case.run.unjudged, own, run[:, None])
    theirs = np.where(case.run.unjudged, theirs, baseline[:, None])
    own, theirs = np.column_stack([run, own]), np.column_stack([baseline, theirs])
    best = (own - theirs).argmax(axis=1)
    rows = np.arange(len(best))
    return End(baseline=theirs[rows, best], run=own[rows, best])


def _first(relevant: Mask) -> Floats:
    """1 / the first relevant rank, 0 where there is none."""
    if not relevant.shape[1]:
        return np.zeros(len(relevant))
    return np.where(relevant.any(axis=1), 1 / (1 + relevant.argmax(axis=1)), 0.0)


def _relevant(measure: Measure, side: Side) -> Mask:
    """The documents that are judged relevant."""
    return np.asarray(side.ranked.grades >= measure.relevance)


# AP: a bound of the difference that is proved, but may not be reached.
#
# Of m unjudged documents that are relevant, R0 + m documents are relevant in all. In the run, at
# most m of them are: its sum of precisions is highest with these at the first unjudged ranks,
# since moving a relevant document up leaves no precision lower. In the baseline are all but those
# of the run alone: its sum is lowest with so few, at the last unjudged ranks. The bound is the
# highest of all m; run and baseline share m, but not which documents these are.


def average_precision(measure: Measure, case: TwoSides) -> End:
    """The scores that the bound is made of."""
    relevant = case.relevant(measure.relevance)[:, None]
    in_run = case.run.unjudged.sum(axis=1, keepdims=True)
    alone = case.run.alone.sum(axis=1, keepdims=True)
    others = case.baseline.alone.sum(axis=1, keepdims=True)
    more = np.arange(int((in_run + others).max(initial=0)) + 1)
    more = np.minimum(more, in_run + others)
    highest = np.take_along_axis(_sums(measure, case.run, True), np.minimum(more, in_run), axis=1)
    fewest = np.maximum(more - alone, 0)
    lowest = np.take_along_axis(_sums(measure, case.baseline, False), fewest, axis=1)
    return _of_sums(highest, lowest, relevant + more)


def _of_sums(run: Floats, baseline: Floats, relevant: Floats) -> End:
    """The scores where their difference is highest."""
    best = divided(run - baseline, relevant).argmax(axis=1)[:, None]
    run, baseline, relevant = (
        np.take_along_axis(values, best, axis=1)[:, 0] for values in (run, baseline, relevant)
    )
    return End(divided(baseline, relevant), divided(run, relevant), exact=False)


def _sums(measure: Measure, side: Side, first: bool) -> Floats:
    """Sums of precisions with so many (columns) of the first or the last unjudged ones relevant."""
    relevant, unjudged = _relevant(measure, side), side.unjudged
    ranks = np.arange(1, relevant.shape[1] + 1)
    above = relevant.cumsum(axis=1)
    judged = row_sums(relevant * above / ranks)[:, None]
    # What one more adds: its own precision, and 1 / rank to each relevant document below it.
    if first:
        own, below = (above + unjudged.cumsum(axis=1)) / ranks, relevant
    else:
        own, below = (above + 1) / ranks, relevant | unjudged
    shares = below / ranks
    added = np.where(unjudged, own + row_sums(shares)[:, None] - shares.cumsum(axis=1), 0)
    order = np.argsort(~unjudged, axis=1, kind="stable")
    if not first:
        added, order = added[:, ::-1], np.argsort(~unjudged[:, ::-1], axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(added, order, axis=1), axis=1)
    return np.hstack([judged, judged + sums])
