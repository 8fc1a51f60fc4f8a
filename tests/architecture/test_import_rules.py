"""Can only the gate turn exact into noisy, and can nothing after it reach the data?"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys

import pytest

from architecture.source import REPO, SRC, calls, imports, modules, names_used, within

DATA = {"cuboid.sources", "cuboid.counting", "cuboid.gate"}
SHELL = {"cuboid.session", "cuboid.evaluation", "cuboid.cli", "cuboid.__main__"}
AFTER = {"cuboid.recovery", "cuboid.rows", "cuboid.analysis", "cuboid.bundle", "cuboid.report", "cuboid.server"}
BEFORE = {
    "cuboid.errors", "cuboid.domain", "cuboid.workload", "cuboid.residual", "cuboid.privacy", "cuboid.noise",
    "cuboid.designs", "cuboid.measurement", "cuboid.planning", "cuboid.strategies",
}  # fmt: skip


def wrong(trees, rooms, forbidden):
    """The imports from some rooms into forbidden ones."""
    return {
        (name, target)
        for name, tree in trees.items()
        if within(name, rooms)
        for target in imports(tree)
        if within(target, forbidden)
    }


def planted(name, text):
    """The modules, with a line more in one of them."""
    tree = ast.parse(ast.unparse(modules()[name]) + f"\n{text}\n")
    return modules() | {name: tree}


def test_every_room_is_known():
    """A new room must be put on one side of the gate before it is built."""
    rooms = {".".join(name.split(".")[:2]) for name in modules()} - {"cuboid"}
    assert rooms <= BEFORE | DATA | AFTER | SHELL


def test_nothing_after_the_gate_imports_what_can_reach_rows():
    """Post-processing sees measurements, and neither sources, counts, gate nor shell."""
    assert wrong(modules(), AFTER, DATA | SHELL) == set()
    assert wrong(planted("cuboid.bundle.card", "from cuboid.counting import Counter"), AFTER, DATA | SHELL)
    assert wrong(planted("cuboid.bundle.card", "def f():\n    import cuboid.gate"), AFTER, DATA | SHELL)


def test_nothing_before_the_gate_imports_it():
    """Plans are made without data, and without anything that follows from them."""
    libraries = {"pyarrow", "duckdb", "pandas", "polars", "pyspark"}
    assert wrong(modules(), BEFORE, DATA | AFTER | SHELL | libraries) == set()
    assert wrong(planted("cuboid.planning.plan", "import pyarrow.parquet"), BEFORE, libraries)


def test_the_confidential_rooms_import_no_later_one():
    """Sources and counts know nothing of releases; the gate knows nothing of sources."""
    assert wrong(modules(), DATA, AFTER | SHELL) == set()
    assert wrong(modules(), {"cuboid.gate"}, {"cuboid.sources"}) == set()


def test_nobody_imports_the_shell():
    """The session and the commands are the top."""
    assert wrong(modules(), BEFORE | DATA | AFTER | {"cuboid.session"}, {"cuboid.cli", "cuboid.__main__"}) == set()
    assert wrong(modules(), BEFORE | DATA | AFTER, SHELL) == set()


def test_duckdb_is_imported_in_two_modules():
    """One reads tables before the gate, one answers SQL on bundles after it."""
    users = {name for name, tree in modules().items() if within_any(imports(tree), "duckdb")}
    assert users == {"cuboid.sources.duckdb_table", "cuboid.bundle.query"}


def within_any(targets, library):
    """Whether one of the imports is of a library."""
    return any(within(target, {library}) for target in targets)


def test_only_the_gate_opens_exact_tables():
    """The seal's one door is used in one file, and nobody goes round it by its private names."""

    def users(trees, pattern):
        return {name for name, tree in trees.items() if any(re.fullmatch(pattern, used) for used in names_used(tree))}

    assert users(modules(), "open_at_the_gate") == {"cuboid.gate"}
    assert users(modules(), r"_ExactTables__\w+|__tables|__holders") == {"cuboid.counting.sealed"}
    sly = planted("cuboid.session", "exact.open_at_the_gate(())")
    assert users(sly, "open_at_the_gate") == {"cuboid.gate", "cuboid.session"}


def test_only_the_gate_draws_noise_and_only_the_session_calls_it():
    """One call of `draw`, one of `measure`, one of a ledger's `spend`: the audit is of one file."""

    def callers(what):
        return {name for name, tree in modules().items() if what in calls(tree)}

    assert callers("draw") == {"cuboid.gate"}
    assert callers("measure") == {"cuboid.session"}
    assert callers("spend") == {"cuboid.gate"}
    assert callers("count_rows") == {"cuboid.session"}
    assert callers("InsecureWords") == {"cuboid.session"}


