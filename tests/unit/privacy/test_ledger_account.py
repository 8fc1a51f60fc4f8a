"""Does an account count what is spent, exactly and once?"""

from __future__ import annotations

from fractions import Fraction

import pytest

from cuboid.errors import BudgetExceededError, LedgerError, ParameterError
from cuboid.privacy import Pure, Relation, Spend, Unit, loss
from cuboid.privacy.ledger import Ledger, Spent, price
from cuboid.privacy.ledger.account import Currency
from cuboid.privacy.loss import Mechanism
from cuboid.privacy.normal import mu_squared_for, mu_squared_of_pure
from ledger_requests import gaussian, request


@pytest.fixture
def ledger(tmp_path):
    return Ledger.at(tmp_path / "ledger.sqlite")


def opened(ledger, **guarantee):
    ledger.open_account("survey", loss=loss(**guarantee), unit=Unit())
    return ledger


def test_three_thirds_leave_exactly_nothing(ledger):
    """A budget of 1 spent in three thirds leaves the rational 0, and then not even a little more."""
    opened(ledger, epsilon=1)
    for _ in range(3):
        ledger.spend(request("1/3"))
    assert ledger.account("survey").left == 0
    with pytest.raises(BudgetExceededError, match="nothing left of its epsilon 1"):
        ledger.spend(request(Fraction(1, 10**300)))


def test_ten_tenths_typed_as_floats_leave_exactly_nothing(ledger):
    """The float 0.1 means one tenth, so ten of them are one."""
    opened(ledger, epsilon=1.0)
    for _ in range(10):
        ledger.spend(request(loss(epsilon=0.1).spend.amount))
    assert ledger.account("survey").left == 0


def test_a_refusal_says_what_is_left_and_writes_nothing(ledger):
    """A plan that costs too much is told the remaining budget, rounded down, and leaves no entry."""
    opened(ledger, epsilon=1)
    ledger.spend(request("1/3"))
    before = ledger.account("survey")
    said = r"survey has epsilon 0\.666666 left of its epsilon 1, and this plan costs epsilon 0\.7: plan with at most"
    for ask in (ledger.check, ledger.spend):
        with pytest.raises(BudgetExceededError, match=said):
            ask(request("7/10"))
    assert ledger.account("survey") == before


def test_what_is_said_to_be_left_can_be_spent(ledger):
    """The epsilon that a refusal names is one that the account still pays."""
    opened(ledger, epsilon=1, delta="1e-9")
    ledger.spend(gaussian(mu_squared_for(Fraction(1, 2), Fraction(1, 10**9))))
    dear = gaussian(mu_squared_for(Fraction(9, 10), Fraction(1, 10**9)))
    with pytest.raises(
        BudgetExceededError, match=r"epsilon 0\.8\d+ with delta 1e-9 left .* costs epsilon 0\.9 with"
    ) as refused:
        ledger.spend(dear)
    number = str(refused.value).split("epsilon ")[1].split(" ")[0]
    ledger.spend(gaussian(loss(epsilon=number, delta="1e-9").spend.amount))


def test_check_writes_nothing(ledger):
    """Checking is not spending, and does not even make the file."""
    ledger.check(request())
    assert not ledger.path.exists()
    assert ledger.names() == ()


def test_currencies_are_priced_by_their_own_arithmetic():
    """Each spend has the price that the mathematics gives it in each currency."""
    pure, normal = (Spend(mechanism=own, amount=Fraction(1, 5)) for own in Mechanism)
    assert price(Currency.EPSILON, pure) == Fraction(1, 5)
    assert price(Currency.RHO, pure) == Fraction(1, 50)
    assert price(Currency.RHO, normal) == Fraction(1, 10)
    assert price(Currency.APPROXIMATE, normal) == Fraction(1, 5)
    assert price(Currency.APPROXIMATE, pure) == mu_squared_of_pure(Fraction(1, 5))
    with pytest.raises(LedgerError, match="Laplace noise only"):
        price(Currency.EPSILON, normal)
    assert price(Currency.APPROXIMATE, Spend(mechanism=Mechanism.PURE, amount=Fraction(0))) == 0


def test_an_epsilon_account_refuses_gaussian_noise(ledger):
    """Normal noise has no pure epsilon, whatever its size; the message says what to do."""
    opened(ledger, epsilon=1)
    with pytest.raises(LedgerError, match="dataset survey: an account in epsilon pays for Laplace noise only: ask"):
        ledger.spend(gaussian("1/1000"))
    assert ledger.account("survey").spent == 0


