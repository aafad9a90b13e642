"""AP: a bound of the difference that is proved, but may not be reached.

Of m unjudged documents that are relevant, R0 + m documents are relevant in all. In the run, at most
m of them are: its sum of precisions is highest with these at the first unjudged ranks, since moving
a relevant document up leaves no precision lower. In the baseline are all but those of the run
alone: its sum is lowest with so few, at the last unjudged ranks. The bound is the highest of all m;
run and baseline share m, but not which documents these are.
"""

import numpy as np

from riskcli.core.arrays import Floats, divided
from riskcli.effectiveness.measures import Measure
from riskcli.effectiveness.parts import row_sums
from riskcli.effectiveness.unjudged.pairs import End, Side, TwoSides


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
    relevant = side.ranked.grades >= measure.relevance
    unjudged = side.unjudged
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
