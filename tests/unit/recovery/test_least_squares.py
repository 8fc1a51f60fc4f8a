"""Recovery against dense generalised least squares, and what it does where something is not measured."""

from __future__ import annotations

import numpy as np
import pytest

from cuboid.domain import closure
from cuboid.errors import InternalError
from cuboid.planning import ErrorLaw
from cuboid.privacy import Form, Mechanism
from cuboid.recovery import Estimate, Residuals, grouped, recover
from noisy_plans import dense_estimate, random_measurements, variances_of

TABLE, CONTRAST = Form.TABLE, Form.CONTRAST
SETS = {
    "one table": ((3, 2), [(TABLE, (0, 1))]),
    "tables that overlap": ((3, 2, 4), [(TABLE, (0, 1)), (TABLE, (1, 2)), (TABLE, (0, 2))]),
    "a table twice": ((3, 2), [(TABLE, (0, 1)), (TABLE, (0, 1)), (TABLE, (0,))]),
    "nested tables": ((2, 3, 2), [(TABLE, ()), (TABLE, (0,)), (TABLE, (0, 1)), (TABLE, (0, 1, 2))]),
    "contrasts alone": ((3, 4), [(CONTRAST, ()), (CONTRAST, (0,)), (CONTRAST, (1,)), (CONTRAST, (0, 1))]),
    "a contrast twice": ((3,), [(CONTRAST, ()), (CONTRAST, (0,)), (CONTRAST, (0,))]),
    "both mixed": ((3, 4, 2), [(TABLE, (0, 1)), (CONTRAST, (0, 1)), (CONTRAST, (1, 2)), (TABLE, (2,)), (CONTRAST, ())]),
    "a gap": ((2, 3, 2), [(TABLE, (0,)), (TABLE, (1,)), (CONTRAST, (1, 2))]),
    "no total": ((2, 3), [(CONTRAST, (0,)), (CONTRAST, (0, 1))]),
}
MECHANISMS = list(Mechanism)


@pytest.mark.parametrize("public", [False, True], ids=["total unknown", "total public"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("name", SETS)
def test_recovery_is_dense_least_squares(name: str, mechanism: Mechanism, public: bool) -> None:
    """Every determined table has the dense estimate and variance; every other one is not covered."""
    sizes, asked = SETS[name]
    everything = closure([tuple(range(len(sizes)))])
    measurements = random_measurements(sizes, asked, mechanism, total=137 if public else None, seed=len(name))
    estimate = recover(measurements, everything, sizes)
    law = ErrorLaw(mechanism=Mechanism.GAUSSIAN, queries=measurements.queries, variances=variances_of(measurements),
                   scales=estimate.scales, sizes=sizes)  # fmt: skip
    covered = 0
    for cuboid in everything:
        solved = dense_estimate(measurements, sizes, cuboid)
        assert estimate.covers(cuboid) == (solved is not None)
        error = law.of(cuboid)
        assert (error is None) == (solved is None)
        if solved is None or error is None:
            continue
        covered += 1
        values, covariance = solved
        size = max(1.0, float(np.abs(values).max()))
        np.testing.assert_allclose(estimate.table(cuboid).reshape(-1), values, atol=1e-8 * size)
        np.testing.assert_allclose(np.diag(covariance), error.sd**2, rtol=1e-8, atol=1e-8)
    assert covered or name == "no total"


def test_a_public_total_replaces_what_was_measured_of_it() -> None:
    """The total is exact, and every table sums to it."""
    sizes, asked = SETS["nested tables"]
    measurements = random_measurements(sizes, asked, Mechanism.GAUSSIAN, total=999, seed=2)
    estimate = recover(measurements, closure([(0, 1, 2)]), sizes)
    assert estimate.scales[()] == 0
    for cuboid in closure([(0, 1, 2)]):
        assert estimate.table(cuboid).sum() == pytest.approx(999, abs=1e-9)


def test_only_what_is_needed_is_recovered() -> None:
    """Residuals that nobody asked for are left out."""
    sizes, asked = SETS["tables that overlap"]
    measurements = random_measurements(sizes, asked, Mechanism.PURE, total=None, seed=2)
    estimate = recover(measurements, closure([(0, 1)]), sizes)
    assert set(estimate.scales) == set(closure([(0, 1)]))
    assert not estimate.covers((0, 2))
    with pytest.raises(InternalError, match="whose residuals nobody measured"):
        estimate.table((0, 2))


def test_many_tables_come_in_groups_of_one_shape() -> None:
    """Each cuboid once, shapes together, and no group larger than a few megabytes."""
    sizes = (3, 2, 3, 2000, 2000)
    wanted = [(0,), (1,), (2,), (3, 4), (0, 3), (2, 3), (0, 4), (0, 2)]
    found = list(grouped(wanted, sizes))
    assert sorted(cuboid for group in found for cuboid in group) == sorted(wanted)
    for group in found:
        assert len({tuple(sizes[i] for i in cuboid) for cuboid in group}) == 1
    many = list(grouped([(3, 4)] * 3, sizes))
    assert [len(group) for group in many] == [1, 1, 1]


def test_tables_are_joined_for_many_cuboids_at_once() -> None:
    """All tables of an estimate, in one call, are those of single calls."""
    sizes, asked = SETS["tables that overlap"]
    estimate = recover(
        random_measurements(sizes, asked, Mechanism.PURE, total=None, seed=3), closure(c for _, c in asked), sizes
    )
    every = closure(c for _, c in asked)
    for cuboid, table in estimate.tables(every):
        assert table.shape == tuple(sizes[i] for i in cuboid)
        np.testing.assert_array_equal(table, estimate.table(cuboid))


def test_zero_residuals_have_their_places() -> None:
    """Residuals of one shape lie in one array, each at a place of its own."""
    found = Residuals.zero((2, 3, 2), [(), (0,), (1,), (2,), (0, 2)])
    assert {shape: array.shape for shape, array in found.arrays.items()} == {
        (): (1,), (2,): (2, 2), (3,): (1, 3), (2, 2): (1, 2, 2),
    }  # fmt: skip
    array, places = found.rows([(0,), (2,)])
    assert array is found.arrays[(2,)]
    assert places == [0, 1]
    assert not Estimate(found, {}).covers(())
