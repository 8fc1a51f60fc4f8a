"""`draw` as its callers see it."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from cuboid.errors import ParameterError
from cuboid.noise import LARGEST_SCALE, InsecureWords, Law, SystemWords, draw

NONE = np.zeros(1, dtype=np.int64)


@pytest.mark.parametrize("law", list(Law))
def test_the_shape_is_that_of_which(law: Law) -> None:
    """One int64 for each element, in any shape, also none at all."""
    for shape in ((), (0,), (7,), (3, 4)):
        drawn = draw(law, [Fraction(1)], np.zeros(shape, dtype=np.int64), SystemWords())
        assert drawn.shape == shape
        assert drawn.dtype == np.int64


@pytest.mark.parametrize("law", list(Law))
def test_blocks_do_not_show(law: Law) -> None:
    """A draw longer than a block is no less random at its seams."""
    drawn = draw(
        law, [Fraction(1, 10**6) if law is Law.LAPLACE else Fraction(10**12)], np.zeros(50_000, int), SystemWords()
    )
    assert np.unique(drawn).size > 45_000


@pytest.mark.parametrize("law", list(Law))
def test_parameters_out_of_range_are_refused(law: Law) -> None:
    """What could overflow 64 bits, or is no scale at all, is refused; the limits themselves are served."""
    largest = LARGEST_SCALE if law is Law.LAPLACE else LARGEST_SCALE**2
    for bad in (Fraction(0), Fraction(-1), Fraction(largest) + 2**40, Fraction(1, 2 * largest), Fraction(10**400)):
        with pytest.raises(ParameterError, match="not between 2\\^-40 and 2\\^40"):
            draw(law, [Fraction(1), bad], NONE, SystemWords())
    for edge in (Fraction(largest), Fraction(1, largest)):
        draw(law, [edge], np.zeros(20, dtype=np.int64), InsecureWords(1))


@pytest.mark.parametrize("law", list(Law))
def test_what_arbitrary_precision_settles_uses_the_parameter_of_its_element(law: Law) -> None:
    """At scales so wide that many heads stay undecided, the position of a parameter in the list changes nothing."""
    narrow, wide = (Fraction(1), Fraction(1, 10**11)) if law is Law.LAPLACE else (Fraction(1), Fraction(10**22))
    ones = np.ones(3000, dtype=np.int64)
    alone = draw(law, [wide], 0 * ones, InsecureWords(8))
    assert np.array_equal(draw(law, [narrow, wide], ones, InsecureWords(8)), alone)


def test_positions_without_a_parameter_are_refused() -> None:
    """Neither a position past the end nor a negative one picks some other parameter."""
    for bad in (1, -1):
        with pytest.raises(ParameterError, match="position of a parameter"):
            draw(Law.LAPLACE, [Fraction(1)], np.array([0, bad]), SystemWords())


def test_importing_noise_loads_no_scipy() -> None:
    """Reading a plan does not wait for scipy; drawing Gaussian noise loads it."""
    code = "import sys, cuboid.noise; sys.exit(any(name.startswith('scipy') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("law", list(Law))
def test_an_all_zero_head_is_settled_by_more_words(law: Law) -> None:
    """A first word of zeros says only that the noise is large: more words say how large."""

    class Zeros:
        """One word of zeros (and sign 0), then ordinary words."""

        def __init__(self) -> None:
            self.first, self.rest = True, InsecureWords(3)

        def take(self, n: int) -> np.ndarray:
            taken = np.zeros(n, dtype=np.uint64) if self.first else self.rest.take(n)
            self.first = False
            return taken

    drawn = int(draw(law, [Fraction(1, 100) if law is Law.LAPLACE else Fraction(10_000)], NONE, Zeros())[0])
    low, high = (4300, 9500) if law is Law.LAPLACE else (850, 1400)  # e^-43 and Q(8.5) exceed 2^-64, the last 2^-128
    assert low < drawn < high
