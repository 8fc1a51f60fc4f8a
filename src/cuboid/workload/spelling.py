"""A workload printed: as brackets always, and as each other spelling that can express it."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

from cuboid.domain import maximal, subsets
from cuboid.workload.scanner import LANGUAGE, is_bare

if TYPE_CHECKING:
    from cuboid.domain import Cuboid
    from cuboid.workload.workload import Workload


def brackets(workload: Workload) -> str:
    """[A B][B C], with weights where they are not 1."""
    return "".join(
        (" " if weight != 1 and place else "") + (f"{weight}*" if weight != 1 else "") + _bracket(workload, cuboid)
        for place, (cuboid, weight) in enumerate(workload.tables)
    )


def spellings(workload: Workload) -> dict[str, str]:
    """The workload in each spelling that can express it: brackets, all, formula, sql."""
    found = {"brackets": brackets(workload)}
    if workload.weighted:
        return found
    orders = sorted({len(cuboid) for cuboid in workload.cuboids})
    low, high, attributes = orders[0], orders[-1], len(workload.domain.attributes)
    if len(workload.tables) == sum(comb(attributes, k) for k in range(low, high + 1)):
        found["all"] = f"all {low}-way" if low == high else f"all {low}..{high}-way"
    found["formula"] = " + ".join(":".join(_names(workload, cuboid)) or "1" for cuboid in workload.cuboids)
    found["sql"] = _sql(workload)
    return found


def in_short(workload: Workload, most: int = 12) -> str:
    """The workload for a reader: as `all k-way` where that says it, else the first dozen brackets."""
    whole = spellings(workload).get("all")
    if whole is not None:
        return whole
    first = type(workload)(workload.domain, workload.tables[:most])
    more = len(workload.tables) - most
    return brackets(first) + (f" and {more} more" if more > 0 else "")


def _sql(workload: Workload) -> str:
    top = maximal(workload.cuboids)
    if len(top) == 1 and top[0] and len(workload.tables) == sum(1 for _ in subsets(top[0])):
        return f"CUBE({', '.join(_names(workload, top[0]))})"
    return "GROUPING SETS (" + ", ".join(f"({', '.join(_names(workload, c))})" for c in workload.cuboids) + ")"


def _bracket(workload: Workload, cuboid: Cuboid) -> str:
    return f"[{' '.join(_names(workload, cuboid))}]"


def _names(workload: Workload, cuboid: Cuboid) -> list[str]:
    return [quoted(name) for name in workload.domain.named(cuboid)]


def quoted(name: str) -> str:
    """A name as the language reads it back: bare where no word of the language or other name could claim it."""
    if is_bare(name) and name.casefold() not in LANGUAGE:
        return name
    return '"' + name.replace('"', '""') + '"'
