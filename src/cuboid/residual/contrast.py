"""Integer contrasts of a residual by Helmert's rows (1, ..., 1, -j, 0, ..., 0), j ones, along every axis.

Integer in, integer out: what is measured stays exact until noise is added. Row j has squared length j (j + 1);
divided by its length it is an orthonormal contrast, so dim(T) = prod (n_i - 1) numbers hold the residual.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SAFE = 2**62


def contrasts(tables: NDArray[np.int64]) -> NDArray[Any]:
    """Integer contrasts of each table along axes 1, 2, ...: int64, or Python integers where those could overflow."""
    largest = max(abs(int(tables.max(initial=0))), abs(int(tables.min(initial=0))))
    growth = math.prod(2 * (size - 1) for size in tables.shape[1:])
    values: NDArray[Any] = tables if largest * growth < _SAFE else tables.astype(object)
    for axis in range(1, tables.ndim):
        values = np.moveaxis(_helmert(np.moveaxis(values, axis, -1)), -1, axis)
    return values


def _helmert(values: NDArray[Any]) -> NDArray[Any]:
    """Row j: the sum of the first j entries minus j times the next."""
    steps = np.arange(1, values.shape[-1])
    result: NDArray[Any] = np.cumsum(values, axis=-1)[..., :-1] - steps * values[..., 1:]
    return result


def squared_lengths(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Squared length of every contrast of a table of this shape: products of j (j + 1). Python integers if large."""
    dtype = np.int64 if math.prod(n * n for n in shape) < _SAFE else object
    lengths = np.ones((), dtype=dtype)
    for size in shape:
        steps = np.arange(1, size).astype(dtype)
        lengths = np.multiply.outer(lengths, steps * (steps + 1))
    return lengths


def residuals(values: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The residuals that have these integer contrasts: the rows' transpose, each divided by its squared length."""
    for axis, size in enumerate(shape, start=1):
        steps = np.arange(1, size)
        scaled = np.moveaxis(values, axis, -1) / (steps * (steps + 1))
        values = np.moveaxis(_transposed(scaled), -1, axis)
    return values


def _transposed(scaled: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entry i collects the rows j >= i and loses (i - 1) times row i - 1."""
    edge = np.zeros((*scaled.shape[:-1], 1))
    later = np.concatenate([np.cumsum(scaled[..., ::-1], axis=-1)[..., ::-1], edge], axis=-1)
    own = np.concatenate([edge, np.arange(1, scaled.shape[-1] + 1) * scaled], axis=-1)
    result: NDArray[np.float64] = later - own
    return result
