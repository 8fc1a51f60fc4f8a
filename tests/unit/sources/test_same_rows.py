"""The same rows give the same tables whatever holds them."""

import datetime as dt
import decimal
import gzip

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from cuboid.counting import count_rows
from cuboid.domain import Attribute, Domain, Schema
from cuboid.errors import SchemaError, SourceError
from cuboid.sources import open_source

SCHEMA = Schema(
    name="same",
    count="n",
    domain=Domain(
        (
            Attribute(name="sex", values=("1", "2"), missing="?"),
            Attribute(name="town", values=("Ada", "Bath"), other="elsewhere", missing="none"),
            Attribute(name="income", bins=(0, 0.1, 10, 100), other="o", missing="?"),
            Attribute(name="old", values=("false", "true"), missing="?"),
        )
    ),
)
CUBOIDS = [(0, 1, 2, 3), (0, 2), (1,), ()]
SEX = [1, 2, None, 2, 1, 1, 2, 3]
TOWN = ["Ada", " Bath", "Cary", None, "Ada", "", "NA", "Bath"]
INCOME = [0.1, 100.0, 12.5, None, -1.0, 0.0999, 1e300, 3.0]
OLD = [True, False, None, True, True, False, False, True]
N = [1, 2, 3, 4, 0, 2**40, 7, 1]
ROWS = [
    dict(zip(("sex", "town", "income", "old", "n"), row, strict=True))
    for row in zip(SEX, TOWN, INCOME, OLD, N, strict=True)
]
TABLE = pa.table(
    {"sex": pa.array(SEX, pa.int8()), "town": TOWN, "income": INCOME, "old": OLD, "n": pa.array(N, pa.int64())}
)


def plain_csv():
    def text(value):
        if value is None:
            return ""
        return str(value).lower() if isinstance(value, bool) else str(value)

    return "\n".join(["sex,town,income,old,n", *(",".join(map(text, row.values())) for row in ROWS)]).encode()


def files(folder):
    csv = folder / "t.csv"
    csv.write_bytes(plain_csv())
    packed = folder / "t.csv.gz"
    packed.write_bytes(gzip.compress(plain_csv()))
    columns = folder / "t.parquet"
    parquet.write_table(TABLE, columns, row_group_size=3)
    renamed = folder / "t.pq"
    parquet.write_table(TABLE.set_column(1, "town", TABLE["town"].dictionary_encode()), renamed)
    database = folder / "t.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.register("rows", TABLE)
        connection.execute("CREATE TABLE people AS SELECT * FROM rows")
    return {"csv": csv, "gz": packed, "parquet": columns, "pq": renamed, "duckdb": database}


def objects():
    connection = duckdb.connect()
    connection.register("rows", TABLE)
    odd = pd.DataFrame({name: pd.Series([row[name] for row in ROWS], dtype=object) for name in ROWS[0]})
    frame = pl.DataFrame(TABLE.to_pydict(), strict=False)
    return {
        "pyarrow": TABLE,
        "batches": pa.Table.from_batches(TABLE.to_batches(max_chunksize=2)),
        "reader": TABLE.to_reader(max_chunksize=3),
        "pandas": TABLE.to_pandas(types_mapper=pd.ArrowDtype),
        "pandas numpy": pd.DataFrame(TABLE.to_pydict()),
        "pandas categories": TABLE.to_pandas().astype({"town": "category"}),
        "pandas objects": odd,
        "polars": frame,
        "polars categories": frame.with_columns(pl.col("town").cast(pl.Categorical)),
        "duckdb relation": connection.sql("SELECT * FROM rows"),
        "rows": ROWS,
        "columns": TABLE.to_pydict(),
        "arrays": {
            "sex": np.array(SEX, dtype=object),
            "town": TOWN,
            "income": np.array([np.nan if x is None else x for x in INCOME]),
            "old": OLD,
            "n": np.array(N, dtype=np.uint64),
        },
        "text": {
            name: [
                None if row[name] is None else str(row[name]).lower() if name == "old" else str(row[name])
                for row in ROWS
            ]
            for name in ROWS[0]
        },
        "decimals": TABLE.set_column(
            0, "sex", pa.array([None if s is None else decimal.Decimal(s) for s in SEX], pa.decimal128(9, 2))
        ),
        "floats": TABLE.set_column(0, "sex", pa.array(SEX, pa.float32())).set_column(
            4, "n", pa.array([float(n) for n in N])
        ),
        "encoded runs": TABLE.set_column(1, "town", pa.compute.run_end_encode(TABLE["town"].combine_chunks())),
        "views": TABLE.set_column(1, "town", TABLE["town"].cast(pa.string_view())),
    }


