"""Plans: what they say of themselves, on disk and back, and what is no plan."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import oracle
from cuboid.errors import InputError, ParameterError, PlanError
from cuboid.planning import Plan, digest, equal_shares, from_dict, people, shares, to_dict
from cuboid.privacy import loss
from cuboid.session import plan

SCHEMA = oracle.schema((3, 4, 2))
PLANS = {
    "pure": plan(SCHEMA, "all 2-way", epsilon="0.3"),
    "weighted": plan(SCHEMA, "3*[A B] 1/7*[C]", epsilon=1, strategy="direct"),
    "rho": plan(SCHEMA, "all 0..3-way", rho="1/3"),
    "approximate": plan(SCHEMA, "[A B][B C]", epsilon=1, delta="1e-6"),
    "replace": plan(SCHEMA, "all 0..2-way", rho=1, relation="replace", budget="uniform"),
    "rows": plan(oracle.schema((2, 2), max_rows=4), "[A B]", epsilon=1),
}
each_plan = pytest.mark.parametrize("made", PLANS.values(), ids=PLANS)


@each_plan
def test_a_plan_survives_its_file(made: Plan) -> None:
    """Through JSON and back a plan is equal, costs the same, and has the same digest."""
    document = json.loads(json.dumps(to_dict(made)))
    again = from_dict(document)
    assert again == made
    assert again.rejected == made.rejected
    assert again.cost() == made.cost()
    assert digest(again) == digest(made)
    assert to_dict(again) == document


@each_plan
def test_a_digest_tells_what_is_asked_for(made: Plan) -> None:
    """Another strategy, budget, query or guarantee is another digest; other runners-up are not."""
    others = [
        dataclasses.replace(made, queries=made.queries[:-1]),
        dataclasses.replace(made, queries=made.queries[::-1] + made.queries[:1]),
        dataclasses.replace(made, strategy="another"),
        dataclasses.replace(made, budget="another"),
        dataclasses.replace(made, loss=loss(rho="0.123")),
    ]
    digests = {digest(other) for other in others}
    assert len(digests | {digest(made)}) == 6
    assert digest(dataclasses.replace(made, rejected=())) == digest(made)


MALFORMED: list[tuple[str, Any]] = [
    ("version", 2),
    ("version", None),
    ("version", "1"),
    ("schema", 5),
    ("schema", None),
    ("schema", "x =="),
    ("schema", ""),
    ("workload", []),
    ("workload", None),
    ("workload", [5]),
    ("workload", [[["A"]]]),
    ("workload", [[["A"], "nan"]]),
    ("workload", [[["A"], "-1"]]),
    ("workload", [[["Z"], "1"]]),
    ("workload", [[[["A"]], "1"]]),
    ("workload", [[5, "1"]]),
    ("workload", [[["A"], "1/0"]]),
    ("workload", [[["A", "A"], "1"]]),
    ("loss", {}),
    ("loss", 5),
    ("loss", {"eps": 1}),
    ("loss", {"epsilon": [1]}),
    ("loss", {"epsilon": "inf"}),
    ("loss", {"epsilon": "-1"}),
    ("loss", {"rho": "1", "delta": "0.1"}),
    ("loss", {"epsilon": None}),
    ("unit", 5),
    ("unit", {}),
    ("unit", {"relation": "add-remove"}),
    ("unit", {"relation": 5, "max_rows": 1}),
    ("unit", {"relation": "add-remove", "max_rows": "x"}),
    ("unit", {"relation": "add-remove", "max_rows": 0}),
    ("unit", {"relation": "add-remove", "max_rows": float("inf")}),
    ("unit", {"relation": "add-remove", "max_rows": None}),
    ("queries", 5),
    ("queries", None),
    ("queries", [[["A"], "table"]]),
    ("queries", [[["A"], "cells", "1"]]),
    ("queries", [[["A"], "table", "0"]]),
    ("queries", [[["A"], "table", "-1/2"]]),
    ("queries", [[["A"], "table", "x"]]),
    ("queries", [[["A"], "table", [1]]]),
    ("queries", [[["A"], "table", float("inf")]]),
    ("queries", [[["Z"], "table", "1"]]),
    ("queries", [[["A", "A"], "table", "1"]]),
    ("queries", [[["A"], "table", "1e99999999"]]),
    ("workload", [[["A"], "1e99999999"]]),
    ("strategy", None),
    ("budget", 5),
    ("rejected", 5),
    ("rejected", [["a"]]),
    ("rejected", None),
]


@pytest.mark.parametrize(("entry", "value"), MALFORMED)
def test_a_malformed_plan_is_refused(entry: str, value: Any) -> None:
    """Whatever is wrong in it, the error is one of ours, in one line, and hides Python's."""
    document = copy.deepcopy(to_dict(PLANS["pure"]))
    document[entry] = value
    with pytest.raises(InputError) as caught:
        from_dict(document)
    assert "\n" not in str(caught.value)
    if type(caught.value) is PlanError:
        assert ": make it again" in str(caught.value)


