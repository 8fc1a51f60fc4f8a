"""Is a bundle read back the release that was written?"""

from __future__ import annotations

import csv
import json
from importlib import import_module
from itertools import combinations

import numpy as np
import pytest

import cuboid
from cuboid.bundle import COLUMNS, ReleasedTable, table_file, to_csv
from cuboid.errors import BundleError, ParameterError
from cuboid.planning import CellError
from unit.bundle.releases import ROWS, released, schema

HOSTILE = [
    "=cmd|'/c calc'!A0", "+1", "-1", "@x", 'quo"te', '"', "new\nline", "re\r\nturn", "<b>x</b>", "ünïcödé", "日本",
    "<script>alert(1)</script>", "com,ma", "tab\tx", "'; drop table cells; --", "../../etc/passwd", "NULL", "nan",
    "{{x}}", "%s", " x",
]  # fmt: skip
QUOTED = {
    "a b": ["x", "y"], 'c"d': ["x", "y"], "income>50K": ["x", "y"], "e,f": ["x", "y"], "select": ["x", "y"],
    "=g": ["x", "y"], "<i>h</i>": ["x", "y"], "all": ["x", "y"], "[k]": ["x", "y"], "ü": ["x", "y"],
}  # fmt: skip
CASES = {
    "laplace": {"workload": "all 2-way", "epsilon": 1},
    "laplace, a third": {"workload": "all 1-way", "epsilon": "1/3", "strategy": "direct"},
    "gaussian": {"workload": "[age sex][town]", "rho": 0.1},
    "gaussian contrasts": {"workload": "all 2-way", "rho": 0.1, "strategy": "residual"},
    "approximate": {"workload": "all 1..3-way", "epsilon": 1, "delta": 1e-9},
    "replace, laplace": {"workload": "all 0..2-way", "epsilon": 1, "relation": "replace"},
    "replace, gaussian": {"workload": "all 0..2-way", "rho": 1, "relation": "replace"},
    "the total alone": {"workload": "[]", "epsilon": 1},
}


@pytest.fixture(params=CASES, ids=lambda name: name.replace(" ", "-"))
def release(request, tmp_path):
    """A release of each kind, in its folder."""
    options = dict(CASES[request.param])
    own = schema(outside="first")
    return released(cuboid.plan(own, options.pop("workload"), **options), tmp_path)


def same(left, right):
    """Whether two tables hold the same cells under the same names."""
    return (
        (left.attributes, left.categories) == (right.attributes, right.categories)
        and all(np.array_equal(left.columns[name], right.columns[name]) for name in COLUMNS)
    )  # fmt: skip


def parts(release):
    """The names of every covered table: the wanted ones and their sub-tables."""
    return {part for own in release.wanted for k in range(len(own) + 1) for part in combinations(own, k)}


def test_opened_equals_released(release):
    """Every wanted table and every sub-table reads back with the same raw, sd, lo95, hi95 and flag."""
    opened = cuboid.open(release.folder)
    assert opened.wanted == release.wanted
    for names in parts(release):
        assert same(opened.table(*names), release.table(*names))


def test_saved_from_memory_equals_written_by_release(release, tmp_path):
    """A release kept in memory is saved later as the same tables."""
    saved = release.save(tmp_path / "again")
    assert saved.folder == tmp_path / "again"
    assert all(same(cuboid.open(tmp_path / "again").table(*names), release.table(*names)) for names in release.wanted)


def test_stored_csv_is_the_table_to_the_last_bit(release):
    """Each CSV has the columns fixed by the format, every cell in order, and numbers in the shortest text."""
    index = json.loads((release.folder / "release.json").read_text())["tables"]
    assert [entry["attributes"] for entry in index] == [list(names) for names in release.wanted]
    for entry in index:
        table = release.table(*entry["attributes"])
        text = (release.folder / entry["file"]).read_text()
        assert text == to_csv(table)
        header, *rows = csv.reader(text.splitlines())
        assert header == [*table.attributes, *COLUMNS]
        assert len(rows) == entry["cells"] == table.raw.size
        for place, column in enumerate(COLUMNS[:-1], len(table.attributes)):
            stored = [row[place] for row in rows]
            assert [float(number) for number in stored] == table.columns[column].tolist()
            exact = table.exact and column != "sd"
            assert all(number == (str(int(number)) if exact else repr(float(number))) for number in stored)