@pytest.fixture(scope="module")
def wanted():
    exact = count_rows(open_source(ROWS), SCHEMA, CUBOIDS)
    return [exact.open_at_the_gate(cuboid) for cuboid in CUBOIDS]


def test_the_rows_are_counted_as_declared(wanted):
    """By hand: each value of the eight rows is in the category that the schema says, and the row with a 3 is gone."""
    sex_income = wanted[1]
    assert wanted[2].tolist() == [1 + 0, 2, 3 + 7, 2**40 + 4]
    assert sex_income[0].tolist() == [2**40, 1, 0, 0, 0]
    assert sex_income[1].tolist() == [0, 0, 2, 7, 4]
    assert sex_income[2].tolist() == [0, 0, 3, 0, 0]
    assert int(wanted[3]) == sum(N) - 1


@pytest.mark.parametrize("kind", ["csv", "gz", "parquet", "pq", "duckdb"])
def test_files_agree(kind, tmp_path, wanted):
    """CSV, gzip, Parquet with and without dictionaries, and DuckDB give identical tables, for any batch size."""
    path = files(tmp_path)[kind]
    for rows in (1, 3, 131_072):
        exact = count_rows(open_source(str(path)), SCHEMA, CUBOIDS, rows=rows)
        for cuboid, table in zip(CUBOIDS, wanted, strict=True):
            assert np.array_equal(exact.open_at_the_gate(cuboid), table)
    source = open_source(path)
    assert source.path == str(path.resolve())
    assert source.header == ("sex", "town", "income", "old", "n")


@pytest.mark.parametrize("kind", list(objects()))
def test_objects_agree(kind, wanted):
    """Frames, tables, streams, relations, columns and rows give identical tables."""
    source = open_source(objects()[kind])
    exact = count_rows(source, SCHEMA, CUBOIDS, rows=3)
    for cuboid, table in zip(CUBOIDS, wanted, strict=True):
        assert np.array_equal(exact.open_at_the_gate(cuboid), table)
    assert source.path is None
    assert repr(source) == f"<source: {source.kind}>"


def test_a_table_is_read_again_but_a_stream_is_not():
    """A second pass over a stream is refused in words: it would count nothing."""
    table, stream = open_source(TABLE), open_source(TABLE.to_reader())
    assert len(list(table.batches(["n"]))) == len(list(table.batches(["n"]))) == 1
    assert sum(batch.num_rows for batch in stream.batches(["n"])) == 8
    with pytest.raises(SourceError, match="once"):
        stream.batches(["n"])


def test_a_stream_is_read_lazily():
    """Opening a stream and looking at its header takes no batch from it."""
    taken = []

    def batches():
        for batch in TABLE.to_batches(max_chunksize=2):
            taken.append(1)
            yield batch

    source = open_source(pa.RecordBatchReader.from_batches(TABLE.schema, batches()))
    assert source.header == tuple(TABLE.schema.names)
    assert taken == []
    next(source.batches(["n"]))
    assert len(taken) == 1


def test_dates_and_times_have_one_text():
    """A date or time is the same text as a Python object, in Arrow of any unit, and in DuckDB."""
    moment = dt.datetime(2020, 1, 2, 3, 4, 5)
    schema = Schema(
        name="d",
        domain=Domain(
            (
                Attribute(name="day", values=("2020-01-02", "x")),
                Attribute(name="moment", values=("2020-01-02 03:04:05", "x")),
                Attribute(name="clock", values=("03:04:05.5", "x")),
            )
        ),
    )
    row = {"day": moment.date(), "moment": moment, "clock": dt.time(3, 4, 5, 500_000)}
    arrow = pa.table({name: [value] for name, value in row.items()})
    fine = arrow.set_column(1, "moment", arrow["moment"].cast(pa.timestamp("ns")))
    relation = duckdb.sql(
        "SELECT DATE '2020-01-02' AS day, TIMESTAMP '2020-01-02 03:04:05' AS moment, TIME '03:04:05.5' AS clock"
    )
    for data in ([row], arrow, fine, relation, pl.from_arrow(arrow), fine.to_pandas()):
        assert int(count_rows(open_source(data), schema, [(0, 1, 2)]).open_at_the_gate((0, 1, 2))[0, 0, 0]) == 1


