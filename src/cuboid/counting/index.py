"""Counting by index: every row's cell number in mixed radix, then one pass that counts cell numbers.

Pure kernels on blocks of rows that fit the cache. O(rows * attributes) for a table, whatever its size.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cuboid.counting.saturating import add_into, halves, join

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Codes = NDArray[Any]
    Table = NDArray[np.int64]

SPARSE = 4  # a table with this many times more cells than the block has rows is touched only where the rows fall


def cell_numbers(columns: Sequence[Codes], sizes: Sequence[int]) -> Codes:
    """The row-major cell number of each row, in the smallest type that holds every cell number.

    Small types matter: eight-bit arithmetic is eight times as fast as the 64-bit kind.
    """
    dtype = np.min_scalar_type(math.prod(sizes) - 1)
    numbers = columns[0].astype(dtype)
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        np.multiply(numbers, size, out=numbers)
        np.add(numbers, column, out=numbers, casting="same_kind")
    return numbers


def count_into(flat: Table, numbers: Codes) -> None:
    """Add one to the flat table for each cell number."""
    if flat.size <= SPARSE * len(numbers):
        flat += np.bincount(numbers, minlength=flat.size)
    else:
        np.add.at(flat, numbers.astype(np.intp, copy=False), 1)


def weigh_into(flat: Table, numbers: Codes, weights: NDArray[np.int64]) -> None:
    """Add each row's weight to its cell of the flat table, stopping at 2^63 - 1.

    Exact for blocks of at most 2^21 rows: floats add the 32-bit halves of the weights without rounding.
    """
    if flat.size <= SPARSE * len(numbers):
        add_into(flat, _sums(numbers, weights, flat.size))
        return
    cells, places = np.unique(numbers, return_inverse=True)
    cells = cells.astype(np.intp, copy=False)
    touched = flat[cells]
    add_into(touched, _sums(places, weights, len(cells)))
    flat[cells] = touched


def _sums(numbers: Codes, weights: NDArray[np.int64], cells: int) -> Table:
    low, high = halves(weights)
    low_sums = np.bincount(numbers, low, minlength=cells).astype(np.int64)
    if not high.any():
        return low_sums
    return join(low_sums, np.bincount(numbers, high, minlength=cells).astype(np.int64))
