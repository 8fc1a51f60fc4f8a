"""CSV and TSV files, plain or gzipped, streamed.

The first line is the header. Values are text: nothing is guessed and nothing but emptiness is special. Lines end in
LF or CRLF; a byte order mark is skipped. Whatever a row holds, every other row is read the same: short rows lack
their last values, which are nulls; values beyond the header are ignored; a blank line is no row, or an empty value
where the header has one column; `csv_record` has the rules of quotes.
"""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING, Any, cast

from cuboid.errors import SourceError
from cuboid.sources.csv_record import LONGEST, Record, read_record
from cuboid.sources.source import ROWS, UNREADABLE, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

_BLOCK = 4 * 2**20
_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_TABS = (".tsv", ".tab")


class CsvSource(Source):
    """A CSV or TSV file."""

    __slots__ = ("_block", "_delimiter", "_file")

    def __init__(self, file: Path, *, block: int = _BLOCK) -> None:
        self._file, self._block = file, block
        suffixes = [suffix.lower() for suffix in file.suffixes]
        self._delimiter = b"\t" if any(suffix in _TABS for suffix in suffixes[-2:]) else b","
        with open_bytes(file) as stream:
            record, _ = self._header(stream)
        names = self._names(record)
        if len(names) == 1 and any(mark in names[0] for mark in (";", "\t", "|", ",")):
            raise SourceError(
                f"{file} has one column, {names[0]!r}: separate columns by commas, or by tabs in a .tsv file"
            )
        super().__init__(
            kind="csv", path=str(file.resolve()), header=names, types=dict.fromkeys(names), name=f"the header of {file}"
        )

    def batches(self, columns: Sequence[str], *, rows: int = ROWS) -> Iterator[Any]:
        self._check_columns(columns)
        return self._stream(tuple(columns), rows)

    def _stream(self, columns: tuple[str, ...], rows: int) -> Iterator[Any]:
        try:
            for batch in self._blocks(columns):
                for start in range(0, batch.num_rows, rows):
                    yield batch.slice(start, rows)
        except Exception:  # noqa: BLE001 - the system, gzip or Arrow: the message may hold a value
            pass
        else:
            return
        raise SourceError(UNREADABLE)

    def _blocks(self, columns: tuple[str, ...]) -> Iterator[Any]:
        from cuboid.sources.csv_block import Layout, parse_block  # loads pyarrow, which the header can do without

        wanted = tuple(self.header.index(column) for column in columns)
        layout = Layout(delimiter=self._delimiter, fields=len(self.header), wanted=wanted, names=columns)
        with open_bytes(self._file) as stream:
            record, text = self._header(stream)
            text = text[record.end :]
            last = False
            while text or not last:
                text, last = self._next(stream, text)
                whole = text.rfind(b"\n") + 1
                if whole:
                    batches, used = parse_block(text, whole, layout, last=last)
                    text = text[used:]
                    yield from batches

    def _next(self, stream: BinaryIO, text: bytes) -> tuple[bytes, bool]:
        """The text with at least one more line end, and whether it is the file's last. Linear in a line's length."""
        pieces = [text]
        while True:
            more = stream.read(self._block)
            pieces.append(more)
            if not more or b"\n" in more:
                joined = b"".join(pieces)
                return (joined, False) if more else (_ended(joined), True)

    def _header(self, stream: BinaryIO) -> tuple[Record, bytes]:
        """The header's record, and the text read so far without the byte order mark."""
        text, last = b"", False
        while True:
            more = self._first(stream)
            last = not more
            text = (text + more).removeprefix(_BOM)
            if last or b"\n" in text or len(text) > LONGEST:
                self._check_text(text)
                line = _ended(text[: text.find(b"\n") + 1] if b"\n" in text else text)
                record = read_record(line, 0, delimiter=self._delimiter, fields=None, last=True)
                assert record is not None  # the line is whole
                return record, text

    def _first(self, stream: BinaryIO) -> bytes:
        try:
            return stream.read(self._block)
        except (OSError, EOFError, zlib.error):
            pass
        raise SourceError(f"{self._file} cannot be read: check that the file is whole and that you may read it")

    def _check_text(self, text: bytes) -> None:
        line = text.split(b"\n", 1)[0]
        if not text.strip():
            raise SourceError(f"{self._file} is empty: its first line must name the columns")
        if b"\0" in line or line.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise SourceError(f"{self._file} is neither CSV in UTF-8 nor Parquet: save it as one of them")
        if len(line) > LONGEST:
            raise SourceError(
                f"the header of {self._file} is longer than {LONGEST:,} bytes: its first line must name the columns"
            )

    def _names(self, record: Record) -> tuple[str, ...]:
        if record.broken:
            raise SourceError(f"the header of {self._file} has a quote that is not closed: close it or take it out")
        try:
            return tuple(field.decode("utf-8").strip() for field in record.fields)
        except UnicodeDecodeError:
            pass
        raise SourceError(f"the header of {self._file} is not UTF-8 text: save the file as UTF-8")


def open_bytes(file: Path) -> BinaryIO:
    """A file's bytes, unpacked if it is gzipped."""
    with file.open("rb") as stream:
        packed = stream.read(len(_GZIP)) == _GZIP
    return cast("BinaryIO", gzip.open(file)) if packed else file.open("rb")


def _ended(text: bytes) -> bytes:
    return text if not text or text.endswith(b"\n") else text + b"\n"
