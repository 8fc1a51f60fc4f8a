"""The ledger: what was spent on whose data, append-only and hash-chained.

Import it as `cuboid.privacy.ledger`: `cuboid.privacy` itself stays free of files and of SQLite.
"""

from cuboid.privacy.ledger.account import Account, Currency, price
from cuboid.privacy.ledger.event import Entry, Opened, Receipt, Request, Spent
from cuboid.privacy.ledger.ledger import Ledger

__all__ = ["Account", "Currency", "Entry", "Ledger", "Opened", "Receipt", "Request", "Spent", "price"]
