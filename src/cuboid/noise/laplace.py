"""The discrete Laplace law, as lazy inversion sees it.

With q = e^-eta, P(|K| >= k) = 2 q^k / (1 + q) for k >= 1. So for a uniform U, |K| = floor(t / eta + c / eta) with
t = -log U and c = log(2 / (1 + q)): U <= P(|K| >= k) says the same as k <= (t + c) / eta.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cuboid.privacy.normal import Bounds, contexts, exp_bounds

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

__all__ = ["HEAD", "deviate", "scaling", "tail"]

HEAD = 0.75  # log((h+1/2)/h) and log((h+1)/(h+1/2)) are at most 0.75 / (h+1/2) for every h >= 1


def scaling(parameters: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the scale 1/eta and the shift c/eta for each eta."""
    scale = 1.0 / parameters
    # (1 + q)/2 = 1 + (q - 1)/2, and expm1 and log1p keep all digits when eta is small
    return scale, -np.log1p(0.5 * np.expm1(-parameters)) * scale


def deviate(u: NDArray[np.float64]) -> NDArray[np.float64]:
    """Overwrite u by t = -log u."""
    np.log(u, out=u)
    return np.negative(u, out=u)


def tail(k: int, parameter: Fraction, digits: int) -> Bounds:
    """Enclose P(|K| >= k), k >= 1, to `digits` digits, from the exact eta."""
    down, up = contexts(digits + 4)
    low, high = exp_bounds(-parameter * k, digits + 4)
    q_low, q_high = exp_bounds(-parameter, digits + 4)
    return down.divide(down.multiply(2, low), up.add(1, q_high)), up.divide(up.multiply(2, high), down.add(1, q_low))
