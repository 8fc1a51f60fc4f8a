"""Whole releases, repeated: raw is unbiased, its sd is right, and 95 % intervals hold the truth 95 % of the time."""

from __future__ import annotations

import csv
import dataclasses
import functools
import gzip
import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

import oracle
from cuboid.bundle.table import ReleasedTable
from cuboid.counting import count_rows
from cuboid.domain import Schema, closure
from cuboid.gate import Occasion, measure
from cuboid.measurement import LAW_OF
from cuboid.noise import InsecureWords, fourth_cumulant
from cuboid.privacy import loss
from cuboid.privacy.ledger import Ledger
from cuboid.recovery import recover
from cuboid.session import plan, release
from cuboid.sources import open_source
from noisy_plans import linear_recovery, parameters_of
from significance import ALPHA, CONTROLS, clopper_pearson, z_test

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cuboid.measurement import Measurements
    from cuboid.planning import CellError, Plan

DATA = Path(__file__).parents[2] / "examples" / "data"
CLASSICS = ("HairEyeColor", "UCBAdmissions", "DanishWelfare")
GUARANTEES = {
    "pure, wide": {"epsilon": "0.2"},
    "pure, narrow": {"epsilon": "3"},
    "rho": {"rho": "0.02"},
    "approximate": {"epsilon": "1", "delta": "1e-6"},
}
CONFIGURATIONS = [
    (strategy, guarantee)
    for strategy in ("identity", "direct", "residual")
    for guarantee in GUARANTEES
    if strategy != "residual" or not guarantee.startswith("pure")
]
each_configuration = pytest.mark.parametrize(("strategy", "guarantee"), CONFIGURATIONS)
TITANIC = "[] [Class] [Class Age]"
CELLS = {"total": ((), ()), "large": ((0,), (3,)), "small": ((0, 2), (0, 0)), "empty": ((0, 2), (3, 0))}
DRAWINGS = 10_000


class Unrecorded:
    """A ledger that lets everything pass: the same receipt for every repetition."""

    def spend(self, request: Any) -> None:
        """Nothing is written."""


@functools.cache
def schema_of(name: str, relation: str = "add-remove") -> Schema:
    """The schema of a bundled table; under replace, one that drops no row."""
    schema = Schema.load(DATA / f"{name}.toml")
    if relation == "add-remove":
        return schema
    kept = tuple(dataclasses.replace(own, outside=own.categories[0]) for own in schema.domain.attributes)
    return dataclasses.replace(schema, domain=dataclasses.replace(schema.domain, attributes=kept))


@functools.cache
def full_table(name: str) -> np.ndarray:
    """The table over the whole domain, counted row by row from the text."""
    schema, path = schema_of(name), DATA / f"{name}.csv"
    packed = None if path.exists() else gzip.decompress((DATA / f"{name}.csv.gz").read_bytes())
    text = path.read_text() if packed is None else packed.decode()
    table = np.zeros(schema.domain.sizes, dtype=np.int64)
    for row in csv.DictReader(io.StringIO(text)):
        cell = tuple(own.position(row[own.name]) for own in schema.domain.attributes)
        table[cell] += int(row[schema.count]) if schema.count else 1
    return table


def truth_of(name: str, cuboid: tuple[int, ...]) -> np.ndarray:
    """The exact table of a cuboid."""
    full = full_table(name)
    return full.sum(axis=tuple(axis for axis in range(full.ndim) if axis not in cuboid))


@functools.cache
def source_of(name: str) -> Path:
    """The data file of a bundled table."""
    path = DATA / f"{name}.csv"
    return path if path.exists() else DATA / f"{name}.csv.gz"


@functools.cache
def planned(name: str, wanted: str, strategy: str, guarantee: str, relation: str = "add-remove") -> Plan:
    """A plan for a bundled table."""
    return plan(schema_of(name, relation), wanted, strategy=strategy, relation=relation, **GUARANTEES[guarantee])


