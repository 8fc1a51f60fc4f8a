"""Amounts of an account as people type them: what is left never looks like more, what is spent never like less."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from cuboid.privacy.normal import epsilon_for, mu_squared_for
from cuboid.privacy.number import typed

if TYPE_CHECKING:
    from collections.abc import Mapping

_DIGITS = 6
_LONGEST = 14  # characters: beyond, a number is no longer one that somebody typed
_BRIEF = 10**30


def shown(guarantee: Mapping[str, str]) -> str:
    """A guarantee as a message says it: "epsilon 1 with delta 0.000001"."""
    return " with ".join(f"{name} {guarantee[name]}" for name in ("epsilon", "rho", "delta") if name in guarantee)


def remaining(guarantee: Mapping[str, str], left: Fraction) -> dict[str, str]:
    """What may still be typed of an account opened with `guarantee`, rounded down where it is no short decimal."""
    if "delta" not in guarantee:
        return {name: _short(left, ROUND_FLOOR) for name in guarantee}
    delta = Fraction(guarantee["delta"])
    if left > 0 and left == mu_squared_for(Fraction(guarantee["epsilon"]), delta):
        return dict(guarantee)  # nothing spent: no detour through mu^2
    number = _epsilon(left, delta, ROUND_FLOOR)
    while Fraction(number) > 0 and mu_squared_for(Fraction(number), delta) > left:
        number = _short(Fraction(number) * (1 - Fraction(1, 10**_DIGITS)), ROUND_FLOOR)
    return {"epsilon": number, "delta": guarantee["delta"]}


def used(guarantee: Mapping[str, str], spent: Fraction) -> dict[str, str]:
    """What an amount of an account opened with `guarantee` comes to, rounded up where it is no short decimal."""
    if "delta" not in guarantee:
        return {name: _short(spent, ROUND_CEILING) for name in guarantee}
    delta = Fraction(guarantee["delta"])
    if spent > 0 and spent == mu_squared_for(Fraction(guarantee["epsilon"]), delta):
        return dict(guarantee)
    number = _epsilon(spent, delta, ROUND_FLOOR)  # epsilon_for rounds up: what was typed may be a hair below it
    if spent > 0 and (Fraction(number) == 0 or mu_squared_for(Fraction(number), delta) < spent):
        number = _epsilon(spent, delta, ROUND_CEILING)
    return {"epsilon": number, "delta": guarantee["delta"]}


def too_much(dataset: str, guarantee: Mapping[str, str], *, left: Fraction, wanted: Fraction) -> str:
    """The sentence that refuses a spend: what is left, what was wanted, the way out."""
    if left <= 0:
        return (f"dataset {dataset} has nothing left of its {shown(guarantee)}: "
                "earlier releases may be used again for free, a new one cannot be paid")  # fmt: skip
    return (f"dataset {dataset} has {shown(remaining(guarantee, left))} left of its {shown(guarantee)}, and this plan "
            f"costs {shown(used(guarantee, wanted))}: plan with at most what is left")  # fmt: skip


def _epsilon(mu_squared: Fraction, delta: Fraction, rounding: str) -> str:
    return _short(epsilon_for(mu_squared, delta), rounding) if mu_squared > 0 else "0"


def _short(number: Fraction, rounding: str) -> str:
    if number.denominator < _BRIEF and number.numerator < _BRIEF:
        text = typed(number)
        if "/" not in text and len(text) <= _LONGEST:
            return text
    context = Context(prec=_DIGITS, rounding=rounding)
    rounded = context.divide(Decimal(number.numerator), Decimal(number.denominator)).normalize(context)
    return format(rounded, "f") if rounded.adjusted() > -_DIGITS else str(rounded)
