"""Four spellings, one meaning; and what is said about texts that mean nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cuboid.domain import Attribute, Cuboid, Domain
from cuboid.errors import WorkloadError
from cuboid.workload import Workload, brackets, named, parse, spellings
from cuboid.workload.workload import every


def domain(*names: str) -> Domain:
    """Binary attributes of these names."""
    return Domain(tuple(Attribute(name=name, values=("0", "1")) for name in names))


ABC = domain("A", "B", "C")
ADULT = domain("age", "marital-status", "income>50K", "hours per week")
TOTAL: Cuboid = ()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[A B][B C]", [(0, 1), (1, 2)]),
        ("[A B] [B C]", [(0, 1), (1, 2)]),
        ("[A, B], [B,C]", [(0, 1), (1, 2)]),
        ("[A B] + [B C]", [(0, 1), (1, 2)]),
        ("[B A][C B]", [(0, 1), (1, 2)]),
        ("[]", [TOTAL]),
        ("[][A]", [TOTAL, (0,)]),
        ("[A][A]", [(0,)]),
        ("all 2-way", [(0, 1), (0, 2), (1, 2)]),
        ("ALL 2 - WAY", [(0, 1), (0, 2), (1, 2)]),
        ("all 2way", [(0, 1), (0, 2), (1, 2)]),
        ("all 0..1-way", [TOTAL, (0,), (1,), (2,)]),
        ("all 0 .. 1 -way", [TOTAL, (0,), (1,), (2,)]),
        ("all 3..3-way", [(0, 1, 2)]),
        ("all 0-way", [TOTAL]),
        ("all 1-way [A B]", [(0,), (1,), (2,), (0, 1)]),
        ("[A B] all 0-way", [TOTAL, (0, 1)]),
        ("~A*B + C", [(2,), (0, 1)]),
        ("~A:B + B:C + A", [(0, 1), (1, 2)]),
        ("A:B + A", [(0,), (0, 1)]),
        ("A*B", [(0,), (1,), (0, 1)]),
        ("A*B + 1", [TOTAL, (0,), (1,), (0, 1)]),
        ("1", [TOTAL]),
        ("A", [(0,)]),
        ("A + B", [(0,), (1,)]),
        ("GROUPING SETS ((A, B), (B))", [(1,), (0, 1)]),
        ("grouping sets ((A, B), B, ())", [TOTAL, (1,), (0, 1)]),
        ("GROUP BY GROUPING SETS ((A, B))", [(0, 1)]),
        ("CUBE(A, B)", [TOTAL, (0,), (1,), (0, 1)]),
        ("group by cube (A, B)", [TOTAL, (0,), (1,), (0, 1)]),
        ("ROLLUP(B, A)", [TOTAL, (1,), (0, 1)]),
        ("ROLLUP(A, B, C)", [TOTAL, (0,), (0, 1), (0, 1, 2)]),
    ],
)
def test_a_spelling_means_its_cuboids(text: str, wanted: list[Cuboid]) -> None:
    """Each text asks for these tables, all of weight 1."""
    assert parse(text, ABC).tables == tuple((cuboid, Fraction(1)) for cuboid in wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2*[A B] [C]", {(0, 1): 2, (2,): 1}),
        ("2 * [A B]", {(0, 1): 2}),
        ("1/3*[A] 0.5*[B]", {(0,): Fraction(1, 3), (1,): Fraction(1, 2)}),
        ("3*all 1-way [A]", {(0,): 3, (1,): 3, (2,): 3}),
        ("[A] 1/2*[A]", {(0,): 1}),
        ("2*[A] 5*[A]", {(0,): 5}),
        ("007*[A]", {(0,): 7}),
    ],
)
def test_weights_stand_before_tables(text: str, wanted: dict[Cuboid, Fraction]) -> None:
    """A weight multiplies a table or a family; the larger of two counts."""
    assert dict(parse(text, ABC).tables) == wanted
    assert parse(text, ABC).weighted == (set(wanted.values()) != {1})


@pytest.mark.parametrize("text", ["[A B]", "A:B", "GROUPING SETS ((A, B))", "[B A]", "~A*B", "1*[A B]"])
def test_one_table_has_many_spellings(text: str) -> None:
    """All spellings of one table are equal workloads."""
    assert parse(text, ABC) == named([("A", "B")], ABC) == named([["B", "A"]], ABC)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[marital-status age]", {"age", "marital-status"}),
        ("[income>50K]", {"income>50K"}),
        ('["income>50K" "age"]', {"income>50K", "age"}),
        ("[hours per week]", {"hours per week"}),
        ('"hours per week":age', {"hours per week", "age"}),
        ("CUBE(income>50K)", {"income>50K"}),
    ],
)
def test_declared_names_match_first(text: str, names: set[str]) -> None:
    """Names with marks and spaces need no quotes where they are declared; quotes are always allowed."""
    assert set(ADULT.named(parse(text, ADULT).cuboids[-1])) == names


def test_the_longest_declared_name_wins() -> None:
    """A name that starts with another one is not cut short, and a word that goes on is not a name."""
    own = domain("age", "age2", "age-group")
    assert parse("[age-group]", own).cuboids == ((2,),)
    assert parse("[age2 age]", own).cuboids == ((0, 1),)
    with pytest.raises(WorkloadError, match="there is no attribute age-groups"):
        parse("[age-groups]", own)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "no table is wanted: say which, for example"),
        ("   ", "no table is wanted"),
        ("all", '"all" must be followed by the number of attributes a table: write'),
        ("all two-way", '"all" must be followed'),
        ("all 4-way", "all 4-way does not fit 3 attributes: the numbers go from 0 to 3"),
        ("all 2..1-way", "all 2..1-way does not fit 3 attributes: .*the smaller first"),
        ("[A D]", "there is no attribute D; the schema has: A, B, C"),
        ("D", "there is no attribute D"),
        ("[a]", "there is no attribute a; the schema has"),
        ("[A A]", r"table \[A A\] names an attribute twice"),
        ("A*A", r"names an attribute twice"),
        ("[A", r"have a \[ that is not closed: write \]"),
        ("[A [B]]", r"lack an attribute's name before '\['"),
        ("[A]]", r"have '\]' where '\[' is expected"),
        ("[A] B", r"have 'B' where '\[' is expected: write them like this"),
        ("A B", "have 'B' where nothing more is expected: write them in one spelling"),
        ("A +", "lack an attribute's name before the end"),
        ("+ A", r"lack an attribute's name before '\+'"),
        ("A::B", "lack an attribute's name before ':'"),
        ("A*B:C", r"mixes \* and :, write it out"),
        ("2*A", r"have 'A' where '\[' is expected"),
        ("2[A]", "there is no attribute 2"),
        ("0*[A]", "weight must be positive: leave out"),
        ("1/0*[A]", "weight must be a positive number before the"),
        ("-1*[A]", "expected|no attribute|name"),
        ("GROUP A", "where 'BY' is expected|there is no attribute GROUP"),
        ("GROUP BY A B", "nothing more is expected"),
        ("GROUPING (A)", "where 'SETS' is expected|there is no attribute GROUPING"),
        ("GROUPING SETS (A", "have the end where ',' is expected"),
        ("GROUPING SETS A", r"have 'A' where '\(' is expected"),
        ("CUBE A", r"where '\(' is expected|there is no attribute CUBE"),
        ("CUBE(A", r"have a \( that is not closed: write \)"),
        ("ROLLUP(A, A)", "names an attribute twice"),
        ("CUBE(A) CUBE(B)", "nothing more is expected"),
        ('["A]', 'have an open quote: close it with "'),
        ("prefix(A)", "are a later capability: ask for tables"),
        ("[A] ranges(B)", "are a later capability"),
        ("state > A", "are a later capability"),
        ("[A;B]", "there is no attribute"),
        ("[A] +", "end in a mark that joins two"),
    ],
)
def test_a_text_that_means_nothing_is_refused(text: str, match: str) -> None:
    """Each message names what was found, what was expected and an example."""
    with pytest.raises(WorkloadError, match=match) as caught:
        parse(text, ABC)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 300


def test_a_weight_of_too_many_digits_is_refused() -> None:
    """A weight that Python cannot read is a wrong workload like any other."""
    with pytest.raises(WorkloadError):
        parse("9" * 5000 + "*[A]", ABC)


def test_a_level_is_refused_by_name() -> None:
    """Tables by level come later, and the message says what to ask for."""
    county = Attribute(name="county", values=("a", "b"), levels={"state": {"N": ("a", "b")}})
    with pytest.raises(WorkloadError, match=r"state is a level of county; .*: ask for county"):
        parse("[state]", Domain((county,)))


def test_a_family_of_too_many_tables_is_refused() -> None:
    """The number of tables is bounded before they are listed."""
    wide = domain(*(f"a{k}" for k in range(60)))
    with pytest.raises(WorkloadError, match="that asks for 50,063,860 tables, more than 500,000: ask for fewer"):
        parse("all 6-way", wide)
    assert len(every(wide, 0, 3)) == 1 + 60 + 1770 + 34220


def test_a_workload_is_a_set_of_positive_weights() -> None:
    """Nothing wanted, and weights of zero, are refused; the largest weight of a table counts; order is fixed."""
    with pytest.raises(WorkloadError, match='no table is wanted: say which, for example "all 2-way"'):
        Workload(ABC, ())
    with pytest.raises(WorkloadError, match="a table's weight must be positive"):
        Workload.of(ABC, [((0,), Fraction(0))])
    mixed = Workload.of(ABC, [((0, 1), Fraction(1)), ((), Fraction(2)), ((0, 1), Fraction(3)), ((2,), Fraction(1))])
    assert mixed.tables == (((), Fraction(2)), ((2,), Fraction(1)), ((0, 1), Fraction(3)))


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("all 2-way", {"brackets": "[A B][A C][B C]", "all": "all 2-way", "formula": "A:B + A:C + B:C",
                       "sql": "GROUPING SETS ((A, B), (A, C), (B, C))"}),
        ("all 0..3-way", {"brackets": "[][A][B][C][A B][A C][B C][A B C]", "all": "all 0..3-way",
                          "formula": "1 + A + B + C + A:B + A:C + B:C + A:B:C", "sql": "CUBE(A, B, C)"}),
        ("[A B]", {"brackets": "[A B]", "formula": "A:B", "sql": "GROUPING SETS ((A, B))"}),
        ("[]", {"brackets": "[]", "all": "all 0-way", "formula": "1", "sql": "GROUPING SETS (())"}),
        ("2*[A] [B]", {"brackets": "2*[A][B]"}),
        ("[A] 1/2*[B]", {"brackets": "[A] 1/2*[B]"}),
    ],
)  # fmt: skip
def test_a_workload_is_printed_in_each_spelling_that_can_say_it(text: str, spelled: dict[str, str]) -> None:
    """Brackets say everything; the others where they can."""
    workload = parse(text, ABC)
    assert spellings(workload) == spelled
    assert brackets(workload) == spelled["brackets"]
    assert all(parse(other, ABC) == workload for other in spelled.values())


HOSTILE = [
    pytest.param(("A", "B", "A B"), id="two names with a space are a third"),
    pytest.param(("2", "A"), id="a digit that is a weight"),
    pytest.param(("1", "A"), id="the total of a formula"),
    pytest.param(("SETS", "A"), id="a word of SQL"),
    pytest.param(("CUBE", "A"), id="another word of SQL"),
    pytest.param(("[", "A"), id="an opening bracket"),
    pytest.param(("[]", "A"), id="the total of brackets"),
    pytest.param(("*", "A"), id="times"),
    pytest.param(("+", "A"), id="plus"),
    pytest.param((")", "A"), id="a closing parenthesis"),
    pytest.param(("A", "B", "A:B"), id="two names with a colon are a third"),
    pytest.param(("A", "B", "A, B"), id="two names with a comma are a third"),
]


@pytest.mark.parametrize("names", HOSTILE)
def test_hostile_names_are_printed_so_that_they_read_back(names: tuple[str, ...]) -> None:
    """Whatever attributes are called, each printed spelling means what it was printed from."""
    own = domain(*names)
    one = Fraction(1)
    pair = tuple(range(len(names)))
    for wanted in (
        [((0,), one), ((1,), one)],
        [((), one), ((0, 1), one)],
        [(pair, one)],
        [((0,), Fraction(2)), ((1,), one)],
        [((), one), *(((k,), one) for k in pair), ((0, 1), one)],
    ):
        workload = Workload.of(own, wanted)
        for spelling in spellings(workload).values():
            assert parse(spelling, own) == workload
