"""Shares of topics, tested by the binomial distribution: exact whatever the scores are."""

from functools import lru_cache

import numpy as np
from scipy.special import bdtr, bdtrik

from riskcli.risk.paired import MOST_TOPICS, USUAL_POWER


def p_at_most(count: int, topics: int, share: float) -> float:
    """Small where so few of the topics show that the true share is at most that."""
    return float(bdtr(count, topics, share)) if topics else 1.0


@lru_cache(maxsize=4096)  # of many candidates the counts are few
def topics_to_settle(count: int, topics: int, share: float, level: float) -> int | None:
    """With how many topics, if the share stays as it is, four tests of five show on which side."""
    seen = count / max(topics, 1)
    if seen > share:
        seen, share = 1 - seen, 1 - share
    if seen == share:
        return None
    sizes = np.unique(np.geomspace(topics + 1, MOST_TOPICS, 4000).astype(np.int64))
    most = np.floor(np.nan_to_num(bdtrik(level, sizes, share)))
    most -= bdtr(most, sizes, share) >= level
    power = np.where(most < 0, 0.0, bdtr(np.maximum(most, 0), sizes, seen))
    enough = sizes[power >= USUAL_POWER]
    return int(enough[0]) if len(enough) else None
