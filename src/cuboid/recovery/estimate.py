"""Values after recovery: residuals with their precision, from which any covered table follows."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cuboid.domain import Cuboid, subsets
from cuboid.errors import InternalError
from cuboid.residual import Axes, join

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

_CHUNK = 1 << 21


@dataclass(frozen=True, slots=True, eq=False)
class Residuals:
    """Many residuals, those of one shape in one array."""

    sizes: tuple[int, ...]
    arrays: Mapping[tuple[int, ...], NDArray[np.float64]]
    places: Mapping[Cuboid, int]

    @classmethod
    def zero(cls, sizes: Sequence[int], parts: Iterable[Cuboid]) -> Residuals:
        """All-zero residuals of the given cuboids."""
        places: dict[Cuboid, int] = {}
        numbers: defaultdict[tuple[int, ...], int] = defaultdict(int)
        for part in parts:
            shape = tuple(sizes[i] for i in part)
            places[part] = numbers[shape]
            numbers[shape] += 1
        arrays = {shape: np.zeros((number, *shape)) for shape, number in numbers.items()}
        return cls(tuple(sizes), arrays, places)

    def shape(self, cuboid: Cuboid) -> tuple[int, ...]:
        """Shape of a cuboid's table."""
        return tuple(self.sizes[i] for i in cuboid)

    def rows(self, parts: Sequence[Cuboid]) -> tuple[NDArray[np.float64], list[int]]:
        """The array that holds these parts, all of one shape, and their places in it."""
        return self.arrays[self.shape(parts[0])], [self.places[part] for part in parts]


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Estimated residuals; the covariance of r_T is scales[T] times a projector."""

    residuals: Residuals
    scales: Mapping[Cuboid, float]

    def covers(self, cuboid: Cuboid) -> bool:
        """Whether every residual of a table is known."""
        return all(part in self.scales for part in subsets(cuboid))

    def table(self, cuboid: Cuboid) -> NDArray[np.float64]:
        """The estimated table of a covered cuboid."""
        ((_, table),) = self.tables([cuboid])
        return table

    def tables(self, cuboids: Iterable[Cuboid]) -> Iterator[tuple[Cuboid, NDArray[np.float64]]]:
        """The estimated tables of covered cuboids, those of one shape together."""
        for group in grouped(cuboids, self.residuals.sizes):
            if not all(self.covers(cuboid) for cuboid in group):
                raise InternalError("a table was asked for whose residuals nobody measured")
            yield from zip(group, self._joined(group), strict=True)

    def _joined(self, group: Sequence[Cuboid]) -> NDArray[np.float64]:
        parts: dict[Axes, NDArray[np.float64]] = {}
        for axes in subsets(tuple(range(len(group[0])))):
            array, places = self.residuals.rows([tuple(cuboid[axis] for axis in axes) for cuboid in group])
            parts[axes] = array[places]
        return join(parts, self.residuals.shape(group[0]))


def grouped(cuboids: Iterable[Cuboid], sizes: Sequence[int]) -> Iterator[list[Cuboid]]:
    """Cuboids of one shape together, in groups whose tables fit a few megabytes."""
    shapes: defaultdict[tuple[int, ...], list[Cuboid]] = defaultdict(list)
    for cuboid in cuboids:
        shapes[tuple(sizes[i] for i in cuboid)].append(cuboid)
    for shape, members in shapes.items():
        step = max(1, _CHUNK // math.prod(shape))
        for start in range(0, len(members), step):
            yield members[start : start + step]