@pytest.mark.parametrize("kind", [pa.list_(pa.int8()), pa.struct([("x", pa.int8())]), pa.map_(pa.string(), pa.int8())])
def test_nested_columns_are_refused_by_name_when_asked_for(kind, tmp_path):
    """Lists, structs and maps are no categories; they harm nobody who does not ask for them."""
    table = pa.table({"a": [1], "b": pa.array([None], kind)})
    parquet.write_table(table, tmp_path / "t.parquet")
    with duckdb.connect(str(tmp_path / "t.db")) as connection:
        connection.register("rows", table)
        connection.execute("CREATE TABLE t AS SELECT * FROM rows")
    for data in (table, tmp_path / "t.parquet", tmp_path / "t.db", {"a": [1], "b": table["b"]}):
        source = open_source(data)
        assert next(iter(source.batches(["a"]))).num_rows == 1
        with pytest.raises(SourceError, match=r"column b of .* flatten"):
            source.batches(["a", "b"])


class Teller:
    """An object whose text is an error that tells a secret."""

    def __str__(self):
        raise ValueError("canary-7")


@pytest.mark.parametrize(
    "value",
    [1, 1.5, "x", b"\xff", None, [1], {"x": 1}, object(), Teller(), decimal.Decimal("NaN"), 10**400, 1j, "\ud800"],
)
def test_no_object_is_refused(value):
    """A column may mix objects of any type: what is undeclared goes where undeclared values go."""
    schema = Schema(name="o", domain=Domain((Attribute(name="a", values=("1", "2"), other="o", missing="m"),)))
    for data in (
        [{"a": "1"}, {"a": value}],
        {"a": ["1", value]},
        pd.DataFrame({"a": pd.Series(["1", value], dtype=object)}),
    ):
        table = count_rows(open_source(data), schema, [(0,)]).open_at_the_gate((0,))
        assert table.sum() == 2
        assert table[0] >= 1


def test_what_is_no_source_is_refused(tmp_path):
    """Wrong objects and paths are named with the ways that work."""
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and then nothing")
    (tmp_path / "y.parquet").write_bytes(b"a,b\n1,2\n")
    (tmp_path / "c.csv").write_bytes(b"a,b\n1,2\n")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE one AS SELECT 1 AS a; CREATE TABLE two AS SELECT 1 AS a")
    cases = [
        (tmp_path / "none.csv", None, "there is no file"),
        (tmp_path, None, "is a folder"),
        (3, None, "is no source of rows"),
        (tmp_path / "x.parquet", None, "damaged Parquet"),
        (tmp_path / "y.parquet", None, "not what its name says"),
        (tmp_path / "t.duckdb", None, "name one with --table .* it has: one, two"),
        (tmp_path / "t.duckdb", "three", "it has: one, two"),
        (tmp_path / "c.csv", "one", "is no DuckDB database"),
        (TABLE, "one", "DuckDB file only"),
        ([], None, "without rows"),
        ({"a": [1], "b": [1, 2]}, None, "not of one length"),
        ({"a": "text"}, None, "single text"),
        ({"a": 3}, None, "no sequence"),
        ({"a": np.zeros((2, 2))}, None, "no single column"),
        ({}, None, "has no columns"),
        ([1, 2], None, "is no source of rows"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), None, "more than one column named a"),
        (pa.table([[1], [2]], names=["a", ""]), None, "without a name"),
    ]
    for data, table, rule in cases:
        with pytest.raises(SourceError, match=rule):
            open_source(data, table=table)
    assert open_source(tmp_path / "t.duckdb", table="two").header == ("a",)


def test_a_missing_column_is_the_schemas_matter():
    """Counting names the declared columns that a source lacks."""
    with pytest.raises(SchemaError, match="the data lack"):
        count_rows(open_source({"sex": [1]}), SCHEMA, CUBOIDS)


def test_a_damaged_page_has_one_fixed_text(tmp_path):
    """A Parquet file with a broken page is refused in words that show nothing of it."""
    texts = set()
    for value in ("canary", "other"):
        path = tmp_path / "t.parquet"
        parquet.write_table(pa.table({"sex": [value + str(i) for i in range(9999)]}), path, compression="snappy")
        content = bytearray(path.read_bytes())
        content[200:30_000] = b"\x07" * 29_800
        path.write_bytes(content)
        with pytest.raises(SourceError) as refusal:
            list(open_source(path).batches(["sex"]))
        texts.add(str(refusal.value))
    assert len(texts) == 1


def test_a_failing_stream_has_one_fixed_text():
    """Whatever a stream raises, its message goes no further."""

    def batches():
        yield TABLE.to_batches()[0]
        raise ValueError("canary-8")

    source = open_source(pa.RecordBatchReader.from_batches(TABLE.schema, batches()))
    with pytest.raises(SourceError) as refusal:
        count_rows(source, SCHEMA, CUBOIDS)
    assert "canary" not in str(refusal.value)
    assert refusal.value.__cause__ is None
    assert refusal.value.__context__ is None
