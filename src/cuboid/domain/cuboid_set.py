"""Cuboids, and sets of them.

A cuboid is a subset of the attributes, written as the increasing tuple of their positions in the domain. The
empty tuple is the total.
"""

from __future__ import annotations

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
    """The cuboids that no other of them contains."""
    kept: list[frozenset[int]] = []
    with_attribute: dict[int, list[frozenset[int]]] = {}
    for cuboid in sorted(set(cuboids), key=len, reverse=True):
        rivals = with_attribute.get(cuboid[0], []) if cuboid else kept
        if any(other.issuperset(cuboid) for other in rivals):
            continue
        kept.append(frozenset(cuboid))
        for attribute in cuboid:
            with_attribute.setdefault(attribute, []).append(kept[-1])
    return tuple(sorted((tuple(sorted(members)) for members in kept), key=by_order))


def covers(cuboids: Iterable[Cuboid], cuboid: Cuboid) -> bool:
    """Whether some of the cuboids contains this one."""
    return any(set(cuboid).issubset(other) for other in cuboids)


def by_order(cuboid: Cuboid) -> tuple[int, Cuboid]:
    """Sort key: fewest attributes first, then by position."""
    return len(cuboid), cuboid
