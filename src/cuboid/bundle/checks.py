"""Is a release what it says it is? Everything in it is recomputed from its measurements."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cuboid.bundle.card import card, statement
from cuboid.bundle.files import CARD, PACKAGE, RECEIPT, RELEASE, as_json, contents, read_json, sha256, there
from cuboid.bundle.measured import agrees
from cuboid.bundle.package import package
from cuboid.bundle.read import described, finished, read
from cuboid.bundle.table_file import stored
from cuboid.bundle.write import expected_files, facts
from cuboid.domain import subsets
from cuboid.errors import BundleError, CuboidError, LedgerError
from cuboid.planning import INTERVAL_RULE, digest
from cuboid.privacy.ledger import Spent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cuboid.bundle.content import Content
    from cuboid.domain import Cuboid
    from cuboid.privacy.ledger import Ledger

_MOST_SUBSETS = 6
_OF_THEIR_TIME = ("software", "intervals")  # what release.json says of the version that wrote it
_OTHER_RULE = 0.05  # of the half-width: how far intervals made under another rule may differ


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One question about a release; `passed` is None where it could not be asked."""

    name: str
    passed: bool | None
    detail: str


def verify(folder: str | Path, ledger: Ledger | None = None) -> tuple[Check, ...]:
    """Every check, in order; the ledger's where one is given. Raises BundleError where no release is finished."""
    path = Path(folder).absolute()
    document = described(path)
    if not finished(path):
        raise BundleError(f"{folder} holds a release that was not finished: `cuboid recover {folder}` finishes it")
    files = _files(path)
    try:
        content = read(path)
    except (ValueError, ArithmeticError, KeyError, TypeError) as error:  # refusals among them
        detail = str(error) if isinstance(error, CuboidError) else "they cannot be read as Cuboid writes them"
        return files, Check(name="measurements", passed=False, detail=detail)
    return (
        files,
        _guarantee(document, content),
        _measured(path, content),
        *_tables(path, document, content),
        _documents(path, document, content),
        _ledger(path, document, content, ledger),
    )


def _files(folder: Path) -> Check:
    """The files are those the receipt lists, to the byte."""
    receipt = read_json(folder / RECEIPT)
    listed = receipt.get("files") if isinstance(receipt, dict) else None
    if not isinstance(listed, dict):
        return Check(name="files", passed=False, detail=f"{RECEIPT} lists no files")
    present = contents(folder)
    changed = sorted(set(listed).symmetric_difference(present))
    changed += [name for name in present if name in listed and sha256(folder / name) != listed[name]]
    if changed:
        return Check(name="files", passed=False, detail=f"added, missing or altered: {', '.join(changed[:5])}")
    return Check(name="files", passed=True, detail=f"{len(present)} files are as the receipt says")


def _measured(folder: Path, content: Content) -> Check:
    """Every column of the measurements says what follows from numerators and plan."""
    if agrees(folder, content.measurements, content.plan):
        return Check(name="measurements", passed=True, detail="the measurements are answers to the plan's queries")
    return Check(name="measurements", passed=False, detail="their other columns do not follow from the numerators")


def _entry(document: dict[str, Any], name: str) -> dict[str, Any]:
    """A part of release.json that has parts of its own."""
    found = document.get(name)
    return found if isinstance(found, dict) else {}


def _documents(folder: Path, document: dict[str, Any], content: Content) -> Check:
    """The card and the package are what this release's would be, and nothing else lies there."""
    strangers = set(contents(folder)).difference(expected_files(content))
    if strangers:
        found = ", ".join(sorted(strangers)[:5])
        return Check(name="documents", passed=False, detail=f"not part of a release: {found}")
    if _entry(document, "software").get("cuboid") != version("cuboid"):
        return Check(name="documents", passed=None, detail="not asked: another version of Cuboid wrote them")
    texts = {CARD: card(content), PACKAGE: as_json(package(content))}
    wrong = [name for name, text in texts.items() if not _says(folder / name, text)]
    return _verdict("documents", wrong, "the card and the package say what follows from the release")


def _says(path: Path, text: str) -> bool:
    return there(path) and path.read_bytes() == text.encode()


