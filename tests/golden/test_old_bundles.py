"""Do releases written by every old version still open, verify and show the same numbers?"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from importlib.metadata import version

import pytest

import cuboid
from golden.write_bundle import BUNDLES, CASES, HERE

OLD = sorted(path.name for path in BUNDLES.iterdir() if path.is_dir())
NUMBERS = ("raw", "sd", "lo95", "hi95")


def pinned(name):
    """The tables as they were shown when the bundle was written."""
    return json.loads((BUNDLES / f"{name}.json").read_text(encoding="utf-8"))


def close(cell, other):
    """Whether two cells are the same: labels and flags exactly, exact counts exactly, estimates to rounding."""
    tolerance = 0 if other["sd"] == 0 else 1e-9
    numbers = all(abs(float(cell[name]) - float(other[name])) <= tolerance * (1 + abs(other[name])) for name in NUMBERS)
    return numbers and all(cell[name] == value for name, value in other.items() if name not in NUMBERS)


def test_no_bundle_is_missing():
    """What was once written is kept."""
    assert set(CASES) == set(OLD)
    assert {"v1-laplace", "v1-gaussian-replace", "v1-contrasts"} <= set(OLD)


@pytest.mark.parametrize("name", OLD)
def test_it_opens_with_the_same_numbers(name):
    """Every wanted table reads back as it was."""
    release = cuboid.open(BUNDLES / name)
    assert release.schema.name == "Titanic4way"
    tables = pinned(name)
    assert [list(own) for own in release.wanted] == [table["attributes"] for table in tables]
    for table in tables:
        cells = list(release.table(*table["attributes"]).cells())
        assert len(cells) == len(table["cells"])
        assert all(close(cell, other) for cell, other in zip(cells, table["cells"], strict=True))


@pytest.mark.parametrize("name", OLD)
def test_its_files_hold_the_same_numbers(name):
    """The CSV files are those of the day, and say what is pinned to the last digit."""
    index = json.loads((BUNDLES / name / "release.json").read_text(encoding="utf-8"))["tables"]
    for entry, table in zip(index, pinned(name), strict=True):
        with (BUNDLES / name / entry["file"]).open(encoding="utf-8", newline="") as text:
            rows = list(csv.DictReader(text))
        for row, cell in zip(rows, table["cells"], strict=True):
            assert {key: float(row[key]) if key in NUMBERS else row[key] for key in cell} == cell


@pytest.mark.parametrize("name", OLD)
def test_it_verifies(name):
    """Every check passes but the ledger's, which is elsewhere; the words of another version are not judged."""
    checks = {check.name: check.passed for check in cuboid.verify(BUNDLES / name)}
    assert list(checks) == [
        "files",
        "guarantee",
        "measurements",
        "complete",
        "numbers",
        "margins",
        "documents",
        "ledger",
    ]
    assert checks.pop("ledger") is None
    written = json.loads((BUNDLES / name / "release.json").read_text(encoding="utf-8"))["software"]["cuboid"]
    assert checks.pop("documents") is (True if written == version("cuboid") else None)
    assert set(checks.values()) == {True}


@pytest.mark.parametrize("name", OLD)
def test_it_answers_sql(name):
    """Its views are there under the same names."""
    assert cuboid.open(BUNDLES / name).query("from Class_Survived").num_rows == 8


@pytest.mark.parametrize("name", OLD)
def test_it_is_recovered_to_tables_that_verify(name, tmp_path):
    """A copy without anything but plan and measurements comes back with the same numbers."""
    copy = tmp_path / name
    copy.mkdir()
    for kept in ("release.json", "measurements.parquet"):
        shutil.copy(BUNDLES / name / kept, copy)
    release = cuboid.recover(copy)
    assert all(check.passed is not False for check in cuboid.verify(copy))
    for table in pinned(name):
        cells = list(release.table(*table["attributes"]).cells())
        assert all(close(cell, other) for cell, other in zip(cells, table["cells"], strict=True))


def test_the_guarantees_read_as_they_were_given():
    """The meaning of a stored statement never changes."""
    said = {name: json.loads((BUNDLES / name / "release.json").read_text())["privacy"] for name in OLD}
    assert said["v1-laplace"]["guarantee"] == {"epsilon": "1"}
    assert said["v1-laplace"] | {"guarantee": 0} == {
        "guarantee": 0, "mechanism": "pure", "spent": "1", "currency": "epsilon", "relation": "add-remove",
        "max_rows": 1, "sensitivity": "exact", "disclosed": [], "listed_from_data": [],
    }  # fmt: skip
    assert said["v1-gaussian-replace"]["guarantee"] == {"rho": "0.5"}
    assert said["v1-gaussian-replace"]["disclosed"] == ["the number of rows, exactly"]
    assert cuboid.open(BUNDLES / "v1-gaussian-replace").table().cell()["raw"] == 2201


def test_a_changed_number_is_noticed(tmp_path):
    """The control: one noisy number changed in an old bundle shows in its tables and its checks."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    copy = shutil.copytree(BUNDLES / "v1-laplace", tmp_path / "copy")
    table = pq.read_table(copy / "measurements.parquet")
    numbers = table["numerator"].to_pylist()
    place = table.column_names.index("numerator")
    pq.write_table(
        table.set_column(place, "numerator", pa.array([numbers[0] + 1, *numbers[1:]])), copy / "measurements.parquet"
    )
    first = pinned("v1-laplace")[0]
    cells = cuboid.open(copy).table(*first["attributes"]).cells()
    assert not all(close(cell, other) for cell, other in zip(cells, first["cells"], strict=True))
    assert {check.name for check in cuboid.verify(copy) if check.passed is False} >= {"files", "numbers"}


def test_writing_them_again_is_refused():
    """The script that wrote them never overwrites one."""
    before = {path: path.stat().st_mtime_ns for path in BUNDLES.rglob("*")}
    made = subprocess.run([sys.executable, HERE / "write_bundle.py"], capture_output=True, text=True, check=False)
    assert made.returncode != 0
    assert "never written again" in made.stderr
    assert {path: path.stat().st_mtime_ns for path in BUNDLES.rglob("*")} == before