def measured(name: str, made: Plan, drawings: int, seed: int) -> Iterator[Measurements]:
    """The gate's output, again and again: data are counted once, noise is drawn anew from one stream of words."""
    cuboids = [query.cuboid for query in made.queries] + [()]
    exact = count_rows(open_source(source_of(name)), made.schema, cuboids)
    words = InsecureWords(seed)
    for drawing in range(drawings):
        occasion = Occasion(nonce=str(drawing), folder=None, source=None, private=False)
        found, _ = measure(made, exact, ledger=Unrecorded(), occasion=occasion, words=words, keep=lambda *_: None)
        yield found


@functools.cache
def titanic_errors(strategy: str, guarantee: str) -> dict[str, tuple[np.ndarray, float]]:
    """Errors of one empty, small and large cell and of the total, over independent drawings; and fourth cumulants."""
    made = planned("Titanic4way", TITANIC, strategy, guarantee)
    flat = [
        np.concatenate([answer.reshape(-1) for answer in found.answers])
        for found in measured("Titanic4way", made, DRAWINGS, seed=11)
    ]
    answers = np.stack(flat, axis=1).astype(float)
    cumulants = fourth_cumulant(LAW_OF[made.mechanism], np.array([float(p) for p in parameters_of(made)]))
    errors = {}
    for kind, (cuboid, cell) in CELLS.items():
        shape = tuple(made.sizes[i] for i in cuboid)
        place = int(np.ravel_multi_index(cell, shape)) if cuboid else 0
        row = linear_recovery(made, cuboid)[place]
        truth = truth_of("Titanic4way", cuboid).reshape(-1)[place]
        errors[kind] = row @ answers - truth, float(row**4 @ cumulants)
    return errors


def test_the_cells_are_what_they_are_called() -> None:
    """The cells chosen for the coverage test are empty, small, large and the total."""
    truths = {kind: int(truth_of("Titanic4way", cuboid)[cell]) for kind, (cuboid, cell) in CELLS.items()}
    assert truths["empty"] == 0
    assert 0 < truths["small"] < 10
    assert truths["large"] > 500
    assert truths["total"] == 2201


@each_configuration
def test_repeated_recovery_is_the_linear_map(strategy: str, guarantee: str) -> None:
    """The matrix that stands for recovery in these tests gives what recovery gives."""
    made = planned("Titanic4way", TITANIC, strategy, guarantee)
    (found,) = measured("Titanic4way", made, 1, seed=3)
    estimate = recover(found, made.needed, made.sizes)
    flat = np.concatenate([answer.reshape(-1) for answer in found.answers])
    for cuboid in made.workload.cuboids:
        np.testing.assert_allclose(estimate.table(cuboid).reshape(-1), linear_recovery(made, cuboid) @ flat, atol=1e-8)


@pytest.mark.parametrize("kind", CELLS)
@each_configuration
def test_raw_is_unbiased_and_its_sd_is_right(strategy: str, guarantee: str, kind: str) -> None:
    """Errors of a cell have mean 0 and the predicted standard deviation, to sampling error; 10 % off is noticed."""
    made = planned("Titanic4way", TITANIC, strategy, guarantee)
    errors, fourth = titanic_errors(strategy, guarantee)[kind]
    sd = made.predicted_error(*made.schema.domain.named(CELLS[kind][0])).sd
    assert 2 * stats.norm.sf(abs(errors.mean()) / (sd / math.sqrt(errors.size))) > ALPHA
    assert 2 * stats.norm.sf(abs(errors.mean() + 0.1 * sd) / (sd / math.sqrt(errors.size))) < ALPHA
    assert z_test(errors, variance=sd**2, fourth_cumulant=fourth) > ALPHA
    for scale in (0.9, 1.1):  # the suite of strategies has enough drawings for 5 %
        assert z_test(errors * scale, variance=sd**2, fourth_cumulant=fourth) < ALPHA


