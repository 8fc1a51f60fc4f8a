"""Do two files that differ in one row give the same of everything but noise?"""

from __future__ import annotations

import datetime as real
import json
import random
import re
from types import SimpleNamespace

import pytest

from cuboid.noise import InsecureWords
from e2e.story import PEOPLE, call, csv, run, tree
from e2e.test_leaks import canaries

ARGUMENTS = ("release", "people.csv", "--schema", "schema.toml", "--workload", "all 1..2-way", "-o", "out", "--json")
BUDGETS = {
    "laplace": ("--epsilon", "1"),
    "gaussian": ("--rho", "0.1"),
    "contrasts": ("--rho", "1", "--strategy", "residual"),
}
DECLARED = {
    "one more": [*PEOPLE, "60,41,2,Ada,x"],
    "one less": PEOPLE[1:],
    "one changed": ["0,100,2,,x", *PEOPLE[1:]],
    "one of an empty town": [*PEOPLE, "60,41,2,Nowhere,x"],
    "nobody": [],
}
NO_ROWS = {f"hostile {place}": row for place, row in enumerate(canaries())}


@pytest.fixture
def still(monkeypatch):
    """Known noise, nonces and clock, so that whatever differs between two runs comes from the data."""
    monkeypatch.setattr("cuboid.noise.SystemWords", lambda: InsecureWords(11))
    monkeypatch.setattr("cuboid.session.secrets", SimpleNamespace(token_hex=lambda size: "ab" * size))
    now = real.datetime(2026, 1, 1, tzinfo=real.UTC)
    monkeypatch.setattr("cuboid.privacy.ledger.store.datetime", SimpleNamespace(now=lambda zone: now))


def story(home, rows, budget, *, by=call):
    """All that a release of some rows shows: answers of every command, and files; then the home is as before."""
    (home / "people.csv").write_bytes(csv(*rows))
    answers = [
        by(home, *arguments)
        for arguments in (
            ("check", "schema.toml", "people.csv"),
            (*ARGUMENTS, *budget),
            (*ARGUMENTS, *budget),
            ("show", "out", "town", "--json"),
            ("show", "out", "age", "sex"),
            ("query", "out", "select * exclude (numerator, value) from measurements", "--json"),
            ("verify", "out"),
            ("ledger", "show"),
        )
    ]
    files = {name: content for name, content in tree(home).items() if name.startswith(("out/", "tmp/", "ledger"))}
    for name in files:
        (home / name).unlink()
    if (home / "out").exists():
        (home / "out/tables").rmdir()
        (home / "out").rmdir()
    return answers, files


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_same_rows_give_the_same_bytes(home, still, budget):
    """The control: with noise, nonce and clock held, nothing else varies from run to run."""
    assert story(home, PEOPLE, BUDGETS[budget]) == story(home, PEOPLE, BUDGETS[budget])


@pytest.mark.parametrize("budget", ["laplace", "gaussian"])
def test_a_row_that_counts_nowhere_changes_no_byte(home, still, budget):
    """Rows that the schema sends nowhere leave every file, message and code as they were, wherever they stand."""
    dropped = {name: row for name, row in NO_ROWS.items() if _dropped(row)}
    assert len(dropped) > 5
    before = story(home, PEOPLE, BUDGETS[budget])
    for name, row in dropped.items():
        for rows in ([row, *PEOPLE], [*PEOPLE, row]) if budget == "laplace" else ([*PEOPLE[:30], row, *PEOPLE[30:]],):
            assert story(home, rows, BUDGETS[budget]) == before, name


def test_the_order_of_rows_changes_no_byte(home, still):
    """Rows shuffled, and columns in another order, are the same data."""
    before = story(home, PEOPLE, BUDGETS["gaussian"])
    assert story(home, random.Random(3).sample(PEOPLE, len(PEOPLE)), BUDGETS["gaussian"]) == before
    assert story(home, PEOPLE[::-1], BUDGETS["gaussian"]) == before


def _dropped(row):
    """Whether age or sex is undeclared, which drops a row under this schema."""
    text = row.decode("utf-8", "replace") if isinstance(row, bytes) else row
    fields = [*text.split("\r")[0].split(","), "", "", ""]
    return not (fields[1] in ("41", "-0") and fields[2] == "1")


