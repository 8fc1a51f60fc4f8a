"""Tables on disk: one CSV each, or one Parquet of all cells where they are very many."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from cuboid.bundle.arrow import numbers, read_parquet
from cuboid.bundle.files import TABLES, whole
from cuboid.bundle.table import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import TextIO

    import pyarrow as pa
    from numpy.typing import NDArray

    from cuboid.bundle.table import ReleasedTable

MOST_CSV = 5_000
ALL = f"{TABLES}/all.parquet"
_CELLS_A_GROUP = 1 << 20


def csv_name(place: int) -> str:
    """Path in the bundle of the table at a place of the workload, counted from 0."""
    return f"{TABLES}/{place + 1:04d}.csv"


def to_csv(table: ReleasedTable) -> str:
    """A table as CSV: attributes, then raw, sd, lo95, hi95, flag; numbers in the shortest form that reads back."""
    text = io.StringIO()
    _write_rows(table, text)
    return text.getvalue()


def write_csv(place: int, table: ReleasedTable, folder: Path) -> None:
    """Write one table's CSV; `synced` puts it on the disk."""
    path = folder / csv_name(place)
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as text:
        _write_rows(table, text)


def _write_rows(table: ReleasedTable, text: TextIO) -> None:
    hard = any("\r" in label for own in table.categories for label in own)  # a lone return is not quoted by itself
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if hard else csv.QUOTE_MINIMAL)
    writer.writerow((*table.attributes, *COLUMNS))
    writer.writerows(table.rows())


def stored(folder: Path, expected: Iterable[ReleasedTable]) -> Iterator[Stored]:
    """Each table as it stands on disk, beside the one it should be."""
    offset = 0
    everything = read_parquet(folder / ALL) if (folder / ALL).is_file() else None
    for place, table in enumerate(expected):
        if everything is None:
            columns = _read_csv(folder / csv_name(place), table.attributes)
        else:
            columns = _slice(everything, offset, place, table)
            offset += table.raw.size
        yield Stored(table=table, labels=columns[: len(table.attributes)], numbers=columns[len(table.attributes) :])


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What the disk says of a table: its cells' categories, and raw, sd, lo95, hi95, flag as columns."""

    table: ReleasedTable
    labels: list[list[Any]]
    numbers: list[list[Any]]

    def complete(self) -> bool:
        """Whether every cell is there, once, in order, under the schema's categories."""
        cells = list(zip(*self.labels, strict=True)) if self.labels else [()]
        return (
            len(self.labels) == len(self.table.attributes)
            and cells == list(product(*self.table.categories))
            and len(self.numbers) == len(COLUMNS)
            and all(len(column) == self.table.raw.size for column in self.numbers)
        )

    def right(self, slack: float = 0.0) -> bool:
        """Whether the numbers follow from the measurements, to rounding; the ends of intervals to `slack` people."""
        columns = self.table.columns
        raw, low, high = (
            np.array(self.numbers[COLUMNS.index(name)], dtype=np.float64) for name in ("raw", "lo95", "hi95")
        )
        doubtful = (high - low) / 2 > np.abs(raw) / 2
        flags = np.where(doubtful, "unreliable", "ok")
        special = np.isin(columns["flag"], ("exact", "impossible"))
        if self.numbers[-1] != np.where(special, columns["flag"], flags).tolist():
            return False
        span = 1e-9 * (np.abs(self.table.raw).max(initial=0.0) + self.table.error.sd)
        spans = {"raw": span, "sd": span, "lo95": span + slack, "hi95": span + slack}
        return all(
            np.allclose(np.array(values, dtype=np.float64), columns[name], rtol=1e-9, atol=spans[name])
            for name, values in zip(COLUMNS[:-1], self.numbers, strict=False)
        )

    def raw(self) -> NDArray[np.float64]:
        """The stored raw, shaped as the table."""
        return np.array(self.numbers[0], dtype=np.float64).reshape(self.table.shape)


def _read_csv(path: Path, attributes: tuple[str, ...]) -> list[list[Any]]:
    with path.open(encoding="utf-8", newline="") as text:
        rows = csv.reader(text)
        if tuple(next(rows, [])) != (*attributes, *COLUMNS):
            return []
        columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)]
    first = len(attributes)
    return columns[:first] + [list(map(float, column)) for column in columns[first:-1]] + columns[-1:]


def _slice(everything: pa.Table, offset: int, place: int, table: ReleasedTable) -> list[list[Any]]:
    part = everything.slice(offset, table.raw.size)
    own = set(zip(part.column("table").to_pylist(), part.column("attributes").to_pylist(), strict=True))
    if own != {(place + 1, " ".join(table.attributes))}:
        return []
    names = [f"category_{axis + 1}" for axis in range(len(table.attributes))]
    return [part.column(name).to_pylist() for name in (*names, *COLUMNS)]


def write_parquet(tables: Iterable[ReleasedTable], order: int, folder: Path) -> None:
    """Write all tables as one Parquet: place of the table, its attributes, a category for each, then the numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    waiting: list[pa.Table] = []
    cells = 0
    with whole(folder / ALL) as partial, pq.ParquetWriter(partial, _long_schema(order), compression="zstd") as writer:
        for place, table in enumerate(tables):
            waiting.append(_long(place, table, order))
            cells += table.raw.size
            if cells >= _CELLS_A_GROUP:
                writer.write_table(pa.concat_tables(waiting))
                waiting, cells = [], 0
        if waiting:
            writer.write_table(pa.concat_tables(waiting))


def _long_schema(order: int) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [("table", pa.int32()), ("attributes", pa.string())]
        + [(f"category_{axis + 1}", pa.string()) for axis in range(order)]
        + [(name, pa.string() if name == "flag" else pa.float64()) for name in COLUMNS]
    )


def _long(place: int, table: ReleasedTable, order: int) -> pa.Table:
    import pyarrow as pa

    cells, own = table.raw.size, table.to_arrow()
    columns: dict[str, Any] = {
        "table": numbers(np.full(cells, place + 1, dtype=np.int32)),
        "attributes": pa.repeat(" ".join(table.attributes), cells),
    }
    for axis in range(order):
        known = axis < len(table.attributes)
        columns[f"category_{axis + 1}"] = own.column(axis) if known else pa.nulls(cells, pa.string())
    columns |= {name: own.column(name).cast(pa.string() if name == "flag" else pa.float64()) for name in COLUMNS}
    return pa.table(columns, schema=_long_schema(order))