@pytest.mark.parametrize("entry", list(to_dict(PLANS["pure"])))
def test_a_plan_with_an_entry_missing_is_refused(entry: str) -> None:
    """Every entry is needed."""
    document = copy.deepcopy(to_dict(PLANS["pure"]))
    del document[entry]
    with pytest.raises(PlanError, match=r"make it again"):
        from_dict(document)


@pytest.mark.parametrize("document", [None, [], "plan", 5, {}])
def test_what_is_no_document_is_no_plan(document: Any) -> None:
    """The format version is looked at first."""
    with pytest.raises(PlanError, match="this is no plan of format version 1: make it again with `cuboid plan`"):
        from_dict(document)


@each_plan
def test_errors_are_the_dense_ones(made: Plan) -> None:
    """rmse, total variance and each table's error follow from dense least squares."""
    measured = [(q.form.value, q.cuboid, v) for q, v in zip(made.queries, made.variances(), strict=True)]
    public = 1 if made.unit.total_is_public else None
    total, weighted, cells = 0.0, 0.0, 0
    for cuboid, weight in made.workload.tables:
        solved = oracle.least_squares(made.sizes, measured, cuboid, total=public)
        assert solved is not None
        total += float(np.trace(solved[1]))
        weighted += float(weight) * float(np.trace(solved[1]))
        cells += len(solved[1])
        names = made.schema.domain.named(cuboid)
        assert made.predicted_error(*reversed(names)).sd == pytest.approx(
            math.sqrt(solved[1][0, 0]), rel=1e-9, abs=1e-6
        )
    assert made.total_variance() == pytest.approx(total, rel=1e-9)
    assert made.total_variance(weighted=True) == pytest.approx(weighted, rel=1e-9)
    assert made.rmse() == pytest.approx(math.sqrt(total / cells), rel=1e-9)


@each_plan
def test_a_summary_says_what_follows(made: Plan) -> None:
    """The plain values of `cuboid plan --json`: cost, error, every wanted table, and whatever was rejected."""
    summary = json.loads(json.dumps(made.summary()))
    assert summary["cost"] | made.loss.typed() == summary["cost"]
    assert Fraction(summary["cost"]["amount"]) == made.cost().amount
    assert summary["rmse"] == made.rmse()
    assert [tuple(table["attributes"]) for table in summary["tables"]] == [
        made.schema.domain.named(cuboid) for cuboid in made.workload.cuboids
    ]
    for table in summary["tables"]:
        assert table["cells"] == math.prod(
            made.sizes[made.schema.domain.names.index(name)] for name in table["attributes"]
        )
        assert table["half95"] >= 0
    assert len(summary["rejected"]) == len(made.rejected)
    assert summary["memory_bytes"] > 0
    text = made.explain()
    assert made.strategy in text
    assert all(other.strategy in text for other in made.rejected)
    assert all(f"{name} = {value}" in text for name, value in made.loss.typed().items())


def test_a_table_that_is_not_wanted_is_not_predicted() -> None:
    """Sub-tables of wanted tables have an error, others do not, and the message says to add them."""
    made = PLANS["approximate"]
    assert made.predicted_error("B").sd < made.predicted_error("A", "B").sd * 4
    with pytest.raises(PlanError, match=r"the plan does not cover \[A C\]: .*add it to the workload"):
        made.predicted_error("A", "C")


