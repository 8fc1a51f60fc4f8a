"""`cuboid show`, `query` and `verify`: reading a release. No data, no budget."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cuboid.cli.options import AsJson, Folder, LedgerPath, printed, warn_if_seeded
from cuboid.errors import ParameterError

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
    from cuboid import bundle, session

    if as_json and as_csv:
        raise ParameterError("--json and --csv are two forms of the same table: choose one")
    release = session.open_release(folder)
    warn_if_seeded(release)
    table = release.table(*(attributes or ()))
    if as_json:
        document = {"attributes": list(table.attributes), "covered": True, "cells": list(table.cells())}
        print(printed(document if release.private else document | {"private": False}))
    elif as_csv:
        sys.stdout.write(bundle.to_csv(table))
    else:
        print("\n".join(bundle.in_columns(table, _MOST_LINES)))
        if table.raw.size > _MOST_LINES:
            print(f"... and {table.raw.size - _MOST_LINES:,} more cells (all of them with --csv or --json)")


def query(
    folder: Folder,
    sql: Annotated[str, typer.Argument(help="SQL, for example \"select * from cells where flag = 'ok'\".")],
    *,
    as_json: AsJson = False,
) -> None:
    """Run SQL on a release, and on nothing else. Views: age_sex (one per table), cells, measurements.

    Example: cuboid query out/ "select sex, sum(raw) from age_sex group by sex"
    """
    from cuboid import bundle, session

    release = session.open_release(folder)
    warn_if_seeded(release)
    answer = release.query(sql)
    if as_json:
        print(printed({"columns": answer.column_names, "rows": answer.to_pylist()}))
        return
    rows = [[_cell(value) for value in row.values()] for row in answer.slice(0, _MOST_LINES).to_pylist()]
    print("\n".join(bundle.aligned(answer.column_names, rows, len(answer.column_names) * [False])))
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


def _cell(value: Any) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else str(value)
