"""Counting equals its naive twin for all domains, sets of tables, rows and cuts."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cuboid.counting import Counter
from cuboid.counting.bitmap import BitmapPlan
from naive import naive_count

SIZES = st.lists(st.sampled_from([2, 2, 2, 3, 4, 7]), min_size=1, max_size=5).map(tuple)


@st.composite
def cases(draw):
    sizes = draw(SIZES)
    rows = draw(st.integers(0, 90))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, size, rows).astype(np.uint8) for size in sizes]
    every = [c for order in range(len(sizes) + 1) for c in itertools.combinations(range(len(sizes)), order)]
    cuboids = draw(st.lists(st.sampled_from(every), max_size=6))
    return sizes, columns, cuboids, rng


@settings(max_examples=150, deadline=None, derandomize=True)
@given(case=cases(), cuts=st.lists(st.integers(0, 90), max_size=4), weighted=st.booleans())
def test_tables_equal_the_naive_twin(case, cuts, weighted):
    """Each asked table, with weights up to the largest integer, is the one counted row by row."""
    sizes, columns, cuboids, rng = case
    rows = len(columns[0])
    weights = rng.choice([0, 1, 2**31, 2**53 + 1, 2**62, 2**63 - 1], rows) if weighted else None
    counter = Counter(sizes, cuboids, weighted=weighted)
    for start, stop in itertools.pairwise((0, *sorted(min(cut, rows) for cut in cuts), rows)):
        counter.add([column[start:stop] for column in columns], None if weights is None else weights[start:stop])
    exact = counter.tables()
    for cuboid in cuboids:
        table = exact.open_at_the_gate(cuboid)
        assert table.dtype == np.int64
        assert np.array_equal(table, naive_count(columns, sizes, cuboid, weights))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(case=cases())
def test_bitmaps_alone_equal_the_naive_twin(case):
    """The bitmap kernel is right for every set of tables, chosen for it or not."""
    sizes, columns, cuboids, _ = case
    cuboids = [cuboid for cuboid in dict.fromkeys(cuboids) if cuboid]
    if not cuboids:
        return
    plan = BitmapPlan(sizes, cuboids)
    counts = np.zeros(plan.cells, dtype=np.int64)
    plan.count_into(counts, plan.pack(columns, len(columns[0])))
    for cuboid, table in plan.tables(counts, len(columns[0])).items():
        assert np.array_equal(table, naive_count(columns, sizes, cuboid))
