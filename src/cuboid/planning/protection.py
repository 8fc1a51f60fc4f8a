"""Whether a schema fits the unit of protection it is to be released under."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuboid.errors import SchemaError
from cuboid.privacy import Relation

if TYPE_CHECKING:
    from cuboid.domain import Schema
    from cuboid.privacy import Unit


def refuse_misfit(schema: Schema, unit: Unit) -> None:
    """Raise SchemaError where rows could be dropped although their number is public, or max_rows differ."""
    if unit.max_rows != schema.max_rows:
        raise SchemaError(f"the plan counts on {unit.max_rows} rows a person, and the schema of {schema.name} on "
                          f"{schema.max_rows}: plan again with this schema")  # fmt: skip
    dropping = next((attribute.name for attribute in schema.domain.attributes if attribute.drops), None)
    if unit.relation is Relation.REPLACE and dropping is not None:
        raise SchemaError(f"under replace the number of rows is public, so no row may be dropped, but {dropping} drops "
                          'rows with undeclared values: declare other = "..." or outside = "<a category>" for it, or '
                          "use add-remove")  # fmt: skip
