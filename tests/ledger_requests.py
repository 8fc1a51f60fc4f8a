"""Requests to a ledger, as a gate would make them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from cuboid.privacy import Mechanism, Spend, Unit
from cuboid.privacy.ledger import Request


def request(amount: str | Fraction = "1/10", mechanism: Mechanism = Mechanism.PURE, **changes: Any) -> Request:
    """A request for an amount, of Laplace noise unless said otherwise."""
    usual = Request(
        dataset="survey",
        spend=Spend(mechanism=mechanism, amount=Fraction(amount)),
        guarantee={"epsilon": str(amount)},
        unit=Unit(),
        plan="ab12",
        folder="/releases/one",
        source="/data/people.csv",
        disclosures=(),
        private=True,
        release="00ff",
    )
    return replace(usual, **changes)


def gaussian(mu_squared: str | Fraction, **changes: Any) -> Request:
    """A request for Gaussian noise of that mu^2."""
    return request(mu_squared, Mechanism.GAUSSIAN, **changes)
