"""The schema: what a curator declares about a dataset, without looking at it."""

from __future__ import annotations

import math
import tomllib
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuboid.domain.attribute import DROP, Attribute, bin_labels
from cuboid.domain.domain import Domain
from cuboid.domain.toml import key, section
from cuboid.errors import SchemaError, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_DATASET_KEYS = ("name", "unit", "max_rows", "max_people", "count", "impossible")
_ATTRIBUTE_KEYS = ("values", "labels", "bins", "other", "missing", "outside", "levels", "public")
_TEXT_KEYS = ("other", "missing", "outside")


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """A dataset's name, its attributes, and who one person is in it.

    unit         column that identifies a person, of whom at most `max_rows` rows count
    max_people   how many people there are at most: for the memory forecast
    count        column that says how many people a row stands for
    impossible   combinations of categories that cannot occur, as public knowledge: ((attribute, label), ...) each
    """

    name: str
    domain: Domain
    unit: str | None = None
    max_rows: int = 1
    max_people: int | None = None
    count: str | None = None
    impossible: tuple[tuple[tuple[str, str], ...], ...] = ()

    def __post_init__(self) -> None:
        plain = self.name == unicodedata.normalize("NFC", self.name).strip() and self.name.isprintable()
        if not self.name or not plain:
            raise SchemaError("[dataset] needs a name, in printable text without outer spaces: it stands for the "
                              "people in the data, and the privacy ledger keeps their account under it")  # fmt: skip
        for what, number in (("max_rows", self.max_rows), ("max_people", self.max_people)):
            if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
                raise SchemaError(f"[dataset] {what} must be a whole number of at least 1")
        if self.max_rows > 1 and self.unit is None:
            raise SchemaError("[dataset] max_rows needs `unit`, the column that identifies a person: "
                              "without it nothing can hold a person to that many rows")  # fmt: skip
        for what, column in (("unit", self.unit), ("count", self.count)):
            if column is not None and column in self.domain.names:
                raise SchemaError(f"[dataset] {what} names {column}, which is also an attribute: a column is one or "
                                  "the other")  # fmt: skip
        if self.unit is not None and self.count is not None:
            raise SchemaError("[dataset] has both `unit` and `count`: rows are either people's or cells")
        object.__setattr__(self, "impossible", tuple(self._combination(entry) for entry in self.impossible))

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that a source must have."""
        return self.domain.names + tuple(column for column in (self.unit, self.count) if column is not None)

    def check_header(self, header: Iterable[str]) -> None:
        """Raise SchemaError, naming every declared column that a header lacks."""
        header = tuple(header)
        absent = [column for column in self.columns if column not in header]
        if not absent:
            return
        folded = {name.strip().casefold(): name for name in header}
        near = [f"{column} (the file has {folded[column.casefold()]!r})" if column.casefold() in folded else column
                for column in absent]  # fmt: skip
        raise SchemaError(f"the data lack {listed(near)}: use the names of the file's columns in the schema; they are: "
                          f"{listed(header)}")  # fmt: skip

    def _combination(self, entry: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        cells = []
        for name, label in sorted(dict(entry).items(), key=lambda cell: cell[0]):
            if name not in self.domain.names:
                raise SchemaError(f"[dataset] impossible names {name}, which is no attribute; the schema has: "
                                  f"{listed(self.domain.names)}")  # fmt: skip
            attribute = self.domain.attributes[self.domain.names.index(name)]
            if label not in attribute.categories and label in attribute.values:
                label = attribute.labels[attribute.values.index(label)]
            attribute.position(label)
            cells.append((name, label))
        if not cells:
            raise SchemaError("[dataset] impossible has an empty combination: name at least one attribute")
        return tuple(cells)

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """The schema in a TOML file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError:
            raise SchemaError(f"cannot read the schema {path}: write one with `cuboid init DATA -o {path}`") from None
        except UnicodeDecodeError:
            raise SchemaError(f"the schema {path} is not UTF-8 text: save it as UTF-8") from None
        return cls.from_toml(text, name=str(path))

    @classmethod
    def from_toml(cls, text: str, *, name: str = "the text") -> Schema:
        """The schema that a TOML text declares; messages call the text by its name."""
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SchemaError(f"{name} is no schema, as it is not valid TOML ({error}): write one with `cuboid init`, "
                              "or name the schema where you named the data") from None  # fmt: skip
        except (ValueError, RecursionError):
            raise SchemaError(f"{name} has a number or a nesting beyond all measure: write it plainly") from None
        _known(document, ("dataset", "attribute"), "the schema")
        dataset, attributes = _table(document, "dataset"), _table(document, "attribute")
        _known(dataset, _DATASET_KEYS, "[dataset]")
        if not isinstance(dataset.get("name"), str):
            raise SchemaError('[dataset] needs a name: add name = "..." to say whose data these are')
        for what in ("unit", "count"):
            if not isinstance(dataset.get(what, ""), str):
                raise SchemaError(f"[dataset] {what} must be the name of a column")
        impossible = dataset.get("impossible", [])
        if not isinstance(impossible, list) or not all(isinstance(entry, dict) for entry in impossible):
            raise SchemaError('[dataset] impossible must be a list like [{sex = "male", pregnant = "yes"}]')
        return cls(
            name=dataset["name"],
            domain=Domain(tuple(_attribute(name, _table(attributes, name)) for name in attributes)),
            unit=dataset.get("unit"),
            max_rows=dataset.get("max_rows", 1),
            max_people=dataset.get("max_people"),
            count=dataset.get("count"),
            impossible=tuple(tuple((str(k), _scalar(v)) for k, v in entry.items()) for entry in impossible),
        )

    def to_toml(self) -> str:
        """The schema as TOML; reading it gives an equal schema."""
        dataset: dict[str, Any] = {"name": self.name}
        if self.unit is not None:
            dataset |= {"unit": self.unit, "max_rows": self.max_rows}
        if self.max_people is not None:
            dataset["max_people"] = self.max_people
        if self.count is not None:
            dataset["count"] = self.count
        if self.impossible:
            dataset["impossible"] = [dict(entry) for entry in self.impossible]
        attributes = (
            section(f"attribute.{key(attribute.name)}", _entries(attribute)) for attribute in self.domain.attributes
        )
        return "\n".join([section("dataset", dataset), *attributes])

    def save(self, path: str | Path) -> None:
        """Write the schema as TOML."""
        Path(path).write_text(self.to_toml(), encoding="utf-8")


