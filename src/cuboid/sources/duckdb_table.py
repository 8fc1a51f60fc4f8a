"""A table or view in a DuckDB database file, streamed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb

from cuboid.errors import SourceError, listed
from cuboid.sources.arrow_text import nested_columns
from cuboid.sources.source import ROWS, UNREADABLE, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


class DuckdbSource(Source):
    """A table in a DuckDB file, opened for reading only."""

    __slots__ = ("_file", "_table")

    def __init__(self, file: Path, table: str | None) -> None:
        self._file = file
        with _connect(file) as connection:
            self._table = _table(connection, file, table)
            described, kinds = _describe(connection, self._table, file)
        super().__init__(
            kind="duckdb",
            path=str(file.resolve()),
            name=f"{self._table} in {file}",
            header=[name for name, _ in described],
            types=dict(described),
            nested=nested_columns(kinds),
        )

    def batches(self, columns: Sequence[str], *, rows: int = ROWS) -> Iterator[Any]:
        self._check_columns(columns)
        return self._stream(tuple(columns), rows)

    def _stream(self, columns: tuple[str, ...], rows: int) -> Iterator[Any]:
        query = f"SELECT {', '.join(map(_quoted, columns))} FROM {_quoted(self._table)}"
        try:
            with _connect(self._file) as connection:
                for batch in _reader(connection.sql(query), rows):
                    for start in range(0, batch.num_rows, rows):
                        yield batch.slice(start, rows)
        except Exception:  # noqa: BLE001 - DuckDB, Arrow or the system: the message may hold a value
            pass
        else:
            return
        raise SourceError(UNREADABLE)


def _connect(file: Path) -> Any:
    try:
        return duckdb.connect(str(file), read_only=True)
    except duckdb.Error:
        pass
    raise SourceError(
        f"{file} cannot be opened as a DuckDB database: check that it is one, and that no other program holds it"
    )


def _table(connection: Any, file: Path, table: str | None) -> str:
    query = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() ORDER BY 1"
    names = [name for (name,) in connection.execute(query).fetchall()]
    if table is None and len(names) == 1:
        return str(names[0])
    if table is None:
        raise SourceError(f"{file} has several tables, or none: name one with --table (table= in Python); it has: "
                          f"{listed(names) or 'none'}")  # fmt: skip
    if table not in names:
        raise SourceError(f"{file} has no table {table}; it has: {listed(names)}")
    return table


def _describe(connection: Any, table: str, file: Path) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """Names and DuckDB types of a table's columns, and their Arrow types."""
    try:
        relation = connection.sql(f"SELECT * FROM {_quoted(table)} LIMIT 0")
        described = [(str(name), _type(str(kind))) for name, kind in zip(relation.columns, relation.types, strict=True)]
        schema = _reader(relation, 1).schema
    except duckdb.Error:
        pass
    else:
        return described, {field.name: field.type for field in schema}
    raise SourceError(f"table {table} in {file} cannot be read: check the view or the file behind it")


def _reader(relation: Any, rows: int) -> Any:
    """A stream of record batches, by the name that the installed DuckDB has for it."""
    open_reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
    return open_reader(rows)


def _type(text: str) -> str:
    """A type's name. An enumeration's text lists its values, which DuckDB may have collected from rows."""
    return text.split("(", maxsplit=1)[0] if "ENUM(" in text else text


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
