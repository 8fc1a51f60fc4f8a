"""A first schema file for a source: its names and declared types, to be completed by someone who knows the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cuboid.domain import RESERVED, toml
from cuboid.errors import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cuboid.sources.distinct import Distinct
    from cuboid.sources.source import Source

MOST_VALUES = 1_000
_ABOUT = """\
# A schema says which categories each attribute has, before anyone looks at the data: the categories are published,
# so they must not depend on who is in the data. Take them from the codebook or the questionnaire, not from the rows.
"""
_ABOUT_LISTED = """\
# The values below marked `public = true` were listed from the data itself. That is safe only if each of these lists
# is public knowledge whoever is in the data (a codebook would show it too): whoever keeps the mark declares just
# that, and no privacy budget pays for it. Otherwise replace the list by the codebook's, and take the mark out.
"""
_ABOUT_NAMES = """\
# Nothing of the rows is in this file. `cuboid init --public` would list the values it finds, and mark them
# `public = true`: that is a declaration that the list of values is public knowledge whoever is in the data.
"""


def draft_schema(source: Source, *, name: str, public: bool) -> str:
    """A schema file in TOML for a source.

    With `public` the values found in the data are listed, at most 1,000 a column, and marked as public; the result
    is then a schema that every row of the source fits. Otherwise only names and declared types are used: never
    dictionaries or statistics, which would show values.
    """
    usable = dict(_reasons(source))
    weight = next((column for column, reason in usable.items() if column.casefold() == "count" and not reason), None)
    columns = [column for column, reason in usable.items() if reason is None and column != weight]
    found: dict[str, Distinct] = {}
    if public:
        from cuboid.sources.distinct import distinct_values  # loads pyarrow, which names can do without

        found = distinct_values(source, columns, most=MOST_VALUES)
    parts = [_ABOUT + (_ABOUT_LISTED if public else _ABOUT_NAMES), _dataset(name, weight)]
    for column, reason in usable.items():
        if column == weight:
            continue
        if reason is not None:
            parts.append(_commented([f"[attribute.{toml.key(column)}]"], reason))
        elif public:
            parts.append(_listed(column, source.types[column], found[column]))
        else:
            parts.append(_hinted(column, source.types[column]))
    return "\n".join(parts)


def _reasons(source: Source) -> Iterator[tuple[str, str | None]]:
    """Each column, and why it can be no attribute; None where it can."""
    seen: set[str] = set()
    for column in source.header:
        folded = column.casefold()
        if folded in RESERVED and folded != "count":
            yield column, f"left out: the name is reserved for a column of the release ({listed(RESERVED)}); rename it"
        elif folded in seen:
            yield column, "left out: the name differs at most in case from one above; rename it in the data"
        elif column != column.strip() or any(ord(char) < 32 or 0xD800 <= ord(char) <= 0xDFFF for char in column):
            yield column, "left out: the name has outer spaces or control characters; rename it in the data"
        elif column in source.nested:
            yield column, f"left out: its type, {_one_line(source.types[column] or '')}, is no single value; flatten it"
        else:
            yield column, None
        seen.add(folded)


def _dataset(name: str, weight: str | None) -> str:
    lines = [
        "[dataset]",
        f"name = {toml.text(name)}      # stands for the people in the data: the privacy ledger goes by it",
    ]
    if weight is not None:
        lines.append(
            f"count = {toml.text(weight)}      # each row stands for so many people; if not, rename the column"
        )
    return "\n".join([*lines, ""])


def _hinted(column: str, kind: str | None) -> str:
    lines = [f"[attribute.{toml.key(column)}]" + _declared(kind)]
    if _is_boolean(kind):
        lines.append('values = ["false", "true"]')
    else:
        lines += ['# values = ["...", "..."]', "# bins = [0, 18, 65]"]
    return "\n".join([*lines, '# missing = "missing"', ""])


def _listed(column: str, kind: str | None, found: Distinct) -> str:
    header = f"[attribute.{toml.key(column)}]"
    if found.too_many:
        hint = f"left out: it has more than {MOST_VALUES:,} values; give it bins, or group its values"
        return _commented([header + _declared(kind), "bins = [0, 18, 65]"], hint)
    values = ["false", "true"] if _is_boolean(kind) else found.ordered()
    if not values:
        return _commented([header + _declared(kind)], "left out: it holds no value")
    entries: dict[str, Any] = {"values": values}
    if len(values) + found.null < 2:  # an attribute has two categories at least
        entries["other"] = _unlike("other", values)
    if found.null:
        entries["missing"] = _unlike("missing", values)
    entries["public"] = True
    return "\n".join([header + _declared(kind), *toml.lines(entries), ""])


def _declared(kind: str | None) -> str:
    return "" if kind is None else f"      # declared type: {_one_line(kind)}"


def _is_boolean(kind: str | None) -> bool:
    return kind is not None and kind.lower() in ("bool", "boolean")


def _unlike(label: str, values: Iterable[str]) -> str:
    """A label that is none of the values."""
    while label in values:
        label += "_"
    return label


def _commented(lines: Iterable[str], reason: str) -> str:
    return "\n".join([f"# {_one_line(line)}" for line in (*lines, reason)] + [""])


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)
