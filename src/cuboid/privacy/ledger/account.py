"""What a dataset may still spend: currencies, prices, and the sum of its chain.

Filters that allow each release to be chosen after seeing the ones before: pure epsilon (Rogers et al. 2016,
arXiv:1605.08294) and zCDP (Feldman and Zrnic 2021, arXiv:2008.11193) by adding up, mu^2 by the Gaussian filter
(Smith and Thakurta 2022, arXiv:2210.17520).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from cuboid.errors import BudgetExceededError, LedgerError, ParameterError
from cuboid.privacy.ledger.amount import shown, too_much
from cuboid.privacy.ledger.event import Entry, Opened, Request, Spent, storable
from cuboid.privacy.loss import Approximate, Concentrated, Loss, Mechanism, Pure, Spend
from cuboid.privacy.normal import mu_squared_of_pure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cuboid.privacy.unit import Relation, Unit


class Currency(StrEnum):
    """What an account counts in, fixed when it is opened.

    EPSILON       epsilon; pure spends only
    RHO           rho of zCDP; a Gaussian spend is mu^2/2, a pure one epsilon^2/2
    APPROXIMATE   mu^2, capped where delta(epsilon) reaches delta
    """

    EPSILON = "epsilon"
    RHO = "rho"
    APPROXIMATE = "(epsilon, delta)"


_CURRENCIES = {Pure: Currency.EPSILON, Concentrated: Currency.RHO, Approximate: Currency.APPROXIMATE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What is known of a dataset's budget.

    `cap`, `spent` and `left` are exact, in the currency's own amounts (mu^2 for (epsilon, delta)); like the currency
    and `guarantee`, the cap as it was typed, they are None until the account is opened.
    """

    dataset: str
    currency: Currency | None
    guarantee: dict[str, str] | None
    cap: Fraction | None
    spent: Fraction | None
    left: Fraction | None
    relation: Relation | None
    max_rows: int | None
    entries: tuple[Entry, ...]


@lru_cache(maxsize=1024)
def price(currency: Currency, spend: Spend) -> Fraction:
    """What a spend costs in a currency.

    Pure epsilon is (epsilon^2/2)-zCDP (Bun and Steinke 2016, Proposition 1.4) and no less private than the
    Gaussian shift of mu_squared_of_pure(epsilon); mu-Gaussian noise is (mu^2/2)-zCDP.
    Guarantee:
        a mechanism within `spend` satisfies the currency's definition at the returned amount.
        Exact, but for pure spends priced in mu^2, which are rounded up.
        Raises LedgerError where no such amount exists: normal noise is not purely private.
    """
    if spend.amount == 0:
        return Fraction(0)
    if currency is Currency.RHO:
        return spend.amount / 2 if spend.mechanism is Mechanism.GAUSSIAN else spend.amount**2 / 2
    if spend.mechanism is Mechanism.PURE:
        return spend.amount if currency is Currency.EPSILON else mu_squared_of_pure(spend.amount)
    if currency is Currency.EPSILON:
        raise LedgerError("an account in epsilon pays for Laplace noise only: "
                          "ask for epsilon alone, without rho or delta")  # fmt: skip
    return spend.amount


def balance(dataset: str, entries: Sequence[Entry]) -> Account:
    """The account that a dataset's chain adds up to."""
    opened = next((entry.record for entry in entries if isinstance(entry.record, Opened)), None)
    if opened is None:
        return Account(dataset=dataset, currency=None, guarantee=None, cap=None, spent=None, left=None,
                       relation=None, max_rows=None, entries=tuple(entries))  # fmt: skip
    charges = [entry.record.charge for entry in entries if isinstance(entry.record, Spent)]
    spent = sum((charge for charge in charges if charge is not None), opened.spent)
    return Account(
        dataset=dataset,
        currency=Currency(opened.currency),
        guarantee=opened.guarantee,
        cap=opened.cap,
        spent=spent,
        left=opened.cap - spent,
        relation=opened.unit.relation,
        max_rows=opened.unit.max_rows,
        entries=tuple(entries),
    )


