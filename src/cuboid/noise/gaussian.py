"""The rounded normal law, as lazy inversion sees it.

K = round(Z) with Z ~ N(0, s2). P(|K| >= k) = P(|Z| >= k - 1/2) = 2 Q((k - 1/2) / s) for k >= 1, Q the normal's upper
tail. So for a uniform U, |K| = floor(s t + 1/2) with t = Q^-1(U/2).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from cuboid.noise.normal_quantile import upper_quantile
from cuboid.privacy.normal import Bounds, contexts, upper_tail_of_square

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["HEAD", "deviate", "scaling", "tail"]

# |dt / d log U| is the Mills ratio Q(t) / density(t), which decreases from sqrt(pi/2) < 1.25332 at 0;
# times what the logarithm can be off by within a head, 0.75 / (h + 1/2)
HEAD = 0.9401


def scaling(parameters: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the scale s and the shift 1/2 for each s2."""
    return np.sqrt(parameters), np.full(parameters.shape, 0.5)


def deviate(u: NDArray[np.float64]) -> NDArray[np.float64]:
    """Overwrite u by t = Q^-1(u/2)."""
    np.multiply(u, 0.5, out=u)
    return upper_quantile(u)


def tail(k: int, parameter: Fraction, digits: int) -> Bounds:
    """Enclose P(|K| >= k), k >= 1, to `digits` digits, from the exact s2."""
    down, up = contexts(digits + 4)
    low, high = upper_tail_of_square((k - Fraction(1, 2)) ** 2 / parameter, digits + 4)
    return down.multiply(2, low), up.multiply(2, high)
