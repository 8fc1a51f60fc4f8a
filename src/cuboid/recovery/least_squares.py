"""Generalised least squares without a matrix, residual by residual (MATHS facts 1 and 2).

The best estimate of r_T is the mean of what each measurement says of it, weighted by precision. Tables made from
these residuals agree on all shared margins and are the best linear unbiased estimates.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from cuboid.planning import parts, precision, query_variance, residual_scales
from cuboid.privacy import Form
from cuboid.recovery.estimate import Estimate, Residuals
from cuboid.residual import Axes, residuals, split

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from cuboid.domain import Cuboid
    from cuboid.measurement import Measurements, Query

_CHUNK = 1 << 21


def recover(measurements: Measurements, needed: Collection[Cuboid], sizes: Sequence[int]) -> Estimate:
    """The best unbiased estimate of the needed residuals, with its exact variances.

    Time and memory are a small multiple of the measured and the needed cells. A total that is public replaces
    whatever was measured of it.
    """
    needed = frozenset(needed)
    queries, variances = measurements.queries, _variances(measurements)
    scales = residual_scales(queries, variances, needed, sizes, total_is_public=measurements.total is not None)
    found = Residuals.zero(sizes, sorted(scales))
    for places in _alike(measurements, sizes):
        values = np.stack([measurements.values(place) for place in places])
        _gather(found, [measurements.queries[p] for p in places], [variances[p] for p in places], values, scales)
    if measurements.total is not None and () in scales:
        array, (place,) = found.rows([()])
        array[place] = measurements.total
    for array in found.arrays.values():
        array.flags.writeable = False
    return Estimate(found, scales)


def _variances(measurements: Measurements) -> list[float]:
    return [query_variance(query, measurements.mechanism, measurements.exponent) for query in measurements.queries]


def _alike(measurements: Measurements, sizes: Sequence[int]) -> Iterator[list[int]]:
    """Places of queries of one form and shape, in groups that fit a few megabytes."""
    groups: defaultdict[tuple[Form, tuple[int, ...]], list[int]] = defaultdict(list)
    for place, query in enumerate(measurements.queries):
        groups[query.form, query.table_shape(sizes)].append(place)
    for members in groups.values():
        step = max(1, _CHUNK // max(1, measurements.answers[members[0]].size))
        for start in range(0, len(members), step):
            yield members[start : start + step]


def _gather(
    found: Residuals,
    queries: Sequence[Query],
    variances: Sequence[float],
    values: NDArray[np.float64],
    scales: Mapping[Cuboid, float],
) -> None:
    """Add to every residual what some queries of one form and shape say of it, times their share of its precision."""
    sizes, order = found.sizes, len(queries[0].cuboid)
    if queries[0].form is Form.CONTRAST:
        pieces = iter([(tuple(range(order)), residuals(values, found.shape(queries[0].cuboid)))])
    else:
        pieces = split(values, _wanted_axes(queries, scales))
    for axes, piece in pieces:
        own = [tuple(query.cuboid[axis] for axis in axes) for query in queries]
        known = [place for place, part in enumerate(own) if part in scales]
        if not known:
            continue
        shares = np.array(
            [precision(queries[place], own[place], variances[place], sizes) * scales[own[place]] for place in known]
        )  # fmt: skip
        array, places = found.rows([own[place] for place in known])
        np.add.at(array, places, shares.reshape(-1, *[1] * len(axes)) * piece[known])


def _wanted_axes(queries: Sequence[Query], scales: Mapping[Cuboid, float]) -> set[Axes]:
    """Which residuals of these tables somebody needs, as axes."""
    return {
        tuple(query.cuboid.index(attribute) for attribute in part) for query in queries for part in parts(query, scales)
    }
