"""What a strategy is: from a problem to queries that spend exactly its budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cuboid.domain import Cuboid, closure
from cuboid.errors import ParameterError, listed
from cuboid.measurement import Query, cost_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from cuboid.domain import Schema
    from cuboid.privacy import Form, Loss, Mechanism, Unit
    from cuboid.workload import Workload

BUDGETS = ("optimal", "uniform")
MOST_ANSWERS = 400_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """All that planning may know. `budget`: "uniform" noise, or the "optimal" one in closed form."""

    schema: Schema
    workload: Workload
    loss: Loss
    unit: Unit
    budget: str = "optimal"

    def __post_init__(self) -> None:
        if self.budget not in BUDGETS:
            raise ParameterError(f"there is no budget rule {self.budget!r}; choose {listed(BUDGETS)}")

    @property
    def mechanism(self) -> Mechanism:
        """Which noise the guarantee is spent on."""
        return self.loss.spend.mechanism

    def spent_on(self, form: Form, weights: Mapping[Cuboid, Fraction]) -> tuple[Query, ...]:
        """Queries of one form about some cuboids, weighted in these proportions, that use up exactly the budget."""
        asked = [Query(cuboid=cuboid, form=form, weight=weight) for cuboid, weight in weights.items()]
        scale = self.loss.spend.amount / cost_of(asked, self.mechanism, self.sizes, self.unit).amount
        return tuple(Query(cuboid=query.cuboid, form=form, weight=scale * query.weight) for query in asked)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of categories of each attribute."""
        return self.schema.domain.sizes

    @property
    def wanted(self) -> tuple[tuple[Cuboid, float], ...]:
        """Wanted cuboids with their weights, without a total that is public anyway."""
        return tuple((cuboid, float(weight)) for cuboid, weight in self.workload.tables if self.unknown(cuboid))

    @property
    def residuals(self) -> tuple[Cuboid, ...]:
        """The residuals of the wanted tables that are not public."""
        return tuple(part for part in closure(self.workload.cuboids) if self.unknown(part))

    def unknown(self, cuboid: Cuboid) -> bool:
        """Whether a table is not public knowledge."""
        return bool(cuboid) or not self.unit.total_is_public


class Strategy(Protocol):
    """One way to ask. A new one is a file here, listed in `auto.py`, that passes tests/contracts."""

    @property
    def name(self) -> str:
        """Its name on the command line."""

    def unfit(self, problem: Problem) -> str | None:
        """Why it cannot serve the problem, with the way out; None where it can. Must be cheap."""

    def queries(self, problem: Problem) -> tuple[Query, ...]:
        """Queries whose cost is exactly the problem's budget."""
