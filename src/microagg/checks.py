"""What must hold of k, of numbers, words and names, and of a matrix X, before anything is computed from them."""

import difflib
import importlib.util
import os
import stat
from collections.abc import Iterable, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.base.frozen import frozen
from microagg.errors import InvalidData, InvalidParameter, RoleError, TooFewRecords, a_type, setting

Columns = NDArray[np.float64]
"""The columns of a file as numbers, of shape (d, n)."""

EXACT_INTEGERS = 2**53
"""Float64 holds every whole number up to here."""

MOST_OF_A_TABLE = 20_000_000
"""Bytes of a table of categories that a recipe names: a taxonomy, or what is joined."""

# Beyond these, squared differences of float64 overflow or vanish.
_LARGEST = 2.0**480
_SMALLEST = 2.0**-480


def check_k(k: Any) -> int:
    """Return k as an int, or say what it must be."""
    if isinstance(k, bool) or not isinstance(k, Integral):
        raise InvalidParameter(
            f"k must be a whole number without decimals, not {a_type(k)}. Pass k=5, for example.", parameter="k"
        )
    if k < 2:
        raise InvalidParameter(
            f"k={k} protects nobody: a group needs at least 2 records. Pass k=2 or more.", parameter="k"
        )
    return int(k)


def refuse_missing(cells: Mapping[Any, int]) -> None:
    """Refuse missing cells of columns, if there are any, and say what else can be done with them."""
    lacking = {name: count for name, count in cells.items() if count}
    if lacking:
        listed = ", ".join(f"{name!r} ({count})" for name, count in lacking.items())
        raise InvalidData(
            f"missing values in {len(lacking)} column(s): {listed}. Keep them ({setting('missing', 'pattern')}), or "
            f"leave those records out ({setting('missing', 'drop')}).",
            parameter="missing",
            columns=tuple(lacking),
        )


def check_option(name: str, value: Any, allowed: Iterable[str]) -> None:
    """Refuse a value that is not one of the words allowed."""
    words = tuple(allowed)
    if value not in words:
        listed = ", ".join(repr(word) for word in words)
        shown = repr(value) if value is None or isinstance(value, (str, bool)) else a_type(value)
        raise InvalidParameter(
            f"{name}={shown} is not known.{nearest(value, words)} Pass one of {listed}.", parameter=name
        )


def nearest(word: Any, known: Iterable[Any]) -> str:
    """Ask whether the known word that looks most like this one was meant; say nothing where none does."""
    near = difflib.get_close_matches(word, list(map(str, known)), n=1) if isinstance(word, str) else []
    return f" Did you mean {near[0]!r}?" if near else ""


def check_whole(name: str, value: Any, least: int, most: int | None = None, remedy: str = "") -> int:
    """Return a whole number within its limits, or say what it must be."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        shown = value if whole or isinstance(value, float) else a_type(value)
        limits = f"at least {least}" if most is None else f"from {least} to {most}"
        raise InvalidParameter(
            f"{name}={shown} must be a whole number, {limits}.{' ' + remedy if remedy else ''}", parameter=name
        )
    return int(value)


def check_max_block(max_block: Any, k: int) -> int:
    """Return the most records of a block, or say how many it must hold."""
    return check_whole("max_block", max_block, 2 * k, remedy="A block must hold two groups of k records.")


def check_between(name: str, value: Any, low: float, high: float, remedy: str) -> float:
    """Return a number within its limits, or say what it must be."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not number or not low <= value <= high:
        shown = value if number else a_type(value)
        raise InvalidParameter(f"{name}={shown} must be a number from {low:g} to {high:g}. {remedy}", parameter=name)
    return float(value)


def check_names(names: Any) -> list[Any]:
    """Return a list of column names; one name is a list of one, and a column of data is none."""
    if hasattr(names, "iloc") or type(names).__module__.split(".")[0] in ("polars", "pyarrow"):
        raise RoleError(f"names of columns are needed, not {a_type(names)} of data. Pass a list of names.")
    return list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]


def shown_name(name: Any) -> str:
    """Show the name of a column that is not there: anything but a text may be a cell of the data."""
    return repr(name) if isinstance(name, str) else f"({a_type(name)})"


def check_jobs(n_jobs: Any) -> int:
    """Return the number of threads to use, every core by default, or say what it must be."""
    if n_jobs is None:
        return os.cpu_count() or 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs < 1:
        shown = n_jobs if isinstance(n_jobs, Integral) else a_type(n_jobs)
        raise InvalidParameter(
            f"n_jobs={shown} must be a number of threads. Pass 1 or more, or None for every core.", parameter="n_jobs"
        )
    return int(n_jobs)


def check_absent(path: Any, what: str, *, overwrite: bool) -> None:
    """Refuse to write over something, unless that was asked for; a link that leads nowhere is something too.

    `path` is one of this machine, or a place in a store.
    """
    if not overwrite and (os.path.lexists(path) if isinstance(path, Path) else path.exists()):
        raise InvalidParameter(
            f"{what} {path.name or str(path)!r} exists. Name another, or allow it to be replaced: "
            f"{setting('overwrite', True)}.",
            parameter="overwrite",
        )


