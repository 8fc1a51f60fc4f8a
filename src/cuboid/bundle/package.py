"""datapackage.json: the bundle described for tools that read Frictionless Data Packages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cuboid.bundle.files import MEASUREMENTS
from cuboid.bundle.table_file import ALL, MOST_CSV, csv_name

if TYPE_CHECKING:
    from cuboid.bundle.content import Content
    from cuboid.domain import Cuboid

_NUMBERS = (
    ("raw", "Signed, unbiased noisy count."),
    ("sd", "Standard deviation of raw."),
    ("lo95", "Lower end of the interval that holds the true count 95 % of the time."),
    ("hi95", "Upper end of that interval."),
)


def package(content: Content) -> dict[str, Any]:
    """The Frictionless descriptor of a bundle."""
    name = re.sub(r"[^a-z0-9._-]+", "-", content.schema.name.lower()).strip("-") or "release"
    cuboids = content.plan.workload.cuboids
    if len(cuboids) > MOST_CSV:
        tables = [{"name": "tables", "path": ALL, "format": "parquet"}]
    else:
        tables = [_resource(content, place, cuboid) for place, cuboid in enumerate(cuboids)]
    measured = {"name": "measurements", "path": MEASUREMENTS, "format": "parquet"}
    return {
        "profile": "data-package",
        "name": name,
        "title": f"Tables of {content.schema.name} under differential privacy",
        "resources": [*tables, measured],
    }


def _resource(content: Content, place: int, cuboid: Cuboid) -> dict[str, Any]:
    domain = content.schema.domain
    fields: list[dict[str, Any]] = [
        {"name": domain.attributes[i].name, "type": "string",
         "constraints": {"required": True, "enum": list(domain.attributes[i].categories)}}
        for i in cuboid
    ]  # fmt: skip
    fields += [{"name": name, "type": "number", "description": text} for name, text in _NUMBERS]
    fields.append({"name": "flag", "type": "string", "description": "ok, unreliable, exact or impossible."})
    return {
        "name": f"table-{place + 1:04d}",
        "title": " by ".join(domain.named(cuboid)) or "total",
        "path": csv_name(place),
        "profile": "tabular-data-resource",
        "format": "csv",
        "encoding": "utf-8",
        "schema": {"fields": fields, "primaryKey": list(domain.named(cuboid)), "missingValues": []},
    }
