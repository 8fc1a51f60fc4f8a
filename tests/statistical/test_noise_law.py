"""Is the noise what it claims to be? (T1, T2, T3)"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import opendp.prelude as dp
import pytest
from scipy import stats

from cuboid.noise import InsecureWords, Law, cdf, draw, fourth_cumulant, variance
from cuboid.noise import gaussian as gaussian_law
from cuboid.noise import laplace as laplace_law
from cuboid.noise.inversion import decide, settle
from significance import ALPHA, CONTROLS, chi_square_p, clopper_pearson, two_sample_p, z_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCALES = [Fraction(1, 3), Fraction(1), Fraction(10), Fraction(10**4), Fraction(10**9)]
LAWS = list(Law)


def parameter(law: Law, scale: Fraction) -> Fraction:
    return 1 / scale if law is Law.LAPLACE else scale**2


def sample(law: Law, scale: Fraction, n: int, seed: int) -> NDArray[np.int64]:
    return draw(law, [parameter(law, scale)], np.zeros(n, dtype=np.int64), InsecureWords(seed))


def law_p(law: Law, scale: float, drawn: NDArray[np.int64]) -> float:
    """Return the chi-square p-value of a sample, in at most some 300 bins of nearly equal probability."""
    p = 1 / scale if law is Law.LAPLACE else scale**2
    share = np.linspace(1e-4, 1 - 1e-4, 300)
    quantile = stats.laplace.ppf(share) if law is Law.LAPLACE else stats.norm.ppf(share)
    edges = np.unique(np.floor(quantile * scale)).astype(np.int64)
    seen = np.bincount(np.searchsorted(edges, drawn), minlength=edges.size + 1)  # edges[i-1] < drawn <= edges[i]
    due = np.diff(cdf(law, p, edges), prepend=0.0, append=1.0) * drawn.size
    return chi_square_p(seen, due)


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("law", LAWS)
def test_a_million_draws_follow_the_exact_probabilities(law: Law, scale: Fraction) -> None:
    """Chi-square accepts the law, and rejects scales five per cent off."""
    drawn = sample(law, scale, 1_000_000, seed=1)
    assert law_p(law, float(scale), drawn) > ALPHA
    for control in CONTROLS:
        assert law_p(law, float(scale) * control, drawn) < ALPHA


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("law", LAWS)
def test_the_second_moment_is_the_stated_variance(law: Law, scale: Fraction) -> None:
    """The stated variance is accepted, and that of scales five per cent off rejected."""
    drawn = sample(law, scale, 200_000, seed=2)

    def p_value(control: Fraction) -> float:
        at = parameter(law, scale * control)
        return z_test(drawn, variance=float(variance(law, at)), fourth_cumulant=float(fourth_cumulant(law, at)))

    assert p_value(Fraction(1)) > ALPHA
    assert all(p_value(Fraction(control)) < ALPHA for control in CONTROLS)


@pytest.mark.parametrize("law", LAWS)
def test_many_scales_at_once_do_not_mix(law: Law) -> None:
    """Each element follows the parameter it points to, among thousands."""
    scales = [Fraction(20 + i, 4) for i in range(4000)]
    which = np.tile(np.arange(4000), 50)
    drawn = draw(law, [parameter(law, s) for s in scales], which, InsecureWords(3))
    floats = np.array([float(parameter(law, s)) for s in scales])

    def p_value(control: float) -> float:
        at = floats / control if law is Law.LAPLACE else floats * control**2
        v, c4 = variance(law, at), fourth_cumulant(law, at)
        return z_test(drawn / np.sqrt(v)[which], variance=1.0, fourth_cumulant=float(np.mean(c4 / v**2)))

    assert p_value(1.0) > ALPHA
    assert all(p_value(control) < ALPHA for control in CONTROLS)


@pytest.mark.parametrize("law", LAWS)
def test_short_heads_settled_by_further_words_follow_the_same_law(law: Law) -> None:
    """With heads of eight bits most draws need arbitrary precision, and their law is no other."""
    module, p = (laplace_law, Fraction(1, 6)) if law is Law.LAPLACE else (gaussian_law, Fraction(36))
    n, words = 40_000, InsecureWords(4)
    drawn = words.take(n)
    heads = drawn >> np.uint64(56)
    scale, shift = module.scaling(np.array([float(p)]))
    least, greatest = decide(heads, width=8, deviate=module.deviate, head_error=module.HEAD, scale=scale, shift=shift)
    undecided = np.flatnonzero(least != greatest)
    assert undecided.size > n / 10
    more = iter(words.take(2 * n).tolist())
    for i in undecided:
        least[i] = settle(
            int(heads[i]),
            width=8,
            least=int(least[i]),
            greatest=int(greatest[i]),
            tail=lambda k, digits: module.tail(k, p, digits),
            more=more,
        )
    signed = np.where(drawn & np.uint64(1), -least, least)
    assert law_p(law, 6.0, signed) > ALPHA
    assert all(law_p(law, 6.0 * control, signed) < ALPHA for control in CONTROLS)


def test_opendp_draws_the_same_discrete_laplace() -> None:
    """Two samples, ours and opendp's, are of one law; ours at other scales is told apart."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    theirs = np.array(dp.m.make_laplace(*space, scale=4.0)([0] * 100_000))
    assert two_sample_p(sample(Law.LAPLACE, Fraction(4), 100_000, seed=5), theirs) > ALPHA
    for control in CONTROLS:
        assert two_sample_p(sample(Law.LAPLACE, Fraction(control) * 4, 100_000, seed=6), theirs) < ALPHA


