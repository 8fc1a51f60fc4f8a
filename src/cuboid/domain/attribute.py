"""One axis of a table: a name and a declared, data-independent list of categories."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cuboid.errors import SchemaError, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RESERVED = (
    "count", "raw", "sd", "lo95", "hi95", "count_lo95", "count_hi95", "flag", "grouping", "estimate", "covered",
)  # fmt: skip
DROP = "drop"
MOST_CATEGORIES = 1_000_000
LONGEST_LABEL = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """A named axis. Exactly one of `values` and `bins` is given.

    values   codes as they stand in the data          labels   what is shown instead of them (default: themselves)
    bins     increasing edges, left-closed, the last bin closed
    other, missing   labels of extra categories, appended in that order
    outside  where undeclared values go: a label, or "drop" (default: `other` where declared, else "drop")
    levels   coarser groupings by name: {level: {group: labels in it}}
    public   the values were listed from data, and whoever did so said that they are public
    """

    name: str
    values: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    bins: tuple[float, ...] = ()
    other: str | None = None
    missing: str | None = None
    outside: str = ""
    levels: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    public: bool = False

    def __post_init__(self) -> None:
        _check_name(self.name)
        self._check_text()
        if bool(self.values) == bool(self.bins):
            raise self._wrong("needs either `values` or `bins`", "list its categories, or the edges of its bins")
        if self.bins:
            object.__setattr__(self, "bins", tuple(float(edge) for edge in self.bins))
            self._check_bins()
        elif len(set(map(str.strip, self.values))) != len(self.values):
            raise self._wrong("has the same value twice", "list each value once; text is compared without outer spaces")
        if not self.labels:
            object.__setattr__(self, "labels", bin_labels(self.bins) if self.bins else self.values)
        if len(self.labels) != (len(self.bins) - 1 if self.bins else len(self.values)):
            raise self._wrong("has not one label for each category", "give as many labels as values or bins")
        self._check_categories()
        if not self.outside:
            object.__setattr__(self, "outside", self.other if self.other is not None else DROP)
        elif self.outside != DROP and self.outside not in self.categories:
            raise self._wrong(
                f"sends undeclared values to {self.outside!r}, which is not one of its categories",
                f'say outside = "drop" or one of: {listed(self.categories)}',
            )
        self._check_levels()

    @property
    def categories(self) -> tuple[str, ...]:
        """Labels in order: the declared ones, then `other`, then `missing`."""
        return self.labels + tuple(label for label in (self.other, self.missing) if label is not None)

    @property
    def size(self) -> int:
        """How many categories there are."""
        return len(self.labels) + (self.other is not None) + (self.missing is not None)

    @property
    def drops(self) -> bool:
        """Whether some value would take its row out of every table."""
        return self.outside == DROP

    def position(self, label: str) -> int:
        """Where a category stands."""
        try:
            return self.categories.index(label)
        except ValueError:
            raise SchemaError(
                f"attribute {self.name} has no category {label!r}; it has: {listed(self.categories)}"
            ) from None

    def _wrong(self, rule: str, way_out: str) -> SchemaError:
        return SchemaError(f"attribute {self.name} {rule}: {way_out}")

    def _check_text(self) -> None:
        groups = (name for level in self.levels.values() for name in level)
        texts = (*self.values, *self.labels, self.other or "", self.missing or "", *self.levels, *groups)
        if not all(isinstance(text, str) for text in texts):
            raise self._wrong("has a category that is no text", "write categories in quotes")
        if any(0xD800 <= ord(char) <= 0xDFFF for text in texts for char in text):
            raise self._wrong("has a category that is no Unicode text", "write it in valid UTF-8")

    def _check_bins(self) -> None:
        if len(self.bins) < 2 or not all(math.isfinite(edge) for edge in self.bins):
            raise self._wrong("needs at least two finite bin edges", "for example bins = [0, 18, 65, 120]")
        if any(right <= left for left, right in zip(self.bins, self.bins[1:], strict=False)):
            raise self._wrong("has bin edges that do not increase", "sort them and list each once")

    def _check_categories(self) -> None:
        categories = self.categories
        if len(set(categories)) != len(categories):
            raise self._wrong("has the same category twice", "give each category a label of its own")
        if DROP in categories:
            raise self._wrong(f'has a category called "{DROP}", the word for leaving rows out', "give it another label")
        if any(len(label) > LONGEST_LABEL for label in (*self.values, *categories)):
            raise self._wrong(f"has a category longer than {LONGEST_LABEL:,} characters", "shorten it")
        if len(categories) < 2:
            raise self._wrong("has fewer than two categories", "add the others, or leave the attribute out")
        if len(categories) > MOST_CATEGORIES:
            raise self._wrong(f"has more than {MOST_CATEGORIES:,} categories", "group them, or use bins")

    def _check_levels(self) -> None:
        for level, groups in self.levels.items():
            _check_name(level)
            members = [label for group in groups.values() for label in group]
            known, grouped = set(self.categories), set(members)
            unknown = [label for label in members if label not in known]
            if unknown:
                raise self._wrong(f"has a level {level} with {unknown[0]!r}, which is no category of it",
                                  f"use its labels: {listed(self.categories)}")  # fmt: skip
            if len(grouped) != len(members):
                raise self._wrong(f"has a level {level} that puts a category into two groups", "put each into one")
            absent = [label for label in self.labels if label not in grouped]
            if absent:
                raise self._wrong(f"has a level {level} that leaves out {listed(absent)}", "put each into a group")


def bin_labels(edges: Iterable[float]) -> tuple[str, ...]:
    """Labels of bins: 0-17, 18-64, 65-120 where edges are whole numbers, else [0, 2.5), [2.5, 5]."""
    edges = tuple(map(float, edges))
    pairs = list(itertools.pairwise(edges))
    if all(edge.is_integer() for edge in edges):
        ends = [int(right) - 1 for _, right in pairs[:-1]] + [int(edges[-1])]
        starts = [int(left) for left, _ in pairs]
        return tuple(f"{a}" if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True))
    closers = [")"] * (len(pairs) - 1) + ["]"]
    return tuple(f"[{_number(a)}, {_number(b)}{end}" for (a, b), end in zip(pairs, closers, strict=True))


def _number(edge: float) -> str:
    """An edge in its shortest form that reads back."""
    return str(int(edge)) if edge.is_integer() and abs(edge) < 2**53 else repr(edge)


def _check_name(name: str) -> None:
    if not name or name != name.strip() or any(ord(char) < 32 or 0xD800 <= ord(char) <= 0xDFFF for char in name):
        raise SchemaError(f"attribute name {name!r} is empty or has outer spaces or control characters: rename it")
    if name.casefold() in RESERVED:
        raise SchemaError(f"attribute name {name} is reserved for a column of the release: rename it; "
                          f"reserved are {', '.join(RESERVED)}")  # fmt: skip
