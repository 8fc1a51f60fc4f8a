"""Where the ledger is: its path, and a private file made there."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from cuboid.errors import LedgerError


def location(path: str | Path | None = None) -> Path:
    """The path given, else $CUBOID_LEDGER, else ledger.sqlite in the user's state folder (XDG)."""
    chosen = path or os.environ.get("CUBOID_LEDGER")
    state = os.environ.get("XDG_STATE_HOME", "")
    try:
        if chosen:
            return Path(chosen).expanduser().absolute()
        # The XDG rule: a relative path there is as good as none.
        folder = Path(state) if Path(state).is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:
        raise LedgerError("the ledger has no place, for there is no home folder: set CUBOID_LEDGER") from None
    return folder / "cuboid" / "ledger.sqlite"


def is_blank(path: Path) -> bool:
    """Whether nothing was ever written there."""
    try:
        return path.stat().st_size == 0
    except (FileNotFoundError, NotADirectoryError):
        return True


def make_private(path: Path) -> None:
    """Make missing folders (0700) and an empty file (0600), unless they are there."""
    for folder in reversed([folder for folder in path.parents if not folder.exists()]):
        folder.mkdir(mode=0o700, exist_ok=True)
    if path.exists():
        return
    # Made under another name and closed before it appears: closing a file drops every lock that this process has on
    # it, so no thread may find it before. Where links are not to be had, SQLite makes the file.
    handle, name = tempfile.mkstemp(prefix=".ledger-", dir=path.parent)
    os.close(handle)
    try:
        with suppress(OSError):
            path.hardlink_to(name)
    finally:
        Path(name).unlink()