@pytest.mark.parametrize("place", range(len(canaries())))
def test_a_hostile_row_is_one_row_at_most(home, still, place):
    """With the noise known, a hostile row moves each wanted table by at most one person, and nothing else at all."""
    before, files = story(home, PEOPLE, BUDGETS["laplace"])
    hostile, others = story(home, [*PEOPLE[:30], canaries()[place], *PEOPLE[30:]], BUDGETS["laplace"])
    assert [(one.code, masked(one.err)) for one in hostile] == [(one.code, masked(one.err)) for one in before]
    assert hostile[1].out == before[1].out
    assert list(others) == list(files)
    (one, two) = ([cell["raw"] for cell in json.loads(answers[3].out)["cells"]] for answers in (before, hostile))
    assert sum(abs(left - right) for left, right in zip(one, two, strict=True)) <= 1 + 1e-9


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("case", DECLARED, ids=lambda name: name.replace(" ", "-"))
def test_neighbours_differ_in_noisy_numbers_alone(home, still, budget, case):
    """Codes, streams, keys, order, index, card and the ledger are equal to the byte; tables have the same cells."""
    before, files = story(home, PEOPLE, BUDGETS[budget])
    after, others = story(home, DECLARED[case], BUDGETS[budget])
    assert [one.code for one in after] == [one.code for one in before] == [0] * 8
    assert [one.err for one in after] == [one.err for one in before]
    noisy = {3, 4}
    assert [one.out for i, one in enumerate(after) if i not in noisy] == [
        one.out for i, one in enumerate(before) if i not in noisy
    ]
    assert [skeleton(after[i].out) for i in noisy] == [skeleton(before[i].out) for i in noisy]
    assert list(others) == list(files)
    for name, content in files.items():
        if name.startswith("out/tables/"):
            assert skeleton(others[name].decode()) == skeleton(content.decode())
        elif name not in ("out/measurements.parquet", "out/receipt.json"):
            assert others[name] == content, name
    receipts = [json.loads(own["out/receipt.json"]) for own in (files, others)]
    assert receipts[0]["ledger"] == receipts[1]["ledger"]
    assert list(receipts[0]["files"]) == list(receipts[1]["files"])


def skeleton(text):
    """Text without its noisy numbers, the flags they decide, and the widths of their columns."""
    text = re.sub(r"\b(ok|unreliable)\b", "FLAG", text)
    text = re.sub(r"(?<![\w-])-?[\d,]+\.\d+(e-?\d+)?", "NUMBER", text)
    return re.sub(r"[ -]{2,}", " ", text)


def masked(text):
    """Text without hashes."""
    return re.sub(r"\b[0-9a-f]{32,64}\b", "HASH", text)


@pytest.mark.parametrize("rows", [[*PEOPLE, canaries()[10]], PEOPLE[1:], []], ids=["bad-utf-8", "one-less", "nobody"])
def test_with_real_noise_too(home, rows):
    """In processes of their own, with fresh noise, all that is not a noisy number is the same."""
    before, files = story(home, PEOPLE, BUDGETS["laplace"], by=apart)
    after, others = story(home, rows, BUDGETS["laplace"], by=apart)
    assert [one.code for one in after] == [one.code for one in before] == [0] * 8
    assert [masked(one.err) for one in after] == [masked(one.err) for one in before]
    assert [seen(one.out) for one in after] == [seen(one.out) for one in before]
    assert list(others) == list(files)


def apart(home, *arguments):
    """A release in a process of its own; what only looks at it may stay in this one."""
    return (run if arguments[0] == "release" else call)(home, *arguments)


def seen(text):
    """What is left of an output without noise, hashes and times."""
    return re.sub(r"[\d:T+-]{16,}", "TIME", skeleton(masked(text)))


def test_refusals_are_equal_on_neighbours(home):
    """Over budget, a bad schema, an occupied place: the same words, whoever is in the data."""
    call(home, "ledger", "open", "survey", "--epsilon", "0.5")
    (home / "full").mkdir()
    (home / "full/note").write_text("")
    for arguments in (
        (*ARGUMENTS, "--epsilon", "1"),
        (*ARGUMENTS, "--epsilon", "0.1", "--relation", "replace"),
        (*ARGUMENTS[:-2], "full", "--epsilon", "0.1"),
        (*ARGUMENTS, "--epsilon", "1e-30"),
    ):
        said = set()
        for rows in (PEOPLE, PEOPLE[1:], [*PEOPLE, *NO_ROWS.values()], []):
            (home / "people.csv").write_bytes(csv(*rows))
            said.add(call(home, *arguments))
        assert len(said) == 1
        assert said.pop().code in (1, 3)


def test_a_true_zero_is_a_noisy_number(home):
    """Declared values that nobody has are in every table, as numbers like the others."""
    (home / "people.csv").write_bytes(csv())
    assert call(home, *ARGUMENTS, "--epsilon", "0.01").code == 0
    cells = json.loads(call(home, "show", "out", "age", "town", "--json").out)["cells"]
    assert len(cells) == 15
    assert any(cell["raw"] != 0 for cell in cells)
    assert all(isinstance(cell["raw"], float) for cell in cells)


def test_a_leak_through_shape_is_caught(home, still, monkeypatch):
    """The control: a source that warns when it sees an undeclared value is found out by the comparison."""
    import warnings

    from cuboid import CuboidWarning
    from cuboid.sources.csv import CsvSource

    honest = CsvSource.batches

    def batches(source, columns, **options):
        for batch in honest(source, columns, **options):
            if b"Nowhere" in batch.column("town").to_pylist():
                warnings.warn("a value is undeclared", CuboidWarning, stacklevel=1)
            yield batch

    monkeypatch.setattr(CsvSource, "batches", batches)
    with pytest.raises(AssertionError):
        test_neighbours_differ_in_noisy_numbers_alone(home, still, "laplace", "one of an empty town")
