"""Forgeries with a receipt made to fit: each is found by the check that is named for it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cuboid
from cuboid.bundle.files import contents, sha256
from cuboid.errors import BundleError, CuboidWarning, LedgerError

DATA = Path(__file__).parents[3] / "examples" / "data"
pytestmark = pytest.mark.filterwarnings("ignore::cuboid.errors.CuboidWarning")


@pytest.fixture
def bundle(tmp_path):
    """A small release, with its ledger beside it."""
    plan = cuboid.plan(DATA / "Titanic4way.toml", "[Class Survived][Sex Survived]", epsilon=1)
    cuboid.release(DATA / "Titanic4way.csv", plan, out=tmp_path / "out", ledger=tmp_path / "ledger.sqlite")
    return tmp_path / "out"


def sealed(folder):
    """The checks that fail once the receipt fits whatever lies in the folder."""
    receipt = json.loads((folder / "receipt.json").read_text())
    receipt["files"] = {name: sha256(folder / name) for name in contents(folder)}
    (folder / "receipt.json").write_text(json.dumps(receipt))
    return {check.name for check in cuboid.verify(folder) if check.passed is False}


def test_an_honest_one_passes(bundle):
    """Sealing alone changes nothing."""
    assert sealed(bundle) == set()


def test_swapped_names_of_columns(bundle):
    """A table under its neighbour's heading is incomplete: the heading says which table it is."""
    path = bundle / "tables/0001.csv"
    path.write_text(path.read_text().replace("Class,Survived,", "Survived,Class,", 1))
    assert "complete" in sealed(bundle)


@pytest.mark.parametrize("column", ["value", "sd", "attributes"])
def test_columns_beside_the_numerators(bundle, column):
    """Values, errors and attributes of the measurements follow from the numerators and the plan."""
    path = bundle / "measurements.parquet"
    table = pq.read_table(path)
    forged = pa.array(["Age"] * len(table)) if column == "attributes" else pa.array([0.01] * len(table))
    pq.write_table(table.set_column(table.column_names.index(column), column, forged), path)
    assert sealed(bundle) == {"measurements"}


def test_a_column_that_nobody_wrote(bundle):
    """Measurements have the columns they have, and no other."""
    path = bundle / "measurements.parquet"
    table = pq.read_table(path)
    pq.write_table(table.append_column("true_count", pa.array(range(len(table)))), path)
    assert sealed(bundle) == {"measurements"}


def test_flags_whatever_rule_the_bundle_names(bundle):
    """A flag follows from the stored numbers, so no version excuses another."""
    path = bundle / "release.json"
    document = json.loads(path.read_text())
    document["intervals"]["rule"] = 99
    path.write_text(json.dumps(document))
    table = bundle / "tables/0001.csv"
    table.write_text(re.sub(r",ok$", ",unreliable", table.read_text(), count=1, flags=re.M))
    assert "numbers" in sealed(bundle)


def test_an_entry_that_nobody_wrote(bundle):
    """release.json says what Cuboid says, and nothing more."""
    path = bundle / "release.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"privacy_guarantee": {"epsilon": "0"}}))
    assert "guarantee" in sealed(bundle)


@pytest.mark.parametrize("entry", ["software", "intervals"])
def test_parts_that_are_no_parts(bundle, entry):
    """A list where names should be is a question not asked or a check that fails, never a crash."""
    path = bundle / "release.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {entry: [1]}))
    assert isinstance(sealed(bundle), set)


def test_a_release_that_this_ledger_did_not_pay_for(bundle, tmp_path):
    """The same plan into a folder with somebody else's release is refused, not handed over as one's own."""
    plan = cuboid.open(bundle).plan
    with pytest.warns(CuboidWarning, match="Nothing was spent"):
        cuboid.release(DATA / "Titanic4way.csv", plan, out=bundle, ledger=tmp_path / "ledger.sqlite")
    with pytest.raises(BundleError, match="this ledger did not pay for"):
        cuboid.release(DATA / "Titanic4way.csv", plan, out=bundle, ledger=tmp_path / "other.sqlite")
    assert not (tmp_path / "other.sqlite").exists() or cuboid.Ledger.at(tmp_path / "other.sqlite").names() == ()


def test_an_exact_total_after_a_release_that_hid_it(tmp_path):
    """What a first release protects, a second one of the same people does not publish."""
    own = {"ledger": tmp_path / "ledger.sqlite"}
    first = cuboid.plan(DATA / "titanic-replace.toml", "[Sex]", epsilon=1)
    cuboid.release(DATA / "Titanic4way.csv", first, **own)
    second = cuboid.plan(DATA / "titanic-replace.toml", "[Sex]", epsilon=1, relation="replace")
    with pytest.raises(LedgerError, match="must disclose the same"):
        cuboid.release(DATA / "Titanic4way.csv", second, **own)


@pytest.mark.parametrize("people", [2**53 + 1, 2**63 - 1])
def test_a_public_total_is_exact_beyond_floats(tmp_path, people):
    """Under replace the number of rows is published as the integer it is."""
    text = '[dataset]\nname = "x"\ncount = "n"\n[attribute.a]\nvalues = ["1", "2"]\noutside = "1"\n'
    plan = cuboid.plan(cuboid.Schema.from_toml(text), "[][a]", epsilon=1, relation="replace")
    made = cuboid.release({"a": ["1"], "n": [people]}, plan, out=tmp_path / "out", ledger=tmp_path / "l.sqlite")
    assert made.table().cell() == {"raw": people, "sd": 0, "lo95": people, "hi95": people, "flag": "exact"}
    assert str(people) in (tmp_path / "out/tables/0001.csv").read_text()
