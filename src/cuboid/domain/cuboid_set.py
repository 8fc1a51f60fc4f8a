"""Cuboids, and sets of them.

A cuboid is a subset of the attributes, written as the increasing tuple of their positions in the domain. The
empty tuple is the total.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Cuboid: TypeAlias = tuple[int, ...]


def subsets(cuboid: Cuboid) -> Iterator[Cuboid]:
    """All 2^|S| subsets of a cuboid, small ones first."""
    for order in range(len(cuboid) + 1):
        yield from combinations(cuboid, order)


def closure(cuboids: Iterable[Cuboid]) -> tuple[Cuboid, ...]:
    """All subsets of the given cuboids, each once, by order and then by position."""
    found: set[Cuboid] = set()
    for cuboid in cuboids:
        if cuboid not in found:
            found.update(subsets(cuboid))
    return tuple(sorted(found, key=by_order))


def maximal(cuboids: Iterable[Cuboid]) -> tuple[Cuboid, ...]:
    """The cuboids that no other of them contains.

    Only those of higher order are looked at, through the attribute that fewest of them have.
    """
    orders: defaultdict[int, list[Cuboid]] = defaultdict(list)
    for cuboid in set(cuboids):
        orders[len(cuboid)].append(cuboid)
    found: list[Cuboid] = []
    holders: defaultdict[int, list[frozenset[int]]] = defaultdict(list)
    for order in sorted(orders, reverse=True):
        kept = [cuboid for cuboid in orders[order] if not _held(cuboid, holders)]
        if order or not found:
            found += kept
        for cuboid in kept:
            members = frozenset(cuboid)
            for attribute in cuboid:
                holders[attribute].append(members)
    return tuple(sorted(found, key=by_order))


def _held(cuboid: Cuboid, holders: dict[int, list[frozenset[int]]]) -> bool:
    rarest = min((holders.get(attribute, []) for attribute in cuboid), key=len, default=[])
    return any(members.issuperset(cuboid) for members in rarest)


def by_order(cuboid: Cuboid) -> tuple[int, Cuboid]:
    """Sort key: fewest attributes first, then by position."""
    return len(cuboid), cuboid