def text_of_file(path: Path, most: int, **blamed: Any) -> str:
    """Return the text of a file of at most so many bytes; a device or a pipe, of which there is no end, is refused.

    What is refused is blamed on what `blamed` says, as errors take it. Ends of lines are as the file has them.
    """
    try:
        status = path.stat()
    except ValueError:  # a name that no file can have
        raise FileNotFoundError from None
    if not stat.S_ISREG(status.st_mode):
        raise InvalidParameter(f"{path.name!r} is a folder, a device or a pipe. Name a file.", **blamed)
    with path.open("rb") as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise InvalidParameter(f"{path.name!r} has more than {most} bytes. Name a shorter file.", **blamed)
    return found.decode("utf-8-sig")


def check_enough_records(n: int, k: int) -> None:
    """Refuse a file that cannot fill one group."""
    if n < k:
        records = f"{n} record{'' if n == 1 else 's'}"
        raise TooFewRecords(f"{records} cannot fill a group of k={k} (n_samples={n}). Add records or lower k.")


def check_matrix(X: ArrayLike) -> NDArray[np.float64]:
    """Return X as a finite float64 matrix (n, d), or say what is wrong with it."""
    try:
        matrix = np.asarray(X)
    except ValueError:
        raise InvalidData(
            "the rows of X have different lengths. Pass a matrix whose rows have the same length."
        ) from None
    if matrix.dtype.kind not in "fiu":
        raise InvalidData(
            f"X has dtype {matrix.dtype}. Pass real numbers; encode categories and booleans as 0, 1, 2, ..."
        )
    if matrix.ndim != 2:
        raise InvalidData(f"X has {matrix.ndim} dimension(s). Pass a matrix of records by columns.")
    if matrix.shape[1] == 0:
        raise InvalidData("X has no columns. Pass at least one.")
    extremes = (int(matrix.min()), int(matrix.max())) if matrix.dtype.kind in "iu" and matrix.size else (0, 0)
    if max(map(abs, extremes)) > EXACT_INTEGERS:
        raise InvalidData("X has integers beyond 2**53, which float64 cannot distinguish. Subtract an offset first.")
    matrix = matrix.astype(np.float64, copy=False)
    bad = np.count_nonzero(~np.isfinite(matrix), axis=0)
    if bad.any():
        j = int(np.argmax(bad > 0))
        raise InvalidData(f"column {j} of X has {bad[j]} missing or infinite value(s). Drop or impute them.")
    return matrix


def matrix_and_k(X: ArrayLike, k: Any) -> tuple[NDArray[np.float64], int]:
    """Check X and k for a partitioner; return the columns (d, n), contiguous and safe to square, and k."""
    k = check_k(k)
    matrix = check_matrix(X)
    check_enough_records(matrix.shape[0], k)
    return safe_to_square(np.ascontiguousarray(matrix.T)), k


def safe_to_square(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the columns, scaled by one power of two where their squares would overflow or vanish.

    Such a factor changes no comparison of distances: it shifts every exponent and no digit.
    """
    power = common_power(columns)
    if power == 0:
        return columns
    return np.asarray(np.ldexp(columns, -power))


def common_power(columns: NDArray[np.float64]) -> int:
    """Return the power of two by which to divide all columns (d, n) before squaring; mostly 0."""
    extents = np.abs(columns).max(axis=1)
    if squares_are_safe(extents):
        return 0
    power = int(np.frexp(extents.max())[1])
    # A column that is small beside the others still decides where they tie; it must not vanish.
    spread = np.ptp(np.ldexp(columns, -power), axis=1)
    vanishing = np.flatnonzero((spread < _SMALLEST) & (columns.max(axis=1) > columns.min(axis=1)))
    if vanishing.size:
        raise InvalidData(
            f"column {vanishing[0]} varies by less than 2**-480 of the largest value in X: float64 cannot hold both "
            f"in one distance. Standardise the columns first."
        )
    return power


def squares_are_safe(extents: NDArray[np.float64]) -> bool:
    """Return whether squares of columns of these largest magnitudes neither overflow nor vanish."""
    largest = extents.max()
    return bool(largest == 0 or (largest <= _LARGEST and extents[extents > 0].min() >= _SMALLEST))


def check_labels(labels: ArrayLike, n: int, d: int) -> NDArray[np.int64]:
    """Return group labels (n,) or (n, d), numbered from 0 without gaps, or say what is wrong with them."""
    array = np.asarray(labels)
    if array.shape not in ((n,), (n, d)):
        raise InvalidParameter(
            f"labels have shape {array.shape}, but there are {n} records of {d} columns. Pass one label for each "
            "record."
        )
    if array.dtype.kind not in "iu" or (array.size and array.min() < 0):
        raise InvalidParameter("labels must be whole numbers from 0. Pass what fit_predict returned.")
    if array.ndim == 1:
        if array.size and array.max() < n and np.bincount(array).all():  # as they mostly are: nothing to sort
            return np.array(array, dtype=np.int64)
        return np.unique(array, return_inverse=True)[1].astype(np.int64, copy=False)
    return np.column_stack([check_labels(column, n, d) for column in array.T])


@frozen()
class Extra:
    """Packages that not everybody needs, and what is said where one is not there."""

    packages: tuple[str, ...]
    remedy: str

    def check(self) -> None:
        """Make sure that all are there, without the time that it takes to import them."""
        if not all(map(importlib.util.find_spec, self.packages)):
            raise InvalidParameter(self.remedy)

    def load(self, name: str) -> Any:
        """Import one of them."""
        try:
            return importlib.import_module(name)
        except ImportError:
            raise InvalidParameter(self.remedy) from None
