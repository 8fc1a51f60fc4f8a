import itertools
import random

import numpy as np
import pytest

from cuboid.counting import Counter
from cuboid.counting.choice import BLOCK, choose
from cuboid.errors import InternalError
from naive import naive_count

MAX = 2**63 - 1


def columns_of(sizes, rows, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, size, rows).astype(np.min_scalar_type(size - 1)) for size in sizes]


def counted(sizes, columns, cuboids, weights=None, cuts=()):
    counter = Counter(sizes, cuboids, weighted=weights is not None)
    for start, stop in itertools.pairwise((0, *sorted(cuts), len(columns[0]))):
        counter.add([column[start:stop] for column in columns], None if weights is None else weights[start:stop])
    exact = counter.tables()
    return [exact.open_at_the_gate(cuboid) for cuboid in cuboids]


def same(tables, others):
    return all(
        one.dtype == other.dtype and np.array_equal(one, other) for one, other in zip(tables, others, strict=True)
    )


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 200])
def test_counts_equal_the_naive_twin(rows):
    """Every table of a mixed domain equals a count row by row, at word and byte edges too."""
    sizes = (2, 3, 2, 5, 4)
    columns = columns_of(sizes, rows)
    cuboids = [c for order in range(6) for c in itertools.combinations(range(5), order)]
    assert same(counted(sizes, columns, cuboids), [naive_count(columns, sizes, c) for c in cuboids])


def test_counts_by_bitmap_equal_counts_by_index():
    """Tables that bitmaps count are those that an index counts: weights of one force the index."""
    sizes = (2, 2, 3, 7, 2, 16, 40, 9)
    columns = columns_of(sizes, BLOCK + 1000)
    cuboids = list(itertools.combinations(range(8), 3))
    assert choose(sizes, cuboids, weighted=False).bitmap is not None
    ones = np.ones(BLOCK + 1000, dtype=np.int64)
    assert same(counted(sizes, columns, cuboids), counted(sizes, columns, cuboids, ones))


@pytest.mark.parametrize("weighted", [False, True])
def test_tables_do_not_depend_on_order_or_cuts(weighted):
    """Random permutations and rechunkings of the rows give bit-identical tables."""
    sizes, rows = (2, 3, 4, 300), 3000
    columns = columns_of(sizes, rows)
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 2**62, rows) if weighted else None
    cuboids = [(0, 1), (0, 1, 2), (1, 3), (2,), ()]
    wanted = counted(sizes, columns, cuboids, weights)
    for _ in range(150):
        order = rng.permutation(rows)
        cuts = rng.integers(0, rows, rng.integers(0, 6)).tolist()
        moved = [column[order] for column in columns]
        assert same(wanted, counted(sizes, moved, cuboids, None if weights is None else weights[order], cuts))


@pytest.mark.parametrize("weight", [2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 1, 2**62, 2**63 - 2, MAX])
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_weights_are_exact_or_stop_at_the_largest_integer(weight, rows):
    """Sums of weights at the edges of 31, 32, 53 and 63 bits are exact, or 2^63 - 1; margins too."""
    columns = [np.arange(rows).astype(np.uint8), np.zeros(rows, dtype=np.uint8)]
    tables = counted((3, 2), columns, [(0, 1), (1,), ()], np.full(rows, weight))
    assert tables[0][:, 0].tolist() == [weight] * rows + [0] * (3 - rows)
    assert tables[1].tolist() == [min(MAX, rows * weight), 0]
    assert int(tables[2]) == min(MAX, rows * weight)


def test_one_row_more_changes_a_weighted_cell_by_its_weight_at_most():
    """Neighbours stay neighbours beyond 2^53, where floats would round."""
    columns = [np.zeros(1001, dtype=np.uint8)]
    weights = np.full(1001, 2**52 + 1)
    (less,) = counted((2,), [columns[0][:-1]], [(0,)], weights[:-1])
    (more,) = counted((2,), columns, [(0,)], weights)
    assert int(more[0]) - int(less[0]) == 2**52 + 1


