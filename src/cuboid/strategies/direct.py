"""Q and Q+: ask for each wanted table (Dwork et al. 2006; Yaroslavtsev et al. 2013, section III).

Shares of the budget: equal (uniform), or those that minimise the weighted sum of the tables' own variances. With
a_M = weight_M |M|: eta_M proportional to a_M^(1/3) for Laplace noise, 1/s2_M to a_M^(1/2) for Gaussian noise
(Corollary 3.3). Recovery then combines what the tables share, so the release is better than either formula says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuboid.planning import equal_shares, shares
from cuboid.privacy import Form, Mechanism
from cuboid.strategies.strategy import MOST_ANSWERS

if TYPE_CHECKING:
    from cuboid.measurement import Query
    from cuboid.strategies.strategy import Problem


@dataclass(frozen=True, slots=True)
class Direct:
    """Every wanted table, measured once."""

    name: str = "direct"

    def unfit(self, problem: Problem) -> str | None:
        """Too many cells to hold, or nothing to ask."""
        cells = sum(math.prod(problem.sizes[i] for i in cuboid) for cuboid, _ in problem.wanted)
        if cells > MOST_ANSWERS:
            return f"the wanted tables have more than {MOST_ANSWERS:,} cells: ask for fewer or smaller tables"
        return None

    def queries(self, problem: Problem) -> tuple[Query, ...]:
        """One query per wanted table."""
        wanted = problem.wanted
        root = 3 if problem.mechanism is Mechanism.PURE else 2
        if problem.budget == "uniform":
            parts = equal_shares(len(wanted))
        else:
            cells = [math.prod(problem.sizes[i] for i in cuboid) for cuboid, _ in wanted]
            parts = shares([(weight * size) ** (1 / root) for (_, weight), size in zip(wanted, cells, strict=True)])
        weights = {cuboid: part for (cuboid, _), part in zip(wanted, parts, strict=True)}
        return problem.spent_on(Form.TABLE, weights)
