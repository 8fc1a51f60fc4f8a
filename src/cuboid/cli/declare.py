"""`cuboid init` and `cuboid check`: the schema of a dataset."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from cuboid.cli.options import AsJson, DuckTable, printed
from cuboid.errors import ParameterError

Data = Annotated[
    str, typer.Argument(help="A CSV, Parquet or DuckDB file: its header is read; with --public, its values too.")
]


def init(
    data: Data,
    *,
    output: Annotated[str, typer.Option("-o", "--output", help="The schema file to write; - prints it.")] = "-",
    name: Annotated[str | None, typer.Option(help="The dataset's name; else the file's.")] = None,
    public: Annotated[
        bool,
        typer.Option("--public", help="List the values that occur in the data. Only if which values occur is no "
                     "secret: the schema is published, and a rare value can point at a person."),
    ] = False,
    table: DuckTable = None,
) -> None:  # fmt: skip
    """Write a first schema from a file's header: names, and types where the file declares them.

    Values are never listed from the data, unless you say --public.

    Example: cuboid init people.csv -o schema.toml
    """
    from cuboid.sources import draft_schema, open_source

    target = Path(output)
    if output != "-" and target.exists():
        raise ParameterError(f"{output} exists, and a schema is never overwritten: choose another file, or move it")
    text = draft_schema(open_source(data, table=table), name=name or _stem(data), public=public)
    if output == "-":
        print(text)
        return
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ParameterError(f"cannot write {output}: {error.strerror}; choose another place") from None
    print(f"{output} is written. Next: complete its categories, then `{shlex.join(['cuboid', 'check', output, data])}`")


def check(
    schema: Annotated[str, typer.Argument(help="The schema file.")],
    data: Annotated[str | None, typer.Argument(help="A file whose header to compare it with.")] = None,
    *,
    as_json: AsJson = False,
    table: DuckTable = None,
) -> None:
    """Check a schema, and that a file's header has its columns. No row is read.

    Example: cuboid check schema.toml people.csv
    """
    from cuboid.domain import Schema
    from cuboid.planning import counted

    own = Schema.load(schema)
    unused: list[str] = []
    if data is not None:
        from cuboid.sources import open_source

        header = open_source(data, table=table).header
        own.check_header(header)
        unused = [column for column in header if column not in own.columns]
    attributes = [
        {"name": a.name, "categories": a.size, "outside": a.outside, "public": a.public} for a in own.domain.attributes
    ]
    if as_json:
        print(printed({"dataset": own.name, "attributes": attributes, "unused_columns": unused}))
        return
    print(f"{schema} is a good schema for {own.name}: {counted(len(attributes), 'attribute')}"
          + (f", all in the header of {data}" if data else ""))  # fmt: skip
    for a in own.domain.attributes:
        goes = "its row is dropped" if a.drops else f"goes to {a.outside!r}"
        print(f"  {a.name:<24} {a.size:>7,} categories; any other value: {goes}")
    if unused:
        print(f"  not used: {', '.join(unused)}")


def _stem(data: str) -> str:
    name = Path(data).name
    for ending in (".gz", ".csv", ".tsv", ".txt", ".parquet", ".pq", ".duckdb", ".db"):
        name = name.removesuffix(ending)
    return name or "dataset"
