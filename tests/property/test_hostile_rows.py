"""One hostile row, whatever it holds, changes no other row and no table by more than one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuboid.counting import count_rows
from cuboid.domain import Attribute, Domain, Schema
from cuboid.sources.csv import CsvSource
from cuboid.sources.csv_record import read_record

SCHEMA = Schema(
    name="hostile",
    domain=Domain(
        (
            Attribute(name="a", values=("1", "2", "3")),
            Attribute(name="b", values=("x", "y", "z,w", 'q"r', "m\nn"), missing="?"),
            Attribute(name="c", bins=(0, 10, 20), other="o"),
        )
    ),
)
CUBOIDS = [(0, 1, 2), (0,), (1, 2)]
TEXTS = [b"x", b'"y"', b'"z,w"', b'"q""r"', b'"m\nn"', b""]
RNG = np.random.default_rng(11)
CLEAN = [b"%d,%s,%d" % (RNG.integers(1, 4), TEXTS[RNG.integers(0, 6)], RNG.integers(0, 25)) for _ in range(100)]

HOSTILE = [
    b"", b"   ", b"1", b"1,x", b"1,x,3,4,5", b",,", b",", b'"1,x,3', b'1,"x,3', b'1,x,"3', b'1,x,3"', b'"', b'""',
    b'"""', b'""""',
    b'1,x"y,z",3', b'1"2,"x",3"',
    b'1,""x,3', b'1,"x"y,3', b'1," x",3', b'","', b'",",","', b'1,"a\nb,3', b'1,"a\nb",3,4', b'"\n\n\n',
    b"1,\xff\xfe,3", b"\xc3(,x,3",
    b"\x00", b"1,x\x00,3", b"1\x00,\x00,\x003", b"\x1a", b"NA,NaN,None", b"nan,inf,-inf", b"NULL,null,\\N", b"-0,x,-0",
    b"1,x,-0.0",
    b"1e99999999999,x,1e-9999999999", b"9" * 400 + b",x," + b"9" * 400, b"1,x,1e400", b"1,x,0x10", b"1,x,1_0",
    b"1,x,2020-02-30",
    b"1,x\r,3", b"\r", b"1\r2", b"1,x,3\r\r", b"\xef\xbb\xbf1,x,3", "１,x,٣".encode(), "1\u2028,x,3".encode(), b"1;x;3",
    b"1\tx\t3",
    b"#1,x,3", b"=cmd(),x,3", b"\\,x,3", b'1,\\"x,3', b"'1',x,3", b"a,b,c",
    b"1,x," + b"3" * 70_000, b'"' + b"y" * 70_000,
]  # fmt: skip


def tables(folder, lines, *, block=4 * 2**20, end=b"\n"):
    file = folder / "people.csv"
    file.write_bytes(end.join([b"a,b,c", *lines, b""]))
    exact = count_rows(CsvSource(file, block=block), SCHEMA, CUBOIDS)
    return [exact.open_at_the_gate(cuboid) for cuboid in CUBOIDS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def clean(folder):
    return tables(folder, CLEAN)


def check(clean, changed):
    for before, after in zip(clean, changed, strict=True):
        more = after - before
        assert after.dtype == np.int64
        assert more.min() >= 0
        assert more.sum() <= 1


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("place", [0, 50, 100])
def test_a_hostile_row_adds_itself_at_most(folder, clean, hostile, place):
    """No exception; every other row is counted as before; each table changes by one row at most."""
    lines = [*CLEAN[:place], hostile, *CLEAN[place:]]
    for block in (4 * 2**20, 97):
        check(clean, tables(folder, lines, block=block))


def test_windows_line_ends_change_nothing(folder):
    """LF and CRLF give the same tables."""
    lines = [line for line in CLEAN if b"\n" not in line]
    for one, other in zip(tables(folder, lines), tables(folder, lines, end=b"\r\n"), strict=True):
        assert np.array_equal(one, other)


PIECES = st.lists(
    st.sampled_from([b'"', b",", b"\r", b"x", b"1", b" ", b"\x00", b"\xff", b'""', b'",', b',"']), max_size=9
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(pieces=PIECES, place=st.integers(0, 100))
def test_any_line_of_awkward_bytes_adds_itself_at_most(folder, clean, pieces, place):
    """Every line made of quotes, delimiters, returns and bad bytes leaves the others alone."""
    check(clean, tables(folder, [*CLEAN[:place], b"".join(pieces), *CLEAN[place:]]))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    pieces=st.lists(st.sampled_from([b'"', b",", b"\n", b"\r\n", b"x", b'""', b'","', b'"\n"']), max_size=40),
    block=st.integers(1, 40),
)
def test_the_size_of_the_blocks_never_matters(folder, pieces, block):
    """Any text whatever gives the same tables for every size of block."""
    for one, other in zip(tables(folder, pieces, block=block), tables(folder, pieces), strict=True):
        assert np.array_equal(one, other)


def one_by_one(text, fields):
    """The records of a text, each read by itself."""
    rows, at = [], 0
    text = text if text.endswith(b"\n") or not text else text + b"\n"
    while at < len(text):
        record = read_record(text, at, delimiter=b",", fields=fields, last=True)
        at = record.end
        if fields == 1 or record.fields != [b""]:
            rows.append(tuple((record.fields + [None] * fields)[:fields]))
    return rows


WHOLE = [
    b'x"y,z"', b'x"y,z",1', b'"x"y","z"',
    b"1,2", b'"1","2"', b'"1",2', b"", b"1", b'"a""b","c,d"', b'"x', b'y"', b'"', b'"p\nq",r', b"a\rb,c", b'""',
    b'"",""', b'","',
]  # fmt: skip
PARTS = st.lists(st.sampled_from([b'"', b",", b"x", b'""', b" "]), max_size=7).map(b"".join)
LINES = st.lists(st.sampled_from(WHOLE) | PARTS, max_size=14)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(lines=LINES, end=st.sampled_from([b"\n", b"\r\n"]), fields=st.integers(1, 3), block=st.sampled_from([9, 10_000]))
def test_lines_read_together_are_those_read_one_by_one(folder, lines, end, fields, block):
    """Reading plain lines in bulk gives the rows that the plain rules give, record by record."""
    body = end.join([*lines, b""])
    file = folder / "lines.csv"
    names = [f"c{i}" for i in range(fields)]
    file.write_bytes(",".join(names).encode() + b"\n" + body)
    rows = []
    for batch in CsvSource(file, block=block).batches(names):
        rows += zip(*(column.to_pylist() for column in batch.columns), strict=True)
    assert sorted(rows, key=repr) == sorted(one_by_one(body, fields), key=repr)
