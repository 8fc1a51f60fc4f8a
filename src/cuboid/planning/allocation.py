"""Budgets split into exact shares."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_PARTS = 2**60


def shares(weights: Sequence[float]) -> tuple[Fraction, ...]:
    """Positive rationals proportional to the weights (to 2^-60) that sum to exactly 1."""
    total = sum(weights)
    parts = [max(1, int(weight / total * _PARTS)) for weight in weights]
    largest = max(range(len(parts)), key=parts.__getitem__)
    parts[largest] += _PARTS - sum(parts)
    return tuple(Fraction(part, _PARTS) for part in parts)


def equal_shares(number: int) -> tuple[Fraction, ...]:
    """`number` times 1/number."""
    return (Fraction(1, number),) * number
