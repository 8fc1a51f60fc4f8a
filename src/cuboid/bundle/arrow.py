"""Arrow columns from NumPy and text, and back, straight from buffers.

`pyarrow.array`, `to_numpy` and `parquet.read_table` would do the same, but they import pandas wherever pandas is
installed, which costs a release more than counting and noise together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray


def numbers(values: NDArray[np.generic]) -> pa.Array:
    """A column of numbers, sharing the array's memory."""
    import pyarrow as pa

    values = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def read_parquet(path: Path, columns: list[str] | None = None) -> pa.Table:
    """A Parquet file's table."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return file.read(columns=columns)


def values(column: pa.ChunkedArray) -> NDArray[np.generic]:
    """The numbers of a column without nulls."""
    return np.concatenate(
        [
            np.frombuffer(chunk.buffers()[1], dtype=chunk.type.to_pandas_dtype(), count=chunk.offset + len(chunk))[
                chunk.offset :
            ]
            for chunk in column.chunks
        ]
        or [np.empty(0, dtype=column.type.to_pandas_dtype())]
    )


def texts(values: Sequence[str]) -> pa.Array:
    """A column of text."""
    import pyarrow as pa

    encoded = [value.encode() for value in values]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int32)
    np.cumsum([len(value) for value in encoded], out=offsets[1:])
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded)))


def chosen(values: Sequence[str], places: NDArray[np.integer]) -> pa.Array:
    """A column of text: for each place, the value that stands there."""
    return texts(values).take(numbers(places.astype(np.int32)))


def labelled(values: Sequence[str], places: NDArray[np.integer]) -> pa.Array:
    """The same, dictionary-encoded."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(numbers(places.astype(np.int32)), texts(values))
