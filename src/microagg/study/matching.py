"""Which rows of a release are which records, where they may be in another order."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microagg.algorithms.equivalence import codes_of, split_classes
from microagg.columns import frames
from microagg.measures.matching import Files, Matching, by_nearest, by_position
from microagg.work import Progress

Labels = NDArray[np.int64]
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
