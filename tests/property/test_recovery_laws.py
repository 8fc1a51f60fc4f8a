"""Recovery against dense least squares, for all sets of measurements over small domains."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from cuboid.domain import closure, subsets
from cuboid.measurement import Measurements
from cuboid.planning import residual_scales
from cuboid.planning.prediction import cell_variance
from cuboid.privacy import Form, Mechanism
from cuboid.recovery import recover
from noisy_plans import dense_estimate, random_measurements

quiet = settings(max_examples=60, deadline=None, derandomize=True)


@st.composite
def problems(draw: Any) -> tuple[tuple[int, ...], Measurements]:
    """Sizes, and answers of unequal precision to tables and contrasts, with or without a public total."""
    sizes = draw(st.lists(st.integers(2, 4), min_size=1, max_size=3).map(tuple))
    cuboids = st.sampled_from(list(subsets(tuple(range(len(sizes))))))
    asked = draw(st.lists(st.tuples(st.sampled_from(list(Form)), cuboids), min_size=1, max_size=6))
    mechanism = draw(st.sampled_from(list(Mechanism)))
    total = draw(st.none() | st.integers(0, 10**6))
    measurements = random_measurements(sizes, asked, mechanism, total=total, seed=draw(st.integers(0, 2**32)))
    return sizes, measurements


@quiet
@given(problems())
def test_recovery_is_dense_least_squares(problem: tuple[tuple[int, ...], Measurements]) -> None:
    """Estimates, variances and what is covered, for every table of the domain."""
    sizes, measurements = problem
    every = closure([tuple(range(len(sizes)))])
    estimate = recover(measurements, every, sizes)
    for cuboid in every:
        solved = dense_estimate(measurements, sizes, cuboid)
        assert estimate.covers(cuboid) == (solved is not None)
        if solved is None:
            continue
        size = max(1.0, float(np.abs(solved[0]).max()))
        np.testing.assert_allclose(estimate.table(cuboid).reshape(-1), solved[0], atol=1e-7 * size)
        variance = cell_variance(cuboid, estimate.scales, sizes)
        assert variance is not None
        np.testing.assert_allclose(np.diag(solved[1]), variance, rtol=1e-7, atol=1e-7)


@quiet
@given(problems())
def test_tables_agree_on_their_margins(problem: tuple[tuple[int, ...], Measurements]) -> None:
    """Every margin of a recovered table is the recovered table of that margin."""
    sizes, measurements = problem
    every = closure([tuple(range(len(sizes)))])
    estimate = recover(measurements, every, sizes)
    for cuboid in filter(estimate.covers, every):
        table = estimate.table(cuboid)
        for part in subsets(cuboid):
            margin = table.sum(axis=tuple(axis for axis, i in enumerate(cuboid) if i not in part))
            np.testing.assert_allclose(margin, estimate.table(part), atol=1e-6 * max(1.0, float(np.abs(table).max())))


@quiet
@given(problems(), st.integers(0, 5))
def test_measuring_more_is_never_worse(problem: tuple[tuple[int, ...], Measurements], number: int) -> None:
    """Without one of the measurements no table has a smaller variance, and none is covered that was not."""
    sizes, measurements = problem
    every = closure([tuple(range(len(sizes)))])
    variances = [1.0 + k for k in range(len(measurements.queries))]
    public = measurements.total is not None
    queries = measurements.queries
    whole = residual_scales(queries, variances, every, sizes, total_is_public=public)
    kept = [k for k in range(len(queries)) if k != number % len(queries)]
    less = residual_scales(
        [queries[k] for k in kept], [variances[k] for k in kept], every, sizes, total_is_public=public
    )
    for cuboid in every:
        before, after = cell_variance(cuboid, less, sizes), cell_variance(cuboid, whole, sizes)
        assert before is None or (after is not None and after <= before * (1 + 1e-12))


@quiet
@given(st.lists(st.integers(2, 4), min_size=1, max_size=3).map(tuple), st.data())
def test_noiseless_tables_come_back(sizes: tuple[int, ...], data: Any) -> None:
    """Exact answers of any precision give the exact table back."""
    cuboids = data.draw(st.lists(st.sampled_from(list(subsets(tuple(range(len(sizes)))))), min_size=1, max_size=4))
    full = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 1000, int(np.prod(sizes)))
    drawn = random_measurements(sizes, [(Form.TABLE, c) for c in cuboids], Mechanism.PURE, total=None, seed=1)
    answers = tuple(
        (oracle.margin_matrix(sizes, c) @ full).reshape(q.shape(sizes))
        for c, q in zip(cuboids, drawn.queries, strict=True)
    )
    exact = Measurements(
        mechanism=drawn.mechanism, exponent=0, queries=drawn.queries, answers=answers, total=None, nonce="x"
    )
    estimate = recover(exact, closure(cuboids), sizes)
    for cuboid in closure(cuboids):
        truth = oracle.margin_matrix(sizes, cuboid) @ full
        np.testing.assert_allclose(estimate.table(cuboid).reshape(-1), truth, atol=1e-7)
