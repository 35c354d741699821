"""Turning columns into the kind of dataframe that was asked for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.errors import InvalidParameter

FRAMES: tuple[Any, ...] = ("pyarrow", "pandas", "polars")


def as_frame(columns: dict[str, NDArray[Any]], frame: Any) -> Any:
    """Build a frame of this library from named columns."""
    import narwhals as nw

    if frame not in FRAMES:
        raise InvalidParameter(
            f"frame={frame!r} is not known. Pass one of {', '.join(map(repr, FRAMES))}.", parameter="frame"
        )
    try:
        return nw.to_native(nw.from_dict({k: np.asarray(v) for k, v in columns.items()}, backend=frame))
    except ModuleNotFoundError:
        raise InvalidParameter(f"{frame} is not installed. Install it, or pass frame='pyarrow'.") from None
