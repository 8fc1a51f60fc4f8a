"""Does the session tell the whole story in its order, and refuse before it spends?"""

from __future__ import annotations

import pytest

import cuboid
from cuboid.errors import (
    BudgetExceededError,
    BundleError,
    CuboidWarning,
    ParameterError,
    PlanError,
    SchemaError,
    SourceError,
    WorkloadError,
)
from cuboid.session import STEPS
from unit.bundle.releases import ROWS, files, released, schema, spends


def test_steps_are_those_of_the_plan(tmp_path):
    """Progress says the same four words, whatever the data hold."""
    plan = cuboid.plan(schema(), "[age]", epsilon=1)
    for out, rows in (("one", ROWS), ("none", {name: [] for name in ROWS})):
        said = []
        released(plan, tmp_path, out=out, rows=rows, on_step=said.append)
        assert tuple(said) == STEPS
    said = []
    cuboid.recover(tmp_path / "one", on_step=said.append)
    assert tuple(said) == STEPS[2:]


def test_a_release_without_a_folder_stays_in_memory(tmp_path):
    """Nothing but the ledger is written; the release can be saved later."""
    made = released(cuboid.plan(schema(), "[age]", epsilon=1), tmp_path, out=None)
    assert set(files(tmp_path)) == {"ledger.sqlite"}
    assert made.folder is None
    assert made.save(tmp_path / "out").folder == tmp_path / "out"


