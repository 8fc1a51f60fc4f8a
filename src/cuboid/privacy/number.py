"""Numbers as the user typed them: exact rationals."""

from __future__ import annotations

import re
from decimal import Context, Decimal
from fractions import Fraction
from typing import TypeAlias

from cuboid.errors import ParameterError

Number: TypeAlias = int | float | str | Decimal | Fraction

_PLAIN = Context(prec=28, Emin=-999_999, Emax=999_999)  # whatever the caller's own context is
_TYPED = re.compile(r"\s*(\d{1,40}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,3})?\s*\Z|\s*\d{1,40}/\d{1,400}\s*\Z")


def exact(number: Number, what: str, *, below: Fraction | None = None) -> Fraction:
    """The positive rational that a user means: 0.1 is 1/10, not the float's binary value.

    Raises ParameterError for zero, negative, non-finite, subnormal or absurdly long numbers.
    """
    text = repr(float(number)) if isinstance(number, float) else str(number)
    if (
        isinstance(number, bool)
        or not isinstance(number, int | float | str | Decimal | Fraction)
        or not _TYPED.match(text)
    ):
        raise ParameterError(f"{what} must be a positive number such as 1, 0.5 or 1/3")
    try:
        value = Fraction(text.replace(" ", ""))
    except (ValueError, ZeroDivisionError):
        raise ParameterError(f"{what} must be a positive number such as 1, 0.5 or 1/3") from None
    if not Fraction(1, 10**300) <= value <= 10**9:
        raise ParameterError(f"{what} must be positive, and between 1e-300 and {'1e9' if below is None else below}")
    if below is not None and value >= below:
        raise ParameterError(f"{what} must be below {below}, and positive")
    return value


def typed(number: Fraction) -> str:
    """A rational as people write it: 0.5, 1e-9, 12; p/q where it has no short decimal."""
    decimal = _PLAIN.divide(Decimal(number.numerator), Decimal(number.denominator))
    if Fraction(decimal) != number:
        return str(number)
    if 0 < number < Fraction(1, 10_000):
        return str(decimal.normalize(_PLAIN)).lower()
    return format(decimal, "f")
