"""Counting by bitmap: a bit per row for each (attribute, category), intersected and counted 64 rows at a time.

Category 0 of each attribute has no bitmap: whatever involves it follows by subtraction from margins. A table with
sizes n_i therefore needs one intersection for each cell of the smaller sizes n_i - 1, and its margins, which other
tables share. The wanted tables and all their margins form a tree of prefixes: at each prefix one intersection with
a whole matrix of bitmaps serves all tables that continue it, which makes numpy's cost per call small.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cuboid.domain import closure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from cuboid.domain import Cuboid

    Bits = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Branch:
    """A prefix, and the attributes that continue it to a counted set.

    `rows` are their bitmaps' rows in the matrix; the counts fill a matrix (prefix cells, rows) that starts at `start`,
    where each attribute has the columns from the first up to, not including, the second of its pair in `columns`.
    """

    prefix: Cuboid
    rows: slice | NDArray[np.intp]
    width: int
    start: int
    columns: dict[int, tuple[int, int]]
    grows: tuple[Branch, ...]


class BitmapPlan:
    """Which intersections to count for a set of tables, and how tables follow from them."""

    __slots__ = ("_branches", "_first", "_order", "_sizes", "cells", "root", "targets")

    def __init__(self, sizes: Sequence[int], targets: Iterable[Cuboid]) -> None:
        self.targets = tuple(targets)
        used = sorted({i for target in self.targets for i in target}, key=lambda i: (sizes[i], i))
        # small attributes make prefixes, large ones continue them: few calls, each on many bitmaps
        self._order = tuple(used)
        self._sizes = tuple(sizes[i] for i in used)
        starts = itertools.accumulate((size - 1 for size in self._sizes), initial=0)
        self._first = tuple(starts)
        ranks = {attribute: rank for rank, attribute in enumerate(used)}
        wanted = closure(tuple(sorted(ranks[i] for i in target)) for target in self.targets)
        continues: dict[Cuboid, list[int]] = defaultdict(list)
        for cuboid in wanted:
            if cuboid:
                continues[cuboid[:-1]].append(cuboid[-1])
        self._branches: dict[Cuboid, Branch] = {}
        self.cells = 0
        self.root = self._branch((), continues)

    @property
    def rows(self) -> int:
        """How many bitmaps there are."""
        return self._first[-1]

    @property
    def calls(self) -> int:
        """How many prefixes are intersected with a matrix."""
        return sum(self._below(branch.prefix) for branch in self._branches.values())

    def _below(self, cuboid: Cuboid) -> int:
        return math.prod(self._sizes[i] - 1 for i in cuboid)

    def _branch(self, prefix: Cuboid, continues: dict[Cuboid, list[int]]) -> Branch:
        attributes = sorted(continues[prefix])
        rows = [row for i in attributes for row in range(self._first[i], self._first[i + 1])]
        columns, width = {}, 0
        for i in attributes:
            columns[i] = (width, width + self._sizes[i] - 1)
            width = columns[i][1]
        start, self.cells = self.cells, self.cells + self._below(prefix) * width
        consecutive = bool(rows) and rows[-1] - rows[0] + 1 == len(rows)
        grows = tuple(self._branch((*prefix, i), continues) for i in attributes if (*prefix, i) in continues)
        branch = Branch(prefix, slice(rows[0], rows[-1] + 1) if consecutive else np.array(rows, dtype=np.intp),
                        width, start, columns, grows)  # fmt: skip
        self._branches[prefix] = branch
        return branch

    def pack(self, codes: Sequence[NDArray[Any]], length: int) -> Bits:
        """The matrix of bitmaps of a block of rows, one row for each (attribute, category but the first)."""
        words = -(-length // 64)
        packed = np.zeros((self.rows, words * 8), dtype=np.uint8)
        filled = -(-length // 8)
        for rank, attribute in enumerate(self._order):
            first, size, column = self._first[rank], self._sizes[rank], codes[attribute]
            if size == 2:
                packed[first, :filled] = np.packbits(column)
                continue
            for category in range(1, size):
                packed[first + category - 1, :filled] = np.packbits(column == category)
        return packed.view(np.uint64)

    def count_into(self, counts: NDArray[np.int64], bits: Bits) -> None:
        """Add a block's intersections to the flat vector of counts."""
        work = np.empty_like(bits), np.empty(bits.shape, dtype=np.uint8)
        _count_branch(counts, bits, self.root, [None], work)

    def tables(self, counts: NDArray[np.int64], total: int) -> dict[Cuboid, NDArray[np.int64]]:
        """The wanted tables, each from the counts of its subsets; tables of one shape are worked out together."""
        groups: dict[tuple[int, ...], list[tuple[Cuboid, Cuboid]]] = defaultdict(list)
        ranks = {attribute: rank for rank, attribute in enumerate(self._order)}
        for target in self.targets:
            inner = tuple(sorted(ranks[i] for i in target))
            groups[tuple(self._sizes[i] for i in inner)].append((target, inner))
        found = {}
        for shape, members in groups.items():
            stack = self._stack(shape, [inner for _, inner in members], counts, total)
            for (target, inner), table in zip(members, stack, strict=True):
                attributes = [self._order[i] for i in inner]
                found[target] = table.transpose([attributes.index(i) for i in target])
        return found

    def _stack(
        self, shape: tuple[int, ...], members: Sequence[Cuboid], counts: NDArray[np.int64], total: int
    ) -> NDArray[np.int64]:
        """Tables of one shape. Index 0 of an axis first holds the margin, then what the margin leaves to category 0."""
        stack = np.empty((len(members), *shape), dtype=np.int64)
        for mask in itertools.product((False, True), repeat=len(shape)):
            where = (slice(None), *(slice(1, None) if one else slice(0, 1) for one in mask))
            if not any(mask):
                stack[where] = total
                continue
            subsets = [tuple(itertools.compress(inner, mask)) for inner in members]
            branches = [self._branches[subset[:-1]] for subset in subsets]
            before = self._below(subsets[0][:-1])
            last = self._sizes[subsets[0][-1]] - 1
            start = np.array([b.start + b.columns[s[-1]][0] for b, s in zip(branches, subsets, strict=True)])
            width = np.array([b.width for b in branches])
            places = (start[:, None, None] + width[:, None, None] * np.arange(before)[:, None]) + np.arange(last)
            stack[where] = counts[places].reshape(stack[where].shape)
        for axis in range(1, stack.ndim):
            first = stack[(slice(None),) * axis + (slice(0, 1),)]
            first -= stack[(slice(None),) * axis + (slice(1, None),)].sum(axis=axis, keepdims=True)
        return stack


def _count_branch(
    counts: NDArray[np.int64],
    bits: Bits,
    branch: Branch,
    prefixes: Sequence[Bits | None],
    work: tuple[Bits, NDArray[np.uint8]],
) -> None:
    """Count a prefix's continuations for each of its cells, then go on to the longer prefixes."""
    chosen = bits[branch.rows]
    both, ones = work[0][: branch.width], work[1][: branch.width]
    at = branch.start
    for prefix in prefixes:
        here = chosen if prefix is None else np.bitwise_and(chosen, prefix, out=both)
        np.bitwise_count(here, out=ones)
        counts[at : at + branch.width] += np.add.reduce(ones, axis=1, dtype=np.uint32)
        at += branch.width
    for longer in branch.grows:
        own = chosen[slice(*branch.columns[longer.prefix[-1]])]
        grown = [row if prefix is None else row & prefix for prefix in prefixes for row in own]
        _count_branch(counts, bits, longer, grown, work)
