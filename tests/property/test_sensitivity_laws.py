"""Costs against enumeration, for all small sets of queries with arbitrary weights."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from cuboid.domain import subsets
from cuboid.measurement import Query, cost_of
from cuboid.privacy import Form, Mechanism, Relation, Unit

quiet = settings(max_examples=80, deadline=None, derandomize=True)
sizes = st.lists(st.integers(2, 4), min_size=1, max_size=3).map(tuple)
weights = st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=1000)
units = st.builds(
    lambda relation, rows: Unit(relation=relation, max_rows=rows), st.sampled_from(list(Relation)), st.integers(1, 3)
)


@st.composite
def asked(draw: Any, own: tuple[int, ...], forms: list[Form]) -> list[Query]:
    """A few queries, some of them perhaps twice."""
    cuboids = st.sampled_from(list(subsets(tuple(range(len(own))))))
    queries = st.builds(
        lambda cuboid, form, weight: Query(cuboid=cuboid, form=form, weight=weight),
        cuboids,
        st.sampled_from(forms),
        weights,
    )
    return draw(st.lists(queries, min_size=1, max_size=6))


def summed(queries: list[Query]) -> dict[tuple[str, tuple[int, ...]], Fraction]:
    """The weights by query, as the oracle takes them: the same question twice costs both."""
    found: dict[tuple[str, tuple[int, ...]], Fraction] = {}
    for query in queries:
        key = (query.form.value, query.cuboid)
        found[key] = found.get(key, Fraction(0)) + query.weight
    return found


@quiet
@given(sizes, units, st.data())
def test_laplace_costs_are_exact(own: tuple[int, ...], unit: Unit, data: Any) -> None:
    """max_rows times the enumerated maximum for one row."""
    queries = data.draw(asked(own, [Form.TABLE]))
    cost = cost_of(queries, Mechanism.PURE, own, unit)
    assert cost.amount == unit.max_rows * oracle.largest_l1(
        summed(queries), own, oracle.differences(own, unit.relation.value)
    )
    assert cost.known == "exact"


@quiet
@given(sizes, units, st.data())
def test_gaussian_costs_are_exact(own: tuple[int, ...], unit: Unit, data: Any) -> None:
    """max_rows squared times the enumerated maximum for one row, tables and contrasts mixed."""
    queries = data.draw(asked(own, list(Form)))
    cost = cost_of(queries, Mechanism.GAUSSIAN, own, unit)
    one = oracle.largest_squared_l2(summed(queries), own, oracle.differences(own, unit.relation.value))
    assert cost.amount == unit.max_rows**2 * one
    assert cost.known == "exact"


@quiet
@given(sizes, units, st.data())
def test_asking_more_costs_more(own: tuple[int, ...], unit: Unit, data: Any) -> None:
    """Another query, or more of one, never lowers a cost; and costs of parts add up to no less than the whole."""
    for mechanism, forms in ((Mechanism.PURE, [Form.TABLE]), (Mechanism.GAUSSIAN, list(Form))):
        first, second = data.draw(asked(own, forms)), data.draw(asked(own, forms))
        one, other, both = (
            cost_of(queries, mechanism, own, unit).amount for queries in (first, second, first + second)
        )
        assert max(one, other) <= both <= one + other
