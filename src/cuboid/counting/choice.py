"""Which way to count each table: by bitmap, by index, or all of them from one larger table.

The prices are nanoseconds a row, measured on a two-core machine; only their ratios matter. They depend on the
schema and the wanted tables alone, never on data.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuboid.counting.bitmap import BitmapPlan
from cuboid.domain import maximal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cuboid.domain import Cuboid

BLOCK = 131_072  # rows counted at a time: a bitmap of 16 KB, an index of 1 MB

_INTERSECTION = 0.011  # one AND, one count of bits, one sum, for 1/64 word
_CALL = 4000 / BLOCK  # one step of the interpreter, spread over a block
_PACK = 0.08  # one bitmap
_INDEX = 1.2  # one pass of counting
_RADIX = 0.05  # one multiplication and addition, for each byte of the cell number
_MISS = 6.0  # one cell that is not in the cache
_CACHED_CELLS = 2**17
_MOST_UNION_CELLS = 2**16
_MOST_BITMAP_CELLS = 2**9
_MOST_BITMAP_ORDER = 5


@dataclass(frozen=True, slots=True)
class Choice:
    """The tables to count by bitmap, and those to count by index. All other wanted tables are sums of these."""

    bitmap: BitmapPlan | None
    index: tuple[Cuboid, ...]


def choose(sizes: Sequence[int], cuboids: Iterable[Cuboid], *, weighted: bool) -> Choice:
    """The cheapest of the ways to count, by predicted cost."""
    targets = tuple(maximal(set(cuboids)))
    plans = [] if weighted else list(_cheap_plans(sizes, targets))
    by_bitmap = {target for plan in plans for target in plan.targets}
    plan = None
    if by_bitmap:
        plan = plans[0] if len(plans) == 1 else BitmapPlan(sizes, sorted(by_bitmap))
    index = tuple(target for target in targets if target not in by_bitmap)
    price = _bitmap_price(plan) + sum(index_price(sizes, target) for target in index)
    union = tuple(sorted({i for target in targets for i in target}))
    small = math.prod(sizes[i] for i in union) <= _MOST_UNION_CELLS
    if len(targets) > 1 and small and index_price(sizes, union) < price:
        return Choice(None, (union,))
    return Choice(plan, index)


def index_price(sizes: Sequence[int], cuboid: Cuboid) -> float:
    """Predicted cost of counting a cuboid by index."""
    cells = math.prod(sizes[i] for i in cuboid)
    width = 1 if cells <= 2**8 else 2 if cells <= 2**16 else 4 if cells <= 2**32 else 8
    return _INDEX + _RADIX * width * max(0, len(cuboid) - 1) + 2 * _CALL + (_MISS if cells > _CACHED_CELLS else 0.0)


def _cheap_plans(sizes: Sequence[int], targets: Iterable[Cuboid]) -> Iterator[BitmapPlan]:
    """A plan for the tables of each order that bitmaps serve well: those of one order share most of their margins."""
    groups: dict[int, list[Cuboid]] = defaultdict(list)
    for target in targets:
        cells = math.prod(sizes[i] for i in target)
        price = math.prod(sizes[i] - 1 for i in target) * _INTERSECTION
        if 0 < len(target) <= _MOST_BITMAP_ORDER and cells <= _MOST_BITMAP_CELLS and price < index_price(sizes, target):
            groups[len(target)].append(target)
    for group in groups.values():
        plan = BitmapPlan(sizes, group)
        if _bitmap_price(plan) < sum(index_price(sizes, target) for target in group):
            yield plan


def _bitmap_price(plan: BitmapPlan | None) -> float:
    return 0.0 if plan is None else plan.cells * _INTERSECTION + plan.calls * _CALL + plan.rows * _PACK
