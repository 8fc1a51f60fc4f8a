"""Is the ledger where it should be, private, and plain-spoken when it cannot be?"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

import cuboid
from cuboid.errors import LedgerError
from cuboid.privacy import Unit, loss
from cuboid.privacy.ledger import Ledger
from cuboid.privacy.ledger.store import Store
from ledger_requests import request

SOURCE = Path(cuboid.__file__).parents[1]
TESTS = Path(__file__).parents[2]


def run(script, *arguments):
    """The output of a fresh interpreter that runs the script."""
    environment = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{TESTS}"}
    finished = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True, text=True, env=environment, timeout=60, check=False,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_path_is_the_one_given_else_the_variable_else_the_state_folder(monkeypatch, tmp_path):
    """Argument, then CUBOID_LEDGER, then XDG_STATE_HOME, then ~/.local/state; empty or relative ones do not count."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("CUBOID_LEDGER", str(tmp_path / "own.sqlite"))
    assert Ledger.at(str(tmp_path / "given")).path == tmp_path / "given"
    assert Ledger.at().path == tmp_path / "own.sqlite"
    monkeypatch.setenv("CUBOID_LEDGER", "")
    assert Ledger.at().path == tmp_path / "state" / "cuboid" / "ledger.sqlite"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert Ledger.at().path == tmp_path / "home" / ".local" / "state" / "cuboid" / "ledger.sqlite"
    assert list(tmp_path.iterdir()) == []


def test_folders_and_file_are_private(tmp_path):
    """Folders are made with mode 0700 and the file with 0600, and nothing else is left beside it."""
    ledger = Ledger.at(tmp_path / "state" / "cuboid" / "ledger.sqlite")
    ledger.spend(request())
    assert [(path.stat().st_mode & 0o777) for path in (ledger.path, *ledger.path.parents[:2])] == [0o600, 0o700, 0o700]
    assert list(ledger.path.parent.iterdir()) == [ledger.path]


def test_a_path_with_odd_letters_is_a_path(tmp_path):
    """Question marks, hashes, blanks and percent signs in a path are part of its name."""
    ledger = Ledger.at(tmp_path / "a b?mode=ro#%41" / "läger.sqlite")
    ledger.spend(request())
    assert ledger.path.exists()
    assert ledger.names() == ("survey",)


def test_an_empty_file_is_a_ledger_to_be(tmp_path):
    """A file of no bytes, such as one somebody touched, is filled at the first spend."""
    path = tmp_path / "ledger.sqlite"
    path.touch()
    ledger = Ledger.at(path)
    assert ledger.names() == ()
    ledger.spend(request())
    assert ledger.names() == ("survey",)


def one_sentence(error):
    text = str(error.value)
    assert "\n" not in text
    assert ". " not in text
    return text


