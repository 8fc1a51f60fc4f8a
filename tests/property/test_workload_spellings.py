"""Workloads printed and read back, for all names and all sets of cuboids."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cuboid.domain import RESERVED, Attribute, Cuboid, Domain, closure, maximal, subsets
from cuboid.errors import WorkloadError
from cuboid.workload import Workload, brackets, parse, spellings

quiet = settings(max_examples=150, deadline=None, derandomize=True)
# Letters, digits, quotes, every mark of the language, spaces, umlauts and words of the language.
texts = st.text(alphabet='abAB12"-._é []():*+~>,%/', min_size=1, max_size=6).map(str.strip)
words = st.sampled_from(
    ["all", "By", "way", "marital-status", "income>50K", "per cent %", 'say "x"', "a\u00a0b", "naïve"]
)
names = (texts | words).filter(lambda name: name != "" and name.casefold() not in RESERVED)
domains = st.lists(names, min_size=1, max_size=5, unique_by=str.casefold).map(
    lambda found: Domain(tuple(Attribute(name=name, values=("0", "1")) for name in found))
)
weights = st.fractions(min_value=Fraction(1, 100), max_value=100, max_denominator=100)


@st.composite
def workloads(draw: Any) -> Workload:
    """Some cuboids of some domain, half of the time with weights."""
    own = draw(domains)
    every = list(subsets(tuple(range(len(own.attributes)))))
    chosen = draw(st.lists(st.sampled_from(every), min_size=1, max_size=8))
    weighing = draw(st.booleans())
    return Workload.of(own, [(cuboid, draw(weights) if weighing else Fraction(1)) for cuboid in chosen])


@settings(quiet, max_examples=500)
@given(workloads())
def test_every_spelling_reads_back(workload: Workload) -> None:
    """Each spelling that a workload is printed in parses to that workload."""
    for spelling in spellings(workload).values():
        assert parse(spelling, workload.domain) == workload
    assert parse(brackets(workload), workload.domain) == workload


ABC = Domain(tuple(Attribute(name=name, values=("0", "1")) for name in ("age", "sex", "a b", "x-y")))
fragments = st.lists(
    st.sampled_from(
        [
            "[",
            "]",
            "(",
            ")",
            ",",
            ":",
            "*",
            "+",
            "~",
            ">",
            '"',
            "age",
            "sex",
            "a b",
            "x-y",
            "z",
            "all",
            "all 2-way",
            "2",
            "1",
            "1/0",
            "0.5",
            "GROUPING",
            "SETS",
            "CUBE",
            "ROLLUP",
            "GROUP",
            "BY",
            "prefix",
            " ",
            "..",
            "-",
            "'",
            "%",
            "\n",
            "é",
        ]
    ),
    max_size=12,
).map(" ".join)


@settings(quiet, max_examples=600)
@given(fragments | st.text(max_size=30))
@example("[age")
@example("1/0*[age]")
def test_any_text_is_a_workload_or_is_refused(text: str) -> None:
    """No text raises anything but WorkloadError, in one line; what is read has positive weights and fits the domain."""
    try:
        workload = parse(text, ABC)
    except WorkloadError as refused:
        message = str(refused)
    else:
        message = ""
    if message:
        assert "\n" in text or "\n" not in message
        return
    assert all(weight > 0 for _, weight in workload.tables)
    assert parse(brackets(workload), ABC) == workload


cuboids = st.lists(st.sets(st.integers(0, 6)).map(lambda s: tuple(sorted(s))), max_size=12)


@quiet
@given(cuboids)
def test_sets_of_cuboids_are_those_of_their_definitions(found: list[Cuboid]) -> None:
    """Closure and maximal, against all pairs and all subsets."""
    naive = {tuple(sorted(c)) for s in found for k in range(len(s) + 1) for c in itertools.combinations(s, k)}
    assert list(closure(found)) == sorted(naive, key=lambda c: (len(c), c))
    top = {c for c in found if not any(set(c) < set(other) for other in found)}
    assert list(maximal(found)) == sorted(top, key=lambda c: (len(c), c))
    assert closure(maximal(found)) == closure(found)
