"""The normal's upper quantile in double precision: algorithm AS 241 (Wichura 1988, doi:10.2307/2347330).

`scipy.special.ndtri` would do, but importing it takes a fifth of a whole release of a small table (`make bench`), and
this is as fast. Its error is measured against arbitrary precision by the tests that guard the sampler's margin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CENTRE", "FAR", "upper_quantile"]

CENTRE = 0.425  # of 1/2 - p, up to which the first fraction holds
FAR = 5.0  # of sqrt(-log p), from which the third one does

# Numerator and denominator of each fraction, from the highest power down.
_CENTRE = (
    (2.509080928730122672e3, 3.343057558358812810e4, 6.726577092700870085e4, 4.592195393154987145e4,
     1.373169376550946112e4, 1.971590950306551442e3, 1.331416678917843774e2, 3.387132872796366608e0),
    (5.226495278852854561e3, 2.872908573572194267e4, 3.930789580009271061e4, 2.121379430158659586e4,
     5.394196021424751107e3, 6.871870074920579083e2, 4.231333070160091125e1, 1.0),
)  # fmt: skip
_NEAR = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
     3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
     6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0),
)  # fmt: skip
_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
     2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
     1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0),
)  # fmt: skip


def upper_quantile(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Overwrite p, at most 1/2 and positive, by the t >= 0 that a standard normal exceeds with probability p."""
    q = 0.5 - p
    outer = np.flatnonzero(q > CENTRE)
    roots = np.sqrt(-np.log(p[outer]))
    np.multiply(q, q, out=p)
    np.subtract(0.180625, p, out=p)
    fraction = _fraction(_CENTRE, p)
    np.multiply(fraction, q, out=p)
    p[outer] = np.where(roots <= FAR, _fraction(_NEAR, roots - 1.6), 0.0)
    far = roots > FAR
    if far.any():
        p[outer[far]] = _fraction(_TAIL, roots[far] - FAR)
    return p


def _fraction(terms: tuple[tuple[float, ...], tuple[float, ...]], r: NDArray[np.float64]) -> NDArray[np.float64]:
    above, below = (_polynomial(coefficients, r) for coefficients in terms)
    return np.divide(above, below, out=above)


def _polynomial(coefficients: tuple[float, ...], r: NDArray[np.float64]) -> NDArray[np.float64]:
    value = np.full_like(r, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= r
        value += coefficient
    return value
