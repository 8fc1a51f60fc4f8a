"""Exact tables under seal: they go from the counter to the gate and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from cuboid.counting.saturating import sum_axes
from cuboid.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from cuboid.domain import Cuboid


class Sealed:
    """A confidential value: it has no text, no copy, no pickle and no order."""

    __slots__ = ()
    _TEXT = "<sealed>"

    def __repr__(self) -> str:
        return self._TEXT

    def __format__(self, spec: str, /) -> str:
        return self._TEXT

    def __copy__(self) -> NoReturn:
        raise TypeError("a sealed value cannot be copied")

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        raise TypeError("a sealed value cannot be copied")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a sealed value cannot be pickled")

    def __getstate__(self) -> NoReturn:
        raise TypeError("a sealed value cannot be pickled")


class ExactTables(Sealed):
    """Exact tables of counts. `open_at_the_gate` is the one way in, and only the gate calls it."""

    __slots__ = ("__holders", "__tables")
    _TEXT = "<exact tables: sealed>"

    def __init__(self, tables: Mapping[Cuboid, NDArray[np.int64]]) -> None:
        self.__tables = dict(tables)
        self.__holders: dict[int, list[Cuboid]] = {}
        for cuboid in self.__tables:
            for attribute in cuboid:
                self.__holders.setdefault(attribute, []).append(cuboid)

    def open_at_the_gate(self, cuboid: Cuboid) -> NDArray[np.int64]:
        """The exact table of a cuboid: a read-only array, shaped as the domain's sizes.

        A cuboid that was not counted itself is summed from the smallest counted one that contains it; sums stop at
        2^63 - 1.

        Raises:
            InternalError: no counted cuboid contains it.
        """
        if cuboid in self.__tables:
            return _read_only(self.__tables[cuboid])
        holders = list(self.__holding(cuboid))
        if not holders:
            raise InternalError("a table was opened that was not asked to be counted")
        holder = min(holders, key=lambda known: self.__tables[known].size)
        axes = tuple(axis for axis, attribute in enumerate(holder) if attribute not in cuboid)
        return _read_only(sum_axes(self.__tables[holder], axes))

    def __holding(self, cuboid: Cuboid) -> Iterator[Cuboid]:
        if not cuboid:
            yield from self.__tables
            return
        rarest = min((self.__holders.get(attribute, []) for attribute in cuboid), key=len)
        yield from (known for known in rarest if set(cuboid).issubset(known))


def _read_only(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """A table that nobody can change by accident; copied only if its cells are not in order."""
    view = np.ascontiguousarray(table, dtype=np.int64).reshape(table.shape).view()
    view.flags.writeable = False
    return view
