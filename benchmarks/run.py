"""All speed figures in one run, as JSON: what was measured, beside a rival on the same data, and every goal."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PARTS = ("release", "noise", "counting")


def main() -> None:
    """Run every benchmark in a process of its own; print the figures and keep them in benchmarks/out/bench.json."""
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    report = {"machine": machine, "benchmarks": [_part(name) for name in PARTS]}
    text = json.dumps(report, indent=1)
    (HERE / "out").mkdir(exist_ok=True)
    (HERE / "out" / "bench.json").write_text(text + "\n", encoding="utf-8")
    print(text)


def _part(name: str) -> Any:
    done = subprocess.run([sys.executable, HERE / f"{name}.py"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
