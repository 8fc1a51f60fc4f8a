"""Publish tables of counts about people without exposing anyone.

    import cuboid as cb

    schema = cb.Schema.load("schema.toml")
    plan = cb.plan(schema, "all 2-way", epsilon=1)      # no data needed; plan.explain()
    release = cb.release("people.csv", plan)            # release.table("age", "sex").to_pandas()

Names are loaded when they are first used, so importing this costs little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuboid.bundle import Check, Release, ReleasedTable, verify
    from cuboid.domain import Attribute, Domain, Schema
    from cuboid.errors import BudgetExceededError, CuboidError, CuboidWarning, InputError, PrivacyError
    from cuboid.planning import Plan
    from cuboid.privacy.ledger import Ledger
    from cuboid.session import open_release as open  # noqa: A004
    from cuboid.session import plan, recover, release
    from cuboid.workload import Workload

_WHERE = {
    "Attribute": "cuboid.domain",
    "BudgetExceededError": "cuboid.errors",
    "Check": "cuboid.bundle",
    "CuboidError": "cuboid.errors",
    "CuboidWarning": "cuboid.errors",
    "Domain": "cuboid.domain",
    "InputError": "cuboid.errors",
    "Ledger": "cuboid.privacy.ledger",
    "Plan": "cuboid.planning",
    "PrivacyError": "cuboid.errors",
    "Release": "cuboid.bundle",
    "ReleasedTable": "cuboid.bundle",
    "Schema": "cuboid.domain",
    "Workload": "cuboid.workload",
    "open": "cuboid.session",
    "plan": "cuboid.session",
    "recover": "cuboid.session",
    "release": "cuboid.session",
    "verify": "cuboid.bundle",
}

__all__ = [
    "Attribute",
    "BudgetExceededError",
    "Check",
    "CuboidError",
    "CuboidWarning",
    "Domain",
    "InputError",
    "Ledger",
    "Plan",
    "PrivacyError",
    "Release",
    "ReleasedTable",
    "Schema",
    "Workload",
    "open",
    "plan",
    "recover",
    "release",
    "verify",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("cuboid")
    if name not in _WHERE:
        raise AttributeError(f"module 'cuboid' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(_WHERE[name]), "open_release" if name == "open" else name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
