"""Judge any pair of files, whoever masked them: what was lost, and what an intruder could do."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.checks import check_jobs, check_labels, check_matrix, check_names, check_whole, shown_name
from microagg.errors import InvalidData, InvalidParameter, RoleError
from microagg.evaluate.anonymity import Anonymity, measure_anonymity
from microagg.evaluate.dominance import Dominance, measure_dominance
from microagg.evaluate.risk import DisclosureRisk, measure_risk
from microagg.evaluate.utility import LossMeasures, measure_loss
from microagg.io import frames

Progress = Callable[[int, int], None]
Columns = NDArray[np.float64]


def loss_measures(
    original: Any, masked: Any, *, columns: Iterable[Any] | None = None, truth: Any = None
) -> LossMeasures:
    """Measure what masking did to a file: the loss of information, M1 to M5, and differences of statistics.

    Parameters
    ----------
    original, masked : dataframes, or arrays of shape (n, d)
        Record against record; columns are matched by name.
    columns : list of names, optional
        The columns to compare; by default all that both files have, which must be numeric.
    truth : array of shape (n,), optional
        The row of `masked` that belongs to each row of `original`, where they are not in the same order.

    Returns
    -------
    LossMeasures

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income", "tax"])
    >>> round(ma.loss_measures(survey, ma.protect(survey, k=3).data).percent, 2)
    1.31
    """
    names, before, after = _matched(original, masked, columns, truth)
    return measure_loss(before, after, names)


def disclosure_risk(
    original: Any,
    masked: Any,
    *,
    keys: Iterable[Any] | None = None,
    columns: Iterable[Any] | None = None,
    truth: Any = None,
    sample: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> DisclosureRisk:
    """Measure what an intruder could do: link records by the keys he knows, or bound the values of one.

    Parameters
    ----------
    original, masked : dataframes, or arrays of shape (n, d)
        Record against record; columns are matched by name.
    keys : list of names, optional
        The columns an intruder knows; by default all. Linkage is averaged over every subset of up to
        seven keys; of more, over 127 subsets drawn with a fixed seed.
    columns : list of names, optional
        The masked columns, for interval disclosure; by default all that both files have. They hold the keys.
    truth : array of shape (n,), optional
        The row of `masked` that belongs to each row of `original`, where they are not in the same order.
    sample : int, optional
        How many records, drawn with `seed`, to estimate linkage on; all, if left out or if there are no more.
    seed : int
    n_jobs : int, optional
        Threads; by default one a core. The result does not depend on it.
    progress : callable, optional
        Called as progress(records linked, records to link), over all sets of keys.

    Returns
    -------
    DisclosureRisk

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income", "tax"])
    >>> masked = ma.protect(survey, k=5).data
    >>> risk = ma.disclosure_risk(survey, masked, keys=["age", "income"])
    >>> len(risk.per_set)
    3
    """
    names, before, after = _matched(original, masked, columns, truth)
    known = names if keys is None else known_names(keys, names, "keys")
    rows = check_sample(sample, before.shape[1], seed)
    return measure_risk(before, after, names, known, rows, check_jobs(n_jobs), progress)


def anonymity(frame: Any, keys: Iterable[Any] | None = None, *, confidential: Iterable[Any] = ()) -> Anonymity:
    """Count how many records share their keys, and how much those give away of confidential columns.

    Parameters
    ----------
    frame : dataframe
        Any file, masked or not; keys and confidential columns may be text or numbers.
    keys : list of names, optional
        The columns an intruder knows; by default all that are not confidential.
    confidential : list of names
        The columns he wants to learn.

    Returns
    -------
    Anonymity

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(200, seed=0)
    >>> found = ma.anonymity(survey, ["region"], confidential=["income"])
    >>> found.k, found.diversity["income"].distinct
    (11, 10)
    """
    opened = frames.open_frame(frame)
    names = list(opened.columns)
    secret = known_names(confidential, names, "confidential") if confidential else []
    known = [name for name in names if name not in secret] if keys is None else known_names(keys, names, "keys")
    both = [name for name in known if name in secret]
    if both or not known:
        raise RoleError(f"column {both[0]!r} is a key and confidential." if both else "no key is left. Name some.")
    columns = {}
    for name in secret:
        codes, ordered = _ordered_codes(opened, name)
        columns[name] = codes, ordered
    return measure_anonymity(frames.category_codes(opened, known), columns)


def dominance(original: Any, labels: ArrayLike, *, p: float = 10.0) -> Dominance:
    """Find groups in which one member is most of the total, in columns without negative values.

    Parameters
    ----------
    original : dataframe or array of shape (n, d)
        The values before masking.
    labels : array of shape (n,)
        The group of each record (`release.groups`).
    p : float
        For the p percent rule: a group fails where its members but for the two largest add up to less than
        p percent of the largest.

    Returns
    -------
    Dominance

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["wage", "business"])
    >>> ma.dominance(survey, ma.protect(survey, k=5).groups).n_groups
    60
    """
    if isinstance(p, bool) or not isinstance(p, (int, float)) or not 0 < p <= 100:
        raise InvalidParameter("p must be a percentage above 0, up to 100.")
    names, columns = frames.read_numbers(original)
    groups = check_labels(labels, columns.shape[1], len(names))
    if groups.ndim == 2:
        raise InvalidParameter("labels are given for each column. Pass one label a record.")
    return measure_dominance(columns, groups, names, float(p))


def _matched(
    original: Any, masked: Any, columns: Iterable[Any] | None, truth: Any
) -> tuple[list[Any], Columns, Columns]:
    """Give the names of the columns to compare and both files' values (d, n), record against record."""
    if frames.is_frame(original) != frames.is_frame(masked):
        raise InvalidData("one file is a dataframe and the other is not. Pass both as frames, or both as arrays.")
    if frames.is_frame(original):
        before, after = frames.open_frame(original), frames.open_frame(masked)
        shared: list[Any] = [name for name in before.columns if name in after.columns]
        names: list[Any] = shared
        if columns is None:
            if not names:
                raise RoleError("the two files have no column in common. Rename them alike.")
        else:
            names = known_names(columns, list(before.columns), "columns of the original file")
            known_names(columns, list(after.columns), "columns of the masked file")
        sizes = before.shape[0], after.shape[0]
    else:
        left, right = check_matrix(original), check_matrix(masked)
        if left.shape[1] != right.shape[1]:
            raise InvalidData(f"the files have {left.shape[1]} and {right.shape[1]} columns. Pass the same columns.")
        names = list(range(left.shape[1])) if columns is None else known_names(columns, range(left.shape[1]), "columns")
        sizes = left.shape[0], right.shape[0]
    if sizes[0] != sizes[1]:
        raise InvalidData(
            f"the original file has {sizes[0]} records and the masked one {sizes[1]}. Compare files record by record."
        )
    if frames.is_frame(original):
        a, b = _read(before, names, "original"), _read(after, names, "masked")
    else:
        a, b = np.ascontiguousarray(left.T[names]), np.ascontiguousarray(right.T[names])
    if truth is not None:
        rows = np.asarray(truth)
        if rows.dtype.kind not in "iu" or not np.array_equal(np.sort(rows, axis=None), np.arange(sizes[0])):
            raise InvalidParameter(f"truth must list each row of the masked file, 0 to {sizes[0] - 1}, once.")
        b = np.ascontiguousarray(b[:, rows])
    return names, a, b


