"""Exact sensitivities: how much one person can move everything that is measured together.

Each query asks a cuboid for its cells, or for the integer contrasts of its residual, with a weight that says how
precisely. Proofs: docs/proofs/sensitivity.md. All of it is checked by brute force in the tests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from cuboid.errors import UnsupportedRelationError
from cuboid.privacy.unit import Relation, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from cuboid.domain import Cuboid

MOST_ENUMERATED = 20
_EXACT_EVALUATIONS = 20_000
_ROUNDING = Fraction(1, 10**9)


class Form(StrEnum):
    """What is asked of a cuboid."""

    TABLE = "table"
    CONTRAST = "contrast"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a set of queries uses up, and how that is known: "exact", or "bound" for a proved upper bound."""

    amount: Fraction
    known: str


def contrast_norm(sizes: Sequence[int], cuboid: Cuboid) -> Fraction:
    """p_T = prod (1 - 1/n_i), the squared L2 norm of one person's orthonormal contrasts of T (MATHS fact 6)."""
    return math.prod((1 - Fraction(1, sizes[i]) for i in cuboid), start=Fraction(1))


def laplace_cost(weights: Mapping[tuple[Form, Cuboid], Fraction], unit: Unit) -> Cost:
    """epsilon = the largest sum of eta_M * |M x - M x'|_1 over neighbours x, x'.

    A row in or out moves one cell of every table by 1; a row replaced by one that differs everywhere moves two
    cells of every table but the total. Linear, so at most `max_rows` times that, and attained.
    Guarantee:
        noise of scale 1/eta_M on each cell of M is epsilon-differentially private for this epsilon
        under `unit`; equality holds for some neighbours, so nothing smaller is true.
        Raises UnsupportedRelationError for queries without a proof.
    """
    if any(form is not Form.TABLE for form, _ in weights):
        raise UnsupportedRelationError("Laplace noise on contrasts has no proved sensitivity here: "
                                       "measure tables, or spend rho or epsilon with delta")  # fmt: skip
    if unit.relation is Relation.ADD_REMOVE:
        amount = sum(weights.values(), Fraction(0))
    else:
        amount = 2 * sum((eta for (_, cuboid), eta in weights.items() if cuboid), Fraction(0))
    return Cost(amount=unit.max_rows * amount, known="exact")


def gaussian_cost(weights: Mapping[tuple[Form, Cuboid], Fraction], sizes: Sequence[int], unit: Unit) -> Cost:
    """mu^2 = the largest sum of |Q x - Q x'|_2^2 / s2_Q over neighbours; weights are precisions 1/s2_Q.

    s2_Q is the variance of one cell, or of one orthonormal contrast. A row alone moves a table by 1 and an
    orthonormal contrast by p_T. Two rows that differ on D move a query by 2 (k(agree) - k(D)), where k is the
    product over its attributes of [same] for tables, and of [same] - 1/n_i for contrasts.
    Guarantee:
        the measured vector is mu-Gaussian differentially private for this mu under `unit`.
        "exact": attained by some neighbours (rounded up by at most 1e-9 of itself where so many pairs tie that
        they are not all evaluated in rationals); "bound": a proved upper bound.
    """
    squared_rows = unit.max_rows**2
    if unit.relation is Relation.ADD_REMOVE:
        amount = sum((w * _norm(form, sizes, cuboid) for (form, cuboid), w in weights.items()), Fraction(0))
        return Cost(amount=squared_rows * amount, known="exact")
    # A total never moves, and in floating point a heavy one would drown the rest.
    weights = {(form, cuboid): weight for (form, cuboid), weight in weights.items() if cuboid}
    if all(form is Form.TABLE for form, _ in weights):  # rows that differ everywhere move all of them at once
        return Cost(amount=squared_rows * 2 * sum(weights.values(), Fraction(0)), known="exact")
    involved = sorted({i for _, cuboid in weights for i in cuboid})
    if len(involved) > MOST_ENUMERATED:
        bound = sum(
            (2 * w * (_norm(form, sizes, cuboid) - _least_inner(form, sizes, cuboid))
             for (form, cuboid), w in weights.items()),
            Fraction(0),
        )  # fmt: skip
        return Cost(amount=squared_rows * bound, known="bound")
    return Cost(amount=squared_rows * _largest_over_differences(weights, sizes, involved), known="exact")


