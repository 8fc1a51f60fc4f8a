"""Does every command say what it does, in its help and in the documents?"""

from __future__ import annotations

import re
import subprocess

import pytest
import typer.main
from typer.testing import CliRunner

from architecture.source import REPO
from cuboid.cli import app


def commands():
    """Every command that does something, as it is typed."""

    def walk(command, typed):
        for name, own in getattr(command, "commands", {}).items():
            if hasattr(own, "commands"):
                yield from walk(own, (*typed, name))
            else:
                yield (*typed, name), own

    return dict(walk(typer.main.get_command(app), ()))


COMMANDS = commands()


def told(*arguments):
    """The help of a command, on one line."""
    result = CliRunner().invoke(app, [*arguments, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    return " ".join(result.output.split())


def test_the_commands_are_those_of_the_design():
    """A command appears once it works."""
    assert {path[0] for path in COMMANDS} <= {
        "init", "check", "plan", "release", "recover", "show", "query", "rows", "verify", "report", "serve", "ledger",
        "evaluate",
    }  # fmt: skip
    assert {"init", "check", "plan", "release", "recover", "show", "query", "verify", "ledger"} <= {
        path[0] for path in COMMANDS
    }


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_has_an_example(path):
    """Each command's help shows the command as one would type it."""
    assert f"Example: cuboid {' '.join(path)}" in told(*path)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_parameter_has_a_help(path):
    """No option or argument is left to be guessed."""
    for parameter in COMMANDS[path].params:
        if parameter.name != "help":
            assert getattr(parameter, "help", None) or path == ("show",), parameter.name


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_manual_has_every_command_and_option(path):
    """docs/commands.md names each command and each of its options."""
    manual = (REPO / "docs/commands.md").read_text(encoding="utf-8")
    assert f"cuboid {' '.join(path)}" in manual
    for option in (name for parameter in COMMANDS[path].params for name in parameter.opts if name.startswith("-")):
        assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", manual), option


def test_the_exit_codes_are_in_the_help():
    """Whoever scripts the command finds its codes in its help."""
    text = told()
    for code, meaning in ((0, "done"), (1, "refused input"), (2, "usage"), (3, "budget refused"), (4, "our bug")):
        assert f"{code} {meaning}" in text


def test_the_exit_codes_are_in_the_manual():
    """And in the documents."""
    manual = (REPO / "docs/commands.md").read_text(encoding="utf-8")
    for code in range(5):
        assert re.search(rf"(?m)(^|\W){code}\W", manual)


def test_the_readme_leads_to_the_documents():
    """From the front page one finds the rest, and each of its links is there."""
    readme = (REPO / "README.md").read_text(encoding="utf-8")
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)]+)\)", readme) if "://" not in link]
    assert any(link.startswith("docs/") for link in links)
    assert [link for link in links if link and not (REPO / link).exists()] == []


def kept():
    """Every file that belongs to the project."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPO, capture_output=True, check=False,
    )  # fmt: skip
    if listed.returncode == 0:
        return [REPO / name for name in listed.stdout.decode().split("\0") if name and (REPO / name).is_file()]
    folders = (REPO / name for name in ("src", "tests", "docs", "examples"))
    return [path for folder in folders for path in folder.rglob("*") if path.is_file()]


MACHINE = re.compile(rb"(?<![\w.~-])/(work|root)/\w|/tmp/ven[v]|\bfile:/{3}")


def test_no_file_knows_the_machine_it_was_written_on():
    """No path of anybody's computer is in the project; the control is a text that has one."""
    for text in (b"see /" + b"work/main/x", b"in /" + b"tmp/venv/bin", b"/" + b"root/x"):
        assert MACHINE.search(text)
    found = [str(path.relative_to(REPO)) for path in kept() if MACHINE.search(path.read_bytes())]
    assert found == []
