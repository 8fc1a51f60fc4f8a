"""Encoding is row by row, and equals its naive twin, for all columns of all types."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuboid.domain import Attribute, Domain, Schema
from cuboid.sources.encode import Encoder
from naive import naive_encode_value, naive_weight

NUMBERS = [
    "0",
    "1",
    "2",
    "01",
    "1.0",
    "-0",
    "1e0",
    "10",
    "17",
    "18",
    "19.5",
    "65",
    "65.0",
    "120",
    "-3",
    "1e300",
    "0.1",
    "7",
]
WORDS = ["", " ", "a", " a", "b ", "NA", "nan", "None", "other", "missing", "true", "false", "é", "\u3000a", "１"]
TEXT = st.one_of(st.sampled_from(NUMBERS + WORDS), st.text(max_size=4), st.none())

ATTRIBUTES = [
    Attribute(name="x", values=("0", "1", "2", "3")),
    Attribute(name="x", values=("a", "b", "1", "0.1"), other="other", missing="missing"),
    Attribute(name="x", values=("1", "01", "", "true"), missing="missing"),
    Attribute(name="x", values=("false", "true", "17"), labels=("no", "yes", "a"), outside="no"),
    Attribute(name="x", bins=(0, 18, 65, 120), missing="missing"),
    Attribute(name="x", bins=(-3, 0.1, 19.5), other="other"),
    Attribute(name="x", values=tuple(map(str, range(256)))),
    Attribute(name="x", values=tuple(map(str, range(255))), other="other"),
    Attribute(name="x", values=tuple(str(i) for i in range(300, 0, -1)), other="other"),
]
attributes = st.sampled_from(ATTRIBUTES)


def encoded(attribute, array):
    schema = Schema(name="s", domain=Domain((attribute,)))
    (codes,) = Encoder(schema)(pa.record_batch({"x": array})).codes
    assert codes.dtype == np.min_scalar_type(attribute.size - 1)
    return codes.tolist()


def expected(attribute, texts):
    codes = (naive_encode_value(attribute, text) for text in texts)
    return [code for code in codes if code is not None]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(attribute=attributes, values=st.lists(TEXT, max_size=12))
def test_text_equals_the_naive_twin(attribute, values):
    """Text of any Arrow kind gets the code that the plain rules give it."""
    for kind in (pa.string(), pa.large_binary(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
        assert encoded(attribute, pa.array(values, pa.string()).cast(kind)) == expected(attribute, values)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(attribute=attributes, kind=st.sampled_from(["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"]), data=st.data())
def test_integers_equal_the_naive_twin(attribute, kind, data):
    """Integers of any width are the text of their digits."""
    limits = np.iinfo(kind)
    near = st.integers(max(-4, int(limits.min)), min(400, int(limits.max)))
    values = data.draw(st.lists(st.one_of(near, st.integers(int(limits.min), int(limits.max)), st.none()), max_size=12))
    texts = [None if value is None else str(value) for value in values]
    assert encoded(attribute, pa.array(values, pa.from_numpy_dtype(np.dtype(kind)))) == expected(attribute, texts)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(attribute=attributes, data=st.data(), kind=st.sampled_from([pa.float64(), pa.float32()]))
def test_floats_equal_the_naive_twin(attribute, data, kind):
    """A float is its shortest decimal (1.0 is 1), NaN a null, an infinity undeclared."""
    edges = [float(edge) for edge in attribute.bins] or [1.0]
    near = st.sampled_from(
        [near for edge in edges for near in (edge, math.nextafter(edge, -9e9), math.nextafter(edge, 9e9))]
    )
    values = data.draw(
        st.lists(st.one_of(near, st.floats(width=32), st.sampled_from([-0.0, 0.1, 17.0]), st.none()), max_size=12)
    )
    array = pa.array(values, kind)
    shortest = np.float32 if kind == pa.float32() else np.float64
    texts = [
        None if value is None or math.isnan(value) else str(shortest(value)).removesuffix(".0") for value in values
    ]
    assert encoded(attribute, array) == expected(attribute, texts)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    attribute=attributes,
    values=st.lists(TEXT, max_size=30),
    cuts=st.lists(st.integers(0, 30), max_size=4),
    order=st.randoms(),
)
def test_encoding_is_row_by_row(attribute, values, cuts, order):
    """encode(X + Y) = encode(X) + encode(Y) for any cut and order, with one encoder or a fresh one."""
    schema = Schema(name="s", domain=Domain((attribute, Attribute(name="y", values=("a", "1")))))
    pairs = list(zip(values, reversed(values), strict=True))
    order.shuffle(pairs)

    def codes(encoder, rows):
        batch = pa.record_batch(
            {"x": pa.array([x for x, _ in rows], pa.string()), "y": pa.array([y for _, y in rows], pa.string())}
        )
        return list(zip(*(column.tolist() for column in encoder(batch).codes), strict=True))

    encoder = Encoder(schema)
    parts, at = [], 0
    for cut in [*sorted(cuts), len(pairs)]:
        parts += codes(encoder, pairs[at:cut])
        at = max(at, cut)
    assert parts == codes(Encoder(schema), pairs)
    assert parts == [code for pair in pairs for code in codes(Encoder(schema), [pair])]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    values=st.lists(st.one_of(st.sampled_from(NUMBERS + WORDS), st.integers(0, 2**70).map(str), st.none()), max_size=12)
)
def test_weights_equal_the_naive_twin(values):
    """A row without a whole non-negative weight leaves, the others keep theirs."""
    schema = Schema(name="s", count="n", domain=Domain((Attribute(name="x", values=("0", "1")),)))
    batch = pa.record_batch({"x": pa.array(["0"] * len(values), pa.string()), "n": pa.array(values, pa.string())})
    encoded_batch = Encoder(schema)(batch)
    wanted = [weight for weight in map(naive_weight, values) if weight is not None]
    assert encoded_batch.weights.tolist() == wanted
    assert len(encoded_batch.codes[0]) == len(wanted)


@pytest.mark.parametrize(
    ("array", "wanted"),
    [
        (pa.array([-1, 0, 5, None], pa.int16()), [0, 5]),
        (pa.array([2**64 - 1, 2**63, 3], pa.uint64()), [2**63 - 1, 2**63 - 1, 3]),
        (pa.array([1.0, 2.5, -1.0, float("nan"), float("inf"), 1e30, 2.0**53, None]), [1, 2**63 - 1, 2**53]),
        (pa.array([True, False]), []),
        (pa.array([None, None]), []),
        (pa.array(["3", "x"]).dictionary_encode(), [3]),
    ],
)
def test_weights_of_any_type(array, wanted):
    """Integers, floats and others are weights by value, and stop at 2^63 - 1."""
    schema = Schema(name="s", count="n", domain=Domain((Attribute(name="x", values=("0", "1")),)))
    batch = pa.record_batch({"x": pa.array(["0"] * len(array)), "n": array})
    assert Encoder(schema)(batch).weights.tolist() == wanted


def test_a_full_byte_of_categories_can_still_drop():
    """256 categories leave no spare byte for dropped rows, and none are confused."""
    array = pa.array([0, 255, 256, None, 7], pa.int32())
    assert encoded(ATTRIBUTES[6], array) == [0, 255, 7]


def test_encoded_batches_show_nothing():
    """The text of an encoded batch has no code and no length in it."""
    schema = Schema(name="s", domain=Domain((ATTRIBUTES[0],)))
    batch = Encoder(schema)(pa.record_batch({"x": pa.array(["1"] * 77)}))
    assert "77" not in repr(batch).split(" at ")[0]
    assert "array" not in repr(batch)
