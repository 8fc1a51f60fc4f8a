"""The command `cuboid`: its commands, and the exit codes.

0 done, 1 refused input, 2 usage, 3 budget refused, 4 our bug.
"""

from __future__ import annotations

import io
import sys
import warnings
from typing import Annotated

import typer

from cuboid.cli.declare import check, init
from cuboid.cli.inspect import query, show, verify
from cuboid.cli.ledger import app as ledger
from cuboid.cli.plan import plan
from cuboid.cli.release import recover, release
from cuboid.errors import CuboidWarning, InputError, InternalError, PrivacyError

app = typer.Typer(
    name="cuboid",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    help="Publish tables of counts about people without exposing anyone: every table under differential privacy, "
    "consistent with the others, with an error bar on each cell. "
    "Exit codes: 0 done, 1 refused input, 2 usage, 3 budget refused, 4 our bug.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"cuboid {version('cuboid')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """Options of the program itself."""


for command in (init, check, plan, release, recover, show, query, verify):
    app.command()(command)
app.add_typer(ledger, name="ledger")


def main() -> None:
    """Run a command and exit with its code. What is printed on failure never depends on data."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without a ± is no reason to fail
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", CuboidWarning)
    warnings.showwarning = lambda message, *_, **__: print(f"note: {message}", file=sys.stderr)
    sys.exit(_run())


def _run() -> int:
    try:
        app(standalone_mode=True)
    except SystemExit as done:
        return int(done.code or 0)
    except InputError as error:
        return _failed(str(error), 1)
    except PrivacyError as error:
        return _failed(str(error), 3)
    except InternalError as error:
        return _failed(f"{error} (a bug in Cuboid: please report it)", 4)
    except Exception as error:  # noqa: BLE001  its own text could hold data
        return _failed(f"a bug in Cuboid ({type(error).__name__}): please report it, with the command", 4)
    return 0


def _failed(text: str, code: int) -> int:
    print(f"cuboid: {text}", file=sys.stderr)
    return code
