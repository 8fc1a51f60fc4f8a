"""Bundles read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cuboid.bundle.content import Content
from cuboid.bundle.files import FORMAT, RECEIPT, RELEASE, read_json, there
from cuboid.bundle.measured import read_measurements
from cuboid.errors import BundleError
from cuboid.planning import Plan, from_dict
from cuboid.privacy.ledger import Receipt


def read(folder: str | Path) -> Content:
    """What the release in a folder holds, finished or not. Raises BundleError where it is no release."""
    path = Path(folder).absolute()
    document = described(path)
    plan = _plan(document, path)
    try:
        ledger = document["ledger"]
        receipt = Receipt(dataset=str(ledger["dataset"]), sequence=int(ledger["sequence"]), head=str(ledger["head"]))
        facts = document["measurements"]
    except (KeyError, TypeError, ValueError):
        raise BundleError(f"{path / RELEASE} lacks what Cuboid writes there: the bundle was altered") from None
    return Content(plan=plan, measurements=read_measurements(path, plan, facts), receipt=receipt)


def described(folder: Path) -> dict[str, Any]:
    """release.json of a folder, of a format that this version reads."""
    if not there(folder / RELEASE) and not _is_folder(folder):
        raise BundleError(f"there is no folder {folder}: name the folder that `cuboid release -o` wrote")
    document = read_json(folder / RELEASE)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BundleError(f"{folder / RELEASE} is not of format {FORMAT}: open it with the version that wrote it")
    return document


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def finished(folder: Path) -> bool:
    """Whether a bundle has its receipt, which is written last."""
    return there(folder / RECEIPT)


def plan_of(folder: Path) -> Plan:
    """The plan of the release in a folder."""
    return _plan(described(folder), folder)


def _plan(document: dict[str, Any], folder: Path) -> Plan:
    if not isinstance(document.get("plan"), dict):
        raise BundleError(f"{folder / RELEASE} has no plan: the bundle was altered")
    return from_dict(document["plan"])
