"""The privacy guarantee to spend, in the three currencies people use."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from cuboid.errors import ParameterError
from cuboid.privacy.normal import mu_squared_for
from cuboid.privacy.number import Number, exact, typed

_LARGEST_DELTA = Fraction(1, 2)


class Mechanism(StrEnum):
    """What a spend is made of; each has its own exact arithmetic.

    PURE       epsilon-differential privacy (Laplace noise); amounts are epsilon and add up
    GAUSSIAN   mu-Gaussian differential privacy (normal noise); amounts are mu^2 and add up
    """

    PURE = "pure"
    GAUSSIAN = "gaussian"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """An amount of privacy that some mechanism uses up."""

    mechanism: Mechanism
    amount: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Pure:
    """epsilon-differential privacy."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        exact(self.epsilon, "epsilon")

    @property
    def spend(self) -> Spend:
        """What a plan may use up."""
        return Spend(mechanism=Mechanism.PURE, amount=self.epsilon)

    def typed(self) -> dict[str, str]:
        """The guarantee as it was typed."""
        return {"epsilon": typed(self.epsilon)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Concentrated:
    """rho-zero-concentrated differential privacy, spent on normal noise: mu^2 = 2 rho (Bun and Steinke 2016)."""

    rho: Fraction

    def __post_init__(self) -> None:
        exact(self.rho, "rho")

    @property
    def spend(self) -> Spend:
        """What a plan may use up."""
        return Spend(mechanism=Mechanism.GAUSSIAN, amount=2 * self.rho)

    def typed(self) -> dict[str, str]:
        """The guarantee as it was typed."""
        return {"rho": typed(self.rho)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Approximate:
    """(epsilon, delta)-differential privacy, spent on normal noise by its exact trade-off (Balle and Wang 2018)."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        exact(self.epsilon, "epsilon")
        exact(self.delta, "delta", below=_LARGEST_DELTA)

    @property
    def spend(self) -> Spend:
        """What a plan may use up: the largest mu^2 whose delta(epsilon) is at most delta, rounded down."""
        return Spend(mechanism=Mechanism.GAUSSIAN, amount=_mu_squared(self.epsilon, self.delta))

    def typed(self) -> dict[str, str]:
        """The guarantee as it was typed."""
        return {"epsilon": typed(self.epsilon), "delta": typed(self.delta)}


@lru_cache(maxsize=256)
def _mu_squared(epsilon: Fraction, delta: Fraction) -> Fraction:
    return mu_squared_for(epsilon, delta)


Loss = Pure | Concentrated | Approximate


def loss(*, epsilon: Number | None = None, rho: Number | None = None, delta: Number | None = None) -> Loss:
    """The guarantee that was typed: epsilon alone, rho alone, or epsilon with delta."""
    if epsilon is not None and rho is not None:
        raise ParameterError("both epsilon and rho were given: give one of them")
    if epsilon is None and rho is None:
        raise ParameterError("say how much privacy may be spent: either epsilon (with or without delta) or rho")
    if rho is not None:
        if delta is not None:
            raise ParameterError("rho takes no delta: give epsilon with delta, or rho alone")
        return Concentrated(rho=exact(rho, "rho"))
    assert epsilon is not None
    if delta is None:
        return Pure(epsilon=exact(epsilon, "epsilon"))
    return Approximate(epsilon=exact(epsilon, "epsilon"), delta=exact(delta, "delta", below=_LARGEST_DELTA))
