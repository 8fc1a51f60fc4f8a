"""Guarantees as people type them, and who is protected."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from cuboid.errors import ParameterError
from cuboid.privacy import Approximate, Concentrated, Mechanism, Pure, Relation, Spend, Unit, loss
from cuboid.privacy.normal import delta_of


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ({"epsilon": 1}, Pure(epsilon=Fraction(1))),
        ({"epsilon": 0.1}, Pure(epsilon=Fraction(1, 10))),
        ({"epsilon": "1/3"}, Pure(epsilon=Fraction(1, 3))),
        ({"epsilon": Decimal("0.25")}, Pure(epsilon=Fraction(1, 4))),
        ({"rho": "0.5"}, Concentrated(rho=Fraction(1, 2))),
        ({"epsilon": 1, "delta": "1e-9"}, Approximate(epsilon=Fraction(1), delta=Fraction(1, 10**9))),
        ({"epsilon": 1, "delta": 0.1}, Approximate(epsilon=Fraction(1), delta=Fraction(1, 10))),
    ],
)
def test_a_guarantee_is_the_rational_that_was_typed(typed: dict[str, Any], meant: object) -> None:
    """Numbers are taken as written, and each kind is what its names say."""
    assert loss(**typed) == meant


@pytest.mark.parametrize(
    ("typed", "match"),
    [
        ({}, "either epsilon .* or rho"),
        ({"delta": "1e-6"}, "either epsilon .* or rho"),
        ({"epsilon": 1, "rho": 1}, "both epsilon and rho were given: give one of them"),
        ({"rho": 1, "delta": "1e-6"}, "rho takes no delta: give epsilon with delta, or rho alone"),
        ({"epsilon": 0}, "epsilon must be positive"),
        ({"epsilon": -1}, "epsilon must be a positive number such as"),
        ({"epsilon": float("nan")}, "epsilon must be a positive number"),
        ({"epsilon": float("inf")}, "epsilon must be a positive number"),
        ({"epsilon": True}, "epsilon must be a positive number"),
        ({"epsilon": "one"}, "epsilon must be a positive number"),
        ({"epsilon": "1/0"}, "epsilon must be a positive number"),
        ({"rho": "1e-301"}, "rho must be positive, and between"),
        ({"rho": 10**10}, "rho must be positive, and between"),
        ({"epsilon": 1, "delta": 0}, "delta must be positive"),
        ({"epsilon": 1, "delta": "0.5"}, "delta must be below 1/2"),
        ({"epsilon": 1, "delta": 2}, "delta must be below 1/2"),
    ],
)
def test_a_guarantee_that_is_none_is_refused(typed: dict[str, Any], match: str) -> None:
    """Each message names the number and its range."""
    with pytest.raises(ParameterError, match=match) as caught:
        loss(**typed)
    assert "\n" not in str(caught.value)


def test_each_guarantee_has_its_spend() -> None:
    """Pure epsilon is spent on Laplace noise; rho is mu^2 = 2 rho; epsilon with delta is the mu^2 that keeps delta."""
    assert loss(epsilon="0.3").spend == Spend(mechanism=Mechanism.PURE, amount=Fraction(3, 10))
    assert loss(rho="0.3").spend == Spend(mechanism=Mechanism.GAUSSIAN, amount=Fraction(3, 5))
    spend = loss(epsilon=1, delta="1e-6").spend
    assert spend.mechanism is Mechanism.GAUSSIAN
    assert delta_of(mu_squared=spend.amount, epsilon=Fraction(1))[1] <= Fraction(1, 10**6)
    assert delta_of(mu_squared=spend.amount * Fraction(10**6 + 1, 10**6), epsilon=Fraction(1))[0] > Fraction(1, 10**6)


@pytest.mark.parametrize("typed", [{"epsilon": "0.1"}, {"rho": "1/3"}, {"epsilon": "2", "delta": "0.000001"}])
def test_a_guarantee_is_shown_as_typed(typed: dict[str, str]) -> None:
    """And what is shown is that guarantee again."""
    assert loss(**typed).typed() == typed
    assert loss(**loss(**typed).typed()) == loss(**typed)


def test_relations_have_names() -> None:
    """By name, or refused with the names there are."""
    assert [Relation.of(name) for name in ("add-remove", "replace")] == list(Relation)
    for name in ("add", "REPLACE", ""):
        with pytest.raises(ParameterError, match=f"no relation '{name}'; choose add-remove or replace"):
            Relation.of(name)


def test_a_person_owns_at_least_one_row() -> None:
    """max_rows starts at 1, and only replace makes the total public."""
    for rows in (0, -3, 1.5, True, "2"):
        with pytest.raises(ParameterError, match="max_rows must be a whole number of at least 1"):
            Unit(max_rows=rows)  # type: ignore[arg-type]
    assert Unit() == Unit(relation=Relation.ADD_REMOVE, max_rows=1)
    assert [Unit(relation=relation).total_is_public for relation in Relation] == [False, True]