@pytest.mark.parametrize("kind", CELLS)
@each_configuration
def test_intervals_hold_the_truth(strategy: str, guarantee: str, kind: str) -> None:
    """95 % intervals hold it 94.1 to 95.8 % of the time; more only where the noise is coarse (sd below 5)."""
    made = planned("Titanic4way", TITANIC, strategy, guarantee)
    errors, _ = titanic_errors(strategy, guarantee)[kind]
    law = made.predicted_error(*made.schema.domain.named(CELLS[kind][0]))
    share, low, high = coverage(errors, law)
    assert high >= 0.941
    assert share >= 0.94
    if law.sd >= 5:
        assert low <= 0.958
        assert share <= 0.959
        assert coverage(errors * 1.15, law)[2] < 0.941  # controls
        assert coverage(errors * 0.85, law)[1] > 0.958


def coverage(errors: np.ndarray, law: CellError) -> tuple[float, float, float]:
    """How often released intervals hold a truth of 100, and the confidence interval of that share."""
    columns = ReleasedTable(attributes=("x",), categories=(("y",) * errors.size,), raw=100 + errors, error=law).columns
    held = (columns["lo95"] <= 100) & (columns["hi95"] >= 100)
    return float(held.mean()), *clopper_pearson(int(held.sum()), held.size, ALPHA)


@pytest.mark.parametrize("name", CLASSICS)
@each_configuration
def test_every_cell_of_the_classics(name: str, strategy: str, guarantee: str) -> None:
    """Every cell of every wanted table: standardised errors have mean 0 and sd 1 over 300 releases."""
    check_every_cell(name, planned(name, "all 0..2-way", strategy, guarantee))


@pytest.mark.parametrize(
    ("strategy", "guarantee"), [("direct", "pure, wide"), ("residual", "rho"), ("identity", "rho")]
)
def test_every_cell_under_replace(strategy: str, guarantee: str) -> None:
    """Under replace the total is exact, and all other cells are as predicted."""
    made = planned("HairEyeColor", "all 0..2-way", strategy, guarantee, "replace")
    check_every_cell("HairEyeColor", made)
    for found in measured("HairEyeColor", made, 3, seed=1):
        assert recover(found, made.needed, made.sizes).table(()) == truth_of("HairEyeColor", ())


def check_every_cell(name: str, made: Plan, drawings: int = 300) -> None:
    """Mean and mean square of every cell's standardised error, each against its law over independent drawings."""
    errors: dict[tuple[int, ...], list[np.ndarray]] = {cuboid: [] for cuboid in made.workload.cuboids}
    for found in measured(name, made, drawings, seed=23):
        for cuboid, table in recover(found, made.needed, made.sizes).tables(errors):
            errors[cuboid].append(table.reshape(-1))
    cumulants = fourth_cumulant(LAW_OF[made.mechanism], np.array([float(p) for p in parameters_of(made)]))
    for cuboid, tables in errors.items():
        sd = made.predicted_error(*made.schema.domain.named(cuboid)).sd
        if sd == 0:
            continue
        z = (np.stack(tables) - truth_of(name, cuboid).reshape(-1)) / sd
        assert 2 * stats.norm.sf(np.abs(z.mean(axis=0)).max() * math.sqrt(drawings)) > ALPHA
        fourth = linear_recovery(made, cuboid)[0] ** 4 @ cumulants / sd**4
        spread = (np.mean(z * z, axis=0) - 1) / math.sqrt((fourth + 2) / drawings)
        assert 2 * stats.norm.sf(np.abs(spread).max()) > ALPHA / 10  # a sum of squares leans to the right


@pytest.mark.parametrize(("strategy", "guarantee"), [c for c in CONFIGURATIONS if c[1] != "pure, narrow"])
def test_adult_contrast_by_contrast(strategy: str, guarantee: str) -> None:
    """On Adult, the 1,350 orthonormal contrasts of all residuals' errors are uncorrelated, with variance t_T."""
    made = planned("adult8", "all 0..2-way", strategy, guarantee)
    scales = made.error_law().scales
    means, squares = [], []
    for found in measured("adult8", made, 16 if strategy == "identity" else 20, seed=5):
        z = adult_contrasts(made, recover(found, made.needed, made.sizes), scales)
        means.append(z.mean() * math.sqrt(z.size))
        squares.append(np.mean(z * z))
    assert 2 * stats.norm.sf(abs(sum(means)) / math.sqrt(len(means))) > ALPHA
    assert stats.ttest_1samp(squares, 1.0).pvalue > ALPHA
    for scale in CONTROLS:
        assert stats.ttest_1samp(np.array(squares) * scale**2, 1.0).pvalue < ALPHA


