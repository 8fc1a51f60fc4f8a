"""Error before data: the variance of every cell of every table, from the queries alone (MATHS fact 2)."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from cuboid.domain import Cuboid, subsets
from cuboid.measurement import LAW_OF, Query
from cuboid.noise import variance
from cuboid.privacy import Form, Mechanism

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence


def query_variance(query: Query, mechanism: Mechanism, exponent: int, *, ideal: bool = False) -> float:
    """Noise variance of one cell, or of one orthonormal contrast, that a query asks for.

    Exact for the discrete laws; with `ideal`, of the continuous ones (2/eta^2, s2). The grid of step 2^-k adds at
    most 4^-k/12 over the shortest squared length of a contrast, which is 2^|T|.
    """
    if mechanism is Mechanism.PURE:
        return 2 / float(query.weight) ** 2 if ideal else float(variance(LAW_OF[mechanism], float(query.weight)))
    grid = 0.0 if ideal else 4.0**-exponent / 12
    return float(1 / query.weight) + (grid / 2 ** len(query.cuboid) if query.form is Form.CONTRAST else grid)


def parts(query: Query, needed: Collection[Cuboid]) -> Iterator[Cuboid]:
    """The needed residuals that a query speaks of: its own, or all within its table."""
    if query.form is Form.CONTRAST:
        yield from (query.cuboid,) if query.cuboid in needed else ()
    elif 2 ** len(query.cuboid) <= len(needed):
        yield from (part for part in subsets(query.cuboid) if part in needed)
    else:
        whole = set(query.cuboid)
        yield from (part for part in needed if whole.issuperset(part))


def precision(query: Query, part: Cuboid, cell_variance: float, sizes: Sequence[int]) -> float:
    """What a query adds to 1/t_T: (1/s2) |T|/|M| from a table, 1/s2 from its own contrasts."""
    if query.form is Form.CONTRAST:
        return 1 / cell_variance
    rest = set(query.cuboid).difference(part)
    return 1 / (cell_variance * math.prod(sizes[i] for i in rest))


def residual_scales(
    queries: Sequence[Query],
    variances: Sequence[float],
    needed: Collection[Cuboid],
    sizes: Sequence[int],
    *,
    total_is_public: bool,
) -> dict[Cuboid, float]:
    """t_T of every needed residual that somebody measures; 0 for a total that is public. Others are absent."""
    found: defaultdict[Cuboid, float] = defaultdict(float)
    wanted = needed if isinstance(needed, (set, frozenset, dict)) else frozenset(needed)
    for query, cell_variance in zip(queries, variances, strict=True):
        for part in parts(query, wanted):
            found[part] += precision(query, part, cell_variance, sizes)
    scales = {part: 1 / value for part, value in found.items()}
    if total_is_public and () in wanted:
        scales[()] = 0.0
    return scales


def cell_variance(cuboid: Cuboid, scales: Mapping[Cuboid, float], sizes: Sequence[int]) -> float | None:
    """Variance of each cell of a table: (1/|V|) sum over T in V of dim(T) t_T |T|/|V|. None where some T is absent."""
    cells = math.prod(sizes[i] for i in cuboid)
    total = 0.0
    for part in subsets(cuboid):
        if part not in scales:
            return None
        total += scales[part] * math.prod((sizes[i] - 1) * sizes[i] for i in part)
    return total / cells**2
