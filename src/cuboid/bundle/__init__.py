"""The release on disk and in memory: write, read, verify, query. Reads bundles only, never data."""

from cuboid.bundle.card import NOT_PRIVATE, card, odds, statement
from cuboid.bundle.checks import Check, verify
from cuboid.bundle.content import Content
from cuboid.bundle.measured import SEEDED
from cuboid.bundle.read import finished, plan_of, read
from cuboid.bundle.release import Release
from cuboid.bundle.table import COLUMNS, FLAGS, ReleasedTable, aligned, in_columns
from cuboid.bundle.table_file import to_csv
from cuboid.bundle.write import claim, finish, keep

__all__ = [
    "COLUMNS",
    "FLAGS",
    "NOT_PRIVATE",
    "SEEDED",
    "Check",
    "Content",
    "Release",
    "ReleasedTable",
    "aligned",
    "card",
    "claim",
    "finish",
    "finished",
    "in_columns",
    "keep",
    "odds",
    "plan_of",
    "read",
    "statement",
    "to_csv",
    "verify",
]
