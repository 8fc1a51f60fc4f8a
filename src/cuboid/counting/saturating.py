"""Sums of non-negative 64-bit integers that are exact, or stop at 2^63 - 1; they never wrap.

min(MAX, a + b) is associative and commutative on non-negative integers, so no order of the rows and no cut into
blocks can change a result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX = 2**63 - 1
_LOW = 2**32 - 1
_SAFE = 2.0**62  # a float sum below this proves that the exact sum fits: its relative error is far below one half


def add_into(total: NDArray[np.int64], more: NDArray[np.int64]) -> None:
    """Add to a table of non-negative integers in place, stopping at MAX."""
    np.minimum(more, MAX - total, out=more)  # `MAX - total` cannot wrap: total is in [0, MAX]
    np.add(total, more, out=total)


def join(low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
    """min(MAX, low + high * 2^32), for non-negative sums of halves."""
    high = high + (low >> 32)
    return np.where(high >> 31 > 0, np.int64(MAX), (high << 32) | (low & _LOW))


def halves(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lower 32 and upper 31 bits: sums of 2^21 of either are exact even in a float."""
    return values & _LOW, values >> 32


def sum_axes(table: NDArray[np.int64], axes: tuple[int, ...]) -> NDArray[np.int64]:
    """Sum of a table over some axes, stopping at MAX."""
    if float(table.sum(dtype=np.float64)) < _SAFE:
        return np.asarray(table.sum(axis=axes, dtype=np.int64))
    low, high = halves(table)
    return np.asarray(join(np.asarray(low.sum(axis=axes)), np.asarray(high.sum(axis=axes))))