def test_every_form_of_a_table_agrees(release):
    """pandas, polars, Arrow, xarray, cells and one cell at a time all say the same."""
    for names in parts(release) - {()}:
        table = release.table(*names)
        cells = list(table.cells())
        assert table.to_arrow().to_pylist() == cells
        assert table.to_polars().to_dicts() == cells
        assert table.to_pandas().to_dict("records") == cells
        grid = table.to_xarray()
        for cell in cells:
            where = {name: cell[name] for name in table.attributes}
            assert {column: grid[column].sel(where).item() for column in COLUMNS} == table.cell(**where)
            assert table.cell(**where) == {column: cell[column] for column in COLUMNS}


@pytest.mark.parametrize("form", ["to_arrow", "to_pandas", "to_polars", "to_xarray"])
def test_the_total_has_every_form(tmp_path, form):
    """A table over no attribute is one cell in every form."""
    table = released(cuboid.plan(schema(), "[]", epsilon=1), tmp_path).table()
    found = getattr(table, form)()
    assert float(np.asarray(found["raw"]).reshape(-1)[0]) == table.columns["raw"][0]


def test_a_public_total_is_exact(tmp_path):
    """Under replace the number of rows is an integer with sd 0, in every output, and tables add up to it."""
    own = schema(outside="first")
    made = released(cuboid.plan(own, "[][age sex]", rho=1, relation="replace"), tmp_path)
    opened = cuboid.open(made.folder)
    assert opened.table().cell() == {"raw": 120, "sd": 0.0, "lo95": 120, "hi95": 120, "flag": "exact"}
    assert isinstance(opened.table().cell()["raw"], int)
    assert (made.folder / "tables/0001.csv").read_text() == "raw,sd,lo95,hi95,flag\n120,0.0,120,120,exact\n"
    assert opened.table("age", "sex").raw.sum() == pytest.approx(120)
    assert opened.plan.unit.total_is_public
    assert "number of rows" in opened.card()


def test_more_than_five_thousand_tables_are_one_parquet(tmp_path):
    """Very many tables lie in one file that verifies and holds every cell in order."""
    import pyarrow.parquet as pq

    names = [f"q{i}" for i in range(101)]
    own = schema(dict.fromkeys(names, ("no", "yes")))
    plan = cuboid.plan(own, "all 2-way", rho=1, strategy="residual")
    made = released(plan, tmp_path, rows={name: ["no", "yes"] for name in names})
    assert len(made.wanted) == 5050 > table_file.MOST_CSV
    assert [path.name for path in (made.folder / "tables").iterdir()] == ["all.parquet"]
    stored = pq.read_table(made.folder / "tables/all.parquet")
    assert stored.num_rows == 4 * 5050
    last = made.table("q99", "q100")
    assert stored["raw"].to_pylist()[-4:] == last.columns["raw"].tolist()
    assert stored["attributes"].to_pylist()[-1] == "q99 q100"
    assert all(check.passed is not False for check in cuboid.verify(made.folder))


