"""Plans as JSON, and their digest. A plan that was read proves nothing: the gate recomputes all it relies on."""

from __future__ import annotations

import hashlib
import json
import re
from fractions import Fraction
from typing import Any

from cuboid.domain import Schema
from cuboid.errors import InputError, PlanError
from cuboid.measurement import Query
from cuboid.planning.plan import Plan, Rejected
from cuboid.privacy import Form, Relation, Unit, loss
from cuboid.workload import Workload

VERSION = 1
LEAST_WEIGHT = Fraction(1, 10**30)
MOST_ANSWERS = 1_000_000_000
_RATIONAL = re.compile(r"\d{1,2000}(/[1-9]\d{0,2000})?\Z")


def to_dict(plan: Plan) -> dict[str, Any]:
    """The plan as plain values, numbers as exact text."""
    domain = plan.schema.domain
    return {
        "version": VERSION,
        "schema": plan.schema.to_toml(),
        "workload": [[list(domain.named(cuboid)), str(weight)] for cuboid, weight in plan.workload.tables],
        "loss": plan.loss.typed(),
        "unit": {"relation": plan.unit.relation.value, "max_rows": plan.unit.max_rows},
        "strategy": plan.strategy,
        "budget": plan.budget,
        "queries": [
            [list(domain.named(query.cuboid)), query.form.value, str(query.weight)] for query in plan.queries
        ],
        "rejected": [[other.strategy, other.rmse, other.reason] for other in plan.rejected],
    }  # fmt: skip


def from_dict(document: dict[str, Any]) -> Plan:
    """The plan that `to_dict` wrote. Raises PlanError for anything else."""
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise PlanError(f"this is no plan of format version {VERSION}: make it again with `cuboid plan`")
    try:
        schema = Schema.from_toml(document["schema"])
        domain = schema.domain
        unit = document["unit"]
        plan = Plan(
            schema=schema,
            workload=Workload.of(
                domain, [(domain.cuboid(names), _positive(weight)) for names, weight in document["workload"]]
            ),
            loss=loss(**document["loss"]),
            unit=Unit(relation=Relation.of(unit["relation"]), max_rows=int(unit["max_rows"])),
            strategy=_text(document["strategy"]),
            budget=_text(document["budget"]),
            queries=tuple(
                Query(cuboid=domain.cuboid(names), form=Form(form), weight=_positive(weight))
                for names, form, weight in document["queries"]
            ),
            rejected=tuple(
                Rejected(strategy=name, rmse=rmse, reason=reason) for name, rmse, reason in document["rejected"]
            ),
        )  # fmt: skip
        if sum(query.answers(plan.sizes) for query in plan.queries) > MOST_ANSWERS:
            raise PlanError("the plan asks for more numbers than a machine holds: make it again with `cuboid plan`")
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise PlanError("the plan is not in the form that `cuboid plan` writes: make it again") from None
    return plan


def digest(plan: Plan) -> str:
    """SHA-256 of all that the plan asks for; the runners-up do not count."""
    document = {name: value for name, value in to_dict(plan).items() if name != "rejected"}
    return hashlib.sha256(json.dumps(document, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _positive(text: str) -> Fraction:
    """A weight as `to_dict` writes it; exponents are none, as they could stand for numbers beyond all memory."""
    if not _RATIONAL.match(text) or Fraction(text) <= 0:
        raise PlanError("the plan has a weight that is no positive rational: make it again with `cuboid plan`")
    weight = Fraction(text)
    if not LEAST_WEIGHT <= weight <= 1 / LEAST_WEIGHT:
        raise PlanError("the plan has a weight beyond all measure: make it again with `cuboid plan`")
    return weight


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise PlanError("the plan does not name its strategy and budget: make it again with `cuboid plan`")
    return value
