"""A release: what leaves the building."""

from __future__ import annotations

import dataclasses
import html
from typing import TYPE_CHECKING

from cuboid.bundle.card import NOT_PRIVATE, card
from cuboid.bundle.content import Content
from cuboid.bundle.query import query
from cuboid.bundle.write import save

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Release(Content):
    """Every wanted table, and any sub-table of one, with its error. `folder` is where the bundle lies, once saved."""

    folder: Path | None = None

    @classmethod
    def of(cls, content: Content, folder: Path | None) -> Release:
        """The release that holds this content."""
        return cls(plan=content.plan, measurements=content.measurements, receipt=content.receipt, folder=folder)

    def save(self, folder: str | Path) -> Release:
        """Write the bundle, and return the release that lies there."""
        return dataclasses.replace(self, folder=save(self, folder))

    def query(self, sql: str) -> pa.Table:
        """The answer to SQL over the released tables: views `age_sex` (one per table), `cells`, `measurements`."""
        return query(self, sql)

    def card(self) -> str:
        """What a reader must know, in plain words, as Markdown."""
        return card(self)

    def __repr__(self) -> str:
        stamp = "" if self.private else f", {NOT_PRIVATE}"
        return f"<release of {self.schema.name}: {len(self.plan.workload.tables)} tables{stamp}>"

    def _repr_html_(self) -> str:
        """The wanted tables and their errors."""
        rows = "".join(
            f"<tr><td>{html.escape(' × '.join(self.schema.domain.named(cuboid)) or 'total')}</td>"
            f"<td style='text-align:right'>{self.schema.domain.cells(cuboid):,}</td>"
            f"<td style='text-align:right'>±{error.half95:,.1f}</td></tr>"
            for cuboid, error in list(self.plan.predicted.items())[:60]
        )
        stamp = "" if self.private else f"<p><b>{NOT_PRIVATE}</b></p>"
        guarantee = ", ".join(f"{name} = {value}" for name, value in self.plan.loss.typed().items())
        return (
            f"{stamp}<p><b>{html.escape(self.schema.name)}</b>: {len(self.plan.workload.tables)} tables, {guarantee}, "
            f"{self.plan.unit.relation.value}</p><table><thead><tr><th>table</th><th>cells</th>"
            f"<th>± 95 % people</th></tr></thead><tbody>{rows}</tbody></table>"
        )
