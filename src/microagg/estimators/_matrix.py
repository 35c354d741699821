"""What every estimator asks of X, and of the units that records belong to."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from microagg.algorithms.units import Units
from microagg.checks import check_matrix
from microagg.columns.numbers import by_value
from microagg.errors import InvalidData, InvalidParameter


def as_matrix(estimator: BaseEstimator, X: Any, *, reset: bool = True) -> NDArray[np.float64]:
    """Apply scikit-learn's rules for X, and our own words where its message would show a cell.

    Without `reset`, X must have the columns that the estimator was fitted on.
    """
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) != 2:
        raise InvalidData(f"X has {len(shape)} dimension(s). Reshape your data to records by columns.")
    try:
        matrix = validate_data(estimator, X, reset=reset, dtype="numeric", ensure_all_finite=False)
    except (ValueError, TypeError) as error:
        text = str(error)
        if text.startswith("Complex data not supported"):
            raise InvalidData("Complex data not supported. Pass real numbers.") from None
        if text.startswith("Expected 2D array"):
            raise InvalidData("X is not a matrix. Reshape your data to records by columns.") from None
        if text.startswith(("could not convert", "dtype='numeric'", "setting an array element")):
            raise InvalidData("X has values that are not numbers. Encode them as numbers first.") from None
        if isinstance(error, TypeError) and "string or" in text:
            raise TypeError(
                "X has cells that are no number: a cell argument must be a string or a real number."
            ) from None
        raise
    return check_matrix(matrix)


def as_units(units: Any, n: int) -> Units | None:
    """Return the units of n records, numbered, or say what is wrong with them."""
    if units is None or isinstance(units, Units):
        return units
    values = np.asarray(units)
    if values.shape != (n,):
        raise InvalidParameter(
            f"units have shape {values.shape}, but there are {n} records. Pass one unit a record.", parameter="unit"
        )
    try:
        missing = any(value is None or value != value for value in values.tolist())
        codes = np.unique(values, return_inverse=True)[1] if not missing else None
    except TypeError:
        raise InvalidData("units are of several types. Pass numbers or texts.", parameter="unit") from None
    if codes is None:
        raise InvalidData("some records have no unit. Give each of them one of its own.", parameter="unit")
    if isinstance(values.tolist()[0], str):
        codes = by_value(pa.array(values.tolist())).dictionary_encode().indices.to_numpy()
    return Units(codes.astype(np.int64))
