"""The whole story: schema and workload -> plan -> gate -> recovery -> release."""

from __future__ import annotations

import secrets
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from cuboid import strategies
from cuboid.domain import Schema
from cuboid.errors import BundleError, CuboidWarning, ParameterError, WorkloadError
from cuboid.planning import Plan, digest, refuse_misfit
from cuboid.privacy import Number, Relation, Unit, loss
from cuboid.workload import Workload, named, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cuboid.bundle import Content, Release
    from cuboid.measurement import Measurements
    from cuboid.privacy.ledger import Ledger, Receipt

STEPS = ("reading and counting", "drawing noise", "recovering", "writing")


def plan(
    schema: Schema | str | Path,
    workload: str | Workload | Iterable[Iterable[str]],
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    relation: str = "add-remove",
    strategy: str = "auto",
    budget: str = "optimal",
) -> Plan:
    """The plan for the wanted tables within a privacy budget: what to ask, and how far off each table will be.

    No data are needed, so plan as often as you like. Say epsilon, epsilon and delta, or rho.
    """
    own = schema if isinstance(schema, Schema) else Schema.load(schema)
    unit = Unit(relation=Relation.of(relation), max_rows=own.max_rows)
    refuse_misfit(own, unit)
    return strategies.plan(
        strategies.Problem(
            schema=own,
            workload=_workload(workload, own),
            loss=loss(epsilon=epsilon, rho=rho, delta=delta),
            unit=unit,
            budget=budget,
        ),
        strategy,
    )


def release(
    data: object,
    plan: Plan,
    *,
    out: str | Path | None = None,
    table: str | None = None,
    ledger: str | Path | None = None,
    insecure_seed: int | None = None,
    on_step: Callable[[str], None] | None = None,
) -> Release:
    """The release of a plan: counts the data, spends the budget, and returns every wanted table with its error.

    data     path of a CSV, Parquet or DuckDB file (with `table`), or anything with an Arrow stream (pandas, polars)
    out      folder for the bundle; the same plan, dataset and folder again give back the same release, for free
    ledger   where spends are recorded (else $CUBOID_LEDGER, else the user's state folder)
    insecure_seed   makes the noise repeatable, and the release NOT PRIVATE
    """
    from cuboid.bundle import Content, claim, keep
    from cuboid.counting import count_rows
    from cuboid.gate import Occasion, check, measure, request
    from cuboid.noise import InsecureWords, SystemWords
    from cuboid.privacy.ledger import Ledger
    from cuboid.sources import open_source

    if not isinstance(plan, Plan):
        raise ParameterError("release needs a plan: make one with cb.plan(schema, workload, epsilon=...)")
    if insecure_seed is not None and (not isinstance(insecure_seed, int) or insecure_seed < 0):
        raise ParameterError("insecure_seed must be a whole number, not below 0")
    check(plan)
    book = Ledger.at(ledger)
    earlier = None if out is None else _same(plan, Path(out), insecure_seed, book, on_step)
    if earlier is not None:
        return earlier
    source = open_source(data, table=table)
    plan.schema.check_header(source.header)
    occasion = Occasion(
        nonce=_nonce(insecure_seed),
        folder=None if out is None else str(Path(out).absolute()),
        source=source.path,
        private=insecure_seed is None,
    )
    book.check(request(plan, occasion))
    claimed = None if out is None else claim(out)

    def stored(measurements: Measurements, receipt: Receipt) -> None:
        if claimed is not None:
            keep(Content(plan=plan, measurements=measurements, receipt=receipt), claimed.path)

    try:
        _say(on_step, 0)
        exact = count_rows(source, plan.schema, [query.cuboid for query in plan.queries] + _public(plan))
        _say(on_step, 1)
        words = SystemWords() if insecure_seed is None else InsecureWords(insecure_seed)
        measurements, receipt = measure(plan, exact, ledger=book, occasion=occasion, words=words, keep=stored)
    except BaseException:
        if claimed is not None:
            claimed.give_up()
        raise
    for warning in receipt.warnings:
        warnings.warn(warning, CuboidWarning, stacklevel=2)
    content = Content(plan=plan, measurements=measurements, receipt=receipt)
    return _finished(content, claimed.path if claimed is not None else None, on_step)


def recover(folder: str | Path, *, on_step: Callable[[str], None] | None = None) -> Release:
    """The release in a folder, recovered and written anew from its measurements. Costs no budget and reads no data."""
    from cuboid.bundle import read

    path = Path(folder).absolute()
    return _finished(read(path), path, on_step)


def open_release(folder: str | Path) -> Release:
    """The finished release in a folder."""
    from cuboid.bundle import Release, finished, read

    path = Path(folder).absolute()
    content = read(path)
    if not finished(path):
        raise BundleError(f"{folder} holds a release that was not finished: `cuboid recover {folder}` finishes it")
    return Release.of(content, path)


def _finished(content: Content, folder: Path | None, on_step: Callable[[str], None] | None) -> Release:
    from cuboid.bundle import Release, finish

    _say(on_step, 2)
    made = Release.of(content, folder)
    if folder is not None:
        _say(on_step, 3)
        finish(made, folder)
    return made


def _say(on_step: Callable[[str], None] | None, place: int) -> None:
    if on_step is not None:
        on_step(STEPS[place])


def _nonce(insecure_seed: int | None) -> str:
    from cuboid.bundle import SEEDED

    return secrets.token_hex(16) if insecure_seed is None else f"{SEEDED}{insecure_seed}"


def _same(
    plan: Plan, out: Path, insecure_seed: int | None, book: Ledger, on_step: Callable[[str], None] | None
) -> Release | None:  # fmt: skip
    """The release of this very plan that already lies in the folder: verified and returned, data unread."""
    from cuboid.bundle import finished, plan_of, read, verify
    from cuboid.bundle.files import RELEASE, there

    if not there(out / RELEASE) or digest(plan_of(out)) != digest(plan):
        return None
    earlier = read(out).measurements
    if not (earlier.private if insecure_seed is None else earlier.nonce == _nonce(insecure_seed)):
        return None
    if not book.knows(plan.schema.name, digest(plan), earlier.nonce):
        raise BundleError(f"{out} holds a release that this ledger did not pay for: choose another folder, or name the "
                          "ledger that did")  # fmt: skip
    if not finished(out):
        warnings.warn(f"{out} holds this release, not finished: going on from its measurements. Nothing was spent, "
                      "and data were not read", CuboidWarning, stacklevel=3)  # fmt: skip
        return recover(out, on_step=on_step)
    faults = [check for check in verify(out) if check.passed is False]
    if faults:
        raise BundleError(f"{out} holds this release, but it was altered ({faults[0].name}: {faults[0].detail}): "
                          "choose another folder")  # fmt: skip
    warnings.warn(f"{out} holds this very release, verified and returned. Nothing was spent, and data were not read",
                  CuboidWarning, stacklevel=3)  # fmt: skip
    return open_release(out)


def _public(plan: Plan) -> list[tuple[int, ...]]:
    return [()] if plan.unit.total_is_public else []


def _workload(wanted: str | Workload | Iterable[Iterable[str]], schema: Schema) -> Workload:
    if isinstance(wanted, Workload):
        if wanted.domain != schema.domain:
            raise ParameterError("the workload was made for another schema: parse it again with this one")
        return wanted
    if isinstance(wanted, str):
        return parse(wanted, schema.domain)
    try:
        return named([[table] if isinstance(table, str) else list(table) for table in wanted], schema.domain)
    except TypeError:
        raise WorkloadError(
            'the wanted tables must be text, such as "all 2-way", or a list of lists of names'
        ) from None
