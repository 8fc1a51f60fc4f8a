"""`cuboid plan`: what a release would cost and how far off it would be, before any data are touched."""

from __future__ import annotations

from typing import Annotated

import typer

from cuboid.cli.options import AsJson, BudgetRule, Delta, Epsilon, RelationName, Rho, StrategyName, printed


def plan(
    schema: Annotated[str, typer.Argument(help="The schema file.")],
    workload: Annotated[str, typer.Argument(help='The wanted tables: "all 2-way", "[age sex][sex region]", ...')],
    *,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    relation: RelationName = "add-remove",
    strategy: StrategyName = "auto",
    budget: BudgetRule = "optimal",
    as_json: AsJson = False,
) -> None:
    """Show cost, strategy and the predicted error of every table. Needs no data and spends nothing.

    Example: cuboid plan schema.toml "all 2-way" --epsilon 1
    """
    from cuboid import session

    made = session.plan(
        schema, workload, epsilon=epsilon, rho=rho, delta=delta, relation=relation, strategy=strategy, budget=budget
    )  # fmt: skip
    print(printed(made.summary()) if as_json else made.explain())
