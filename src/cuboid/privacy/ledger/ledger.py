"""The ledger: checks a spend and writes it down, before any noise is drawn."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuboid.errors import LedgerError, ParameterError, listed
from cuboid.privacy.ledger.account import Account, balance, charge_for, opening
from cuboid.privacy.ledger.event import Entry, Receipt, Request, Spent, refuse_bad_name
from cuboid.privacy.ledger.place import location
from cuboid.privacy.ledger.store import Book, Store
from cuboid.privacy.unit import Unit

if TYPE_CHECKING:
    from pathlib import Path

    from cuboid.privacy.loss import Loss


@dataclass(frozen=True, slots=True)
class Ledger:
    """Everything that was spent, by dataset; the file is made at the first write.

    Safe with threads, processes and fork: every operation has a connection of its own, and writers queue.
    """

    store: Store

    @classmethod
    def at(cls, path: str | Path | None = None) -> Ledger:
        """The ledger at a path, else at $CUBOID_LEDGER, else in the user's state folder."""
        return cls(Store(location(path)))

    @property
    def path(self) -> Path:
        """Where the ledger is."""
        return self.store.path

    def open_account(self, name: str, *, loss: Loss, unit: Unit) -> Receipt:
        """The receipt of a new account, which fixes the dataset's currency, cap, relation and unit for good.

        Guarantee:
            what was spent before the account was opened counts against its cap.
            An account is opened once; nothing widens it later.
            Raises LedgerError or BudgetExceededError, and then nothing is written.
        """
        refuse_bad_name(name)
        with self.store.writing() as book:
            entries = book.entries(name)
            return book.append(name, opening(balance(name, entries), loss, unit), entries).receipt

    def check(self, request: Request) -> None:
        """Raise BudgetExceededError or LedgerError where `spend` would now; write nothing."""
        with self.store.reading() as book:
            charge_for(balance(request.dataset, book.entries(request.dataset)), request)

    def spend(self, request: Request) -> Receipt:
        """The receipt of the request, granted and written; draw noise only after it is returned.

        Guarantee:
            check and write are one transaction: however many race, the sum of what is granted is within the cap.
            The spend is on the disk before this returns, so a crash afterwards over-counts and never under-counts.
            Raises BudgetExceededError or LedgerError, and then nothing is spent.
        """
        with self.store.writing() as book:
            entries = book.entries(request.dataset)
            account = balance(request.dataset, entries)
            spent = Spent(request=request, charge=charge_for(account, request))
            entry = book.append(request.dataset, spent, entries)
            warnings = _warnings(book, account, request, self.path)
        return Receipt(dataset=entry.dataset, sequence=entry.sequence, head=entry.head, warnings=warnings)

    def knows(self, dataset: str, plan: str, release: str) -> bool:
        """Whether this drawing of noise, by its nonce, was paid for here, under this plan."""
        with self.store.reading() as book:
            spends = [entry.record for entry in book.entries(dataset) if isinstance(entry.record, Spent)]
        return any((spent.request.plan, spent.request.release) == (plan, release) for spent in spends)

    def account(self, name: str) -> Account:
        """The dataset's account, opened or not; raises LedgerError for a name that the ledger does not have."""
        with self.store.reading() as book:
            entries = book.entries(name)
            if not entries:
                raise _unknown(name, book)
        return balance(name, entries)

    def names(self) -> tuple[str, ...]:
        """The datasets that were opened or spent on, in order."""
        with self.store.reading() as book:
            return book.names()

    def verify(
        self, name: str | None = None, head: str | None = None, sequence: int | None = None
    ) -> tuple[Receipt, ...]:
        """The last receipt of each dataset, or of one, all chains recomputed; with a receipt, that it is still there.

        A head without its sequence may be anywhere in the chain. Receipts kept elsewhere are what shows that a
        ledger was replaced by an older copy, or rewritten from end to end.
        Raises LedgerError that names the dataset and the first entry that does not hold.
        """
        if name is None and (head is not None or sequence is not None):
            raise ParameterError("a receipt is looked for in one chain: say which dataset's")
        with self.store.reading() as book:
            chains = {own: book.entries(own) for own in (book.names() if name is None else (name,))}
            if name is not None and (head is not None or sequence is not None):
                _refuse_missing(name, chains[name], head, sequence)
            elif name is not None and not chains[name]:
                raise _unknown(name, book)
        return tuple(entries[-1].receipt for entries in chains.values())


def _refuse_missing(name: str, entries: tuple[Entry, ...], head: str | None, sequence: int | None) -> None:
    if not any(head in (None, entry.head) and sequence in (None, entry.sequence) for entry in entries):
        which = "the receipt's entry" if sequence is None else f"entry {sequence} of the receipt"
        raise LedgerError(f"the ledger's chain of dataset {name} does not contain {which}, so it is an older copy or "
                          "was rewritten: restore the latest copy before anything else is spent")  # fmt: skip


def _unknown(name: str, book: Book) -> ParameterError:
    return ParameterError(f"the ledger has no dataset {name}; it has: {listed(book.names()) or 'none'}")


def _warnings(book: Book, account: Account, request: Request, ledger: Path) -> tuple[str, ...]:
    warnings = []
    if account.currency is None:
        command = f"cuboid ledger open {_options(request, ledger)}"
        warnings.append(f"dataset {request.dataset} is not opened in the ledger, so this spend is recorded but not "
                        f"capped: set a CAP that counts it with `{command}`")  # fmt: skip
    others = book.others_with(request.source, request.dataset) if request.source is not None else ()
    if others:
        warnings.append(f"the source {request.source} was released before under another dataset name "
                        f"({listed(others)}): if the people are the same, use one name and one budget")  # fmt: skip
    return tuple(warnings)


def _options(request: Request, ledger: Path) -> str:
    """What to type after `open`, in the currency that was typed, so that the account can count this spend."""
    options = [shlex.quote(request.dataset)]
    options += [f"--{name} {value if name == 'delta' else 'CAP'}" for name, value in request.guarantee.items()]
    if request.unit.relation is not Unit().relation:
        options.append(f"--relation {request.unit.relation}")
    if request.unit.max_rows != Unit().max_rows:
        options.append(f"--max-rows {request.unit.max_rows}")
    if ledger != location(None):
        options.append(f"--ledger {shlex.quote(str(ledger))}")
    return " ".join(options)
