"""The law of a cell's error, and the interval that covers 95 % of it.

After recovery a cell's error is a weighted sum of independent noise. Normal noise makes it normal. Laplace noise
does not: the weights of the sum are those of the least-squares map, and the interval comes from their exact law.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from cuboid.domain import Cuboid, subsets
from cuboid.noise import Terms, interval
from cuboid.planning.prediction import cell_variance, parts
from cuboid.privacy import Mechanism

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from cuboid.measurement import Query

NORMAL_95 = 1.9599639845400545
INTERVAL_RULE = 1  # changes when the same law may get another interval; releases say under which rule they were made


@dataclass(frozen=True, slots=True, kw_only=True)
class CellError:
    """How far a cell is from the truth: sd, and P(raw - below <= truth <= raw + above) = 95 %."""

    sd: float
    below: float
    above: float

    @property
    def half95(self) -> float:
        """Half the width of the 95 % interval."""
        return (self.below + self.above) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorLaw:
    """Errors of all cells that given queries, recovered by least squares, can answer."""

    mechanism: Mechanism
    queries: Sequence[Query]
    variances: Sequence[float]
    scales: Mapping[Cuboid, float]
    sizes: Sequence[int]
    _known: dict[tuple[object, ...], CellError] = field(default_factory=dict, compare=False, repr=False)
    _measured: dict[Cuboid, Counter[tuple[int, Fraction]]] = field(default_factory=dict, compare=False, repr=False)
    _masks: list[int] = field(default_factory=list, compare=False, repr=False)

    def of(self, cuboid: Cuboid) -> CellError | None:
        """The error of each cell of a table (all its cells are alike); None where it is not covered."""
        variance = cell_variance(cuboid, self.scales, self.sizes)
        if variance is None:
            return None
        sd = math.sqrt(variance)
        if self.mechanism is Mechanism.GAUSSIAN or sd == 0:
            return CellError(sd=sd, below=NORMAL_95 * sd, above=NORMAL_95 * sd)
        alike = self._alike(cuboid)
        if alike not in self._known:
            low, high = interval(self._terms(cuboid))  # of the error, raw - truth
            self._known[alike] = CellError(sd=sd, below=high, above=low)
        return self._known[alike]

    def _alike(self, cuboid: Cuboid) -> tuple[object, ...]:
        """Tables of one shape, whose parts are measured by alike queries, have the same error.

        For each part T: how many queries contain it, by weight and by the cells they have beyond T. By inclusion and
        exclusion that fixes how many queries share just T with the table, and so every term of the error.
        """
        if not self._measured:
            for query in self.queries:
                for part in parts(query, self.scales):
                    beyond = math.prod(self.sizes[i] for i in set(query.cuboid).difference(part))
                    self._measured.setdefault(part, Counter())[beyond, query.weight] += 1
        own = tuple(frozenset(self._measured.get(part, Counter()).items()) for part in subsets(cuboid))
        return tuple(self.sizes[i] for i in cuboid), own

    def _terms(self, cuboid: Cuboid) -> Terms:
        """Coefficients, scales and multiplicities of the independent noises in a cell's error."""
        if not self._masks:
            self._masks.extend(sum(1 << i for i in query.cuboid) for query in self.queries)
        own = sum(1 << i for i in cuboid)
        groups: Counter[tuple[int, int, float]] = Counter()
        example: dict[tuple[int, int, float], int] = {}
        for place, mask in enumerate(self._masks):
            query = self.queries[place]
            beyond = math.prod(self.sizes[i] for i in query.cuboid if not own >> i & 1)
            key = (own & mask, beyond, float(query.weight))
            groups[key] += 1
            example.setdefault(key, place)
        coefficients, etas, numbers = [], [], []
        for (shared, beyond, eta), alike in groups.items():
            values, cells = self._coefficients(cuboid, shared, beyond, self.variances[example[shared, beyond, eta]])
            coefficients.append(values)
            etas.append(np.full(len(values), eta))
            numbers.append(alike * beyond * cells)
        return Terms(
            coefficients=np.concatenate(coefficients),
            etas=np.concatenate(etas),
            multiplicities=np.concatenate(numbers).astype(np.int64),
        )

    def _coefficients(
        self, cuboid: Cuboid, shared: int, beyond: int, noise: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How a cell of V depends on a cell of a measured M, for each set of shared attributes on which they agree.

        sum over T in V and M of (weight of M in T) |T|/|V| prod_{i in T} ([same] - 1/n_i), by one butterfly per
        attribute; beside it, how many cells of M (per cell of its other attributes) agree just there.
        """
        axes = [i for i in cuboid if shared >> i & 1]
        cells = math.prod(self.sizes[i] for i in cuboid)
        measured = beyond * math.prod(self.sizes[i] for i in axes)
        values, numbers = np.empty(1 << len(axes)), np.ones(1)
        for place, chosen in enumerate(_subsets_by_bits(axes)):
            size = math.prod(self.sizes[i] for i in chosen)
            weight = (size / measured) / noise * self.scales[chosen]
            values[place] = weight * size / cells
        for bit, attribute in enumerate(axes):
            size = self.sizes[attribute]
            pairs = values.reshape(-1, 2, 1 << bit)
            differ, agree = pairs[:, 0] - pairs[:, 1] / size, pairs[:, 0] + (1 - 1 / size) * pairs[:, 1]
            values = np.stack([differ, agree], axis=1).reshape(-1)
            numbers = np.concatenate([numbers * (size - 1), numbers])
        return values, numbers


def _subsets_by_bits(axes: list[int]) -> list[Cuboid]:
    return [tuple(axis for bit, axis in enumerate(axes) if place >> bit & 1) for place in range(1 << len(axes))]
