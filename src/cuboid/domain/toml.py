"""Schema files: TOML in and out, without loss. The standard library reads TOML but does not write it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")


def key(name: str) -> str:
    """A TOML key, quoted where it must be."""
    return name if _BARE_KEY.match(name) else text(name)


def text(value: str) -> str:
    """A TOML basic string. JSON's escapes are TOML's, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def value(item: Any) -> str:
    """A TOML value: string, number, boolean, array or inline table."""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str):
        return text(item)
    if isinstance(item, float) and item.is_integer() and abs(item) < 2**53:
        return str(int(item))
    if isinstance(item, int | float):
        return repr(item)
    if isinstance(item, dict):
        return "{" + ", ".join(f"{key(name)} = {value(entry)}" for name, entry in item.items()) + "}"
    return "[" + ", ".join(value(entry) for entry in item) + "]"


def lines(entries: Mapping[str, Any]) -> list[str]:
    """Entries, a line each."""
    return [f"{key(name)} = {value(entry)}" for name, entry in entries.items()]


def section(header: str, entries: Mapping[str, Any]) -> str:
    """One [header] with its entries."""
    return "\n".join([f"[{header}]", *lines(entries), ""])
