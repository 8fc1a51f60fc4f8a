"""All speed figures in one run, as JSON: what was measured, beside a rival on the same data, and every goal."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path

import counting
import noise
import release

OUT = Path(__file__).parent / "out"


def main() -> None:
    """Run every benchmark; print the figures and keep them in benchmarks/out/bench.json."""
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    report = {"machine": machine, "benchmarks": [part.main() for part in (release, noise, counting)]}
    text = json.dumps(report, indent=1)
    OUT.mkdir(exist_ok=True)
    (OUT / "bench.json").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