def _read(opened: Any, names: Sequence[Any], which: str) -> Columns:
    """Read numeric columns, saying which file is at fault."""
    for name in names:
        if not opened.get_column(name).dtype.is_numeric():
            raise InvalidData(
                f"column {name!r} of the {which} file is not numeric ({opened.get_column(name).dtype}). Encode it as "
                f"numbers, or leave it out with columns=."
            )
    missing = frames.missing_rows(opened, names)
    if missing:
        listed = ", ".join(f"{name!r} ({np.count_nonzero(mask)})" for name, mask in missing.items())
        raise InvalidData(f"missing values in the {which} file: {listed}. Drop those records from both files.")
    return frames.to_columns(opened, names)


def check_sample(sample: Any, n: int, seed: int) -> NDArray[np.int64] | None:
    """Draw the rows to estimate on, or None: all are used."""
    if sample is None:
        return None
    sample = check_whole("sample", sample, 2, None, "Leave it out to use all records.")
    if sample >= n:
        return None
    return np.sort(np.random.default_rng(seed).choice(n, int(sample), replace=False))


def known_names(wanted: Any, names: Sequence[Any], what: str) -> list[Any]:
    """Give a list of column names that are known and named once."""
    chosen = check_names(wanted)
    for name in chosen:
        if name not in names:
            raise RoleError(
                f"column {shown_name(name)} is not among the {what}. Name some of the {len(names)} there are."
            )
    if not chosen or len(set(chosen)) < len(chosen):
        raise RoleError(f"the list of {what} is empty or names a column twice.")
    return chosen


def _ordered_codes(opened: Any, name: Any) -> tuple[NDArray[np.int64], bool]:
    """Number a column's values, in order where they are numbers."""
    series = opened.get_column(name)
    if series.dtype.is_numeric() and not series.is_null().any():
        values = series.cast(nw.Float64).to_numpy()
        if not np.isnan(values).any():
            return np.unique(values, return_inverse=True)[1].ravel(), True
    return frames.category_codes(opened, [name]), False
