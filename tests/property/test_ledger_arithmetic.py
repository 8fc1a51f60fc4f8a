"""Laws of the ledger's arithmetic: never above the cap, never dependent on order, always exact."""

from __future__ import annotations

import random
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuboid.errors import BudgetExceededError, ParameterError
from cuboid.privacy import Approximate, Concentrated, Mechanism, Pure, Unit, exact, loss, typed
from cuboid.privacy.ledger import Ledger, Spent, price
from cuboid.privacy.ledger.account import Currency
from cuboid.privacy.ledger.amount import remaining, used
from cuboid.privacy.ledger.event import decoded, encoded
from ledger_requests import request

AMOUNTS = st.fractions(min_value=0, max_value=1, max_denominator=40)
LOSSES = st.sampled_from(
    [
        Pure(epsilon=Fraction(1)),
        Concentrated(rho=Fraction(1, 3)),
        Approximate(epsilon=Fraction(2), delta=Fraction(1, 10**6)),
    ]
)


def spends(guarantee, amounts):
    """Requests that the account can price, in turns of both laws where it takes both."""
    laws = [Mechanism.PURE] if isinstance(guarantee, Pure) else list(Mechanism)
    return [request(amount, laws[turn % len(laws)]) for turn, amount in enumerate(amounts)]


def spent_in(ledger, requests):
    """The requests that were granted, in order."""
    granted = []
    for one in requests:
        try:
            ledger.spend(one)
        except BudgetExceededError:
            continue
        granted.append(one)
    return granted


@settings(deadline=None, max_examples=25)
@given(guarantee=LOSSES, amounts=st.lists(AMOUNTS, max_size=8))
def test_no_sequence_of_spends_exceeds_the_cap(guarantee, amounts):
    """What was granted adds up exactly, within the cap, and a refused request would not have fitted."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.at(Path(folder) / "ledger.sqlite")
        ledger.open_account("survey", loss=guarantee, unit=Unit())
        granted = spent_in(ledger, spends(guarantee, amounts))
        account = ledger.account("survey")
        assert account.spent == sum((price(account.currency, one.spend) for one in granted), Fraction(0))
        assert account.spent + account.left == account.cap
        assert account.left >= 0
        assert len(granted) == len(account.entries) - 1


@settings(deadline=None, max_examples=15)
@given(guarantee=LOSSES, amounts=st.lists(AMOUNTS, max_size=5), seed=st.integers())
def test_order_does_not_matter_for_the_total(guarantee, amounts, seed):
    """The same uncapped spends in another order, then opened, come to the same total."""
    requests = spends(guarantee, [amount / 50 for amount in amounts])
    shuffled = random.Random(seed).sample(requests, len(requests))
    totals = []
    for order in (requests, shuffled):
        with tempfile.TemporaryDirectory() as folder:
            ledger = Ledger.at(Path(folder) / "ledger.sqlite")
            spent_in(ledger, order)
            ledger.open_account("survey", loss=guarantee, unit=Unit())
            totals.append(ledger.account("survey").spent)
    assert totals[0] == totals[1]


@settings(deadline=None)
@given(cap=st.fractions(min_value="1/1000", max_value=1000, max_denominator=1000), parts=st.integers(1, 12))
def test_a_budget_split_in_n_is_spent_in_n(cap, parts):
    """n parts of 1/n come to the whole: the remainder is exactly 0 in every currency."""
    piece = request(cap / parts)
    assert sum([price(Currency.EPSILON, piece.spend)] * parts, Fraction(0)) == cap
    normal = request(2 * cap / parts, Mechanism.GAUSSIAN)
    assert sum([price(Currency.RHO, normal.spend)] * parts, Fraction(0)) == cap


@settings(deadline=None, max_examples=60)
@given(guarantee=LOSSES, share=st.fractions(min_value=0, max_value=1, max_denominator=10**7))
def test_what_is_shown_is_rounded_against_the_user(guarantee, share):
    """What is said to be left is never more than what is left, and what is said to be spent never less."""
    cap = guarantee.rho if isinstance(guarantee, Concentrated) else guarantee.spend.amount
    for show, never in ((remaining, Fraction.__le__), (used, Fraction.__ge__)):
        amounts = show(guarantee.typed(), cap * share)
        if any(Fraction(amounts[name]) == 0 for name in ("epsilon", "rho") if name in amounts):
            assert show is remaining or share == 0 or "delta" in amounts
            continue
        back = loss(**amounts)
        amount = back.rho if isinstance(back, Concentrated) else back.spend.amount
        if show is used:
            amount *= 1 + Fraction(1, 2**38)  # epsilon_for and mu_squared_for both round; both by less than this
        assert never(amount, cap * share)


@given(number=st.fractions(min_value=Fraction(1, 10**20), max_value=10**9))
def test_a_typed_number_reads_back(number):
    """Writing a rational as people do, and reading it, is the identity."""
    assert exact(typed(number), "epsilon") == number


@given(
    number=st.one_of(st.floats(max_value=0), st.floats(max_value=1e-301), st.sampled_from([float("nan"), float("inf")]))
)
def test_no_bad_float_is_a_budget(number):
    """Negative, zero, subnormal, infinite and undefined floats are refused wherever a budget is typed."""
    for give in ({"epsilon": number}, {"rho": number}, {"epsilon": 1, "delta": number}):
        with pytest.raises(ParameterError):
            loss(**give)


@given(
    amount=AMOUNTS,
    texts=st.lists(st.text(max_size=5), min_size=3, max_size=3),
    disclosures=st.lists(st.text(max_size=5), max_size=3).map(tuple),
)
def test_an_event_reads_back_as_it_was_written(amount, texts, disclosures):
    """Writing an entry and reading it is the identity, whatever text is in it."""
    one = request(amount, plan=texts[0], folder=texts[1], source=texts[2], disclosures=disclosures)
    record = Spent(request=one, charge=amount)
    assert decoded(encoded("survey", 7, "now", record), "head").record == record
