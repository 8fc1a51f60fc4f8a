"""What the ledger remembers: openings and spends, as versioned events in a hash chain.

An event says what happened and never changes its meaning: a new meaning is a new version. Rationals are text
("1/3"), so no reader can round them.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, TypeAlias

from cuboid.errors import LedgerError, ParameterError
from cuboid.privacy.loss import Mechanism, Spend
from cuboid.privacy.unit import Relation, Unit

VERSION = 1
START = "0" * 64
_RATIONAL = re.compile(r"\d+(/[1-9]\d*)?\Z")
_FINEST = 10**400  # as fine as `exact` reads; Python refuses to write numbers of more than 4,300 digits


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A spend that somebody asks for, or has made.

    `guarantee` is the loss as it was typed, `plan` the plan's digest and `release` a nonce, both hexadecimal.
    `folder` and `source` are compared as text: give absolute paths. Seeded runs are not `private`; they cost the same.
    """

    dataset: str
    spend: Spend
    guarantee: dict[str, str]
    unit: Unit
    plan: str
    folder: str | None
    source: str | None
    disclosures: tuple[str, ...]
    private: bool
    release: str

    def __post_init__(self) -> None:
        refuse_bad_name(self.dataset)
        if not isinstance(self.spend.amount, Fraction) or self.spend.amount < 0:
            raise ParameterError("a spend must be an exact rational and not negative: type budgets as 1, 0.5 or 1/3")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A dataset's account came to be; `spent` is what earlier spends came to in its currency."""

    currency: str
    guarantee: dict[str, str]
    cap: Fraction
    spent: Fraction
    unit: Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """A request was granted; `charge` is its price in the account's currency, None while there is no account."""

    request: Request
    charge: Fraction | None


Record: TypeAlias = Opened | Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof of an entry: the dataset's chain up to `sequence` hashes to `head`."""

    dataset: str
    sequence: int
    head: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of a dataset's chain; `at` is when it was written, in UTC."""

    dataset: str
    sequence: int
    head: str
    at: str
    record: Record

    @property
    def receipt(self) -> Receipt:
        """The receipt that was given for this entry, without its warnings."""
        return Receipt(dataset=self.dataset, sequence=self.sequence, head=self.head)


def refuse_bad_name(dataset: str) -> None:
    """Raise ParameterError unless the name can stand for a dataset: printable text, as in a schema."""
    if not dataset or dataset != dataset.strip() or not dataset.isprintable():
        raise ParameterError("a dataset's name must be printable text without outer spaces: use the one in its schema")
    if unicodedata.normalize("NFC", dataset) != dataset:
        raise ParameterError("a dataset's name must be written in composed letters (NFC), so that it is one name")


def chained(previous: str, text: str) -> str:
    """The hash of an entry: sha256 of the hash before it and the entry's canonical JSON."""
    return hashlib.sha256((previous + text).encode()).hexdigest()


def canonical(value: object) -> str:
    """JSON in one spelling: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def encoded(dataset: str, sequence: int, at: str, record: Record) -> str:
    """An entry as canonical JSON."""
    head = {"version": VERSION, "dataset": dataset, "sequence": sequence, "at": at}
    if isinstance(record, Opened):
        return canonical(head | {"event": "open"} | _plain(record))
    own = _plain(record.request) | {"charge": None if record.charge is None else str(storable(record.charge))}
    return canonical(head | {"event": "spend"} | own)


def decoded(text: str, head: str) -> Entry:
    """The entry that the JSON speaks of; raises LedgerError for an event or version this Cuboid does not know."""
    event: dict[str, Any] = json.loads(text)
    dataset, sequence, at = event.pop("dataset"), event.pop("sequence"), event.pop("at")
    kind, version = event.pop("event"), event.pop("version")
    if kind not in ("open", "spend") or version != VERSION:
        raise LedgerError(f"entry {sequence} of dataset {dataset} is an event that this version of Cuboid does not "
                          "know, so it cannot count what was spent: upgrade Cuboid")  # fmt: skip
    event["unit"] = Unit(relation=Relation(event.pop("relation")), max_rows=event.pop("max_rows"))
    record = _opened(event) if kind == "open" else _spent(event | {"dataset": dataset})
    return Entry(dataset=dataset, sequence=sequence, head=head, at=at, record=record)


def _opened(event: dict[str, Any]) -> Opened:
    return Opened(**event | {"cap": _rational(event["cap"]), "spent": _rational(event["spent"])})


def _spent(event: dict[str, Any]) -> Spent:
    charge, amount = event.pop("charge"), _rational(event.pop("amount"))
    event["spend"] = Spend(mechanism=Mechanism(event.pop("mechanism")), amount=amount)
    event["disclosures"] = tuple(event["disclosures"])
    return Spent(request=Request(**event), charge=None if charge is None else _rational(charge))


def _plain(record: Request | Opened) -> dict[str, Any]:
    """Fields as JSON has them; units and spends are laid flat."""
    event: dict[str, Any] = {}
    for name in (field.name for field in fields(record)):
        value = getattr(record, name)
        if isinstance(value, Unit):
            event |= {"relation": value.relation.value, "max_rows": value.max_rows}
        elif isinstance(value, Spend):
            event |= {"mechanism": value.mechanism.value, "amount": str(storable(value.amount))}
        else:
            event[name] = str(storable(value)) if isinstance(value, Fraction) else value
    return event


def storable(amount: Fraction) -> Fraction:
    """The amount itself, or rounded up by less than 1e-400 where its digits would not end."""
    if amount.denominator <= _FINEST:
        return amount
    return Fraction(-(-amount.numerator * _FINEST // amount.denominator), _FINEST)


def _rational(text: str) -> Fraction:
    if not _RATIONAL.match(text):
        raise ValueError("not a rational")
    return Fraction(text)
