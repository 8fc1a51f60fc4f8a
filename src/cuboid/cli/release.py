"""`cuboid release` and `cuboid recover`."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated

import typer

from cuboid.cli.options import (
    AsJson,
    BudgetRule,
    Delta,
    DuckTable,
    Epsilon,
    Folder,
    LedgerPath,
    RelationName,
    Rho,
    StrategyName,
    printed,
    warn_if_seeded,
)
from cuboid.planning import counted


def release(
    data: Annotated[str, typer.Argument(help="The rows: a CSV, Parquet or DuckDB file.")],
    *,
    schema: Annotated[str, typer.Option("--schema", help="The schema file.")],
    workload: Annotated[str, typer.Option("--workload", help='The wanted tables, for example "all 2-way".')],
    output: Annotated[
        str,
        typer.Option("-o", "--output", help="The folder to write: new or empty, or one that holds this very release."),
    ],
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    relation: RelationName = "add-remove",
    strategy: StrategyName = "auto",
    budget: BudgetRule = "optimal",
    ledger: LedgerPath = None,
    table: DuckTable = None,
    as_json: AsJson = False,
) -> None:
    """Spend the budget and write every wanted table, with an error bar on each cell, into a folder.

    The same command again gives back the same release, and costs nothing.

    Example: cuboid release people.csv --schema schema.toml --workload "all 2-way" --epsilon 1 -o out/
    """
    from cuboid import session

    plan = session.plan(
        schema, workload, epsilon=epsilon, rho=rho, delta=delta, relation=relation, strategy=strategy, budget=budget
    )  # fmt: skip
    made = session.release(data, plan, out=output, table=table, ledger=ledger, on_step=_step)
    warn_if_seeded(made)
    if as_json:
        document = plan.summary() | {
            "folder": str(made.folder),
            "ledger": {"sequence": made.receipt.sequence, "head": made.receipt.head},
        }
        print(printed(document))
        return
    guarantee = ", ".join(f"{name} = {value}" for name, value in plan.loss.typed().items())
    tables = counted(len(plan.workload.tables), "table")
    print(f"{output}: {tables} of {plan.schema.name} for {guarantee} (ledger entry {made.receipt.sequence}).")
    first = shlex.join(["cuboid", "show", output, *plan.schema.domain.named(plan.workload.cuboids[0])])
    print(f"Read {output}/card.md first. Next: `{first}`")


def recover(folder: Folder, *, as_json: AsJson = False) -> None:
    """Recover a release again from its measurements: free, and without data. Finishes one that was cut off.

    Example: cuboid recover out/
    """
    from cuboid import session

    made = session.recover(folder, on_step=_step)
    warn_if_seeded(made)
    if as_json:
        print(printed({"folder": str(made.folder), "tables": len(made.plan.workload.tables)}))
        return
    tables = counted(len(made.plan.workload.tables), "table")
    print(f"{folder}: {tables} recovered from the measurements; nothing was spent.")


def _step(name: str) -> None:
    """Steps are those of the plan, not of the data, and are shown to people only."""
    if sys.stderr.isatty():
        print(f"  {name} ...", file=sys.stderr)
