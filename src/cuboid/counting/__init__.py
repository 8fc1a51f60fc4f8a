"""Rows to exact tables. Confidential: what leaves this room is under seal, and only the gate opens it."""

from cuboid.counting.counter import Counter
from cuboid.counting.rows import count_rows
from cuboid.counting.sealed import ExactTables

__all__ = ["Counter", "ExactTables", "count_rows"]
