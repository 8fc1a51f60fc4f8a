"""The ledger's file: SQLite, append-only, one connection per operation.

Durability: a commit is on the disk before `writing` ends (a rollback journal with synchronous=EXTRA, which is FULL
and also syncs the journal's folder: with FULL alone a power loss may bring the journal, and so the old balance, back).
No write-ahead log: its two extra files would be left behind when a ledger is copied.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cuboid.errors import LedgerError
from cuboid.privacy.ledger.event import START, Entry, Record, canonical, chained, decoded, encoded
from cuboid.privacy.ledger.place import is_blank, make_private

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE = 300.0  # seconds that a writer queues for its turn
_APPLICATION = 0x43756264  # "Cubd"
_SCHEMA_VERSION = 1
_SCHEMA = (
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_SCHEMA_VERSION}",
    """CREATE TABLE entry (
        dataset TEXT NOT NULL, sequence INTEGER NOT NULL, event TEXT NOT NULL, hash TEXT NOT NULL,
        PRIMARY KEY (dataset, sequence)) WITHOUT ROWID""",
    # The tip of each chain once more, so that a lost last line shows even without a receipt.
    "CREATE TABLE head (dataset TEXT PRIMARY KEY, sequence INTEGER NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TRIGGER entry_follows BEFORE INSERT ON entry
        WHEN NEW.sequence <> 1 + (SELECT count(*) FROM entry WHERE dataset = NEW.dataset)
        BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    "CREATE TRIGGER entry_stays BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
    "CREATE TRIGGER entry_remains BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
    "CREATE TRIGGER head_remains BEFORE DELETE ON head BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
)


class Book:
    """The ledger inside one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def names(self) -> tuple[str, ...]:
        """The datasets, in order."""
        rows = self._connection.execute("SELECT dataset FROM entry UNION SELECT dataset FROM head ORDER BY 1")
        return tuple(name for (name,) in rows)

    def entries(self, dataset: str) -> tuple[Entry, ...]:
        """The dataset's chain, first entry first; raises LedgerError at the first link that does not hold."""
        rows = self._connection.execute(
            "SELECT sequence, event, hash FROM entry WHERE dataset = ? ORDER BY sequence", (dataset,)
        ).fetchall()
        entries: list[Entry] = []
        previous = START
        for place, (sequence, text, head) in enumerate(rows, 1):
            if sequence != place or not isinstance(text, str) or head != chained(previous, text):
                raise _altered(dataset, place)
            entries.append(_entry(dataset, place, text, head))
            previous = head
        tip = self._connection.execute("SELECT sequence, hash FROM head WHERE dataset = ?", (dataset,)).fetchone()
        if tip != ((len(entries), previous) if entries else None):
            raise _altered(dataset, len(entries) + 1)
        return tuple(entries)

    def append(self, dataset: str, record: Record, after: tuple[Entry, ...]) -> Entry:
        """The new last entry of the dataset's chain, written."""
        sequence = len(after) + 1
        text = encoded(dataset, sequence, datetime.now(UTC).isoformat(timespec="seconds"), record)
        head = chained(after[-1].head if after else START, text)
        self._connection.execute("INSERT INTO entry VALUES (?, ?, ?, ?)", (dataset, sequence, text, head))
        self._connection.execute(
            "INSERT INTO head VALUES (?1, ?2, ?3) ON CONFLICT (dataset) DO UPDATE SET sequence = ?2, hash = ?3",
            (dataset, sequence, head),
        )
        return _entry(dataset, sequence, text, head)

    def others_with(self, source: str, dataset: str) -> tuple[str, ...]:
        """The other datasets that released the same source."""
        # In canonical JSON a quote inside a string is escaped, so this matches that field and nothing else.
        field = f'"source":{canonical(source)}'
        rows = self._connection.execute(
            "SELECT DISTINCT dataset FROM entry WHERE dataset <> ? AND instr(event, ?) ORDER BY 1", (dataset, field)
        )
        return tuple(name for (name,) in rows)


class Store:
    """The file at a path, which need not be there yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def reading(self) -> Iterator[Book]:
        """A book that holds still; an empty one where there is no file yet."""
        with self._sentences():
            where = "file::memory:" if is_blank(self.path) else f"{self.path.as_uri()}?mode=rw"
            with closing(self._connect(where)) as connection:
                connection.execute("BEGIN")
                self._prepare(connection)
                yield Book(connection)

    @contextmanager
    def writing(self) -> Iterator[Book]:
        """A book to write in: nobody else writes meanwhile, and nothing is written unless all of it is."""
        with self._sentences():
            make_private(self.path)
            with closing(self._connect(f"{self.path.as_uri()}?mode=rwc")) as connection:
                # IMMEDIATE: the balance is read under the lock that the write needs, so no two see the same one.
                connection.execute("BEGIN IMMEDIATE")
                self._prepare(connection)
                yield Book(connection)
                connection.execute("COMMIT")

    def _connect(self, where: str) -> sqlite3.Connection:
        connection = sqlite3.connect(where, uri=True, timeout=PATIENCE, isolation_level=None)
        try:
            connection.execute("PRAGMA synchronous = EXTRA")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Lay out a new ledger inside the transaction; refuse a file that is none, or of another version."""
        ((application,),) = connection.execute("PRAGMA application_id").fetchall()
        ((version,),) = connection.execute("PRAGMA user_version").fetchall()
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] and not application:
            for statement in _SCHEMA:
                connection.execute(statement)
        elif application != _APPLICATION:
            raise LedgerError(f"the ledger {self.path} {_SENTENCES[sqlite3.SQLITE_NOTADB]}")
        elif version != _SCHEMA_VERSION:
            raise LedgerError(f"the ledger {self.path} is of another version than this Cuboid reads: upgrade Cuboid")

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Turn errors of the file system and of SQLite into one sentence; nothing is spent then."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            what = _SENTENCES.get(code, "cannot be read or written: restore it from a copy, or give another path")
            raise LedgerError(f"the ledger {self.path} {what}") from None
        except OSError:
            raise LedgerError(f"the ledger {self.path} {_SENTENCES[sqlite3.SQLITE_CANTOPEN]}") from None


_ELSEWHERE = "so nothing was spent: give --ledger, or set CUBOID_LEDGER to, a path that you may write"
_SENTENCES = {
    sqlite3.SQLITE_BUSY: "is held by another process, so nothing was spent: try again when that has ended",
    sqlite3.SQLITE_READONLY: f"cannot be written, {_ELSEWHERE}",
    sqlite3.SQLITE_CANTOPEN: f"cannot be opened, {_ELSEWHERE}",
    sqlite3.SQLITE_PERM: f"cannot be opened, {_ELSEWHERE}",
    sqlite3.SQLITE_NOTADB: "is not a ledger, so nothing was spent: give the path of one, or of a file to be made",
    sqlite3.SQLITE_FULL: "cannot grow, for the disk is full, so nothing was spent: make room and try again",
    sqlite3.SQLITE_CONSTRAINT: "was altered and takes no more entries: restore it from a copy",
}


def _altered(dataset: str, place: int) -> LedgerError:
    return LedgerError(f"the ledger's chain of dataset {dataset} was altered at entry {place}: "
                       "restore the ledger from a copy before anything else is spent")  # fmt: skip


def _entry(dataset: str, place: int, text: str, head: str) -> Entry:
    """The entry, which must be what its place in the ledger says."""
    try:
        entry = decoded(text, head)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _altered(dataset, place) from None
    if (entry.dataset, entry.sequence) != (dataset, place):
        raise _altered(dataset, place)
    return entry