def test_one_parquet_of_tables_that_differ_in_order(tmp_path, monkeypatch):
    """Small and large tables share the one Parquet, and a changed number in it is found."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for module in ("table_file", "write", "package"):
        monkeypatch.setattr(import_module(f"cuboid.bundle.{module}"), "MOST_CSV", 2, raising=False)
    made = released(cuboid.plan(schema(), "[age][age sex][age sex town]", epsilon=1), tmp_path)
    path = made.folder / "tables/all.parquet"
    stored = pq.read_table(path)
    assert stored["category_3"].to_pylist()[:6] == [None] * 6
    assert all(check.passed is not False for check in cuboid.verify(made.folder))
    raw = stored["raw"].to_pylist()
    pq.write_table(stored.set_column(stored.column_names.index("raw"), "raw", pa.array([*raw[:-1], raw[-1] + 1])), path)
    assert {check.name for check in cuboid.verify(made.folder) if check.passed is False} >= {"files", "numbers"}


def test_hostile_labels_and_names_read_back(tmp_path):
    """Labels and names full of quotes, line ends, markup and formulas come back as they were declared."""
    own = schema({**QUOTED, "label": HOSTILE})
    rows = {name: ["x", "y"] for name in QUOTED} | {"label": HOSTILE[:2]}
    made = released(cuboid.plan(own, [[name, "label"] for name in QUOTED], epsilon=10), tmp_path, rows=rows)
    opened = cuboid.open(made.folder)
    assert all(check.passed is not False for check in cuboid.verify(made.folder))
    for name in QUOTED:
        table = opened.table(name, "label")
        assert same(table, made.table(name, "label"))
        assert table.categories == (("x", "y"), tuple(HOSTILE))
        assert table.to_pandas()["label"].tolist() == HOSTILE * 2
        assert table.to_arrow()["label"].to_pylist() == HOSTILE * 2
        assert table.to_xarray()["label"].values.tolist() == HOSTILE


@pytest.mark.parametrize("label", ["a\rb", "a" * 140_000, "a\x00b"], ids=["return", "long", "nul"])
def test_a_declared_label_never_breaks_the_bundle(tmp_path, label):
    """Whatever the schema lets through as a label, the bundle that was just written verifies."""
    try:
        own = schema({"x": [label, "b"]})
    except cuboid.CuboidError:
        return  # refused by the schema, which is as good
    made = released(cuboid.plan(own, "[x]", epsilon=1), tmp_path, rows={"x": ["b"]})
    assert [check.name for check in cuboid.verify(made.folder) if check.passed is False] == []


def test_html_is_escaped_and_bounded(tmp_path):
    """A notebook shows labels and names as text, and at most sixty rows."""
    hostile = {"<script>alert(1)</script>": ["<img src=x onerror=alert(1)>", "b"], "n": [str(i) for i in range(5000)]}
    own = schema(hostile, name="<u>survey</u>")
    made = released(
        cuboid.plan(own, "all 1..2-way", epsilon=1), tmp_path, rows={name: ["b"] for name in own.domain.names}
    )
    for text in (made._repr_html_(), *(made.table(*names)._repr_html_() for names in made.wanted)):
        assert "<script>" not in text
        assert "<img" not in text
        assert "<u>" not in text
        assert text.count("<tr>") <= 61
        assert len(text) < 40_000
    assert "&lt;img" in made.table("<script>alert(1)</script>")._repr_html_()
    assert "4,940 more cells" in made.table("n")._repr_html_()


def test_the_card_is_inert(tmp_path):
    """Names in the card are text to Markdown and to HTML."""
    own = schema({"<b>bold</b>": ["x", "y"], "a|b": ["x", "y"], "[l](http://x)": ["x", "y"]}, name="*s* `c`")
    card = released(cuboid.plan(own, "all 2-way", epsilon=1), tmp_path,
                    rows={name: ["x"] for name in own.domain.names}).card()  # fmt: skip
    assert "<b>" not in card
    assert "](http" not in card.replace("\\]", "")
    assert "\\*s\\* \\`c\\`" in card


def test_flags_are_decided_on_noisy_values(tmp_path):
    """ok, unreliable and impossible follow from raw, its interval and the schema."""
    own = schema(impossible=[{"age": "young", "sex": "m"}])
    made = released(cuboid.plan(own, "[age sex]", epsilon=1), tmp_path, rows={name: v * 10 for name, v in ROWS.items()})
    table = made.table("age", "sex")
    assert table.cell(age="young", sex="m")["flag"] == "impossible"
    for cell in table.cells():
        if cell["flag"] != "impossible":
            assert cell["flag"] == ("unreliable" if table.error.half95 > abs(cell["raw"]) / 2 else "ok")


def test_what_a_table_or_release_does_not_have_is_refused(tmp_path):
    """Uncovered tables, unknown categories and missing attributes are refused in words."""
    made = released(cuboid.plan(schema(), "[age sex]", epsilon=1), tmp_path)
    with pytest.raises(BundleError, match=r"does not cover \[town\]: it has \[age sex\]"):
        made.table("town")
    with pytest.raises(ParameterError, match="age has no category 'ancient'; it has: young, old"):
        made.table("age").cell(age="ancient")
    with pytest.raises(ParameterError, match="one category for each of age"):
        made.table("age").cell()
    assert repr(made) == "<release of survey: 1 tables>"
    assert repr(made.table("age")).startswith("<table [age]: 2 cells, sd ")


def test_the_data_package_describes_every_file(tmp_path):
    """datapackage.json names each table's file, its columns and its categories."""
    made = released(cuboid.plan(schema(), "all 2-way", epsilon=1), tmp_path)
    document = json.loads((made.folder / "datapackage.json").read_text())
    listed = {resource["path"] for resource in document["resources"]}
    assert listed == {"tables/0001.csv", "tables/0002.csv", "tables/0003.csv", "measurements.parquet"}
    first = document["resources"][0]["schema"]
    assert [field["name"] for field in first["fields"]] == ["age", "sex", *COLUMNS]
    assert first["fields"][0]["constraints"]["enum"] == ["young", "old"]
    assert first["primaryKey"] == ["age", "sex"]


