"""The gate: the one function that turns exact counts into noisy ones.

It trusts nothing in a plan but its queries and the guarantee that was typed: the cost of the queries is computed
anew, compared with the guarantee, written to the ledger, and only then is noise drawn. What comes out is stored
before anybody looks at it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cuboid.errors import PlanError, SchemaError
from cuboid.measurement import LAW_OF, Measurements, Query, cost_of
from cuboid.noise import check_parameters, draw
from cuboid.planning import digest, refuse_misfit
from cuboid.privacy import Form, Mechanism
from cuboid.privacy.ledger import Request
from cuboid.residual import contrasts, squared_lengths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from fractions import Fraction

    from numpy.typing import NDArray

    from cuboid.counting import ExactTables
    from cuboid.noise import Words
    from cuboid.planning import Plan
    from cuboid.privacy.ledger import Ledger, Receipt

_CHUNK = 1 << 21
_LARGEST = 2**63 - 1
_SAFE = 2**61


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """One drawing of noise: its nonce, where the release and the data lie, and whether nobody can repeat it."""

    nonce: str
    folder: str | None
    source: str | None
    private: bool


def measure(
    plan: Plan,
    tables: ExactTables,
    *,
    ledger: Ledger,
    occasion: Occasion,
    words: Words,
    keep: Callable[[Measurements, Receipt], None],
) -> tuple[Measurements, Receipt]:
    """The noisy answers to a plan's queries, already stored by `keep`, and the ledger's receipt.

    Guarantee:
        the answers, and the number of rows where the relation makes it public, are all that leaves; they satisfy
        plan.loss under plan.unit. Exact counts meet noise as integers (docs/proofs/noise.md), so no float sees them.
        A failure after the ledger is written loses budget, never privacy.
    """
    check(plan)
    noise = _Noise.of(plan)
    receipt = ledger.spend(request(plan, occasion))
    answers: list[NDArray[np.int64]] = []
    for chunk in _chunks(plan):
        answers += [
            _numerators(_exact(query, tables), own, plan.exponent)
            for query, own in zip(chunk, noise.draw(chunk, words), strict=True)
        ]
    measurements = Measurements(
        mechanism=plan.mechanism,
        exponent=plan.exponent,
        queries=plan.queries,
        answers=tuple(answers),
        total=int(tables.open_at_the_gate(())) if plan.unit.total_is_public else None,
        nonce=occasion.nonce,
        private=occasion.private,
    )
    keep(measurements, receipt)
    return measurements, receipt


def request(plan: Plan, occasion: Occasion) -> Request:
    """What the ledger is asked for: the guarantee as it was typed, which the plan's cost does not exceed."""
    return Request(
        dataset=plan.schema.name,
        spend=plan.loss.spend,
        guarantee=plan.loss.typed(),
        unit=plan.unit,
        plan=digest(plan),
        folder=occasion.folder,
        source=occasion.source,
        disclosures=("the number of rows, exactly",) if plan.unit.total_is_public else (),
        private=occasion.private,
        release=occasion.nonce,
    )


def check(plan: Plan) -> None:
    """Refuse a plan that could cost more than its guarantee, or whose schema does not fit its unit of protection.

    Guarantee:
        the cost is computed from the queries alone, by proved sensitivities; what the plan says of it is not read.
        A dataset in which a person may own several rows is refused while nothing holds them to a number.
        Raises PlanError or SchemaError, and nothing has been spent.
    """
    schema = plan.schema
    if schema.unit is not None:
        raise SchemaError(
            f"the schema of {schema.name} says that a person, in {schema.unit}, may own several rows, and this version "
            "cannot yet hold people to max_rows: prepare one row a person and drop `unit` from the schema"
        )
    refuse_misfit(schema, plan.unit)
    if any(attribute >= len(plan.sizes) for query in plan.queries for attribute in query.cuboid):
        raise PlanError("the plan asks for an attribute that its schema lacks: make it again with `cuboid plan`")
    cost = cost_of(plan.queries, plan.mechanism, plan.sizes, plan.unit)
    if not plan.queries or cost.amount > plan.loss.spend.amount:
        raise PlanError("the plan's queries cost more than the guarantee it names: make it again with `cuboid plan`")


@dataclass(frozen=True, slots=True)
class _Noise:
    """The parameters of a plan's noise, each distinct one once, and which of them each answer has."""

    plan: Plan
    parameters: list[Fraction]
    which: dict[tuple[Form, tuple[int, ...], Fraction], NDArray[np.int64]]

    @classmethod
    def of(cls, plan: Plan) -> _Noise:
        """The noise that the queries ask for. Raises ParameterError where it cannot be drawn."""
        found = cls(plan, [], {})
        for query in plan.queries:
            key = found._key(query)
            if key not in found.which:
                values, places = _parameters(query, plan)
                found.which[key] = places + len(found.parameters)
                found.parameters.extend(values)
        check_parameters(LAW_OF[plan.mechanism], found.parameters)
        return found

    def draw(self, queries: list[Query], words: Words) -> Iterator[NDArray[np.int64]]:
        """Fresh, independent noise for each query's answers, shaped as they are."""
        places = [self.which[self._key(query)] for query in queries]
        flat = np.concatenate([own.reshape(-1) for own in places])
        drawn = draw(LAW_OF[self.plan.mechanism], self.parameters, flat, words)
        parts = np.split(drawn, np.cumsum([own.size for own in places])[:-1])
        return (part.reshape(own.shape) for part, own in zip(parts, places, strict=True))

    def _key(self, query: Query) -> tuple[Form, tuple[int, ...], Fraction]:
        return query.form, query.table_shape(self.plan.sizes), query.weight


def _parameters(query: Query, plan: Plan) -> tuple[list[Fraction], NDArray[np.int64]]:
    """The distinct noise parameters of a query's answers, and which of them each answer has."""
    shape = query.shape(plan.sizes)
    if plan.mechanism is Mechanism.PURE:
        return [query.weight], np.zeros(shape, dtype=np.int64)
    variance = 4**plan.exponent / query.weight
    if query.form is Form.TABLE:
        return [variance], np.zeros(shape, dtype=np.int64)
    lengths, which = np.unique(squared_lengths(query.table_shape(plan.sizes)), return_inverse=True)
    return [variance * int(length) for length in lengths], which.reshape(shape).astype(np.int64)


def _chunks(plan: Plan) -> Iterator[list[Query]]:
    """The queries, in order, in groups that share one drawing of noise."""
    chunk: list[Query] = []
    held = 0
    for query in plan.queries:
        chunk.append(query)
        held += query.answers(plan.sizes)
        if held >= _CHUNK:
            yield chunk
            chunk, held = [], 0
    if chunk:
        yield chunk


def _exact(query: Query, tables: ExactTables) -> NDArray[Any]:
    table = tables.open_at_the_gate(query.cuboid)
    if query.form is Form.TABLE:
        return table
    return np.asarray(contrasts(table[np.newaxis])[0])


def _numerators(exact: NDArray[Any], noise: NDArray[np.int64], exponent: int) -> NDArray[np.int64]:
    """exact * 2^exponent + noise, stopped at the ends of int64, whatever the size of the counts."""
    largest = max(int(exact.max(initial=0)), -int(exact.min(initial=0)))
    if largest < _SAFE >> exponent and exact.dtype == np.int64:
        return np.asarray((exact << exponent) + noise)
    summed = exact.astype(object) * 2**exponent + noise.astype(object)
    return np.asarray(np.clip(summed, -_LARGEST, _LARGEST), dtype=np.int64)