@pytest.mark.parametrize("content", [b"not a ledger\n" * 400, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_file_that_is_no_ledger_is_refused(tmp_path, content):
    """Any other file is named in one sentence, and left as it was."""
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(content)
    for ask in (Ledger.at(path).verify, Ledger.at(path).names, lambda: Ledger.at(path).spend(request())):
        with pytest.raises(LedgerError, match=r"ledger\.sqlite (is not a ledger|cannot be read)") as error:
            ask()
        one_sentence(error)
    assert path.read_bytes() == content


def test_another_database_is_refused(tmp_path):
    """Somebody's other SQLite file is not written into."""
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE entry (x)")
    for ask in (Ledger.at(path).names, lambda: Ledger.at(path).spend(request())):
        with pytest.raises(LedgerError, match="is not a ledger"):
            ask()


def test_a_ledger_of_another_version_is_refused(tmp_path):
    """A file that a later Cuboid laid out is not guessed at."""
    ledger = Ledger.at(tmp_path / "ledger.sqlite")
    ledger.spend(request())
    with closing(sqlite3.connect(ledger.path)) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(LedgerError, match="of another version than this Cuboid reads: upgrade"):
        ledger.names()


@pytest.mark.parametrize("under", ["/proc/nowhere", "a file"])
def test_a_place_where_nothing_can_be_made_is_refused(tmp_path, under):
    """Where no folder or file can be made, one sentence says so and how to choose another place."""
    (tmp_path / "a file").write_text("")
    ledger = Ledger.at(tmp_path / under / "ledger.sqlite")
    with pytest.raises(LedgerError, match="cannot be opened, so nothing was spent: give --ledger, or set") as error:
        ledger.spend(request())
    one_sentence(error)
    ledger.check(request())


def test_a_folder_in_place_of_the_file_is_refused(tmp_path):
    """A path that is a folder is no ledger."""
    with pytest.raises(LedgerError, match="cannot be opened"):
        Ledger.at(tmp_path).spend(request())


READ_ONLY = """
import os, pathlib, sys, tempfile
from cuboid.errors import LedgerError
from cuboid.privacy.ledger import Ledger
from ledger_requests import request
folder = pathlib.Path(tempfile.mkdtemp())
ledger = Ledger.at(folder / "ledger.sqlite")
ledger.spend(request())
ledger.path.chmod(0o444)
folder.chmod(0o555)
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    ledger.spend(request())
except LedgerError as error:
    print(error)
print(len(ledger.account("survey").entries), len(ledger.verify()))
"""


def test_a_read_only_ledger_can_be_read_and_not_spent_from():
    """Without the right to write, showing and verifying work, and a spend is refused in one sentence."""
    refusal, counts = run(READ_ONLY).splitlines()
    assert "cannot be" in refusal
    assert "so nothing was spent: give --ledger" in refusal
    assert counts == "1 1"


DISK_FULL = """
import resource, sys
from cuboid.errors import LedgerError
from cuboid.privacy.ledger import Ledger
from ledger_requests import request
ledger = Ledger.at(sys.argv[1])
ledger.spend(request())
resource.setrlimit(resource.RLIMIT_FSIZE, (ledger.path.stat().st_size + 9000, resource.RLIM_INFINITY))
granted, refused = 1, 0
for _ in range(40):
    try:
        ledger.spend(request(plan="ab" * 1000))
        granted += 1
    except LedgerError as error:
        refused, sentence = refused + 1, str(error)
print(granted, refused)
print(sentence)
"""


def test_a_disk_that_is_full_spends_nothing(tmp_path):
    """Where the file cannot grow, a spend is refused in one sentence, and the record is what was granted."""
    pytest.importorskip("resource")
    counts, sentence = run(DISK_FULL, tmp_path / "ledger.sqlite").splitlines()
    granted, refused = map(int, counts.split())
    assert granted > 0
    assert refused > 0
    assert sentence.startswith("the ledger")
    ledger = Ledger.at(tmp_path / "ledger.sqlite")
    assert len(ledger.account("survey").entries) == granted
    ledger.spend(request())


def test_a_ledger_held_by_another_process_is_waited_for_and_then_named(tmp_path, monkeypatch):
    """A writer queues for its turn; when its patience ends, one sentence says so and nothing is spent."""
    monkeypatch.setattr("cuboid.privacy.ledger.store.PATIENCE", 0.1)
    ledger = Ledger.at(tmp_path / "ledger.sqlite")
    ledger.open_account("survey", loss=loss(epsilon=1), unit=Unit())
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="is held by another process, so nothing was spent") as error:
            ledger.spend(request())
        one_sentence(error)
        assert ledger.account("survey").spent == 0
    ledger.spend(request())


def test_a_failure_inside_the_transaction_writes_nothing(tmp_path):
    """Whatever is raised between the check and the commit, the ledger stays as it was."""
    ledger = Ledger.at(tmp_path / "ledger.sqlite")
    first = ledger.spend(request())

    def interrupted():
        with Store(ledger.path).writing() as book:
            entries = book.entries("survey")
            book.append("survey", entries[0].record, entries)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert ledger.verify()[0].head == first.head


def test_threads_that_make_the_same_ledger_agree(tmp_path):
    """Many threads that all find no file yet write one ledger with all their spends."""
    ledger = Ledger.at(tmp_path / "new" / "ledger.sqlite")
    start = threading.Barrier(12)
    failures = []

    def work():
        start.wait()
        try:
            ledger.spend(request())
        except LedgerError as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(ledger.account("survey").entries) == 12
    assert list(ledger.path.parent.iterdir()) == [ledger.path]


def test_cuboid_itself_needs_no_sqlite():
    """The ledger is the only part that loads SQLite."""
    assert run("import sys, cuboid, cuboid.privacy; print('sqlite3' in sys.modules)").strip() == "False"
