"""Has every --json the keys that are fixed, and nothing that no reader of JSON could take?"""

from __future__ import annotations

import json

import pytest

from e2e.story import call

RELEASE = (
    "release", "people.csv", "--schema", "schema.toml", "--workload", "all 1..2-way", "--epsilon", "1", "-o", "out",
)  # fmt: skip


@pytest.fixture
def document(home):
    """A function that runs a command with --json and reads its output strictly."""
    call(home, "ledger", "open", "survey", "--epsilon", "4")
    assert call(home, *RELEASE).code == 0

    def document(*arguments):
        said = call(home, *arguments, "--json")
        assert (said.code, said.err) == (0, ""), said
        return json.loads(said.out, parse_constant=refuse)

    return document


def refuse(constant):
    """NaN and Infinity are no JSON."""
    raise ValueError(f"{constant} is no JSON")


def test_plan(document):
    """Strategy, cost, rmse, tables with their errors, and what was rejected."""
    for budget, kind in (
        (("--epsilon", "1"), {"epsilon": "1"}),
        (("--rho", "1/3"), {"rho": "1/3"}),
        (("--epsilon", "1", "--delta", "1e-9"), {"epsilon": "1", "delta": "1e-9"}),
    ):
        plan = document("plan", "schema.toml", "all 2-way", *budget)
        assert {"strategy", "cost", "rmse", "tables", "rejected"} <= plan.keys()
        assert kind.items() <= plan["cost"].items()
        assert plan["rmse"] > 0
        assert [table["attributes"] for table in plan["tables"]] == [["age", "sex"], ["age", "town"], ["sex", "town"]]
        for table in plan["tables"]:
            assert table.keys() == {"attributes", "cells", "sd", "half95"}
            assert table["half95"] > table["sd"] > 0
        pooled = sum(t["cells"] * t["sd"] ** 2 for t in plan["tables"]) / sum(t["cells"] for t in plan["tables"])
        assert plan["rmse"] == pytest.approx(pooled**0.5)
        assert all(other.keys() == {"strategy", "rmse", "reason"} for other in plan["rejected"])


def test_show(document):
    """Attributes, whether they are covered, and one object a cell, labels as text."""
    table = document("show", "out", "sex", "age")
    assert {"attributes", "covered", "cells"} <= table.keys()
    assert (table["attributes"], table["covered"]) == (["age", "sex"], True)
    assert [(cell["age"], cell["sex"]) for cell in table["cells"]] == [
        (age, sex) for age in ("0-17", "18-64", "65-120") for sex in ("male", "female")
    ]
    for cell in table["cells"]:
        assert cell.keys() == {"age", "sex", "raw", "sd", "lo95", "hi95", "flag"}
        assert cell["lo95"] < cell["raw"] < cell["hi95"]
        assert cell["flag"] in ("ok", "unreliable")


def test_show_of_an_exact_total(document, home):
    """An exact cell is an integer with sd 0."""
    schema = (home / "schema.toml").read_text().replace("bins = ", 'other = "?"\nbins = ')
    (home / "all.toml").write_text(schema.replace("labels = ", 'other = "?"\nlabels = ').replace("survey", "whole"))
    said = call(home, "release", "people.csv", "--schema", "all.toml", "--workload", "all 0..1-way", "--rho", "1",
                "--relation", "replace", "-o", "whole")  # fmt: skip
    assert said.code == 0, said.err
    assert document("show", "whole")["cells"] == [{"raw": 60, "sd": 0.0, "lo95": 60, "hi95": 60, "flag": "exact"}]
    assert document("verify", "whole")["passed"] is True


def test_verify(document):
    """Whether all passed, and each check with its answer."""
    found = document("verify", "out")
    assert found.keys() == {"passed", "checks"}
    assert found["passed"] is True
    assert [check["check"] for check in found["checks"]][:2] == ["files", "guarantee"]
    assert all(check.keys() == {"check", "passed", "detail"} for check in found["checks"])


def test_verify_of_an_altered_release(document, home):
    """A failure is JSON too, with code 1."""
    (home / "out/card.md").write_text("")
    said = call(home, "verify", "out", "--json")
    assert said.code == 1
    assert json.loads(said.out)["passed"] is False


def test_check(document):
    """The dataset, each attribute with its number of categories, and unused columns."""
    found = document("check", "schema.toml", "people.csv")
    assert found["dataset"] == "survey"
    assert [(own["name"], own["categories"]) for own in found["attributes"]] == [("age", 3), ("sex", 2), ("town", 5)]
    assert found["unused_columns"] == ["id", "remark"]


def test_query(document):
    """Columns in order, and rows by column."""
    found = document("query", "out", "select sex, sum(raw) as people from age_sex group by sex order by sex")
    assert found["columns"] == ["sex", "people"]
    assert [row["sex"] for row in found["rows"]] == ["female", "male"]
    assert all(isinstance(row["people"], float) for row in found["rows"])


@pytest.mark.parametrize(
    "sql",
    [
        "select date '2020-01-01' as d, 1.5::decimal(4, 1) as e, sum(grouping) as s from cells",
        "select interval 1 day as i, timestamp '2020-01-01 00:00:00' as t, 'a'::blob as b, [1, 2] as l, {'a': 1} as s",
        "select 'nan'::double as n, 'inf'::double as i",
    ],
)
def test_query_of_any_type(document, sql):
    """Whatever SQL can return has a place in JSON."""
    assert len(document("query", "out", sql)["rows"]) == 1


def test_release(document, home):
    """The plan's summary, the folder, and the ledger's entry."""
    call(home, "ledger", "open", "other", "--epsilon", "4")
    (home / "schema.toml").write_text((home / "schema.toml").read_text().replace("survey", "other"))
    (home / "people.csv").rename(home / "more.csv")
    found = document("release", "more.csv", *RELEASE[2:-1], "again")
    assert {"strategy", "cost", "rmse", "tables", "rejected", "folder", "ledger"} <= found.keys()
    assert found["folder"] == str(home / "again")
    assert found["ledger"].keys() == {"sequence", "head"}
    assert document("recover", "again")["tables"] == 6


def test_ledger(document):
    """Each dataset with its cap, what is spent and left, and its entries."""
    found = document("ledger", "show")
    (account,) = found["datasets"]
    assert {"dataset", "currency", "cap", "spent", "left", "exact", "relation", "max_rows", "entries"} <= account.keys()
    assert (account["cap"], account["spent"], account["left"]) == ({"epsilon": "4"}, {"epsilon": "1"}, {"epsilon": "3"})
    assert [entry["event"] for entry in account["entries"]] == ["open", "spend"]
    assert document("ledger", "verify")["datasets"][0]["sequence"] == 2
