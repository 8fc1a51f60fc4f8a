"""Commands run as people run them: in a process of their own, or fast, in this one."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unittest import mock

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = """\
[dataset]
name = "survey"

[attribute.age]
bins = [0, 18, 65, 120]

[attribute.sex]
values = ["1", "2"]
labels = ["male", "female"]

[attribute.town]
values = ["Ada", "Bath", "Cary"]
other = "elsewhere"
missing = "not said"
"""
COUNTED = """\
[dataset]
name = "cells"
count = "n"

[attribute.sex]
values = ["f", "m"]

[attribute.town]
values = ["Ada", "Bath"]
"""
HEADER = "id,age,sex,town,remark"
PEOPLE = [f"{i},{i * 7 % 110},{1 + i % 2},{('Ada', 'Bath', 'Cary')[i % 3]},none" for i in range(60)]
_MAIN = "from cuboid.cli import main; main()"


@dataclass(frozen=True)
class Answer:
    """What a command gave back."""

    code: int
    out: str
    err: str


def csv(*rows: str | bytes, header: str = HEADER) -> bytes:
    """A CSV file's bytes."""
    lines = [header, *rows]
    return b"".join((line if isinstance(line, bytes) else line.encode()) + b"\n" for line in lines)


def settled(home: Path) -> dict[str, str]:
    """An environment in which everything that is written lies under `home`."""
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL", "PYTHONPATH")}
    return kept | {
        "CUBOID_LEDGER": str(home / "ledger.sqlite"), "HOME": str(home), "XDG_STATE_HOME": str(home / "state"),
        "TMPDIR": str(home / "tmp"), "COLUMNS": "200", "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip


def run(home: Path, *arguments: object, before: str = "") -> Answer:
    """The command in a process of its own, in the folder `home`; `before` is code that runs first."""
    made = subprocess.run(
        [sys.executable, "-c", f"{before}\n{_MAIN}", *map(str, arguments)],
        cwd=home, env=settled(home), capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    return Answer(made.returncode, made.stdout.decode(), made.stderr.decode())


def call(home: Path, *arguments: object) -> Answer:
    """The same command in this process."""
    from cuboid.cli import main

    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(home),
        mock.patch.dict(os.environ, settled(home), clear=True),
        mock.patch.object(sys, "argv", ["cuboid", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        try:
            main()
        except SystemExit as done:
            return Answer(int(done.code or 0), out.getvalue(), err.getvalue())
    raise AssertionError("a command ends with a code")


def tree(folder: Path) -> dict[str, bytes]:
    """Every file under a folder, with its content."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
