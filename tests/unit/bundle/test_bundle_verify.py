"""Does verify pass on a good bundle, and name the check that a tampered one fails?"""

from __future__ import annotations

import json
import re
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cuboid
from cuboid.errors import BundleError
from unit.bundle.releases import ROWS, files, released, schema

NAMES = ("files", "guarantee", "measurements", "complete", "numbers", "margins", "documents", "ledger")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a ledger and two releases of one plan, a third by another plan, and a seeded one."""
    home = tmp_path_factory.mktemp("verify")
    roomy = cuboid.plan(schema(), "[age]", epsilon=100)
    cuboid.Ledger.at(home / "ledger.sqlite").open_account("survey", loss=roomy.loss, unit=roomy.unit)
    shutil.copy(home / "ledger.sqlite", home / "older.sqlite")
    plan = cuboid.plan(schema(), "[age sex][sex town]", epsilon=1)
    for out in ("one", "two"):
        released(plan, home, out=out)
    released(cuboid.plan(schema(), "[age sex][sex town]", epsilon=2), home, out="three")
    released(plan, home, out="seeded", insecure_seed=1)
    return home


@pytest.fixture
def bundle(home, tmp_path):
    """A fresh copy of the first release."""
    return shutil.copytree(home / "one", tmp_path / "copy")


def failed(folder, home=None, ledger="ledger.sqlite"):
    """The names of the checks that fail."""
    book = None if home is None else cuboid.Ledger.at(home / ledger)
    return {check.name for check in cuboid.verify(folder, book) if check.passed is False}


def forge(folder):
    """Make the receipt agree with whatever lies in the folder now, as a forger would."""
    from cuboid.bundle.files import contents, sha256

    receipt = json.loads((folder / "receipt.json").read_text())
    receipt["files"] = {name: sha256(folder / name) for name in contents(folder)}
    (folder / "receipt.json").write_text(json.dumps(receipt))


def edit(path, pattern, replacement):
    """Replace the first match in a text file, which must be there."""
    text, number = re.subn(pattern, replacement, path.read_text(), count=1, flags=re.MULTILINE)
    assert number == 1
    path.write_text(text)


def edit_json(path, change):
    """Change a JSON file in place."""
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def edit_measurements(folder, column, change):
    """Replace a column of the measurements."""
    path = folder / "measurements.parquet"
    table = pq.read_table(path)
    place = table.column_names.index(column)
    pq.write_table(table.set_column(place, column, pa.array(change(table[column].to_pylist()))), path)


def test_a_good_bundle_passes_every_check(home):
    """All six questions are asked and answered well, by the ledger too."""
    for out in ("one", "two", "three", "seeded"):
        checks = cuboid.verify(home / out, cuboid.Ledger.at(home / "ledger.sqlite"))
        assert tuple(check.name for check in checks) == NAMES
        assert all(check.passed for check in checks), checks


def test_without_a_ledger_that_question_is_left_open(home):
    """Somebody who has the bundle alone can check all else."""
    checks = cuboid.verify(home / "one")
    assert [check.passed for check in checks] == [True] * 7 + [None]


LINE = r"^young,f,([^,]+),([^,]+),([^,]+),([^,]+),(\w+)$"
TABLE = "tables/0001.csv"
EDITS = {
    "one raw": (TABLE, LINE, r"young,f,1\1,\2,\3,\4,\5", "numbers"),
    "one raw, by a person": (TABLE, LINE, lambda m: f"young,f,{float(m[1]) + 1},{','.join(m.groups()[1:])}", "numbers"),
    "one sd": (TABLE, LINE, r"young,f,\1,0.5,\3,\4,\5", "numbers"),
    "one lo95": (TABLE, LINE, r"young,f,\1,\2,-1\3,\4,\5", "numbers"),
    "one hi95": (TABLE, LINE, r"young,f,\1,\2,\3,1\4,\5", "numbers"),
    "one flag": (TABLE, LINE, r"young,f,\1,\2,\3,\4,exact", "numbers"),
    "not a number": (TABLE, LINE, r"young,f,nan,\2,\3,\4,\5", "numbers"),
    "no number": (TABLE, LINE, r"young,f,,\2,\3,\4,\5", "complete"),
    "one label": (TABLE, LINE, r"younger,f,\1,\2,\3,\4,\5", "complete"),
    "a row removed": (TABLE, LINE + r"\n", "", "complete"),
    "a row doubled": (TABLE, LINE, r"\g<0>\n\g<0>", "complete"),
    "rows reordered": (TABLE, r"^(young,f,.*)\n(young,m,.*)$", r"\2\n\1", "complete"),
    "a column renamed": (TABLE, r"^age,sex,raw", "age,sex,rax", "complete"),
    "a value more": (TABLE, LINE, r"\g<0>,1", "complete"),
}


@pytest.mark.parametrize("forged", [False, True], ids=["as-is", "receipt-forged"])
@pytest.mark.parametrize("case", EDITS, ids=lambda name: name.replace(" ", "-"))
def test_an_edited_table_is_found(bundle, home, case, forged):
    """Each edit of a table fails `files`; with the receipt forged too, it fails the check that looks at cells."""
    path, pattern, replacement, check = EDITS[case]
    edit(bundle / path, pattern, replacement)
    if forged:
        forge(bundle)
        assert failed(bundle, home) >= {check}
    else:
        assert failed(bundle, home) >= {"files", check}


FILES = {
    "added": lambda folder: (folder / "note.txt").write_text("x"),
    "added table": lambda folder: (folder / "tables/0003.csv").write_text("x"),
    "added link": lambda folder: (folder / "link").symlink_to(folder.parent, target_is_directory=True),
    "card removed": lambda folder: (folder / "card.md").unlink(),
    "card edited": lambda folder: edit(folder / "card.md", "epsilon = 1", "epsilon = 0.1"),
    "package edited": lambda folder: edit(folder / "datapackage.json", "young", "old"),
    "digests removed": lambda folder: edit_json(folder / "receipt.json", lambda receipt: receipt.update(files=None)),
}


@pytest.mark.parametrize("case", FILES, ids=lambda name: name.replace(" ", "-"))
def test_a_file_added_removed_or_edited_is_found(bundle, home, case):
    """The receipt lists every file with its digest."""
    FILES[case](bundle)
    assert failed(bundle, home) >= {"files"}


def test_a_table_removed_is_found(bundle, home):
    """A missing table fails both the list of files and completeness."""
    (bundle / TABLE).unlink()
    assert failed(bundle, home) >= {"files", "complete"}


def test_a_leftover_is_found(bundle, home):
    """A file under the name of a half-written one is a file more."""
    (bundle / "rows.csv.partial").write_text("anything")
    assert failed(bundle, home) >= {"files"}


def test_edited_measurements_are_found(bundle, home):
    """Another noisy number means other tables."""
    edit_measurements(bundle, "numerator", lambda numbers: [numbers[0] + 1, *numbers[1:]])
    assert failed(bundle, home) >= {"files", "numbers"}


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "measurements.parquet").write_bytes(b"PAR1"),
        lambda folder: (folder / "measurements.parquet").unlink(),
        lambda folder: edit_measurements(folder, "cell", lambda cells: cells[::-1]),
        lambda folder: edit_measurements(folder, "query", lambda queries: [place + 1 for place in queries]),
        lambda folder: edit_measurements(folder, "numerator", lambda numbers: [None] * len(numbers)),
        lambda folder: edit_measurements(folder, "numerator", lambda numbers: [str(number) for number in numbers]),
    ],
    ids=["junk", "gone", "reordered", "other-queries", "nulls", "text"],
)
def test_measurements_that_do_not_fit_the_plan_are_found(bundle, home, change):
    """They are a named failure, not a crash."""
    change(bundle)
    assert failed(bundle, home) >= {"files", "measurements"}
    with pytest.raises(BundleError):
        cuboid.open(bundle)


def planned(key, value):
    """A change of one entry of the stored plan."""
    return lambda document: document["plan"].update({key: value})


RELEASE_EDITS = {
    "statement": (lambda d: d["privacy"]["guarantee"].update(epsilon="0.1"), {"guarantee"}),
    "sensitivity": (lambda d: d["privacy"].update(sensitivity="bound"), {"guarantee"}),
    "relation stated": (lambda d: d["privacy"].update(relation="replace"), {"guarantee"}),
    "dataset": (lambda d: d.update(dataset="another"), {"guarantee"}),
    "plan's guarantee, smaller": (planned("loss", {"epsilon": "0.1"}), {"guarantee", "ledger"}),
    "plan's guarantee, larger": (planned("loss", {"epsilon": "10"}), {"guarantee", "ledger"}),
    "plan's strategy": (planned("strategy", "direct"), {"ledger"}),
    "ledger's head": (lambda d: d["ledger"].update(head="0" * 64), {"ledger"}),
    "ledger's sequence": (lambda d: d["ledger"].update(sequence=99), {"ledger"}),
}


@pytest.mark.parametrize("case", RELEASE_EDITS, ids=lambda name: name.replace(" ", "-").replace(",", ""))
def test_an_edited_statement_or_plan_is_found(bundle, home, case):
    """Even with the receipt forged, statement, plan and ledger no longer agree."""
    change, checks = RELEASE_EDITS[case]
    edit_json(bundle / "release.json", change)
    assert failed(bundle, home) >= checks | {"files"}
    forge(bundle)
    assert failed(bundle, home) >= checks


def test_guarantee_and_statement_edited_together_are_found(bundle, home):
    """The ledger knows which plan was paid for."""
    edit_json(bundle / "release.json", lambda d: (planned("loss", {"epsilon": "10"})(d),
                                                  d["privacy"]["guarantee"].update(epsilon="10"),
                                                  d["privacy"].update(spent="10")))  # fmt: skip
    forge(bundle)
    assert failed(bundle, home) >= {"ledger"}


def test_queries_that_cost_more_than_is_said_are_found(bundle, home):
    """A guarantee made smaller everywhere is still less than what the queries cost, with or without a ledger."""
    edit_json(bundle / "release.json", lambda d: (planned("loss", {"epsilon": "0.1"})(d),
                                                  d["privacy"]["guarantee"].update(epsilon="0.1"),
                                                  d["privacy"].update(spent="0.1")))  # fmt: skip
    forge(bundle)
    assert failed(bundle) >= {"guarantee"}
    assert failed(bundle, home) >= {"guarantee", "ledger"}


UNREADABLE = {
    "exponent": lambda d: d["measurements"].update(exponent="x"),
    "exponent, huge": lambda d: d["measurements"].update(exponent=10**30),
    "schema": planned("schema", "["),
    "plan's version": planned("version", 99),
    "loss": planned("loss", {"epsilon": "-1"}),
}


@pytest.mark.parametrize("case", UNREADABLE, ids=lambda name: name.replace(" ", "-").replace(",", ""))
def test_facts_that_make_no_sense_are_a_failed_check(bundle, home, case):
    """A release.json that cannot be understood is an altered one: said by a check, not by a crash."""
    edit_json(bundle / "release.json", UNREADABLE[case])
    assert "files" in failed(bundle, home)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: edit_json(folder / "release.json", lambda d: d.update(tables=[])),
        lambda folder: edit_json(folder / "release.json", lambda d: d.update(wanted="[age]")),
        lambda folder: edit_json(folder / "release.json", lambda d: d.update(private=False)),
        *(FILES[case] for case in ("card edited", "package edited", "added")),
    ],
    ids=["index", "wanted", "private", "card", "package", "file"],
)
def test_what_follows_from_the_plan_is_recomputed(bundle, home, change):
    """With the receipt forged, index, card and package still are not those that follow from the measurements."""
    change(bundle)
    forge(bundle)
    assert failed(bundle, home)


def test_an_edited_receipt_is_found(bundle, home):
    """receipt.json and release.json name the same entry of the ledger."""
    edit_json(bundle / "receipt.json", lambda receipt: receipt["ledger"].update(head="0" * 64))
    assert failed(bundle, home)


def test_a_stamp_taken_off_is_found(home, tmp_path):
    """The nonce tells that a release was seeded, whatever its bundle says now; so does the ledger, with another."""
    copy = shutil.copytree(home / "seeded", tmp_path / "copy")
    edit_json(copy / "release.json", lambda d: (d.update(private=True), d["measurements"].update(private=True)))
    with pytest.raises(BundleError, match="was drawn with a known seed"):
        cuboid.recover(copy)
    edit_json(copy / "release.json", lambda d: d["measurements"].update(nonce="0" * 32))
    cuboid.recover(copy)
    assert failed(copy, home) >= {"ledger"}


def test_tables_of_another_bundle_are_found(bundle, home):
    """Tables of a twin release, with noise of their own, do not follow from these measurements."""
    shutil.rmtree(bundle / "tables")
    shutil.copytree(home / "two/tables", bundle / "tables")
    assert failed(bundle, home) >= {"files", "numbers"}
    forge(bundle)
    assert failed(bundle, home) >= {"numbers"}


def test_measurements_of_another_bundle_are_found(bundle, home):
    """So are the measurements of a twin release."""
    shutil.copy(home / "two/measurements.parquet", bundle)
    forge(bundle)
    assert failed(bundle, home) >= {"numbers"}


def test_an_older_copy_of_the_ledger_is_found(bundle, home):
    """A ledger from before the release does not hold its entry."""
    assert failed(bundle, home, "older.sqlite") >= {"ledger"}


def test_the_margins_of_tables_forged_apart_are_found(home, tmp_path):
    """Tables that would follow from other measurements each, but do not agree with each other, cannot pass."""
    copy = shutil.copytree(home / "one", tmp_path / "copy")
    shutil.copy(home / "two/tables/0001.csv", copy / "tables/0001.csv")
    forge(copy)
    assert failed(copy, home) >= {"numbers"}


@pytest.mark.parametrize("name", ["release.json", "receipt.json"])
@pytest.mark.parametrize("content", [None, b"", b"[", b"\xff", b"[1]", b'{"format": 2}'], ids=repr)
def test_what_is_no_finished_release_is_refused_in_words(bundle, name, content):
    """A bundle without its two JSON files, or with others, is refused by a sentence or a failed check."""
    (bundle / name).unlink() if content is None else (bundle / name).write_bytes(content)
    try:
        assert "files" in failed(bundle)
    except BundleError as error:
        assert str(bundle) in str(error)  # noqa: PT017


def test_no_folder_is_refused(tmp_path):
    """A path with nothing there says so."""
    with pytest.raises(BundleError, match="there is no folder"):
        cuboid.verify(tmp_path / "nothing")
    with pytest.raises(BundleError, match=r"has no release\.json"):
        cuboid.verify(tmp_path)


def test_verify_changes_nothing(bundle, home):
    """Looking leaves every file as it was."""
    before = files(bundle)
    failed(bundle, home)
    assert files(bundle) == before


def test_data_cannot_make_a_check_fail(tmp_path):
    """A release of rows that all fall outside the schema verifies like any other."""
    made = released(cuboid.plan(schema(), "all 1..2-way", epsilon=1), tmp_path,
                    rows={name: ["undeclared"] * 9 for name in ROWS})  # fmt: skip
    assert failed(made.folder, tmp_path) == set()
