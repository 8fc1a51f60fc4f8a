"""What an attribute may declare: each check fires, and says what to do."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from cuboid.domain import DROP, RESERVED, Attribute, bin_labels
from cuboid.errors import SchemaError


def refused(match: str, **declared: Any) -> None:
    """The declaration is refused with a message that fits, in at most two sentences."""
    with pytest.raises(SchemaError, match=match) as caught:
        Attribute(**({"name": "age"} | declared))
    message = str(caught.value)
    assert "\n" not in message
    assert ":" in message or ";" in message


@pytest.mark.parametrize(
    ("match", "declared"),
    [
        ("attribute age needs either `values` or `bins`: list", {}),
        ("attribute age needs either `values` or `bins`", {"values": ("a", "b"), "bins": (0, 1, 2)}),
        ("attribute age needs at least two finite bin edges: for example", {"bins": (1.0,)}),
        ("two finite bin edges", {"bins": (0.0, float("inf"))}),
        ("two finite bin edges", {"bins": (float("nan"), 1.0)}),
        ("bin edges that do not increase: sort them", {"bins": (0.0, 2.0, 1.0)}),
        ("bin edges that do not increase", {"bins": (0.0, 1.0, 1.0)}),
        ("has the same value twice: list each value once", {"values": ("a", "a")}),
        ("has the same value twice", {"values": ("a", " a ")}),
        ("has not one label for each category: give as many", {"values": ("a", "b"), "labels": ("x",)}),
        ("has not one label for each category", {"bins": (0, 1, 2), "labels": ("x", "y", "z")}),
        ("has the same category twice: give each", {"values": ("a", "b"), "labels": ("x", "x")}),
        ("has the same category twice", {"values": ("a", "b"), "other": "a"}),
        ("has the same category twice", {"values": ("a", "b"), "other": "x", "missing": "x"}),
        ("has fewer than two categories: add the others", {"values": ("a",)}),
        ("has fewer than two categories", {"bins": (0, 1)}),
        ("has a category that is no text: write categories in quotes", {"values": (1, 2)}),
        ("has a category longer than 1,000 characters: shorten", {"values": ("a", "b" * 1001)}),
        ("more than 1,000,000 categories: group", {"values": tuple(map(str, range(1_000_001)))}),
        ("undeclared values to 'z', .* one of: a, b", {"values": ("a", "b"), "outside": "z"}),
        (
            "level state with 'z', which is no category of it: use",
            {"values": ("a", "b"), "levels": {"state": {"N": ("z",)}}},
        ),
        (
            "level state that puts a category into two",
            {"values": ("a", "b"), "levels": {"state": {"N": ("a", "b"), "S": ("a",)}}},
        ),
        (
            "level state that puts a category into two",
            {"values": ("a", "b"), "levels": {"state": {"N": ("a", "b", "a")}}},
        ),
        ("level state that leaves out b: put", {"values": ("a", "b"), "levels": {"state": {"N": ("a",)}}}),
        ("name count is reserved .*: rename it", {"values": ("a", "b"), "levels": {"count": {"N": ("a", "b")}}}),
        ("no Unicode text: write it in valid UTF-8", {"values": ("a", "\udcff")}),
        ("no Unicode text", {"values": ("a", "b"), "labels": ("x", "\ud800")}),
        ("no Unicode text", {"values": ("a", "b"), "missing": "\ud800"}),
    ],
)
def test_a_wrong_declaration_is_refused(match: str, declared: dict[str, Any]) -> None:
    """Every rule about values, bins, labels, levels and where others go."""
    refused(match, **declared)


@pytest.mark.parametrize("name", ["", " age", "age ", "a\tb", "a\nb", "\x00", "\ud800"])
def test_a_name_that_cannot_head_a_column_is_refused(name: str) -> None:
    """Empty names, outer spaces, control characters and half characters."""
    refused("is empty or has outer spaces or control characters: rename it", name=name, values=("a", "b"))


@pytest.mark.parametrize("name", [*RESERVED, "Count", "GROUPING"])
def test_a_reserved_name_is_refused(name: str) -> None:
    """Names of the release's own columns, in any case, are refused and listed."""
    refused("is reserved for a column of the release: rename it; reserved are count, raw", name=name, values=("a", "b"))


@pytest.mark.parametrize(
    ("declared", "outside", "drops"),
    [
        ({}, DROP, True),
        ({"other": "else"}, "else", False),
        ({"other": "else", "outside": "drop"}, DROP, True),
        ({"other": "else", "outside": "a"}, "a", False),
        ({"missing": "n/a"}, DROP, True),
        ({"missing": "n/a", "outside": "n/a"}, "n/a", False),
    ],
)
def test_undeclared_values_go_where_they_are_sent(declared: dict[str, Any], outside: str, drops: bool) -> None:
    """To `outside` where it is said, else to `other`, else nowhere."""
    attribute = Attribute(name="x", values=("a", "b"), **declared)
    assert (attribute.outside, attribute.drops) == (outside, drops)


def test_a_category_called_drop_is_not_taken_for_dropping() -> None:
    """An `other` that happens to be labelled drop keeps its rows, or is refused."""
    with contextlib.suppress(SchemaError):
        assert not Attribute(name="x", values=("a", "b"), other="drop").drops


def test_categories_come_in_their_order() -> None:
    """Labels, then other, then missing; a label's position is where it stands."""
    attribute = Attribute(name="sex", values=("1", "2"), labels=("male", "female"), other="else", missing="n/a")
    assert attribute.categories == ("male", "female", "else", "n/a")
    assert attribute.size == 4
    assert [attribute.position(label) for label in attribute.categories] == [0, 1, 2, 3]
    with pytest.raises(SchemaError, match="attribute sex has no category '1'; it has: male, female, else, n/a"):
        attribute.position("1")


@pytest.mark.parametrize(
    ("edges", "labels"),
    [
        ((0, 18, 65, 120), ("0-17", "18-64", "65-120")),
        ((0, 1, 2, 10), ("0", "1", "2-10")),
        ((-2, 0, 5), ("-2--1", "0-5")),
        ((0, 2.5, 5), ("[0, 2.5)", "[2.5, 5]")),
        ((0.5, 1.5), ("[0.5, 1.5]",)),
    ],
)
def test_bins_are_labelled_as_people_write_them(edges: tuple[float, ...], labels: tuple[str, ...]) -> None:
    """Whole numbers as ranges without a gap, other edges as intervals."""
    assert bin_labels(edges) == labels


def test_labels_of_bins_tell_their_edges() -> None:
    """Two bins with different edges have labels with different edges."""
    first, second = bin_labels((1000000.5, 1000001.5, 1000002.5))
    assert first.strip("[])") != second.strip("[])")
