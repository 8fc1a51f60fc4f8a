"""The plan: which queries to ask, how noisy, and what error that leaves. Made without data; proves nothing."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cuboid.domain import Cuboid, Schema, closure, maximal
from cuboid.errors import ParameterError, PlanError
from cuboid.measurement import LAW_OF, Query, cost_of, grid_exponent
from cuboid.noise import check_parameters
from cuboid.planning.error_law import CellError, ErrorLaw
from cuboid.planning.explain import explain
from cuboid.planning.prediction import cell_variance, query_variance, residual_scales
from cuboid.privacy import Cost, Form, Loss, Mechanism, Unit, typed
from cuboid.workload import Workload, brackets, in_short, spellings

if TYPE_CHECKING:
    from collections.abc import Mapping

LIBRARIES = 130_000_000  # bytes, with a batch of rows
LARGEST_ETA = 500  # of one over a scale: e^-eta and its inverse are still ordinary numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A strategy that was not chosen: its predicted error, or why it does not fit."""

    strategy: str
    rmse: float | None
    reason: str


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan:
    """Queries and their noise, with everything that follows from them."""

    schema: Schema
    workload: Workload
    loss: Loss
    unit: Unit
    strategy: str
    budget: str
    queries: tuple[Query, ...]
    rejected: tuple[Rejected, ...] = field(default=(), compare=False)

    @property
    def mechanism(self) -> Mechanism:
        """Which noise the queries get."""
        return self.loss.spend.mechanism

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of categories of each attribute."""
        return self.schema.domain.sizes

    @cached_property
    def exponent(self) -> int:
        """k of the grid 2^-k on which answers are released."""
        return grid_exponent(self.mechanism, self.queries) if self.queries else 0

    @cached_property
    def needed(self) -> tuple[Cuboid, ...]:
        """The residuals that the wanted tables are made of."""
        return closure(self.workload.cuboids)

    def cost(self) -> Cost:
        """What the queries use up, recomputed from themselves alone."""
        return cost_of(self.queries, self.mechanism, self.sizes, self.unit)

    def refuse_extremes(self) -> None:
        """Raise ParameterError where noise would be too wide or too narrow to be drawn in 64-bit integers."""
        largest = LARGEST_ETA if self.mechanism is Mechanism.PURE else LARGEST_ETA**2
        if max(query.weight for query in self.queries) > largest:
            raise ParameterError("the budget is so large that noise vanishes: spend less, or publish the counts "
                                 "as what they then are, unprotected")  # fmt: skip
        widest = [query.weight for query in self.queries]
        if self.mechanism is Mechanism.GAUSSIAN:
            widest = [4**self.exponent * self._longest(query) / query.weight for query in self.queries]
        check_parameters(LAW_OF[self.mechanism], widest)

    def _longest(self, query: Query) -> int:
        """The largest squared length of a query's integer contrasts; 1 for cells."""
        if query.form is Form.TABLE:
            return 1
        return math.prod(self.sizes[i] * (self.sizes[i] - 1) for i in query.cuboid)

    def variances(self, *, ideal: bool = False) -> list[float]:
        """Noise variance of each query's cells or orthonormal contrasts."""
        return [query_variance(query, self.mechanism, self.exponent, ideal=ideal) for query in self.queries]

    def error_law(self, *, ideal: bool = False) -> ErrorLaw:
        """The errors of the wanted tables and of all their sub-tables; with `ideal`, of continuous noise."""
        return self._law(ideal=True) if ideal else self._real_law

    @cached_property
    def _real_law(self) -> ErrorLaw:
        return self._law(ideal=False)

    def _law(self, *, ideal: bool) -> ErrorLaw:
        variances = self.variances(ideal=ideal)
        scales = residual_scales(
            self.queries, variances, frozenset(self.needed), self.sizes, total_is_public=self.unit.total_is_public
        )
        return ErrorLaw(
            mechanism=self.mechanism, queries=self.queries, variances=variances, scales=scales, sizes=self.sizes
        )

    @cached_property
    def predicted(self) -> Mapping[Cuboid, CellError]:
        """The error of the cells of each wanted table."""
        law = self.error_law()
        found = {cuboid: law.of(cuboid) for cuboid in self.workload.cuboids}
        return {cuboid: error for cuboid, error in found.items() if error is not None}

    def predicted_error(self, *names: str) -> CellError:
        """The error of the cells of one wanted table, or of a sub-table of one."""
        cuboid = self.schema.domain.cuboid(names)
        error = self.predicted.get(cuboid) or self.error_law().of(cuboid)
        if error is None:
            raise PlanError(f"the plan does not cover [{' '.join(names)}]: it answers the wanted tables and their "
                            "sub-tables, so add it to the workload")  # fmt: skip
        return error

    def total_variance(self, *, ideal: bool = False, weighted: bool = False) -> float:
        """Sum of the variances of all cells of all wanted tables; with `weighted`, times each table's weight."""
        scales, domain = self.error_law(ideal=ideal).scales, self.schema.domain
        return math.fsum(
            (float(weight) if weighted else 1.0)
            * domain.cells(cuboid)
            * (cell_variance(cuboid, scales, self.sizes) or 0.0)
            for cuboid, weight in self.workload.tables
        )

    def rmse(self, *, ideal: bool = False) -> float:
        """Root of the mean variance over all cells of the wanted tables, unweighted."""
        cells = sum(self.schema.domain.cells(cuboid) for cuboid in self.workload.cuboids)
        return math.sqrt(self.total_variance(ideal=ideal) / cells)

    def summary(self) -> dict[str, Any]:
        """The plan's consequences as plain values: what `cuboid plan --json` prints."""
        domain, cost = self.schema.domain, self.cost()
        return {
            "dataset": self.schema.name,
            "workload": brackets(self.workload),
            "wanted": in_short(self.workload),
            "spellings": spellings(self.workload),
            "strategy": self.strategy,
            "budget": self.budget,
            "cost": {
                **self.loss.typed(),
                "mechanism": self.mechanism.value,
                "amount": typed(cost.amount),
                "sensitivity": cost.known,
                "relation": self.unit.relation.value,
                "max_rows": self.unit.max_rows,
            },
            "rmse": self.rmse(),
            "tables": [
                {
                    "attributes": list(domain.named(cuboid)),
                    "cells": domain.cells(cuboid),
                    "sd": error.sd,
                    "half95": error.half95,
                }
                for cuboid, error in self.predicted.items()
            ],
            "rejected": [
                {"strategy": other.strategy, "rmse": other.rmse, "reason": other.reason} for other in self.rejected
            ],
            "memory_bytes": self.memory(),
        }

    def memory(self) -> int:
        """Bytes that a release needs at its peak: a forecast, from the plan alone.

        The shares were fitted to measured peaks of releases with 1 to 9 million cells, and are a little high.
        """
        measured = sum(query.answers(self.sizes) for query in self.queries)
        counted = sum(self.schema.domain.cells(cuboid) for cuboid in maximal(query.cuboid for query in self.queries))
        residuals = sum(math.prod(self.sizes[i] for i in part) for part in self.needed)
        wanted = max(self.schema.domain.cells(cuboid) for cuboid in self.workload.cuboids)
        return LIBRARIES + 8 * (2 * counted + 4 * measured + 2 * residuals + 8 * wanted)

    def __repr__(self) -> str:
        guarantee = ", ".join(f"{name} = {value}" for name, value in self.loss.typed().items())
        return f"<plan for {self.schema.name}: {in_short(self.workload)}, {guarantee}, strategy {self.strategy}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.explain())}</pre>"

    def explain(self) -> str:
        """The plan in words, for a terminal."""
        return explain(self.summary())
