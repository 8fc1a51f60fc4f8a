"""The ordered attributes of a dataset, and the sizes of the tables over them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cuboid.errors import SchemaError, WorkloadError, listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cuboid.domain.attribute import Attribute
    from cuboid.domain.cuboid_set import Cuboid


@dataclass(frozen=True)
class Domain:
    """Ordered attributes; a cuboid is a subset of their positions."""

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        if not self.attributes:
            raise SchemaError("the schema declares no attribute: add at least one [attribute.NAME]")
        seen: dict[str, str] = {}
        for attribute in self.attributes:
            for name in (attribute.name, *attribute.levels):
                if name.casefold() in seen:
                    raise SchemaError(f"attribute names {seen[name.casefold()]} and {name} differ at most in case: "
                                      "rename one of them")  # fmt: skip
                seen[name.casefold()] = name

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Attribute names in schema order."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of categories of each attribute."""
        return tuple(attribute.size for attribute in self.attributes)

    def shape(self, cuboid: Cuboid) -> tuple[int, ...]:
        """Shape of a cuboid's table."""
        return tuple(self.sizes[i] for i in cuboid)

    def cells(self, cuboid: Cuboid) -> int:
        """|S|, the number of cells of a cuboid's table."""
        return math.prod(self.shape(cuboid))

    def cuboid(self, names: Iterable[str]) -> Cuboid:
        """The cuboid of the named attributes, in any order."""
        names = tuple(names)
        positions = {name: i for i, name in enumerate(self.names)}
        for name in names:
            if name not in positions:
                raise self._unknown(name)
        if len(set(names)) != len(names):
            raise WorkloadError(f"table [{' '.join(names)}] names an attribute twice: name each once")
        return tuple(sorted(positions[name] for name in names))

    def named(self, cuboid: Cuboid) -> tuple[str, ...]:
        """Attribute names of a cuboid."""
        return tuple(self.names[i] for i in cuboid)

    def _unknown(self, name: str) -> WorkloadError:
        for attribute in self.attributes:
            if name in attribute.levels:
                return WorkloadError(f"{name} is a level of {attribute.name}; tables by level are a later capability: "
                                     f"ask for {attribute.name}")  # fmt: skip
        return WorkloadError(f"there is no attribute {name}; the schema has: {listed(self.names)}")
