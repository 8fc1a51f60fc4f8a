"""Claimed sensitivities against enumeration: of single people, and of all small tables with all their neighbours."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import oracle
from cuboid.errors import UnsupportedRelationError
from cuboid.privacy import Form, Relation, Unit, contrast_norm, gaussian_cost, laplace_cost
from cuboid.residual import contrasts, squared_lengths

SMALL = [(2,), (3,), (2, 2), (2, 3), (3, 3), (2, 2, 2), (2, 2, 3), (2, 3, 3), (3, 3, 3)]
PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53]
RELATIONS = list(Relation)

Key = tuple[Form, tuple[int, ...]]
Weights = dict[Key, Fraction]


def cuboids(sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Every cuboid of a domain, the total included."""
    axes = range(len(sizes))
    return [chosen for order in range(len(sizes) + 1) for chosen in itertools.combinations(axes, order)]


def priced(keys: list[Key]) -> Weights:
    """Unequal weights, so that a term that is wrong or forgotten shows."""
    return {key: Fraction(PRIMES[k % 16], 7 + k) for k, key in enumerate(keys)}


def query_sets(sizes: tuple[int, ...], *forms: Form) -> list[Weights]:
    """Several sets of queries of the given forms: each alone, all, and every second."""
    every = [(form, cuboid) for form in forms for cuboid in cuboids(sizes)]
    return [priced([key]) for key in every] + [priced(every), priced(every[::2]), priced(every[1::2])]


def plain(weights: Weights) -> dict[tuple[str, tuple[int, ...]], Fraction]:
    """The weights with the names that the oracle uses."""
    return {(form.value, cuboid): weight for (form, cuboid), weight in weights.items()}


@pytest.mark.parametrize("max_rows", [1, 2])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("sizes", SMALL, ids=str)
def test_laplace_cost_is_the_enumerated_maximum(sizes: tuple[int, ...], relation: Relation, max_rows: int) -> None:
    """The weighted L1 distance that one person can cause is at most the cost, and for somebody equal to it."""
    unit = Unit(relation=relation, max_rows=max_rows)
    changes = oracle.differences(sizes, relation.value, max_rows)
    for weights in query_sets(sizes, Form.TABLE):
        cost = laplace_cost(weights, unit)
        assert cost.known == "exact"
        assert cost.amount == oracle.largest_l1(plain(weights), sizes, changes)


@pytest.mark.parametrize("max_rows", [1, 2])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("sizes", SMALL[:-2], ids=str)
def test_gaussian_cost_is_the_enumerated_maximum(sizes: tuple[int, ...], relation: Relation, max_rows: int) -> None:
    """The weighted squared L2 distance that one person can cause is at most the cost, and for somebody equal to it."""
    unit = Unit(relation=relation, max_rows=max_rows)
    changes = oracle.differences(sizes, relation.value, max_rows)
    for forms in ((Form.TABLE,), (Form.CONTRAST,), (Form.TABLE, Form.CONTRAST)):
        for weights in query_sets(sizes, *forms):
            cost = gaussian_cost(weights, sizes, unit)
            assert cost.known == "exact"
            assert cost.amount == oracle.largest_squared_l2(plain(weights), sizes, changes)


def counted(sizes: tuple[int, ...], tables: list[tuple[int, ...]]) -> np.ndarray:
    """Full tables, one after the other, counted row by row."""
    full = np.zeros((len(tables), math.prod(sizes)), dtype=np.int64)
    for place, rows in enumerate(tables):
        for row in rows:
            full[place, row] += 1
    return full.reshape(-1, *sizes)


def answered(sizes: tuple[int, ...], form: Form, cuboid: tuple[int, ...], full: np.ndarray) -> np.ndarray:
    """The exact integer answers that the gate would compute from full tables."""
    others = tuple(1 + axis for axis in range(len(sizes)) if axis not in cuboid)
    margins = full.sum(axis=others)
    return (contrasts(margins) if form is Form.CONTRAST else margins).reshape(len(full), -1)