def test_auto_takes_the_smallest_error_and_says_why() -> None:
    """The chosen strategy has the smallest predicted error of all that fit; every other one has a reason."""
    for made in PLANS.values():
        for other in made.rejected:
            assert other.reason
            if other.rmse is not None and not made.workload.weighted:
                assert other.rmse >= made.rmse()
    assert {other.strategy for other in PLANS["rho"].rejected} | {PLANS["rho"].strategy} == {
        "identity",
        "direct",
        "residual",
    }
    (unfit,) = (other for other in PLANS["pure"].rejected if other.rmse is None)
    assert "Gaussian noise: spend rho" in unfit.reason


@pytest.mark.parametrize(
    "weights", [[1.0], [1.0, 1.0, 1.0], [0.1, 0.2, 0.7], [1e-300, 1.0], [1e300, 1.0, 1e-300], [3.0] * 1000], ids=len
)
def test_shares_sum_to_exactly_one(weights: list[float]) -> None:
    """Positive rationals, proportional to 2^-60, whose sum is 1."""
    found = shares(weights)
    assert sum(found) == 1
    assert all(share > 0 for share in found)
    for share, weight in zip(found, weights, strict=True):
        assert float(share) == pytest.approx(weight / sum(weights), rel=1e-12, abs=2.0**-59 * len(weights))
    assert equal_shares(7) == (Fraction(1, 7),) * 7


def test_people_are_shown_with_three_figures() -> None:
    """Large numbers with separators, small ones with three figures."""
    assert [people(x) for x in (1234567.8, 100, 99.95, 3.14159, 0.00123)] == [
        "1,234,568",
        "100",
        "100",
        "3.14",
        "0.00123",
    ]


EXTREMES = [
    pytest.param("1" + "0" * 400 + "*[A]", {"epsilon": 1}, id="huge weight"),
    pytest.param("1/1" + "0" * 400 + "*[A]", {"epsilon": 1}, id="tiny weight"),
    pytest.param("[A]", {"epsilon": "1e-299"}, id="tiny epsilon"),
    pytest.param("[A]", {"epsilon": 10**9}, id="huge epsilon"),
    pytest.param("[A]", {"rho": "1e-299"}, id="tiny rho"),
    pytest.param("[A]", {"rho": 10**9}, id="huge rho"),
]


@pytest.mark.parametrize(("wanted", "amount"), EXTREMES)
def test_extreme_numbers_are_planned_or_refused(wanted: str, amount: dict[str, Any]) -> None:
    """What is accepted as a number either makes a plan or is refused in words."""
    try:
        made = plan(SCHEMA, wanted, **amount)
    except InputError:
        return
    assert math.isfinite(made.rmse())
    assert made.explain()


@pytest.mark.parametrize(
    ("choice", "match"),
    [
        ({"strategy": "best"}, "there is no strategy 'best'; choose auto, identity, direct, residual"),
        ({"budget": "even"}, "there is no budget rule 'even'; choose optimal, uniform"),
        ({"relation": "swap"}, "there is no relation 'swap'; choose add-remove or replace"),
    ],
)
def test_a_choice_that_is_none_is_refused(choice: dict[str, str], match: str) -> None:
    """Names of strategies, budgets and relations are listed."""
    with pytest.raises(ParameterError, match=match):
        plan(SCHEMA, "[A]", rho=1, **choice)


def test_the_grid_is_fine_enough() -> None:
    """A grid of step 2^-k adds at most 1e-6 to every variance, and half of it would be too little."""
    for rho, strategy in itertools.product(("1e-6", "0.01", "1", "50"), ("direct", "residual")):
        made = plan(SCHEMA, "all 2-way", rho=rho, strategy=strategy)
        narrowest = min(
            Fraction(length) / query.weight
            for query in made.queries
            for length in oracle.answer_lengths(made.sizes, query.form.value, query.cuboid)
        )
        assert Fraction(1, 12 * 4**made.exponent) <= narrowest / 10**6
        assert made.exponent == 0 or Fraction(1, 12 * 4 ** (made.exponent - 1)) > narrowest / 10**6
    assert PLANS["pure"].exponent == 0
