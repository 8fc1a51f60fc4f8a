"""Does anything of a row get out: on success, on failure, in any file, message or stream?"""

from __future__ import annotations

import gzip
import io
import random
import sqlite3

import pyarrow.parquet as pq
import pytest

from e2e.story import COUNTED, HEADER, PEOPLE, call, csv, run, tree

CANARY = "Zyxwv"
RELEASE = ("--schema", "schema.toml", "--workload", "all 2-way", "--epsilon", "1", "-o", "out")


def canaries(seed=1):
    """Rows that no schema expects, each with a canary in every place that a row has."""
    chance = random.Random(seed)
    word = lambda: f"{CANARY}{chance.randrange(10**6):06}"  # noqa: E731
    return [
        ",".join([word(), word(), word(), word(), word()]),
        ",".join([word(), "41", "1", "Ada", word()]),
        ",".join([word(), "41", "1", word(), "", word(), word()]),
        ",".join([word(), "1e999", word(), "Ada"]),
        word(),
        "",
        ",,,,",
        f'{word()},41,1,"Ada, {word()}',
        f'{word()},41,1,Ada,"{word()}"{word()}',
        f"{word()},41,1,Ada\0{word()},x",
        f"{word()},41,1,{word()}".encode() + b"\xff\xfe\x80" + word().encode() + b",x",
        f"{word()}\r41,1,Ada,{word()}",
        f"{word()},-0,1,Ada,NaN",
        ",".join([word(), "nan", "inf", "NULL", word()]),
        f"={word()}!A1,41,1,Ada,@{word()}",
        f"{word()},{'9' * 400},1,{word() * 2000},x",
    ]


def counted_canaries():
    """Weights that are none, beside canaries."""
    weights = ["-3", "x", "", "1e400", "0x10", "٣", "1.5", "nan", "inf", "9" * 50, "-" + "9" * 50, CANARY]
    return [f"f,Ada,{weight}" for weight in weights] + [f"{CANARY}1,{CANARY}2,{CANARY}3"]


def readable(name, content):
    """A file's bytes, and what they hold once unpacked."""
    yield content
    if name.endswith(".parquet"):
        table = pq.read_table(io.BytesIO(content))
        yield repr(table.to_pydict()).encode() + repr(table.schema).encode()
    if content[:2] == b"\x1f\x8b":
        yield gzip.decompress(content)
    if content[:15] == b"SQLite format 3":
        connection = sqlite3.connect(":memory:")
        connection.deserialize(content)
        yield "\n".join(connection.iterdump()).encode()
        connection.close()


def leaks(home, answer, given=("people.csv", "cells.csv", "schema.toml", "cells.toml")):
    """Where a canary shows: streams, and every file under the home but those that were given."""
    places = {"stdout": answer.out.encode(), "stderr": answer.err.encode()}
    found = [place for place, text in places.items() if CANARY.encode() in text]
    for name, content in tree(home).items():
        hidden = name not in given and any(CANARY.encode() in text for text in readable(name, content))
        found += [name] if hidden or CANARY in name else []
    return found


@pytest.fixture
def hostile(home):
    """The home with canaries among the people and the cells."""
    rows = canaries()
    people = [row for pair in zip(PEOPLE, rows + rows + rows + rows, strict=False) for row in pair]
    (home / "people.csv").write_bytes(csv(*people))
    (home / "cells.csv").write_bytes(csv("f,Ada,3", *counted_canaries(), "m,Bath,9", header="sex,town,n"))
    return home


def test_success_leaks_nothing(hostile):
    """From init to recover: no canary anywhere, in ledger, bundle or folder for scraps."""
    for arguments in (
        ("init", "people.csv", "-o", "draft.toml"),
        ("check", "schema.toml", "people.csv", "--json"),
        ("release", "people.csv", *RELEASE),
        ("release", "people.csv", *RELEASE),
        ("show", "out", "age", "town", "--csv"),
        ("query", "out", "from measurements", "--json"),
        ("verify", "out"),
        ("recover", "out", "--json"),
    ):
        answer = run(hostile, *arguments)
        assert answer.code == 0, answer.err
        assert leaks(hostile, answer) == []


def test_weights_leak_nothing(hostile):
    """A column of counts full of what are no counts is read silently."""
    answer = run(hostile, "release", "cells.csv", "--schema", "cells.toml", "--workload", "[sex town]", "--rho", "1",
                 "-o", "out", "--json")  # fmt: skip
    assert answer.code == 0, answer.err
    assert leaks(hostile, answer) == []


@pytest.mark.parametrize("weight", [2**63 - 1, 2**63, 2**62, 10**30])
def test_no_weight_decides_the_exit_code(home, weight):
    """However many people a cell claims, the release is made."""
    (home / "cells.csv").write_bytes(csv(f"f,Ada,{weight}", f"m,Bath,{weight}", header="sex,town,n"))
    for out, options in (("one", ("--rho", "1", "--strategy", "residual")), ("two", ("--epsilon", "1"))):
        answer = call(home, "release", "cells.csv", "--schema", "cells.toml", "--workload", "all 0..2-way", *options,
                      "-o", out)  # fmt: skip
        assert answer.code == 0, answer.err
        assert call(home, "verify", out).code == 0


FAILURES = {
    "missing column": (1, ("release", "people.csv", *RELEASE), csv(*canaries(), header="id,age,sex,remark")),
    "no header": (1, ("release", "people.csv", *RELEASE), b""),
    "over budget": (3, ("release", "people.csv", *RELEASE[:-3], "50", *RELEASE[-2:]), None),
    "unwritable": (1, ("release", "people.csv", *RELEASE[:-1], "schema.toml"), None),
    "ledger that is none": (3, ("release", "people.csv", *RELEASE, "--ledger", "people.csv"), None),
    "damaged gzip": (1, ("release", "people.csv", *RELEASE), "gzip"),
    "damaged parquet": (1, ("release", "people.csv", *RELEASE), b"PAR1" + b"\0".join([CANARY.encode()] * 99)),
}  # fmt: skip


