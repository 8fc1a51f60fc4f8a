"""Every exception that Cuboid raises on purpose.

CuboidError
├── InputError (ValueError)     what you gave does not fit; nothing was spent, nothing written      exit 1
│   ├── SchemaError             the schema file, or a schema against a header
│   ├── WorkloadError           the wanted tables
│   ├── ParameterError          a budget, a relation, an option
│   ├── PlanError               a plan, or a strategy that does not fit it
│   ├── SourceError             a source that cannot be opened or has not the declared columns
│   └── BundleError             a release on disk that is missing, incomplete or altered
├── PrivacyError                the budget or its ledger says no                                    exit 3
│   ├── BudgetExceededError
│   ├── UnsupportedRelationError
│   └── LedgerError
└── InternalError               ours to mend                                                        exit 4

A message names the object, the rule and the way out. It is an output like any other: it never holds a data
value, a row number, an exact count or a size that depends on the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "BudgetExceededError",
    "BundleError",
    "CuboidError",
    "CuboidWarning",
    "InputError",
    "InternalError",
    "LedgerError",
    "ParameterError",
    "PlanError",
    "PrivacyError",
    "SchemaError",
    "SourceError",
    "UnsupportedRelationError",
    "WorkloadError",
    "listed",
]


class CuboidError(Exception):
    """Root of all errors raised on purpose."""


class InputError(CuboidError, ValueError):
    """What was given does not fit; nothing was spent and nothing written."""


class SchemaError(InputError):
    """A schema is malformed, or does not fit a header."""


class WorkloadError(InputError):
    """The wanted tables cannot be understood, or are not in the domain."""


class ParameterError(InputError):
    """A budget, relation or option is outside its range."""


class PlanError(InputError):
    """A plan is malformed, or a strategy cannot serve what is asked."""


class SourceError(InputError):
    """A source cannot be opened, or lacks a declared column. Its own message is never passed on."""


class BundleError(InputError):
    """A release on disk is missing, incomplete, altered or in the way."""


class PrivacyError(CuboidError):
    """The privacy budget or its ledger forbids it."""


class BudgetExceededError(PrivacyError):
    """The dataset's remaining budget is smaller than the plan's cost."""


class UnsupportedRelationError(PrivacyError):
    """No proved sensitivity for this pair of queries and relation."""


class LedgerError(PrivacyError):
    """The ledger is altered, unreadable, or speaks of another currency, relation or unit."""


class InternalError(CuboidError):
    """A promise inside Cuboid was broken: please report it."""


class CuboidWarning(UserWarning):
    """Something to know that is no error. Like messages, it never speaks of data."""


def listed(names: Iterable[str], *, most: int = 12) -> str:
    """Names as a message shows them: in order, quoted never, at most a dozen."""
    names = list(names)
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
