"""The distinct values of columns that their owner has declared public."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cuboid.errors import SourceError
from cuboid.sources.arrow_text import plain, texts
from cuboid.sources.number import ZERO, number
from cuboid.sources.source import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cuboid.sources.source import Source


@dataclass(slots=True, repr=False, eq=False)
class Distinct:
    """A column's distinct trimmed texts, given up above a limit, and whether it has nulls."""

    texts: set[str] = field(default_factory=set)
    null: bool = False
    too_many: bool = False

    def add(self, values: Any, most: int) -> None:
        """Take in the values of an Arrow array. A dictionary's entries count only where a row has them."""
        array = plain(values)
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        self.null = self.null or array.null_count > 0
        if self.too_many:
            return
        used = array.dictionary.take(array.indices.drop_null().unique())
        for text in texts(plain(used)):
            trimmed = "" if text is None else text.decode("utf-8", "replace").strip()
            if trimmed:
                self.texts.add(trimmed)
            else:
                self.null = True
        self.too_many = len(self.texts) > most

    def ordered(self) -> list[str]:
        """Numbers by value, then other texts by alphabet."""
        return sorted(self.texts, key=lambda text: (number(text) is None, number(text) or ZERO, text))


def distinct_values(source: Source, columns: Sequence[str], *, most: int) -> dict[str, Distinct]:
    """The distinct values of some columns, in one pass over the source.

    Raises:
        SourceError: the source cannot be read; no message of a library is passed on.
    """
    found = {column: Distinct() for column in columns}
    if not columns:
        return found
    try:
        for batch in source.batches(columns):
            for column in columns:
                found[column].add(batch.column(column), most)
    except SourceError:
        raise
    except Exception:  # noqa: BLE001 - whatever it says may hold a value
        pass
    else:
        return found
    raise SourceError(UNREADABLE)