def test_the_gate_spends_before_it_draws():
    """In `measure`, the statement that spends comes before the one that draws or opens a table."""
    functions = {node.name: node for node in modules()["cuboid.gate"].body if isinstance(node, ast.FunctionDef)}
    measure = functions["measure"]
    spending = [place for place, node in enumerate(measure.body) if "spend" in calls(node)]
    secret = {"_noise", "draw", "_exact", "open_at_the_gate"}
    drawing = [place for place, node in enumerate(measure.body) if calls(node) & secret]
    assert len(spending) == 1
    assert drawing
    assert spending[0] < min(drawing)


DANGEROUS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "random", "yaml"}


def test_nothing_is_unpickled_evaluated_or_drawn_from_another_source():
    """No import that runs what it reads, and no random numbers but those of the noise room."""
    for name, tree in modules().items():
        assert not {target.split(".")[0] for target in imports(tree)} & DANGEROUS, name
        bare = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not bare & {"eval", "exec", "compile", "__import__", "breakpoint", "input"}, name
        if name != "cuboid.noise.words":
            assert "random" not in {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}, name
        assert "allow_pickle" not in ast.unparse(tree), name


def test_only_commands_print():
    """A library says what it has to say by returning, raising or warning; it never logs."""
    for name, tree in modules().items():
        if not within(name, {"cuboid.cli"}):
            assert "print" not in calls(tree), name
        assert "logging" not in imports(tree), name


def test_no_function_measures_time():
    """Durations depend on data, so nobody asks how long it took; the ledger alone knows what day it is."""
    clocks = {
        "now",
        "utcnow",
        "today",
        "time",
        "time_ns",
        "perf_counter",
        "monotonic",
        "process_time",
        "perf_counter_ns",
    }
    assert {name for name, tree in modules().items() if calls(tree) & clocks} == {"cuboid.privacy.ledger.store"}


def test_imports_are_absolute_and_none_is_a_star():
    """Where a name comes from can be read where it is used."""
    for name, tree in modules().items():
        imports(tree)
        assert not any(target.endswith(".*") for target in imports(tree)), name


def lint_imports(folder):
    """The import linter's verdict on a copy of the package."""
    command = (
        "import sys; sys.path.insert(0, sys.argv[1]); from importlinter.cli import lint_imports; "
        "sys.exit(lint_imports(config_filename=sys.argv[2], no_cache=True))"
    )
    return subprocess.run(
        [sys.executable, "-c", command, str(folder / "src"), str(folder / "pyproject.toml")],
        cwd=folder / "src", capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the source and its rules."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(SRC / "cuboid", folder / "src/cuboid", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPO / "pyproject.toml", folder)
    return folder


PLANTED = {
    "post-processing cannot reach the data": (
        "bundle/table.py",
        "def f():\n    from cuboid.sources import open_source\n",
    ),
    "planning cannot reach the data": ("planning/plan.py", "from cuboid.counting import Counter\n"),
    "nobody imports the shell": ("recovery/estimate.py", "import cuboid.session\n"),
    "commands reach counts through the session alone": ("cli/plan.py", "from cuboid.gate import measure\n"),
    "one module before the gate and one after it import duckdb": ("bundle/read.py", "import duckdb\n"),
    "a room imports only rooms below it": ("domain/domain.py", "from cuboid.workload import parse\n"),
}


def test_the_import_rules_hold(copy):
    """All contracts of pyproject.toml are kept."""
    found = lint_imports(copy)
    assert found.returncode == 0, found.stdout[-3000:]
    for name in PLANTED:
        assert f"{name} KEPT" in found.stdout


@pytest.mark.parametrize("name", PLANTED, ids=lambda name: name.replace(" ", "-"))
def test_a_planted_import_breaks_its_rule(copy, name):
    """The control: each contract notices an import that it forbids."""
    path, line = PLANTED[name]
    honest = (copy / "src/cuboid" / path).read_text()
    try:
        (copy / "src/cuboid" / path).write_text(f"{honest}\n{line}")
        found = lint_imports(copy)
    finally:
        (copy / "src/cuboid" / path).write_text(honest)
    assert found.returncode == 1
    assert f"{name} BROKEN" in found.stdout


def test_a_room_that_nobody_listed_breaks_a_rule(copy):
    """The control: a new room must take its place among the layers."""
    (copy / "src/cuboid/extra.py").write_text('"""Extra."""\n')
    try:
        found = lint_imports(copy)
    finally:
        (copy / "src/cuboid/extra.py").unlink()
    assert found.returncode == 1
    assert "cuboid.extra" in found.stdout
