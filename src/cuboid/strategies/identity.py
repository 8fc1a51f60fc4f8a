"""I: ask for every cell of the whole domain (Barak et al. 2007, section 1; PriView's Flat).

One table contains all others. Good for few cells; a table over few of many attributes sums very many noises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from cuboid.privacy import Form

if TYPE_CHECKING:
    from cuboid.measurement import Query
    from cuboid.strategies.strategy import Problem

MOST_CELLS = 50_000_000


@dataclass(frozen=True, slots=True)
class Identity:
    """The one table over all attributes."""

    name: str = "identity"

    def unfit(self, problem: Problem) -> str | None:
        """Too many cells to hold."""
        cells = math.prod(problem.sizes)
        if cells > MOST_CELLS:
            return f"needs all cells of the domain, more than {MOST_CELLS:,}: use direct or residual"
        return None

    def queries(self, problem: Problem) -> tuple[Query, ...]:
        """One query; both budget rules agree on it."""
        everything = tuple(range(len(problem.sizes)))
        return problem.spent_on(Form.TABLE, {everything: Fraction(1)})
