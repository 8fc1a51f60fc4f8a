"""Where random words come from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["InsecureWords", "SystemWords", "Words"]


class Words(Protocol):
    """A source of independent uniform 64-bit words."""

    def take(self, n: int) -> NDArray[np.uint64]:
        """Return the next n words."""
        ...


class SystemWords:
    """The operating system's entropy, and nothing kept between calls: a forked process has nothing to repeat."""

    def take(self, n: int) -> NDArray[np.uint64]:
        """Return n fresh words."""
        return np.frombuffer(os.urandom(8 * n), dtype=np.uint64)


class InsecureWords:
    """Reproducible words for tests and `insecure_seed`. Whoever knows the seed can subtract the noise."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def take(self, n: int) -> NDArray[np.uint64]:
        """Return the next n words of the seed's stream."""
        return np.asarray(self._bits.random_raw(n), dtype=np.uint64)
