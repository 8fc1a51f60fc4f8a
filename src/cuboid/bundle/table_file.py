"""Tables on disk: one CSV each, or one Parquet of all cells where they are very many."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cuboid.bundle.arrow import numbers, read_parquet
from cuboid.bundle.files import TABLES, whole, write_loose
from cuboid.bundle.table import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

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
    hard = any("\r" in label for own in table.categories for label in own)  # a lone return is not quoted by itself
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if hard else csv.QUOTE_MINIMAL)
    writer.writerow((*table.attributes, *COLUMNS))
    labels = [table.labels(axis) for axis in range(len(table.attributes))]
    writer.writerows(zip(*labels, *(table.columns[column].tolist() for column in COLUMNS), strict=True))
    return text.getvalue()


def write_csv(place: int, table: ReleasedTable, folder: Path) -> None:
    """Write one table's CSV; `synced` puts it on the disk."""
    write_loose(folder / csv_name(place), to_csv(table))


def stored(folder: Path, expected: Iterable[ReleasedTable]) -> Iterator[Stored]:
    """Each table as it stands on disk, beside the one it should be."""
    offset = 0
    everything = read_parquet(folder / ALL) if (folder / ALL).is_file() else None
    for place, table in enumerate(expected):
        if everything is None:
            columns = _read_csv(folder / csv_name(place), len(table.attributes))
        else:
            columns = _slice(everything, offset, table)
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
        axes = range(len(self.table.attributes))
        return (
            self.labels == [self.table.labels(axis) for axis in axes]
            and len(self.numbers) == len(COLUMNS)
            and all(len(column) == self.table.raw.size for column in self.numbers)
        )

    def right(self, slack: float = 0.0) -> bool:
        """Whether the numbers follow from the measurements, to rounding; the ends of intervals to `slack` people."""
        columns = self.table.columns
        if slack == 0 and self.numbers[-1] != columns["flag"].tolist():
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


def _read_csv(path: Path, attributes: int) -> list[list[Any]]:
    with path.open(encoding="utf-8", newline="") as text:
        rows = csv.reader(text)
        header = next(rows, [])
        if len(header) != attributes + len(COLUMNS) or tuple(header[attributes:]) != COLUMNS:
            return []
        columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)]
    return columns[:attributes] + [list(map(float, column)) for column in columns[attributes:-1]] + columns[-1:]


def _slice(everything: pa.Table, offset: int, table: ReleasedTable) -> list[list[Any]]:
    part = everything.slice(offset, table.raw.size)
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
