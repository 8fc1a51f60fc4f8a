"""Enclosures of the normal distribution, and budgets rounded against the user."""

from __future__ import annotations

import subprocess
import sys
import time
from decimal import Decimal
from fractions import Fraction

import mpmath as mp
import pytest

from cuboid.privacy.normal import (
    delta_of,
    epsilon_for,
    exp_bounds,
    mu_squared_for,
    mu_squared_of_pure,
    upper_tail,
)


def number(x: Fraction | Decimal) -> mp.mpf:
    x = Fraction(x)
    return mp.mpf(x.numerator) / x.denominator


@pytest.mark.parametrize("digits", [10, 30, 120])
@pytest.mark.parametrize("x", ["0", "1e-30", "0.001", "0.5", "1", "2.5", "3.999999", "4", "4.1", "9", "37.5", "60"])
def test_the_upper_tail_is_enclosed(x: str, digits: int) -> None:
    """mpmath's value lies between the bounds, and they are as close as asked for, on either side of 0."""
    for sign in (1, -1):
        low, high = upper_tail(sign * Fraction(x), digits)
        with mp.workdps(digits + 30 if sign > 0 else digits + 830):
            assert number(low) <= mp.erfc(number(sign * Fraction(x)) / mp.sqrt(2)) / 2 <= number(high)
        assert 0 < high - low <= low * Decimal(10) ** -digits


def test_decimals_are_taken_at_their_word() -> None:
    """A decimal argument is the same exact number as the fraction."""
    assert upper_tail(Decimal("1.3"), 30) == upper_tail(Fraction(13, 10), 30)


@pytest.mark.parametrize("x", ["0", "1", "-1", "1e-40", "0.1", "-745", "700", "-123456.789"])
def test_the_exponential_is_enclosed(x: str) -> None:
    """mpmath's value lies between the bounds, 40 digits close."""
    low, high = exp_bounds(Fraction(x), 40)
    with mp.workdps(80):
        assert number(low) <= mp.exp(number(Fraction(x))) <= number(high)
    assert (high - low) / high < Decimal("1e-38")


def test_an_exponential_out_of_sight_is_bounded_all_the_same() -> None:
    """Thresholds nobody will ever reach cost nothing and are still bounded from both sides."""
    assert exp_bounds(Fraction(-(10**30)), 30) == (Decimal(0), Decimal((0, (1,), -(10**14))))


@pytest.mark.parametrize(
    ("epsilon", "mu_squared"),
    [("0", "1"), ("1", "0.03"), ("0.1", "0.0004"), ("10", "2"), ("300", "600"), ("1", "1e-3")],
)
def test_the_profile_is_enclosed(epsilon: str, mu_squared: str) -> None:
    """Delta by mpmath lies between the bounds, 25 digits close."""
    low, high = delta_of(mu_squared=Fraction(mu_squared), epsilon=Fraction(epsilon))
    with mp.workdps(800):
        e, mu = number(Fraction(epsilon)), mp.sqrt(number(Fraction(mu_squared)))
        exact = (mp.erfc((e / mu - mu / 2) / mp.sqrt(2)) - mp.exp(e) * mp.erfc((e / mu + mu / 2) / mp.sqrt(2))) / 2
        assert number(low) <= exact <= number(high)
    assert 0 < high - low <= low * Decimal("1e-25")


@pytest.mark.parametrize("delta", ["0.5", "1e-2", "1e-6", "1e-9", "1e-30", "1e-300"])
@pytest.mark.parametrize("epsilon", ["1e-6", "0.01", "1", "20", "300"])
def test_budgets_are_the_largest_that_are_safe(epsilon: str, delta: str) -> None:
    """At the returned mu^2 delta is kept; a relative 1e-10 more would break it."""
    e, d = Fraction(epsilon), Fraction(delta)
    found = mu_squared_for(e, d)
    assert delta_of(mu_squared=found, epsilon=e)[1] <= d
    assert delta_of(mu_squared=found * (1 + Fraction(1, 10**10)), epsilon=e)[0] > d
    assert found.numerator.bit_length() <= 53
    assert found.denominator & (found.denominator - 1) == 0


@pytest.mark.parametrize("delta", ["0.1", "1e-6", "1e-30"])
@pytest.mark.parametrize("mu_squared", ["1e-8", "0.01", "1", "50", "600"])
def test_claims_are_the_smallest_that_are_true(mu_squared: str, delta: str) -> None:
    """At the returned epsilon delta is kept; a relative 1e-10 less would break it, unless it is 0."""
    m, d = Fraction(mu_squared), Fraction(delta)
    found = epsilon_for(m, d)
    assert delta_of(mu_squared=m, epsilon=found)[1] <= d
    if found:
        assert delta_of(mu_squared=m, epsilon=found * (1 - Fraction(1, 10**10)))[0] > d
    else:
        assert d >= Fraction("0.1")


@pytest.mark.parametrize("epsilon", ["1e-30", "1e-6", "0.1", "1", "5", "50", "700"])
def test_a_pure_spend_is_priced_by_the_gaussian_on_the_diagonal(epsilon: str) -> None:
    """Q(mu/2) is at most 1/(1 + e^epsilon), and not below it by more than 1e-10 of mu^2."""
    found = mu_squared_of_pure(Fraction(epsilon))
    with mp.workdps(400):
        chance = 1 / (1 + mp.exp(number(Fraction(epsilon))))
        tail = [mp.erfc(mp.sqrt(number(m) / 8)) / 2 for m in (found, found * (1 - Fraction(1, 10**10)))]
        assert tail[0] <= chance < tail[1]


def test_a_small_pure_spend_costs_more_than_in_zcdp_and_a_large_one_less() -> None:
    """mu^2 is pi/2 epsilon^2 for small epsilon and grows like 8 epsilon for large."""
    assert float(mu_squared_of_pure(Fraction(1, 1000))) == pytest.approx(1.5708e-6, rel=1e-4)
    assert float(mu_squared_of_pure(Fraction(700))) < 8 * 700


def test_arguments_without_meaning_are_refused() -> None:
    """Epsilons and deltas outside their ranges raise."""
    for epsilon, delta in ((0, Fraction(1, 2)), (-1, Fraction(1, 2)), (1, Fraction(0)), (1, Fraction(1))):
        with pytest.raises(ValueError, match="epsilon must be positive"):
            mu_squared_for(Fraction(epsilon), delta)
    for mu_squared, delta in ((0, Fraction(1, 2)), (1, Fraction(0))):
        with pytest.raises(ValueError, match="mu squared must be positive"):
            epsilon_for(Fraction(mu_squared), delta)
    with pytest.raises(ValueError, match="mu squared must be positive"):
        delta_of(mu_squared=Fraction(1), epsilon=Fraction(-1))
    with pytest.raises(ValueError, match="epsilon must be positive"):
        mu_squared_of_pure(Fraction(0))


def test_a_budget_is_converted_in_milliseconds_without_numpy() -> None:
    """The standard library is enough, and fast enough to be called at every plan."""
    code = "import sys, importlib.util as u; s = u.spec_from_file_location('normal', sys.argv[1])\n"
    code += (
        "m = u.module_from_spec(s); s.loader.exec_module(m); sys.exit('numpy' in sys.modules or 'scipy' in sys.modules)"
    )
    path = sys.modules[mu_squared_for.__module__].__file__
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == 0
    start = time.process_time()
    for _ in range(5):
        mu_squared_for(Fraction(1), Fraction(1, 10**9))
    assert (time.process_time() - start) / 5 < 0.05
