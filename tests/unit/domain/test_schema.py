"""The schema file: what it may say, and what it answers to what it may not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cuboid.domain import Attribute, Domain, Schema
from cuboid.errors import SchemaError

DESIGN = """
[dataset]
name = "survey-2026"
unit = "person_id"
max_rows = 5
max_people = 1000
impossible = [{sex = "male", pregnant = "yes"}, {sex = "1", age = "0-17"}]

[attribute.age]
bins = [0, 18, 65, 120]
missing = "not stated"

[attribute.sex]
values = ["1", 2]
labels = ["male", "female"]
outside = "drop"

[attribute.pregnant]
values = [true, false, "yes"]
other = "else"
public = true

[attribute.county]
values = ["Ada", "Bath", "Cary"]
levels = { state = { North = ["Ada", "Bath"], South = ["Cary"] } }
"""
DATASET = '[dataset]\nname = "x"\n'
AGE = '[attribute.age]\nvalues = ["a", "b"]\n'


def refused(text: str, match: str) -> None:
    """The text is refused with one or two sentences that fit."""
    with pytest.raises(SchemaError, match=match) as caught:
        Schema.from_toml(text)
    assert "\n" not in str(caught.value)
    assert "Traceback" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_the_whole_of_a_schema_is_read() -> None:
    """Every entry that a schema may have."""
    schema = Schema.from_toml(DESIGN)
    assert (schema.name, schema.unit, schema.max_rows, schema.max_people) == ("survey-2026", "person_id", 5, 1000)
    age, sex, pregnant, county = schema.domain.attributes
    assert age.categories == ("0-17", "18-64", "65-120", "not stated")
    assert (sex.values, sex.labels, sex.outside) == (("1", "2"), ("male", "female"), "drop")
    assert pregnant.values == ("true", "false", "yes")
    assert (pregnant.outside, pregnant.public) == ("else", True)
    assert county.levels == {"state": {"North": ("Ada", "Bath"), "South": ("Cary",)}}
    assert schema.impossible == ((("pregnant", "yes"), ("sex", "male")), (("age", "0-17"), ("sex", "male")))
    assert schema.columns == ("age", "sex", "pregnant", "county", "person_id")


def test_saving_and_loading_changes_nothing(tmp_path: Path) -> None:
    """A schema on disk is the schema."""
    schema = Schema.from_toml(DESIGN)
    schema.save(tmp_path / "schema.toml")
    assert Schema.load(tmp_path / "schema.toml") == schema
    assert Schema.from_toml(schema.to_toml()).to_toml() == schema.to_toml()


@pytest.mark.parametrize("path", sorted((Path(__file__).parents[3] / "examples" / "data").glob("*.toml")), ids=str)
def test_bundled_schemas_come_back_equal(path: Path) -> None:
    """The examples' schemas survive writing and reading."""
    schema = Schema.load(path)
    assert Schema.from_toml(schema.to_toml()) == schema


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("x = y", "is no schema, as it is not valid TOML .*line 1"),
        (AGE, r'\[dataset\] needs a name: add name = "..."'),
        ("[dataset]\nname = 3\n" + AGE, r"\[dataset\] needs a name"),
        ('[dataset]\nname = ""\n' + AGE, r"\[dataset\] needs a name, in printable text"),
        ('[dataset]\nname = "  "\n' + AGE, r"\[dataset\] needs a name"),
        ('[dataset]\nname = "a\\u0007"\n' + AGE, r"\[dataset\] needs a name"),
        (DATASET, "declares no attribute: add at least one"),
        ("dataset = 3\n" + AGE, r"the schema's dataset must be a table, with a line \[dataset\]"),
        ("attribute = 3\n" + DATASET, "the schema's attribute must be a table"),
        (DATASET + "[attribute]\nage = 3\n", r"the schema's age must be a table, with a line .*\[attribute.age\]"),
        (DATASET + AGE + "[more]\n", "the schema has an unknown entry more; it may have: dataset, attribute"),
        (DATASET + "rows = 3\n" + AGE, r"\[dataset\] has an unknown entry rows; it may have: name, unit"),
        (DATASET + AGE + "range = 3\n", r"\[attribute.age\] has an unknown entry range; it may have: values"),
        (DATASET + "unit = 3\n" + AGE, r"\[dataset\] unit must be the name of a column"),
        (DATASET + "count = 3\n" + AGE, r"\[dataset\] count must be the name of a column"),
        (DATASET + 'unit = "p"\nmax_rows = 0\n' + AGE, r"max_rows must be a whole number of at least 1"),
        (DATASET + 'unit = "p"\nmax_rows = 1.5\n' + AGE, r"max_rows must be a whole number"),
        (DATASET + 'unit = "p"\nmax_rows = true\n' + AGE, r"max_rows must be a whole number"),
        (DATASET + 'unit = "p"\nmax_rows = "5"\n' + AGE, r"max_rows must be a whole number"),
        (DATASET + "max_people = -1\n" + AGE, r"max_people must be a whole number of at least 1"),
        (DATASET + "max_rows = 2\n" + AGE, r"max_rows needs `unit`, the column"),
        (DATASET + 'unit = "age"\n' + AGE, r"unit names age, which is also an attribute"),
        (DATASET + 'count = "age"\n' + AGE, r"count names age, which is also an attribute"),
        (DATASET + 'count = "n"\nunit = "p"\n' + AGE, r"has both `unit` and `count`"),
        (DATASET + "impossible = 3\n" + AGE, r"impossible must be a list like \[\{sex"),
        (DATASET + "impossible = [3]\n" + AGE, r"impossible must be a list like"),
        (DATASET + "impossible = [{}]\n" + AGE, r"impossible has an empty combination: name at least one"),
        (DATASET + 'impossible = [{sex = "f"}]\n' + AGE, r"impossible names sex, which is no attribute; .* has: age"),
        (DATASET + 'impossible = [{age = "z"}]\n' + AGE, r"attribute age has no category 'z'; it has: a, b"),
        (DATASET + 'impossible = [{age = ["a"]}]\n' + AGE, r"list or table where a category should be: write"),
        (DATASET + '[attribute.age]\nvalues = "a"\n', r"\[attribute.age\] values must be a list"),
        (DATASET + '[attribute.age]\nlabels = "a"\n', r"\[attribute.age\] labels must be a list"),
        (DATASET + "[attribute.age]\nbins = 3\n", r"\[attribute.age\] bins must be a list"),
        (DATASET + '[attribute.age]\nbins = ["0", "1"]\n', r"bins must be numbers: the edges"),
        (DATASET + "[attribute.age]\nbins = [true, 1]\n", r"bins must be numbers"),
        (DATASET + "[attribute.age]\nbins = [0, inf]\n", r"two finite bin edges"),
        (DATASET + AGE + "other = 3\n", r'other must be a label in quotes, like other = "unknown"'),
        (DATASET + AGE + "missing = false\n", r"missing must be a label in quotes"),
        (DATASET + AGE + "outside = 3\n", r"outside must be a label in quotes"),
        (DATASET + AGE + 'public = "yes"\n', r"public must be true or false"),
        (DATASET + AGE + "levels = 3\n", r"levels must look like \{ state"),
        (DATASET + AGE + "levels = { state = 3 }\n", r"levels must look like"),
        (DATASET + AGE + 'levels = { state = { N = "a" } }\n', r"levels must look like"),
        (DATASET + '[attribute.age]\nvalues = [["a"], "b"]\n', r"list or table where a category should be"),
        (DATASET + '[attribute."a b"]\nvalues = 3\n', r'\[attribute."a b"\] values must be a list'),
    ],
)
def test_a_wrong_schema_is_refused(text: str, match: str) -> None:
    """Each message names the entry, the rule and the way out."""
    refused(text, match)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(DATASET + f"[attribute.age]\nbins = [0, 1{'0' * 400}]\n", id="an edge beyond doubles"),
        pytest.param(DATASET + f"[attribute.age]\nbins = [0, 1{'0' * 5000}]\n", id="an edge of 5,000 digits"),
        pytest.param("[dataset]\nname = " + "[" * 5000, id="5,000 brackets"),
    ],
)
def test_an_absurd_schema_is_refused(text: str) -> None:
    """What Python itself cannot hold is a wrong schema like any other."""
    refused(text, "schema|bins|beyond all measure")


