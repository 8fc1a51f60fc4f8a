"""Blocks of CSV: the plain lines are found by array arithmetic and go to Arrow's parser together; the others are few.

A line is plain if its quotes, if any, open and close properly on it, it has exactly the header's number of fields,
its only carriage return is before its line end, and it is not huge. On such lines all parsers agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from cuboid.sources.buffers import binary
from cuboid.sources.csv_record import LONGEST, read_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_BOM = b"\xef\xbb\xbf"
_LINE, _RETURN, _QUOTE = b"\n"[0], b"\r"[0], b'"'[0]
_DICTIONARY = pa.dictionary(pa.int32(), pa.binary())


@dataclass(frozen=True, slots=True, repr=False)
class Lines:
    """Where the lines of a block start and end (after the line end), and which of them are plain."""

    starts: NDArray[np.intp]
    ends: NDArray[np.intp]
    plain: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A file's delimiter and number of fields, and the positions and names of the wanted columns."""

    delimiter: bytes
    fields: int
    wanted: tuple[int, ...]
    names: tuple[str, ...]


def parse_block(text: bytes, whole: int, layout: Layout, *, last: bool) -> tuple[list[Any], int]:
    """Record batches of the first `whole` bytes, which are whole lines, and how many bytes they used.

    Fewer are used where a record needs more text to tell where it ends. Plain rows come first: order says nothing
    in a table of counts.
    """
    lines = find_lines(text[:whole], layout)
    odd = np.flatnonzero(~lines.plain)
    if not odd.size:
        return [_plain_rows(text[:whole], layout)] if whole else [], whole
    rows, used = _odd_rows(text, whole, lines, odd, layout, last=last)
    taken = int(np.searchsorted(lines.starts, used))
    plain = lines.plain[:taken]
    body = b"".join(_runs(text, lines, plain))
    batches = [_plain_rows(body, layout)] if body else []
    return batches + ([_odd_batch(rows, layout)] if rows else []), used


def find_lines(text: bytes, layout: Layout) -> Lines:
    """The lines of a text that ends with a line end."""
    data = np.frombuffer(text, dtype=np.uint8)
    delimiter = layout.delimiter[0]
    marks = (data == delimiter) | (data == _LINE)
    quoted = b'"' in text
    if quoted:
        marks |= data == _QUOTE
    places = np.flatnonzero(marks)
    kinds = data[places]
    last_marks = np.flatnonzero(kinds == _LINE)
    ends = places[last_marks] + 1
    starts = np.concatenate([np.zeros(1, dtype=np.intp), ends[:-1]]) if ends.size else ends
    if quoted:
        plain = _plain_quoted(data, places, kinds, last_marks, layout)
    else:
        plain = np.diff(last_marks, prepend=-1) == layout.fields
    plain &= ends - starts <= LONGEST
    if _BOM in text:  # Arrow takes it off the front of what it is given, so it must never begin a stretch of lines
        plain &= ~np.array([text.startswith(_BOM, start) for start in starts.tolist()], dtype=bool)
    if b"\r" in text:
        returns = np.flatnonzero(data == _RETURN)
        plain[np.searchsorted(ends, returns[data[returns + 1] != _LINE], side="right")] = False
    return Lines(starts, ends, plain)


def _plain_quoted(
    data: NDArray[np.uint8],
    places: NDArray[np.intp],
    kinds: NDArray[np.uint8],
    last_marks: NDArray[np.intp],
    layout: Layout,
) -> NDArray[np.bool_]:
    """Which lines have properly placed quotes and, outside them, the right number of delimiters.

    On a line, quotes open and close in turn; a doubled quote inside a field is a close and an open side by side.
    """
    delimiter = layout.delimiter[0]
    quote = kinds == _QUOTE
    so_far = np.cumsum(quote, dtype=np.int32)
    at_line_end = so_far[last_marks]
    before = np.concatenate([np.zeros(1, dtype=np.int32), at_line_end[:-1]])
    inside = (((so_far - quote) - np.repeat(before, np.diff(last_marks, prepend=-1))) & 1).astype(np.bool_)

    quotes, closes = places[quote], inside[quote]
    left, right = data[quotes - 1], data[quotes + 1]  # the text ends with a line end, so both ends are in range
    opens_well = (left == delimiter) | (left == _LINE) | (left == _QUOTE)
    closes_well = (right == delimiter) | (right == _LINE) | (right == _QUOTE)
    returns = np.flatnonzero(right == _RETURN)
    closes_well[returns] = data[quotes[returns] + 2] == _LINE
    wrong = np.zeros(len(places), dtype=np.bool_)
    wrong[quote] = ~np.where(closes, closes_well, opens_well)

    plain: NDArray[np.bool_] = _per_line((kinds == delimiter) & ~inside, last_marks) == layout.fields - 1
    plain &= _per_line(wrong, last_marks) == 0
    plain &= (at_line_end - before) % 2 == 0
    return plain


