"""`cuboid show`, `query` and `verify`: reading a release. No data, no budget."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuboid.cli.options import AsJson, Folder, LedgerPath, printed, warn_if_seeded

if TYPE_CHECKING:
    from cuboid.bundle import ReleasedTable

_MOST_LINES = 200


def show(
    folder: Folder,
    attributes: Annotated[list[str] | None, typer.Argument(help="The table's attributes; none for the total.")] = None,
    *,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Show a table with its error bars: a released one, or any sub-table of one.

    Example: cuboid show out/ age sex
    """
    from cuboid import session

    release = session.open_release(folder)
    warn_if_seeded(release)
    table = release.table(*(attributes or ()))
    if as_json:
        document = {"attributes": list(table.attributes), "covered": True, "cells": list(table.cells())}
        print(printed(document if release.private else document | {"private": False}))
    elif as_csv:
        from cuboid.bundle import to_csv

        sys.stdout.write(to_csv(table))
    else:
        _print_table(table)


def query(
    folder: Folder,
    sql: Annotated[str, typer.Argument(help="SQL, for example \"select * from cells where flag = 'ok'\".")],
    *,
    as_json: AsJson = False,
) -> None:
    """Run SQL on a release, and on nothing else. Views: age_sex (one per table), cells, measurements.

    Example: cuboid query out/ "select sex, sum(raw) from age_sex group by sex"
    """
    from cuboid import session

    release = session.open_release(folder)
    warn_if_seeded(release)
    answer = release.query(sql)
    if as_json:
        print(printed({"columns": answer.column_names, "rows": answer.to_pylist()}))
        return
    rows = [[_cell(value) for value in row.values()] for row in answer.slice(0, _MOST_LINES).to_pylist()]
    _print_columns(answer.column_names, rows, len(answer.column_names) * [False])
    if answer.num_rows > _MOST_LINES:
        print(f"... and {answer.num_rows - _MOST_LINES:,} more rows (all of them with --json)")


def verify(folder: Folder, *, ledger: LedgerPath = None, as_json: AsJson = False) -> None:
    """Recompute a release from its measurements, and check files, guarantee, tables, margins and ledger.

    Example: cuboid verify out/
    """
    from cuboid import bundle
    from cuboid.privacy.ledger import Ledger

    book = Ledger.at(ledger)
    known = ledger is not None or bundle.plan_of(Path(folder)).schema.name in book.names()
    checks = bundle.verify(folder, book if known else None)
    if as_json:
        found = [{"check": own.name, "passed": own.passed, "detail": own.detail} for own in checks]
        print(printed({"passed": all(own.passed is not False for own in checks), "checks": found}))
    else:
        for own in checks:
            mark = {True: "ok", False: "FAILED", None: "-"}[own.passed]
            print(f"{mark:<7} {own.name:<13} {own.detail}")
    if any(own.passed is False for own in checks):
        raise typer.Exit(1)


def _print_table(table: ReleasedTable) -> None:
    rows: list[list[str]] = []
    for cell in table.cells():
        if len(rows) == _MOST_LINES:
            break
        labels = [str(cell[name]) for name in table.attributes]
        numbers = [f"{cell[name]:,.1f}" for name in ("raw", "lo95", "hi95")]
        rows.append([*labels, numbers[0], f"±{table.error.half95:,.1f}", *numbers[1:], cell["flag"]])
    header = [*table.attributes, "raw", "95 %", "lo95", "hi95", "flag"]
    _print_columns(header, rows, [False] * len(table.attributes) + [True] * 4 + [False])
    if table.raw.size > _MOST_LINES:
        print(f"... and {table.raw.size - _MOST_LINES:,} more cells (all of them with --csv or --json)")


def _print_columns(header: list[str], rows: list[list[str]], right: list[bool]) -> None:
    """Columns in line, as text that pipes well; characters that could drive a terminal are shown as spaces."""
    header, rows = [_inert(name) for name in header], [[_inert(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, ["-" * width for width in widths], *rows):
        cells = (
            value.rjust(width) if to_right else value.ljust(width)
            for value, width, to_right in zip(row, widths, right, strict=True)
        )
        print("  ".join(cells).rstrip())


def _inert(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


def _cell(value: Any) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else str(value)
