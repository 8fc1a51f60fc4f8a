"""The counter: takes blocks of codes, gives sealed exact tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cuboid.counting.choice import BLOCK, choose
from cuboid.counting.index import cell_numbers, count_into, weigh_into
from cuboid.counting.saturating import MAX
from cuboid.counting.sealed import ExactTables, Sealed
from cuboid.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from cuboid.domain import Cuboid

    Codes = Sequence[NDArray[Any]]


_CACHED_BITMAPS = 64  # so many bitmaps of a whole block fit the cache; more are packed for fewer rows at a time
_LEAST_STEP = 8192


class Counter(Sealed):
    """Counts rows into the tables of some cuboids. The same tables follow from any order and any cut of the rows.

    Small batches are gathered into blocks first, so the cost does not depend on how the rows arrive. Memory: the
    largest counted tables, plus one block.
    """

    __slots__ = (
        "_bitmaps",
        "_bits",
        "_block",
        "_closed",
        "_filled",
        "_sizes",
        "_tables",
        "_total",
        "_weights",
        "_wide",
    )
    _TEXT = "<counter: sealed>"

    def __init__(self, sizes: tuple[int, ...], cuboids: Iterable[Cuboid], *, weighted: bool) -> None:
        self._sizes = sizes
        choice = choose(sizes, cuboids, weighted=weighted)
        self._tables = {
            target: np.zeros(math.prod(sizes[i] for i in target), dtype=np.int64) for target in choice.index
        }
        self._bitmaps = choice.bitmap
        self._bits = np.zeros(self._bitmaps.cells if self._bitmaps else 0, dtype=np.int64)
        self._block: list[NDArray[Any]] = []
        self._weights = np.empty(BLOCK, dtype=np.int64) if weighted else None
        self._filled = 0
        self._total = 0
        self._closed = False
        self._wide = tuple(np.min_scalar_type(size - 1) for size in sizes)

    def add(self, codes: Codes, weights: NDArray[np.int64] | None = None) -> None:
        """Count more rows: a column of codes for each attribute, and weights if the counter is weighted."""
        if self._closed:
            raise InternalError("the counter was given rows after its tables were taken")
        self._check(codes, weights)
        length = len(codes[0])
        at = 0
        while at < length:
            if self._filled == 0 and length - at >= BLOCK:
                stop = at + BLOCK
                self._count([column[at:stop] for column in codes], None if weights is None else weights[at:stop])
            else:
                stop = min(length, at + BLOCK - self._filled)
                self._gather(codes, weights, at, stop)
            at = stop

    def tables(self) -> ExactTables:
        """The exact tables of all rows, under seal. No more rows can be added: large tables are not copied."""
        self._flush()
        self._closed = True
        found = {target: flat.reshape(tuple(self._sizes[i] for i in target)) for target, flat in self._tables.items()}
        if self._bitmaps is not None:
            found |= self._bitmaps.tables(self._bits, self._total)
        return ExactTables(found)

    def _check(self, codes: Codes, weights: NDArray[np.int64] | None) -> None:
        """Refuse codes outside the schema: they would break a kernel with a message that shows a size."""
        if (weights is None) != (self._weights is None) or len(codes) != len(self._sizes):
            raise InternalError("the counter was given columns that do not fit its schema")
        lengths = {len(column) for column in codes} | ({len(weights)} if weights is not None else set())
        if len(lengths) != 1:
            raise InternalError("the counter was given columns of different lengths")
        for column, size in zip(codes, self._sizes, strict=True):
            if column.dtype.kind != "u" or (column.size and int(column.max()) >= size):
                raise InternalError("the counter was given a code that the schema does not have")
        if weights is not None and weights.size and int(weights.min()) < 0:
            raise InternalError("the counter was given a negative weight")

    def _gather(self, codes: Codes, weights: NDArray[np.int64] | None, start: int, stop: int) -> None:
        if not self._block:
            self._block = [np.empty(BLOCK, dtype=dtype) for dtype in self._wide]
        until = self._filled + stop - start
        for buffer, column in zip(self._block, codes, strict=True):
            buffer[self._filled : until] = column[start:stop]
        if weights is not None and self._weights is not None:
            self._weights[self._filled : until] = weights[start:stop]
        self._filled = until
        if self._filled == BLOCK:
            self._flush()

    def _flush(self) -> None:
        length, self._filled = self._filled, 0
        if length:
            weights = None if self._weights is None else self._weights[:length]
            self._count([buffer[:length] for buffer in self._block], weights)

    def _count(self, codes: Codes, weights: NDArray[np.int64] | None) -> None:
        length = len(codes[0])
        self._total += length
        for target, flat in self._tables.items():
            if not target:
                more = length if weights is None else sum(weights.tolist())
                flat[0] = min(MAX, int(flat[0]) + more)
                continue
            numbers = cell_numbers([codes[i] for i in target], [self._sizes[i] for i in target])
            if weights is None:
                count_into(flat, numbers)
            else:
                weigh_into(flat, numbers, weights)
        if self._bitmaps is not None:
            step = max(_LEAST_STEP, BLOCK * _CACHED_BITMAPS // max(1, self._bitmaps.rows) // 64 * 64)
            for at in range(0, length, step):
                here = [column[at : at + step] for column in codes]
                self._bitmaps.count_into(self._bits, self._bitmaps.pack(here, len(here[0])))
