"""Does a release whose noise somebody can repeat say so wherever it shows itself?"""

from __future__ import annotations

import json

import pytest

import cuboid
from unit.bundle.releases import released, schema


@pytest.fixture(scope="module", params=[7, None], ids=["seeded", "private"])
def seed(request):
    """A seed, or none."""
    return request.param


@pytest.fixture(scope="module")
def release(seed, tmp_path_factory):
    """A release with a seed, and one without, read back from disk."""
    made = released(cuboid.plan(schema(), "[age sex]", epsilon=1), tmp_path_factory.mktemp("stamp"), insecure_seed=seed)
    return cuboid.open(made.folder)


def outputs(release):
    """Everything that a release says of itself, by place."""
    table = release.table("age", "sex")
    return {
        "release": repr(release),
        "release in a notebook": release._repr_html_(),
        "table": repr(table),
        "table in a notebook": table._repr_html_(),
        "card": release.card(),
        "card on disk": (release.folder / "card.md").read_text(),
    }


def test_the_stamp_is_everywhere_or_nowhere(release, seed):
    """Seeded releases are stamped in every output; private ones in none."""
    for place, text in outputs(release).items():
        assert ("NOT PRIVATE" in text) is (seed is not None), place
    document = json.loads((release.folder / "release.json").read_text())
    assert document["private"] is document["measurements"]["private"] is release.private is (seed is None)


def test_the_ledger_remembers_it(release, seed):
    """The spend is recorded as what it is, at the same price."""
    ledger = cuboid.Ledger.at(release.folder.parent / "ledger.sqlite")
    (entry,) = ledger.account("survey").entries
    assert entry.record.request.private is (seed is None)
    assert str(entry.record.request.spend.amount) == "1"


def test_recovery_and_sub_tables_keep_it(release, seed):
    """Neither writing it anew nor asking for a part of it takes the stamp off."""
    assert cuboid.recover(release.folder).private is (seed is None)
    assert ("NOT PRIVATE" in repr(release.table("age"))) is (seed is not None)
    assert ("NOT PRIVATE" in release.table()._repr_html_()) is (seed is not None)
