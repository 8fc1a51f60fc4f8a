"""Exact moments and probabilities of the two laws, in double precision: for predictions, intervals and tests.

Never for drawing, which is exact. Parameters are what `Law` says; arrays broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cuboid.noise.law import Law

__all__ = ["cdf", "characteristic", "fourth_cumulant", "pmf", "variance"]

Floats = NDArray[np.float64]
Numbers = ArrayLike | Fraction | Sequence[Fraction]

_SMOOTH = 2.0  # from this variance on, rounding a normal adds exactly a uniform error, up to 4e-16
_REACH = np.arange(-16, 17)  # beyond eleven standard deviations of what is narrower


def _floats(x: Any) -> Floats:
    return np.asarray(x, dtype=np.float64)


def variance(law: Law, parameter: Numbers) -> Floats:
    """Return the variance of the noise, exact to rounding.

    Laplace: 2 q / (1 - q)^2 with q = e^-eta. Gaussian: s2 + 1/12; rounding shifts it by less than
    4 e^(-2 pi^2 s2) (s2 + 1/39) (Poisson summation), so below s2 = 2 the probabilities are summed instead.
    """
    p = _floats(parameter)
    if law is Law.LAPLACE:
        return _floats(2.0 * np.exp(-p) / np.expm1(-p) ** 2)
    wide, narrow = np.array(p + 1 / 12), p < _SMOOTH
    wide[narrow] = _moment(p[narrow], 2)
    return wide


def fourth_cumulant(law: Law, parameter: Numbers) -> Floats:
    """Return the fourth cumulant: 3 v^2 + v for Laplace of variance v, -1/120 for a normal rounded finely enough."""
    p = _floats(parameter)
    v = variance(law, p)
    if law is Law.LAPLACE:
        return 3.0 * v * v + v
    wide, narrow = np.full(p.shape, -1 / 120), p < _SMOOTH
    wide[narrow] = _moment(p[narrow], 4) - 3.0 * _moment(p[narrow], 2) ** 2
    return wide


def _moment(s2: Floats, order: int) -> Floats:
    """Return the even moment of each of some narrow rounded normals by its sum."""
    return _floats(np.sum(pmf(Law.GAUSSIAN, s2[:, None], _REACH) * _REACH.astype(float) ** order, axis=-1))


def pmf(law: Law, parameter: Numbers, k: ArrayLike) -> Floats:
    """Return P(K = k)."""
    p, size = _floats(parameter), np.abs(_floats(k))
    if law is Law.LAPLACE:
        return _floats(np.tanh(p / 2) * np.exp(-p * size))
    from scipy.special import ndtr  # here, so that importing this room does not load scipy

    s = np.sqrt(p)
    return _floats(ndtr((0.5 - size) / s) - ndtr((-0.5 - size) / s))


def cdf(law: Law, parameter: Numbers, k: ArrayLike) -> Floats:
    """Return P(K <= k) for integers k."""
    p, x = _floats(parameter), _floats(k)
    if law is Law.LAPLACE:
        q = np.exp(-p)
        below = np.exp(p * np.minimum(x, 0)) / (1 + q)
        return _floats(np.where(x < 0, below, 1 - np.exp(-p * (np.maximum(x, 0) + 1)) / (1 + q)))
    from scipy.special import ndtr

    return _floats(ndtr((x + 0.5) / np.sqrt(p)))


def characteristic(eta: ArrayLike, t: ArrayLike) -> Floats:
    """Return E e^(itK) of discrete Laplace noise, 1 / (1 + 2 v sin^2(t/2)) with v its variance."""
    v = variance(Law.LAPLACE, eta)
    return _floats(1.0 / (1.0 + 2.0 * v * np.sin(_floats(t) / 2) ** 2))
