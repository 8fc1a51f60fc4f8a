"""Does the chain show every change that somebody makes to the ledger's file?"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from cuboid.errors import LedgerError, ParameterError
from cuboid.privacy import Unit, loss
from cuboid.privacy.ledger import Ledger
from cuboid.privacy.ledger.event import START, canonical, chained
from ledger_requests import request

ENTRIES = 5


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger.at(tmp_path / "ledger.sqlite")
    ledger.open_account("survey", loss=loss(epsilon=10), unit=Unit())
    for _ in range(ENTRIES - 1):
        ledger.spend(request(1))
    ledger.spend(request(1, dataset="poll"))
    return ledger


def tamper(ledger, *statements):
    """Run SQL on the file as somebody would who first takes the triggers away."""
    with closing(sqlite3.connect(ledger.path)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def refused_everywhere(ledger, message, name="survey"):
    """Verifying, showing, checking and spending all raise the same LedgerError."""
    for ask in (
        lambda: ledger.verify(),
        lambda: ledger.verify(name),
        lambda: ledger.account(name),
        lambda: ledger.check(request("1/100", dataset=name)),
        lambda: ledger.spend(request("1/100", dataset=name)),
    ):
        with pytest.raises(LedgerError, match=message):
            ask()


def test_an_untouched_ledger_verifies(ledger):
    """Every dataset's last receipt comes back, and each receipt of its past is still there."""
    tips = ledger.verify()
    assert [(tip.dataset, tip.sequence) for tip in tips] == [("poll", 1), ("survey", ENTRIES)]
    for entry in ledger.account("survey").entries:
        ledger.verify("survey", head=entry.head, sequence=entry.sequence)
        ledger.verify("survey", head=entry.head)
    assert ledger.verify("poll") == tips[:1]


def test_hashes_are_what_the_documents_say(ledger):
    """Each hash is sha256 of the one before and the entry's canonical JSON, from 64 zeros."""
    with closing(sqlite3.connect(ledger.path)) as connection:
        rows = connection.execute("SELECT event, hash FROM entry WHERE dataset = 'survey' ORDER BY sequence").fetchall()
    previous = 64 * "0"
    for text, head in rows:
        assert text == canonical(json.loads(text))
        assert head == hashlib.sha256((previous + text).encode()).hexdigest()
        previous = head


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entry SET hash = 'x'",
        "DELETE FROM entry",
        "DELETE FROM head",
        "INSERT OR REPLACE INTO entry SELECT * FROM entry WHERE sequence = 1",
        "INSERT INTO entry VALUES ('survey', 9, '{}', 'x')",
    ],
)
def test_the_file_itself_refuses_to_forget(ledger, statement):
    """Without touching the triggers, SQLite aborts every change, removal and out-of-turn entry."""
    with closing(sqlite3.connect(ledger.path)) as connection:
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
        connection.rollback()
    ledger.verify()


@pytest.mark.parametrize(
    ("statement", "entry"),
    [
        ('UPDATE entry SET event = replace(event, \'"charge":"1"\', \'"charge":"0"\') WHERE sequence = 3', 3),
        ('UPDATE entry SET event = replace(event, \'"cap":"10"\', \'"cap":"90"\') WHERE sequence = 1', 1),
        ("UPDATE entry SET hash = hash || 'x' WHERE sequence = 2", 2),
        ("UPDATE entry SET event = x'00' WHERE sequence = 2", 2),
        ("DELETE FROM entry WHERE dataset = 'survey' AND sequence = 2", 2),
        ("DELETE FROM entry WHERE dataset = 'survey' AND sequence = 1", 1),
        (f"DELETE FROM entry WHERE dataset = 'survey' AND sequence = {ENTRIES}", ENTRIES),
        ("DELETE FROM entry WHERE dataset = 'survey'", 1),
        ("UPDATE entry SET sequence = CASE sequence WHEN 2 THEN 93 ELSE 2 END WHERE sequence IN (2, 3)", 2),
        (f"UPDATE entry SET sequence = 93 WHERE dataset = 'survey' AND sequence = {ENTRIES}", ENTRIES),
    ],
)
def test_an_edited_removed_or_moved_entry_is_found(ledger, statement, entry):
    """The chain names the dataset and the first entry that does not hold, and nothing more can be spent."""
    tamper(ledger, statement)
    refused_everywhere(ledger, rf"chain of dataset survey was altered at entry {entry}: restore")


