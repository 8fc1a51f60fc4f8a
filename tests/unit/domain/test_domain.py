"""Domains and sets of cuboids."""

from __future__ import annotations

import pytest

from cuboid.domain import Attribute, Domain, by_order, closure, maximal, subsets
from cuboid.errors import SchemaError, WorkloadError

AGE = Attribute(name="age", values=("young", "old"))
SEX = Attribute(name="sex", values=("f", "m", "x"))
COUNTY = Attribute(name="county", values=("Ada", "Bath"), levels={"state": {"North": ("Ada",), "South": ("Bath",)}})
DOMAIN = Domain((AGE, SEX, COUNTY))


def test_tables_have_the_shape_of_their_attributes() -> None:
    """Names, sizes, shapes and numbers of cells, the total being one cell."""
    assert DOMAIN.names == ("age", "sex", "county")
    assert DOMAIN.sizes == (2, 3, 2)
    assert DOMAIN.shape((0, 1)) == (2, 3)
    assert DOMAIN.cells((1, 2)) == 6
    assert (DOMAIN.shape(()), DOMAIN.cells(())) == ((), 1)
    assert DOMAIN.named((0, 2)) == ("age", "county")


def test_names_make_a_cuboid_in_any_order() -> None:
    """A cuboid is the increasing tuple of positions."""
    assert DOMAIN.cuboid(["county", "age"]) == (0, 2)
    assert DOMAIN.cuboid([]) == ()


@pytest.mark.parametrize(
    ("names", "match"),
    [
        (["age", "region"], "there is no attribute region; the schema has: age, sex, county"),
        (["state"], "state is a level of county; .* ask for county"),
        (["age", "age"], "table \\[age age\\] names an attribute twice: name each once"),
    ],
)
def test_names_that_make_no_cuboid_are_refused(names: list[str], match: str) -> None:
    """Unknown names, levels and repeats say what to do."""
    with pytest.raises(WorkloadError, match=match):
        DOMAIN.cuboid(names)


def test_many_names_are_listed_up_to_a_dozen() -> None:
    """A message about a wide schema stays short."""
    wide = Domain(tuple(Attribute(name=f"a{k}", values=("0", "1")) for k in range(40)))
    with pytest.raises(WorkloadError, match=r"a10, a11 and 28 more$"):
        wide.cuboid(["b"])


@pytest.mark.parametrize(
    ("attributes", "match"),
    [
        ((), "declares no attribute: add at least one"),
        ((AGE, AGE), "attribute names age and age differ at most in case: rename"),
        ((AGE, Attribute(name="AGE", values=("0", "1"))), "age and AGE differ at most in case"),
        ((COUNTY, Attribute(name="State", values=("0", "1"))), "state and State differ at most in case"),
        (
            (Attribute(name="straße", values=("0", "1")), Attribute(name="STRASSE", values=("0", "1"))),
            "straße and STRASSE",
        ),
    ],
)
def test_a_domain_that_cannot_be_is_refused(attributes: tuple[Attribute, ...], match: str) -> None:
    """No attribute, or two whose names (or levels' names) are equal but for case."""
    with pytest.raises(SchemaError, match=match):
        Domain(attributes)


def test_subsets_and_closure_of_an_example() -> None:
    """All subsets, each once, small ones first."""
    assert list(subsets((1, 4))) == [(), (1,), (4,), (1, 4)]
    assert closure([(0, 1), (1, 2)]) == ((), (0,), (1,), (2,), (0, 1), (1, 2))
    assert closure([]) == ()


def test_maximal_cuboids_of_an_example() -> None:
    """What nothing else contains, each once."""
    assert maximal([(0,), (0, 1), (), (2,), (0, 1)]) == ((2,), (0, 1))
    assert maximal([()]) == ((),)
    assert maximal([]) == ()
    assert sorted([(1, 2), (0,), ()], key=by_order) == [(), (0,), (1, 2)]