def test_data_come_in_many_forms(tmp_path):
    """A path, a frame, an Arrow table, columns or rows give the same release under one seed."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    lines = [",".join(ROWS), *map(",".join, zip(*ROWS.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    rows = [dict(zip(ROWS, values, strict=True)) for values in zip(*ROWS.values(), strict=True)]
    forms = [ROWS, rows, pd.DataFrame(ROWS), pl.DataFrame(ROWS), pa.table(ROWS), tmp_path / "people.csv",
             str(tmp_path / "people.csv")]  # fmt: skip
    plan = cuboid.plan(schema(), "[age sex]", epsilon=1)
    made = [released(plan, tmp_path, out=None, rows=form, insecure_seed=3).table("age", "sex").raw for form in forms]
    assert all((own == made[0]).all() for own in made)


def test_plan_takes_a_schema_or_its_path_and_tables_in_three_forms(tmp_path):
    """A path, text, names or a parsed workload mean the same plan."""
    own = schema()
    own.save(tmp_path / "schema.toml")
    plans = [cuboid.plan(source, wanted, epsilon="1/2") for source in (own, tmp_path / "schema.toml")
             for wanted in ("[age sex]", [["age", "sex"]], [("sex", "age")])]  # fmt: skip
    assert all(plan == plans[0] for plan in plans)
    assert cuboid.plan(own, plans[0].workload, epsilon=0.5) == plans[0]
    with pytest.raises(ParameterError, match="another schema"):
        cuboid.plan(schema({"age": ["young", "old"], "sex": ["f", "m"]}), plans[0].workload, epsilon=1)


REFUSED = {
    "no budget": (ParameterError, lambda home: cuboid.plan(schema(), "[age]")),
    "two budgets": (ParameterError, lambda home: cuboid.plan(schema(), "[age]", epsilon=1, rho=1)),
    "delta alone": (ParameterError, lambda home: cuboid.plan(schema(), "[age]", delta=1e-9)),
    "rho with delta": (ParameterError, lambda home: cuboid.plan(schema(), "[age]", rho=1, delta=1e-9)),
    "negative": (ParameterError, lambda home: cuboid.plan(schema(), "[age]", epsilon=-1)),
    "not a number": (ParameterError, lambda home: cuboid.plan(schema(), "[age]", epsilon=float("nan"))),
    "infinite": (ParameterError, lambda home: cuboid.plan(schema(), "[age]", epsilon=float("inf"))),
    "relation": (ParameterError, lambda home: cuboid.plan(schema(), "[age]", epsilon=1, relation="swap")),
    "strategy": (ParameterError, lambda home: cuboid.plan(schema(), "[age]", epsilon=1, strategy="best")),
    "strategy that does not fit": (
        PlanError, lambda home: cuboid.plan(schema(), "[age]", epsilon=1, strategy="residual")
    ),
    "budget rule": (ParameterError, lambda home: cuboid.plan(schema(), "[age]", epsilon=1, budget="fair")),
    "attribute": (WorkloadError, lambda home: cuboid.plan(schema(), "[height]", epsilon=1)),
    "rows that could be dropped under replace": (
        SchemaError, lambda home: cuboid.plan(schema(), "[]", epsilon=1, relation="replace")
    ),
    "schema file": (SchemaError, lambda home: cuboid.plan(home / "schema.toml", "[age]", epsilon=1)),
    "data file": (
        SourceError, lambda home: released(cuboid.plan(schema(), "[age]", epsilon=1), home, rows=home / "people.csv")
    ),
    "column": (
        SchemaError, lambda home: released(cuboid.plan(schema(), "[age]", epsilon=1), home, rows={"age": ["old"]})
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=lambda name: name.replace(" ", "-").replace("'", ""))
def test_what_does_not_fit_is_refused_before_anything_is_spent(tmp_path, case):
    """Each refusal has its own exception, and leaves neither entry nor folder."""
    error, attempt = REFUSED[case]
    with pytest.raises(error):
        attempt(tmp_path)
    assert files(tmp_path) == {}


def test_another_plan_into_the_same_folder_is_refused(tmp_path):
    """A folder holds one release for ever."""
    made = released(cuboid.plan(schema(), "[age]", epsilon=1), tmp_path)
    before = files(made.folder)
    with pytest.raises(cuboid.CuboidError, match="is never overwritten"):
        released(cuboid.plan(schema(), "[age]", epsilon=2), tmp_path)
    assert (files(made.folder), spends(tmp_path)) == (before, 1)


def test_the_same_data_under_another_name_warn(tmp_path):
    """Two names for one file are two budgets for the same people: said once, to whoever spends."""
    lines = [",".join(ROWS), *map(",".join, zip(*ROWS.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    released(cuboid.plan(schema(name="one"), "[age]", epsilon=1), tmp_path, rows=tmp_path / "people.csv", out="1")
    with pytest.warns(CuboidWarning) as said:
        cuboid.release(tmp_path / "people.csv", cuboid.plan(schema(name="two"), "[age]", epsilon=1),
                       out=tmp_path / "2", ledger=tmp_path / "ledger.sqlite")  # fmt: skip
    assert any("under another dataset name (one)" in str(warning.message) for warning in said)


@pytest.mark.parametrize(("first", "second"), [(1, None), (None, 1), (1, 2)])
def test_another_seed_is_another_release(tmp_path, first, second):
    """A seeded release is not given back to whoever asked for a private one, nor the other way round."""
    plan = cuboid.plan(schema(), "[age]", epsilon=1)
    released(plan, tmp_path, insecure_seed=first)
    with pytest.raises(BundleError):
        released(plan, tmp_path, insecure_seed=second)


def test_two_releases_into_one_folder_do_not_mix(tmp_path):
    """Of two that start at the same time, the later one is refused before it spends, and the first one is whole."""
    plan = cuboid.plan(schema(), "[age sex]", epsilon=1)

    def meanwhile(step):
        if step == STEPS[0]:
            with pytest.raises(BundleError):
                released(cuboid.plan(schema(), "[town]", epsilon=2), tmp_path)

    released(plan, tmp_path, on_step=meanwhile)
    assert all(check.passed is not False for check in cuboid.verify(tmp_path / "out"))
    assert cuboid.open(tmp_path / "out").plan == plan
    assert spends(tmp_path) == 1


def test_over_budget_is_refused_before_rows_are_read(tmp_path, monkeypatch):
    """The ledger is asked before the counting starts, so that a refusal costs neither time nor a look."""
    plan = cuboid.plan(schema(), "[age]", epsilon=2)
    small = cuboid.plan(schema(), "[age]", epsilon=1)
    cuboid.Ledger.at(tmp_path / "ledger.sqlite").open_account("survey", loss=small.loss, unit=small.unit)

    def unread(*_, **__):
        raise AssertionError("rows were read")

    monkeypatch.setattr("cuboid.counting.count_rows", unread)
    with pytest.raises(BudgetExceededError):
        released(plan, tmp_path)
    assert spends(tmp_path) == 1
    with pytest.raises(AssertionError, match="rows were read"):
        released(small, tmp_path)
