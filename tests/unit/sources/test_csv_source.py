import gzip
import subprocess
import sys

import pyarrow as pa
import pytest

from cuboid.errors import SourceError
from cuboid.sources import csv_block, open_source
from cuboid.sources.csv import CsvSource
from cuboid.sources.csv_record import LONGEST, read_record


@pytest.fixture
def rows_of(tmp_path):
    """The rows that a text is read as, in a fixed order, whatever the size of the blocks; null is None."""

    def read(text, *, name="people.csv", blocks=(5, 64, 4 * 2**20)):
        file = tmp_path / name
        file.write_bytes(text)
        answers = []
        for block in blocks:
            source = CsvSource(file, block=block)
            found = []
            for batch in source.batches(source.header):
                columns = [column.to_pylist() for column in batch.columns]
                found += list(zip(*columns, strict=True))
            answers.append(sorted(found, key=repr))
        assert all(answer == answers[0] for answer in answers)
        return answers[0]

    return read


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (b"a,b\n1,2\n3,4\n", [(b"1", b"2"), (b"3", b"4")]),
        (b"a,b\n1,2\n3,4", [(b"1", b"2"), (b"3", b"4")]),
        (b"a,b\r\n1,2\r\n", [(b"1", b"2")]),
        (b"\xef\xbb\xbfa,b\n1,2\n", [(b"1", b"2")]),
        (b'"a","b"\n"1","2"\n', [(b"1", b"2")]),
        (b'a,b\n"1,5","say ""hi"""\n', [(b"1,5", b'say "hi"')]),
        (b'a,b\n"",""\n', [(b"", b"")]),
        (b'a,b\n"1\n2",3\r\n"4\r\n5",6', [(b"1\n2", b"3"), (b"4\r\n5", b"6")]),
        (b"a,b\nNA,None\nnan,NULL\n", [(b"NA", b"None"), (b"nan", b"NULL")]),
        (b"a,b\n1\n\n1,2,3\n", [(b"1", None), (b"1", b"2")]),
        (b"a,b\n\r\n \n", [(b" ", None)]),
        (b"a\n1\n\n2\n", [(b"",), (b"1",), (b"2",)]),
        (b"a,b\n", []),
        (b"a,b", []),
        (b"a,b\n\xff\xfe,\x00\n", [(b"\xff\xfe", b"\x00")]),
        (b"a,b\n1\r2,3\n", [(b"1\r2", b"3")]),
        (b'a,b\n1"2,3\n', [(b'1"2', b"3")]),
    ],
)
def test_ordinary_and_odd_texts(rows_of, text, rows):
    """Quotes, line ends, marks, short, long and blank rows are read as the rules say, for any size of block."""
    assert rows_of(text) == rows


@pytest.mark.parametrize("broken", [b'"x,1', b'x,"1', b'"x"y,1', b'"', b'"""', b'x,"1""', b'"x,1,2,3', b'",'])
def test_an_unclosed_quote_costs_its_own_line_alone(rows_of, broken):
    """After a line whose quote does not close, the next line starts afresh; the line's fields are literal."""
    found = rows_of(b'a,b\n1,"2"\n' + broken + b'\n3,"4"\n5,6\n')
    literal = tuple([*broken.split(b","), None][:2])
    assert found == sorted([(b"1", b"2"), (b"3", b"4"), (b"5", b"6"), literal], key=repr)


def test_a_quoted_field_over_lines_must_have_the_headers_fields(rows_of):
    """A quote that closes lines later in a record of another width is broken: each line is a row again."""
    assert rows_of(b'a,b\n"1\n2",3,4\n') == [(b'"1', None), (b'2"', b"3")]


