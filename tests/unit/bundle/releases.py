"""Tiny releases to look at: schemas in a line, rows in memory, a ledger of their own."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import cuboid
from cuboid.domain import toml
from cuboid.errors import CuboidWarning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cuboid import Plan, Release, Schema

ATTRIBUTES = {"age": ["young", "old"], "sex": ["f", "m"], "town": ["Ada", "Bath", "Cary"]}
ROWS = {
    "age": ["young", "old", "old", "old", "young", "old"] * 20,
    "sex": ["f", "m", "f", "f", "m", "f"] * 20,
    "town": ["Ada", "Ada", "Bath", "Ada", "Cary", "Ada"] * 20,
}


def schema(
    attributes: Mapping[str, Sequence[str]] = ATTRIBUTES, *, outside: str | None = None, **dataset: Any
) -> Schema:
    """The schema of attributes given with their values; `outside` "first" sends other values to the first one."""
    lines = ["[dataset]"] + [f"{key} = {toml.value(entry)}" for key, entry in ({"name": "survey"} | dataset).items()]
    for name, values in attributes.items():
        lines += [f"[attribute.{toml.key(name)}]", f"values = {toml.value(list(values))}"]
        lines += [f"outside = {toml.value(values[0])}"] if outside == "first" else []
    return cuboid.Schema.from_toml("\n".join(lines))


def released(plan: Plan, home: Path, *, rows: Any = None, out: str | None = "out", **options: Any) -> Release:
    """The release of the rows under a plan, in a folder of `home`, with the ledger there; its notes are not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CuboidWarning)
        return cuboid.release(
            ROWS if rows is None else rows,
            plan,
            out=None if out is None else home / out,
            ledger=home / "ledger.sqlite",
            **options,
        )


def files(folder: Path) -> dict[str, bytes]:
    """Every file under a folder, with its content."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def spends(home: Path) -> int:
    """How many entries the ledger in `home` has."""
    ledger = cuboid.Ledger.at(home / "ledger.sqlite")
    return sum(len(ledger.account(name).entries) for name in ledger.names())
