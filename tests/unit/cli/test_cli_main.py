"""Does the shell turn every end of a command into its code and one line?"""

from __future__ import annotations

import json
import shlex

import pytest

from cuboid import errors
from e2e.story import SCHEMA, call, tree

PLAN = ("plan", "schema.toml", "[sex]", "--epsilon", "1")


@pytest.fixture
def home(tmp_path):
    """A folder with a schema."""
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


ENDS = {
    errors.InputError: 1, errors.SchemaError: 1, errors.WorkloadError: 1, errors.ParameterError: 1,
    errors.PlanError: 1, errors.SourceError: 1, errors.BundleError: 1, errors.PrivacyError: 3,
    errors.BudgetExceededError: 3, errors.UnsupportedRelationError: 3, errors.LedgerError: 3,
}  # fmt: skip
BUGS = [ValueError, KeyError, ZeroDivisionError, MemoryError, OSError, AssertionError, RecursionError, UnicodeError]


@pytest.mark.parametrize("error", ENDS, ids=lambda error: error.__name__)
def test_each_refusal_has_its_code(home, monkeypatch, error):
    """Its sentence is printed after the program's name, and nothing else is."""

    def refuse(*_, **__):
        raise error("the plan is too dear: plan with less")

    monkeypatch.setattr("cuboid.session.plan", refuse)
    said = call(home, *PLAN)
    assert (said.code, said.out, said.err) == (ENDS[error], "", "cuboid: the plan is too dear: plan with less\n")


def test_every_exception_has_a_code():
    """The tree of exceptions has no branch that the shell does not know."""
    kinds = {getattr(errors, name) for name in errors.__all__ if name.endswith("Error")}
    assert kinds == set(ENDS) | {errors.CuboidError, errors.InternalError}


def test_a_broken_promise_is_code_four(home, monkeypatch):
    """An InternalError says its sentence, and asks to be reported."""

    def broken(*_, **__):
        raise errors.InternalError("measurements and queries differ in number")

    monkeypatch.setattr("cuboid.session.plan", broken)
    said = call(home, *PLAN)
    assert said.code == 4
    assert said.err == "cuboid: measurements and queries differ in number (a bug in Cuboid: please report it)\n"


@pytest.mark.parametrize("error", BUGS, ids=lambda error: error.__name__)
def test_an_unexpected_exception_shows_its_class_alone(home, monkeypatch, error):
    """Its text could hold a value, so nobody sees it; nor a traceback."""

    def broken(*_, **__):
        raise error("Ada is 41")

    monkeypatch.setattr("cuboid.session.plan", broken)
    said = call(home, *PLAN)
    assert (said.code, said.out) == (4, "")
    assert said.err == f"cuboid: a bug in Cuboid ({error.__name__}): please report it, with the command\n"


def test_warnings_of_libraries_are_not_shown(home, monkeypatch):
    """Only Cuboid's own notes are: what a library warns of may hold a value."""
    import warnings

    import cuboid.session

    honest = cuboid.session.plan

    def noisy(*arguments, **options):
        warnings.warn("Ada is 41", RuntimeWarning, stacklevel=1)
        warnings.warn("a note", errors.CuboidWarning, stacklevel=1)
        return honest(*arguments, **options)

    monkeypatch.setattr("cuboid.session.plan", noisy)
    assert call(home, *PLAN).err == "note: a note\n"


def test_planning_writes_nothing(home):
    """Neither a ledger nor a folder comes of a plan."""
    before = tree(home)
    for options in ((), ("--json",), ("--strategy", "direct"), ("--budget", "uniform"), ("--relation", "add-remove")):
        assert call(home, *PLAN, *options).code == 0
    assert tree(home) == before


@pytest.mark.parametrize(
    ("typed", "means"),
    [("1", "1"), ("0.5", "0.5"), ("1/3", "1/3"), (".25", "0.25"), ("1e-1", "0.1"), ("0.10", "0.1"), ("2/4", "0.5")],
)
def test_numbers_mean_what_is_typed(home, typed, means):
    """A budget is an exact rational, read from its text."""
    said = call(home, "plan", "schema.toml", "[sex]", "--epsilon", typed, "--json")
    assert json.loads(said.out)["cost"]["epsilon"] == means