def test_a_rho_account_adds_both_laws(ledger):
    """Gaussian noise costs mu^2/2 and pure epsilon costs epsilon^2/2, together the whole cap."""
    opened(ledger, rho="1/2")
    ledger.spend(gaussian("3/4"))
    ledger.spend(request("1/2"))
    account = ledger.account("survey")
    assert (account.currency, account.spent, account.left) == ("rho", Fraction(1, 2), 0)


def test_an_approximate_account_holds_mu_squared(ledger):
    """A cap of (epsilon, delta) is one of mu^2: Gaussian noise adds its own, pure spends the converted one."""
    opened(ledger, epsilon=1, delta="1e-6")
    cap = mu_squared_for(Fraction(1), Fraction(1, 10**6))
    ledger.spend(request("1/20"))
    ledger.spend(gaussian(cap - mu_squared_of_pure(Fraction(1, 20))))
    account = ledger.account("survey")
    assert (account.currency, account.cap, account.left) == ("(epsilon, delta)", cap, 0)


def test_the_whole_of_an_approximate_cap_can_be_spent_at_once(ledger):
    """A plan typed with the account's own epsilon and delta takes all of it and leaves exactly 0."""
    opened(ledger, epsilon=1, delta="1e-6")
    ledger.spend(gaussian(loss(epsilon=1, delta="1e-6").spend.amount))
    assert ledger.account("survey").left == 0


def test_opening_twice_is_refused(ledger):
    """An account is never changed: the second opening is told what exists."""
    opened(ledger, epsilon=1)
    with pytest.raises(LedgerError, match="open already, with epsilon 1, relation add-remove and max_rows 1: "):
        ledger.open_account("survey", loss=loss(epsilon=2), unit=Unit())


@pytest.mark.parametrize("unit", [Unit(relation=Relation.REPLACE), Unit(max_rows=2)])
def test_another_relation_or_unit_is_refused(ledger, unit):
    """A plan that protects other neighbours than the account does cannot be paid from it."""
    opened(ledger, epsilon=1)
    for ask in (ledger.check, ledger.spend):
        with pytest.raises(LedgerError, match="opened for relation add-remove and max_rows 1, and this plan has"):
            ask(request(unit=unit))


def test_other_exact_tables_than_the_first_releases_are_refused(ledger):
    """What the first release disclosed exactly is what every later one must: two sets would add up."""
    ledger.spend(request(disclosures=("[sex]",)))
    with pytest.raises(LedgerError, match=r"disclosed \(\[sex\]\), and every later one must"):
        ledger.spend(request(disclosures=("[region]",)))
    ledger.spend(request(disclosures=("[sex]",)))


def test_without_an_account_spends_are_recorded_uncapped_with_a_warning(ledger):
    """Nobody opened the dataset: every spend is written, each with the one warning that says how to cap it."""
    for _ in range(2):
        receipt = ledger.spend(request(100))
        (warning,) = receipt.warnings
        assert "survey is not opened" in warning
        assert "cuboid ledger open" in warning
    account = ledger.account("survey")
    assert (account.currency, account.left, len(account.entries)) == (None, None, 2)


def test_the_warning_names_a_command_that_would_count_the_spend(ledger):
    """The command opens the account in a currency, relation and unit that fit what was spent."""
    unit = Unit(relation=Relation.REPLACE, max_rows=3)
    asked = gaussian("1/9", dataset="my survey", unit=unit, guarantee={"rho": "1/18"})
    (warning,) = ledger.spend(asked).warnings
    options = f"'my survey' --rho CAP --relation replace --max-rows 3 --ledger {ledger.path}"
    assert warning.endswith(f"`cuboid ledger open {options}`")


def test_opening_later_counts_what_was_spent_before(ledger):
    """Spends before the opening are charged at the prices of the new currency."""
    ledger.spend(request("1/5"))
    ledger.spend(gaussian("1/10"))
    opened(ledger, rho=1)
    assert ledger.account("survey").spent == Fraction(1, 50) + Fraction(1, 20)
    assert ledger.spend(gaussian(1)).warnings == ()
    assert ledger.account("survey").left == 1 - Fraction(7, 100) - Fraction(1, 2)


def test_opening_later_in_a_currency_that_cannot_count_is_refused(ledger):
    """Gaussian spends keep an account from being opened in pure epsilon; the way out is named."""
    ledger.spend(gaussian("1/10"))
    with pytest.raises(LedgerError, match="open it with rho, or with epsilon and delta"):
        opened(ledger, epsilon=1)
    opened(ledger, rho=1)