def _per_line(marked: NDArray[np.bool_], last_marks: NDArray[np.intp]) -> NDArray[np.int32]:
    return np.diff(np.cumsum(marked, dtype=np.int32)[last_marks], prepend=np.int32(0))


def _odd_rows(
    text: bytes, whole: int, lines: Lines, odd: NDArray[np.intp], layout: Layout, *, last: bool
) -> tuple[list[list[bytes]], int]:
    """The odd records, in order. Plain lines that turn out to be inside one of them lose their mark."""
    rows: list[list[bytes]] = []
    at = 0
    for line in odd.tolist():
        start = int(lines.starts[line])
        if start < at:
            continue
        record = read_record(text, start, delimiter=layout.delimiter, fields=layout.fields, last=last)
        if record is None or record.end > whole:
            return rows, start
        at = record.end
        lines.plain[line : int(np.searchsorted(lines.starts, at))] = False
        if layout.fields == 1 or record.fields != [b""]:  # a blank line is no row where rows have several fields
            rows.append(record.fields)
    return rows, whole


def _runs(text: bytes, lines: Lines, plain: NDArray[np.bool_]) -> Iterator[bytes]:
    """Stretches of plain lines."""
    turns = np.flatnonzero(np.diff(plain.astype(np.int8), prepend=0, append=0))
    for first, stop in zip(turns[::2].tolist(), turns[1::2].tolist(), strict=True):
        yield text[int(lines.starts[first]) : int(lines.ends[stop - 1])]


def _plain_rows(body: bytes, layout: Layout) -> Any:
    """Plain lines as a batch: should Arrow refuse one after all, they are read one by one, and no file is refused."""
    try:
        return _plain_batch(body, layout)
    except pa.ArrowInvalid:
        pass
    rows, at = [], 0
    while at < len(body):
        record = read_record(body, at, delimiter=layout.delimiter, fields=layout.fields, last=True)
        assert record is not None  # the text ends here
        rows.append(record.fields)
        at = record.end
    return _odd_batch(rows, layout)


def _plain_batch(body: bytes, layout: Layout) -> Any:
    """Plain lines as a batch. No value is a null, no type is guessed: everything is bytes."""
    names = [str(i) for i in range(layout.fields)]
    wanted = [names[i] for i in layout.wanted]
    table = arrow_csv.read_csv(
        pa.BufferReader(body),
        read_options=arrow_csv.ReadOptions(use_threads=False, block_size=len(body) + 1, column_names=names),
        parse_options=arrow_csv.ParseOptions(
            delimiter=layout.delimiter.decode(), newlines_in_values=False, ignore_empty_lines=False
        ),
        convert_options=arrow_csv.ConvertOptions(
            check_utf8=False,
            column_types=dict.fromkeys(names, _DICTIONARY),
            include_columns=wanted,
            null_values=[],
            strings_can_be_null=False,
            quoted_strings_can_be_null=False,
        ),
    )
    columns = [column.combine_chunks() for column in table.columns]
    columns = [column.chunk(0) if isinstance(column, pa.ChunkedArray) else column for column in columns]
    return pa.RecordBatch.from_arrays(columns, names=list(layout.names))


def _odd_batch(rows: Sequence[list[bytes]], layout: Layout) -> Any:
    """Odd rows as a batch. A short row lacks its last fields: nulls. Fields beyond the header's are ignored."""
    columns = [binary([row[i] if i < len(row) else None for row in rows]) for i in layout.wanted]
    return pa.RecordBatch.from_arrays(columns, names=list(layout.names))
