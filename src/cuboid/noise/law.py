"""The two laws of noise."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Law"]


class Law(StrEnum):
    """Which noise, and so what its parameter means.

    LAPLACE: the integer k with probability proportional to e^(-eta |k|); the parameter is eta.
    GAUSSIAN: a normal of variance s2, rounded to the nearest integer; the parameter is s2, in squared grid steps.
    """

    LAPLACE = "laplace"
    GAUSSIAN = "gaussian"
