"""Batches of rows to codes. Each row is encoded by itself, whatever batch it comes in.

A column is turned into codes by table where its integers are small, by bisection where its floats fall into bins,
and otherwise by its distinct values, each looked at once a batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cuboid.errors import SourceError
from cuboid.sources.arrow_text import plain, texts
from cuboid.sources.buffers import numbers, present
from cuboid.sources.number import MAX, whole_weight
from cuboid.sources.source import UNREADABLE
from cuboid.sources.value_coder import ValueCoder

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from cuboid.domain import Attribute, Schema

_WINDOW = 2**16  # integers this far from 0 are looked up in a table
_UNKNOWN = -1
_MOST_CACHED = 2**16  # distinct texts remembered between batches
_LONGEST_CACHED = 256  # bytes


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Encoded:
    """A column of codes for each attribute in schema order, and weights where the schema has a `count` column."""

    codes: tuple[NDArray[Any], ...]
    weights: NDArray[np.int64] | None


class Encoder:
    """Turns batches with the columns of a schema into codes; rows that leave every table are left out."""

    __slots__ = ("_attributes", "_weights", "columns")

    def __init__(self, schema: Schema) -> None:
        self._attributes = tuple((a.name, _Column(a), np.min_scalar_type(a.size - 1)) for a in schema.domain.attributes)
        self._weights = (schema.count, _Lookup(whole_weight)) if schema.count is not None else None
        self.columns = schema.domain.names + ((schema.count,) if schema.count is not None else ())

    def __call__(self, batch: Any) -> Encoded:
        """The codes and weights of a batch's rows.

        Raises:
            SourceError: the batch is damaged. No message of a library is passed on: it might hold a value.
        """
        try:
            return self._encode(batch)
        except Exception:  # noqa: BLE001 - whatever it says may hold a value
            pass
        raise SourceError(UNREADABLE)

    def _encode(self, batch: Any) -> Encoded:
        keep: NDArray[np.bool_] | None = None
        columns = []
        for name, column, _ in self._attributes:
            codes = column.codes(batch.column(name))
            columns.append(codes)
            keep = _and(keep, codes != column.coder.drop) if _reaches(codes, column.coder.drop) else keep
        weights = None
        if self._weights is not None:
            weights = _weights(batch.column(self._weights[0]), self._weights[1])
            keep = _and(keep, weights >= 0)
        if keep is not None and not keep.all():
            columns = [codes[keep] for codes in columns]
            weights = None if weights is None else weights[keep]
        narrow = (codes.astype(kind, copy=False) for codes, (_, _, kind) in zip(columns, self._attributes, strict=True))
        return Encoded(tuple(narrow), weights)


def _reaches(codes: NDArray[Any], drop: int) -> bool:
    return codes.size > 0 and int(codes.max()) == drop


def _and(keep: NDArray[np.bool_] | None, more: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return more if keep is None else keep & more


class _Lookup:
    """A function of text, remembered for a bounded number of texts."""

    __slots__ = ("_code", "_known")

    def __init__(self, code: Callable[[str], int]) -> None:
        self._code = code
        self._known: dict[bytes, int] = {}

    def __call__(self, text: bytes) -> int:
        known = self._known.get(text)
        if known is not None:
            return known
        code = self._code(text.decode("utf-8", "replace"))
        if len(text) <= _LONGEST_CACHED:
            if len(self._known) >= _MOST_CACHED:
                self._known.clear()
            self._known[text] = code
        return code

    def each(self, values: Any, *, empty: int, dtype: Any) -> NDArray[Any]:
        """The codes of an array of any type, through its distinct values."""
        array = plain(values)
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        distinct = [empty if text is None else self(text) for text in texts(plain(array.dictionary))]
        places = numbers(array.indices)
        found = np.array([*distinct, empty], dtype=dtype)
        if array.indices.null_count:
            places = np.where(present(array.indices), places, len(distinct))
        return found.take(places)


class _Column:
    """The codes of one attribute's column."""

    __slots__ = ("_bytes", "_edges", "_identity", "_lookup", "_table", "coder")

    def __init__(self, attribute: Attribute) -> None:
        self.coder = ValueCoder(attribute)
        self._lookup = _Lookup(self.coder.code)
        self._table: NDArray[np.int32] | None = None
        self._bytes: bytes | None = None
        self._identity = self._leading_identity()
        self._edges = np.array(attribute.bins, dtype=np.float64)

    def codes(self, values: Any) -> NDArray[Any]:
        """A code for each value of an Arrow array."""
        array = plain(values)
        kind = array.type
        if pa.types.is_null(kind):
            return np.full(len(array), self.coder.empty, dtype=self.coder.dtype)
        if pa.types.is_integer(kind):
            return self._with_nulls(array, self._integers(array))
        if pa.types.is_float64(kind) and self.coder.edges:
            return self._with_nulls(array, self._binned(numbers(array)))
        return self._lookup.each(array, empty=self.coder.empty, dtype=self.coder.dtype)

    def _with_nulls(self, array: Any, codes: NDArray[Any]) -> NDArray[Any]:
        if not array.null_count:
            return codes
        return np.where(present(array), codes, self.coder.dtype.type(self.coder.empty))

    def _integers(self, array: Any) -> NDArray[Any]:
        found = numbers(array)
        if not found.size:
            return found.astype(self.coder.dtype)
        low, high = int(found.min()), int(found.max())
        if low >= 0 and high < self._identity:
            return found.astype(self.coder.dtype, copy=False)
        if found.dtype == np.uint8 and self.coder.dtype == np.uint8:
            return np.frombuffer(found.tobytes().translate(self._byte_table()), dtype=np.uint8)
        if low < -_WINDOW or high >= _WINDOW:
            return self._lookup.each(array, empty=self.coder.empty, dtype=self.coder.dtype)
        return self._windowed(found.astype(np.intp) + _WINDOW)

    def _windowed(self, places: NDArray[np.intp]) -> NDArray[Any]:
        """Codes from the table of small integers, in which numbers are entered when they first come up."""
        if self._table is None:
            self._table = np.full(2 * _WINDOW, _UNKNOWN, dtype=np.int32)
        codes = self._table.take(places)
        new = codes == _UNKNOWN
        if new.any():
            for place in np.unique(places[new]).tolist():
                self._table[place] = self.coder.code(str(place - _WINDOW))
            codes = self._table.take(places)
        return codes.astype(self.coder.dtype)

    def _byte_table(self) -> bytes:
        if self._bytes is None:
            self._bytes = bytes(self.coder.code(str(value)) for value in range(256))
        return self._bytes

    def _leading_identity(self) -> int:
        """How many of the integers 0, 1, 2, ... are their own codes: such columns need no lookup at all."""
        upto = 0
        while upto < self.coder.size and self.coder.code(str(upto)) == upto:
            upto += 1
        return upto

    def _binned(self, given: NDArray[np.float64]) -> NDArray[Any]:
        """Bins of floats. Shortest decimals of floats are ordered as the floats, and edges are floats: exact."""
        places = np.searchsorted(self._edges, given, side="right") - 1
        last = len(self._edges) - 2
        places[given == self._edges[-1]] = last
        codes = np.where((places >= 0) & (places <= last), places, self.coder.outside)
        codes[np.isnan(given)] = self.coder.empty
        return codes.astype(self.coder.dtype)


def _weights(values: Any, lookup: _Lookup) -> NDArray[np.int64]:
    """A weight for each value of an Arrow array; -1 where it is none."""
    array = plain(values)
    kind = array.type
    if pa.types.is_integer(kind):
        given = numbers(array)
        if given.dtype == np.uint64:
            given = np.minimum(given, MAX)
        found = np.maximum(given.astype(np.int64), -1)
        return np.where(present(array), found, -1) if array.null_count else found
    return lookup.each(array, empty=-1, dtype=np.int64).astype(np.int64, copy=False)
