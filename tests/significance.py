"""Statistical tests with one false-alarm rate, for deciding whether noise is right.

Every statistical test uses ALPHA, and must also reject two controls whose scale is 5 % off.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

ALPHA = 1e-6  # of each test: with 200 tests a run gives a false alarm once in 5,000 runs
CONTROLS = (0.95, 1.05)  # scales that every statistical test must reject


def chi_square_p(observed: ArrayLike, expected: ArrayLike) -> float:
    """Return the p-value of counts against expected counts of equal sum, neighbours pooled up to 20 expected."""
    seen, due = np.asarray(observed, dtype=float), np.asarray(expected, dtype=float)
    group = (np.cumsum(due) // 20).astype(int)
    _, group = np.unique(group, return_inverse=True)
    seen, due = np.bincount(group, seen), np.bincount(group, due)
    return float(stats.chi2.sf(((seen - due) ** 2 / due).sum(), len(due) - 1))


def two_sample_p(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Return the p-value of two samples of integers coming from one law (chi-square of the two-row table)."""
    low = min(first.min(), second.min())
    size = int(max(first.max(), second.max()) - low) + 1
    table = np.stack([np.bincount(x - low, minlength=size) for x in (first, second)]).astype(float)
    total = table.sum(axis=0)
    _, group = np.unique((np.cumsum(total) // 40).astype(int), return_inverse=True)
    table = np.stack([np.bincount(group, row) for row in table])
    return float(stats.chi2_contingency(table, correction=False).pvalue)


def z_test(sample: ArrayLike, *, variance: float, fourth_cumulant: float) -> float:
    """Return the p-value of the second moment of a centred sample, by the normal approximation."""
    x = np.asarray(sample, dtype=float)
    error = math.sqrt((fourth_cumulant + 2 * variance**2) / x.size)
    return float(2 * stats.norm.sf(abs(np.mean(x * x) - variance) / error))


def clopper_pearson(hits: int, n: int, alpha: float = 1e-4) -> tuple[float, float]:
    """Return the exact two-sided interval of a proportion, `alpha` to either side."""
    low = float(stats.beta.ppf(alpha, hits, n - hits + 1)) if hits else 0.0
    high = float(stats.beta.isf(alpha, hits + 1, n - hits)) if hits < n else 1.0
    return low, high
