"""Does SQL answer from the release, and from nothing else?"""

from __future__ import annotations

import pytest

import cuboid
from cuboid.errors import ParameterError
from unit.bundle.releases import released, schema


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """A release of all two-way tables."""
    return released(cuboid.plan(schema(), "all 1..2-way", epsilon=1), tmp_path_factory.mktemp("query"))


def test_a_view_is_its_table(release):
    """Each wanted table is a view under the names of its attributes."""
    for names in release.wanted:
        assert release.query(f"from {'_'.join(names)}").to_pylist() == list(release.table(*names).cells())


def test_cells_hold_every_table(release):
    """One view has all cells, (all) where a table lacks an attribute, and GROUPING's bits."""
    found = release.query("select * from cells order by grouping").to_pylist()
    assert len(found) == sum(release.table(*names).raw.size for names in release.wanted)
    (row,) = release.query("select * from cells where age = 'old' and sex = 'm' and town = '(all)'").to_pylist()
    assert row["grouping"] == 0b001
    assert row["raw"] == release.table("age", "sex").cell(age="old", sex="m")["raw"]


def test_measurements_are_a_view(release):
    """The noisy numbers as they were drawn can be asked too."""
    (row,) = release.query("select count(*) as n from measurements").to_pylist()
    assert row["n"] == sum(answer.size for answer in release.measurements.answers)


@pytest.mark.parametrize(
    "sql",
    [
        "with t as (select 1 as a) select * from t",
        "describe cells",
        "show tables",
        "summarize age_sex",
        "explain select * from cells",
        "pivot age_sex on sex using sum(raw)",
        "values (1)",
        "select * from age_sex a join town b on true",
    ],
)
def test_whatever_selects_runs(release, sql):
    """The whole of the engine's SQL for reading is there."""
    assert release.query(sql).num_columns


@pytest.fixture
def secret(tmp_path):
    """A file that the engine must not see."""
    path = tmp_path / "people.csv"
    path.write_text("name,age\nCanary Person,41\n")
    return path


READS = [
    "select * from read_csv('{0}')", "select * from '{0}'", "select * from read_text('{0}')",
    "select * from read_blob('{0}')", "select * from read_json('{0}')", "select * from read_parquet('{0}')",
    "select * from glob('{1}/*')", "attach '{0}'", "attach '{1}/new.db'", "install httpfs", "load httpfs",
    "copy cells to '{1}/out.csv'", "copy (select 1) to '{1}/out.parquet'", "copy age_sex from '{0}'",
    "export database '{1}/dump'", "import database '{1}'", "select * from sniff_csv('{0}')",
    "select * from duckdb_secrets()", "create secret s (type s3)", "select getenv('HOME')", "set threads = 1",
    "set enable_external_access = true", "set lock_configuration = false", "reset enable_external_access",
    "pragma enable_external_access = true", "select * from read_csv('http://127.0.0.1:1/x')",
    "select * from read_csv('/dev/stdin')", "set home_directory = '/'", "set secret_directory = '{1}'",
]  # fmt: skip


@pytest.mark.parametrize("sql", READS)
def test_nothing_outside_is_read_or_written(release, secret, sql):
    """No file, no network, no setting: the engine is locked, and its refusal holds nothing of the file."""
    before = sorted(secret.parent.iterdir())
    with pytest.raises(ParameterError) as refusal:
        release.query(sql.format(secret, secret.parent))
    assert "Canary" not in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert sorted(secret.parent.iterdir()) == before


def test_python_variables_are_no_tables(release):
    """What the caller holds under a name is not found by that name."""
    people = release.table("age").to_pandas()
    assert len(people) == 2
    with pytest.raises(ParameterError, match="people"):
        release.query("select * from people")


@pytest.mark.parametrize("sql", ["", "  ", "\n", ";", "-- nothing"])
def test_nothing_asked_is_refused(release, sql):
    """An empty statement says what to write."""
    with pytest.raises(ParameterError, match="select"):
        release.query(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "create table mine as select 1", "insert into cells select * from cells", "drop table cells",
        "delete from cells", "update cells set raw = 0", "begin", "checkpoint", "prepare p as select 1",
        "create or replace macro raw() as 1", "truncate cells",
    ],
)  # fmt: skip
def test_what_does_not_select_is_refused(release, sql):
    """A statement that changes something is told to select instead of answering with a count of changes."""
    with pytest.raises(ParameterError, match="selects"):
        release.query(sql)


def test_two_statements_are_refused(release):
    """One statement, one answer."""
    with pytest.raises(ParameterError):
        release.query("select 1; select 2")


def test_no_statement_outlives_its_query(release):
    """What a statement changes is gone with its engine."""
    for sql in ("drop table cells", "update age_sex set raw = 0"):
        try:
            release.query(sql)
        except ParameterError:
            continue
    assert release.query("from cells").num_rows
    assert release.query("from age_sex").to_pylist() == list(release.table("age", "sex").cells())


@pytest.mark.parametrize("sql", ["selec 1", "select nothing from cells", "select * from people", "select 'x"])
def test_a_mistake_is_one_sentence(release, sql):
    """The engine's first line says what is wrong; nothing else of it does."""
    with pytest.raises(ParameterError, match="does not run on this release: ") as refusal:
        release.query(sql)
    assert "\n" not in str(refusal.value)


def test_views_whose_names_clash_are_numbered(tmp_path):
    """a_b is a table of its own, and so is that over a and b; neither takes a reserved name."""
    names = ["a", "b", "a_b", "cells", "rows", "measurements", "incoming", "total", "B_A", "a_b_2"]
    own = schema(dict.fromkeys(names, ("x", "y")))
    wanted = [[name] for name in names] + [["a", "b"]]
    made = released(cuboid.plan(own, wanted, epsilon=100), tmp_path, rows={name: ["x"] * 99 for name in names})
    assert made.query("from a_b").column_names[0] == "a_b"
    assert made.query("from a_b_2").column_names[0] == "a_b_2"
    assert made.query("from a_b_3").column_names[:2] == ["a", "b"]
    for name in ("cells", "rows", "measurements"):
        assert made.query(f"from {name}_2").column_names[0] == name
    for name in ("incoming", "total", "B_A"):
        assert made.query(f'from "{name}"').column_names[0] == name


def test_names_that_need_quotes_are_views(tmp_path):
    """Any attribute name can be asked for, between double quotes."""
    names = ['c"d', "e f", "select", "x; drop table cells; --"]
    own = schema(dict.fromkeys(names, ("x", "y'; drop table cells; --")))
    made = released(cuboid.plan(own, [[name] for name in names], epsilon=1), tmp_path, rows={n: ["x"] for n in names})
    for name in names:
        quoted = name.replace('"', '""')
        assert made.query(f'select * from "{quoted}"').column_names[0] == name
    assert made.query("select count(*) from cells").num_rows == 1


def test_a_release_with_a_total_can_be_asked(tmp_path):
    """The total is a view like any other, and its presence spoils no other question."""
    made = released(cuboid.plan(schema(), "[][age]", epsilon=1), tmp_path)
    assert made.query("select raw from total").to_pylist() == [{"raw": made.table().columns["raw"][0]}]
