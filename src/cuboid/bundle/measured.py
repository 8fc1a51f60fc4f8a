"""measurements.parquet: one tidy row per noisy number. All else in a bundle can be recomputed from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cuboid.bundle.arrow import labelled, numbers, read_parquet, values
from cuboid.bundle.files import MEASUREMENTS, there, whole
from cuboid.errors import BundleError
from cuboid.measurement import Measurements
from cuboid.planning import query_variance
from cuboid.privacy import Form
from cuboid.residual import squared_lengths

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from cuboid.planning import Plan


SEEDED = "insecure-"  # how the nonce of a drawing begins whose seed is known


def as_arrow(measurements: Measurements, plan: Plan) -> pa.Table:
    """The measurements as a table.

    query       place of the query in the plan          numerator   the noisy answer times 2^exponent, an integer
    attributes  what it is about                        value       the noisy answer, in people
    form        table (a cell) or contrast (integer     sd          standard deviation of its noise
                Helmert contrasts of the residual)
    cell        place in the answer, row by row
    """
    import pyarrow as pa

    queries, sizes = plan.queries, [answer.size for answer in measurements.answers]
    names = [" ".join(plan.schema.domain.named(query.cuboid)) for query in queries]
    places = np.repeat(np.arange(len(queries), dtype=np.int32), sizes)
    flat = np.concatenate([answer.reshape(-1) for answer in measurements.answers])
    forms = np.array([query.form is Form.CONTRAST for query in queries], dtype=np.int32)[places]
    cells = np.concatenate([np.arange(size, dtype=np.int32) for size in sizes])
    sds = np.concatenate([_sds(place, measurements, plan) for place in range(len(queries))])
    return pa.table(
        {
            "query": numbers(places),
            "attributes": labelled(names, places),
            "form": labelled([Form.TABLE.value, Form.CONTRAST.value], forms),
            "cell": numbers(cells),
            "numerator": numbers(flat),
            "value": numbers(np.ldexp(flat.astype(np.float64), -measurements.exponent)),
            "sd": numbers(sds),
        }
    )


def _sds(place: int, measurements: Measurements, plan: Plan) -> Any:
    query = plan.queries[place]
    sd = query_variance(query, measurements.mechanism, measurements.exponent) ** 0.5
    if query.form is Form.TABLE:
        return np.full(measurements.answers[place].size, sd)
    return sd * np.sqrt(squared_lengths(query.table_shape(plan.sizes)).reshape(-1).astype(np.float64))


def write_measurements(measurements: Measurements, plan: Plan, folder: Path) -> None:
    """Write measurements.parquet."""
    import pyarrow.parquet as pq

    with whole(folder / MEASUREMENTS) as partial:
        pq.write_table(as_arrow(measurements, plan), partial, compression="zstd")


def agrees(folder: Path, measurements: Measurements, plan: Plan) -> bool:
    """Whether the file's columns are those that the measurements have, and hold the same, to rounding."""
    stored, expected = read_parquet(folder / MEASUREMENTS), as_arrow(measurements, plan)
    if stored.column_names != expected.column_names:
        return False
    return all(
        np.allclose(values(stored.column(name)), values(expected.column(name)), rtol=1e-9, atol=0)
        if name in ("value", "sd")
        else stored.column(name).to_pylist() == expected.column(name).to_pylist()
        for name in ("attributes", "form", "value", "sd")
    )


def read_measurements(folder: Path, plan: Plan, facts: dict[str, Any]) -> Measurements:
    """The measurements in a bundle, in the plan's shapes. Raises BundleError where they do not fit the plan."""
    path = folder / MEASUREMENTS
    if not there(path):
        raise BundleError(f"{folder} has no {MEASUREMENTS}: it is no release, or only part of one")
    sizes = [query.answers(plan.sizes) for query in plan.queries]
    query, cell, numerator = _columns(path)
    if numerator.dtype != np.int64 or numerator.size != sum(sizes):
        raise BundleError(f"{path} has another number of answers than the plan asks for: the bundle was altered")
    if not np.array_equal(query, np.repeat(np.arange(len(sizes)), sizes)):
        raise BundleError(f"{path} does not hold the answers to the plan's queries: the bundle was altered")
    if not np.array_equal(cell, np.concatenate([np.arange(size) for size in sizes])):
        raise BundleError(f"{path} has cells out of order: the bundle was altered")
    parts = np.split(numerator, np.cumsum(sizes)[:-1])
    try:
        exponent, total = int(facts["exponent"]), None if facts["total"] is None else int(facts["total"])
        nonce, private = str(facts["nonce"]), {True: True, False: False}[facts["private"]]
    except (KeyError, TypeError, ValueError, ArithmeticError):
        raise BundleError(f"{folder} lacks what belongs to its measurements: the bundle was altered") from None
    if private and nonce.startswith(SEEDED):
        raise BundleError(f"{path} was drawn with a known seed, and says that it was not: the bundle was altered")
    if exponent != plan.exponent:
        raise BundleError(f"{path} is on another grid than the plan's: the bundle was altered")
    return Measurements(
        mechanism=plan.mechanism,
        exponent=exponent,
        queries=plan.queries,
        answers=tuple(
            part.reshape(query.shape(plan.sizes)).copy() for part, query in zip(parts, plan.queries, strict=True)
        ),
        total=total,
        nonce=nonce,
        private=private,
    )  # fmt: skip


def _columns(path: Path) -> list[NDArray[Any]]:
    """query, cell and numerator of every measurement."""
    import pyarrow as pa

    try:
        table = read_parquet(path, ["query", "cell", "numerator"])
        found = [values(column) for column in table.columns if not column.null_count]
    except (OSError, KeyError, TypeError, ValueError, NotImplementedError, pa.ArrowException):
        found = []
    if len(found) != 3:
        raise BundleError(f"{path} cannot be read: it is not the file that Cuboid wrote")
    return found
