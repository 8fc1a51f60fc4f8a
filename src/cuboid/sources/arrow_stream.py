"""Tables in memory: anything with an Arrow stream (pandas, polars, pyarrow, DuckDB), columns by name, or rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cuboid.errors import SourceError
from cuboid.sources.arrow_text import nested_columns, type_name
from cuboid.sources.object_text import object_texts
from cuboid.sources.source import ROWS, UNREADABLE, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAME = "the table"
OBJECTS = pa.large_binary()  # what Python objects become: their type says nothing of what they are


class StreamSource(Source):
    """An object that hands out its rows as an Arrow stream. One without a length can be read once."""

    __slots__ = ("_data", "_reader")

    def __init__(self, data: Any) -> None:
        self._data = data
        self._reader = _reader(data)
        schema = self._reader.schema
        kinds = {field.name: field.type for field in schema}
        types = {name: type_name(kind) for name, kind in kinds.items()}
        super().__init__(
            kind="arrow", path=None, name=_NAME, header=schema.names, types=types, nested=nested_columns(kinds)
        )

    def batches(self, columns: Sequence[str], *, rows: int = ROWS) -> Iterator[Any]:
        self._check_columns(columns)
        reader, self._reader = self._reader, None
        if reader is None:
            if not hasattr(self._data, "__len__"):
                raise SourceError("the stream has been read already, and streams can be read once: open it again")
            reader = _reader(self._data)
        return _cut(reader, tuple(columns), rows)


class ColumnSource(Source):
    """Columns in memory, by name."""

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, Any], header: Sequence[str]) -> None:
        self._columns = {name: _arrow(name, values) for name, values in columns.items()}
        kinds = {name: values.type for name, values in self._columns.items()}
        types = {name: None if kind == OBJECTS else type_name(kind) for name, kind in kinds.items()}
        super().__init__(
            kind="columns", path=None, name=_NAME, header=header, types=types, nested=nested_columns(kinds)
        )
        if len({len(values) for values in self._columns.values()}) > 1:
            raise SourceError("the columns are not of one length: give each column a value for each row")

    def batches(self, columns: Sequence[str], *, rows: int = ROWS) -> Iterator[Any]:
        self._check_columns(columns)
        arrays = [self._columns[column] for column in columns]
        table = pa.Table.from_arrays(arrays, names=list(columns))
        return _cut(table.to_reader(), tuple(columns), rows)


def from_columns(data: Mapping[Any, Any]) -> ColumnSource:
    """A source of columns: lists, tuples or arrays by name."""
    return ColumnSource({str(name): values for name, values in data.items()}, [str(name) for name in data])


def from_pandas(frame: Any) -> ColumnSource:
    """A source of a pandas frame. Columns of Python objects are read value by value: a mix of types is no error."""
    header = [str(name) for name in frame.columns]
    columns: dict[str, Any] = {}
    for name, (_, series) in zip(header, frame.items(), strict=True):
        columns[name] = series.to_numpy() if series.dtype == object else _from_series(series)
    return ColumnSource(columns, header)


def from_rows(rows: Sequence[Any]) -> ColumnSource:
    """A source of dict rows. The first row's keys are the header; a row without one of them has a null there."""
    known = {str(name): name for name in rows[0]} if rows else {}
    if not known:
        raise SourceError("a list without rows names no columns: give a table with a header")
    header = [name for name in known if name.strip()]
    try:
        columns = {
            name: [row.get(known[name]) if isinstance(row, Mapping) else None for row in rows] for name in header
        }
        return ColumnSource(columns, header)
    except Exception:  # noqa: BLE001 - rows of any class: the message may hold a value
        pass
    raise SourceError(UNREADABLE)


def _reader(data: Any) -> Any:
    try:
        return pa.RecordBatchReader.from_stream(data)
    except Exception:  # noqa: BLE001 - any library may be behind it, and its message may hold a value
        pass
    raise SourceError(UNREADABLE)


def _cut(reader: Any, columns: tuple[str, ...], rows: int) -> Iterator[Any]:
    try:
        for batch in reader:
            chosen = batch.select(list(columns))
            for start in range(0, chosen.num_rows, rows):
                yield chosen.slice(start, rows)
    except Exception:  # noqa: BLE001 - any library may be behind it, and its message may hold a value
        pass
    else:
        return
    raise SourceError(UNREADABLE)


def _from_series(series: Any) -> Any:
    try:
        array = pa.array(series, from_pandas=True)
        return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    except Exception:  # noqa: BLE001 - pandas' own types may refuse, with a message that holds a value
        return list(series)


def _arrow(name: str, values: Any) -> Any:
    """An Arrow array of a column, whatever its values: Python objects go by their standard text."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise SourceError(f"column {name} is no single column: give one value for each row")
    if isinstance(values, np.ndarray) and values.dtype.kind in "biufM":
        return _from_numpy(values)
    if isinstance(values, str | bytes):
        raise SourceError(f"column {name} is a single text: give a list with one value for each row")
    try:
        return pa.array(object_texts(values), type=OBJECTS)
    except Exception:  # noqa: BLE001 - values of any class: the message may hold one
        pass
    raise SourceError(f"column {name} is no sequence that can be read: give a list with one value for each row")


def _from_numpy(values: Any) -> Any:
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    try:
        return pa.array(native)
    except (pa.ArrowException, ValueError, TypeError):
        return pa.array(object_texts(values.astype(str).tolist()), type=OBJECTS)
