"""Intervals of sums cover as often as they say (T34), by brute-force convolution."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.signal import fftconvolve

from cuboid.errors import ParameterError
from cuboid.noise import Law, Terms, interval, pmf, variance

if TYPE_CHECKING:
    from numpy.typing import NDArray

Rows = list[tuple[float, float, int]]  # coefficient, eta, multiplicity


def terms(rows: Rows) -> Terms:
    a, eta, m = (np.array(column) for column in zip(*rows, strict=True))
    return Terms(coefficients=a.astype(float), etas=eta.astype(float), multiplicities=m.astype(np.int64))


def deviation(rows: Rows) -> float:
    return float(np.sqrt(sum(m * a * a * float(variance(Law.LAPLACE, eta)) for a, eta, m in rows)))


def power(mass: NDArray[np.float64], m: int) -> NDArray[np.float64]:
    """Return the m-fold convolution of a symmetric mass function, by squaring."""
    result = np.ones(1)
    while m:
        result = fftconvolve(result, mass) if m & 1 else result
        mass, m = (fftconvolve(mass, mass) if m > 1 else mass), m >> 1
    return result


def coverage(rows: Rows, *, grid: float, below: float, above: float) -> float:
    """Return P(-below <= X <= above) by convolution on a grid that all coefficients are multiples of."""
    total = np.ones(1)
    for a, eta, m in rows:
        stride = round(abs(a) / grid)
        assert stride * grid == pytest.approx(abs(a), rel=1e-9)
        reach = int(np.ceil(34 / eta)) + 1
        mass = power(pmf(Law.LAPLACE, eta, np.arange(-reach, reach + 1)), m)
        spread = np.zeros((mass.size - 1) * stride + 1)
        spread[::stride] = mass
        total = fftconvolve(total, spread)
    x = (np.arange(total.size) - total.size // 2) * grid
    return float(total[(x >= -below - 1e-9) & (x <= above + 1e-9)].sum())


CASES: dict[str, tuple[float, Rows]] = {
    "one, wide": (1, [(1, 0.05, 1)]),
    "one, deviation 5": (1, [(1, 0.28, 1)]),
    "one, deviation 5.3": (1, [(1, 0.265, 1)]),
    "one of a half": (0.5, [(0.5, 0.1, 1)]),
    "one, narrow": (1, [(1, 1.0, 1)]),
    "one, nearly always 0": (1, [(1, 3.0, 1)]),
    "two equal": (1, [(1, 0.1, 2)]),
    "opposite signs": (1, [(1, 0.1, 1), (-1, 0.2, 2)]),
    "nearly normal, deviation 5": (1, [(1, 2.0, 70)]),
    "nearly normal, deviation 6": (1, [(1, 2.0, 100)]),
    "a lattice with a little dust": (0.01, [(1, 2.0, 120), (0.01, 0.3, 1)]),
    "a lattice with much dust": (0.025, [(1, 1.9, 110), (0.025, 0.1, 4)]),
    "a lattice with dust of a quarter step": (0.01, [(1, 2.0, 80), (0.25, 1.0, 1), (0.01, 0.5, 1)]),
    "steps 1 and 2": (1, [(1, 0.5, 3), (2, 0.5, 3)]),
    "steps 1 and 2, narrow": (1, [(1, 2.0, 3), (2, 2.0, 3)]),
    "halves and thirds": (1 / 6, [(1 / 2, 0.2, 4), (1 / 3, 0.2, 4)]),
    "dominated": (0.1, [(1, 0.05, 1), (0.1, 0.05, 2)]),
    "many small": (0.01, [(0.01 * i, 0.1 + 0.01 * i, 3) for i in range(1, 40)]),
    "a rare large step": (1, [(50, 8.0, 1), (1, 0.2, 1)]),
    "a rarer one at its own size": (1, [(18, 6.5, 1), (1, 0.9, 1)]),
    "small steps under a very rare one": (0.1, [(100, 7.0, 1), (0.1, 0.3, 3)]),
    "shares of a twelfth": (1 / 12, [(1 / 12, 0.3, 12)]),
    "a hierarchy": (0.05, [(0.7, 0.3, 1), (0.2, 0.3, 8), (0.05, 0.3, 64)]),
    "tiny eta": (1, [(1, 0.001, 1), (2, 0.002, 1)]),
    "nearly a lattice, deviation 7": (0.01, [(1, 2.0, 140), (0.01, 0.2, 2)]),
}


@pytest.mark.parametrize("name", CASES)
def test_coverage_is_near_the_level(name: str) -> None:
    """At least 94.1 % always; at most 95.8 % where the deviation is at least five steps and five counts."""
    grid, rows = CASES[name]
    below, above = interval(terms(rows))
    covered = coverage(rows, grid=grid, below=below, above=above)
    largest = max(abs(a) for a, _, _ in rows)
    assert covered >= 0.941
    assert 0 <= below <= above <= below + largest * (1 + 1e-6)
    if deviation(rows) >= 5 * largest:
        assert covered <= 0.958
    else:
        assert above == below


def test_coverage_holds_along_every_scale() -> None:
    """Single terms and sums of a hundred, deviations from 0.3 to 400 steps."""
    for deviate in np.geomspace(0.3, 400, 60):
        for m in (1, 2, 100):
            v = deviate**2 / m
            eta = float(2 * np.arcsinh(1 / np.sqrt(2 * v)))
            below, above = interval(terms([(1, eta, m)]))
            covered = coverage([(1, eta, m)], grid=1, below=below, above=above)
            assert covered >= 0.941
            assert covered <= 0.958 or deviate < 5


def test_a_control_of_five_per_cent_is_noticed() -> None:
    """Intervals made for etas five per cent off miss the level: the check above has power."""
    for off in (0.95, 1.05):
        below, above = interval(terms([(1, 0.05 * off, 1)]))
        assert not 0.9445 <= coverage([(1, 0.05, 1)], grid=1, below=below, above=above) <= 0.9555


def test_other_levels_are_met() -> None:
    """Levels of 50, 80, 99 and 99.9 per cent, for smooth sums and lattices."""
    for name in ("one, wide", "halves and thirds", "dominated", "many small"):
        grid, rows = CASES[name]
        for level in (0.5, 0.8, 0.99, 0.999):
            below, above = interval(terms(rows), level)
            assert coverage(rows, grid=grid, below=below, above=above) == pytest.approx(level, abs=0.3 * (1 - level))


def test_no_noise_has_an_interval_of_zero() -> None:
    """No terms, coefficients of zero, or an eta beyond all noise."""
    nothing = Terms(coefficients=np.zeros(0), etas=np.zeros(0), multiplicities=np.zeros(0, dtype=np.int64))
    assert interval(nothing) == (0.0, 0.0)
    assert interval(terms([(0.0, 1.0, 1), (1.0, 1.0, 0), (1.0, 1500.0, 1), (1.0, 400.0, 1)])) == (0.0, 0.0)


def test_bad_terms_and_levels_are_refused() -> None:
    """Unequal lengths, etas of zero, infinite coefficients, negative multiplicities, levels of 1."""
    one = np.ones(1)
    count = np.ones(1, dtype=np.int64)
    for a, eta, m in (
        (np.ones(2), one, count),
        (one, np.zeros(1), count),
        (one * np.inf, one, count),
        (one, one, -count),
        (np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1), dtype=np.int64)),
    ):
        with pytest.raises(ParameterError, match="Terms need"):
            Terms(coefficients=a, etas=eta, multiplicities=m)
    with pytest.raises(ParameterError, match="level"):
        interval(terms([(1, 1, 1)]), 1.0)


def test_thousands_of_terms_cost_milliseconds() -> None:
    """Lumping and merging keep the cost of long sums near that of short ones."""
    rng = np.random.default_rng(1)
    long = [
        terms(list(zip(rng.uniform(0.01, 0.1, 3000), rng.uniform(0.05, 0.5, 3000), [1] * 3000, strict=True))),
        terms([(1.0, float(eta), 1) for eta in rng.uniform(0.05, 5, 3000)]),
    ]
    for total in long:
        interval(total)
        start = time.process_time()
        for _ in range(10):
            interval(total)
        assert (time.process_time() - start) / 10 < 0.02