def test_a_schema_that_cannot_be_read_says_how_to_write_one(tmp_path: Path) -> None:
    """A path without a file, and a file without UTF-8."""
    with pytest.raises(SchemaError, match=re.escape(f"cannot read the schema {tmp_path / 'no.toml'}: write one with")):
        Schema.load(tmp_path / "no.toml")
    (tmp_path / "latin.toml").write_bytes(b'[dataset]\nname = "caf\xe9"\n')
    with pytest.raises(SchemaError, match="is not UTF-8 text: save it as UTF-8"):
        Schema.load(tmp_path / "latin.toml")


def test_a_header_without_declared_columns_is_refused() -> None:
    """Every absent column is named, with the near miss and the columns that are there."""
    schema = Schema(
        name="x",
        domain=Domain((Attribute(name="age", values=("a", "b")), Attribute(name="sex", values=("f", "m")))),
        count="n",
    )
    schema.check_header(["n", "sex", "age", "more"])
    with pytest.raises(SchemaError, match=r"lack age \(the file has ' AGE'\), n: use .*they are:  AGE, sex"):
        schema.check_header([" AGE", "sex"])


@pytest.mark.parametrize(
    "attribute",
    [
        Attribute(name="smoker", values=("yes",), missing="n/a"),
        Attribute(name="smoker", values=("yes",), other="no"),
        Attribute(name="age", bins=(0, 120), missing="n/a"),
        Attribute(name="x", bins=(1000000.5, 1000000.6, 1000000.7, 1000000.8), labels=("a", "b", "c")),
    ],
    ids=["one value and missing", "one value and other", "one bin and missing", "close edges with labels"],
)
def test_an_attribute_of_one_declared_category_is_written(attribute: Attribute) -> None:
    """Whatever may be declared may be saved."""
    schema = Schema(name="x", domain=Domain((attribute,)))
    assert Schema.from_toml(schema.to_toml()) == schema
