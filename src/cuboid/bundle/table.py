"""One released table: its cells with their error bars, in the forms people work with."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cuboid.bundle.arrow import chosen, numbers, texts
from cuboid.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import xarray as xr
    from numpy.typing import NDArray

    from cuboid.planning import CellError

COLUMNS = ("raw", "sd", "lo95", "hi95", "flag")
FLAGS = ("ok", "unreliable", "exact", "impossible")
_MOST_HTML_ROWS = 60


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasedTable:
    """Cells in row-major order: attributes in schema order, the last varies fastest, every cell present.

    raw   signed, unbiased count       lo95, hi95   interval that holds the true count 95 % of the time
    sd    its standard deviation       flag         ok; unreliable (half the interval exceeds half of raw);
                                                    exact (public, no noise); impossible (by the schema)
    """

    attributes: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    raw: NDArray[np.float64]
    error: CellError
    impossible: NDArray[np.bool_] | None = None
    private: bool = True

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of categories of each attribute."""
        return self.raw.shape

    @property
    def exact(self) -> bool:
        """Whether its cells carry no noise at all."""
        return self.error.sd == 0

    @cached_property
    def columns(self) -> dict[str, Any]:
        """raw, sd, lo95, hi95 and flag of every cell, flat."""
        raw = self.raw.reshape(-1)
        if self.exact:
            whole = np.rint(raw).astype(np.int64)
            return {"raw": whole, "sd": np.zeros(len(raw)), "lo95": whole, "hi95": whole, "flag": self._flags()}
        return {
            "raw": raw,
            "sd": np.full(len(raw), self.error.sd),
            "lo95": raw - self.error.below,
            "hi95": raw + self.error.above,
            "flag": self._flags(),
        }

    def _flags(self) -> NDArray[np.str_]:
        raw = self.raw.reshape(-1)
        flags = np.where(self.error.half95 > np.abs(raw) / 2, "unreliable", "ok").astype("<U10")
        if self.exact:
            flags[:] = "exact"
        if self.impossible is not None:
            flags[self.impossible.reshape(-1)] = "impossible"
        return flags

    def labels(self, axis: int) -> list[str]:
        """The category of every cell along one attribute, flat."""
        own = self.categories[axis]
        return [own[place] for place in self._places()[axis].tolist()]

    def _places(self) -> NDArray[np.intp]:
        """For each attribute, the place of every cell's category."""
        return np.indices(self.shape).reshape(len(self.shape), self.raw.size)

    def cells(self) -> Iterator[dict[str, Any]]:
        """Each cell as plain values: its categories, then raw, sd, lo95, hi95, flag."""
        columns = {name: values.tolist() for name, values in self.columns.items()}
        labels = [self.labels(axis) for axis in range(len(self.attributes))]
        for place in range(self.raw.size):
            cell: dict[str, Any] = {name: labels[axis][place] for axis, name in enumerate(self.attributes)}
            yield cell | {name: values[place] for name, values in columns.items()}

    def to_arrow(self) -> pa.Table:
        """A pyarrow table, one row a cell."""
        import pyarrow as pa

        places = self._places()
        columns: dict[str, Any] = {
            name: chosen(self.categories[axis], places[axis]) for axis, name in enumerate(self.attributes)
        }
        columns |= {name: numbers(values) for name, values in self.columns.items() if name != "flag"}
        columns["flag"] = texts(self.columns["flag"].tolist())
        return pa.table(columns)

    def to_pandas(self) -> pd.DataFrame:
        """A pandas frame, one row a cell; attributes are ordered categoricals."""
        import pandas as pd

        frame = pd.DataFrame({name: values for name, values in self.columns.items()})  # noqa: C416
        places = self._places()
        for axis, name in reversed(list(enumerate(self.attributes))):
            dtype = pd.CategoricalDtype(list(self.categories[axis]), ordered=True)
            frame.insert(0, name, pd.Categorical.from_codes(places[axis], dtype=dtype))
        return frame

    def to_polars(self) -> pl.DataFrame:
        """A polars frame, one row a cell."""
        import polars as pl

        frame = pl.from_arrow(self.to_arrow())
        assert isinstance(frame, pl.DataFrame)
        return frame

    def to_xarray(self) -> xr.Dataset:
        """An xarray dataset: one variable a column, one named dimension an attribute."""
        import xarray as xr

        variables = {name: (self.attributes, values.reshape(self.shape)) for name, values in self.columns.items()}
        coordinates = dict(zip(self.attributes, map(list, self.categories), strict=True))
        return xr.Dataset(variables, coords=coordinates)

    def cell(self, **categories: str) -> dict[str, Any]:
        """One cell by its categories, given by attribute name."""
        if set(categories) != set(self.attributes):
            raise ParameterError(f"name one category for each of {', '.join(self.attributes)}")
        places = []
        for name, own in zip(self.attributes, self.categories, strict=True):
            if categories[name] not in own:
                raise ParameterError(f"{name} has no category {categories[name]!r}; it has: {', '.join(own)}")
            places.append(own.index(categories[name]))
        flat = int(np.ravel_multi_index(places, self.shape)) if places else 0
        return {name: values[flat].item() for name, values in self.columns.items()}

    def __repr__(self) -> str:
        stamp = "" if self.private else ", NOT PRIVATE"
        return f"<table [{' '.join(self.attributes)}]: {self.raw.size:,} cells, sd {self.error.sd:.4g}{stamp}>"

    def _repr_html_(self) -> str:
        """The first cells with error bars drawn beside them."""
        span = max(float(np.max(np.abs(self.columns["hi95"]))), float(np.max(np.abs(self.columns["lo95"]))), 1e-9)
        head = "".join(f"<th>{html.escape(name)}</th>" for name in (*self.attributes, "raw", "± 95 %", "", "flag"))
        body = []
        for place, cell in enumerate(self.cells()):
            if place == _MOST_HTML_ROWS:
                break
            labels = "".join(
                f"<td style='text-align:left'>{html.escape(str(cell[name]))}</td>" for name in self.attributes
            )
            body.append(
                f"<tr>{labels}<td style='text-align:right'>{cell['raw']:,.1f}</td>"
                f"<td style='text-align:right'>{self.error.half95:,.1f}</td><td>{_bar(cell, span)}</td>"
                f"<td>{cell['flag']}</td></tr>"
            )
        more = self.raw.size - _MOST_HTML_ROWS
        note = f"<p>… and {more:,} more cells</p>" if more > 0 else ""
        stamp = "" if self.private else "<p><b>NOT PRIVATE: drawn with a known seed</b></p>"
        return f"{stamp}<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>{note}"


def _bar(cell: dict[str, Any], span: float) -> str:
    """A small drawing of a cell's interval, zero at the left edge of what is positive."""
    width = 120
    left, right = (max(0.0, cell[end]) / span * width for end in ("lo95", "hi95"))
    right = max(right, left + 2)  # a short interval is still to be seen
    middle = max(0.0, cell["raw"]) / span * width
    return (
        f"<svg width='{width + 4}' height='12'>"
        f"<rect x='0' y='3' width='{middle:.1f}' height='6' fill='#9ecae1'/>"
        f"<line x1='{left:.1f}' x2='{right:.1f}' y1='6' y2='6' stroke='#08306b' stroke-width='3'/></svg>"
    )
