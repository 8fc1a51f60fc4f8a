"""Release all two-way tables of the bundled Adult census extract, and look at one of them.

Run it with `make demo`. Everything it writes lies in `demo-release/`, its own ledger included, so it never touches
the budget of real data. Run it again and it finds the release it made: the same numbers, and nothing spent.
"""
# ruff: noqa: T201  a demo prints

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import cuboid as cb
from cuboid.privacy import Unit, loss

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "examples" / "data"
PLACE = ROOT / "demo-release"
EPSILON = 1


def main() -> None:
    """Plan, release, show, and say what to do next."""
    plan = cb.plan(DATA / "adult8.toml", "all 2-way", epsilon=EPSILON)
    worst = max(error.half95 for error in plan.predicted.values())
    print(f"All {len(plan.workload.tables)} two-way tables of the Adult census extract, at epsilon {EPSILON}.")
    print(f"The plan, made without data: every cell within about ±{worst:.0f} people, 95 % of the time.\n")

    release = released(plan)
    print("Race by income:\n")
    print_table(release.table("race", "income"))

    where = os.path.relpath(release.folder or PLACE)
    tool = os.path.relpath(Path(sys.executable).with_name("cuboid"))
    print(f"\nThe release lies in {where}; its card.md says in plain words what it protects.")
    print("Next:")
    print(f"  {tool} show {where} education sex")
    print(f"  {tool} verify {where} --ledger {os.path.relpath(PLACE / 'ledger.sqlite')}")


def released(plan: cb.Plan) -> cb.Release:
    """The demo's release: made at the first run, found again at every later one."""
    ledger = cb.Ledger.at(PLACE / "ledger.sqlite")
    if plan.schema.name not in ledger.names():
        ledger.open_account(plan.schema.name, loss=loss(epsilon=EPSILON), unit=Unit())
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", cb.CuboidWarning)
        release = cb.release(DATA / "adult8.csv.gz", plan, out=PLACE / "adult", ledger=ledger.path)
    if any(issubclass(note.category, cb.CuboidWarning) for note in notes):
        print("This release was made before, so here it is again: verified, nothing spent, data not read.\n")
    return release


def print_table(table: cb.ReleasedTable) -> None:
    """A table as text: each cell with its error bar."""
    widths = [max(map(len, (name, *own))) for name, own in zip(table.attributes, table.categories, strict=True)]
    names = (name.ljust(width) for name, width in zip(table.attributes, widths, strict=True))
    print("  ", *names, f"{'people':>9}  {'95 %':>6}  flag")
    for cell in table.cells():
        labels = (str(cell[name]).ljust(width) for name, width in zip(table.attributes, widths, strict=True))
        bar = f"±{table.error.half95:,.0f}"
        print("  ", *labels, f"{cell['raw']:>9,.0f}  {bar:>6}  {cell['flag']}")


if __name__ == "__main__":
    try:
        main()
    except cb.CuboidError as error:
        sys.exit(f"demo: {error}\nTo start afresh, remove the folder {os.path.relpath(PLACE)} (or: make clean).")