def off_grid(x: NDArray[np.float64]) -> float:
    """Return the share of numbers that are no multiple of 2^-53."""
    return float(np.mean((x * 2.0**53) % 1.0 != 0.0))


@pytest.mark.parametrize("law", LAWS)
def test_outputs_for_neighbours_lie_on_one_grid(law: Law) -> None:
    """T1: the sets of outputs for the secrets 0 and 1 agree; noise added in floating point gives itself away."""
    out = [secret + sample(law, Fraction(2), 200_000, seed=7 + secret) for secret in (0, 1)]
    assert all(x.dtype == np.int64 for x in out)
    central = [set(x[np.abs(x) <= 5].tolist()) for x in out]
    assert central[0] == central[1] == set(range(-5, 6))
    assert off_grid(out[0].astype(float)) == off_grid(out[1].astype(float)) == 0.0
    floating = [secret + np.random.default_rng(9).laplace(scale=2.0, size=200_000) for secret in (0, 1)]
    assert off_grid(floating[0]) > off_grid(floating[1]) + 0.1


def audited_epsilon(eta: Fraction, seed: int) -> float:
    """Return a lower bound of epsilon from counts 0 and 1, by the event that is worst for the pair."""
    n = 100_000
    without, with_one = (secret + sample(Law.LAPLACE, 1 / eta, n, seed + secret) for secret in (0, 1))
    low = clopper_pearson(int((with_one >= 1).sum()), n)[0]
    high = clopper_pearson(int((without >= 1).sum()), n)[1]
    return math.log(low / high)


def audited_mu(mu: Fraction, seed: int) -> float:
    """Return a lower bound of mu from counts 0 and 1, released on a grid of step 2^-10."""
    n, grid = 100_000, 1 << 10
    without, with_one = (secret * grid + sample(Law.GAUSSIAN, grid / mu, n, seed + secret) for secret in (0, 1))
    low = clopper_pearson(int((with_one >= grid // 2).sum()), n)[0]
    high = clopper_pearson(int((without >= grid // 2).sum()), n)[1]
    return float(stats.norm.ppf(low) - stats.norm.ppf(high))


@pytest.mark.parametrize("audit", [audited_epsilon, audited_mu])
def test_the_audit_finds_what_is_claimed_and_no_more(audit: object) -> None:
    """T3: the lower bound is between 0.9 of the claim and the claim; a privacy loss of 1.05 sold as 1 is caught."""
    assert callable(audit)
    assert 0.9 <= audit(Fraction(1), 10) <= 1.0
    assert audit(Fraction(21, 20), 12) > 1.0
