"""Is every refusal one or two sentences with object, rule and way out, and does it leave everything as it was?"""

from __future__ import annotations

import re

import pytest

from e2e.story import SCHEMA, call, run, tree

RELEASE = ("release", "people.csv", "--schema", "schema.toml", "--workload", "[sex]", "--epsilon", "1", "-o", "out")


def but(option, value):
    """The release with one option changed; None takes it away."""
    place = RELEASE.index(option)
    return RELEASE[:place] + (() if value is None else (option, value)) + RELEASE[place + 2 :]


REFUSALS = {
    "no schema": (1, but("--schema", "none.toml"), "none.toml", "cuboid init"),
    "bad schema": (1, but("--schema", "bad.toml"), "not valid TOML", ""),
    "schema of another kind": (1, but("--schema", "people.csv"), "not valid TOML", ""),
    "unknown entry": (1, but("--schema", "entry.toml"), "colour", "may have"),
    "unknown attribute": (1, but("--workload", "[height]"), "height", "age, sex, town"),
    "bad workload": (1, but("--workload", "[sex"), "wanted tables", "write ]"),
    "empty workload": (1, but("--workload", ""), "", ""),
    "missing column": (1, but("--schema", "more.toml"), "height", ""),
    "missing file": (1, ("release", "none.csv", *RELEASE[2:]), "none.csv", "check the path"),
    "a folder": (1, ("release", ".", *RELEASE[2:]), "is a folder", "name one file"),
    "not a csv": (1, ("release", "picture.png", *RELEASE[2:]), "picture.png", "CSV in UTF-8"),
    "empty file": (1, ("release", "empty.csv", *RELEASE[2:]), "empty.csv", "name the columns"),
    "no budget": (1, but("--epsilon", None), "epsilon", "rho"),
    "two budgets": (1, (*RELEASE, "--rho", "1"), "epsilon", "rho"),
    "bad budget": (1, but("--epsilon", "much"), "epsilon", "such as 1"),
    "zero budget": (1, but("--epsilon", "0"), "epsilon", "between"),
    "large delta": (1, (*RELEASE, "--delta", "0.6"), "delta", "below"),
    "unknown relation": (1, (*RELEASE, "--relation", "swap"), "swap", "add-remove or replace"),
    "unknown strategy": (1, (*RELEASE, "--strategy", "best"), "best", "identity"),
    "unknown budget rule": (1, (*RELEASE, "--budget", "fair"), "fair", "optimal"),
    "occupied folder": (1, but("-o", "full"), "full", "choose another folder"),
    "folder under a file": (1, but("-o", "people.csv/out"), "people.csv/out", "choose another place"),
    "a table in a csv": (1, (*RELEASE, "--table", "t"), "no DuckDB database", "leave"),
    "rows that drop": (1, (*RELEASE, "--relation", "replace"), "drops rows", "declare other"),
    "several rows a person": (1, but("--schema", "unit.toml"), "may own several rows", "one row a person"),
    "over budget": (3, but("--epsilon", "11"), "epsilon 10 left", "at most what is left"),
    "another currency": (3, (*but("--epsilon", None), "--rho", "1"), "epsilon", "ask for epsilon alone"),
    "no ledger": (3, (*RELEASE, "--ledger", "people.csv"), "is not a ledger", "nothing was spent"),
    "ledger nowhere": (3, (*RELEASE, "--ledger", "/proc/none/ledger"), "cannot be opened", "nothing was spent"),
    "bad option": (2, (*RELEASE, "--speed", "9"), "--speed", ""),
    "no command": (2, ("publish",), "publish", ""),
    "missing option": (2, but("--schema", None), "--schema", ""),
    "missing argument": (2, ("show",), "RELEASE|folder", ""),
    "no release to show": (1, ("show", "none", "sex"), "none", "cuboid release"),
    "no release in the folder": (1, ("verify", "full"), "full has no release.json", ""),
    "nothing to recover": (1, ("recover", "full"), "full has no release.json", ""),
    "plan without budget": (1, ("plan", "schema.toml", "[sex]"), "epsilon", "rho"),
    "check of another file": (1, ("check", "more.toml", "people.csv"), "height", ""),
    "init of nothing": (1, ("init", "none.csv"), "none.csv", "check the path"),
    "init into nowhere": (1, ("init", "people.csv", "-o", "none/schema.toml"), "none/schema.toml", "another place"),
    "unknown dataset": (1, ("ledger", "show", "nobody"), "nobody", "survey"),
    "opened twice": (3, ("ledger", "open", "survey", "--epsilon", "9"), "open already", "never changed"),
    "opened without a cap": (1, ("ledger", "open", "other"), "epsilon", "rho"),
}