@pytest.mark.parametrize("number", ["-1", "0", "nan", "inf", "1e400", "1e-400", "1,5", "0x1", "1_0", "", " ", "one"])
def test_numbers_that_are_none_are_refused(home, number):
    """Zero, negative, non-finite and subnormal budgets, and text, are code 1 with the way out."""
    said = call(home, "plan", "schema.toml", "[sex]", f"--epsilon={number}")
    assert (said.code, said.out) == (1, "")
    assert "epsilon must be" in said.err


def test_what_could_drive_a_terminal_is_shown_as_spaces(home):
    """Labels with escape sequences are text to the terminal that shows them."""
    label = "\x1b[31mred\x07"
    text = '[dataset]\nname = "d"\n[attribute.a]\nvalues = ["\\u001b[31mred\\u0007", "y"]\n'
    (home / "schema.toml").write_text(text)
    (home / "people.csv").write_text(f"a\n{label}\n")
    arguments = ("release", "people.csv", "--schema", "schema.toml", "--workload", "[a]", "--epsilon", "1", "-o", "out")
    if call(home, *arguments).code:
        return  # refused by the schema, which is as good
    for shown in (call(home, "show", "out", "a"), call(home, "query", "out", "from a")):
        assert shown.code == 0
        assert "\x1b" not in shown.out
        assert "\x07" not in shown.out
    assert json.loads(call(home, "show", "out", "a", "--json").out)["cells"][0]["a"] == label


def test_long_tables_are_cut_with_a_word(home):
    """A terminal gets two hundred lines; --json and --csv get all."""
    values = ", ".join(f'"{i}"' for i in range(300))
    (home / "schema.toml").write_text(f'[dataset]\nname = "d"\n[attribute.a]\nvalues = [{values}]\n')
    (home / "people.csv").write_text("a\n1\n")
    arguments = ("release", "people.csv", "--schema", "schema.toml", "--workload", "[a]", "--epsilon", "1", "-o", "out")
    assert call(home, *arguments).code == 0
    shown = call(home, "show", "out", "a").out.splitlines()
    assert len(shown) == 203
    assert shown[-1] == "... and 100 more cells (all of them with --csv or --json)"
    assert len(call(home, "show", "out", "a", "--csv").out.splitlines()) == 301
    assert len(json.loads(call(home, "show", "out", "a", "--json").out)["cells"]) == 300
    assert (
        call(home, "query", "out", "from a").out.splitlines()[-1] == "... and 100 more rows (all of them with --json)"
    )


def test_release_names_what_to_do_next(home):
    """The last line is a command that works as it stands."""
    (home / "people.csv").write_text("age,sex,town\n41,1,Ada\n")
    arguments = ("release", "people.csv", "--schema", "schema.toml", "--epsilon", "1")
    for out, workload in (("one", "[age sex]"), ("two", "[town]")):
        said = call(home, *arguments, "--workload", workload, "-o", out)
        (command,) = (part for part in said.out.split("`") if part.startswith("cuboid "))
        assert call(home, *command.split()[1:]).code == 0


def test_what_to_do_next_is_quoted_for_the_shell(home):
    """Names and folders with spaces are one word each in the command that is suggested."""
    (home / "schema.toml").write_text('[dataset]\nname = "d"\n[attribute."a b"]\nvalues = ["x", "y"]\n')
    (home / "people.csv").write_text("a b\nx\n")
    said = call(home, "release", "people.csv", "--schema", "schema.toml", "--workload", '["a b"]', "--epsilon", "1",
                "-o", "my out")  # fmt: skip
    assert said.code == 0
    (command,) = (part for part in said.out.split("`") if part.startswith("cuboid "))
    assert call(home, *shlex.split(command)[1:]).code == 0
