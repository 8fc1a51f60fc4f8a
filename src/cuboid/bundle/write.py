"""The bundle on disk, in the order that loses nothing: measurements, then what follows from them, the receipt last.

A folder without receipt.json is unfinished; `cuboid recover` finishes it from the measurements, for free.
"""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuboid.bundle.card import card, statement
from cuboid.bundle.files import (
    CARD,
    CLAIM,
    FORMAT,
    MEASUREMENTS,
    PACKAGE,
    PARTIAL,
    RECEIPT,
    RELEASE,
    TABLES,
    as_json,
    contents,
    sha256,
    synced,
    write_loose,
    write_text,
)
from cuboid.bundle.measured import write_measurements
from cuboid.bundle.package import package
from cuboid.bundle.table_file import ALL, MOST_CSV, csv_name, write_csv, write_parquet
from cuboid.errors import BundleError
from cuboid.planning import INTERVAL_RULE, to_dict
from cuboid.workload import brackets

if TYPE_CHECKING:
    from cuboid.bundle.content import Content

_SOFTWARE = ("cuboid", "numpy", "pyarrow")


@dataclass(frozen=True, slots=True)
class Claim:
    """A folder that is ours to write, and the folders that were made for it."""

    path: Path
    made: tuple[Path, ...]

    def give_up(self) -> None:
        """Leave things as they were, if nothing was written."""
        with suppress(OSError):  # what made us give up is to be heard
            (self.path / CLAIM).unlink(missing_ok=True)
            for folder in self.made:
                if not any(folder.iterdir()):
                    folder.rmdir()


def claim(folder: str | Path) -> Claim:
    """The folder of a new release, made if need be. Raises BundleError where something, or somebody, is in the way."""
    path = Path(folder).absolute()
    try:
        made = tuple(place for place in (path, *path.parents) if not place.exists())
        if path.is_dir() and _stale(path / CLAIM):
            (path / CLAIM).unlink()
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise BundleError(f"{folder} is not empty, and a release is never overwritten: choose another folder, or "
                              "move what is there")  # fmt: skip
        path.mkdir(parents=True, exist_ok=True)
        with (path / CLAIM).open("x", encoding="utf-8") as mark:
            mark.write(f"{platform.node()} {os.getpid()}")
    except FileExistsError:
        raise BundleError(f"another release is being written to {folder}: choose another folder") from None
    except OSError as error:
        raise BundleError(f"cannot make the folder {folder}: {error.strerror}; choose another place") from None
    return Claim(path, made)


def _stale(mark: Path) -> bool:
    """Whether a claim was left by a process of this machine that is no more, before it wrote anything else."""
    if [place.name for place in mark.parent.iterdir()] != [CLAIM]:
        return False
    host, _, process = mark.read_text(encoding="utf-8").rpartition(" ")
    if host != platform.node() or not process.isdigit():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def save(content: Content, folder: str | Path) -> Path:
    """Write the whole bundle into an empty or new folder."""
    path = claim(folder).path
    keep(content, path)
    return finish(content, path)


def keep(content: Content, folder: Path) -> None:
    """Store what cannot be made again: the plan, the measurements and the ledger's word."""
    write_text(folder / RELEASE, as_json(facts(content)))
    write_measurements(content.measurements, content.plan, folder)


def finish(content: Content, folder: Path) -> Path:
    """Write everything that follows from the measurements, and the receipt once all of it is on the disk."""
    try:
        return _finish(content, folder)
    except OSError as error:
        raise BundleError(f"cannot write to {folder}: {error.strerror}; free the place, then `cuboid recover` goes on "
                          "from the measurements")  from None  # fmt: skip


def _finish(content: Content, folder: Path) -> Path:
    (folder / RECEIPT).unlink(missing_ok=True)
    for left_over in folder.rglob(f"*{PARTIAL}"):
        left_over.unlink()
    if len(content.plan.workload.tables) > MOST_CSV:
        order = max(map(len, content.plan.workload.cuboids))
        write_parquet(content.tables(), order, folder)
    else:
        for place, table in enumerate(content.tables()):
            write_csv(place, table, folder)
    write_loose(folder / CARD, card(content))
    write_loose(folder / PACKAGE, as_json(package(content)))
    names = contents(folder)
    synced([*(folder / name for name in names), folder / TABLES, folder])
    receipt = {"format": FORMAT, "ledger": _ledger(content), "files": {name: sha256(folder / name) for name in names}}
    write_text(folder / RECEIPT, as_json(receipt))
    return folder


def facts(content: Content) -> dict[str, Any]:
    """release.json: all of it follows from the plan, but for the four facts of the measurements and the ledger."""
    plan, measurements = content.plan, content.measurements
    return {
        "format": FORMAT,
        "dataset": plan.schema.name,
        "private": measurements.private,
        "privacy": statement(plan),
        "wanted": brackets(plan.workload),
        "tables": _index(content),
        "recovery": [{"step": "least squares", "by": "residuals, weighted by precision"}],
        "intervals": {"level": 0.95, "rule": INTERVAL_RULE},
        "measurements": {
            "exponent": measurements.exponent,
            "total": measurements.total,
            "nonce": measurements.nonce,
            "private": measurements.private,
        },
        "ledger": _ledger(content),
        "software": {name: version(name) for name in _SOFTWARE} | {"python": platform.python_version()},
        "plan": to_dict(plan),
    }


def expected_files(content: Content) -> set[str]:
    """Every file that a finished bundle has, but its receipt."""
    return {RELEASE, MEASUREMENTS, CARD, PACKAGE, *(entry["file"] for entry in _index(content))}


def _index(content: Content) -> list[dict[str, Any]]:
    domain, cuboids = content.schema.domain, content.plan.workload.cuboids
    many = len(cuboids) > MOST_CSV
    return [
        {
            "file": ALL if many else csv_name(place),
            "attributes": list(domain.named(cuboid)),
            "cells": domain.cells(cuboid),
        }
        for place, cuboid in enumerate(cuboids)
    ]


def _ledger(content: Content) -> dict[str, Any]:
    receipt = content.receipt
    return {"dataset": receipt.dataset, "sequence": receipt.sequence, "head": receipt.head}
