"""From whatever holds the rows to a source of them."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from cuboid.errors import SourceError

if TYPE_CHECKING:
    from cuboid.sources.source import Source

_PARQUET, _DUCKDB = b"PAR1", b"DUCK"
_WAYS = "a path to a CSV, Parquet or DuckDB file, a table with an Arrow stream, columns by name, or a list of dict rows"


def open_source(data: object, *, table: str | None = None) -> Source:
    """A source of the rows in a file or an object; only its header is read now.

    data    a path to a file: CSV or TSV, also gzipped; Parquet; a DuckDB database (`table` says which one in it)
            or an object with an Arrow stream, a mapping of column name to values, a list of dict rows

    Raises:
        SourceError: there is no such file, or its header cannot be used.
    """
    if isinstance(data, str | PathLike):
        return _from_file(Path(fspath(data)), table)
    if table is not None:
        raise SourceError("a table's name goes with a DuckDB file only: leave it out")
    return _from_object(data)


def _from_file(file: Path, table: str | None) -> Source:
    start = _first_bytes(file)
    if start[8:12] == _DUCKDB:
        from cuboid.sources.duckdb_table import DuckdbSource  # an engine that no other source needs

        return DuckdbSource(file, table)
    if table is not None:
        raise SourceError(f"{file} is no DuckDB database, so it has no table {table}: leave the table's name out")
    if start[:4] == _PARQUET:
        from cuboid.sources.parquet import ParquetSource  # loads pyarrow

        return ParquetSource(file)
    if file.suffix.lower() in (".parquet", ".pq", ".duckdb", ".db"):
        raise SourceError(f"{file} is not what its name says: it does not begin as such a file does")
    from cuboid.sources.csv import CsvSource

    return CsvSource(file)


def _first_bytes(file: Path) -> bytes:
    try:
        kind = file.stat().st_mode
        if stat.S_ISDIR(kind):
            raise SourceError(f"{file} is a folder: name one file")
        if not stat.S_ISREG(kind):  # a pipe is read once, and its header is looked at before its rows
            raise SourceError(f"{file} is no file that can be read twice: write the rows to a file first")
        with file.open("rb") as stream:
            return stream.read(12)
    except FileNotFoundError:
        pass
    except OSError:
        raise SourceError(f"{file} cannot be opened: check that you may read it") from None
    raise SourceError(f"there is no file {file}: check the path")


def _from_object(data: object) -> Source:
    from cuboid.sources.arrow_stream import StreamSource, from_columns, from_pandas, from_rows  # loads pyarrow

    from_pandas_itself = any(base.__module__.split(".")[0] == "pandas" for base in type(data).__mro__)
    if from_pandas_itself and hasattr(data, "columns"):
        return from_pandas(data)
    if hasattr(data, "__arrow_c_stream__"):
        return StreamSource(data)
    if isinstance(data, Mapping):
        return from_columns(data)
    if isinstance(data, list | tuple) and all(isinstance(row, Mapping) for row in data[:1]):
        return from_rows(data)
    raise SourceError(f"a {type(data).__name__} is no source of rows: give {_WAYS}")
