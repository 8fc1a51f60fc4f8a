"""Is a release that was cut off finished for free, and is nothing ever overwritten?"""

from __future__ import annotations

import os
import shutil
import warnings
from pathlib import Path

import pytest

import cuboid
from cuboid.bundle import table_file
from cuboid.errors import BundleError, CuboidWarning
from unit.bundle.releases import ROWS, files, released, schema, spends

PLAN = cuboid.plan(schema(), "all 1..2-way", epsilon=1)
CUTS = {
    "after the measurements": ("receipt.json", "tables", "card.md", "datapackage.json"),
    "in the middle of the tables": (
        "receipt.json", "tables/0003.csv", "tables/0004.csv", "tables/0005.csv", "tables/0006.csv", "card.md",
        "datapackage.json",
    ),
    "before the card": ("receipt.json", "card.md", "datapackage.json"),
    "before the receipt": ("receipt.json",),
}  # fmt: skip


class Unreadable:
    """Data that may not be looked at."""

    def __getattribute__(self, name):
        raise AssertionError("the data were read")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A finished release, with its ledger beside it."""
    return released(PLAN, tmp_path_factory.mktemp("whole")).folder


def cut(folder, names):
    """Take files or folders out of a bundle."""
    for name in names:
        shutil.rmtree(folder / name) if (folder / name).is_dir() else (folder / name).unlink()


@pytest.mark.parametrize("stage", CUTS, ids=lambda name: name.replace(" ", "-"))
def test_recover_finishes_what_was_cut_off(whole, tmp_path, stage):
    """From every stage on, the same files come out, to the byte; until then the release does not open or verify."""
    copy = shutil.copytree(whole, tmp_path / "copy")
    cut(copy, CUTS[stage])
    for look in (cuboid.open, cuboid.verify):
        with pytest.raises(BundleError, match=r"was not finished: `cuboid recover"):
            look(copy)
    cuboid.recover(copy)
    assert files(copy) == files(whole)


def test_recover_mends_a_table_written_by_half(whole, tmp_path):
    """A table cut off in the middle of a line is written anew."""
    copy = shutil.copytree(whole, tmp_path / "copy")
    cut(copy, ["receipt.json"])
    (copy / "tables/0005.csv").write_bytes((whole / "tables/0005.csv").read_bytes()[:37])
    (copy / "tables/0006.csv").write_bytes(b"")
    cuboid.recover(copy)
    assert files(copy) == files(whole)


def test_recover_of_a_finished_release_changes_nothing(whole, tmp_path):
    """It may be run at any time."""
    copy = shutil.copytree(whole, tmp_path / "copy")
    cuboid.recover(copy)
    assert files(copy) == files(whole)


@pytest.mark.parametrize("lost", ["measurements.parquet", "release.json"])
def test_what_cannot_be_made_again_is_said(whole, tmp_path, lost):
    """Without plan or measurements there is nothing to recover, and what is missing is named."""
    copy = shutil.copytree(whole, tmp_path / "copy")
    cut(copy, ["receipt.json", "tables", "card.md", "datapackage.json", lost])
    with pytest.raises(BundleError, match=rf"has no {lost}"):
        cuboid.recover(copy)


class Cut(Exception):
    """The machine stops."""


@pytest.fixture
def stop_at(monkeypatch):
    """A function that makes the machine stop when it comes to write a file of that name."""
    real = Path.open

    def stop_at(name):
        def opened(path, mode="r", *arguments, **options):
            if path.name.startswith(name) and mode == "w":
                raise Cut
            return real(path, mode, *arguments, **options)

        monkeypatch.setattr(Path, "open", opened)

    return stop_at


@pytest.mark.parametrize("name", ["0001.csv", "0004.csv", "card.md", "datapackage.json", "receipt.json"])
def test_the_same_command_goes_on_after_a_crash(tmp_path, monkeypatch, stop_at, name):
    """After a crash while writing, the same release is finished without data, and nothing more is spent."""
    stop_at(name)
    with pytest.raises(Cut):
        released(PLAN, tmp_path)
    monkeypatch.undo()
    assert spends(tmp_path) == 1
    assert not (tmp_path / "out/receipt.json").exists()
    with pytest.warns(CuboidWarning, match="Nothing was spent, and data were not read"):
        made = cuboid.release(Unreadable(), PLAN, out=tmp_path / "out", ledger=tmp_path / "ledger.sqlite")
    assert spends(tmp_path) == 1
    assert cuboid.open(made.folder).wanted == PLAN_WANTED
    assert all(check.passed for check in cuboid.verify(made.folder, cuboid.Ledger.at(tmp_path / "ledger.sqlite")))


PLAN_WANTED = tuple(PLAN.schema.domain.named(cuboid) for cuboid in PLAN.workload.cuboids)


def test_a_recovery_cut_off_leaves_no_old_receipt(whole, tmp_path, monkeypatch, stop_at):
    """A finished bundle whose recovery crashes is unfinished, not one that looks altered."""
    copy = shutil.copytree(whole, tmp_path / "copy")
    stop_at("0003.csv")
    with pytest.raises(Cut):
        cuboid.recover(copy)
    monkeypatch.undo()
    with pytest.raises(BundleError, match="was not finished"):
        cuboid.verify(copy)
    cuboid.recover(copy)
    assert files(copy) == files(whole)


def test_a_crash_before_the_measurements_are_stored_loses_budget_alone(tmp_path, monkeypatch):
    """The spend is written, and the folder then says what is missing."""

    def stop(*arguments, **options):
        raise Cut

    with monkeypatch.context() as patch:
        patch.setattr("pyarrow.parquet.write_table", stop)
        with pytest.raises(Cut):
            released(PLAN, tmp_path)
    assert spends(tmp_path) == 1
    with pytest.raises(BundleError, match=r"has no (measurements\.parquet|release\.json)"):
        cuboid.recover(tmp_path / "out")


def test_a_full_disk_is_said_in_words(tmp_path, monkeypatch):
    """A disk that refuses is a sentence with the way out, and measurements are there to go on from."""
    real = Path.open

    def full(path, mode="r", *arguments, **options):
        if path.suffix == ".csv" and mode == "w":
            raise OSError(28, "No space left on device")
        return real(path, mode, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        with pytest.raises(BundleError, match=r"cannot write to .*: No space left on device; free the place.*recover"):
            released(PLAN, tmp_path)
    cuboid.recover(tmp_path / "out")
    assert all(check.passed is not False for check in cuboid.verify(tmp_path / "out"))


OCCUPIED = {
    "another release": lambda out: released(cuboid.plan(schema(), "[age]", epsilon=2), out.parent, out=out.name),
    "a file in it": lambda out: (out.mkdir(), (out / "note.txt").write_text("mine")),
    "a hidden file in it": lambda out: (out.mkdir(), (out / ".note").write_text("mine")),
    "a file": lambda out: out.write_text("mine"),
}


@pytest.mark.parametrize("case", OCCUPIED, ids=lambda name: name.replace(" ", "-"))
def test_a_release_never_overwrites(tmp_path, case):
    """An occupied place is refused before anything is spent, and stays as it was."""
    out = tmp_path / "out"
    OCCUPIED[case](out)
    before, spent = files(tmp_path), spends(tmp_path)
    with pytest.raises(BundleError, match=r"is never overwritten|cannot make the folder"):
        released(PLAN, tmp_path, rows=ROWS)
    assert {name: content for name, content in files(tmp_path).items() if "ledger" not in name} == {
        name: content for name, content in before.items() if "ledger" not in name
    }
    assert spends(tmp_path) == spent


def test_saving_never_overwrites(whole, tmp_path):
    """Neither does saving a release from memory, not even over itself."""
    made = cuboid.open(whole)
    for place in (whole, tmp_path):
        (tmp_path / "note.txt").write_text("mine")
        with pytest.raises(BundleError, match="is never overwritten"):
            made.save(place)


@pytest.mark.parametrize("place", ["/dev/null/out", "/proc/out", "{tmp}/file/out", "{tmp}/" + "n" * 300], ids=range(4))
def test_an_unwritable_place_is_refused_before_anything_is_spent(tmp_path, place):
    """Where no folder can be made, nothing is counted, drawn or spent."""
    (tmp_path / "file").write_text("")
    with pytest.raises(BundleError, match="cannot make the folder"):
        cuboid.release(ROWS, PLAN, out=place.format(tmp=tmp_path), ledger=tmp_path / "ledger.sqlite")
    assert spends(tmp_path) == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused_before_anything_is_spent(tmp_path):
    """An empty folder that one may not write into is as good as none."""
    out = tmp_path / "out"
    out.mkdir(mode=0o500)
    with pytest.raises(BundleError):
        cuboid.release(ROWS, PLAN, out=out, ledger=tmp_path / "ledger.sqlite")
    assert spends(tmp_path) == 0


def test_a_write_that_fails_leaves_no_half_file(tmp_path):
    """A file is whole or not there."""
    from cuboid.bundle.files import whole

    def half():
        with whole(tmp_path / "a.json") as partial:
            partial.write_text("half")
            raise Cut

    with pytest.raises(Cut):
        half()
    assert list(tmp_path.iterdir()) == []


def test_an_altered_release_is_not_returned_as_the_same(tmp_path):
    """The same command over a bundle that somebody changed is refused, with the check that failed."""
    made = released(PLAN, tmp_path)
    text = (made.folder / "tables/0001.csv").read_text()
    (made.folder / "tables/0001.csv").write_text(text.replace("young", "younger"))
    with pytest.raises(BundleError, match=r"was altered \(files: .*0001\.csv.*choose another folder"):
        cuboid.release(Unreadable(), PLAN, out=made.folder, ledger=tmp_path / "ledger.sqlite")
    assert spends(tmp_path) == 1


def test_the_same_release_again_is_free_and_reads_nothing(tmp_path):
    """The same plan, dataset and folder give back the same release; data are not even opened."""
    made = released(PLAN, tmp_path)
    before = files(made.folder)
    with pytest.warns(CuboidWarning, match="this very release, verified and returned"):
        again = cuboid.release(Unreadable(), PLAN, out=made.folder, ledger=tmp_path / "ledger.sqlite")
    assert files(again.folder) == before
    assert spends(tmp_path) == 1
    assert again.measurements.nonce == made.measurements.nonce


def test_fresh_noise_costs_anew(tmp_path):
    """The same plan into another folder is another release, with noise of its own, at full cost."""
    one, two = released(PLAN, tmp_path, out="one"), released(PLAN, tmp_path, out="two")
    assert spends(tmp_path) == 2
    assert (one.table("age", "town").raw != two.table("age", "town").raw).any()


def test_warnings_alone_are_said_once(tmp_path):
    """A release into an opened account says nothing at all."""
    plan = cuboid.plan(schema(), "[age]", epsilon=1)
    cuboid.Ledger.at(tmp_path / "ledger.sqlite").open_account("survey", loss=plan.loss, unit=plan.unit)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cuboid.release(ROWS, plan, out=tmp_path / "out", ledger=tmp_path / "ledger.sqlite")


def test_many_tables_written_by_half_are_mended(tmp_path):
    """Recovery of the one Parquet of very many tables starts anew too."""
    from importlib import import_module

    made = released(PLAN, tmp_path)
    assert table_file.MOST_CSV == 5_000
    with pytest.MonkeyPatch.context() as patch:
        for module in ("table_file", "write", "package"):
            patch.setattr(import_module(f"cuboid.bundle.{module}"), "MOST_CSV", 2, raising=False)
        other = released(PLAN, tmp_path, out="many")
        before = files(other.folder)
        (other.folder / "tables/all.parquet").write_bytes(before["tables/all.parquet"][:100])
        (other.folder / "receipt.json").unlink()
        cuboid.recover(other.folder)
        assert files(other.folder) == before
    assert "tables/0001.csv" in files(made.folder)
