"""Who is protected: which pairs of datasets count as neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cuboid.errors import ParameterError


class Relation(StrEnum):
    """How one person's data may differ between neighbours."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"

    @classmethod
    def of(cls, name: str) -> Relation:
        """The relation of that name."""
        try:
            return cls(name)
        except ValueError:
            raise ParameterError(f"there is no relation {name!r}; choose add-remove or replace") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One person, who owns at most `max_rows` rows.

    add-remove   all rows of one person come or go
    replace      all rows of one person change; the number of rows is public, hence exact
    """

    relation: Relation = Relation.ADD_REMOVE
    max_rows: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Relation.of(self.relation))
        if isinstance(self.max_rows, bool) or not isinstance(self.max_rows, int) or self.max_rows < 1:
            raise ParameterError("max_rows must be a whole number of at least 1")

    @property
    def total_is_public(self) -> bool:
        """Whether the number of rows is known to everybody, and so neither protected nor paid for."""
        return self.relation is Relation.REPLACE
