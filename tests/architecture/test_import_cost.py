"""Does what needs no library load none?"""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import typer.main

HEAVY = ("duckdb", "pyarrow", "scipy", "pandas", "polars", "xarray")
ROOMS = ("numpy", *(f"cuboid.{room}" for room in ("noise", "planning", "bundle", "sources", "counting", "gate")))


def fresh(code):
    """What a fresh interpreter prints."""
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return made.stdout


def loaded(code, names):
    """Which of some modules a fresh interpreter has after running code."""
    said = fresh(f"import sys\n{code}\nprint('\\n' + str([name for name in {names!r} if name in sys.modules]))")
    return said.splitlines()[-1]


def paths():
    """Every command as it is typed, and the program itself."""
    from cuboid.cli import app

    def walk(command, typed):
        yield typed
        for name, own in getattr(command, "commands", {}).items():
            yield from walk(own, (*typed, name))

    return list(walk(typer.main.get_command(app), ()))


def test_importing_cuboid_loads_no_library():
    """Names come when they are used: neither NumPy nor any room is there before."""
    assert loaded("import cuboid", HEAVY + ROOMS) == "[]"


def test_importing_cuboid_costs_little():
    """The median CPU time of the import is at most twice that of importing NumPy."""
    times = {"cuboid": [], "numpy": []}
    for _ in range(5):
        for name, found in times.items():
            timed = f"import time; start = time.process_time(); import {name}; print(time.process_time() - start)"
            found.append(float(fresh(timed)))
    assert np.median(times["cuboid"]) <= 2 * np.median(times["numpy"])


def test_a_library_that_is_loaded_is_seen():
    """The control: a plan needs NumPy, and a room that reads Parquet needs pyarrow."""
    assert loaded("import cuboid; cuboid.plan", ROOMS) != "[]"
    assert loaded("import cuboid.sources.parquet", HEAVY) == "['pyarrow']"


@pytest.mark.parametrize("path", paths(), ids=lambda path: "-".join(path) or "cuboid")
def test_help_loads_no_library(path):
    """Help is there at once: it loads neither engine nor numerics beyond NumPy."""
    code = f"""
sys.argv = ["cuboid", *{path!r}, "--help"]
from cuboid.cli import main
try:
    main()
except SystemExit as done:
    assert done.code in (0, None)
"""
    assert loaded(code, HEAVY) == "[]"


def test_planning_loads_no_engine(tmp_path):
    """A plan needs numerics, and nothing that can read data."""
    (tmp_path / "schema.toml").write_text('[dataset]\nname = "d"\n[attribute.a]\nvalues = ["x", "y"]\n')
    code = f"import cuboid; cuboid.plan({str(tmp_path / 'schema.toml')!r}, '[a]', rho=1).explain()"
    assert loaded(code, ("duckdb", "pyarrow", "pandas", "cuboid.sources", "cuboid.counting", "cuboid.gate")) == "[]"


def test_names_are_pinned():
    """What `import cuboid` offers is this list, each name is found, and no other."""
    code = """
import json, cuboid
print(json.dumps([sorted(cuboid.__all__), [type(getattr(cuboid, name)).__name__ for name in sorted(cuboid.__all__)]]))
"""
    names, kinds = json.loads(fresh(code))
    assert names == [
        "Attribute", "BudgetExceededError", "Check", "CuboidError", "CuboidWarning", "Domain", "InputError", "Ledger",
        "Plan", "PrivacyError", "Release", "ReleasedTable", "Schema", "Workload", "open", "plan", "recover", "release",
        "verify",
    ]  # fmt: skip
    assert kinds == ["type"] * 14 + ["function"] * 5


def test_a_name_that_is_not_there_is_an_attribute_error():
    """A misspelt name fails as Python's own do, and dir() lists what there is."""
    import cuboid

    with pytest.raises(AttributeError, match="no attribute 'realease'"):
        cuboid.realease  # noqa: B018
    assert dir(cuboid) == sorted(cuboid.__all__)
