"""The strategy with the smallest predicted error, and why the others were not chosen."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from cuboid.errors import ParameterError, PlanError, WorkloadError, listed
from cuboid.planning import Plan, Rejected, people
from cuboid.strategies.direct import Direct
from cuboid.strategies.identity import Identity
from cuboid.strategies.residual import Residual

if TYPE_CHECKING:
    from cuboid.strategies.strategy import Problem, Strategy

STRATEGIES: tuple[Strategy, ...] = (Identity(), Direct(), Residual())
NAMES = ("auto", *(strategy.name for strategy in STRATEGIES))


def plan(problem: Problem, strategy: str = "auto") -> Plan:
    """The plan of the named strategy, or of the best one that fits. Raises PlanError where none does."""
    if strategy not in NAMES:
        raise ParameterError(f"there is no strategy {strategy!r}; choose {listed(NAMES)}")
    if not problem.wanted:
        raise WorkloadError("only the number of rows is wanted, and it is public under replace: ask for a table of "
                            "some attribute")  # fmt: skip
    chosen = [candidate for candidate in STRATEGIES if strategy in ("auto", candidate.name)]
    reasons: dict[str, str] = {}
    fitting: list[Plan] = []
    extreme: ParameterError | None = None
    for candidate in chosen:
        reason = candidate.unfit(problem)
        if reason is None:
            made = _plan(problem, candidate)
            try:
                made.refuse_extremes()
            except ParameterError as error:
                extreme, reason = error, f"cannot draw its noise: {error}"
            else:
                fitting.append(made)
        if reason is not None:
            reasons[candidate.name] = reason
    if not fitting and extreme is not None:
        raise extreme
    if not fitting:
        raise PlanError("; ".join(f"strategy {name} {reason}" for name, reason in reasons.items()))
    best = min(fitting, key=_objective)
    rejected = [_compared(other, best) for other in fitting if other is not best]
    rejected += [Rejected(strategy=name, rmse=None, reason=reason) for name, reason in reasons.items()]
    return dataclasses.replace(best, rejected=tuple(rejected))


def _plan(problem: Problem, strategy: Strategy) -> Plan:
    return Plan(
        schema=problem.schema,
        workload=problem.workload,
        loss=problem.loss,
        unit=problem.unit,
        strategy=strategy.name,
        budget=problem.budget,
        queries=strategy.queries(problem),
    )


def _objective(plan: Plan) -> float:
    """The weighted total variance of the wanted tables."""
    return plan.total_variance(weighted=True)


def _compared(other: Plan, best: Plan) -> Rejected:
    rmse, lowest = other.rmse(), best.rmse()
    times = math.inf if lowest == 0 else rmse / lowest
    apart = "as good as" if times < 1.005 else f"{people(times)} times"
    reason = f"its typical sd is {people(rmse)}, {apart} the chosen one's"
    return Rejected(strategy=other.strategy, rmse=rmse, reason=reason)
