"""Schema files written and read back, for all names, labels, bins and levels."""

from __future__ import annotations

import contextlib
import tomllib
from typing import Any

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from cuboid.domain import RESERVED, Attribute, Domain, Schema, toml
from cuboid.errors import SchemaError

quiet = settings(max_examples=150, deadline=None, derandomize=True)
unicode = st.characters(exclude_categories=["Cs"])
labels = st.text(unicode, max_size=8) | st.sampled_from(
    ["\x7f", "\x00\x1f", 'a"b', "\\", "\\u0041", "'", '"""', "\r\n", "é\u0301", "𝔸"]
)
names = (
    st.text(st.characters(exclude_categories=["Cs"], min_codepoint=32), min_size=1, max_size=8)
    .map(str.strip)
    .filter(lambda name: name != "" and name.casefold() not in RESERVED)
)
edges = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6).map(float)


@st.composite
def attributes(draw: Any, name: str) -> Attribute:
    """Any attribute of values or bins: labels, other, missing, outside, levels, public."""
    declared: dict[str, Any] = {"name": name}
    if draw(st.booleans()):
        found = draw(st.lists(labels, min_size=1, max_size=5, unique_by=str.strip))
        declared["values"] = tuple(found)
        count = len(found)
    else:
        declared["bins"] = tuple(sorted(draw(st.lists(edges, min_size=2, max_size=6, unique=True))))
        count = len(declared["bins"]) - 1
    if draw(st.booleans()):
        declared["labels"] = tuple(draw(st.lists(labels, min_size=count, max_size=count, unique=True)))
    for what in ("other", "missing"):
        if draw(st.booleans()):
            declared[what] = draw(labels)
    declared["public"] = draw(st.booleans())
    made = _made(declared)
    if draw(st.booleans()):
        declared["outside"] = draw(st.sampled_from([*filter(None, made.categories), "drop"]))
    if draw(st.booleans()):
        groups: dict[str, tuple[str, ...]] = {}
        for label in made.categories:
            group = draw(st.sampled_from(["North", "a b", 'so"uth', "é"]))
            groups[group] = (*groups.get(group, ()), label)
        declared["levels"] = {"level of " + name: groups}
    return _made(declared)


def _made(declared: dict[str, Any]) -> Attribute:
    try:
        return Attribute(**declared)
    except SchemaError:
        assume(False)
        raise


@st.composite
def schemas(draw: Any) -> Schema:
    """Any schema of one to three attributes."""
    found = draw(st.lists(names, min_size=1, max_size=3, unique_by=str.casefold))
    own = tuple(draw(attributes(name)) for name in found)
    optional: dict[str, Any] = draw(
        st.sampled_from(
            [{}, {"unit": 'per"son'}, {"unit": "p", "max_rows": 7}, {"count": "n\\"}, {"max_people": 10**12}]
        )
    )
    first = own[0]
    if draw(st.booleans()):
        optional |= {"impossible": (((first.name, draw(st.sampled_from(first.labels))),),)}
    try:
        domain = Domain(own)
        return Schema(name=draw(st.sampled_from(["x", 'a "b"', "é 3", "back\\slash"])), domain=domain, **optional)
    except SchemaError:
        assume(False)
        raise


@quiet
@given(schemas())
def test_a_schema_file_loses_nothing(schema: Schema) -> None:
    """Reading what was written gives an equal schema, and writing it again the same text."""
    text = schema.to_toml()
    assert Schema.from_toml(text) == schema
    assert Schema.from_toml(text).to_toml() == text


@settings(quiet, max_examples=400)
@given(st.text(unicode, max_size=20))
@example("".join(map(chr, range(256))))
@example("\x7f")
def test_any_text_is_a_toml_string_and_key(value: str) -> None:
    """Quotes, backslashes, control characters and DEL are escaped."""
    assert tomllib.loads(f"x = {toml.text(value)}") == {"x": value}
    assert tomllib.loads(f"{toml.key(value)} = 1") == {value: 1}


plain = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(unicode, max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(unicode, max_size=5), inner, max_size=3),
    max_leaves=8,
)


@quiet
@given(plain)
def test_any_plain_value_is_toml(value: Any) -> None:
    """Booleans, numbers, text, arrays and inline tables, nested."""
    assert tomllib.loads(f"x = {toml.value(value)}") == {"x": value}


@settings(quiet, max_examples=300)
@given(
    st.recursive(
        st.integers(-2, 3) | st.text(max_size=3) | st.booleans(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["values", "bins", "labels", "other", "age", "levels", "name", "unit"]),
                inner,
                max_size=3,
            )
        ),
        max_leaves=10,
    )
)
def test_any_document_is_a_schema_or_is_refused(entry: Any) -> None:
    """Whatever stands in the file, the answer is a schema or a SchemaError."""
    for text in (
        f'attribute = {toml.value({"age": entry})}\n[dataset]\nname = "x"\n',
        f'dataset = {toml.value(entry)}\n[attribute.age]\nvalues = ["a", "b"]\n',
        f'attribute = {toml.value(entry)}\ndataset = {{name = "x"}}\n',
    ):
        with contextlib.suppress(SchemaError):
            assert Schema.from_toml(text).domain.names == ("age",)
