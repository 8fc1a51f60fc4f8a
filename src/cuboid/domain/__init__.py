"""Attributes, domains, sets of cuboids, and the schema file. Knows nothing of data."""

from cuboid.domain.attribute import DROP, RESERVED, Attribute, bin_labels
from cuboid.domain.cuboid_set import Cuboid, by_order, closure, maximal, subsets
from cuboid.domain.domain import Domain
from cuboid.domain.schema import Schema

__all__ = [
    "DROP",
    "RESERVED",
    "Attribute",
    "Cuboid",
    "Domain",
    "Schema",
    "bin_labels",
    "by_order",
    "closure",
    "maximal",
    "subsets",
]
