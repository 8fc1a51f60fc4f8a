"""Is a typed number the rational that was meant?"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from cuboid.errors import ParameterError
from cuboid.privacy import exact, typed


@pytest.mark.parametrize("number", [0.1, "0.1", "1/10", Decimal("0.1"), Fraction(1, 10), "1e-1", " .1 "])
def test_a_tenth_is_a_tenth_however_it_is_typed(number):
    """0.1 is 1/10, not the float's binary value."""
    assert exact(number, "epsilon") == Fraction(1, 10)


@pytest.mark.parametrize(
    ("number", "text"),
    [(Fraction(1, 10), "0.1"), (Fraction(1), "1"), (Fraction(1, 3), "1/3"), (Fraction(1, 10**9), "1e-9")],
)
def test_a_rational_is_written_as_people_write_it(number, text):
    """Short decimals where there are some, else p/q; either reads back."""
    assert typed(number) == text
    assert exact(typed(number), "epsilon") == number


@pytest.mark.parametrize(
    "number",
    [0, -1, "-0.5", float("nan"), float("inf"), -float("inf"), 5e-324, "1e-301", "1e10", "", "one", "1/0", "0/5",
     "nan", "1_000", True, "1e9999", Decimal("NaN"), Decimal("Infinity"), 1e300],
)  # fmt: skip
def test_what_is_no_budget_is_refused(number):
    """Zero, negative, non-finite, subnormal, absurd and unreadable numbers are refused in one sentence."""
    with pytest.raises(ParameterError, match="must be"):
        exact(number, "epsilon")


def test_a_delta_has_to_stay_below_its_bound():
    """The upper bound itself is refused."""
    with pytest.raises(ParameterError, match="below 1/2"):
        exact("0.5", "delta", below=Fraction(1, 2))
