"""Does the gate let out noisy answers alone, paid for before they are drawn?"""

from __future__ import annotations

import dataclasses
import gzip
from fractions import Fraction

import numpy as np
import pytest

import cuboid
from cuboid.counting import ExactTables, count_rows
from cuboid.errors import BudgetExceededError, ParameterError, PlanError, SchemaError, SourceError
from cuboid.gate import Occasion, check, measure
from cuboid.noise import InsecureWords, SystemWords
from cuboid.privacy import Relation, Unit
from cuboid.sources import open_source
from unit.bundle.releases import ROWS, files, released, schema, spends

MAX = 2**63 - 1
OCCASION = Occasion(nonce="00ff", folder=None, source=None, private=False)


@pytest.fixture
def ledger(tmp_path):
    """A ledger with 10 of epsilon for the survey."""
    book = cuboid.Ledger.at(tmp_path / "ledger.sqlite")
    plan = cuboid.plan(schema(), "[age]", epsilon=10)
    book.open_account("survey", loss=plan.loss, unit=plan.unit)
    return book


@pytest.fixture
def roomy(tmp_path):
    """A ledger that pays for either noise."""
    book = cuboid.Ledger.at(tmp_path / "roomy.sqlite")
    plan = cuboid.plan(schema(), "[age]", rho=1000)
    book.open_account("survey", loss=plan.loss, unit=plan.unit)
    return book


def counted(plan, rows=ROWS):
    """Exact tables of the plan's queries, under seal."""
    return count_rows(open_source(rows), plan.schema, [query.cuboid for query in plan.queries] + [()])


def measured(plan, tables, ledger, *, words=None, keep=lambda *_: None):
    """The gate's answer."""
    return measure(plan, tables, ledger=ledger, occasion=OCCASION, words=words or InsecureWords(1), keep=keep)[0]


def spent(ledger):
    """How many spends the survey's account has seen."""
    return len(ledger.account("survey").entries) - 1


class NoWords:
    """Entropy that has run dry."""

    def take(self, n):
        raise OSError("no entropy")


class NoTables:
    """Exact tables that may not be opened."""

    def open_at_the_gate(self, cuboid):
        raise AssertionError("the tables were opened")


def changed(plan, **changes):
    """A plan as a forged file would have it."""
    return dataclasses.replace(plan, **changes)


def test_a_plan_that_costs_more_than_its_guarantee_is_refused(ledger):
    """The cost is recomputed from the queries: a plan file proves nothing."""
    plan = cuboid.plan(schema(), "all 2-way", epsilon=1, strategy="direct")
    heavier = tuple(dataclasses.replace(query, weight=query.weight * Fraction(1001, 1000)) for query in plan.queries)
    for queries in (heavier, plan.queries * 2, ()):
        with pytest.raises(PlanError, match="cost more than the guarantee"):
            measured(changed(plan, queries=queries), NoTables(), ledger)
    assert spent(ledger) == 0
    measured(plan, counted(plan), ledger)
    assert spent(ledger) == 1


def test_a_plan_under_another_relation_is_repriced(ledger):
    """Queries planned for add-remove cost twice as much under replace, and are refused there."""
    plan = cuboid.plan(schema(outside="first"), "[age]", epsilon=1)
    with pytest.raises(PlanError, match="cost more"):
        measured(changed(plan, unit=Unit(relation="replace")), NoTables(), ledger)
    assert spent(ledger) == 0


def test_a_schema_with_a_unit_is_refused(ledger):
    """People who own several rows are not held to max_rows yet, so nothing is promised."""
    own = schema(unit="person", max_rows=2)
    with pytest.raises(SchemaError, match=r"person, may own several rows.* prepare one row a person"):
        check(cuboid.plan(own, "[age]", epsilon=1))
    with pytest.raises(SchemaError):
        measured(cuboid.plan(own, "[age]", epsilon=1), NoTables(), ledger)
    assert spent(ledger) == 0


def test_max_rows_of_plan_and_schema_must_agree():
    """A plan forged to another number of rows a person is refused."""
    plan = cuboid.plan(schema(), "[age]", epsilon=1)
    with pytest.raises(SchemaError, match="counts on 2 rows a person"):
        check(changed(plan, unit=Unit(max_rows=2)))


def test_replace_with_rows_that_drop_is_refused(ledger):
    """Under replace the number of rows is public, so no row may leave: the way out is named."""
    with pytest.raises(SchemaError, match=r'age drops rows .* declare other = "..." or outside'):
        cuboid.plan(schema(), "[age]", epsilon=1, relation="replace")
    plan = changed(cuboid.plan(schema(), "[age]", epsilon=1), unit=Unit(relation=Relation.REPLACE))
    with pytest.raises(SchemaError, match=r'age drops rows .* declare other = "..." or outside'):
        measured(plan, NoTables(), ledger)
    assert spent(ledger) == 0


