"""Do the ledger's commands say and refuse what the library does?"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from cuboid.cli.ledger import app
from cuboid.errors import LedgerError, ParameterError
from cuboid.privacy.ledger import Ledger
from ledger_requests import request


@pytest.fixture
def command(tmp_path, monkeypatch):
    """A function that runs a command on a ledger of its own and returns what it printed."""
    monkeypatch.setenv("CUBOID_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments):
        result = CliRunner().invoke(app, arguments)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.output
        return result.output

    return run


def test_open_spend_show_verify(command):
    """An account opened by command shows its cap, and later what was spent and what is left."""
    assert command("open", "survey", "--epsilon", "1") == "survey is open: epsilon 1\n"
    Ledger.at().spend(request("1/3"))
    Ledger.at().spend(request(dataset="poll [x]"))
    text = command("show")
    assert "epsilon 0.666666" in text
    assert "poll [x]" in text
    assert "not opened" in text
    Ledger.at().spend(request("1/3", private=False))
    text = command("show", "survey")
    assert "opened" in text
    assert "NOT PRIVATE" in text
    assert "survey: 3 entries in an unbroken chain" in command("verify", "survey")


def test_show_as_json_has_exact_numbers(command):
    """JSON carries the typed amounts, the exact rationals, and every entry."""
    command("open", "survey", "--epsilon", "1", "--delta", "1e-9", "--relation", "replace", "--max-rows", "2")
    (account,) = json.loads(command("show", "survey", "--json"))["datasets"]
    assert account["cap"] == account["left"] == {"epsilon": "1", "delta": "1e-9"}
    assert Fraction(account["exact"]["left"]) == Fraction(account["exact"]["cap"])
    assert (account["relation"], account["max_rows"], account["currency"]) == ("replace", 2, "(epsilon, delta)")
    Ledger.at().spend(request(dataset="poll"))
    (entry,) = json.loads(command("show", "poll", "--json"))["datasets"][0]["entries"]
    assert (entry["event"], entry["amount"], entry["charge"]) == ("spend", "1/10", None)


def test_verify_looks_for_a_receipt(command):
    """A receipt that the ledger lacks is refused, and one that it has is found."""
    command("open", "survey", "--rho", "0.5")
    (tip,) = json.loads(command("verify", "--json"))["datasets"]
    command("verify", "survey", "--head", tip["head"], "--sequence", "1")
    with pytest.raises(LedgerError, match="older copy"):
        command("verify", "survey", "--head", tip["head"], "--sequence", "2")


def test_a_broken_ledger_is_an_error(command):
    """Errors of the library pass through, for the shell to give them their exit code."""
    command("open", "survey", "--epsilon", "1")
    with closing(sqlite3.connect(Ledger.at().path)) as connection:
        connection.execute("DROP TRIGGER entry_stays")
        connection.execute("UPDATE entry SET hash = 'x'")
        connection.commit()
    for arguments in (["verify"], ["show"], ["show", "survey"]):
        with pytest.raises(LedgerError, match="altered at entry 1"):
            command(*arguments)


@pytest.mark.parametrize("options", [[], ["--epsilon", "nan"], ["--epsilon", "-1"], ["--rho", "1", "--epsilon", "1"]])
def test_a_cap_that_is_none_is_refused(command, options):
    """Numbers are text, read by the one function that reads budgets."""
    with pytest.raises(ParameterError):
        command("open", "survey", *options)
    assert Ledger.at().names() == ()


@pytest.mark.parametrize("name", ["open", "show", "verify"])
def test_every_command_has_an_example(command, name):
    """Help says how to use the command, by example."""
    assert f"Example: cuboid ledger {name}" in command(name, "--help")
