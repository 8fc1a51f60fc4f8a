"""Sources that could say a row aloud, or let one row change another: none does."""

from __future__ import annotations

import os

import pyarrow as pa
import pytest

from cuboid.counting import count_rows
from cuboid.domain import Attribute, Domain, Schema
from cuboid.errors import SchemaError, SourceError
from cuboid.sources import open_source
from cuboid.sources.csv import CsvSource

SCHEMA = Schema(name="x", domain=Domain((Attribute(name="a", values=("1", "2"), other="other"),)))
BOM = b"\xef\xbb\xbf"


def counts(path, block):
    """The table of a file, read in blocks of that many bytes."""
    tables = count_rows(CsvSource(path, block=block), SCHEMA, [(0,)])
    return tables.open_at_the_gate((0,)).tolist()


@pytest.mark.parametrize("block", [1, 7, 16, 4 * 2**20])
def test_a_byte_order_mark_belongs_to_its_own_row(tmp_path, block):
    """Wherever a row with a mark stands, it is undeclared, and one more row changes one cell by one."""
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,z\n" + BOM + b"1,x\n")
    assert counts(path, block) == [0, 0, 1]
    path.write_bytes(b"a,z\n2,x\n" + BOM + b"1,x\n" + BOM + b"1,x\n1,x\n")
    assert counts(path, block) == [1, 1, 2]
    path.write_bytes(b"a,z\n" + BOM + b"1,x\n1,x\n" + BOM + b"1,x\n2,x\n")
    assert counts(path, block) == [1, 1, 2]


def test_a_pipe_is_refused_before_it_is_read(tmp_path):
    """A pipe can be read once, so its second opening would begin in the middle of the rows."""
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(SourceError, match="can be read twice: write the rows to a file first"):
        open_source(tmp_path / "pipe.csv")


@pytest.mark.parametrize("end", [b'o"\n1,m\n', b"o\n"])
def test_the_header_is_the_first_line_whatever_quotes_it_opens(tmp_path, end):
    """A quote that the header leaves open does not take rows into a column's name, and never into a message."""
    path = tmp_path / "people.csv"
    path.write_bytes(b'a,"sex\nSECRET1,m\nSECRET2,f\n' + end)
    with pytest.raises(SourceError, match="a quote that is not closed") as refused:
        open_source(path)
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize("header", ["a;b;c", "a\tb"])
def test_a_header_of_one_column_with_other_marks_is_refused(tmp_path, header):
    """The wrong separator is told from the header alone."""
    path = tmp_path / "people.csv"
    path.write_text(f"{header}\n1\n")
    with pytest.raises(SourceError, match=r"has one column, .* separate columns by commas"):
        open_source(path)


class Secretive(dict):
    """A row whose values cannot be had."""

    def get(self, key, default=None):
        raise ValueError("SECRET row")


def test_what_python_rows_raise_is_not_passed_on():
    """An exception of a value's own class could hold the value."""
    for data in ([Secretive(a="1")], {"a": map(int, ["1", "SECRET-42"])}):
        with pytest.raises(SourceError) as refused:
            count_rows(open_source(data), SCHEMA, [(0,)])
        assert "SECRET" not in str(refused.value)
        assert refused.value.__context__ is None


def test_the_first_rows_keys_are_the_header():
    """What later rows are called changes no answer and stands in no message."""
    with pytest.raises(SchemaError) as refused:
        count_rows(open_source([{"b": 1}, {"SECRET-bob": 1}]), SCHEMA, [(0,)])
    assert "SECRET" not in str(refused.value)
    tables = count_rows(open_source([{"a": 1}, {"b": 1}, {"a": 2, "SECRET": 3}]), SCHEMA, [(0,)])
    assert tables.open_at_the_gate((0,)).tolist() == [1, 1, 1]


@pytest.mark.parametrize("spelling", [True, "True", "TRUE", "true", " true "])
def test_truth_is_one_word(spelling):
    """Programs write booleans in three cases; a schema that has the word once means all of them."""
    for values in (("false", "true"), ("False", "True")):
        schema = Schema(name="x", domain=Domain((Attribute(name="a", values=values, other="other"),)))
        tables = count_rows(open_source({"a": [spelling]}), schema, [(0,)])
        assert tables.open_at_the_gate((0,)).tolist() == [0, 1, 0]


def test_a_very_long_line_takes_time_in_proportion(tmp_path):
    """A line without end, read in small blocks, is joined once."""
    path = tmp_path / "long.csv"
    path.write_bytes(b"a\n" + b"1" * 4_000_000 + b"\n2\n")
    assert counts(path, 4096) == [0, 1, 1]


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("kind", [pa.decimal32(5, 2), pa.timestamp("s", tz="Nowhere/At_All")], ids=str)
def test_a_type_without_text_is_refused_with_rows_or_without(kind, rows):
    """Whether a column can be read is decided on its type, so that one row more changes no decision."""
    values = pa.array([0] * rows, pa.int32() if kind == pa.decimal32(5, 2) else pa.int64())
    try:
        table = pa.table({"a": values.cast(kind)})
    except pa.ArrowException:
        pytest.skip("this Arrow cannot make the column")
    if pa.types.is_decimal(kind):
        try:
            pa.nulls(1, kind).cast(pa.string())
        except pa.ArrowException:
            pass
        else:
            pytest.skip("this Arrow writes the type as text")
    with pytest.raises((SourceError, SchemaError)):
        count_rows(open_source(table), SCHEMA, [(0,)])
