"""One released table: its cells with their error bars, in the forms people work with."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import numpy as np

from cuboid.bundle.arrow import chosen, numbers
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
_WIDTH = 160
_CELLS_AT_ONCE = 4096


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasedTable:
    """Cells in row-major order: attributes in schema order, the last varies fastest, every cell present.

    raw   signed, unbiased count       lo95, hi95   interval that holds the true count 95 % of the time
    sd    its standard deviation       flag         ok; unreliable (half the interval exceeds half of raw);
                                                    exact (public, no noise); impossible (by the schema)
    total        the number of rows where this is their table and it is public: exact beyond what a float holds
    """

    attributes: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    raw: NDArray[np.float64]
    error: CellError
    impossible: NDArray[np.bool_] | None = None
    total: int | None = None
    private: bool = True

    def __post_init__(self) -> None:
        self.raw.flags.writeable = False

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
        flag = np.array(FLAGS)[self._flags]
        if self.exact:
            whole = np.rint(raw).astype(np.int64) if self.total is None else np.array([self.total], dtype=np.int64)
            return {"raw": whole, "sd": np.zeros(len(raw)), "lo95": whole, "hi95": whole, "flag": flag}
        return {
            "raw": raw,
            "sd": np.full(len(raw), self.error.sd),
            "lo95": raw - self.error.below,
            "hi95": raw + self.error.above,
            "flag": flag,
        }

    @cached_property
    def _flags(self) -> NDArray[np.uint8]:
        """Each cell's flag, as its place in FLAGS."""
        raw = self.raw.reshape(-1)
        codes = (self.error.half95 > np.abs(raw) / 2).astype(np.uint8)
        if self.exact:
            codes[:] = FLAGS.index("exact")
        if self.impossible is not None:
            codes[self.impossible.reshape(-1)] = FLAGS.index("impossible")
        return codes

    def _places(self) -> NDArray[np.intp]:
        """For each attribute, the place of every cell's category."""
        return np.indices(self.shape).reshape(len(self.shape), self.raw.size)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Each cell as its categories, then raw, sd, lo95, hi95 and flag. Memory: a few thousand cells."""
        labels = product(*self.categories)
        for start in range(0, self.raw.size, _CELLS_AT_ONCE):
            part = [self.columns[name][start : start + _CELLS_AT_ONCE].tolist() for name in COLUMNS]
            for numbers_of_cell in zip(*part, strict=True):
                yield (*next(labels), *numbers_of_cell)

    def cells(self) -> Iterator[dict[str, Any]]:
        """Each cell as plain values by name."""
        names = (*self.attributes, *COLUMNS)
        return (dict(zip(names, row, strict=True)) for row in self.rows())

    def to_arrow(self) -> pa.Table:
        """A pyarrow table, one row a cell."""
        import pyarrow as pa

        places = self._places()
        columns: dict[str, Any] = {
            name: chosen(self.categories[axis], places[axis]) for axis, name in enumerate(self.attributes)
        }
        columns |= {name: numbers(values) for name, values in self.columns.items() if name != "flag"}
        columns["flag"] = chosen(FLAGS, self._flags)
        return pa.table(columns)

    def to_pandas(self) -> pd.DataFrame:
        """A pandas frame, one row a cell; attributes are ordered categoricals."""
        pd = _library("pandas")

        frame = pd.DataFrame(dict(self.columns))
        places = self._places()
        for axis, name in reversed(list(enumerate(self.attributes))):
            dtype = pd.CategoricalDtype(list(self.categories[axis]), ordered=True)
            frame.insert(0, name, pd.Categorical.from_codes(places[axis], dtype=dtype))
        return frame

    def to_polars(self) -> pl.DataFrame:
        """A polars frame, one row a cell."""
        polars = _library("polars")

        frame: pl.DataFrame = polars.from_arrow(self.to_arrow())
        return frame

    def to_xarray(self) -> xr.Dataset:
        """An xarray dataset: one variable a column, one named dimension an attribute."""
        xr = _library("xarray")

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

    def __str__(self) -> str:
        return "\n".join(in_columns(self))

    def _repr_html_(self) -> str:
        """The first cells with their intervals drawn beside them."""
        scale = _Scale.of(self)
        head = "".join(f"<th>{html.escape(name)}</th>" for name in (*self.attributes, "raw", "95 %", "", "flag"))
        rows = "".join(self._html_row(cell, scale) for cell in islice(self.cells(), _MOST_HTML_ROWS))
        more = self.raw.size - _MOST_HTML_ROWS
        note = f"<p>… and {more:,} more cells</p>" if more > 0 else ""
        stamp = "" if self.private else "<p><b>NOT PRIVATE: drawn with a known seed</b></p>"
        return f"{stamp}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{note}"

    def _html_row(self, cell: dict[str, Any], scale: _Scale) -> str:
        labels = "".join(f"<td style='text-align:left'>{html.escape(str(cell[name]))}</td>" for name in self.attributes)
        numbers = (f"{cell['raw']:,.1f}", f"±{self.error.half95:,.1f}")
        figures = "".join(f"<td style='text-align:right'>{number}</td>" for number in numbers)
        return f"<tr>{labels}{figures}<td>{scale.drawing(cell)}</td><td>{cell['flag']}</td></tr>"


@dataclass(frozen=True, slots=True)
class _Scale:
    """From people to places in a small drawing; zero is always in it."""

    low: float
    high: float

    @classmethod
    def of(cls, table: ReleasedTable) -> _Scale:
        low, high = float(np.min(table.columns["lo95"])), float(np.max(table.columns["hi95"]))
        return cls(min(0.0, low), max(0.0, high, low + 1e-9))

    def drawing(self, cell: dict[str, Any]) -> str:
        """A bar from zero to the number, its interval as a line, and a mark at zero."""
        zero, raw, left, right = map(self._place, (0.0, cell["raw"], cell["lo95"], cell["hi95"]))
        right = max(right, left + 2)  # a short interval is still to be seen
        return (
            f"<svg width='{_WIDTH}' height='12'>"
            f"<rect x='{min(zero, raw):.1f}' y='3' width='{abs(raw - zero):.1f}' height='6' fill='#9ecae1'/>"
            f"<line x1='{zero:.1f}' x2='{zero:.1f}' y1='0' y2='12' stroke='#999'/>"
            f"<line x1='{left:.1f}' x2='{right:.1f}' y1='6' y2='6' stroke='#08306b' stroke-width='3'/></svg>"
        )

    def _place(self, people: float) -> float:
        return 2 + (people - self.low) / (self.high - self.low) * (_WIDTH - 4)


def in_columns(table: ReleasedTable, most: int = 200) -> list[str]:
    """The first cells as lines of text; characters that could drive a terminal are spaces."""
    rows = [
        [
            *(str(cell[name]) for name in table.attributes),
            f"{cell['raw']:,.1f}", f"±{table.error.half95:,.1f}", f"{cell['lo95']:,.1f}", f"{cell['hi95']:,.1f}",
            cell["flag"],
        ]
        for cell in islice(table.cells(), most)
    ]  # fmt: skip
    header = [*table.attributes, "raw", "95 %", "lo95", "hi95", "flag"]
    return aligned(header, rows, [False] * len(table.attributes) + [True] * 4 + [False])


def aligned(header: list[str], rows: list[list[str]], right: list[bool]) -> list[str]:
    """Columns in line, a rule below the header; unprintable characters are shown as spaces."""
    rows = [[_inert(value) for value in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    return [
        "  ".join(
            value.rjust(width) if to_right else value.ljust(width)
            for value, width, to_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in rows
    ]


def _inert(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


def _library(name: str) -> Any:
    """An optional library. Raises ParameterError with the line that installs it."""
    try:
        return import_module(name)
    except ImportError:
        raise ParameterError(f"this needs {name}: pip install 'cuboid[notebook]'") from None
