"""The interval of a table is a matter of its law, not of which table was asked first."""

from __future__ import annotations

import itertools

from cuboid.domain import Attribute, Domain, Schema
from cuboid.session import plan

SIZES = {"A": 2, "B": 2, "E": 2, "F": 4, "G": 4}
SCHEMA = Schema(
    name="x",
    domain=Domain(tuple(Attribute(name=n, values=tuple(map(str, range(size)))) for n, size in SIZES.items())),
)


def test_intervals_do_not_depend_on_the_order_of_asking():
    """Tables with equal variances can differ in law: each gets its own interval."""

    def fresh():
        return plan(SCHEMA, "[B][A][A E][B F][B G]", epsilon=1, strategy="direct", budget="uniform").error_law()

    needed = tuple(fresh().scales)
    alone = {cuboid: fresh().of(cuboid) for cuboid in needed}
    for order in itertools.islice(itertools.permutations(needed), 0, 200, 20):
        law = fresh()
        assert {cuboid: law.of(cuboid) for cuboid in order} == alone


def test_alike_tables_share_one_interval():
    """All two-way tables of equal attributes are one law, found once."""
    schema = Schema(name="x", domain=Domain(tuple(Attribute(name=f"a{i}", values=("0", "1")) for i in range(12))))
    made = plan(schema, "all 2-way", epsilon=1)
    law = made.error_law()
    assert len({law.of(cuboid) for cuboid in made.workload.cuboids}) == 1
    assert len(law._known) == 1
