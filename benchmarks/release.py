"""A whole release from the command line, beside the bare cost of importing the libraries it stands on.

Goals: at most 3 times the time of importing duckdb, pyarrow and scipy, and 300 MB; `import cuboid` at most twice
numpy's import. Each figure is the median of several runs, ours and the reference taken in turn.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "examples" / "data"
REPEATS = 7


def main() -> dict[str, Any]:
    """Figures and goals."""
    reference = [sys.executable, "-c", "import duckdb, pyarrow, scipy"]
    numpy, own = [sys.executable, "-c", "import numpy"], [sys.executable, "-c", "import cuboid"]
    times: dict[str, list[dict[str, float]]] = {name: [] for name in ("imports", "pure", "rho", "numpy", "cuboid")}
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(REPEATS):
            times["imports"].append(_run(reference))
            times["pure"].append(_run(_release(folder, f"pure-{repeat}", "--epsilon")))
            times["rho"].append(_run(_release(folder, f"rho-{repeat}", "--rho")))
            times["numpy"].append(_run(numpy))
            times["cuboid"].append(_run(own))
    medians = {name: {key: statistics.median(run[key] for run in runs) for key in runs[0]}
               for name, runs in times.items()}  # fmt: skip
    results = [{"what": name, **figures} for name, figures in medians.items()]
    return {"name": "release", "results": results, "goals": _goals(medians)}


def _goals(medians: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    goals = []
    for name in ("pure", "rho"):
        for key in ("wall_s", "cpu_s"):
            ratio = medians[name][key] / medians["imports"][key]
            goals.append({"goal": f"release ({name}) {key} over imports", "at_most": 3, "measured": round(ratio, 2)})
        goals.append({"goal": f"release ({name}) MB", "at_most": 300, "measured": round(medians[name]["mb"])})
    ratio = medians["cuboid"]["cpu_s"] / medians["numpy"]["cpu_s"]
    goals.append({"goal": "import cuboid over import numpy, cpu_s", "at_most": 2, "measured": round(ratio, 2)})
    return goals


def _release(folder: str, name: str, currency: str) -> list[str]:
    return [
        sys.executable, "-m", "cuboid", "release", str(DATA / "adult8.csv.gz"), "--schema", str(DATA / "adult8.toml"),
        "--workload", "all 2-way", currency, "1", "-o", f"{folder}/{name}", "--ledger", f"{folder}/ledger.sqlite",
    ]  # fmt: skip


def _run(command: list[str]) -> dict[str, float]:
    """Wall time, CPU time and peak memory of a command."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} failed")
    return {"wall_s": wall, "cpu_s": usage.ru_utime + usage.ru_stime, "mb": usage.ru_maxrss / 1024}


if __name__ == "__main__":
    print(json.dumps(main(), indent=1))
