import pytest

from cuboid.domain import Attribute
from cuboid.sources.number import number, whole_weight
from cuboid.sources.value_coder import ValueCoder
from naive import naive_encode_value, naive_weight

MAX = 2**63 - 1


def coded(value, **declared):
    attribute = Attribute(name="a", **declared)
    coder = ValueCoder(attribute)
    code = coder.code(value)
    code = None if code == coder.drop else code
    assert code == naive_encode_value(attribute, value)
    return code


@pytest.mark.parametrize("value", ["1", "1.0", " 1 ", "1e0", "+1", "01", "10e-1", "0.1E1", "\u00a01\u2003", "1."])
def test_equal_numbers_meet(value):
    """A declared 1 is found however the number is written."""
    assert coded(value, values=("0", "1")) == 1


@pytest.mark.parametrize(("value", "code"), [("1", 0), ("01", 1), ("1.0", None), ("001", None), ("2.0", 2)])
def test_a_number_declared_twice_is_matched_by_text_alone(value, code):
    """Where "1" and "01" are both declared, only their own texts mean them."""
    assert coded(value, values=("1", "01", "2")) == code


@pytest.mark.parametrize(
    ("value", "code"),
    [("0.1", 0), (".1", 0), ("0.1000000000000000055", None), ("0.10000000000000001", None), ("1e-1", 0)],
)
def test_numbers_are_compared_exactly(value, code):
    """No float stands between two decimals."""
    assert coded(value, values=("0.1", "x")) == code


@pytest.mark.parametrize(
    "value",
    ["1e999999999999999999999", "1e-999999999999999999999", "1" * 5000, "1e" + "9" * 5000, "0." + "0" * 5000 + "1"],
)
def test_huge_numbers_are_undeclared_and_do_not_hang(value):
    """Exponents and digits without bound cost no more than reading them."""
    coder = ValueCoder(Attribute(name="a", values=("0", "1"), other="o"))
    assert coder.code(value) == 2


@pytest.mark.parametrize(
    "value", ["nan", "inf", "-Infinity", "1_000", "0x1", "１", "1e", "e1", ".", "+", "1e+", "--1", "1 2", "1,0"]
)
def test_what_is_no_decimal_is_no_number(value):
    """Only plain decimals are numbers: no names, separators, other scripts or bases."""
    assert number(value) is None
    assert coded(value, values=("0", "1"), other="o") == 2


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("0", 0), ("-0", 0), ("-0.0e9", 0), ("17.999999999999999999999", 0), ("18", 1), ("18.0", 1), ("64.9", 1),
        ("65", 2), ("120", 2), ("120.0", 2), ("120.00000000000000000001", None), ("-1e-300", None), ("121", None),
        ("inf", None), ("nan", None), ("", None), ("x", None), ("1e-400", 0), ("1e400", None),
    ],
)  # fmt: skip
def test_bins_are_left_closed_and_the_last_is_closed(value, code):
    """A number falls into the bin that holds it, exactly; anything else is undeclared."""
    assert coded(value, bins=(0, 18, 65, 120)) == code


@pytest.mark.parametrize(
    ("value", "code"), [("0.1", 1), ("0.09999999999999999999", 0), ("-0.5", 0), ("0.3", 1), ("-1", 0)]
)
def test_edges_are_the_decimals_that_were_written(value, code):
    """An edge of 0.1 is one tenth, and negative edges order as numbers do."""
    assert coded(value, bins=(-1, 0.1, 0.3)) == code


def test_empty_text_is_a_null_unless_declared():
    """Blank text goes where nulls go; a declared empty text is a value like others."""
    assert coded("  ", values=("a", "b"), missing="?") == 2
    assert coded("  ", values=("a", "b")) is None
    assert coded("  ", values=("a", ""), missing="?") == 1


def test_labels_are_not_values():
    """Text that equals a label, or the label of `other` or `missing`, is undeclared."""
    declared = {"values": ("1", "2"), "labels": ("male", "female"), "other": "rest", "missing": "none"}
    assert [coded(value, **declared) for value in ("male", "rest", "none", "2")] == [2, 2, 2, 1]


def test_undeclared_values_go_where_the_attribute_says():
    """`outside` may be a declared category, `other`, or the loss of the row."""
    assert coded("x", values=("a", "b"), outside="b") == 1
    assert coded("x", values=("a", "b"), other="o", outside="drop") is None
    assert coded("x", values=("a", "b"), other="o") == 2
    assert coded("", values=("a", "b"), other="o") == 2


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("3", 3), ("3.0", 3), ("3e2", 300), ("0", 0), ("-0", 0), (" 7 ", 7), ("300e-2", 3),
        ("0e99999999999999999999", 0),
        (str(MAX), MAX), (str(MAX - 1), MAX - 1), (str(MAX + 1), MAX), ("1e30", MAX), ("1e999999999999999999999", MAX),
        ("-1", -1), ("2.5", -1), ("1e-1", -1), ("nan", -1), ("inf", -1), ("", -1), ("x", -1),
        ("1e-99999999999999999999", -1),
        ("9007199254740993", 9007199254740993), ("9" * 19 + ".5", -1),
    ],
)  # fmt: skip
def test_weights_are_whole_numbers_that_stop_at_the_largest(text, weight):
    """A weight is a non-negative whole number however written; anything else is none."""
    assert whole_weight(text) == weight


@pytest.mark.parametrize("text", ["3", "3e2", "2.5", "-1", "x", str(MAX), str(MAX + 1), "1e25"])
def test_weights_equal_the_naive_twin(text):
    """Weights are what plain decimal arithmetic says."""
    assert whole_weight(text) == (-1 if naive_weight(text) is None else naive_weight(text))


def test_numbers_order_as_numbers():
    """The exact form of a number sorts by its value."""
    texts = [
        "-1e5",
        "-100",
        "-12.5",
        "-12",
        "-1",
        "-0.5",
        "-1e-9",
        "0",
        "1e-9",
        "0.05",
        "0.5",
        "1",
        "12",
        "12.5",
        "100",
        "1e5",
    ]
    shuffled = [texts[i] for i in (3, 0, 15, 7, 1, 9, 2, 14, 4, 11, 5, 13, 6, 12, 8, 10)]
    assert sorted(shuffled, key=number) == texts
