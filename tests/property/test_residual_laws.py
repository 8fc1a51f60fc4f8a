"""The algebra of residuals, for all small shapes and tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import oracle
from cuboid.domain import subsets
from cuboid.residual import contrasts, join, residuals, split, squared_lengths

quiet = settings(max_examples=80, deadline=None, derandomize=True)
shapes = st.lists(st.integers(2, 4), max_size=3).map(tuple)
wide = st.integers(-(2**63), 2**63 - 1)
counts = st.integers(0, 10**6)


@st.composite
def tables(draw: Any, cells: Any = counts) -> np.ndarray:
    """One to three tables of one shape."""
    shape = draw(shapes)
    return draw(arrays(np.int64, (draw(st.integers(1, 3)), *shape), elements=cells))


@quiet
@given(tables())
def test_splitting_and_joining_is_the_identity(found: np.ndarray) -> None:
    """A table is the join of its residuals, which are those of dense matrices."""
    shape = found.shape[1:]
    parts = dict(split(found.astype(float), list(subsets(tuple(range(len(shape)))))))
    np.testing.assert_allclose(join(parts, shape), found, atol=1e-6)
    for axes, values in parts.items():
        for table, value in zip(found, values, strict=True):
            np.testing.assert_allclose(value, oracle.naive_split(table, axes), atol=1e-6)


@quiet
@given(tables(wide))
def test_contrasts_are_exact_for_all_integers(found: np.ndarray) -> None:
    """Integer contrasts never wrap, however large the counts."""
    shape = found.shape[1:]
    matrix = oracle.contrast_matrix(shape, tuple(range(len(shape))))
    for table, values in zip(found, contrasts(found), strict=True):
        cells = [int(x) for x in table.reshape(-1)]
        expected = [sum(int(m) * x for m, x in zip(row, cells, strict=True)) for row in matrix]
        assert [int(value) for value in np.reshape(values, -1)] == expected


@quiet
@given(tables())
def test_contrasts_hold_the_residual_and_its_length(found: np.ndarray) -> None:
    """Residuals come back from contrasts, and squares of orthonormal contrasts sum to the residual's square."""
    shape = found.shape[1:]
    axes = tuple(range(len(shape)))
    ((_, residual),) = split(found.astype(float), [axes])
    own = contrasts(found).astype(float)
    np.testing.assert_allclose(residuals(own, shape), residual, atol=1e-6)
    squares = (own**2 / squared_lengths(shape)).reshape(len(found), -1).sum(axis=1)
    np.testing.assert_allclose(squares, (residual**2).reshape(len(found), -1).sum(axis=1), rtol=1e-9, atol=1e-6)


@quiet
@given(tables(), tables())
def test_splitting_is_linear(first: np.ndarray, second: np.ndarray) -> None:
    """The residuals of a sum are the sums of residuals."""
    if first.shape != second.shape:
        second = first[::-1]
    every = list(subsets(tuple(range(first.ndim - 1))))
    whole, one, other = (dict(split(t.astype(float), every)) for t in (first + 3 * second, first, second))
    for axes in every:
        np.testing.assert_allclose(whole[axes], one[axes] + 3 * other[axes], atol=1e-6)
