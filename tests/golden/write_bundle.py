"""Write the bundles that every later version must read: once for each format, by the command line, never again.

    python tests/golden/write_bundle.py

The numbers that a bundle shows are pinned beside it. A folder that is there is never written again: what was
released stays released. For a new format, add cases with names of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BUNDLES = HERE / "bundles"
DATA = HERE.parents[1] / "examples" / "data"
CASES = {
    "v1-laplace": ("Titanic4way.toml", "all 2-way", ("--epsilon", "1")),
    "v1-gaussian-replace": ("titanic-replace.toml", "all 0..2-way", ("--rho", "0.5", "--relation", "replace")),
    "v1-contrasts": ("Titanic4way.toml", "[Class Survived][Sex Age]", ("--rho", "0.1", "--strategy", "residual")),
}


def cuboid(*arguments: object, ledger: Path) -> str:
    """What a command prints."""
    made = subprocess.run(
        [sys.executable, "-c", "from cuboid.cli import main; main()", *map(str, arguments)],
        env=os.environ | {"CUBOID_LEDGER": str(ledger)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return made.stdout


def write(name: str) -> None:
    """Release one case and pin its numbers; refuse where it is there."""
    schema, workload, options = CASES[name]
    own = BUNDLES / schema if (BUNDLES / schema).exists() else DATA / schema
    folder, pinned = BUNDLES / name, BUNDLES / f"{name}.json"
    if folder.exists() or pinned.exists():
        raise SystemExit(f"{folder} is there, and a bundle of an old version is never written again")
    ledger = BUNDLES / "ledger.sqlite"
    try:
        arguments = ("release", DATA / "Titanic4way.csv", "--schema", own, "--workload", workload, *options)
        cuboid(*arguments, "-o", folder, ledger=ledger)
        index = json.loads((folder / "release.json").read_text(encoding="utf-8"))["tables"]
        shown = [json.loads(cuboid("show", folder, *entry["attributes"], "--json", ledger=ledger)) for entry in index]
        pinned.write_text(json.dumps(shown, indent=1) + "\n", encoding="utf-8", newline="\n")
    finally:
        ledger.unlink(missing_ok=True)


if __name__ == "__main__":
    taken = [name for name in CASES if (BUNDLES / name).exists()]
    if len(taken) == len(CASES):
        raise SystemExit(f"all of {', '.join(taken)} are there, and bundles of an old version are never written again")
    for name in CASES:
        if name not in taken:
            write(name)
