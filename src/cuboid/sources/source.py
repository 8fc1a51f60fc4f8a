"""What every source offers: a header, and the rows in batches. Nothing of the rows is in its name or text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from cuboid.errors import SourceError, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ROWS = 131_072
UNREADABLE = (
    "the data cannot be read to their end, or are damaged: open them with another tool and write them anew; "
    "what that tool finds is not repeated here, as it might show a value"
)


class Source(ABC):
    """Rows to count.

    kind     csv, parquet, duckdb, arrow or columns
    path     the resolved path, where there is one: it is recorded in the ledger
    header   column names in order
    types    the declared type of each column; None where none is declared. Never with values or sizes of the data
    nested   columns whose values are lists, structs or the like: they cannot be read as categories
    """

    __slots__ = ("_name", "header", "kind", "nested", "path", "types")

    def __init__(
        self,
        *,
        kind: str,
        path: str | None,
        name: str,
        header: Sequence[str],
        types: Mapping[str, str | None],
        nested: Iterable[str] = (),
    ) -> None:
        check_names(header, name)
        self._name = name
        self.kind = kind
        self.path = path
        self.header = tuple(header)
        self.types = dict(types)
        self.nested = frozenset(nested)

    def __repr__(self) -> str:
        return f"<source: {self.kind}>"

    @abstractmethod
    def batches(self, columns: Sequence[str], *, rows: int = ROWS) -> Iterator[Any]:
        """The rows, as Arrow record batches of at most `rows` rows with these columns. Memory: a few batches.

        Raises:
            SourceError: a column is not in the header or holds nested values; or the rows cannot be read, in one
                fixed text.
        """

    def _check_columns(self, columns: Sequence[str]) -> None:
        absent = [column for column in columns if column not in self.header]
        if absent:
            raise SourceError(f"the data have no column {listed(absent)}: their columns are {listed(self.header)}")
        for column in columns:
            if column in self.nested:
                raise SourceError(
                    f"column {column} of {self._name} has the type {self.types[column]}, which is no single value: "
                    "flatten it into columns of their own, or leave it out of the schema"
                )


def check_names(header: Sequence[str], name: str) -> None:
    """Raise SourceError where a column has no name, or two have one."""
    if not header:
        raise SourceError(f"{name} has no columns: it needs at least one, with a name")
    if any(not column.strip() for column in header):
        raise SourceError(
            f"{name} has a column without a name: give each column a name "
            "(in R write.csv(..., row.names = FALSE), in pandas to_csv(..., index=False))"
        )
    seen: set[str] = set()
    twice = [column for column in header if column in seen or seen.add(column)]  # type: ignore[func-returns-value]
    if twice:
        raise SourceError(f"{name} has more than one column named {listed(dict.fromkeys(twice))}: rename one of them")
