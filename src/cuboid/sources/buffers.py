"""Arrow arrays and NumPy's over the same memory.

`Array.to_numpy` and `pyarrow.array` would do, but they import pandas wherever pandas is installed, which costs more
than reading and counting a small file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def numbers(array: Any) -> NDArray[Any]:
    """The values of an Arrow array of integers or floats; what stands for a null is 0."""
    kind = np.dtype(array.type.to_pandas_dtype())
    if not len(array):
        return np.empty(0, dtype=kind)
    values = np.frombuffer(array.buffers()[1], dtype=kind, count=array.offset + len(array))[array.offset :]
    return np.where(present(array), values, kind.type(0)) if array.null_count else values


def present(array: Any) -> NDArray[np.bool_]:
    """Which values of an Arrow array are no nulls."""
    if not array.null_count:
        return np.ones(len(array), dtype=bool)
    bits = np.frombuffer(array.buffers()[0], dtype=np.uint8)
    return np.unpackbits(bits, count=array.offset + len(array), bitorder="little")[array.offset :].astype(bool)


def binary(values: Sequence[bytes | None]) -> Any:
    """A column of bytes, nulls included."""
    known = np.array([value is not None for value in values], dtype=bool)
    offsets = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum([len(value or b"") for value in values], out=offsets[1:])
    buffers = [
        pa.py_buffer(np.packbits(known, bitorder="little")),
        pa.py_buffer(offsets),
        pa.py_buffer(b"".join(value or b"" for value in values)),
    ]
    return pa.Array.from_buffers(pa.large_binary(), len(values), buffers)