def charge_for(account: Account, request: Request) -> Fraction | None:
    """What the request costs the account, None where no account was opened.

    Guarantee:
        the account's charges, this one included, add up to at most its cap: exactly, in rationals.
        A request under another relation, unit, set of exact tables, or of an unknown price is refused.
        Raises BudgetExceededError or LedgerError; nothing is written here.
    """
    _refuse_other_disclosures(account, request)
    if account.currency is None or account.left is None or account.guarantee is None:
        return None
    if (account.relation, account.max_rows) != (request.unit.relation, request.unit.max_rows):
        raise LedgerError(f"dataset {account.dataset} was opened for relation {account.relation} and max_rows "
                          f"{account.max_rows}, and this plan has {request.unit.relation} and {request.unit.max_rows}: "
                          "plan with those of the account")  # fmt: skip
    try:
        charge = storable(price(account.currency, request.spend))
    except LedgerError as refusal:
        raise LedgerError(f"dataset {account.dataset}: {refusal}") from None
    if charge > account.left:
        raise BudgetExceededError(too_much(account.dataset, account.guarantee, left=account.left, wanted=charge))
    return charge


def opening(account: Account, loss: Loss, unit: Unit) -> Opened:
    """The event that opens the account, counting what was spent before.

    Guarantee:
        earlier spends are charged in full, at the prices of the new currency.
        Refused if there is an account, if a spend has no price or another unit, or if they exceed the cap.
        Raises LedgerError; nothing is written here.
    """
    if account.currency is not None and account.guarantee is not None:
        raise LedgerError(f"dataset {account.dataset} is open already, with {shown(account.guarantee)}, relation "
                          f"{account.relation} and max_rows {account.max_rows}: an account is never changed, so use it "
                          "as it is")  # fmt: skip
    currency = _CURRENCIES[type(loss)]
    cap = loss.spend.amount / 2 if currency is Currency.RHO else loss.spend.amount
    if not isinstance(cap, Fraction) or cap <= 0:
        raise ParameterError("an account needs a positive, exact cap: type it as 1, 0.5 or 1/3")
    spent = _earlier(account, currency, unit)
    if storable(spent) > cap:
        raise BudgetExceededError(f"dataset {account.dataset} has already spent more than {shown(loss.typed())}: "
                                  "open it with a larger cap")  # fmt: skip
    return Opened(currency=currency.value, guarantee=loss.typed(), cap=cap, spent=storable(spent), unit=unit)


def _earlier(account: Account, currency: Currency, unit: Unit) -> Fraction:
    """What the spends before the account was opened come to."""
    spent = Fraction(0)
    for request in (entry.record.request for entry in account.entries if isinstance(entry.record, Spent)):
        if request.unit != unit:
            raise LedgerError(f"dataset {account.dataset} has spends under relation {request.unit.relation} and "
                              f"max_rows {request.unit.max_rows}: open it with these, or, where the spends themselves "
                              "differ, leave it uncapped")  # fmt: skip
        try:
            spent += price(currency, request.spend)
        except LedgerError:
            raise LedgerError(f"dataset {account.dataset} has spent on Gaussian noise, which epsilon cannot count: "
                              "open it with rho, or with epsilon and delta") from None  # fmt: skip
    return spent


def _refuse_other_disclosures(account: Account, request: Request) -> None:
    """Refuse exact tables other than those of the first release for the same people: the two would add up."""
    for earlier in (entry.record.request for entry in account.entries if isinstance(entry.record, Spent)):
        if set(earlier.disclosures) != set(request.disclosures):
            first = "; ".join(earlier.disclosures) or "nothing"
            raise LedgerError(f"the first release of dataset {account.dataset} disclosed ({first}), and every later "
                              "one must disclose the same: plan with those exact tables")  # fmt: skip
