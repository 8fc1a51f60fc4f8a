"""Arrow columns as text: every type that can stand for a category has one standard text.

Numbers: the shortest decimal that reads back, so 1.0 is 1. Booleans: true, false. Dates, times and decimals: ISO
text, without trailing zeros of a second. Bytes: UTF-8, with replacement characters where they are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def plain(array: Any) -> Any:
    """The array without extension and run-end wrappers."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    return array


def has_text(kind: Any) -> bool:
    """Whether columns of an Arrow type can be read as categories: nested ones cannot."""
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_run_end_encoded(kind) or pa.types.is_dictionary(kind):
        return has_text(kind.value_type)
    if pa.types.is_nested(kind) or kind == pa.month_day_nano_interval():
        return False
    return is_bytes(kind) or _can_be_cast(kind)


def _can_be_cast(kind: Any) -> bool:
    """Whether Arrow writes the type as text: found out on a value of our own, not on the first one of the data."""
    try:
        own = pa.nulls(1, kind)
        if pa.types.is_timestamp(kind):  # an unknown time zone fails on values alone
            own = pa.Array.from_buffers(pa.int64(), 1, [None, pa.py_buffer(bytes(8))]).cast(kind)
        texts(own)
    except (pa.ArrowException, ValueError, TypeError, NotImplementedError, OSError):
        return False
    return True


def nested_columns(kinds: Mapping[str, Any]) -> list[str]:
    """The columns that cannot be read as categories."""
    return [column for column, kind in kinds.items() if not has_text(kind)]


def type_name(kind: Any) -> str:
    """An Arrow type as text. A dictionary's has the type of its values alone: its width shows how many there are."""
    return f"dictionary<{kind.value_type}>" if pa.types.is_dictionary(kind) else str(kind)


def is_bytes(kind: Any) -> bool:
    """Whether an Arrow type holds text or bytes."""
    types = pa.types
    tests: tuple[Callable[[Any], bool], ...] = (
        types.is_string, types.is_large_string, types.is_binary, types.is_large_binary, types.is_fixed_size_binary,
        types.is_string_view, types.is_binary_view,
    )  # fmt: skip
    return any(test(kind) for test in tests)


def texts(values: Any) -> list[bytes | None]:
    """The standard text of each value of an array, as bytes; None for a null."""
    kind = values.type
    if is_bytes(kind):
        # as bytes: text from another program may be no valid UTF-8
        return list(_as_bytes(values).to_pylist())
    if pa.types.is_float16(kind):
        return [
            None if np.isnan(x) else str(x).removesuffix(".0").encode() for x in values.to_numpy(zero_copy_only=False)
        ]
    found = values.cast(pa.string()).cast(pa.binary()).to_pylist()
    if pa.types.is_floating(kind):
        return [None if text == b"nan" else text for text in found]
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return [None if text is None else _trim_second(text) for text in found]
    return list(found)


def _as_bytes(values: Any) -> Any:
    kind = values.type
    if pa.types.is_string_view(kind):
        return values.cast(pa.binary_view())
    if pa.types.is_large_string(kind):
        return values.cast(pa.large_binary())
    return values.cast(pa.binary()) if pa.types.is_string(kind) else values


def _trim_second(text: bytes) -> bytes:
    """The text of a time without zeros after the last digit of its second that matters."""
    zone = b"Z" if text.endswith(b"Z") else b""
    text = text.removesuffix(b"Z")
    return (text.rstrip(b"0").removesuffix(b".") if b"." in text else text) + zone