@pytest.mark.parametrize("more", [-3, -2, -1, 0, 1])
@pytest.mark.parametrize("end", [b"", b"\n", b"\n1,2\n"])
def test_a_record_over_lines_has_a_longest_length(rows_of, more, end):
    """Up to a mebibyte a record may span lines; the limit is the same for any size of block."""
    text = b'"\n' + b"x" * (LONGEST - 5 + more) + b'",2'
    found = rows_of(b"a,b\n" + text + end, blocks=(LONGEST // 3, LONGEST - 1, LONGEST + 7, 4 * LONGEST))
    spans = len(text) < LONGEST
    assert len(found) == (1 if spans else 2) + (end == b"\n1,2\n")


def test_more_text_is_asked_for_only_where_it_matters():
    """A record is settled from part of the text only when no further text could change it."""
    assert read_record(b'"a\nb', 0, delimiter=b",", fields=1, last=False) is None
    assert read_record(b'"a\nb"', 0, delimiter=b",", fields=1, last=False) is None
    assert read_record(b'"a\nb"', 0, delimiter=b",", fields=1, last=True).fields == [b"a\nb"]
    assert read_record(b'"a\nb"\n', 0, delimiter=b",", fields=1, last=False).fields == [b"a\nb"]


def test_tabs_and_gzip(rows_of):
    """A .tsv file is cut at tabs; gzip is known by its first bytes."""
    assert rows_of(b"a\tb\n1,5\t2\n", name="people.tsv") == [(b"1,5", b"2")]
    assert rows_of(gzip.compress(b"a,b\n1,2\n"), name="people.csv.gz") == [(b"1", b"2")]
    assert rows_of(gzip.compress(b"a\tb\n1\t2\n"), name="people.tsv.gz") == [(b"1", b"2")]


def test_a_refusal_by_the_fast_parser_is_not_the_files(rows_of, monkeypatch):
    """Should Arrow's parser refuse lines that are plain, they are read one by one instead."""

    def refuse(*_, **__):
        raise pa.ArrowInvalid("canary")

    monkeypatch.setattr(csv_block.arrow_csv, "read_csv", refuse)
    assert rows_of(b'a,b\n1,"2"\n\n3,4\n5\n') == [(b"1", b"2"), (b"3", b"4"), (b"5", None)]


def test_columns_are_chosen_in_the_asked_order_and_batches_are_bounded(tmp_path):
    """Only the asked columns are read, and no batch is longer than asked."""
    file = tmp_path / "people.csv"
    file.write_bytes(b"a,b,c\n" + b"1,2,3\n" * 1000)
    batches = list(open_source(file).batches(["c", "a"], rows=300))
    assert [batch.num_rows for batch in batches] == [300, 300, 300, 100]
    assert {tuple(batch.schema.names) for batch in batches} == {("c", "a")}


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,a\n1,2\n", "more than one column named a"),
        (b"a,,c\n1,2,3\n", "column without a name"),
        (b'"","a"\n', "row.names"),
        (b"a,b\x00\n1,2\n", "neither CSV in UTF-8 nor Parquet"),
        ("a,b\n".encode("utf-16"), "neither CSV in UTF-8 nor Parquet"),
        (b"\xe9ge,b\n", "not UTF-8"),
        (b'a,"b\n1,2\n', "quote that is not closed"),
        (b"x" * (LONGEST + 10), "longer than"),
        (gzip.compress(b"a,b\n1,2\n")[:12], "cannot be read"),
    ],
)
def test_a_header_that_cannot_be_used_is_refused(tmp_path, content, rule):
    """A header's faults are named, with the file, before any row is read."""
    file = tmp_path / "people.csv"
    file.write_bytes(content)
    with pytest.raises(SourceError, match=rule) as refusal:
        open_source(file)
    assert "people.csv" in str(refusal.value)


def test_a_file_cut_short_has_one_fixed_text(tmp_path):
    """A damaged archive is refused in the same words whatever was in it."""
    texts = set()
    for value in (b"canary-one", b"canary-two-and-more"):
        file = tmp_path / "people.csv.gz"
        packed = gzip.compress(b"a,b\n" + b"".join(value + b"%d,2\n" % i for i in range(20_000)))
        file.write_bytes(packed[:-40])
        with pytest.raises(SourceError) as refusal:
            list(CsvSource(file, block=1000).batches(["a"]))
        texts.add(str(refusal.value))
    assert len(texts) == 1
    assert "canary" not in texts.pop()


def test_a_column_that_is_not_there_is_refused(tmp_path):
    """Asking for a column outside the header lists the header."""
    file = tmp_path / "people.csv"
    file.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(SourceError, match="no column c: their columns are a, b"):
        open_source(file).batches(["c"])


_MEASURE = """
import resource, sys
from cuboid.counting import count_rows
from cuboid.domain import Attribute, Domain, Schema
from cuboid.sources import open_source
schema = Schema(name="m", domain=Domain(tuple(Attribute(name=n, values=("0", "1", "2")) for n in "abcdef")))
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
for _ in range(3):  # the allocator settles
    count_rows(open_source(sys.argv[1]), schema, [(0, 1)])
before = peak()
count_rows(open_source(sys.argv[2]), schema, [(0, 1), (2, 3, 4)])
print(peak() - before)
"""


def grown(small, large):
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", _MEASURE, str(small), str(large)],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(answer.stdout)


def test_memory_does_not_grow_with_the_file(tmp_path):
    """A million rows need no more memory than the first block did, up to a small allowance."""
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    block = b"0,1,2,some text here,1,2\n" * 500_000
    small.write_bytes(b"a,b,c,d,e,f\n" + block)
    with large.open("wb") as stream:
        stream.write(b"a,b,c,d,e,f\n")
        for _ in range(4):
            stream.write(block)
    assert grown(small, large) < 25


def test_a_huge_field_needs_a_small_multiple_of_its_size(tmp_path):
    """A field of 60 MB is one row like any other."""
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    small.write_bytes(b"a,b,c,d,e,f\n" + b"0,1,2,0,1,2\n" * 500_000)
    large.write_bytes(b"a,b,c,d,e,f\n0,1,2,0,1,2\n0,1," + b"x" * 60_000_000 + b",1,1,1\n")
    assert grown(small, large) < 60 * 5


def test_names_load_neither_arrow_nor_duckdb(tmp_path):
    """Opening a CSV and reading its header loads no heavy library: help stays quick."""
    file = tmp_path / "people.csv"
    file.write_bytes(b"a,b\n1,2\n")
    code = (
        "import sys, cuboid.counting, cuboid.sources as s; source = s.open_source(sys.argv[1]); "
        "s.draft_schema(source, name='n', public=False); "
        "print([m for m in ('pyarrow', 'duckdb', 'pandas') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
