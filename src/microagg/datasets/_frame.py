"""Turning columns into the kind of dataframe that was asked for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.errors import InvalidParameter

FRAMES: tuple[Any, ...] = ("pyarrow", "pandas", "polars")


def check_frame(frame: Any) -> None:
    """Refuse a library that is not known."""
    if frame not in FRAMES:
        raise InvalidParameter(
            f"frame={frame!r} is not known. Pass one of {', '.join(map(repr, FRAMES))}.", parameter="frame"
        )


def as_frame(columns: dict[str, NDArray[Any]], frame: Any) -> Any:
    """Build a frame of this library from named columns."""
    import narwhals as nw

    check_frame(frame)
    try:
        return nw.to_native(nw.from_dict({k: np.asarray(v) for k, v in columns.items()}, backend=frame))
    except ModuleNotFoundError:
        raise _not_installed(frame) from None


def table_as_frame(table: Any, frame: Any) -> Any:
    """Return an Arrow table as a frame of this library; ordered categories keep their order, and dates are dates."""
    check_frame(frame)
    try:
        if frame == "pandas":
            return table.to_pandas(date_as_object=False)
        return _polars_frame(table) if frame == "polars" else table
    except ModuleNotFoundError:
        raise _not_installed(frame) from None


def _polars_frame(table: Any) -> Any:
    """Polars takes any dictionary for a category without an order; only its enumerations have one."""
    import polars as pl
    import pyarrow as pa

    ordered = {
        field.name: pl.Enum(table[field.name].chunk(0).dictionary.to_pylist())
        for field in table.schema
        if pa.types.is_dictionary(field.type) and field.type.ordered
    }
    return pl.from_arrow(table).with_columns(pl.col(name).cast(kind) for name, kind in ordered.items())


def _not_installed(frame: Any) -> InvalidParameter:
    return InvalidParameter(f"{frame} is not installed. Install it, or pass frame='pyarrow'.")