def adult_contrasts(made: Plan, estimate: Any, scales: Any) -> np.ndarray:
    """Standardised orthonormal contrasts of the errors of all residuals, one after the other."""
    found = []
    for part in closure(made.workload.cuboids):
        errors = estimate.table(part) - truth_of_adult(part)
        for axis, attribute in enumerate(part):
            rows = orthonormal(made.sizes[attribute])
            errors = np.moveaxis(np.tensordot(rows, errors, axes=(1, axis)), 0, axis)
        found.append(np.reshape(errors, -1) / math.sqrt(scales[part]))
    return np.concatenate(found)


@functools.cache
def truth_of_adult(cuboid: tuple[int, ...]) -> np.ndarray:
    """The exact table of a cuboid of Adult, summed once."""
    return truth_of("adult8", cuboid)


@functools.cache
def orthonormal(size: int) -> np.ndarray:
    """Helmert's rows, each divided by its length."""
    rows = oracle.helmert(size).astype(float)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def opened(made: Plan, folder: Path) -> Path:
    """A ledger with an account that holds just what the plan spends."""
    path = folder / "ledger"
    Ledger.at(path).open_account(made.schema.name, loss=made.loss, unit=made.unit)
    return path


@pytest.mark.parametrize("guarantee", ["pure, wide", "approximate"])
@pytest.mark.parametrize("strategy", ["direct", "auto"])
def test_a_whole_release_of_adult(tmp_path: Path, strategy: str, guarantee: str) -> None:
    """From CSV to tables: sd and intervals as planned, intervals nearly always right, no error above 8 sd."""
    made = plan(schema_of("adult8"), "all 1..2-way", strategy=strategy, **GUARANTEES[guarantee])
    found = release(source_of("adult8"), made, ledger=opened(made, tmp_path), insecure_seed=8)
    held, cells = 0, 0
    for cuboid in made.workload.cuboids:
        names = made.schema.domain.named(cuboid)
        columns, truth = found.table(*names).columns, truth_of_adult(cuboid).reshape(-1)
        law = made.predicted_error(*names)
        np.testing.assert_allclose(columns["sd"], law.sd, rtol=1e-12)
        np.testing.assert_allclose(columns["hi95"] - columns["lo95"], 2 * law.half95, rtol=1e-9)
        assert np.abs((columns["raw"] - truth) / law.sd).max() < 8
        held += int(((columns["lo95"] <= truth) & (truth <= columns["hi95"])).sum())
        cells += truth.size
    assert 0.92 < held / cells < 0.98


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_tables_of_a_release_agree_on_their_margins(tmp_path: Path, guarantee: str) -> None:
    """Every shared margin of two raw tables of one release is the same."""
    made = plan(schema_of("UCBAdmissions"), "all 0..2-way", strategy="direct", **GUARANTEES[guarantee])
    found = release(source_of("UCBAdmissions"), made, ledger=opened(made, tmp_path), insecure_seed=4)
    tables = {cuboid: found.table(*made.schema.domain.named(cuboid)).raw for cuboid in made.workload.cuboids}
    for cuboid, table in tables.items():
        for other, smaller in tables.items():
            if set(other) < set(cuboid):
                summed = table.sum(axis=tuple(axis for axis, i in enumerate(cuboid) if i not in other))
                np.testing.assert_allclose(summed, smaller, atol=1e-8 * max(1.0, float(np.abs(smaller).max())))


def test_guarantees_are_distinct() -> None:
    """The guarantees above spend pure epsilon, rho, and epsilon with delta."""
    kinds = {type(loss(**amounts)).__name__ for amounts in GUARANTEES.values()}
    assert kinds == {"Pure", "Concentrated", "Approximate"}
