"""The normal distribution to any number of digits, and the exact privacy of Gaussian noise.

Every number here is an enclosure: two decimals, computed with outward rounding, that hold the true value
between them. What is made of it (a budget, a price) is then rounded against the user and checked once more by
an enclosure, so no search or starting value has to be trusted. Standard library only.

The profile of a unit shift mu (Balle and Wang 2018, Theorem 8, arXiv:1805.06530; Dong, Roth and Su 2019,
Corollary 2.13, arXiv:1905.02383), with Q the upper tail of the standard normal distribution:

    delta(epsilon) = Q(epsilon/mu - mu/2) - e^epsilon Q(epsilon/mu + mu/2)
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Bounds",
    "contexts",
    "delta_of",
    "epsilon_for",
    "exp_bounds",
    "mu_squared_for",
    "mu_squared_of_pure",
    "upper_tail",
    "upper_tail_of_square",
]

Bounds = tuple[Decimal, Decimal]

_DIGITS = 25  # of the enclosures behind a budget: 1e-10 is promised
_SEARCH = 40  # digits of the searches, which promise nothing
_NUDGE = Fraction(1, 2**40)


def _context(digits: int, rounding: str) -> Context:
    return Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, clamp=0)


def contexts(digits: int) -> tuple[Context, Context]:
    """Return two decimal contexts of so many digits, one that rounds down and one that rounds up."""
    return _context(digits, ROUND_FLOOR), _context(digits, ROUND_CEILING)


def _quotient(x: Fraction, digits: int) -> Bounds:
    down, up = contexts(digits)
    top, bottom = Decimal(x.numerator), Decimal(x.denominator)
    return down.divide(top, bottom), up.divide(top, bottom)


def exp_bounds(x: Fraction, digits: int) -> Bounds:
    """Enclose e^x, with a relative width of about 10^-digits (down to x = -10^15, there by an absolute bound)."""
    if x < -(10**15):
        return Decimal(0), Decimal((0, (1,), -(10**14)))
    down, up = contexts(digits + len(str(abs(int(x)))) + 2)  # an error in the exponent is a relative one in the power
    low, high = _quotient(x, down.prec)
    return down.next_minus(down.exp(low)), up.next_plus(up.exp(high))  # exp itself rounds to nearest


def _root_bounds(x: Fraction, digits: int) -> Bounds:
    down, up = contexts(digits)
    low, high = _quotient(x, digits)
    root = down.next_minus(down.sqrt(low)) if low else low  # sqrt rounds to nearest, whatever the context says
    return root, up.next_plus(up.sqrt(high))


@lru_cache(maxsize=64)
def _root_two_pi(digits: int) -> Bounds:
    """Enclose sqrt(2 pi), by Machin's formula in integers: each term is cut by less than one unit."""
    unit = 10 ** (digits + 10)

    def arctan(n: int) -> int:
        term, total, k = unit // n, 0, 0
        while term:
            total += (-1) ** k * (term // (2 * k + 1))
            term //= n * n
            k += 1
        return total

    pi = Fraction(16 * arctan(5) - 4 * arctan(239), unit)
    slack = Fraction(40 * (2 * digits + 30), unit)  # terms are fewer than 2 digits + 30, each off by less than 2
    return _root_bounds(2 * (pi - slack), digits + 4)[0], _root_bounds(2 * (pi + slack), digits + 4)[1]


def _density(square: Fraction, digits: int) -> Bounds:
    """Enclose the standard normal density at the root of `square`."""
    down, up = contexts(digits + 4)
    low, high = exp_bounds(-square / 2, digits + 4)
    root = _root_two_pi(digits + 4)
    return down.divide(low, root[1]), up.divide(high, root[0])


def _central(square: Fraction, digits: int) -> Bounds:
    """Enclose the sum of x^(2k+1) / (1 3 5 ... (2k+1)): what the density is multiplied by to give Phi(x) - 1/2."""
    tiny = Decimal((0, (1,), -digits))
    sums = []
    for context, x, q in zip(contexts(digits), _root_bounds(square, digits), _quotient(square, digits), strict=True):
        with localcontext(context):
            total = term = x
            k = 0
            while term > total * tiny or q > k:
                k += 1
                term = term * q / (2 * k + 1)
                total += term
            sums.append(total + term if context.rounding == ROUND_CEILING else total)  # the ratio is under 1/2 now
    return sums[0], sums[1]


def _mills(square: Fraction, digits: int) -> Bounds:
    """Enclose Q(x) / density(x) = 1/(x + 1/(x + 2/(x + ...))), x > 0, closing the fraction by what it must lie in."""
    down, up = contexts(digits + 4)
    low, high = _root_bounds(square, digits + 4)
    tiny = Decimal((0, (1,), -digits))
    steps = 8 + int((1.2 * digits) ** 2 / float(square))
    while True:
        inner, outer = low, up.add(high, up.divide(Decimal(steps + 1), low))
        for k in range(steps, 0, -1):
            part = Decimal(k)
            inner, outer = down.add(low, down.divide(part, outer)), up.add(high, up.divide(part, inner))
        if up.subtract(outer, inner) <= down.multiply(inner, tiny):
            return down.divide(Decimal(1), outer), up.divide(Decimal(1), inner)
        steps *= 2


def upper_tail_of_square(square: Fraction, digits: int) -> Bounds:
    """Enclose Q at the non-negative root of `square`, to a relative width of 10^-digits."""
    digits += 6
    low, high = _density(square, digits)
    down, up = contexts(digits)
    if square >= 16:
        factor = _mills(square, digits)
        return down.multiply(low, factor[0]), up.multiply(high, factor[1])
    down, up = contexts(digits + 6)  # Q(4) is 3e-5: the difference from 1/2 costs five digits
    low, high = _density(square, digits + 6)
    factor = _central(square, digits + 6)
    half = Decimal("0.5")
    return down.subtract(half, up.multiply(high, factor[1])), up.subtract(half, down.multiply(low, factor[0]))


def _signed_tail(x_is_negative: bool, square: Fraction, digits: int) -> Bounds:
    low, high = upper_tail_of_square(square, digits)
    if not x_is_negative:
        return low, high
    down, up = contexts(digits + 2)
    return down.subtract(Decimal(1), high), up.subtract(Decimal(1), low)


def upper_tail(x: Fraction | Decimal, digits: int) -> Bounds:
    """Enclose Q(x) = P(Z > x), Z standard normal, with a relative width of at most 10^-digits.

    Series around 0 for |x| < 4 (Abramowitz and Stegun 1964, 26.2.11), Laplace's continued fraction beyond
    (26.2.14). Any x; cost grows with digits, hardly with x.
    """
    x = Fraction(x)
    return _signed_tail(x < 0, x * x, digits)


def delta_of(*, mu_squared: Fraction, epsilon: Fraction, digits: int = _DIGITS) -> Bounds:
    """Enclose delta(epsilon) of Gaussian noise with a unit shift of mu, to a relative width of 10^-digits.

    The squares of both arguments, (epsilon -+ mu^2/2)^2 / mu^2, are rational: nothing is rounded before the tails.
    """
    if mu_squared <= 0 or epsilon < 0:
        raise ValueError("mu squared must be positive and epsilon not negative")
    half = mu_squared / 2
    near, far = (epsilon - half) ** 2 / mu_squared, (epsilon + half) ** 2 / mu_squared
    tiny, work = Decimal((0, (1,), -digits)), digits + 10
    while True:
        down, up = contexts(work)
        first, second = _signed_tail(epsilon < half, near, work), upper_tail_of_square(far, work)
        power = exp_bounds(epsilon, work)
        low = down.subtract(first[0], up.multiply(power[1], second[1]))
        high = up.subtract(first[1], down.multiply(power[0], second[0]))
        if low > 0 and up.subtract(high, low) <= down.multiply(low, tiny):
            return low, high
        work *= 2  # the two tails cancel, as they do when mu is small


def _decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def _dyadic(x: Fraction, *, up: bool) -> Fraction:
    """Round x > 0 to at most 53 significant bits, up or down."""
    shift = 52 - (x.numerator.bit_length() - x.denominator.bit_length())
    scaled = x * Fraction(2) ** shift
    return Fraction(-(-scaled.numerator // scaled.denominator) if up else int(scaled)) / Fraction(2) ** shift


def _newton(start: Decimal, step: Callable[[Decimal], Decimal]) -> Fraction:
    """Follow relative steps until they vanish. What comes out is only a candidate: the caller certifies it."""
    with localcontext(_context(_SEARCH, ROUND_FLOOR)):
        for _ in range(200):
            move = max(min(step(start), Decimal(4)), Decimal(-4))
            start *= move.exp()
            if abs(move) < Decimal("1e-13"):
                break
        return Fraction(start)


def mu_squared_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest mu^2 whose Gaussian noise is (epsilon, delta)-private, rounded down, to 1e-10 of it.

    Newton on log delta against log mu^2 (d delta / d mu is the density at epsilon/mu - mu/2), from the left.

    Guarantee:
        delta(epsilon) at the returned mu^2 is at most `delta`, by an outward-rounded enclosure.
        Nothing is assumed of the search: a candidate is lowered until the enclosure says so.
        The result has at most 53 significant bits.
    """
    if epsilon <= 0 or not 0 < delta < 1:
        raise ValueError("epsilon must be positive and delta between 0 and 1")
    with localcontext(_context(_SEARCH, ROUND_FLOOR)):
        e, d = _decimal(epsilon), _decimal(delta)
        target = d.ln()
        concentrated = (e / ((e - target).sqrt() + (-target).sqrt())) ** 2  # rho of the zCDP conversion: too small
        start = 2 * max(concentrated, 3 * d * d)  # and so is pi delta^2, since delta(0) < mu / sqrt(2 pi)

    def step(m: Decimal) -> Decimal:
        exact = Fraction(m)
        value = delta_of(mu_squared=exact, epsilon=epsilon)[1]
        density = _density((epsilon - exact / 2) ** 2 / exact, _DIGITS)[0]
        return (target - value.ln()) * 2 * value / (density * m.sqrt())

    found = _newton(start, step)
    while True:
        found = _dyadic(found * (1 - _NUDGE), up=False)
        if Fraction(delta_of(mu_squared=found, epsilon=epsilon)[1]) <= delta:
            return found


def epsilon_for(mu_squared: Fraction, delta: Fraction) -> Fraction:
    """Return the smallest epsilon at which Gaussian noise of mu^2 has at most `delta`, rounded up, to 1e-10 of it.

    Newton on log delta, concave in epsilon (d delta / d epsilon = -e^epsilon Q(epsilon/mu + mu/2)).

    Guarantee:
        delta(epsilon) at the returned epsilon is at most `delta`, by an outward-rounded enclosure.
        Nothing is assumed of the search: a candidate is raised until the enclosure says so.
        The result has at most 53 significant bits; it is 0 where total variation alone is small enough.
    """
    if mu_squared <= 0 or not 0 < delta < 1:
        raise ValueError("mu squared must be positive and delta between 0 and 1")
    if Fraction(delta_of(mu_squared=mu_squared, epsilon=Fraction(0))[1]) <= delta:
        return Fraction(0)
    with localcontext(_context(_SEARCH, ROUND_FLOOR)):
        target, rho = _decimal(delta).ln(), _decimal(mu_squared / 2)
        start = rho + 2 * (-rho * target).sqrt()

    def step(e: Decimal) -> Decimal:
        exact = Fraction(e)
        value = delta_of(mu_squared=mu_squared, epsilon=exact)[1]
        slope = e.exp() * upper_tail_of_square((exact + mu_squared / 2) ** 2 / mu_squared, _DIGITS)[0]
        move = (value.ln() - target) * value / slope / e
        return (1 + move).ln() if move > Decimal("-0.9") else Decimal(-2)

    found = _newton(start, step)
    while True:
        found = _dyadic(found * (1 + _NUDGE), up=True)
        if Fraction(delta_of(mu_squared=mu_squared, epsilon=found)[1]) <= delta:
            return found


def mu_squared_of_pure(epsilon: Fraction) -> Fraction:
    """Return (2 Phi^-1(e^epsilon / (1 + e^epsilon)))^2, rounded up, to 1e-10 of it.

    The lowest trade-off curve that a pure epsilon allows is two straight lines, (0, 1) to (p, p) to (1, 0) with
    p = 1/(1 + e^epsilon) (Dong, Roth and Su 2019, arXiv:1905.02383, section 2). The Gaussian curve through (p, p) is
    convex with the same ends, so below those chords: a pure spend is never cheaper than this mu says.

    Guarantee:
        Q(mu/2) <= 1 / (1 + e^epsilon) at the returned mu^2, by outward-rounded enclosures on both sides.
        Nothing is assumed of the search: a candidate is raised until the enclosures say so.
        The result has at most 53 significant bits.
    """
    if epsilon <= 0:
        raise ValueError("epsilon must be positive")
    digits = _DIGITS + max(0, len(str(int(1 / epsilon))))  # a small epsilon shows late in the digits of 1/2
    down, up = contexts(digits)
    chance = down.divide(Decimal(1), up.add(Decimal(1), exp_bounds(epsilon, digits)[1]))
    with localcontext(_context(_SEARCH, ROUND_FLOOR)):
        e = _decimal(epsilon)
        start = min(8 * e, e * e * Decimal("1.6"))  # an upper bound up to a hair: Q(x) < exp(-x^2/2) / 2

    def step(m: Decimal) -> Decimal:
        with localcontext(_context(digits + 10, ROUND_FLOOR)):
            square = Fraction(m) / 4
            tail = upper_tail_of_square(square, digits)[1]
            return (tail / chance).ln() * 4 * tail / (_density(square, digits)[0] * m.sqrt())

    found = _newton(start, step)
    while True:
        found = _dyadic(found * (1 + _NUDGE), up=True)
        if upper_tail_of_square(found / 4, digits)[1] <= chance:
            return found
