"""Python objects as text: the standard text that the same value has in a file."""

from __future__ import annotations

import math
from datetime import datetime, time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

_NO_TEXT = "\ufffd".encode()


def object_texts(values: Iterable[Any]) -> list[bytes | None]:
    """The standard text of each object, as bytes; None for a null. No object is refused."""
    return [object_text(value) for value in values]


def object_text(value: Any) -> bytes | None:
    """The standard text of an object: an object that cannot say what it is has one that nobody declares."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "replace")
    if isinstance(value, bytes):
        return value
    try:
        return _other(value)
    except Exception:  # noqa: BLE001 - the object's own code may raise anything, with any text
        return _NO_TEXT


def _other(value: Any) -> bytes | None:
    if isinstance(value, bool | np.bool_):
        return b"true" if value else b"false"
    if isinstance(value, float | np.floating):
        return None if math.isnan(value) else str(value).removesuffix(".0").encode()
    if type(value).__name__ in ("NAType", "NaTType"):  # pandas' own nulls, without importing pandas
        return None
    if isinstance(value, np.datetime64 | np.timedelta64) and np.isnat(value):
        return None
    if isinstance(value, datetime):
        return _second(value.isoformat(" "))
    if isinstance(value, time):
        return _second(value.isoformat())
    return str(value).encode("utf-8", "replace")


def _second(text: str) -> bytes:
    text = text.replace("+00:00", "Z")
    zone = "Z" if text.endswith("Z") else ""
    text = text.removesuffix("Z")
    return ((text.rstrip("0") if "." in text else text) + zone).encode()