def _guarantee(document: dict[str, Any], content: Content) -> Check:
    """The queries cost no more than the guarantee, and the statement is the plan's."""
    plan = content.plan
    if plan.cost().amount > plan.loss.spend.amount:
        return Check(name="guarantee", passed=False, detail="the queries cost more than the guarantee")
    if document.get("privacy") != statement(plan) or document.get("dataset") != plan.schema.name:
        return Check(name="guarantee", passed=False, detail="the privacy statement is not the plan's")
    expected = json.loads(as_json(facts(content)))
    other = sorted(set(document) - set(expected))
    other += [name for name in expected if name not in _OF_THEIR_TIME and document.get(name) != expected[name]]
    if other:
        return Check(name="guarantee", passed=False, detail=f"{RELEASE} says something else of: {', '.join(other)}")
    return Check(name="guarantee", passed=True, detail="the queries cost no more than the guarantee that is stated")


def _tables(folder: Path, document: dict[str, Any], content: Content) -> tuple[Check, Check, Check]:
    """The stored tables are complete, follow from the measurements, and agree on what they share."""
    incomplete: list[str] = []
    wrong: list[str] = []
    shared = _Margins(content)
    same_rule = _entry(document, "intervals").get("rule") == INTERVAL_RULE
    try:
        for own, cuboid in zip(
            stored(folder, content.tables()), content.plan.workload.cuboids, strict=True
        ):  # fmt: skip
            name = f"[{' '.join(own.table.attributes)}]"
            if not own.complete():
                incomplete.append(name)
                continue
            if np.isfinite(own.raw()).all():
                shared.add(cuboid, own.raw())
            if not own.right(0.0 if same_rule else _OTHER_RULE * own.table.error.half95 + 1):
                wrong.append(name)
    except (OSError, ValueError, KeyError, IndexError):
        incomplete.append("a file that cannot be read as a table")
    number = len(content.plan.workload.tables)
    return (
        _verdict("complete", incomplete, f"all {number} wanted tables are there, every cell in the schema's order"),
        _verdict("numbers", wrong, "raw, sd, lo95, hi95 and flag follow from the measurements"),
        _verdict("margins", shared.clashes, "tables agree wherever they share attributes"),
    )


class _Margins:
    """Margins that several tables share, each compared with the first one seen."""

    def __init__(self, content: Content) -> None:
        counts: Counter[Cuboid] = Counter()
        for cuboid in content.plan.workload.cuboids:
            counts.update(_parts(cuboid))
        self.shared = {part for part, number in counts.items() if number > 1}
        self.seen: dict[Cuboid, NDArray[np.float64]] = {}
        self.content = content
        self.clashes: list[str] = []

    def add(self, cuboid: Cuboid, values: NDArray[np.float64]) -> None:
        """Compare a table's shared margins with those seen so far."""
        span = 1e-7 * (float(np.abs(values).sum()) + 1) + 1e-6 * values.size
        for part in _parts(cuboid):
            if part in self.shared:
                margin = values.sum(axis=tuple(axis for axis, i in enumerate(cuboid) if i not in part))
                first = self.seen.setdefault(part, margin)
                if not np.allclose(first, margin, rtol=0, atol=span):
                    self.clashes.append(f"[{' '.join(self.content.schema.domain.named(part))}]")


def _parts(cuboid: Cuboid) -> list[Cuboid]:
    """A cuboid's subsets; of a large one, only those a shared margin is most likely to be."""
    if len(cuboid) <= _MOST_SUBSETS:
        return list(subsets(cuboid))
    return [(), *((i,) for i in cuboid), cuboid]


def _verdict(name: str, faults: list[str], good: str) -> Check:
    detail = f"not so: {', '.join(faults[:5])}" if faults else good
    return Check(name=name, passed=not faults, detail=detail)


def _ledger(folder: Path, document: dict[str, Any], content: Content, ledger: Ledger | None) -> Check:
    """The ledger still holds the entry that the release was spent under."""
    receipt = content.receipt
    written = read_json(folder / RECEIPT)
    if not isinstance(written, dict) or written.get("ledger") != document.get("ledger"):
        return Check(name="ledger", passed=False, detail=f"{RECEIPT} and {RELEASE} name different entries")
    if ledger is None:
        return Check(name="ledger", passed=None, detail="not asked: no ledger at hand knows this dataset")
    try:
        ledger.verify(receipt.dataset, head=receipt.head, sequence=receipt.sequence)
    except LedgerError as error:
        return Check(name="ledger", passed=False, detail=str(error))
    entry = ledger.account(receipt.dataset).entries[receipt.sequence - 1].record
    release = (digest(content.plan), content.measurements.nonce, content.private)
    if not isinstance(entry, Spent) or release != (entry.request.plan, entry.request.release, entry.request.private):
        return Check(name="ledger", passed=False, detail="the ledger's entry is about another release")
    return Check(name="ledger", passed=True, detail="the ledger holds the spend, in an unbroken chain")