@pytest.mark.parametrize("weighted", [False, True])
def test_a_table_with_more_cells_than_rows_is_exact(weighted):
    """Sparse tables of millions of cells are counted where the rows fall."""
    sizes, rows = (1000, 1000, 7), 400
    columns = columns_of(sizes, rows)
    weights = np.arange(rows) if weighted else None
    (table,) = counted(sizes, columns, [(0, 1, 2)], weights, cuts=(100,))
    assert table.shape == sizes
    places = zip(*(column.tolist() for column in columns), strict=True)
    wanted = {}
    for row, place in enumerate(places):
        wanted[place] = wanted.get(place, 0) + (row if weighted else 1)
    assert all(table[place] == count for place, count in wanted.items())
    assert table.sum() == sum(wanted.values())


@pytest.mark.parametrize("size", [255, 256, 257, 65_535, 65_536, 65_537, 1_000_000])
def test_sizes_at_the_edges_of_the_integer_types(size):
    """The last category of a large attribute is counted in its own cell."""
    column = np.array([0, size - 1, size - 1], dtype=np.min_scalar_type(size - 1))
    (table,) = counted((size, 2), [column, np.array([0, 1, 1], dtype=np.uint8)], [(0, 1)])
    assert (table[0, 0], table[size - 1, 1], table.sum()) == (1, 2, 3)


def test_five_thousand_tables_of_a_hundred_attributes():
    """Thousands of tables of a wide domain are right, margins included."""
    rng = random.Random(3)
    sizes = tuple(rng.randint(2, 8) for _ in range(100))
    columns = columns_of(sizes, 500)
    cuboids = rng.sample(list(itertools.combinations(range(100), 3)), 5000)
    tables = counted(sizes, columns, cuboids)
    for at in rng.sample(range(5000), 40):
        assert np.array_equal(tables[at], naive_count(columns, sizes, cuboids[at]))


@pytest.mark.parametrize(
    ("codes", "weights"),
    [
        ([np.array([2], dtype=np.uint8)], None),
        ([np.array([0], dtype=np.int64)], None),
        ([np.array([0], dtype=np.uint8)], np.array([1])),
        ([np.array([0], dtype=np.uint8)] * 2, None),
    ],
)
def test_codes_outside_the_schema_are_our_bug(codes, weights):
    """A code that the schema does not have is refused in words that show nothing of it."""
    with pytest.raises(InternalError, match="the counter was given") as refusal:
        Counter((2,), [(0,)], weighted=False).add(codes, weights)
    assert not any(char.isdigit() for char in str(refusal.value))


def test_a_negative_weight_or_columns_of_two_lengths_are_our_bug():
    """Weights below zero and ragged columns are refused before they are counted."""
    one, two = np.zeros(1, dtype=np.uint8), np.zeros(2, dtype=np.uint8)
    with pytest.raises(InternalError, match="negative"):
        Counter((2,), [(0,)], weighted=True).add([one], np.array([-1]))
    with pytest.raises(InternalError, match="lengths"):
        Counter((2, 2), [(0,)], weighted=False).add([one, two])


def test_no_tables_and_the_total_alone():
    """A counter of nothing counts nothing; the total alone is the number of rows, or the sum of weights."""
    column = [np.zeros(7, dtype=np.uint8)]
    assert counted((2,), column, []) == []
    assert int(counted((2,), column, [()])[0]) == 7
    assert int(counted((2,), column, [()], np.full(7, 3))[0]) == 21


def test_no_rows_after_the_tables_are_taken():
    """Large tables are handed over without a copy, so a counter whose tables were taken takes no more rows."""
    counter = Counter((2,), [(0,)], weighted=False)
    counter.add([np.zeros(1, dtype=np.uint8)])
    assert counter.tables().open_at_the_gate((0,)).tolist() == [1, 0]
    assert counter.tables().open_at_the_gate((0,)).tolist() == [1, 0]
    with pytest.raises(InternalError, match="after its tables"):
        counter.add([np.zeros(1, dtype=np.uint8)])
