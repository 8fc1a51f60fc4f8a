"""Options that several commands share."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Annotated

import typer

from cuboid.errors import CuboidWarning

if TYPE_CHECKING:
    from cuboid.bundle import Release

Epsilon = Annotated[str | None, typer.Option(help="Budget: epsilon, alone or with --delta.", show_default=False)]
Rho = Annotated[str | None, typer.Option(help="Budget: rho of zero-concentrated privacy.", show_default=False)]
Delta = Annotated[str | None, typer.Option(help="With --epsilon: the delta.", show_default=False)]
RelationName = Annotated[str, typer.Option("--relation", help="Neighbours: add-remove or replace.")]
StrategyName = Annotated[str, typer.Option("--strategy", help="auto, identity, direct or residual.")]
BudgetRule = Annotated[str, typer.Option("--budget", help="How to split it: optimal or uniform.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
LedgerPath = Annotated[
    str | None,
    typer.Option("--ledger", metavar="PATH", help="The ledger's file; else $CUBOID_LEDGER, else your state folder."),
]
DuckTable = Annotated[str | None, typer.Option("--table", help="The table's name, for a DuckDB file.")]
Folder = Annotated[str, typer.Argument(metavar="RELEASE", help="The folder of a release.", show_default=False)]


def warn_if_seeded(release: Release) -> None:
    """Say on the side that a release is not private."""
    from cuboid.bundle import NOT_PRIVATE

    if not release.private:
        warnings.warn(NOT_PRIVATE, CuboidWarning, stacklevel=2)


def printed(document: object) -> str:
    """A document as the JSON that --json prints. JSON has no NaN and no infinity: they are null."""
    import json

    return json.dumps(_finite(document), ensure_ascii=False, indent=1, default=str, allow_nan=False)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(name): _finite(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return value
