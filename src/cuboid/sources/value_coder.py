"""One value, as text, to the category it falls into: the rules of values, in one place."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from cuboid.domain import DROP
from cuboid.sources.number import number

if TYPE_CHECKING:
    from cuboid.domain import Attribute
    from cuboid.sources.number import Number


class ValueCoder:
    """Codes of one attribute's values.

    A code is the category's position; `drop`, one more than the last, says that the row leaves every table.
    Text is trimmed and compared with the declared values, then as a number where just one declared value equals it;
    true, True and TRUE are one word, and so are the falses.
    Empty text is a null unless "" is declared. Labels are not values.
    """

    __slots__ = ("_edges", "_exact", "_numeric", "drop", "dtype", "empty", "outside", "size")

    def __init__(self, attribute: Attribute) -> None:
        self.size = attribute.size
        self.drop = attribute.size
        self.dtype = np.min_scalar_type(self.drop)
        self.outside = self.drop if attribute.outside == DROP else attribute.position(attribute.outside)
        self.empty = self.outside if attribute.missing is None else attribute.position(attribute.missing)
        self._exact = {value.strip(): code for code, value in enumerate(attribute.values)}
        self._numeric = _unique_numbers(self._exact)
        self._exact |= _spellings_of_truth(self._exact)
        self._edges = [_edge(edge) for edge in attribute.bins]

    @property
    def edges(self) -> bool:
        """Whether the categories are bins."""
        return bool(self._edges)

    def code(self, text: str) -> int:
        """The code of a value that is not null."""
        text = text.strip()
        known = self._exact.get(text)
        if known is not None:
            return known
        if not text:
            return self.empty
        if not self._edges and not self._numeric:
            return self.outside
        value = number(text)
        if value is None:
            return self.outside
        return self._bin(value) if self._edges else self._numeric.get(value, self.outside)

    def _bin(self, value: Number) -> int:
        if value == self._edges[-1]:
            return len(self._edges) - 2
        place = bisect_right(self._edges, value) - 1
        return place if 0 <= place < len(self._edges) - 1 else self.outside


def _spellings_of_truth(values: dict[str, int]) -> dict[str, int]:
    """true and false in the cases that programs write, where just one declared value is that word."""
    found: dict[str, int] = {}
    for word in ("true", "false"):
        codes = [code for value, code in values.items() if value.casefold() == word]
        if len(codes) == 1:
            found |= dict.fromkeys((word, word.title(), word.upper()), codes[0])
    return found


def _unique_numbers(values: dict[str, int]) -> dict[Number, int]:
    """Declared values by number, without the numbers that two of them write."""
    found: dict[Number, int] = {}
    twice: set[Number] = set()
    for text, code in values.items():
        value = number(text)
        if value is not None:
            if value in found:
                twice.add(value)
            found[value] = code
    return {value: code for value, code in found.items() if value not in twice}


def _edge(edge: float) -> Number:
    value = number(repr(float(edge)))
    assert value is not None, "edges are finite"  # the attribute has checked it
    return value
