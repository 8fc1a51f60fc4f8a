import copy
import pickle

import numpy as np
import pytest

from cuboid.counting import Counter, ExactTables
from cuboid.counting.saturating import MAX, add_into, sum_axes
from cuboid.errors import InternalError

CANARY = 918273645


@pytest.fixture
def exact():
    return ExactTables({(0, 1): np.full((2, 3), CANARY), (2,): np.array([CANARY, 1])})


def test_text_is_fixed(exact):
    """No way to turn exact tables into text shows anything of them."""
    assert {repr(exact), str(exact), f"{exact}", f"{exact:>9}", "%s" % exact} == {"<exact tables: sealed>"}  # noqa: UP031
    assert repr(Counter((2,), [(0,)], weighted=False)) == "<counter: sealed>"


@pytest.mark.parametrize(
    "act",
    [
        pickle.dumps, copy.copy, copy.deepcopy, iter, len, vars, memoryview, int, float, bytes,
        lambda value: value[0], lambda value: value + 1, lambda value: value < value, lambda value: value.__dict__,
        lambda value: setattr(value, "note", 1), lambda value: value.__getstate__(), lambda value: (0, 1) in value,
    ],
)  # fmt: skip
def test_sealed_values_do_nothing(exact, act):
    """Exact tables cannot be copied, pickled, iterated, compared by order, converted or extended."""
    with pytest.raises((TypeError, AttributeError)) as refusal:
        act(exact)
    assert str(CANARY) not in str(refusal.value)


def test_a_sealed_value_is_no_array(exact):
    """Numpy sees one opaque object, and no arithmetic or comparison looks inside."""
    assert np.asarray(exact).dtype == object
    assert exact != ExactTables({(0, 1): np.full((2, 3), CANARY)})
    assert not hasattr(exact, "__array__")
    assert not hasattr(exact, "__arrow_c_stream__")


@pytest.mark.parametrize("cuboid", [(0, 1), (2,), (0,), ()])
def test_opened_tables_are_read_only(exact, cuboid):
    """Nobody can change an opened table, so the next one to open it sees the same."""
    table = exact.open_at_the_gate(cuboid)
    with pytest.raises(ValueError, match="read-only"):
        table[...] = 0
    assert table.flags.c_contiguous


def test_margins_are_summed_from_the_smallest_table(exact):
    """A cuboid inside a counted one is summed from it; the total comes from any."""
    assert exact.open_at_the_gate((0,)).tolist() == [3 * CANARY] * 2
    assert exact.open_at_the_gate(()).shape == ()
    assert int(exact.open_at_the_gate(())) == CANARY + 1


@pytest.mark.parametrize("cuboid", [(0, 2), (3,), (0, 1, 2)])
def test_a_table_that_was_not_counted_is_our_bug(exact, cuboid):
    """Opening what nobody asked to count is refused."""
    with pytest.raises(InternalError, match="not asked"):
        exact.open_at_the_gate(cuboid)


def test_margins_stop_at_the_largest_integer():
    """A margin beyond 2^63 - 1 is 2^63 - 1, never negative."""
    exact = ExactTables({(0, 1): np.array([[MAX, 1], [2**62, 2**62 - 1]])})
    assert exact.open_at_the_gate((0,)).tolist() == [MAX, MAX]
    assert exact.open_at_the_gate((1,)).tolist() == [MAX, 2**62]


def test_saturating_sums_are_exact_below_the_limit():
    """Sums next to the limit are right to the last unit."""
    assert sum_axes(np.array([2**62, 2**62 - 2]), (0,)).tolist() == 2**63 - 2
    total = np.array([MAX - 1, MAX - 1, 5])
    add_into(total, np.array([1, 2, 7]))
    assert total.tolist() == [MAX, MAX, 12]
