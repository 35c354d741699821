"""Several releases of one file together: which rows are which records, and what they disclose."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from narwhals.typing import IntoDataFrame
from numpy.typing import NDArray

from microagg.algorithms.equivalence import codes_of, split_classes
from microagg.checks import check_option
from microagg.columns import frames
from microagg.columns.kinds import Cells, Number
from microagg.columns.table import Coded, Table
from microagg.columns.weights import Labels
from microagg.errors import InvalidData, InvalidParameter
from microagg.measures.assess import checked_order, known_names
from microagg.measures.constants import Seen, measure_constants
from microagg.measures.joint import JointDisclosure, measure_joint
from microagg.measures.matching import Files, Matching, by_nearest, by_position
from microagg.work import Progress, part

Numbers = NDArray[np.float64]

_MOST_CATEGORIES = 100  # of a column that counts in distances
_BESIDE = 0.25  # of the way from the nearest rows to any rows: so far off rows still stand beside their originals
_UNLIKE = (pa.ArrowException, TypeError, OverflowError)  # columns of mixed types; the message may show a cell
_STEPS = 10.0 ** np.arange(9, -10, -1)


def stands_beside(before: nw.DataFrame[Any], after: nw.DataFrame[Any], masked: Sequence[Any]) -> bool:
    """Return whether most groups have the released means if each row is the record in its place."""
    found = by_position(_files(before, after, masked, []))
    return bool(2 * np.count_nonzero(found.agree) >= found.agree.size)


def nearest(
    before: nw.DataFrame[Any],
    after: nw.DataFrame[Any],
    columns: Sequence[Any] | None,
    always: bool,
    progress: Progress | None,
) -> Matching | None:
    """Match records to groups by nearest values; None if rows seem to be in the order of their originals.

    Columns that hold the same values as before, in any order, were kept: a record has just those of its row.
    """
    both = [name for name in before.columns if name in after.columns]
    masked = list(columns) if columns is not None else [name for name in both if not _is_kept(before, after, name)]
    if not masked:
        return None
    files = _files(before, after, masked, [name for name in both if name not in masked])
    found = by_nearest(files, progress)
    return None if not always and _is_beside(files, found.cost) else found


def _is_beside(files: Files, least: float) -> bool:
    """Return whether rows in their places are hardly farther from the records than the nearest ones."""
    spread = sum(float(one.var(axis=0).sum()) for one in (files.points, files.released))
    by_chance = spread + float(((files.points.mean(axis=0) - files.released.mean(axis=0)) ** 2).sum())
    return by_position(files).cost - least <= _BESIDE * (by_chance - least)


def _files(before: nw.DataFrame[Any], after: nw.DataFrame[Any], masked: Sequence[Any], others: Sequence[Any]) -> Files:
    n = before.shape[0]
    axes: list[Numbers] = [np.zeros((1, 2 * n))]
    values: list[Numbers] = []
    kept = np.zeros(2 * n, dtype=np.int64)
    for name in masked:
        numbers = _numbers(before, after, name)
        codes = _codes(before, after, name) if numbers is None else np.isnan(numbers).astype(np.int64)
        if numbers is None:
            axes.append(_corners(codes))
            continue
        kept = _kept_with(kept, codes)
        values.append(np.nan_to_num(numbers))
        scale = float(values[-1][:n].std())
        axes.append(values[-1][np.newaxis] / (scale if scale > 0.0 else 1.0))
    for name in others:
        kept = _kept_with(kept, _codes(before, after, name))
    points = np.ascontiguousarray(np.concatenate(axes).T)
    cells = np.array(values).reshape(len(values), 2 * n).T
    return Files(
        points[:n],
        points[n:],
        codes_of(frames.category_codes(after, masked)),
        np.ascontiguousarray(cells[:n]),
        np.ascontiguousarray(cells[n:]),
        np.array([_rounding(column) for column in cells[n:].T]),
        kept[:n],
        kept[n:],
    )


def _is_kept(before: nw.DataFrame[Any], after: nw.DataFrame[Any], name: Any) -> bool:
    """Return whether a column holds the same values before and after, in any order."""
    return _as_often(_codes(before, after, name))


def _as_often(codes: Labels) -> bool:
    """Return whether each code is as often in the first half as in the second."""
    halves = np.split(codes, 2)
    count = int(codes.max()) + 1
    return np.array_equal(np.bincount(halves[0], minlength=count), np.bincount(halves[1], minlength=count))


def _kept_with(kept: Labels, codes: Labels) -> Labels:
    """Return what was kept with one column more, if that was kept together with the rest."""
    finer = split_classes(kept, codes, codes)
    return finer if _as_often(finer) else kept


def _arrays(before: nw.DataFrame[Any], after: nw.DataFrame[Any], name: Any) -> list[Any]:
    """Return a column of both files as Arrow arrays of the values themselves."""
    arrays = [one.get_column(name).to_arrow() for one in (before, after)]
    arrays = [one.combine_chunks() if isinstance(one, pa.ChunkedArray) else one for one in arrays]
    return [one.cast(one.type.value_type) if pa.types.is_dictionary(one.type) else one for one in arrays]


def _numbers(before: nw.DataFrame[Any], after: nw.DataFrame[Any], name: Any) -> Numbers | None:
    """Return a column of numbers or of times, first of one file and then of the other; None of any other."""
    found = []
    try:
        for array in _arrays(before, after, name):
            if pa.types.is_date(array.type):
                array = array.cast(pa.date32()).cast(pa.int32())  # days, as means of days are rounded to days
            elif pa.types.is_timestamp(array.type):
                array = array.cast(pa.timestamp("us", array.type.tz)).cast(pa.int64())
            if not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
                return None
            found.append(array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    except _UNLIKE:
        return None
    numbers = np.concatenate(found)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _codes(before: nw.DataFrame[Any], after: nw.DataFrame[Any], name: Any) -> Labels:
    """Number the values of a column in the same way in both files, first of one file and then of the other."""
    numbers = _numbers(before, after, name)
    if numbers is not None:
        return codes_of(numbers)
    try:
        encoded = pa.concat_arrays([one.cast(pa.string()) for one in _arrays(before, after, name)]).dictionary_encode()
    except _UNLIKE:  # as lists are: they are not compared
        return np.repeat(np.arange(2), before.shape[0])
    return np.asarray(pc.fill_null(encoded.indices.cast(pa.int64()), len(encoded.dictionary)))


def _corners(codes: Labels) -> Numbers:
    """Put each category in a corner of its own, all at distance 1 of each other; too many count for nothing."""
    count = int(codes.max()) + 1
    if count > _MOST_CATEGORIES:
        return np.zeros((1, codes.size))
    return np.asarray((codes == np.arange(count)[:, np.newaxis]) * np.sqrt(0.5))


def _rounding(released: Numbers) -> float:
    """Return half of the greatest power of ten that all released values are multiples of; 0 if they have all digits."""
    for step in _STEPS:
        times = released / step
        if (np.abs(times - np.rint(times)) <= 1e-9 * np.maximum(1.0, np.abs(times))).all():
            return float(0.5 * step)
    return 0.0


MATCHES = ("auto", "position", "nearest")


def joint_disclosure(
    original: IntoDataFrame,
    releases: Sequence[IntoDataFrame],
    *,
    columns: Iterable[Any] | None = None,
    truth: Sequence[Any] | None = None,
    match: str = "auto",
    unit: Any = None,
    progress: Progress | None = None,
) -> JointDisclosure:
    """Measure what several releases of one file disclose together, though each keeps its own promise.

    The intruder is the worst one: they know which rows of the releases are the same record's, as where they are in the
    order of the original. They then know the groups of everybody, and the mean and the size of each. Rows in another
    order hide that from them less than it seems: nearest values and means give it back.

    Parameters
    ----------
    original : dataframe
    releases : sequence of dataframes
        Record against record. Rows of a release that are identical in its masked columns are a group.
    columns : list of names, optional
        The masked columns; by default those of each release in which it differs from the original.
    truth : sequence, optional
        For each release, the row of it that belongs to each row of the original, or None where they are in the same
        order.
    match : {"auto", "position", "nearest"}
        How rows are matched to records if `truth` does not say it. "position": they are in the same order. "nearest":
        each record goes to the nearest group, each group having as many as it has rows, and groups are mended until
        their means are the released ones; the figures are estimates then. "auto": by position, unless the means of
        groups are not the released ones and other rows are far nearer. The result says how many (`nearest`).
    unit : name, optional
        The column of the original that says which rows belong to one unit (a person, household or firm). What all rows
        of a unit have in common is then one unknown (`solved_units`), which a single release may already disclose.
    progress : callable, optional
        Called as progress(done, in all).

    Returns
    -------
    JointDisclosure

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income", "hours"])
    >>> found = ma.joint_disclosure(survey, [ma.protect(survey, k=k).data for k in (3, 4, 5)])
    >>> found.releases, found.fewest
    (3, 1)
    """
    before = frames.open_frame(original)
    check_option("match", match, MATCHES)
    orders = [None] * len(releases) if truth is None else list(truth)
    if not releases or len(orders) != len(releases):
        raise InvalidParameter(
            f"there are {len(releases)} releases and {len(orders)} lists of truth. Pass one list for each release, "
            "and at least one release.",
            parameter="releases",
        )
    named = None if columns is None else known_names(columns, list(before.columns), "columns")
    labels, agree, seen = [], [], []
    numbers = list(before.columns) if named is None else named
    units = None if unit is None else frames.unit_codes(before, *known_names([unit], list(before.columns), "unit"))
    for number, (release, order) in enumerate(zip(releases, orders, strict=True)):
        after = frames.open_frame(release)
        if before.shape[0] == 0 or after.shape[0] != before.shape[0]:
            raise InvalidData(
                f"the original file has {before.shape[0]} records and release {number} has {after.shape[0]}. Compare "
                f"files record by record."
            )
        if order is not None:
            after = frames.in_order(after, checked_order(order, before.shape[0]))
        told = part(progress, number, number + 1, len(releases) + 1)
        own, found = _groups(before, after, number, named, match if order is None else "position", told)
        labels.append(own)
        seen.append(Seen(_numbers_of(after, numbers), own))
        agree += [] if found is None else [found.agree]
    joint = measure_joint(labels, part(progress, len(releases), len(releases) + 1, len(releases) + 1))
    if units is not None:
        found_units = measure_constants(_numbers_of(before, numbers), seen, units)
        joint = replace(joint, n_units=found_units.n_units, solved_units=found_units.solved)
    return replace(joint, nearest=len(agree), consistent=100.0 * float(np.concatenate(agree).mean()) if agree else None)


def _numbers_of(frame: nw.DataFrame[Any], names: list[Any]) -> Table:
    """Return those of the columns that a frame has and that are numbers in it."""
    columns = []
    for name in names:
        if name in frame.columns and (series := frame.get_column(name)).dtype.is_numeric():
            values = frames.floats_of(series)
            missing = np.isnan(values)
            columns.append(Coded(name, Number(), Cells(values, missing.astype(np.uint8) if missing.any() else None)))
    return Table(tuple(columns))


def _groups(
    before: nw.DataFrame[Any],
    after: nw.DataFrame[Any],
    number: int,
    named: list[Any] | None,
    match: str,
    progress: Progress | None,
) -> tuple[NDArray[np.int64], Matching | None]:
    """Return the group of each record in a release, and how its rows were matched, if not by position."""
    both = [name for name in before.columns if name in after.columns]
    if named is None:
        masked = [name for name in both if frames.differ(before, after, name)]
    else:
        masked = [name for name in named if name in both]
    if not masked:  # all its records would be one group, though nothing hides them
        raise InvalidData(
            f"release {number} has none of the masked columns, or is identical to the original. Leave it out, or "
            "name the columns that are masked in it."
        )
    if match == "nearest" or (match == "auto" and not stands_beside(before, after, masked)):
        found = nearest(before, after, None if named is None else masked, match == "nearest", progress)
        if found is not None:
            return found.groups, found
    return frames.category_codes(after, masked), None
