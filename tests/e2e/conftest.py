"""A folder with data and a schema."""

from __future__ import annotations

import pytest

from e2e.story import COUNTED, PEOPLE, SCHEMA, csv


@pytest.fixture
def home(tmp_path):
    """A folder with people.csv, schema.toml, and counts for the schema cells.toml."""
    (tmp_path / "people.csv").write_bytes(csv(*PEOPLE))
    (tmp_path / "schema.toml").write_text(SCHEMA)
    (tmp_path / "cells.csv").write_bytes(csv("f,Ada,3", "f,Bath,5", "m,Ada,0", "m,Bath,9", header="sex,town,n"))
    (tmp_path / "cells.toml").write_text(COUNTED)
    return tmp_path
