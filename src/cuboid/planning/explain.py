"""A plan's summary in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_LISTED = 40
_MECHANISM = {
    "pure": "discrete Laplace noise, pure epsilon",
    "gaussian": "Gaussian noise, exact mu^2 accounting",
}
_RELATION = {
    "add-remove": "whether a person is in the data",
    "replace": "what a person's data say (how many rows there are is public)",
}


def counted(number: int, what: str) -> str:
    """A number of things: 1 table, 28 tables, 3 queries."""
    many = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{number:,} {what if number == 1 else many}"


def people(number: float) -> str:
    """A number of people as a reader wants it: three figures, no exponent."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def explain(summary: Mapping[str, Any]) -> str:
    """What is asked, what it costs, how far off each table will be, and what else was tried."""
    cost = summary["cost"]
    guarantee = ", ".join(f"{name} = {cost[name]}" for name in ("epsilon", "delta", "rho") if name in cost)
    rows = "" if cost["max_rows"] == 1 else f", up to {cost['max_rows']} rows a person"
    tables = summary["tables"]
    lines = [
        f"Plan for {summary['dataset']}: {counted(len(tables), 'table')}, "
        f"{counted(sum(table['cells'] for table in tables), 'cell')}",
        f"  wanted     {summary['wanted']}",
        f"  privacy    {guarantee} ({_MECHANISM[cost['mechanism']]})",
        f"  protects   {_RELATION[cost['relation']]}{rows}",
        f"  strategy   {summary['strategy']}, {summary['budget']} budget",
        f"  error      about ±{people(_typical(tables))} people in a typical cell, 95 % of the time",
        f"  memory     about {summary['memory_bytes'] / 1e6:,.0f} MB",
        "",
        f"  {'±95 %':>9}  {'sd':>9}  {'cells':>9}  table",
    ]
    lines += [
        f"  {people(table['half95']):>9}  {people(table['sd']):>9}  {table['cells']:>9,}  "
        f"[{' '.join(table['attributes'])}]"
        for table in tables[:MOST_LISTED]
    ]
    if len(tables) > MOST_LISTED:
        lines.append(f"  ... and {len(tables) - MOST_LISTED} more (all of them with --json)")
    if summary["rejected"]:
        lines += ["", "  not chosen"]
        lines += [f"    {other['strategy']:<10} {other['reason']}" for other in summary["rejected"]]
    return "\n".join(lines)


def _typical(tables: Sequence[Mapping[str, Any]]) -> float:
    """Root mean square of the cells' half-widths."""
    cells = sum(table["cells"] for table in tables)
    return math.sqrt(sum(table["cells"] * table["half95"] ** 2 for table in tables) / cells)
