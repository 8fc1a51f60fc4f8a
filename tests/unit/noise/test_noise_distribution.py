"""Moments and probabilities of the two laws, against sums and arbitrary precision."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from cuboid.noise import Law, cdf, characteristic, fourth_cumulant, pmf, variance

K = np.arange(-400, 401)
PARAMETERS = {Law.LAPLACE: [0.1, 0.5, 1.0, 3.0, 12.0], Law.GAUSSIAN: [0.01, 1 / 9, 0.5, 1.0, 1.99, 2.01, 25.0, 900.0]}
CASES = [(law, p) for law in Law for p in PARAMETERS[law]]


@pytest.mark.parametrize(("law", "p"), CASES)
def test_probabilities_add_up_and_give_the_moments(law: Law, p: float) -> None:
    """pmf sums to one, its running sum is cdf, and its moments are the stated ones."""
    mass = pmf(law, p, K)
    assert mass.sum() == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(np.cumsum(mass), cdf(law, p, K), atol=1e-14)
    second, fourth = float(mass @ K**2.0), float(mass @ K**4.0)
    assert float(variance(law, p)) == pytest.approx(second, rel=1e-12)
    assert float(fourth_cumulant(law, p)) == pytest.approx(fourth - 3 * second**2, abs=1e-12 * fourth)


def test_laplace_probabilities_are_exponential() -> None:
    """Neighbouring magnitudes differ by e^-eta exactly, as the definition says."""
    mass = pmf(Law.LAPLACE, 0.7, np.arange(30))
    np.testing.assert_allclose(mass[1:] / mass[:-1], np.exp(-0.7), rtol=1e-13)


def test_gaussian_probabilities_are_areas_of_the_normal() -> None:
    """Each integer has the mass of the cell around it, also far out in the tail."""
    for s2, k in ((4.0, 0), (4.0, 3), (4.0, -40), (1e6, 2500)):
        s = mp.sqrt(s2)
        area = (mp.erfc((abs(k) - 0.5) / s / mp.sqrt(2)) - mp.erfc((abs(k) + 0.5) / s / mp.sqrt(2))) / 2
        assert float(pmf(Law.GAUSSIAN, s2, k)) == pytest.approx(float(area), rel=1e-9)


def test_laplace_variance_keeps_its_digits_at_every_scale() -> None:
    """From eta 1e-12 to 700 the variance is right to 1e-13, and it is slightly below 2 / eta^2."""
    for eta in (1e-12, 1e-6, 0.01, 1.0, 30.0, 700.0):
        exact = 1 / (2 * mp.sinh(mp.mpf(eta) / 2) ** 2)
        assert float(variance(Law.LAPLACE, eta)) == pytest.approx(float(exact), rel=1e-13)
    assert float(variance(Law.LAPLACE, 0.1)) < 200


@pytest.mark.parametrize("law", list(Law))
def test_moments_broadcast(law: Law) -> None:
    """A table of parameters gives a table of variances and cumulants."""
    p = np.array([[0.1, 0.5], [3.0, 40.0]])
    for of in (variance, fourth_cumulant):
        assert of(law, p).tolist() == [[float(of(law, x)) for x in row] for row in p.tolist()]


def test_the_characteristic_function_is_the_transform_of_the_probabilities() -> None:
    """E cos(tK) by its sum."""
    t = np.linspace(0, np.pi, 7)
    direct = np.cos(np.multiply.outer(t, K)) @ pmf(Law.LAPLACE, 0.4, K)
    np.testing.assert_allclose(characteristic(0.4, t), direct, atol=1e-13)
