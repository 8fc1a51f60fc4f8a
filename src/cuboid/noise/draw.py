"""The one function that draws noise."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import cuboid.noise.gaussian as gaussian
import cuboid.noise.laplace as laplace
from cuboid.errors import ParameterError
from cuboid.noise.inversion import decide, settle
from cuboid.noise.law import Law

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from cuboid.noise.words import Words
    from cuboid.privacy.normal import Bounds

__all__ = ["LARGEST_SCALE", "check_parameters", "draw"]

LARGEST_SCALE = 2**40  # of 1/eta or of the standard deviation; and no smaller than its inverse
WIDTH = 63  # of a head: one bit of each word is the sign
BLOCK = 1 << 14  # elements whose arrays stay in the second-level cache


class _Inverse(NamedTuple):
    """What lazy inversion needs to know of a law; see laplace.py and gaussian.py."""

    scaling: Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]
    deviate: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    tail: Callable[[int, Fraction, int], Bounds]
    head_error: float
    largest: int


_INVERSES = {
    Law.LAPLACE: _Inverse(laplace.scaling, laplace.deviate, laplace.tail, laplace.HEAD, LARGEST_SCALE),
    Law.GAUSSIAN: _Inverse(gaussian.scaling, gaussian.deviate, gaussian.tail, gaussian.HEAD, LARGEST_SCALE**2),
}


def check_parameters(law: Law, parameters: Sequence[Fraction]) -> NDArray[np.float64]:
    """Return the parameters as floats, each within 2^-53 of itself, or refuse what could overflow."""
    largest = _INVERSES[law].largest
    try:
        floats = np.array([float(p) for p in parameters], dtype=np.float64)
    except OverflowError:
        floats = np.array([np.inf])
    if not np.all((floats >= 1.0 / largest) & (floats <= largest)):  # powers of two: the rounded comparison is exact
        raise ParameterError(
            f"the budget makes {law.value} noise whose scale is not between 2^-40 and 2^40: spend more privacy on "
            "fewer tables, or less where the noise would vanish"
        )
    return floats


def _each(words: Words) -> Iterator[int]:
    while True:
        yield int(words.take(1)[0])


def draw(law: Law, parameters: Sequence[Fraction], which: NDArray[np.int64], words: Words) -> NDArray[np.int64]:
    """Return one integer per element of `which`: element i follows the law with parameter parameters[which[i]].

    Cost: one word an element, some 30 ns; one float conversion a parameter. At wide scales the share of elements that
    needs arbitrary precision is about scale / 2^40, some 0.1 ms each.

    Guarantee:
        The output follows the law with the exact rational parameter, not an approximation of it.
        Elements are independent, given independent uniform words.
        No secret is seen here; magnitudes saturate at 2^62, with probability below e^-4000000.
    """
    inverse = _INVERSES[law]
    scale, shift = inverse.scaling(check_parameters(law, parameters))
    which = np.asarray(which, dtype=np.int64)
    out = np.empty(which.shape, dtype=np.int64)
    picked, flat = which.reshape(-1), out.reshape(-1)
    if picked.size and not 0 <= int(picked.min()) <= int(picked.max()) < len(parameters):
        raise ParameterError("Every element of `which` must be the position of a parameter.")
    more = _each(words)
    for start in range(0, picked.size, BLOCK):
        choice = picked[start : start + BLOCK]
        drawn = words.take(choice.size)
        heads = drawn >> np.uint64(1)
        least, greatest = decide(
            heads,
            width=WIDTH,
            deviate=inverse.deviate,
            head_error=inverse.head_error,
            scale=scale[choice],
            shift=shift[choice],
        )
        for i in np.flatnonzero(least != greatest).tolist():
            exact = partial(_tail_at, inverse.tail, parameters[choice[i]])
            bounds = {"least": int(least[i]), "greatest": int(greatest[i])}
            least[i] = settle(int(heads[i]), width=WIDTH, tail=exact, more=more, **bounds)
        minus = -(drawn & np.uint64(1)).astype(np.int64)  # all ones where the magnitude is to be negated
        np.subtract(least ^ minus, minus, out=flat[start : start + BLOCK])
    return out


def _tail_at(tail: Callable[[int, Fraction, int], Bounds], parameter: Fraction, k: int, digits: int) -> Bounds:
    return tail(k, parameter, digits)
