"""What holds of noise, intervals and budgets for all parameters."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cuboid.noise import InsecureWords, Law, Terms, draw, interval
from cuboid.privacy.normal import delta_of, epsilon_for, mu_squared_for, mu_squared_of_pure, upper_tail

quiet = settings(max_examples=40, deadline=None, derandomize=True)
positive = st.fractions(min_value=Fraction(1, 10**6), max_value=200, max_denominator=10**6)
deltas = st.integers(1, 60).map(lambda n: Fraction(1, 2**n))
laws = st.sampled_from(list(Law))


@quiet
@given(positive, deltas)
def test_mu_squared_and_epsilon_are_inverse(epsilon: Fraction, delta: Fraction) -> None:
    """A budget turned into mu^2 and back claims no more than 1e-8 of it beyond rounding, and delta is kept."""
    mu_squared = mu_squared_for(epsilon, delta)
    assert delta_of(mu_squared=mu_squared, epsilon=epsilon)[1] <= delta
    back = epsilon_for(mu_squared, delta)
    assert delta_of(mu_squared=mu_squared, epsilon=back)[1] <= delta
    assert back <= epsilon * (1 + Fraction(1, 10**10))


@quiet
@given(positive, deltas, st.fractions(min_value=Fraction(11, 10), max_value=10))
def test_more_budget_is_more_mu(epsilon: Fraction, delta: Fraction, more: Fraction) -> None:
    """mu^2 grows with epsilon and with delta; a dearer pure spend has a larger mu."""
    assert mu_squared_for(epsilon * more, delta) > mu_squared_for(epsilon, delta)
    assert mu_squared_for(epsilon, min(delta * more, Fraction(9, 10))) > mu_squared_for(epsilon, delta)
    assert mu_squared_of_pure(epsilon * more) > mu_squared_of_pure(epsilon)


@quiet
@given(positive, deltas)
def test_a_pure_spend_is_covered_by_its_mu(epsilon: Fraction, delta: Fraction) -> None:
    """The Gaussian of a pure spend's price has at least the delta of randomised response, at any smaller epsilon."""
    part = epsilon / 2  # randomised response: delta(part) = (e^epsilon - e^part) / (1 + e^epsilon)
    price = mu_squared_of_pure(epsilon)
    response = (np.exp(0.0) - np.exp(-float(part))) / (1 + np.exp(-float(epsilon)))
    assert float(delta_of(mu_squared=price, epsilon=part)[1]) >= response * (1 - 1e-9)


@quiet
@given(st.fractions(min_value=-60, max_value=60, max_denominator=1000), st.integers(5, 60))
def test_enclosures_nest(x: Fraction, digits: int) -> None:
    """More digits give an enclosure that meets the coarser one, and the two tails add up to 1."""
    coarse, fine = upper_tail(x, digits), upper_tail(x, digits + 20)
    assert max(coarse[0], fine[0]) <= min(coarse[1], fine[1])
    other = upper_tail(-x, digits)
    assert Fraction(fine[0]) + Fraction(other[0]) <= 1 <= Fraction(fine[1]) + Fraction(other[1])


@quiet
@given(laws, st.lists(positive, min_size=1, max_size=5), st.integers(0, 2**32))
def test_the_same_words_give_the_same_noise_however_it_is_asked_for(
    law: Law, parameters: list[Fraction], seed: int
) -> None:
    """Repeating a parameter in the list changes nothing."""
    which = np.arange(200) % len(parameters)
    once = draw(law, parameters, which, InsecureWords(seed))
    twice = draw(law, [*parameters, *parameters], which + len(parameters), InsecureWords(seed))
    np.testing.assert_array_equal(once, twice)


@quiet
@given(laws, positive, st.integers(0, 2**32))
def test_wider_laws_give_wider_noise_from_the_same_words(law: Law, parameter: Fraction, seed: int) -> None:
    """Inversion is monotone in the scale, element by element."""
    wider = parameter / 2 if law is Law.LAPLACE else parameter * 2
    narrow, wide = (np.abs(draw(law, [p], np.zeros(100, int), InsecureWords(seed))) for p in (parameter, wider))
    assert np.all(wide >= narrow)


rows = st.lists(st.tuples(st.floats(0.01, 10), st.floats(0.01, 4), st.integers(1, 50)), min_size=1, max_size=6)


@quiet
@given(rows, st.floats(0.01, 100))
def test_intervals_scale_with_the_coefficients(rows: list[tuple[float, float, int]], factor: float) -> None:
    """An interval in other units is the interval times the unit; signs do not matter."""
    a, eta, m = (np.array(column) for column in zip(*rows, strict=True))
    one = interval(Terms(coefficients=a, etas=eta, multiplicities=m))
    other = interval(Terms(coefficients=-a * factor, etas=eta, multiplicities=m))
    deviation = max(*one, 1e-12)
    np.testing.assert_allclose(np.array(other) / factor, one, atol=0.2 * deviation)
    assert 0 <= one[0] <= one[1] < np.inf
