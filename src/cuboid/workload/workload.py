"""The wanted tables: a weighted set of cuboids."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from cuboid.domain import Cuboid, Domain, by_order
from cuboid.errors import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_TABLES = 500_000
MOST_ATTRIBUTES = 18
MOST_PARTS = 8_000_000
LARGEST_WEIGHT = Fraction(10**9)


@dataclass(frozen=True, slots=True)
class Workload:
    """Wanted cuboids, each once, by order and position. A weight multiplies the variance that planning minimises."""

    domain: Domain
    tables: tuple[tuple[Cuboid, Fraction], ...]

    def __post_init__(self) -> None:
        if not self.tables:
            raise WorkloadError('no table is wanted: say which, for example "all 2-way" or "[age sex][sex region]"')
        if any(len(cuboid) > MOST_ATTRIBUTES for cuboid in self.cuboids):
            raise WorkloadError(f"a table of more than {MOST_ATTRIBUTES} attributes is wanted: it has too many cells "
                                "and sub-tables to be of use, so ask for smaller ones")  # fmt: skip
        if sum(2 ** len(cuboid) for cuboid in self.cuboids) > MOST_PARTS:
            raise WorkloadError("the wanted tables have too many sub-tables: ask for fewer, or for smaller ones")
        if len(dict(self.tables)) != len(self.tables):
            raise WorkloadError("a table is wanted twice: name each once, or use Workload.of")
        if any(weight <= 0 for _, weight in self.tables):
            raise WorkloadError("a table's weight must be positive: leave out the tables that are not wanted")
        if any(not 1 / LARGEST_WEIGHT <= weight <= LARGEST_WEIGHT for _, weight in self.tables):
            raise WorkloadError("a table's weight must be between 1e-9 and 1e9: only how weights compare matters, so "
                                "scale them")  # fmt: skip

    @classmethod
    def of(cls, domain: Domain, wanted: Iterable[tuple[Cuboid, Fraction]]) -> Workload:
        """The set of the given cuboids; one that is named twice keeps its larger weight."""
        weights: dict[Cuboid, Fraction] = {}
        for cuboid, weight in wanted:
            weights[cuboid] = max(weight, weights.get(cuboid, weight))
        return cls(domain, tuple((cuboid, weights[cuboid]) for cuboid in sorted(weights, key=by_order)))

    @property
    def cuboids(self) -> tuple[Cuboid, ...]:
        """The wanted cuboids."""
        return tuple(cuboid for cuboid, _ in self.tables)

    @property
    def weighted(self) -> bool:
        """Whether some table weighs more or less than another."""
        return any(weight != 1 for _, weight in self.tables)


def every(domain: Domain, low: int, high: int) -> list[Cuboid]:
    """All cuboids of low to high attributes."""
    attributes = len(domain.attributes)
    if not 0 <= low <= high <= attributes:
        asked = f"all {low}-way" if low == high else f"all {low}..{high}-way"
        raise WorkloadError(f"{asked} does not fit {attributes} attributes: the numbers go from 0 to {attributes}, "
                            "the smaller first where there are two")  # fmt: skip
    number = sum(comb(attributes, k) for k in range(low, high + 1))
    if number > MOST_TABLES:
        raise WorkloadError(f"that asks for {number:,} tables, more than {MOST_TABLES:,}: ask for fewer attributes a "
                            "table, or list the tables")  # fmt: skip
    return [cuboid for k in range(low, high + 1) for cuboid in combinations(range(attributes), k)]
