"""Tables to residuals and back (MATHS fact 1), along axes and for many tables of one shape at once.

Axis 0 runs over tables; the other axes are a table's attributes. No Kronecker product is ever built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from numpy.typing import NDArray

Axes: TypeAlias = tuple[int, ...]


def split(tables: NDArray[np.float64], wanted: Collection[Axes]) -> Iterator[tuple[Axes, NDArray[np.float64]]]:
    """The wanted residuals of each table: r_T = (kron_{i in T} (I - J/n_i)) (margin on T), T given as axes.

    Each axis is either summed over or freed of its mean, last axis first; branches nobody wants are cut. At most
    2^k passes over arrays that shrink as they go.
    """
    yield from _split(tables, tables.ndim - 2, (), frozenset(wanted))


def _split(
    values: NDArray[np.float64], axis: int, chosen: Axes, wanted: frozenset[Axes]
) -> Iterator[tuple[Axes, NDArray[np.float64]]]:
    if not wanted:
        return
    if axis < 0:
        yield chosen, values
        return
    within = frozenset(axes for axes in wanted if axis in axes)
    yield from _split(values.sum(axis=axis + 1), axis - 1, chosen, wanted - within) if wanted - within else ()
    if within:
        deviations = values - values.mean(axis=axis + 1, keepdims=True)
        yield from _split(deviations, axis - 1, (axis, *chosen), within)


def join(residuals: Mapping[Axes, NDArray[np.float64]], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The tables whose residuals these are: sum over T of lift(r_T) |T|/|V|. Inverse of `split` over all subsets.

    Axes are brought in one at a time, so the work is that of the table itself times its order.
    """
    parts = dict(residuals)
    for axis, size in enumerate(shape):
        without = [axes for axes in parts if axis not in axes]
        for axes in without:
            lifted = np.expand_dims(parts.pop(axes) / size, axis=_place(axes, axis))
            whole = tuple(sorted((*axes, axis)))
            parts[whole] = parts[whole] + lifted if whole in parts else np.repeat(lifted, size, _place(axes, axis))
    (table,) = parts.values()
    return table


def _place(axes: Axes, axis: int) -> int:
    """Where a new axis stands among the present ones, after the axis of tables."""
    return 1 + sum(other < axis for other in axes)