@pytest.mark.parametrize("sizes", SMALL, ids=str)
def test_every_small_table_and_all_its_neighbours(sizes: tuple[int, ...]) -> None:
    """All tables of at most 4 rows, all neighbours under each unit, with the answers that are really measured.

    The answers of a table are the sum of its rows' answers (checked here for every table), so two neighbours
    differ by the answers of the rows that come, go or change: all pairs of those are enumerated.
    """
    tables = oracle.all_tables(sizes, 4)
    full = counted(sizes, tables)
    keys = [(form, cuboid) for form in Form for cuboid in cuboids(sizes)]
    answers = {key: answered(sizes, *key, full) for key in keys}
    people = {number: [k for k, rows in enumerate(tables) if len(rows) == number] for number in range(3)}
    flat = full.reshape(len(tables), -1)
    for values in answers.values():
        np.testing.assert_array_equal(values, flat @ values[people[1]])
    for relation, max_rows in itertools.product(RELATIONS, (1, 2)):
        unit = Unit(relation=relation, max_rows=max_rows)
        first, second = neighbours(people, relation, max_rows)
        distances = {key: values[first] - values[second] for key, values in answers.items()}
        for chosen in (keys, keys[1::2], keys[-2:]):
            weights = priced(chosen)
            enumerated = largest(weights, sizes, {key: distances[key] ** 2 for key in chosen})
            assert enumerated == gaussian_cost(weights, sizes, unit).amount
        weights = priced([key for key in keys if key[0] is Form.TABLE])
        enumerated = largest(weights, sizes, {key: np.abs(distances[key]) for key in weights})
        assert enumerated == laplace_cost(weights, unit).amount


