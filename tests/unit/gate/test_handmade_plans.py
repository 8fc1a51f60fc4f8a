"""Plans that nobody's planner made: the gate and the values it reads take none at its word."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cuboid import session
from cuboid.errors import InputError, ParameterError, PlanError, WorkloadError
from cuboid.measurement import Query
from cuboid.privacy import Approximate, Form, Pure, Relation, Unit
from cuboid.privacy.loss import Concentrated

WEIGHT = Fraction(1, 2)


@pytest.mark.parametrize(
    "changes",
    [
        {"cuboid": (0, 0)},
        {"cuboid": (1, 0)},
        {"cuboid": (-1,)},
        {"cuboid": [0]},
        {"cuboid": (np.int64(0),)},
        {"cuboid": (True,)},
        {"form": "table and more"},
        {"weight": np.float16(0.5)},
        {"weight": 0.5},
        {"weight": 1},
        {"weight": Fraction(0)},
        {"weight": Fraction(-1, 2)},
    ],
    ids=str,
)
def test_a_query_that_is_none_cannot_be_made(changes):
    """A repeated attribute or a weight that is no rational would be priced wrongly."""
    good = {"cuboid": (0, 1), "form": Form.TABLE, "weight": WEIGHT}
    assert Query(**good)
    with pytest.raises(PlanError):
        Query(**good | changes)


def test_a_relation_in_text_is_that_relation():
    """Comparisons by identity hold for units made by hand."""
    assert Unit(relation="replace").relation is Relation.REPLACE
    with pytest.raises(ParameterError):
        Unit(relation="swap")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Approximate(epsilon=Fraction(1), delta=Fraction(99, 100)),
        lambda: Approximate(epsilon=Fraction(-1), delta=Fraction(1, 100)),
        lambda: Pure(epsilon=Fraction(0)),
        lambda: Pure(epsilon=float("nan")),
        lambda: Concentrated(rho=Fraction(-1)),
    ],
)
def test_a_guarantee_that_is_none_cannot_be_made(make):
    """The limits are those of the values, not of the function that parses them."""
    with pytest.raises(ParameterError):
        make()


def test_misuse_is_said_in_words(tmp_path):
    """What is no plan, no workload and no seed is refused as such."""
    data = "examples/data/Titanic4way"
    with pytest.raises(ParameterError, match="needs a plan"):
        session.release(f"{data}.csv", "all 2-way")
    plan = session.plan(f"{data}.toml", "all 1-way", epsilon=1)
    for seed in ("a", -1, 1.5):
        with pytest.raises(ParameterError, match="insecure_seed"):
            session.release(f"{data}.csv", plan, insecure_seed=seed, ledger=tmp_path / "ledger.sqlite")
    with pytest.raises(WorkloadError, match="must be text"):
        session.plan(f"{data}.toml", 5, epsilon=1)


@pytest.mark.parametrize(
    ("wanted", "budget"),
    [
        ("[" + " ".join(f"a{i}" for i in range(40)) + "]", {"rho": 1}),
        ("CUBE(" + ", ".join(f"a{i}" for i in range(40)) + ")", {"epsilon": 1}),
        ("*".join(f"a{i}" for i in range(40)), {"epsilon": 1}),
        ("all 19-way", {"epsilon": 1}),
    ],
)
def test_a_runaway_workload_is_refused_at_once(wanted, budget):
    """A short line cannot ask for more sub-tables than memory holds."""
    from cuboid.domain import Attribute, Domain, Schema

    schema = Schema(name="x", domain=Domain(tuple(Attribute(name=f"a{i}", values=("0", "1")) for i in range(40))))
    with pytest.raises(InputError):
        session.plan(schema, wanted, **budget)
