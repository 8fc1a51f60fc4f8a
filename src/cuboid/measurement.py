"""A noisy answer and the plan's query that made it.

A query asks a cuboid for its cells, or for the integer contrasts of its residual, with a weight that says how
precisely: eta, one over the scale, for Laplace noise; 1/s2, the precision of a cell or of an orthonormal contrast,
for Gaussian noise. Answers are int64 numerators over 2^exponent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from cuboid.errors import InternalError, PlanError
from cuboid.noise import Law
from cuboid.privacy import Cost, Form, Mechanism, Unit, gaussian_cost, laplace_cost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cuboid.domain import Cuboid

LAW_OF = {Mechanism.PURE: Law.LAPLACE, Mechanism.GAUSSIAN: Law.GAUSSIAN}
GRID_SHARE = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked of one cuboid, and how precisely."""

    cuboid: Cuboid
    form: Form
    weight: Fraction

    def __post_init__(self) -> None:
        if type(self.weight) is not Fraction or self.weight <= 0:
            raise PlanError("a query's weight is a positive rational: make the plan again with `cuboid plan`")
        known = isinstance(self.form, Form) and type(self.cuboid) is tuple
        if not known or not all(type(i) is int and i >= 0 for i in self.cuboid):
            raise PlanError("a query asks for a table or contrasts of attributes' places: make the plan again")
        if any(later <= earlier for earlier, later in pairwise(self.cuboid)):
            raise PlanError("a query names its attributes in order, each once: make the plan again")

    def table_shape(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Shape of the cuboid's table."""
        return tuple(sizes[i] for i in self.cuboid)

    def shape(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Shape of the answer."""
        less = 1 if self.form is Form.CONTRAST else 0
        return tuple(sizes[i] - less for i in self.cuboid)

    def answers(self, sizes: Sequence[int]) -> int:
        """How many numbers the answer has."""
        return math.prod(self.shape(sizes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """The gate's output: one array of numerators per query, and the number of rows where that is public.

    `nonce` tells one drawing of noise from another; `private` is False when a seed made the noise predictable.
    """

    mechanism: Mechanism
    exponent: int
    queries: tuple[Query, ...]
    answers: tuple[NDArray[np.int64], ...]
    total: int | None
    nonce: str
    private: bool = True

    def __post_init__(self) -> None:
        if len(self.queries) != len(self.answers):
            raise InternalError("measurements and queries differ in number")
        for answer in self.answers:
            answer.flags.writeable = False

    def values(self, place: int) -> NDArray[np.float64]:
        """The noisy answer to one query, in people."""
        return np.ldexp(self.answers[place].astype(np.float64), -self.exponent)


def cost_of(queries: Sequence[Query], mechanism: Mechanism, sizes: Sequence[int], unit: Unit) -> Cost:
    """What queries use up together: epsilon for Laplace noise, mu^2 for Gaussian noise.

    Guarantee:
        follows from the queries alone, whatever else a plan says; two queries of one kind about one cuboid add up.
        The amount is that of laplace_cost or gaussian_cost, exact or a proved upper bound.
        Raises UnsupportedRelationError where nothing is proved.
    """
    weights: dict[tuple[Form, Cuboid], Fraction] = {}
    for query in queries:
        key = (query.form, query.cuboid)
        weights[key] = weights.get(key, Fraction(0)) + query.weight
    if mechanism is Mechanism.PURE:
        return laplace_cost(weights, unit)
    return gaussian_cost(weights, sizes, unit)


def grid_exponent(mechanism: Mechanism, queries: Sequence[Query]) -> int:
    """The smallest k >= 0 at which a grid of step 2^-k adds at most 1e-6 to every variance: 4^-k / 12 against it."""
    if mechanism is Mechanism.PURE:
        return 0
    # The shortest Helmert rows have squared length 2 along each attribute.
    narrowest = min((2 ** len(query.cuboid) if query.form is Form.CONTRAST else 1) / query.weight for query in queries)
    exponent = 0
    while Fraction(1, 12 * 4**exponent) > GRID_SHARE * narrowest:
        exponent += 1
    return exponent
