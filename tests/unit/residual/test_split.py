"""Splitting, joining and contrasting tables, against Kronecker products."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import oracle
from cuboid.domain import subsets
from cuboid.residual import contrasts, join, residuals, split, squared_lengths

SHAPES = [(), (2,), (5,), (2, 3), (4, 2, 3), (2, 2, 2, 3)]


def tables(shape: tuple[int, ...], number: int = 3) -> np.ndarray:
    """A few integer tables of a shape."""
    return np.random.default_rng(len(shape)).integers(-50, 1000, (number, *shape))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_split_is_the_kronecker_product(shape: tuple[int, ...]) -> None:
    """Each residual is that of dense matrices, whichever of them are wanted."""
    own = tables(shape).astype(float)
    every = list(subsets(tuple(range(len(shape)))))
    for wanted in (every, every[::2], every[-1:], []):
        found = dict(split(own, wanted))
        assert set(found) == set(wanted)
        for axes, values in found.items():
            for table, value in zip(own, values, strict=True):
                np.testing.assert_allclose(value, oracle.naive_split(table, axes), atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_join_undoes_split(shape: tuple[int, ...]) -> None:
    """All residuals together are the table, and join is the sum of lifts."""
    own = tables(shape).astype(float)
    parts = dict(split(own, list(subsets(tuple(range(len(shape)))))))
    np.testing.assert_allclose(join(parts, shape), own, atol=1e-9)
    naive = oracle.naive_join({axes: values[0] for axes, values in parts.items()}, shape)
    np.testing.assert_allclose(join(parts, shape)[0], naive, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_residuals_are_orthogonal(shape: tuple[int, ...]) -> None:
    """A residual sums to zero along each of its axes."""
    for axes, values in split(tables(shape).astype(float), list(subsets(tuple(range(len(shape)))))):
        for axis in range(len(axes)):
            np.testing.assert_allclose(values.sum(axis=axis + 1), 0, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_contrasts_are_helmert_rows(shape: tuple[int, ...]) -> None:
    """Integer contrasts are the product of Helmert's rows, with products of j (j + 1) as squared lengths."""
    own = tables(shape)
    matrix = oracle.contrast_matrix(shape, tuple(range(len(shape))))
    found = contrasts(own)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found.reshape(3, -1), own.reshape(3, -1) @ matrix.T)
    lengths = squared_lengths(shape).reshape(-1)
    assert lengths.tolist() == [int(row @ row) for row in matrix]
    np.testing.assert_array_equal(lengths, oracle.answer_lengths(shape, "contrast", tuple(range(len(shape)))))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_residuals_come_back_from_contrasts(shape: tuple[int, ...]) -> None:
    """Contrasts hold the whole residual."""
    own = tables(shape)
    axes = tuple(range(len(shape)))
    ((_, expected),) = split(own.astype(float), [axes])
    np.testing.assert_allclose(residuals(contrasts(own).astype(float), shape), expected, atol=1e-9)


EDGES = [2**31 - 1, 2**53, 2**53 + 1, 2**61 - 1, 2**61, 2**62 - 1, 2**62, 2**62 + 1, 2**63 - 1]


@pytest.mark.parametrize("largest", EDGES, ids=hex)
@pytest.mark.parametrize("shape", [(), (2,), (3, 2), (5,)], ids=str)
def test_contrasts_of_huge_counts_are_exact(shape: tuple[int, ...], largest: int) -> None:
    """Counts up to the end of int64 give exact contrasts, as Python integers where int64 would overflow."""
    cells = int(np.prod(shape, dtype=int))
    matrix = oracle.contrast_matrix(shape, tuple(range(len(shape))))
    for pattern in itertools.islice(
        itertools.product((largest, 0, largest - 1, 1, -largest), repeat=cells), 0, 3000, 7
    ):
        table = np.array(pattern, dtype=np.int64).reshape(1, *shape)
        found = [int(value) for value in contrasts(table).reshape(-1)]
        assert found == [sum(int(m) * int(x) for m, x in zip(row, pattern, strict=True)) for row in matrix]


def test_squared_lengths_are_exact_beyond_int64() -> None:
    """The longest row of a long table does not overflow, whatever the type that holds it."""
    assert squared_lengths((2, 2, 2)).dtype == np.int64
    assert int(squared_lengths((3000, 2, 2)).max()) == 2999 * 3000 * 2 * 2
    steps = 60
    assert int(squared_lengths((steps + 1,) * 3).max()) == (steps * (steps + 1)) ** 3
    assert int(squared_lengths((2,) * 16 + (2**9,)).max()) == 2**16 * (2**9 - 1) * 2**9
    assert max(squared_lengths((200_000, 3, 2, 2)).reshape(-1).tolist()) == 199_999 * 200_000 * 6 * 2 * 2


def test_contrasts_of_the_lowest_integer_are_exact() -> None:
    """-2^63, whose absolute value int64 does not hold, is no trap."""
    table = np.array([[-(2**63), 2**63 - 1]])
    assert [int(value) for value in contrasts(table).reshape(-1)] == [-(2**64) + 1]