def test_measurements_are_tidy(tmp_path):
    """measurements.parquet has a row for each noisy number, with the query and the noise that made it."""
    import pyarrow.parquet as pq

    made = released(cuboid.plan(schema(), "all 2-way", rho=1), tmp_path)
    stored = pq.read_table(made.folder / "measurements.parquet")
    assert stored.column_names == ["query", "attributes", "form", "cell", "numerator", "value", "sd"]
    assert stored.num_rows == sum(query.answers(made.plan.sizes) for query in made.plan.queries)
    numerators = np.array(stored["numerator"].to_pylist())
    assert np.array_equal(stored["value"].to_numpy(), numerators / 2**made.plan.exponent)


def test_stored_tables_agree_on_what_they_share(tmp_path):
    """The files of one release add up to the same margins, whichever of them is added up."""
    made = released(cuboid.plan(schema(), "all 1..3-way", rho=0.1, strategy="direct"), tmp_path)
    stored = {names: _stored(made.folder / f"tables/{place:04d}.csv") for place, names in enumerate(made.wanted, 1)}
    for names, cells in stored.items():
        for part in (part for k in range(len(names)) for part in combinations(names, k)):
            margin = {}
            for cell in cells:
                key = tuple(cell[name] for name in part)
                margin[key] = margin.get(key, 0.0) + float(cell["raw"])
            known = {tuple(cell[name] for name in part): cell["raw"] for cell in made.table(*part).cells()}
            assert margin == pytest.approx(known, abs=1e-6 * len(cells))


def _stored(path):
    with path.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


@pytest.mark.parametrize("budget", [{"epsilon": "0.1"}, {"rho": "0.001"}], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("size", [0, 1_000])
def test_intervals_cover_and_nothing_is_clipped(tmp_path, budget, size):
    """Of ten thousand cells, empty or not, 95 % lie in their intervals, and errors are around 0 and often negative."""
    own = schema({"x": [str(i) for i in range(10_000)]}, count="n")
    rows = {"x": [str(i) for i in range(10_000)], "n": [size] * 10_000}
    table = released(cuboid.plan(own, "[x]", **budget), tmp_path, rows=rows, insecure_seed=5).table("x")
    assert table.error.sd > 5
    covered = (table.columns["lo95"] <= size) & (size <= table.columns["hi95"])
    assert 0.941 <= covered.mean() <= 0.958
    errors = table.raw - size
    assert abs(errors.mean()) < 4 * table.error.sd / 100
    assert errors.std() == pytest.approx(table.error.sd, rel=0.05)
    assert 0.4 < (errors < 0).mean() < 0.6


def test_an_interval_has_two_ends():
    """lo95 lies `below` under raw, hi95 lies `above` over it, and half95 is half of both."""
    error = CellError(sd=1.0, below=1.0, above=3.0)
    table = ReleasedTable(attributes=("x",), categories=(("a", "b"),), raw=np.array([10.0, -2.0]), error=error)
    assert table.columns["lo95"].tolist() == [9.0, -3.0]
    assert table.columns["hi95"].tolist() == [13.0, 1.0]
    assert table.columns["flag"].tolist() == ["ok", "unreliable"]
