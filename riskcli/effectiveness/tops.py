"""The first documents of a run by name: what scoring saw of its rankings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Counts, Mask
from riskcli.trec.arrow import Texts


@dataclass(frozen=True)
class Top:
    """The documents of the judged topics that a run answers, topic after topic, best first."""

    topics: tuple[str, ...]
    counts: Counts
    """How many documents each topic has here."""
    docnos: Texts
    grades: NDArray[np.int64]
    """0 where a document is not judged."""
    judged: Mask

    @classmethod
    def of(
        cls,
        topics: Sequence[str],
        rows: NDArray[np.intp],
        docnos: Texts,
        grades: NDArray[np.int64],
        judged: Mask,
    ) -> Self:
        """From the topic (its row) of each document."""
        counts = np.bincount(rows, minlength=len(topics))
        return cls(tuple(topics), counts, docnos, grades, judged)