@pytest.mark.parametrize("case", FAILURES, ids=lambda name: name.replace(" ", "-"))
def test_failure_leaks_nothing(hostile, case):
    """A refusal says what is wrong with the file, and never what is in it."""
    code, arguments, content = FAILURES[case]
    run(hostile, "ledger", "open", "survey", "--epsilon", "10")
    if content == "gzip":
        chance = random.Random(2)
        rows = [f"{CANARY},{chance.random()},{chance.random()},{CANARY},x" for _ in range(100_000)]
        content = gzip.compress(csv(*rows), compresslevel=1)[:-5000]
    if content is not None:
        (hostile / "people.csv").write_bytes(content)
    answer = run(hostile, *arguments)
    assert answer.code == code, answer.err
    assert "Traceback" not in answer.err
    assert leaks(hostile, answer) == []
    assert not (hostile / "out").exists()


def test_our_own_bug_leaks_nothing(hostile):
    """An exception that nobody expected, with a value in its text, is told by its class alone."""
    broken = f"""
import cuboid.counting.counter as counter
def add(*_): raise ZeroDivisionError("{CANARY}")
counter.Counter.add = add
"""
    answer = run(hostile, "release", "people.csv", *RELEASE, before=broken)
    assert answer.code == 4
    assert answer.err == "cuboid: a bug in Cuboid (ZeroDivisionError): please report it, with the command\n"
    assert leaks(hostile, answer) == []


def test_our_own_bug_after_the_gate_leaks_nothing(hostile):
    """Nor does one after the noise is drawn; what was measured is there to go on from."""
    broken = """
import cuboid.bundle.card as card
import cuboid.bundle.write as write
def stop(*_): raise MemoryError("no room")
write.card = stop
"""
    answer = run(hostile, "release", "people.csv", *RELEASE, before=broken)
    assert answer.code == 4
    assert leaks(hostile, answer) == []
    assert (hostile / "out/measurements.parquet").exists()
    assert run(hostile, "recover", "out").code == 0


PLANTED = {
    "stdout": "print(batch.column(1)[0])",
    "stderr": "import sys; print(batch.to_pylist(), file=sys.stderr)",
    "tmp/scrap": "import tempfile; open(tempfile.gettempdir() + '/scrap', 'w').write(str(batch.to_pylist()))",
    "tmp/scrap.parquet": "import tempfile, pyarrow.parquet as pq, pyarrow as pa; "
    "pq.write_table(pa.Table.from_batches([batch.select([0, 2])]), tempfile.gettempdir() + '/scrap.parquet')",
    "note: ": "import warnings; warnings.warn(str(batch.to_pylist()), __import__('cuboid').CuboidWarning)",
    "cuboid: ": "raise __import__('cuboid').errors.SourceError(f'cannot read {batch.to_pylist()}')",
}


@pytest.mark.parametrize("place", PLANTED)
def test_a_planted_leak_is_caught(home, place):
    """The control: a reader that shows a value, wherever it shows it, is found out."""
    (home / "people.csv").write_bytes(csv(f"1,41,1,{CANARY},x", header=HEADER))
    planted = f"""
import cuboid, cuboid.errors
from cuboid.sources.csv import CsvSource
honest = CsvSource.batches
def batches(source, columns, **options):
    for batch in honest(source, columns, **options):
        {PLANTED[place]}
        yield batch
CsvSource.batches = batches
"""
    plain = PLANTED[place]
    planted = planted.replace(plain, plain.replace("batch.column(1)", "batch.column('town')"))
    answer = run(home, "release", "people.csv", *RELEASE, before=planted)
    found = leaks(home, answer)
    assert found == ["stderr" if place in ("note: ", "cuboid: ") else place]


def test_a_canary_in_the_bundle_or_ledger_would_be_seen(home):
    """The control of the scan itself: text in a Parquet, a gzip or a database is read."""
    import pyarrow as pa

    answer = run(home, "release", "people.csv", *RELEASE)
    assert leaks(home, answer) == []
    pq.write_table(pa.table({"a": [CANARY] * 9}), home / "out/rows.parquet", compression="zstd")
    (home / "scrap.gz").write_bytes(gzip.compress(CANARY.encode()))
    connection = sqlite3.connect(home / "cache.db")
    connection.execute("create table t (a)")
    connection.execute("insert into t values (?)", (CANARY,))
    connection.commit()
    connection.close()
    assert set(leaks(home, answer)) == {"out/rows.parquet", "scrap.gz", "cache.db"}


def test_nothing_is_written_but_bundle_and_ledger(hostile):
    """No scraps, caches or logs: neither in the folder, nor at home, nor where temporary files go."""
    before = set(tree(hostile))
    answer = run(hostile, "release", "people.csv", *RELEASE)
    assert answer.code == 0
    new = set(tree(hostile)) - before
    assert {name for name in new if not name.startswith("out/")} == {"ledger.sqlite"}
    assert {name.split("/")[1] for name in new if name.startswith("out/")} == {
        "release.json", "measurements.parquet", "receipt.json", "card.md", "datapackage.json", "tables",
    }  # fmt: skip
    assert not list((hostile / "tmp").iterdir())


def test_the_schema_of_counts_is_the_one_meant():
    """The schema of the weight tests has a column of counts."""
    assert 'count = "n"' in COUNTED