@pytest.fixture
def ready(home):
    """The home with a ledger opened, and files that are not what they should be."""
    (home / "bad.toml").write_text("[dataset\n")
    (home / "entry.toml").write_text(SCHEMA.replace('name = "survey"', 'name = "survey"\ncolour = "red"'))
    (home / "more.toml").write_text(SCHEMA + "\n[attribute.height]\nbins = [0, 100, 200]\n")
    (home / "unit.toml").write_text(SCHEMA.replace('name = "survey"', 'name = "survey"\nunit = "id"\nmax_rows = 3'))
    (home / "picture.png").write_bytes(b"\x89PNG\r\0\x1a" + bytes(range(256)))
    (home / "empty.csv").write_bytes(b"")
    (home / "full").mkdir()
    (home / "full/note.txt").write_text("mine")
    assert call(home, "ledger", "open", "survey", "--epsilon", "10").code == 0
    return home


@pytest.mark.parametrize("case", REFUSALS, ids=lambda name: name.replace(" ", "-"))
def test_a_refusal_is_short_and_changes_nothing(ready, case):
    """Its code is that of its kind; it names what and the way out; no file changes, and no traceback shows."""
    code, arguments, names, way_out = REFUSALS[case]
    before = tree(ready)
    said = call(ready, *arguments)
    assert (said.code, said.out) == (code, ""), said
    assert re.search(names, said.err)
    assert way_out in said.err
    assert "Traceback" not in said.err
    assert "bug" not in said.err
    if code != 2:
        assert said.err.startswith("cuboid: ")
        assert said.err.count("\n") == 1
        assert len(re.findall(r"[.!?](?= [A-Z])", said.err)) <= 1
        assert len(said.err) < 420
    assert tree(ready) == before
    assert not (ready / "out").exists()


def test_codes_hold_in_a_process_of_their_own(ready):
    """What the shell sees is the same code and text as in here."""
    for case in ("unknown attribute", "over budget", "bad option"):
        code, arguments, *_ = REFUSALS[case]
        said, here = run(ready, *arguments), call(ready, *arguments)
        assert said.code == here.code == code
        assert said.err.splitlines()[-1] == here.err.splitlines()[-1]


def test_help_and_version_are_code_zero(home):
    """Asking what there is is no mistake."""
    assert call(home, "--version").out.startswith("cuboid ")
    assert call(home, "--help").code == 0


def test_sql_that_does_not_run_is_refused(ready):
    """A mistake in SQL is the user's, with code 1."""
    assert call(ready, *RELEASE).code == 0
    said = call(ready, "query", "out", "select nothing from sex")
    assert said.code == 1
    assert said.err.startswith("cuboid: the SQL does not run on this release: ")
    assert said.err.count("\n") == 1


def test_columns_of_one_name_are_shown_both(ready):
    """An answer with two columns of one name is still an answer, in text and in JSON."""
    assert call(ready, *RELEASE).code == 0
    said = call(ready, "query", "out", "select 1 as a, 2 as a")
    assert (said.code, said.out.split()[-2:]) == (0, ["1", "2"])


@pytest.mark.parametrize("attributes", [("town",), ("height",), ("sex", "sex"), ("Sex",)])
def test_a_table_that_is_not_there_is_refused(ready, attributes):
    """Uncovered and unknown tables are code 1, with what there is."""
    assert call(ready, *RELEASE).code == 0
    said = call(ready, "show", "out", *attributes)
    assert (said.code, said.out) == (1, "")
    assert "sex" in said.err
