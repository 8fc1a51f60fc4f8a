"""Slow plain twins, written from the formulas: dense matrices over the whole domain, and enumeration of neighbours.

A query is (form, cuboid): "table" asks for the cells of a cuboid, "contrast" for the integer Helmert contrasts of its
residual. Full tables are vectors over all cells of the domain, the last attribute varying fastest.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import reduce
from math import prod

import numpy as np

from cuboid.domain import Attribute, Domain, Schema


def attribute(name, size):
    """An attribute with the given number of values, the first of which takes undeclared ones: it suits replace too."""
    return Attribute(name=name, values=tuple(f"v{place}" for place in range(size)), outside="v0")


def schema(sizes, *, max_rows=1):
    """A schema with attributes A, B, C, ... of the given sizes."""
    names = [chr(ord("A") + place) if place < 26 else f"X{place}" for place in range(len(sizes))]
    return Schema(
        name="small",
        domain=Domain(tuple(map(attribute, names, sizes))),
        unit="person" if max_rows > 1 else None,
        max_rows=max_rows,
    )


# Matrices. ---------------------------------------------------------------------------------------------------


def helmert(size):
    """The integer rows (1, ..., 1, -j, 0, ..., 0), j ones, for j = 1 .. size - 1."""
    return np.array([[1] * j + [-j] + [0] * (size - 1 - j) for j in range(1, size)], dtype=object)


def kron(factors):
    """The Kronecker product of some matrices, in order; of none, the number 1."""
    return reduce(np.kron, factors, np.ones((1, 1), dtype=object))


def margin_matrix(sizes, cuboid):
    """From full tables to the table of a cuboid."""
    factors = [np.eye(n, dtype=int) if i in cuboid else np.ones((1, n), dtype=int) for i, n in enumerate(sizes)]
    return kron(factors).astype(np.int64)


def contrast_matrix(sizes, cuboid):
    """From full tables to the integer contrasts of a cuboid's residual."""
    return kron([helmert(n) if i in cuboid else np.ones((1, n), dtype=int) for i, n in enumerate(sizes)])


def query_matrix(sizes, form, cuboid):
    """From full tables to the exact answer of a query."""
    return (contrast_matrix if form == "contrast" else margin_matrix)(sizes, cuboid).astype(np.int64)


def answer_lengths(sizes, form, cuboid):
    """How many times a query's variance each of its integer answers has: squared lengths of Helmert rows, or 1."""
    if form == "table":
        return [1] * prod(sizes[i] for i in cuboid)
    per_axis = [[j * (j + 1) for j in range(1, sizes[i])] for i in cuboid]
    return [prod(steps) for steps in itertools.product(*per_axis)]


def residual_projector(shape):
    """From a table to its residual of all its attributes: the Kronecker product of I - J/n."""
    return kron([np.eye(n) - np.ones((n, n)) / n for n in shape]).astype(float)


def naive_split(table, axes):
    """The residual of a table for some of its axes."""
    others = tuple(axis for axis in range(table.ndim) if axis not in axes)
    margin = table.sum(axis=others)
    shape = tuple(table.shape[axis] for axis in axes)
    return (residual_projector(shape) @ margin.reshape(-1)).reshape(shape)


def naive_join(residuals, shape):
    """The table with the given residuals: the sum of their lifts, times |T|/|V|."""
    table = np.zeros(shape)
    for axes, residual in residuals.items():
        spread = tuple(n if axis in axes else 1 for axis, n in enumerate(shape))
        table = table + np.reshape(residual, spread) * (residual.size / prod(shape))
    return table


# Least squares over the whole domain. ------------------------------------------------------------------------


def least_squares(sizes, measured, wanted, *, total=None):
    """The best linear unbiased estimate of a wanted table, as (matrix, covariance), from measured queries.

    measured   (form, cuboid, variance) each: the variance of a cell, or of an orthonormal contrast
    wanted     a cuboid
    total      when not None, the number of rows is known to everybody

    The matrix applies to all integer answers, one after the other, then to the public total. None where the
    measurements do not determine the table.
    """
    matrix = np.vstack([query_matrix(sizes, form, cuboid) for form, cuboid, _ in measured]).astype(float)
    noise = np.concatenate([
        variance * np.array(answer_lengths(sizes, form, cuboid), dtype=float) for form, cuboid, variance in measured
    ])  # fmt: skip
    target = margin_matrix(sizes, wanted).astype(float)
    cells = prod(sizes)
    # x = total * uniform + free @ u, where the columns of `free` keep the total when it is public.
    free = np.eye(cells) if total is None else np.eye(cells)[:, 1:] - np.eye(cells)[:, [0]]
    uniform = np.full(cells, 0.0 if total is None else 1 / cells)
    whitened = (matrix @ free) / np.sqrt(noise)[:, None]
    inverse = np.linalg.pinv(whitened, rcond=1e-10)
    reach = target @ free
    if not np.allclose(reach @ inverse @ whitened, reach, atol=1e-7):
        return None
    from_answers = reach @ inverse / np.sqrt(noise)
    from_total = target @ uniform - from_answers @ (matrix @ uniform)
    covariance = from_answers @ np.diag(noise) @ from_answers.T
    return np.hstack([from_answers, from_total[:, None]]), covariance


# Sensitivity by enumeration. ---------------------------------------------------------------------------------


def queried(sizes, queries):
    """What each cell of the domain adds to all integer answers: one column a cell. And lengths, and whose they are."""
    matrix = np.vstack([query_matrix(sizes, form, cuboid) for form, cuboid in queries])
    lengths = [length for query in queries for length in answer_lengths(sizes, *query)]
    owner = [place for place, query in enumerate(queries) for _ in answer_lengths(sizes, *query)]
    return matrix, lengths, owner


def differences(sizes, relation, max_rows=1):
    """Every change of a full table that one person can make, up to sign, as integer vectors."""
    cells = prod(sizes)
    people = [
        np.bincount(rows, minlength=cells) if rows else np.zeros(cells, dtype=np.int64)
        for number in range(1, max_rows + 1)
        for rows in itertools.combinations_with_replacement(range(cells), number)
    ]
    if relation == "add-remove":
        return people
    return [one - other for one, other in itertools.combinations(people, 2) if one.sum() == other.sum()]


def largest_l1(weights, sizes, changes):
    """The exact maximum over the changes of the eta-weighted L1 distance of everything measured."""
    queries = list(weights)
    matrix, _, owner = queried(sizes, queries)
    return largest_priced(np.abs(np.array(changes) @ matrix.T), [weights[queries[k]] for k in owner])


def largest_squared_l2(weights, sizes, changes):
    """The exact maximum over the changes of the precision-weighted squared L2 distance of everything measured."""
    queries = list(weights)
    matrix, lengths, owner = queried(sizes, queries)
    prices = [weights[queries[k]] / length for k, length in zip(owner, lengths, strict=True)]
    return largest_priced(np.square(np.array(changes) @ matrix.T), prices)


def largest_priced(moved, prices):
    """The largest priced row of some integers: all rows in doubles, those near the largest in rationals."""
    rough = moved @ np.array([float(price) for price in prices])
    near = np.unique(moved[rough >= rough.max() * (1 - 1e-9)], axis=0)
    return max(sum((price * int(m) for price, m in zip(prices, row, strict=True)), Fraction(0)) for row in near)


def all_tables(sizes, most_rows):
    """Every table with at most so many rows: its rows, as cells of the domain."""
    cells = range(prod(sizes))
    return [
        rows for number in range(most_rows + 1) for rows in itertools.combinations_with_replacement(cells, number)
    ]  # fmt: skip
