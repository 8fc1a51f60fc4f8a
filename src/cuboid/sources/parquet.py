"""Parquet files, streamed a batch at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import parquet

from cuboid.errors import SourceError
from cuboid.sources.arrow_text import is_bytes, nested_columns, type_name
from cuboid.sources.source import ROWS, UNREADABLE, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_BUFFER = 2**20  # a column's pages are read through a buffer of this size, never a whole row group


class ParquetSource(Source):
    """A Parquet file. Its statistics and dictionaries are never read for what categories there are."""

    __slots__ = ("_file", "_kinds")

    def __init__(self, file: Path) -> None:
        self._file = file
        schema = _schema(file)
        self._kinds = {field.name: field.type for field in schema}
        super().__init__(
            kind="parquet",
            path=str(file.resolve()),
            name=str(file),
            header=schema.names,
            types={name: type_name(kind) for name, kind in self._kinds.items()},
            nested=nested_columns(self._kinds),
        )

    def batches(self, columns: Sequence[str], *, rows: int = ROWS) -> Iterator[Any]:
        self._check_columns(columns)
        return self._stream(list(columns), rows)

    def _stream(self, columns: list[str], rows: int) -> Iterator[Any]:
        text = [column for column in columns if is_bytes(self._kinds[column])]
        try:
            with parquet.ParquetFile(
                self._file, pre_buffer=False, buffer_size=_BUFFER, read_dictionary=text, memory_map=False
            ) as file:
                for batch in file.iter_batches(batch_size=rows, columns=columns, use_threads=False):
                    yield batch.select(columns)
        except Exception:  # noqa: BLE001 - Arrow or the system: the message may hold a value
            pass
        else:
            return
        raise SourceError(UNREADABLE)


def _schema(file: Path) -> Any:
    try:
        return parquet.read_schema(file)
    except (pa.ArrowException, OSError, ValueError):
        pass
    raise SourceError(f"{file} is a damaged Parquet file: its footer cannot be read; write it anew")
