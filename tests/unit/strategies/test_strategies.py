"""The closed forms of each strategy, and how one is chosen."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import optimize

import oracle
from cuboid.errors import ParameterError, PlanError, WorkloadError
from cuboid.privacy import Form, Loss, Relation, Unit, contrast_norm, loss
from cuboid.strategies import NAMES, STRATEGIES, Problem
from cuboid.strategies import plan as strategy_plan
from cuboid.workload import parse

if TYPE_CHECKING:
    from cuboid.planning import Plan

PURE, RHO = loss(epsilon=1), loss(rho="1/2")


def problem(
    sizes: tuple[int, ...],
    wanted: str,
    spent: Loss,
    *,
    relation: str = "add-remove",
    budget: str = "optimal",
    rows: int = 1,
) -> Problem:
    """A problem over a small domain."""
    own = oracle.schema(sizes, max_rows=rows)
    unit = Unit(relation=Relation.of(relation), max_rows=rows)
    return Problem(schema=own, workload=parse(wanted, own.domain), loss=spent, unit=unit, budget=budget)


def test_every_strategy_has_a_name_of_its_own() -> None:
    """`auto` and the strategies' names, each once."""
    assert ("auto", *(strategy.name for strategy in STRATEGIES)) == NAMES
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize(("spent", "root"), [(PURE, 3), (RHO, 2)], ids=["cube roots", "square roots"])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_direct_shares_are_roots_of_weighted_cells(spent: Loss, root: int, relation: str) -> None:
    """Yaroslavtsev et al. 2013, Corollary 3.3: the noise that minimises the weighted sum of the tables' variances."""
    made = strategy_plan(problem((3, 4, 2), "9*[A B] [C] 1/2*[B C]", spent, relation=relation), "direct")
    prices = [1.0 * 2, 9.0 * 12, 0.5 * 8]
    by_cuboid = {query.cuboid: float(query.weight) for query in made.queries}
    found = [by_cuboid[cuboid] for cuboid in ((2,), (0, 1), (1, 2))]
    expected = np.array(prices) ** (1 / root)
    np.testing.assert_allclose(np.array(found) / sum(found), expected / expected.sum(), rtol=1e-12)
    # No other split of the budget does better.
    power = 2 if root == 3 else 1

    def cost(logits: np.ndarray) -> float:
        share = np.exp(logits) / np.exp(logits).sum()
        return float(np.sum(np.array(prices) / share**power))

    best = optimize.minimize(cost, np.zeros(3)).fun
    assert cost(np.log(expected)) <= best * (1 + 1e-6)


def test_direct_uniform_gives_every_table_the_same_noise() -> None:
    """Whatever their sizes and weights."""
    for spent in (PURE, RHO):
        made = strategy_plan(problem((3, 4, 2), "9*[A B] [C] 1/2*[B C]", spent, budget="uniform"), "direct")
        assert {query.weight for query in made.queries} == {Fraction(1, 3)}


def test_identity_asks_for_everything_once() -> None:
    """One table over the whole domain, under both budget rules."""
    for spent, relation, weight in (
        (PURE, "add-remove", 1),
        (PURE, "replace", Fraction(1, 2)),
        (RHO, "replace", Fraction(1, 2)),
    ):
        made = [
            strategy_plan(problem((3, 4, 2), "[A]", spent, relation=relation, budget=budget), "identity").queries
            for budget in ("optimal", "uniform")
        ]
        assert made[0] == made[1]
        (query,) = made[0]
        assert (query.cuboid, query.form, query.weight) == ((0, 1, 2), Form.TABLE, weight)


def test_residual_is_the_optimum() -> None:
    """Xiao et al. 2023: no other variances of the contrasts, at the same cost, leave a smaller weighted total."""
    made = strategy_plan(problem((3, 4, 2), "5*[A B] [B C] []", RHO), "residual")
    sizes = made.sizes
    norms = {query.cuboid: float(contrast_norm(sizes, query.cuboid)) for query in made.queries}
    best = made.total_variance(ideal=True, weighted=True)

    def total(weights: dict[tuple[int, ...], float]) -> float:
        return sum(
            float(weight) / math.prod(sizes[i] for i in cuboid)
            * sum(math.prod((sizes[i] - 1) * sizes[i] for i in part) / weights[part]
                  for k in range(len(cuboid) + 1) for part in itertools.combinations(cuboid, k))
            for cuboid, weight in made.workload.tables
        )  # fmt: skip

    own = {query.cuboid: float(query.weight) for query in made.queries}
    assert total(own) == pytest.approx(best, rel=1e-12)
    assert sum(own[part] * norms[part] for part in own) == pytest.approx(1, rel=1e-12)
    random = np.random.default_rng(4)
    for size in (0.01, 0.1, 0.5):
        for _ in range(50):
            other = {part: weight * math.exp(size * random.standard_normal()) for part, weight in own.items()}
            scale = sum(other[part] * norms[part] for part in other)
            assert total({part: weight / scale for part, weight in other.items()}) >= best * (1 - 1e-12)


