import tomllib

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from cuboid.counting import count_rows
from cuboid.domain import Schema
from cuboid.errors import SourceError
from cuboid.sources import draft_schema, open_source

CANARY = "canary-value"


def drafted(source, *, public=False, name="survey"):
    text = draft_schema(open_source(source), name=name, public=public)
    return text, tomllib.loads(text)


def test_a_csv_gives_names_only(tmp_path):
    """Without --public nothing of a CSV's rows is in the draft, and it is valid TOML with hints."""
    file = tmp_path / "people.csv"
    file.write_text(f"age,home town,sex\n1,{CANARY},x\n")
    text, document = drafted(file)
    assert CANARY not in text
    assert document == {"dataset": {"name": "survey"}, "attribute": {"age": {}, "home town": {}, "sex": {}}}
    assert '[attribute."home town"]' in text
    assert "# bins = [0, 18, 65]" in text


def test_declared_types_are_shown_but_no_dictionary(tmp_path):
    """Files and frames give types; booleans their two values; no dictionary, enumeration or statistic is shown."""
    table = pa.table({"town": pa.array([CANARY]).dictionary_encode(), "old": [True], "age": pa.array([3], pa.int8())})
    parquet.write_table(table, tmp_path / "t.parquet")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute(
            f"CREATE TABLE t AS SELECT '{CANARY}'::ENUM('{CANARY}') AS town, true AS old, 3::TINYINT AS age"
        )
    frame = table.to_pandas()
    for data, kind in (
        (table, "int8"),
        (tmp_path / "t.parquet", "int8"),
        (tmp_path / "t.duckdb", "TINYINT"),
        (frame, "int8"),
    ):
        text, document = drafted(data)
        assert f"[attribute.age]      # declared type: {kind}" in text
        assert document["attribute"] == {"town": {}, "old": {"values": ["false", "true"]}, "age": {}}
        assert CANARY not in text


def test_public_lists_the_values_in_order_and_loads(tmp_path):
    """With --public the draft is a schema that every row fits, each list marked as public."""
    file = tmp_path / "people.csv"
    rows = ["10,b,,1.50", "9,a,x,1.5", '-1,"say ""é""",x,0', "9.0, b ,y,"]
    file.write_text("\n".join(["age,name,gap,price", *rows]), encoding="utf-8")
    text, document = drafted(file, public=True)
    attributes = document["attribute"]
    assert attributes["age"] == {"values": ["-1", "9", "9.0", "10"], "public": True}
    assert attributes["name"]["values"] == ["a", "b", 'say "é"']
    assert attributes["gap"] == {"values": ["x", "y"], "missing": "missing", "public": True}
    schema = Schema.from_toml(text)
    assert int(count_rows(open_source(file), schema, [()]).open_at_the_gate(())) == 4
    assert "public knowledge" in text.split("[dataset]")[0]


def test_public_drafts_of_frames_fit_every_row():
    """Numbers, booleans, dates, nulls, one value, no value and awkward labels all give a schema that loads."""
    frame = pd.DataFrame(
        {
            "whole": [1, 2, 3],
            "part": [0.1, np.nan, 2.0],
            "flag": [True, True, False],
            "one": ["x"] * 3,
            "none": [None] * 3,
            "odd": ["missing", "other", None],
            "day": pd.to_datetime(["2020-01-01", "2020-01-02", None]),
            'quote"d': ["\x7f", "\x00", "\n a"],
            "kind": pd.Categorical(["a", "b", "a"], categories=["a", "b", "never"]),
        }
    )
    text, document = drafted(frame, public=True)
    schema = Schema.from_toml(text)
    assert "none" not in schema.domain.names
    assert document["attribute"]["kind"]["values"] == ["a", "b"]
    assert document["attribute"]["odd"]["missing"] == "missing_"
    assert document["attribute"]["one"] == {"values": ["x"], "other": "other", "public": True}
    assert int(count_rows(open_source(frame), schema, [()]).open_at_the_gate(())) == 3


def test_many_values_ask_for_bins():
    """A column with more than a thousand values is left out, with the way out; a thousand are listed."""
    table = pa.table({"many": [str(i) for i in range(1001)], "few": [str(i % 1000) for i in range(1001)]})
    text, document = drafted(table, public=True)
    assert list(document["attribute"]) == ["few"]
    assert len(document["attribute"]["few"]["values"]) == 1000
    assert "more than 1,000 values; give it bins" in text
    assert '"1000"' not in text


@pytest.mark.parametrize("public", [False, True])
def test_names_that_no_attribute_may_have_are_left_out(public):
    """Reserved, repeated, awkward and nested columns are commented out with the reason; `count` is the weight."""
    table = pa.table(
        {"Count": [2], "RAW": [1], "age": [1], "AGE": [1], " pad": [1], "line\nbreak": [1], "l": [[1]], "b": [True]}
    )
    text, document = drafted(table, public=public, name='a "quoted" name')
    assert document["dataset"] == {"name": 'a "quoted" name', "count": "Count"}
    assert list(document["attribute"]) == ["age", "b"]
    for reason in ("reserved for a column", "differs at most in case", "outer spaces", "no single value"):
        assert reason in text
    if public:
        schema = Schema.from_toml(text)
        assert int(count_rows(open_source(table), schema, [()]).open_at_the_gate(())) == 2


def test_a_source_that_breaks_while_listing_shows_nothing():
    """Listing values keeps a library's message to itself."""

    def batches():
        yield from ()
        raise ValueError(CANARY)

    schema = pa.schema([("a", pa.int8())])
    source = open_source(pa.RecordBatchReader.from_batches(schema, batches()))
    with pytest.raises(SourceError) as refusal:
        draft_schema(source, name="n", public=True)
    assert CANARY not in str(refusal.value)


def test_types_say_nothing_of_how_many_values_there_are():
    """A dictionary's type is shown without its width, and columns of Python objects have no declared type."""
    wide = pa.array([str(i) for i in range(300)]).dictionary_encode().cast(pa.dictionary(pa.int16(), pa.string()))
    assert open_source(pa.table({"a": wide})).types == {"a": "dictionary<string>"}
    assert open_source([{"a": 1}]).types == open_source({"a": ["x"]}).types == {"a": None}
