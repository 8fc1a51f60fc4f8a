"""Noise: two laws, drawn exactly; their moments; intervals for their sums."""

from cuboid.noise.distribution import cdf, characteristic, fourth_cumulant, pmf, variance
from cuboid.noise.draw import LARGEST_SCALE, check_parameters, draw
from cuboid.noise.law import Law
from cuboid.noise.sums import Terms, interval
from cuboid.noise.words import InsecureWords, SystemWords, Words

__all__ = [
    "LARGEST_SCALE",
    "InsecureWords",
    "Law",
    "SystemWords",
    "Terms",
    "Words",
    "cdf",
    "characteristic",
    "check_parameters",
    "draw",
    "fourth_cumulant",
    "interval",
    "pmf",
    "variance",
]
