"""Exact counting beside DuckDB and polars, in one run: CPU and wall seconds, as JSON.

    python benchmarks/counting.py            # 1,000,000 rows x 32 binary columns
    python benchmarks/counting.py 100000     # fewer rows

Each rival is measured in its better form: DuckDB with one GROUP BY a table and with GROUPING SETS, polars with all
lazy groupings collected together. Every answer is compared with ours before a time is reported.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import parquet

from cuboid.counting import Counter, count_rows
from cuboid.domain import Attribute, Domain, Schema
from cuboid.sources import open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cuboid.domain import Cuboid

COLUMNS = 32
Tables = dict["Cuboid", np.ndarray]
Timed = dict[str, float]


def timed(run: Callable[[], Tables], *, repeat: int) -> tuple[Timed, Tables]:
    """The best of some runs by CPU, all threads together, and the last answer."""
    best = {"cpu": float("inf"), "wall": float("inf")}
    answer: Tables = {}
    for _ in range(repeat):
        cpu, wall = time.process_time(), time.perf_counter()
        answer = run()
        spent = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
        best = min(best, spent, key=lambda one: one["cpu"])
    return {name: round(seconds, 5) for name, seconds in best.items()}, answer


def with_cuboid(columns: Sequence[np.ndarray], cuboids: Sequence[Cuboid]) -> Tables:
    """Our tables of columns in memory, packing and opening included."""
    counter = Counter((2,) * len(columns), cuboids, weighted=False)
    counter.add(columns)
    exact = counter.tables()
    return {cuboid: exact.open_at_the_gate(cuboid) for cuboid in cuboids}


def from_parquet(path: Path, cuboids: Sequence[Cuboid]) -> Tables:
    """Our tables of a file: read, encode, count."""
    attributes = tuple(Attribute(name=f"c{i}", values=("0", "1")) for i in range(COLUMNS))
    exact = count_rows(open_source(path), Schema(name="bench", domain=Domain(attributes)), cuboids)
    return {cuboid: exact.open_at_the_gate(cuboid) for cuboid in cuboids}


def with_polars(frame: pl.DataFrame, cuboids: Sequence[Cuboid]) -> Tables:
    """Polars' tables: every grouping lazy, all collected at once."""
    lazy = frame.lazy()
    queries = [lazy.group_by([f"c{i}" for i in cuboid]).len() for cuboid in cuboids]
    found = pl.collect_all(queries)
    return {cuboid: _dense(cuboid, result.to_numpy()) for cuboid, result in zip(cuboids, found, strict=True)}


def with_duckdb(connection: Any, table: str, cuboids: Sequence[Cuboid]) -> Tables:
    """DuckDB's tables, one GROUP BY each."""
    tables = {}
    for cuboid in cuboids:
        names = ", ".join(f"c{i}" for i in cuboid)
        found = connection.execute(f"SELECT {names}, count(*) AS n FROM {table} GROUP BY {names}").fetchall()
        tables[cuboid] = _dense(cuboid, np.array(found))
    return tables


def with_grouping_sets(connection: Any, table: str, cuboids: Sequence[Cuboid]) -> Tables:
    """DuckDB's tables, in one query."""
    sets = ", ".join("(" + ", ".join(f"c{i}" for i in cuboid) + ")" for cuboid in cuboids)
    used = sorted({i for cuboid in cuboids for i in cuboid})
    names = ", ".join(f"c{i}" for i in used)
    query = f"SELECT {names}, count(*) AS n FROM {table} GROUP BY GROUPING SETS ({sets})"
    tables: Tables = {cuboid: np.zeros((2,) * len(cuboid), dtype=np.int64) for cuboid in cuboids}
    for *codes, n in connection.execute(query).fetchall():
        cuboid = tuple(i for i, code in zip(used, codes, strict=True) if code is not None)
        tables[cuboid][tuple(code for code in codes if code is not None)] = n
    return tables


def _dense(cuboid: Cuboid, cells: np.ndarray) -> np.ndarray:
    table = np.zeros((2,) * len(cuboid), dtype=np.int64)
    table[tuple(cells[:, axis].astype(np.intp) for axis in range(len(cuboid)))] = cells[:, -1]
    return table


def compare(ours: Callable[[], Tables], rivals: dict[str, Callable[[], Tables]], *, repeat: int = 1) -> dict[str, Any]:
    """Times of ours and of each rival on one task, and how many times less CPU we use than the best of each engine."""
    spent, answer = timed(ours, repeat=5)
    report: dict[str, Any] = {"cuboid": spent}
    for name, run in rivals.items():
        times, theirs = timed(run, repeat=repeat)
        if any(not np.array_equal(answer[cuboid], theirs[cuboid]) for cuboid in answer):
            raise SystemExit(f"{name} and Cuboid disagree")
        report[name] = {**times, "times_our_cpu": round(times["cpu"] / spent["cpu"], 1)}
    engines = {name.split(" ", maxsplit=1)[0] for name in rivals}
    report["times_less_cpu"] = {
        engine: min(report[name]["times_our_cpu"] for name in rivals if name.startswith(engine))
        for engine in sorted(engines)
    }
    return report


def main(rows: int = 1_000_000) -> dict[str, Any]:
    """All three comparisons."""
    rng = np.random.default_rng(1)
    columns = [(rng.random(rows) < share).astype(np.uint8) for share in rng.uniform(0.05, 0.6, COLUMNS)]
    table = pa.table({f"c{i}": column for i, column in enumerate(columns)})
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    connection = duckdb.connect()
    connection.register("arrow_people", table)
    connection.execute("CREATE TABLE people AS SELECT * FROM arrow_people")
    pairs = list(combinations(range(COLUMNS), 2))
    eights = [tuple(sorted(rng.choice(COLUMNS, 8, replace=False).tolist())) for _ in range(20)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        parquet.write_table(table, path)
        return {
            "rows": rows,
            "all 496 two-way tables, in memory": compare(
                lambda: with_cuboid(columns, pairs),
                {
                    "duckdb group by": lambda: with_duckdb(connection, "people", pairs),
                    "duckdb grouping sets": lambda: with_grouping_sets(connection, "people", pairs),
                    "polars collect_all": lambda: with_polars(frame, pairs),
                },
            ),
            "twenty 8-way tables, in memory": compare(
                lambda: with_cuboid(columns, eights),
                {
                    "duckdb group by": lambda: with_duckdb(connection, "people", eights),
                    "duckdb grouping sets": lambda: with_grouping_sets(connection, "people", eights),
                    "polars collect_all": lambda: with_polars(frame, eights),
                },
                repeat=2,
            ),
            "all 496 two-way tables, from Parquet": compare(
                lambda: from_parquet(path, pairs),
                {
                    "duckdb group by": lambda: with_duckdb(connection, f"'{path}'", pairs),
                    "duckdb grouping sets": lambda: with_grouping_sets(connection, f"'{path}'", pairs),
                },
            ),
        }


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:2])), indent=2))
