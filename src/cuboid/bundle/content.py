"""What a release holds: measurements and their plan, from which every wanted table and sub-table follows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cuboid.bundle.table import ReleasedTable
from cuboid.errors import BundleError
from cuboid.recovery import Estimate, recover
from cuboid.workload import in_short

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from cuboid.domain import Cuboid, Schema
    from cuboid.measurement import Measurements
    from cuboid.planning import ErrorLaw, Plan
    from cuboid.privacy.ledger import Receipt


@dataclass(frozen=True, kw_only=True, eq=False)
class Content:
    """Measurements with the plan that made them and the ledger's receipt; tables are computed on demand."""

    plan: Plan
    measurements: Measurements
    receipt: Receipt

    @property
    def schema(self) -> Schema:
        """The schema of the dataset."""
        return self.plan.schema

    @property
    def private(self) -> bool:
        """False where a seed made the noise predictable."""
        return self.measurements.private

    @cached_property
    def estimate(self) -> Estimate:
        """The least-squares estimate of all wanted tables and their sub-tables."""
        return recover(self.measurements, self.plan.needed, self.plan.sizes)

    @cached_property
    def errors(self) -> ErrorLaw:
        """The errors of all wanted tables and their sub-tables."""
        return self.plan.error_law()

    @property
    def wanted(self) -> tuple[tuple[str, ...], ...]:
        """The attributes of each wanted table."""
        return tuple(self.schema.domain.named(cuboid) for cuboid in self.plan.workload.cuboids)

    def table(self, *names: str) -> ReleasedTable:
        """The table over the named attributes: a wanted one, or a sub-table of one."""
        cuboid = self.schema.domain.cuboid(names)
        if not self.estimate.covers(cuboid):
            raise BundleError(f"the release does not cover [{' '.join(names)}]: it has {in_short(self.plan.workload)} "
                              "and their sub-tables, so ask for one of those or release it too")  # fmt: skip
        return self._made(cuboid, self.estimate.table(cuboid))

    def tables(self) -> Iterator[ReleasedTable]:
        """All wanted tables, in the order of the workload."""
        return self.made(self.plan.workload.cuboids)

    def made(self, cuboids: Iterable[Cuboid]) -> Iterator[ReleasedTable]:
        """The tables of covered cuboids, in the given order."""
        order = list(cuboids)
        waiting: dict[Cuboid, NDArray[np.float64]] = {}
        place = 0
        for cuboid, values in self.estimate.tables(order):
            waiting[cuboid] = values
            while place < len(order) and order[place] in waiting:
                yield self._made(order[place], waiting.pop(order[place]))
                place += 1

    def _made(self, cuboid: Cuboid, values: NDArray[np.float64]) -> ReleasedTable:
        domain, error = self.schema.domain, self.errors.of(cuboid)
        assert error is not None
        return ReleasedTable(
            attributes=domain.named(cuboid),
            categories=tuple(domain.attributes[i].categories for i in cuboid),
            raw=_rounded(values, error.sd),
            error=error,
            impossible=self._impossible(cuboid),
            total=None if cuboid else self.measurements.total,
            private=self.private,
        )

    def _impossible(self, cuboid: Cuboid) -> NDArray[np.bool_] | None:
        """Cells that the schema rules out by attributes of this table alone."""
        domain = self.schema.domain
        found: NDArray[np.bool_] | None = None
        for combination in self.schema.impossible:
            cells = {domain.names.index(name): label for name, label in combination}
            if set(cells).issubset(cuboid):
                found = np.zeros(domain.shape(cuboid), dtype=bool) if found is None else found
                where = tuple(domain.attributes[i].position(cells[i]) if i in cells else slice(None) for i in cuboid)
                found[where] = True
        return found


def _rounded(values: NDArray[np.float64], sd: float) -> NDArray[np.float64]:
    """Values without the rounding errors of recovery: to a ten-thousandth of the noise, and at least a millionth."""
    if sd == 0:
        return np.array(values)
    digits = max(6, 4 - math.floor(math.log10(sd)))
    return np.asarray(np.round(values, digits) + 0.0)  # + 0.0: no -0.0
