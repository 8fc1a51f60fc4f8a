"""The optimal matrix mechanism for marginals under Gaussian noise (Xiao et al. 2023, arXiv:2305.08175).

Ask for the contrasts of each residual T of the wanted tables, with variance s2_T proportional to
sqrt(p_T / c_T): c_T = dim(T) sum over wanted V containing T of weight_V |T|/|V| is what T contributes to the
weighted total variance, p_T = prod (1 - 1/n_i) what it costs (MATHS fact 6).
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuboid.domain import Cuboid, subsets
from cuboid.planning import shares
from cuboid.privacy import Form, Mechanism, contrast_norm
from cuboid.strategies.strategy import MOST_ANSWERS

if TYPE_CHECKING:
    from cuboid.measurement import Query
    from cuboid.strategies.strategy import Problem


@dataclass(frozen=True, slots=True)
class Residual:
    """Every residual of the wanted tables, measured once, in integer contrasts."""

    name: str = "residual"

    def unfit(self, problem: Problem) -> str | None:
        """Laplace noise, or too many numbers to hold."""
        if problem.mechanism is not Mechanism.GAUSSIAN:
            return "needs Gaussian noise: spend rho, or epsilon with delta"
        answers = sum(math.prod(problem.sizes[i] - 1 for i in part) for part in problem.residuals)
        if answers > MOST_ANSWERS:
            return f"the wanted tables have more than {MOST_ANSWERS:,} contrasts: ask for fewer or smaller tables"
        return None

    def queries(self, problem: Problem) -> tuple[Query, ...]:
        """One query per residual; scaled so that the joint sensitivity of all of them spends the budget."""
        sizes, prices = problem.sizes, _prices(problem)
        norms = {part: contrast_norm(sizes, part) for part in prices}
        if problem.budget == "uniform":
            parts = shares([float(norm) for norm in norms.values()])
        else:
            parts = shares([math.sqrt(prices[part] * float(norm)) for part, norm in norms.items()])
        weights = {part: share / norms[part] for part, share in zip(prices, parts, strict=True)}
        return problem.spent_on(Form.CONTRAST, weights)


def _prices(problem: Problem) -> dict[Cuboid, float]:
    """c_T of each residual."""
    sizes = problem.sizes
    found: defaultdict[Cuboid, float] = defaultdict(float)
    for cuboid, weight in problem.wanted:
        for part in subsets(cuboid):
            if problem.unknown(part):
                rest = math.prod(sizes[i] for i in set(cuboid).difference(part))
                found[part] += weight / rest
    return {part: value * math.prod(sizes[i] - 1 for i in part) for part, value in found.items()}