def test_a_refused_plan_reads_no_data_and_writes_nothing(tmp_path):
    """The session refuses it before the data are opened."""
    plan = changed(cuboid.plan(schema(), "[age]", epsilon=1), unit=Unit(relation=Relation.REPLACE))
    with pytest.raises(SchemaError):
        cuboid.release(tmp_path / "nothing.csv", plan, out=tmp_path / "out", ledger=tmp_path / "ledger.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_the_spend_is_written_before_noise_is_drawn(ledger):
    """With no entropy the budget is spent, and nothing comes out or is stored."""
    plan = cuboid.plan(schema(), "[age]", epsilon=1)
    kept = []
    with pytest.raises(OSError, match="no entropy"):
        measured(plan, counted(plan), ledger, words=NoWords(), keep=lambda *all_: kept.append(all_))
    assert spent(ledger) == 1
    assert kept == []


def test_a_session_without_entropy_spends_and_stores_nothing(tmp_path, monkeypatch):
    """From outside: one entry more in the ledger, and no folder."""
    monkeypatch.setattr("cuboid.noise.SystemWords", NoWords)
    with pytest.raises(OSError, match="no entropy"):
        released(cuboid.plan(schema(), "[age]", epsilon=1), tmp_path)
    assert spends(tmp_path) == 1
    assert set(files(tmp_path)) == {"ledger.sqlite"}


def test_over_budget_spends_nothing_and_opens_no_table(ledger):
    """The ledger is asked first; when it says no, neither noise nor counts are touched."""
    plan = cuboid.plan(schema(), "[age]", epsilon=11)
    with pytest.raises(BudgetExceededError, match="epsilon 10 left of its epsilon 10"):
        measured(plan, NoTables(), ledger, words=NoWords())
    assert spent(ledger) == 0


def test_measurements_are_stored_before_they_are_returned(ledger):
    """Whoever keeps them gets them with the receipt; if keeping fails, nobody else sees them."""
    plan = cuboid.plan(schema(), "[age]", epsilon=1)
    kept = []
    made = measured(plan, counted(plan), ledger, keep=lambda *all_: kept.append(all_))
    assert kept[0][0] is made
    assert kept[0][1].sequence == 2

    def fail(*_):
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        measured(plan, counted(plan), ledger, keep=fail)
    assert spent(ledger) == 2


PLANS = {
    "laplace": {"workload": "all 2-way", "epsilon": 1, "strategy": "direct"},
    "laplace, all cells": {"workload": "all 2-way", "epsilon": 1, "strategy": "identity"},
    "gaussian tables": {"workload": "all 2-way", "rho": 0.01, "strategy": "direct"},
    "gaussian contrasts": {"workload": "all 2-way", "rho": 0.01, "strategy": "residual"},
}


@pytest.mark.parametrize("case", PLANS, ids=lambda name: name.replace(" ", "-").replace(",", ""))
def test_a_seed_repeats_and_entropy_does_not(roomy, case):
    """Two drawings differ, unless a known seed makes both."""
    plan = cuboid.plan(schema(), **PLANS[case])
    seeded = [measured(plan, counted(plan), roomy, words=InsecureWords(5)) for _ in range(2)]
    fresh = [measured(plan, counted(plan), roomy, words=SystemWords()) for _ in range(2)]
    assert all(map(np.array_equal, seeded[0].answers, seeded[1].answers))
    assert any(not np.array_equal(one, two) for one, two in zip(fresh[0].answers, fresh[1].answers, strict=True))


@pytest.mark.parametrize("case", PLANS, ids=lambda name: name.replace(" ", "-").replace(",", ""))
def test_the_same_seed_on_neighbours_gives_the_exact_difference(roomy, case):
    """The control of all leak tests: with the noise known, one person's row stands plain."""
    plan = cuboid.plan(schema(), **PLANS[case])
    fewer = {name: values[1:] for name, values in ROWS.items()}
    alone = {name: values[:1] for name, values in ROWS.items()}
    with_, without = (measured(plan, counted(plan, rows), roomy, words=InsecureWords(5)) for rows in (ROWS, fewer))
    tables = counted(plan, alone)
    for place, query in enumerate(plan.queries):
        difference = with_.values(place) - without.values(place)
        table = tables.open_at_the_gate(query.cuboid)
        if query.form == "table":
            assert np.array_equal(difference, table)
        else:
            assert np.array_equal(difference, np.rint(difference))
            assert difference.size == 0 or np.abs(difference).max() >= 1


def test_no_seed_no_difference_to_see(ledger):
    """Without a seed the difference of two releases of neighbours is noise, not the row."""
    plan = cuboid.plan(schema(), "all 2-way", epsilon=1, strategy="direct")
    made = [measured(plan, counted(plan), ledger, words=SystemWords()) for _ in range(2)]
    difference = np.concatenate([made[0].values(i).ravel() - made[1].values(i).ravel() for i in range(3)])
    assert np.abs(difference).sum() > 2


@pytest.mark.parametrize("case", [*PLANS, "gaussian total"], ids=lambda name: name.replace(" ", "-").replace(",", ""))
@pytest.mark.parametrize("huge", [MAX, MAX - 1, 2**62, 2**61, 2**53 + 1])
def test_huge_counts_saturate_and_never_wrap(roomy, case, huge):
    """At the ends of int64 sums stop: signs stay, and neighbours stay neighbours."""
    plan = cuboid.plan(schema(), **(PLANS | {"gaussian total": {"workload": "[]", "rho": 0.01}})[case])
    made = []
    for top in (huge, huge - 1):
        cells = np.zeros(plan.sizes, dtype=np.int64)
        cells[0, 0, 0] = top
        made.append(measured(plan, ExactTables({(0, 1, 2): cells}), roomy, words=InsecureWords(5)))
    for place, query in enumerate(plan.queries):
        one, two = (own.answers[place].astype(object) for own in made)
        first = np.ravel(one)[0] if query.form == "table" or not query.cuboid else None
        assert first is None or first > 2**52
        if query.form == "table":
            assert np.all(one - two >= 0)
            assert np.all(one - two <= 2**plan.exponent)
            assert np.all(np.ravel(one)[1:] < 2**40 << plan.exponent)


@pytest.mark.parametrize("budget", [{"epsilon": "1e-13"}, {"rho": "1e-290"}, {"epsilon": "1e-12", "delta": "1e-299"}])
def test_noise_too_wide_is_refused_before_anything_is_spent(tmp_path, budget):
    """A budget whose noise cannot be drawn exactly is refused, and leaves neither entry nor folder."""
    with pytest.raises(ParameterError):
        released(cuboid.plan(schema(), "[age]", **budget), tmp_path)
    assert files(tmp_path) == {}


@pytest.mark.parametrize("epsilon", ["1e-300", "1e-200", "1e4", "1e9"])
def test_extreme_epsilon_is_refused_in_words(tmp_path, epsilon):
    """The ends of what may be typed are refused by a sentence, and nothing is spent."""
    with pytest.raises(ParameterError, match="the budget"):
        released(cuboid.plan(schema(), "[age]", epsilon=epsilon), tmp_path)
    assert files(tmp_path) == {}


@pytest.fixture
def damaged(tmp_path):
    """A gzipped file with a good header, cut off in its rows."""
    path = tmp_path / "people.csv.gz"
    text = "age,sex,town\n" + "".join(f"{i},{i * 7919 % 104729},x\n" for i in range(400_000))
    packed = gzip.compress(text.encode(), compresslevel=1)
    path.write_bytes(packed[: len(packed) - 1000])
    return path


def test_a_refused_release_leaves_no_folder_at_all(tmp_path, damaged):
    """Nothing written means nothing: not even the folders on the way."""
    with pytest.raises(SourceError):
        released(cuboid.plan(schema(), "[age]", epsilon=1), tmp_path, rows=damaged, out="a/b/c")
    assert not (tmp_path / "a").exists()


def test_a_refused_release_leaves_the_folder_that_was_there(tmp_path, damaged):
    """A folder that somebody made is theirs."""
    (tmp_path / "out").mkdir()
    with pytest.raises(SourceError):
        released(cuboid.plan(schema(), "[age]", epsilon=1), tmp_path, rows=damaged)
    assert (tmp_path / "out").is_dir()


def test_the_public_total_is_the_only_exact_number(ledger, tmp_path):
    """Under replace the number of rows leaves as it is; under add-remove nothing does."""
    own = schema(outside="first", name="other")
    plan = cuboid.plan(own, "[age]", epsilon=1, relation="replace")
    assert measured(plan, counted(plan), cuboid.Ledger.at(tmp_path / "other.sqlite")).total == 120
    plan = cuboid.plan(schema(), "[age]", epsilon=1)
    assert measured(plan, counted(plan), ledger).total is None


def test_every_measured_answer_is_noisy_even_where_nobody_is(ledger):
    """Empty data give numbers like any other: no cell is missing, and their noise is not all zero."""
    plan = cuboid.plan(schema(), "all 1..3-way", epsilon="0.1", strategy="direct")
    made = measured(plan, counted(plan, {name: [] for name in ROWS}), ledger, words=SystemWords())
    assert [answer.shape for answer in made.answers] == [query.shape(plan.sizes) for query in plan.queries]
    assert any(answer.any() for answer in made.answers)
