"""Queries, their answers, and what they cost together."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import oracle
from cuboid.errors import InternalError
from cuboid.measurement import Measurements, Query, cost_of, grid_exponent
from cuboid.privacy import Form, Mechanism, Relation, Unit


def test_measurements_and_answers_belong_together() -> None:
    """As many answers as queries, kept from change, and read in people."""
    query = Query(cuboid=(0,), form=Form.TABLE, weight=Fraction(1))
    common = {"mechanism": Mechanism.GAUSSIAN, "exponent": 3, "total": None, "nonce": "x"}
    with pytest.raises(InternalError, match="measurements and queries differ in number"):
        Measurements(queries=(query, query), answers=(np.zeros(2, dtype=np.int64),), **common)
    measurements = Measurements(queries=(query,), answers=(np.array([8, -12], dtype=np.int64),), **common)
    assert measurements.values(0).tolist() == [1.0, -1.5]
    with pytest.raises(ValueError, match="read-only"):
        measurements.answers[0][0] = 1


def test_a_query_knows_the_shape_of_its_answer() -> None:
    """Cells of a table, or one fewer along each axis for contrasts."""
    sizes = (3, 2, 5)
    table, contrast = (Query(cuboid=(0, 2), form=form, weight=Fraction(1)) for form in Form)
    assert (table.shape(sizes), table.answers(sizes), table.table_shape(sizes)) == ((3, 5), 15, (3, 5))
    assert (contrast.shape(sizes), contrast.answers(sizes), contrast.table_shape(sizes)) == ((2, 4), 8, (3, 5))
    assert oracle.query_matrix(sizes, "contrast", (0, 2)).shape == (8, 30)


def test_the_same_question_twice_costs_twice() -> None:
    """Queries of one cuboid and form add up."""
    query = Query(cuboid=(0,), form=Form.TABLE, weight=Fraction(1, 3))
    for mechanism in Mechanism:
        for relation in Relation:
            once, twice = (cost_of([query] * n, mechanism, (2, 2), Unit(relation=relation)) for n in (1, 2))
            assert twice.amount == 2 * once.amount


@pytest.mark.parametrize(
    ("form", "cuboid", "weight", "exponent"),
    [
        (Form.TABLE, (0,), Fraction(1, 10**6), 0),
        (Form.TABLE, (0,), Fraction(12, 10**6), 0),
        (Form.TABLE, (0,), Fraction(13, 10**6), 1),
        (Form.TABLE, (0,), Fraction(1), 9),
        (Form.CONTRAST, (), Fraction(1), 9),
        (Form.CONTRAST, (0, 1), Fraction(1), 8),
        (Form.CONTRAST, (0, 1), Fraction(48, 10**6), 0),
        (Form.CONTRAST, (0, 1), Fraction(49, 10**6), 1),
    ],
)
def test_the_grid_is_as_coarse_as_it_may_be(
    form: Form, cuboid: tuple[int, ...], weight: Fraction, exponent: int
) -> None:
    """The smallest k with 4^-k / 12 at most 1e-6 of the narrowest variance; Laplace noise has whole numbers."""
    wide = Query(cuboid=(0,), form=Form.TABLE, weight=Fraction(1, 10**9))
    query = Query(cuboid=cuboid, form=form, weight=weight)
    assert grid_exponent(Mechanism.GAUSSIAN, [wide, query]) == exponent
    assert grid_exponent(Mechanism.PURE, [wide, query]) == 0
