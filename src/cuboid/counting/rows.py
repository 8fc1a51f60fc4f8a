"""From a source of rows to exact tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuboid.counting.counter import Counter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cuboid.counting.sealed import ExactTables
    from cuboid.domain import Cuboid, Schema
    from cuboid.sources.source import Source


def count_rows(source: Source, schema: Schema, cuboids: Iterable[Cuboid], *, rows: int = 131_072) -> ExactTables:
    """Exact tables of some cuboids, in one pass over a source. Memory is bounded by the tables and one batch.

    Raises:
        SchemaError: the source lacks a declared column.
        SourceError: the source cannot be read; its own message is not passed on.
    """
    from cuboid.sources.encode import Encoder  # loads pyarrow, which planning and help can do without

    schema.check_header(source.header)
    encoder = Encoder(schema)
    counter = Counter(schema.domain.sizes, cuboids, weighted=schema.count is not None)
    for batch in source.batches(encoder.columns, rows=rows):
        encoded = encoder(batch)
        counter.add(encoded.codes, encoded.weights)
    return counter.tables()