def neighbours(people: dict[int, list[int]], relation: Relation, max_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of one person in two neighbouring tables: positions in the list of tables."""
    if relation is Relation.ADD_REMOVE:
        others = [k for number in range(1, max_rows + 1) for k in people[number]]
        return np.array(others), np.full(len(others), people[0][0])
    firsts, seconds = [], []
    for number in range(1, max_rows + 1):
        own = np.array(people[number])
        one, other = np.triu_indices(len(own), 1)
        firsts.append(own[one])
        seconds.append(own[other])
    return np.concatenate(firsts), np.concatenate(seconds)


def largest(weights: Weights, sizes: tuple[int, ...], moved: dict[Key, np.ndarray]) -> Fraction:
    """The exact maximum over pairs of the weighted sum: near maxima in floats first, then those in rationals."""
    columns, prices = [], []
    for (form, cuboid), weight in weights.items():
        shape = tuple(sizes[i] for i in cuboid)
        lengths = squared_lengths(shape).reshape(-1).tolist() if form is Form.CONTRAST else [1] * math.prod(shape)
        columns.append(moved[form, cuboid])
        prices += [weight / length for length in lengths]
    return oracle.largest_priced(np.hstack(columns), prices)


@pytest.mark.parametrize("sizes", [(4, 3), (5,), (2, 6, 2), (7, 4)], ids=str)
def test_contrast_norm_is_the_length_of_one_row(sizes: tuple[int, ...]) -> None:
    """The orthonormal contrasts of a single row have squared length prod (1 - 1/n), whichever row it is."""
    for cuboid in cuboids(sizes):
        matrix, lengths, _ = oracle.queried(sizes, [("contrast", cuboid)])
        for column in matrix.T:
            squared = sum((Fraction(int(c) ** 2, n) for c, n in zip(column, lengths, strict=True)), Fraction(0))
            assert squared == contrast_norm(sizes, cuboid)


def test_laplace_cost_has_no_proof_for_contrasts() -> None:
    """Contrasts under Laplace noise are refused, with the way out."""
    with pytest.raises(UnsupportedRelationError, match=r"Laplace noise on contrasts has no proved .*: measure tables"):
        laplace_cost({(Form.CONTRAST, (0,)): Fraction(1)}, Unit())


@pytest.mark.parametrize("forms", [(Form.TABLE,), (Form.CONTRAST,), tuple(Form)], ids=len)
def test_a_bound_for_many_attributes_is_no_less_than_the_truth(forms: tuple[Form, ...]) -> None:
    """Beyond 20 attributes no pair of rows that was tried costs more than is claimed, and the claim says what it is."""
    pairs = [*itertools.combinations(range(24), 2), *((i,) for i in range(24)), (3, 5, 8), (1, 2, 3, 4), ()]
    weights = {(form, pair): Fraction(1 + k % 5) for form in forms for k, pair in enumerate(pairs)}
    sizes = [2 + k % 3 for k in range(24)]
    cost = gaussian_cost(weights, sizes, Unit(relation=Relation.REPLACE))
    assert cost.known in ("bound", "exact")
    random = np.random.default_rng(5)
    for _ in range(100):
        differ = random.random(24) < random.random()
        moved = Fraction(0)
        for (form, pair), weight in weights.items():
            share = {i: Fraction(1, sizes[i]) if form is Form.CONTRAST else Fraction(0) for i in pair}
            norm = math.prod((1 - share[i] for i in pair), start=Fraction(1))
            inner = math.prod(((0 if differ[i] else 1) - share[i] for i in pair), start=Fraction(1))
            moved += 2 * weight * (norm - inner)
        assert moved <= cost.amount


def test_ties_round_the_cost_up_by_a_hair() -> None:
    """Where too many pairs tie to be evaluated in rationals, the cost is at most 2e-9 above the truth, never below."""
    weights = {(Form.TABLE, trio): Fraction(1, 3) for trio in itertools.combinations(range(16), 3)}
    truth = 2 * sum(weights.values(), Fraction(0))  # a row that differs everywhere
    amount = gaussian_cost(weights, [2] * 16, Unit(relation=Relation.REPLACE)).amount
    assert truth <= amount <= truth * (1 + Fraction(2, 10**9))


def test_cost_grows_with_the_rows_of_a_person() -> None:
    """m rows a person cost m times epsilon and m squared times mu^2."""
    weights = {(Form.TABLE, (0,)): Fraction(1, 3), (Form.TABLE, (0, 1)): Fraction(2)}
    for relation in RELATIONS:
        one, many = Unit(relation=relation), Unit(relation=relation, max_rows=7)
        assert laplace_cost(weights, many).amount == 7 * laplace_cost(weights, one).amount
        assert gaussian_cost(weights, (2, 3), many).amount == 49 * gaussian_cost(weights, (2, 3), one).amount


def test_a_public_total_is_free() -> None:
    """Under replace the number of rows moves nothing; under add-remove it costs its own weight."""
    weights = {(Form.TABLE, ()): Fraction(5)}
    replace, add = Unit(relation=Relation.REPLACE), Unit()
    assert laplace_cost(weights, replace).amount == gaussian_cost(weights, (2,), replace).amount == 0
    assert laplace_cost(weights, add).amount == gaussian_cost(weights, (2,), add).amount == 5


@pytest.mark.parametrize("form", list(Form))
def test_a_dominant_weight_drowns_no_other(form: Form) -> None:
    """A total or a table asked for 10^30 times as precisely hides nothing of what the others cost."""
    sizes = (2, 3)
    changes = oracle.differences(sizes, "replace")
    for heavy in ((), (0,), (0, 1)):
        weights = {(form, cuboid): Fraction(10**30 if cuboid == heavy else 1, 3) for cuboid in cuboids(sizes)}
        cost = gaussian_cost(weights, sizes, Unit(relation=Relation.REPLACE))
        assert cost.amount == oracle.largest_squared_l2(plain(weights), sizes, changes)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(10**9 + 7, 998_244_353), Fraction(1, 10**12)])
@pytest.mark.parametrize("attributes", [4, 15, 17])
def test_cost_is_proportional_to_the_weights(attributes: int, scale: Fraction) -> None:
    """Also where so many pairs tie that it is rounded: a plan scaled to its budget costs just that."""
    sizes = [3] * attributes
    weights = {(Form.CONTRAST, pair): Fraction(1, 7) for pair in itertools.combinations(range(attributes), 2)}
    unit = Unit(relation=Relation.REPLACE)
    scaled = {key: scale * weight for key, weight in weights.items()}
    assert gaussian_cost(scaled, sizes, unit).amount == scale * gaussian_cost(weights, sizes, unit).amount
