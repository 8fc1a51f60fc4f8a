"""One CSV record at a time, by rules under which no field can harm another record.

A record is a line. A field that begins with a quote ends with a quote that stands before a delimiter or the line's
end; inside it a doubled quote is a quote, and delimiters and line ends are text. A record may span lines only if all
its quotes close so, it has exactly the header's number of fields, and it is no longer than LONGEST bytes. Otherwise
its first line alone is the record, split at each delimiter with quotes as they stand, and the next line starts
afresh: an unclosed quote costs one row, never the rest of the file.
"""

from __future__ import annotations

from dataclasses import dataclass

LONGEST = 2**20
QUOTE = b'"'


@dataclass(frozen=True, slots=True, repr=False)
class Record:
    """The fields of a record, where the next one starts, and whether its quotes are broken."""

    fields: list[bytes]
    end: int
    broken: bool = False


def read_record(text: bytes, start: int, *, delimiter: bytes, fields: int | None, last: bool) -> Record | None:
    """The record that starts at a line's start; None where more text is needed to tell (never when `last`).

    `text` holds the whole first line; `fields` is the header's number of fields, None for the header itself.
    """
    line_end = text.find(b"\n", start)
    line_end = len(text) if line_end < 0 else line_end
    line = _without_return(text[start:line_end])
    after = min(line_end + 1, len(text))
    if QUOTE not in line:
        return Record(line.split(delimiter), after)
    alone = _quoted(line, delimiter)
    if alone is not None:
        return Record(alone, after)
    if not _opens(line, delimiter):
        return Record(line.split(delimiter), after, broken=True)
    several = _Spanning(text, start, delimiter, fields, last=last).read()
    if several is not None:
        return several
    if len(text) <= start + LONGEST and not last:
        return None
    return Record(line.split(delimiter), after, broken=True)


def _without_return(line: bytes) -> bytes:
    return line[:-1] if line.endswith(b"\r") else line


def _quoted(line: bytes, delimiter: bytes) -> list[bytes] | None:
    """The fields of a line whose quotes all open and close properly; None where one does not."""
    fields, at, size = [], 0, len(line)
    while True:
        if line[at : at + 1] == QUOTE:
            end = closing(line, at + 1, size)
            if end < 0 or (end + 1 < size and line[end + 1 : end + 2] != delimiter):
                return None
            fields.append(line[at + 1 : end].replace(b'""', b'"'))
            at = end + 1
        else:
            end = line.find(delimiter, at)
            end = size if end < 0 else end
            fields.append(line[at:end])
            at = end
        if at >= size:
            return fields
        at += 1


def _opens(line: bytes, delimiter: bytes) -> bool:
    """Whether a field of the line begins with a quote that does not close on it."""
    at, size = 0, len(line)
    while at < size:
        if line[at : at + 1] == QUOTE:
            end = closing(line, at + 1, size)
            if end < 0:
                return True
            if end + 1 < size and line[end + 1 : end + 2] != delimiter:
                return False
            at = end + 2
        else:
            end = line.find(delimiter, at)
            at = size if end < 0 else end + 1
    return False


def closing(text: bytes, at: int, limit: int) -> int:
    """Where the quote stands that closes a field whose content starts at `at`: the first one not doubled, or -1."""
    while True:
        at = text.find(QUOTE, at, limit)
        if at < 0 or text[at + 1 : min(at + 2, limit)] != QUOTE:
            return at
        at += 2


class _Spanning:
    """A record over several lines, in the text before `limit`.

    What is found must not depend on how much text happens to be there: a field that reaches the end of the text
    counts as ended only where that is the end of the file, and is within the longest record either way.
    """

    __slots__ = ("_delimiter", "_fields", "_last", "_limit", "_longest", "_start", "_text")

    def __init__(self, text: bytes, start: int, delimiter: bytes, fields: int | None, *, last: bool) -> None:
        self._text, self._start, self._delimiter, self._fields, self._last = text, start, delimiter, fields, last
        self._longest = start + LONGEST
        self._limit = min(self._longest, len(text))

    def read(self) -> Record | None:
        """The record, if it closes properly within the limit and has the right number of fields."""
        found: list[bytes] = []
        at = self._start
        while self._fields is None or len(found) < self._fields:
            span = self._field(at)
            if span is None:
                return None
            found.append(span[0])
            step = self._step(span[1])
            if step == 0:
                return None
            at = span[1] + step
            if self._text[span[1] : span[1] + 1] != self._delimiter:
                whole = self._fields is None or len(found) == self._fields
                return Record(found, min(at, len(self._text))) if whole else None
        return None

    def _field(self, at: int) -> tuple[bytes, int] | None:
        """A field, and where it ends."""
        text, limit = self._text, self._limit
        if text[at : at + 1] == QUOTE:
            end = closing(text, at + 1, limit)
            return None if end < 0 else (text[at + 1 : end].replace(b'""', b'"'), end + 1)
        line = text.find(b"\n", at, limit)
        line = limit if line < 0 else line
        end = text.find(self._delimiter, at, line)
        if end >= 0:
            return text[at:end], end
        end = line - 1 if line > at and text[line - 1 : line] == b"\r" else line
        return text[at:end], end

    def _step(self, at: int) -> int:
        """How many bytes of delimiter or line end follow a field; 0 where neither does."""
        if at >= self._longest:
            return 0
        if at >= len(self._text):
            return int(self._last)
        if self._text[at : at + 1] in (self._delimiter, b"\n"):
            return 1
        return 2 if self._text[at : at + 2] == b"\r\n" else 0