def test_residual_uniform_gives_every_contrast_the_same_noise() -> None:
    """Equal precision of all orthonormal contrasts, at the whole budget."""
    made = strategy_plan(problem((3, 4, 2), "[A B][B C]", RHO, budget="uniform"), "residual")
    weights = [float(query.weight) for query in made.queries]
    np.testing.assert_allclose(weights, weights[0], rtol=1e-12)
    assert {query.cuboid for query in made.queries} == {(), (0,), (1,), (2,), (0, 1), (1, 2)}
    assert all(query.form is Form.CONTRAST for query in made.queries)


@pytest.mark.parametrize("strategy", ["direct", "residual"])
def test_a_public_total_is_not_asked_for(strategy: str) -> None:
    """Under replace nothing is spent on the number of rows, and its error is zero."""
    made = strategy_plan(problem((3, 2), "all 0..2-way", RHO, relation="replace"), strategy)
    assert () not in {query.cuboid for query in made.queries}
    assert made.predicted_error().sd == 0
    asked = strategy_plan(problem((3, 2), "all 0..2-way", RHO), strategy)
    assert () in {query.cuboid for query in asked.queries}


def test_auto_minimises_the_weighted_total() -> None:
    """The plan of the smallest weighted total variance, the others listed as rejected."""
    for wanted in ("[A]", "all 2-way", "100*[A B C] [A]", "100*[A] [A B C]"):
        for spent in (PURE, RHO):
            own = problem((3, 4, 2), wanted, spent)
            alone: list[Plan] = []
            for name in NAMES[1:]:
                if name != "residual" or spent is RHO:
                    alone.append(strategy_plan(own, name))
            chosen = strategy_plan(own)
            lowest = min(made.total_variance(weighted=True) for made in alone)
            assert chosen.total_variance(weighted=True) == lowest
            assert {chosen.strategy, *(other.strategy for other in chosen.rejected)} == set(NAMES[1:])


def test_when_nothing_fits_every_reason_is_given() -> None:
    """A named strategy that does not fit, and a problem that fits none."""
    with pytest.raises(PlanError, match=r"^strategy residual .*Gaussian noise: spend rho, or epsilon with delta$"):
        strategy_plan(problem((2, 2), "[A]", PURE), "residual")
    with pytest.raises(PlanError, match=r"strategy identity needs all .*; strategy direct .*; strategy residual .*"):
        strategy_plan(problem((1000,) * 6, "[A B C]", RHO))


def test_a_total_alone_is_public_under_replace() -> None:
    """There is nothing to ask, and the message says what to ask for."""
    with pytest.raises(
        WorkloadError, match=r"only the number of rows is wanted, .* public under replace: ask for a table"
    ):
        strategy_plan(problem((2, 2), "[]", PURE, relation="replace"))
    assert strategy_plan(problem((2, 2), "[]", PURE)).rmse(ideal=True) == pytest.approx(math.sqrt(2))


def test_an_unknown_strategy_or_budget_is_refused() -> None:
    """With the names there are."""
    with pytest.raises(ParameterError, match="no strategy 'flat'; choose auto, identity, direct, residual"):
        strategy_plan(problem((2, 2), "[A]", PURE), "flat")
    with pytest.raises(ParameterError, match="no budget rule 'even'; choose optimal, uniform"):
        problem((2, 2), "[A]", PURE, budget="even")


@pytest.mark.parametrize(("spent", "times"), [(PURE, 5), (RHO, 25)])
def test_more_rows_a_person_leave_less_for_each(spent: Loss, times: int) -> None:
    """The budget of one row is a fifth of epsilon, or a twenty-fifth of mu^2, for five rows a person."""
    one, five = (problem((2, 2), "[A]", spent, rows=rows) for rows in (1, 5))
    for strategy in ("identity", "direct"):
        (alone,), (shared,) = (strategy_plan(asked, strategy).queries for asked in (one, five))
        assert alone.weight == times * shared.weight == spent.spend.amount
        assert strategy_plan(five, strategy).cost().amount == spent.spend.amount