def test_a_renamed_dataset_is_found(ledger):
    """A chain moved to another name does not belong there: its entries say whose they are."""
    tamper(ledger, "UPDATE entry SET dataset = 'other' WHERE dataset = 'survey'",
           "UPDATE head SET dataset = 'other' WHERE dataset = 'survey'")  # fmt: skip
    refused_everywhere(ledger, "dataset other was altered at entry 1", name="other")


def test_an_entry_rewritten_with_its_hashes_is_found_by_a_receipt(ledger):
    """Whoever recomputes the whole chain makes it hold, but not the receipts that were given."""
    receipt = ledger.spend(request(1))
    with closing(sqlite3.connect(ledger.path)) as connection:
        rows = connection.execute("SELECT sequence, event FROM entry WHERE dataset = 'survey'").fetchall()
    statements, previous = [], START
    for sequence, text in rows:
        forged = text.replace('"charge":"1"', '"charge":"0"')
        previous = chained(previous, forged)
        where = f"WHERE dataset = 'survey' AND sequence = {sequence}"
        statements.append(f"UPDATE entry SET event = '{forged}', hash = '{previous}' {where}")
    tamper(ledger, *statements, f"UPDATE head SET hash = '{previous}' WHERE dataset = 'survey'")
    ledger.verify()
    with pytest.raises(LedgerError, match=f"does not contain entry {receipt.sequence} of the receipt"):
        ledger.verify("survey", head=receipt.head, sequence=receipt.sequence)


def test_an_older_copy_is_found_by_a_receipt(ledger, tmp_path):
    """A copy from before a spend holds in itself, and lacks the entry of the receipt."""
    shutil.copy(ledger.path, tmp_path / "older.sqlite")
    receipt = ledger.spend(request(1))
    shutil.copy(tmp_path / "older.sqlite", ledger.path)
    ledger.verify()
    with pytest.raises(LedgerError, match="dataset survey does not contain entry 6 of the receipt, so it is an older"):
        ledger.verify("survey", head=receipt.head, sequence=receipt.sequence)
    ledger.spend(request(2))
    with pytest.raises(LedgerError, match="older copy"):
        ledger.verify("survey", head=receipt.head, sequence=receipt.sequence)


def test_a_lost_ledger_is_found_by_a_receipt(ledger):
    """With the file gone, a receipt still says that there was one."""
    receipt = ledger.spend(request(1))
    ledger.path.unlink()
    assert ledger.verify() == ()
    with pytest.raises(LedgerError, match="does not contain"):
        ledger.verify("survey", head=receipt.head, sequence=receipt.sequence)
    with pytest.raises(ParameterError, match="has no dataset survey; it has: none"):
        ledger.verify("survey")
    with pytest.raises(ParameterError, match="which dataset"):
        ledger.verify(head=receipt.head)


@pytest.mark.parametrize("change", [('"event":"spend"', '"event":"refund"'), ('"version":1', '"version":2')])
def test_an_unknown_event_or_version_is_refused(ledger, change):
    """A later Cuboid's events are not guessed at, even where the chain holds."""
    with closing(sqlite3.connect(ledger.path)) as connection:
        (text,) = connection.execute("SELECT event FROM entry WHERE dataset = 'poll'").fetchone()
    newer = text.replace(*change)
    assert newer != text
    head = chained(START, newer)
    tamper(ledger, f"UPDATE entry SET event = '{newer}', hash = '{head}' WHERE dataset = 'poll'",
           f"UPDATE head SET hash = '{head}' WHERE dataset = 'poll'")  # fmt: skip
    refused_everywhere(ledger, "entry 1 of dataset poll is an event that this version of Cuboid does not know", "poll")


@pytest.mark.parametrize("change", [('"amount":"1"', '"amount":"-1"'), ('"plan":', '"plain":'), ("pure", "impure")])
def test_a_malformed_event_is_refused(ledger, change):
    """An entry that hashes well but does not read as an event counts as altered."""
    with closing(sqlite3.connect(ledger.path)) as connection:
        (text,) = connection.execute("SELECT event FROM entry WHERE dataset = 'poll'").fetchone()
    broken = text.replace(*change)
    head = chained(START, broken)
    tamper(ledger, f"UPDATE entry SET event = '{broken}', hash = '{head}' WHERE dataset = 'poll'",
           f"UPDATE head SET hash = '{head}' WHERE dataset = 'poll'")  # fmt: skip
    refused_everywhere(ledger, "dataset poll was altered at entry 1", "poll")
