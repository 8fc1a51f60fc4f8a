"""Lazy inversion: integers that follow a law exactly, at the speed of floating point.

An infinite uniform number U decides the magnitude: |K| >= k exactly when U <= P(|K| >= k). Its first bits, the head h
of `width` bits, place U in [h, h + 1] / 2^width. Floating point turns the middle of the head into a magnitude
y = t scale + shift with a certified margin; if the integers below y - margin and y + margin agree, every U with
this head gives that integer. If not, further bits of U are compared with the exact thresholds.

Proof: docs/proofs/noise.md. Nothing here draws: words come in.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from cuboid.privacy.normal import Bounds, contexts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

__all__ = ["CEILING", "MARGIN", "decide", "middle", "settle"]

MARGIN = 2.0**-42  # of scale (1 + t): the error of the floating point; 2^9 times the worst one measured
CEILING = 2**62  # magnitudes saturate here, which at the widest scale allowed has probability below e^-4000000


def middle(heads: NDArray[np.uint64], width: int) -> NDArray[np.float64]:
    """Return (h + 1/2) / 2^width, the middle of where U can lie."""
    u = heads.astype(np.float64)
    u += 0.5
    u *= 2.0**-width
    return u


def decide(
    heads: NDArray[np.uint64],
    *,
    width: int,
    deviate: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    head_error: float,
    scale: NDArray[np.float64],
    shift: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the least and the greatest magnitude each head allows; where they are equal the head has decided.

    y = t scale + shift is within scale (MARGIN (1 + t) + head_error / (h + 1/2)) of the y of any U with head h >= 1;
    head 0 allows everything.
    """
    u = middle(heads, width)
    margin = (head_error * 2.0**-width) / u
    t = deviate(u)
    y = t * scale
    y += shift
    t += 1.0
    t *= MARGIN
    margin += t
    margin *= scale
    greatest = (y + margin).astype(np.int64)
    y -= margin
    least = y.astype(np.int64)  # towards zero: what the margin takes below 0 comes back to 0
    np.maximum(least, 0, out=least)
    if not heads.all():
        empty = heads == 0
        least[empty], greatest[empty] = 0, CEILING
    return least, greatest


def settle(
    head: int,
    *,
    width: int,
    least: int,
    greatest: int,
    tail: Callable[[int, int], Bounds],
    more: Iterator[int],
) -> int:
    """Return the magnitude between least and greatest that U has, appending 64-bit words to its head as needed.

    `tail(k, digits)` encloses P(|K| >= k). Bisection; each comparison ends as soon as the enclosure of the threshold
    and the interval of U are apart, which happens with probability 1.
    """

    def reaches(k: int) -> bool:
        nonlocal head, width
        while True:
            digits = width // 3 + 6
            down, up = contexts(digits + 4)
            unit = Decimal(1 << width)
            low, high = tail(k, digits)
            if head + 1 <= down.multiply(low, unit):
                return True
            if head >= up.multiply(high, unit):
                return False
            head, width = head << 64 | next(more), width + 64

    while least < greatest:
        k = (least + greatest + 1) // 2
        if reaches(k):
            least = k
        else:
            greatest = k - 1
    return least