def test_opening_later_under_another_unit_is_refused(ledger):
    """Earlier spends that protected other neighbours cannot be counted."""
    ledger.spend(request(unit=Unit(max_rows=3)))
    with pytest.raises(LedgerError, match="under relation add-remove and max_rows 3: open it with these"):
        opened(ledger, epsilon=1)


def test_opening_later_with_too_small_a_cap_is_refused(ledger):
    """A cap below what is spent already is no cap."""
    ledger.spend(request(2))
    with pytest.raises(BudgetExceededError, match="already spent more than epsilon 1: open it with a larger cap"):
        opened(ledger, epsilon=1)
    assert ledger.account("survey").currency is None


def test_the_same_source_under_another_name_warns(ledger):
    """The same path released under two names is perhaps one set of people with two budgets."""
    ledger.spend(request())
    opened(ledger, epsilon=1)
    (warning,) = ledger.spend(request(dataset="poll")).warnings[1:]
    assert "/data/people.csv was released before under another dataset name (survey)" in warning
    assert ledger.spend(request(dataset="third", source='/data/"people.csv')).warnings[1:] == ()
    assert ledger.spend(request(dataset="fourth", source=None)).warnings[1:] == ()


def test_a_ledger_knows_the_drawings_it_paid_for(ledger):
    """A release is known by dataset, plan and nonce together."""
    asked = request("1/4")
    assert not ledger.knows("survey", asked.plan, asked.release)
    ledger.spend(asked)
    assert ledger.knows("survey", asked.plan, asked.release)
    assert not ledger.knows("survey", asked.plan, "another drawing")
    assert not ledger.knows("survey", "another plan", asked.release)
    assert not ledger.knows("poll", asked.plan, asked.release)


def test_seeded_runs_cost_the_same_and_are_recorded_as_such(ledger):
    """A run with a seed is written as not private, and spends its budget all the same."""
    opened(ledger, epsilon=1)
    ledger.spend(request("1/2", private=False))
    account = ledger.account("survey")
    assert account.spent == Fraction(1, 2)
    record = account.entries[-1].record
    assert isinstance(record, Spent)
    assert not record.request.private


def test_more_noise_never_costs_more(ledger):
    """A request for nothing is free, and smaller requests are never dearer, in every currency."""
    for currency in (Currency.RHO, Currency.APPROXIMATE):
        for own in Mechanism:
            prices = [price(currency, Spend(mechanism=own, amount=Fraction(k, 50))) for k in range(20)]
            assert prices[0] == 0
            assert prices == sorted(prices)
    opened(ledger, epsilon=1)
    ledger.spend(request(1))
    ledger.spend(request(0))


def test_an_unknown_dataset_lists_the_known_ones(ledger):
    """Asking for a name that is not there lists those that are."""
    ledger.spend(request())
    with pytest.raises(ParameterError, match="no dataset poll; it has: survey"):
        ledger.account("poll")


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\x00b"])
def test_a_name_that_cannot_be_shown_is_refused(ledger, name):
    """Names are printable text, as in a schema."""
    with pytest.raises(ParameterError, match="printable"):
        ledger.open_account(name, loss=loss(epsilon=1), unit=Unit())
    with pytest.raises(ParameterError, match="printable"):
        request(dataset=name)


@pytest.mark.parametrize("amount", [-1, 0.5, float("nan"), float("inf"), Fraction(-1, 10)])
def test_only_exact_and_non_negative_amounts_are_spent(amount):
    """A float, however it came there, and a negative amount, which would give budget back, are refused."""
    with pytest.raises(ParameterError, match="exact rational"):
        request(spend=Spend(mechanism=Mechanism.PURE, amount=amount))


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1), float("nan"), float("inf")])
def test_only_exact_and_positive_caps_are_opened(ledger, epsilon):
    """A cap made by hand is held to the same rule as a typed one."""
    with pytest.raises(ParameterError, match="positive"):
        ledger.open_account("survey", loss=Pure(epsilon=epsilon), unit=Unit())


def test_endless_digits_are_rounded_against_the_user(ledger):
    """An amount with more digits than can be written is charged a hair more, never less."""
    opened(ledger, epsilon=1)
    amount = Fraction(1, 3**9000)
    ledger.spend(request("1/2", spend=Spend(mechanism=Mechanism.PURE, amount=Fraction(1, 2) - amount)))
    spent = ledger.account("survey").spent
    assert spent is not None
    assert Fraction(1, 2) - amount <= spent <= Fraction(1, 2)
