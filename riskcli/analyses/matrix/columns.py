"""The score matrix as Arrow tables: whole columns, without a look at single cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskcli.core.arrays import Floats
from riskcli.scores.files.registry import LONG, RUN
from riskcli.scores.matrix import ScoreMatrix

if TYPE_CHECKING:
    import pyarrow as pa


def columns_wide(matrix: ScoreMatrix) -> pa.Table:
    """A row a run, a column a topic."""
    import pyarrow as pa

    by_topic = np.ascontiguousarray(matrix.values.T)
    columns = [pa.array(matrix.runs, pa.string()), *map(_numbers, by_topic)]
    return pa.Table.from_arrays(columns, names=[RUN, *matrix.topics])


def columns_long(matrices: Sequence[ScoreMatrix]) -> pa.Table:
    """A row a score."""
    import pyarrow as pa

    return pa.concat_tables([_long(matrix) for matrix in matrices])


def _long(matrix: ScoreMatrix) -> pa.Table:
    import pyarrow as pa

    runs, topics = matrix.values.shape
    columns = [
        _texts(np.repeat(np.arange(runs), topics), matrix.runs),
        _texts(np.tile(np.arange(topics), runs), matrix.topics),
        _texts(np.zeros(runs * topics), [matrix.measure]),
        _numbers(matrix.values.ravel()),
    ]
    return pa.Table.from_arrays(columns, names=list(LONG))


def _numbers(values: Floats) -> Any:
    import pyarrow as pa

    return pa.Array.from_buffers(pa.float64(), len(values), [None, pa.py_buffer(values)])


def _texts(places: NDArray[Any], texts: Sequence[str]) -> Any:
    """The texts at these places, as strings."""
    import pyarrow as pa

    buffers = [None, pa.py_buffer(places.astype(np.int32))]
    codes = pa.Array.from_buffers(pa.int32(), len(places), buffers)
    return pa.DictionaryArray.from_arrays(codes, pa.array(texts, pa.string())).cast(pa.string())