def _norm(form: Form, sizes: Sequence[int], cuboid: Cuboid) -> Fraction:
    return contrast_norm(sizes, cuboid) if form is Form.CONTRAST else Fraction(1)


def _kernel(form: Form, size: int) -> tuple[Fraction, Fraction]:
    """(agree, differ): inner product of two rows' answers along one attribute."""
    share = Fraction(1, size) if form is Form.CONTRAST else Fraction(0)
    return 1 - share, -share


def _least_inner(form: Form, sizes: Sequence[int], cuboid: Cuboid) -> Fraction:
    """The smallest inner product that two rows' answers can have."""
    if not cuboid:
        return Fraction(1)
    if form is Form.TABLE:
        return Fraction(0)
    norm = contrast_norm(sizes, cuboid)
    # Differing on one attribute turns its factor (n-1)/n into -1/n; on three, the product only shrinks.
    return min(-norm / (sizes[i] - 1) for i in cuboid)


def _largest_over_differences(
    weights: Mapping[tuple[Form, Cuboid], Fraction], sizes: Sequence[int], involved: list[int]
) -> Fraction:
    """max over D of sum 2 w (norm - inner(D)): all 2^d sets D by one butterfly per attribute, the best in rationals.

    Floats see the weights divided by their sum of norms, so that c times the weights give exactly c times the result,
    and queries scaled to a budget cost that budget also where it is rounded.
    """
    whole = sum((weight * _norm(form, sizes, cuboid) for (form, cuboid), weight in weights.items()), Fraction(0))
    weights = {key: weight / whole for key, weight in weights.items()}
    place = {attribute: bit for bit, attribute in enumerate(involved)}
    moved = np.full(
        1 << len(involved),
        2 * math.fsum(float(w * _norm(form, sizes, cuboid)) for (form, cuboid), w in weights.items()),
    )
    for form in Form:
        coefficients = np.zeros(1 << len(involved))
        for (own, cuboid), weight in weights.items():
            if own is form:
                coefficients[sum(1 << place[i] for i in cuboid)] += float(weight)
        moved -= 2 * _inner_products(form, coefficients, [sizes[i] for i in involved])
    best = float(moved.max())
    near = np.flatnonzero(moved >= best * (1 - 1e-9))
    if len(near) * len(weights) > _EXACT_EVALUATIONS:
        return whole * Fraction(best) * (1 + _ROUNDING)
    return whole * max(
        _moved_exactly(weights, sizes, {involved[b] for b in range(len(involved)) if difference >> b & 1})
        for difference in map(int, near)
    )


def _inner_products(form: Form, coefficients: NDArray[np.float64], sizes: list[int]) -> NDArray[np.float64]:
    """For every difference set: the sum of coefficients times inner products. O(d 2^d)."""
    values = coefficients
    for bit, size in enumerate(sizes):
        agree, differ = map(float, _kernel(form, size))
        pairs = values.reshape(-1, 2, 1 << bit)
        without, within = pairs[:, 0], pairs[:, 1]
        values = np.stack([without + agree * within, without + differ * within], axis=1).reshape(-1)
    return values


def _moved_exactly(
    weights: Mapping[tuple[Form, Cuboid], Fraction], sizes: Sequence[int], difference: set[int]
) -> Fraction:
    total = Fraction(0)
    for (form, cuboid), weight in weights.items():
        inner = math.prod((_kernel(form, sizes[i])[i in difference] for i in cuboid), start=Fraction(1))
        total += 2 * weight * (_norm(form, sizes, cuboid) - inner)
    return total
