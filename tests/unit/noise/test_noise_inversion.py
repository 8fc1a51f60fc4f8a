"""The certified margin, against arbitrary precision (T2)."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import mpmath as mp
import numpy as np
import pytest

from cuboid.noise import gaussian, laplace
from cuboid.noise.inversion import CEILING, MARGIN, decide, middle, settle
from cuboid.noise.normal_quantile import CENTRE, FAR

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from cuboid.privacy.normal import Bounds

MODULES = [laplace, gaussian]
SCALES = [Fraction(1, 3), Fraction(1), Fraction(10), Fraction(10**4), Fraction(10**9)]


def parameter(module: ModuleType, scale: Fraction) -> Fraction:
    return 1 / scale if module is laplace else scale**2


def exact_magnitude(module: ModuleType, u: mp.mpf, p: Fraction) -> mp.mpf:
    """Return the real number whose floor is the magnitude, for a uniform number u, by mpmath alone."""
    p = mp.mpf(p.numerator) / p.denominator
    if module is laplace:
        return (mp.log(2 / (1 + mp.exp(-p))) - mp.log(u)) / p
    t = mp.mpf(gaussian.deviate(np.array([float(u)]))[0])
    for _ in range(3):  # Newton, from whatever start
        t += (mp.erfc(t / mp.sqrt(2)) - u) / (2 * mp.npdf(t))
    return mp.sqrt(p) * t + mp.mpf(1) / 2


def exact_tail(module: ModuleType, k: int, p: Fraction) -> mp.mpf:
    p = mp.mpf(p.numerator) / p.denominator
    if k == 0:
        return mp.mpf(1)
    if module is laplace:
        return 2 * mp.exp(-p * k) / (1 + mp.exp(-p))
    return mp.erfc((k - mp.mpf(1) / 2) / mp.sqrt(2 * p))


def tail_of(module: ModuleType, p: Fraction) -> Callable[[int, int], Bounds]:
    return lambda k, digits: module.tail(k, p, digits)


def bracket(module: ModuleType, heads: np.ndarray, width: int, p: Fraction) -> tuple[np.ndarray, np.ndarray]:
    scale, shift = module.scaling(np.array([float(p)]))
    return decide(heads, width=width, deviate=module.deviate, head_error=module.HEAD, scale=scale, shift=shift)


@pytest.mark.parametrize("width", [8, 12])
@pytest.mark.parametrize("module", MODULES, ids=["laplace", "gaussian"])
def test_every_head_allows_every_uniform_number_it_begins(module: ModuleType, width: int) -> None:
    """All heads of 8 and 12 bits: whatever bits follow, the magnitude lies between the bounds decided on."""
    heads = np.arange(2**width, dtype=np.uint64)
    for scale in [*SCALES[:4], Fraction(7, 3)]:
        p = parameter(module, scale)
        least, greatest = bracket(module, heads, width, p)
        assert (least[0], greatest[0]) == (0, CEILING)
        if scale <= 10:
            assert np.mean(least == greatest) > (0.9 if width == 12 else 0.4)
        tails: dict[int, mp.mpf] = {}
        for h, low, high in zip(heads[1:].tolist(), least[1:].tolist(), greatest[1:].tolist(), strict=True):
            for k in (low, high + 1):
                tails.setdefault(k, exact_tail(module, k, p))
            assert mp.mpf(h + 1) / 2**width <= tails[low]
            assert mp.mpf(h) / 2**width >= tails[high + 1]


def test_without_the_margin_for_the_head_the_exhaustive_check_fails() -> None:
    """The check above has power: heads taken for exact numbers are caught."""
    heads, p = np.arange(1, 256, dtype=np.uint64), Fraction(1, 10)
    scale, shift = laplace.scaling(np.array([float(p)]))
    least, _ = decide(heads, width=8, deviate=laplace.deviate, head_error=0.0, scale=scale, shift=shift)
    ends = [mp.mpf(h + 1) / 256 for h in heads.tolist()]
    assert any(end > exact_tail(laplace, k, p) for end, k in zip(ends, least.tolist(), strict=True))


def edge_heads() -> np.ndarray:
    """Return heads of every size: uniform, near 0 and near 1 at all distances, and where formulas turn."""
    rng = np.random.default_rng(5)
    small = (2.0 ** rng.uniform(0, 63, 1500)).astype(np.uint64)
    turns = [2 * (0.5 - CENTRE), 2 * math.exp(-(FAR**2))]  # where the normal's quantile changes formula
    around = np.concatenate(
        [np.uint64(int(u * 2**63)) + rng.integers(0, 2**14, 200, dtype=np.uint64) - np.uint64(2**13) for u in turns]
    )
    ends = np.array([1, 2, 3, 2**63 - 1, 2**63 - 2, 2**62, 2**62 - 1], dtype=np.uint64)
    return np.concatenate(
        [rng.integers(1, 2**63, 1000, dtype=np.uint64), small, 2**63 - small[small > 0], around, ends]
    )


@pytest.mark.parametrize("module", MODULES, ids=["laplace", "gaussian"])
def test_the_floating_point_deviate_is_far_within_the_margin(module: ModuleType) -> None:
    """Logarithm and normal quantile, at the middles of heads of 63 bits, are within a sixty-fourth of the margin."""
    heads = edge_heads()
    with mp.workdps(40):
        for h, t in zip(heads.tolist(), module.deviate(middle(heads, 63)).tolist(), strict=True):
            unit = Fraction(1) if module is gaussian else Fraction(1, 10**6)
            exact = exact_magnitude(module, (mp.mpf(h) + 0.5) / 2**63, unit)
            true = (
                exact - 0.5
                if module is gaussian
                else exact * unit.numerator / unit.denominator
                - mp.log(2 / (1 + mp.exp(-mp.mpf(unit.numerator) / unit.denominator)))
            )
            assert abs(true - t) <= MARGIN / 64 * (1 + t)


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("module", MODULES, ids=["laplace", "gaussian"])
def test_the_bounds_hold_both_ends_of_the_head(module: ModuleType, scale: Fraction) -> None:
    """For heads of 63 bits at every scale, the exact magnitudes of both ends lie between the bounds."""
    heads, p = edge_heads()[::12], parameter(module, scale)
    least, greatest = bracket(module, heads, 63, p)
    with mp.workdps(50):
        for h, low, high in zip(heads.tolist(), least.tolist(), greatest.tolist(), strict=True):
            assert exact_magnitude(module, mp.mpf(h) / 2**63, p) < high + 1
            if h + 1 < 2**63:
                assert exact_magnitude(module, mp.mpf(h + 1) / 2**63, p) >= low


@pytest.mark.parametrize("module", MODULES, ids=["laplace", "gaussian"])
def test_settling_gives_the_magnitude_of_the_number_with_all_its_bits(module: ModuleType) -> None:
    """What further words decide is what the exact inverse says of the whole number."""
    rng = np.random.default_rng(6)
    for scale in SCALES:
        p = parameter(module, scale)
        for width in (3, 8, 63):
            head = int(rng.integers(1, 2**width - 1))
            extra = rng.integers(0, 2**64, 4, dtype=np.uint64).tolist()
            whole = head
            for word in extra:
                whole = whole << 64 | word
            least, greatest = bracket(module, np.array([head], dtype=np.uint64), width, p)
            with mp.workdps(100):
                exact = exact_magnitude(module, mp.mpf(whole) / mp.mpf(2) ** (width + 256), p)
                got = settle(
                    head,
                    width=width,
                    least=int(least[0]),
                    greatest=int(greatest[0]),
                    tail=tail_of(module, p),
                    more=iter(extra),
                )
                assert got == int(mp.floor(exact))


@pytest.mark.parametrize("module", MODULES, ids=["laplace", "gaussian"])
def test_a_number_at_a_threshold_asks_for_words_until_it_is_clear(module: ModuleType) -> None:
    """U just above a threshold, by less than its first 191 bits can show, is still put on the right side."""
    p, k = parameter(module, Fraction(10)), 13
    with mp.workdps(120):
        bits = int(mp.floor(exact_tail(module, k, p) * mp.mpf(2) ** 255))
    for step, answer in ((1, k - 1), (0, k)):
        whole = bits + step
        words = [whole >> 128 & (2**64 - 1), whole >> 64 & (2**64 - 1), whole & (2**64 - 1), 12345]
        used = iter(words)
        got = settle(whole >> 192, width=63, least=k - 1, greatest=k, tail=tail_of(module, p), more=used)
        assert got == answer
        assert len(list(used)) <= 1


@pytest.mark.parametrize("module", MODULES, ids=["laplace", "gaussian"])
def test_thresholds_enclose_the_exact_tail(module: ModuleType) -> None:
    """P(|K| >= k) lies between the bounds, and they are as close as asked for."""
    for scale in SCALES:
        for k in (1, 2, int(3 * scale) + 1, int(30 * scale) + 1):
            p = parameter(module, scale)
            low, high = module.tail(k, p, 40)
            with mp.workdps(70):
                assert mp.mpf(str(low)) <= exact_tail(module, k, p) <= mp.mpf(str(high))
            assert (high - low) / high < Decimal("1e-38")
