"""SQL on a release, and on nothing else: the tables are loaded first, then the engine is locked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cuboid.bundle.measured import as_arrow
from cuboid.bundle.table import COLUMNS
from cuboid.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from cuboid.bundle.content import Content
    from cuboid.bundle.table import ReleasedTable

EVERYTHING = "(all)"
_OWN = ("cells", "rows", "measurements")
_LOCKS = (
    "SET enable_external_access = false",
    "SET python_enable_replacements = false",
    "SET lock_configuration = true",
)


def query(content: Content, sql: str) -> pa.Table:
    """The answer to one SQL statement over views age_sex (one per wanted table), cells and measurements.

    `cells` holds all tables: an attribute that a table lacks says (all), and `grouping` has a bit set for it, the
    first attribute's highest, as SQL's GROUPING does.
    """
    import duckdb

    if not sql.strip():
        raise ParameterError("say what to select, for example: select * from cells where flag = 'ok'")
    with duckdb.connect(":memory:") as engine:
        for name, table in _views(content).items():
            engine.register("incoming", table)
            engine.execute(f"CREATE TABLE {_quoted(name)} AS SELECT * FROM incoming")
            engine.unregister("incoming")
        for lock in _LOCKS:
            engine.execute(lock)
        try:
            statements = engine.extract_statements(sql)
            selects = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN, duckdb.StatementType.MULTI)  # pivot
            if len(statements) != 1 or statements[0].type not in selects:
                raise ParameterError("only one statement that selects can be asked of a release: write one SELECT")
            found = engine.sql(sql).to_arrow_table()
        except duckdb.Error as error:
            raise ParameterError(
                f"the SQL does not run on this release: {str(error).splitlines()[0]}; `show tables` lists the views"
            ) from None
    return found.rename_columns(_distinct(found.column_names))


def _distinct(names: list[str]) -> list[str]:
    """Column names, those that come again with a number behind."""
    found: list[str] = []
    for name in names:
        fresh, number = name, 1
        while fresh in found:
            number += 1
            fresh = f"{name}_{number}"
        found.append(fresh)
    return found


def views(content: Content) -> dict[tuple[str, ...], str]:
    """The view that holds each wanted table."""
    names: dict[tuple[str, ...], str] = {}
    taken = set(_OWN)
    for attributes in content.wanted:
        name = "_".join(attributes) or "total"
        plain, number = name, 1
        while name.casefold() in taken:
            number += 1
            name = f"{plain}_{number}"
        taken.add(name.casefold())
        names[attributes] = name
    return names


def _views(content: Content) -> dict[str, pa.Table]:
    import pyarrow as pa

    names = views(content)
    found: dict[str, Any] = {}
    everything = []
    for table in content.tables():
        found[names[table.attributes]] = table.to_arrow()
        everything.append(_cells(content, table))
    found["cells"] = pa.concat_tables(everything)
    found["measurements"] = as_arrow(content.measurements, content.plan)
    return found


def _cells(content: Content, table: ReleasedTable) -> pa.Table:
    import pyarrow as pa

    own, cells = table.to_arrow(), table.raw.size
    columns: dict[str, Any] = {}
    grouping = 0
    for name in content.schema.domain.names:
        present = name in table.attributes
        grouping = 2 * grouping + (not present)
        columns[name] = own.column(name) if present else pa.repeat(EVERYTHING, cells)
    bits = len(content.schema.domain.names)
    columns["grouping"] = pa.repeat(grouping, cells) if bits < 63 else pa.repeat(format(grouping, f"0{bits}b"), cells)
    for name in COLUMNS:
        columns[name] = own.column(name) if name == "flag" else own.column(name).cast(pa.float64())
    return pa.table(columns)


def _quoted(name: str) -> str:
    return '"' + re.sub('"', '""', name) + '"'