def _entries(attribute: Attribute) -> dict[str, Any]:
    entries: dict[str, Any] = {"bins": attribute.bins} if attribute.bins else {"values": attribute.values}
    if attribute.labels != (bin_labels(attribute.bins) if attribute.bins else attribute.values):
        entries["labels"] = attribute.labels
    for what in ("other", "missing"):
        if getattr(attribute, what) is not None:
            entries[what] = getattr(attribute, what)
    if attribute.outside != (attribute.other if attribute.other is not None else DROP):
        entries["outside"] = attribute.outside
    if attribute.levels:
        entries["levels"] = {level: dict(groups) for level, groups in attribute.levels.items()}
    if attribute.public:
        entries["public"] = True
    return entries


def _attribute(name: str, entries: Mapping[str, Any]) -> Attribute:
    where = f"[attribute.{key(name)}]"
    _known(entries, _ATTRIBUTE_KEYS, where)
    for what in ("values", "labels", "bins"):
        if not isinstance(entries.get(what, []), list):
            raise SchemaError(f"{where} {what} must be a list")
    bins = entries.get("bins", [])
    if any(isinstance(edge, bool) or not isinstance(edge, int | float) for edge in bins):
        raise SchemaError(f"{where} bins must be numbers: the edges, in increasing order")
    for what in _TEXT_KEYS:
        if not isinstance(entries.get(what, ""), str):
            raise SchemaError(f'{where} {what} must be a label in quotes, like {what} = "unknown"')
    if not isinstance(entries.get("public", False), bool):
        raise SchemaError(f"{where} public must be true or false")
    return Attribute(
        name=name,
        values=tuple(_scalar(entry) for entry in entries.get("values", [])),
        labels=tuple(_scalar(entry) for entry in entries.get("labels", [])),
        bins=tuple(map(_edge, bins)),
        other=entries.get("other"),
        missing=entries.get("missing"),
        outside=entries.get("outside", ""),
        levels=_levels(where, entries.get("levels", {})),
        public=entries.get("public", False),
    )


def _edge(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf  # refused with the other edges that are not finite


def _levels(where: str, levels: Any) -> dict[str, dict[str, tuple[str, ...]]]:
    shape = f'{where} levels must look like {{ state = {{ North = ["Ada", "Bath"], South = ["Cary"] }} }}'
    if not isinstance(levels, dict) or not all(isinstance(groups, dict) for groups in levels.values()):
        raise SchemaError(shape)
    if not all(isinstance(members, list) for groups in levels.values() for members in groups.values()):
        raise SchemaError(shape)
    return {level: {group: tuple(_scalar(member) for member in members) for group, members in groups.items()}
            for level, groups in levels.items()}  # fmt: skip


def _scalar(entry: Any) -> str:
    """A category as text: 1 and "1" are the same category, and TOML has both."""
    if isinstance(entry, bool):
        return "true" if entry else "false"
    if isinstance(entry, list | dict):
        raise SchemaError("the schema has a list or table where a category should be: write categories as text")
    return str(entry)


def _table(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    entry = document.get(name, {})
    if not isinstance(entry, dict):
        raise SchemaError(f"the schema's {name} must be a table, with a line [{name}] or [attribute.{name}] above it")
    return entry


def _known(entries: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    unknown = [name for name in entries if name not in known]
    if unknown:
        raise SchemaError(f"{where} has an unknown entry {listed(unknown)}; it may have: {', '.join(known)}")
