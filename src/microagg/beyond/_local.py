"""One machine: the columns to mask lie in a scratch file without a name, and blocks are masked there in place."""

import os
import tempfile
import threading
from collections.abc import Callable, Iterable
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.sums import exact_digits, exact_sum_of_parts, round_digits
from microagg.beyond._plan import NO_SUM, Figures, Moments, Outcome, Plan, check_magnitudes, mask_block
from microagg.blocking.median import median_pieces
from microagg.checks import check_enough_records
from microagg.errors import InvalidData, InvalidParameter
from microagg.grouping import check_strata, rows_of
from microagg.io import frames
from microagg.io.batches import Batches
from microagg.io.promise import check_written
from microagg.io.read_back import read_back
from microagg.parallel import in_parallel
from microagg.progress import Progress, tell

_CHUNK = 1 << 20  # values looked at in one go


def run(
    file: Batches,
    path: Path,
    plan: Plan,
    scratch: str | os.PathLike[str],
    n_jobs: int,
    progress: Progress | None,
) -> Outcome:
    """Mask a file on this machine."""
    with _scratch_file(scratch) as unnamed:
        n, columns, stratum_of_rows, sums = _ingest(file, plan, unnamed, progress)
        check_enough_records(n, plan.k)
        check_strata(stratum_of_rows, plan.k, plan.strata)
        moments = _moments(columns, sums, plan.names)
        totals = _totals(columns, moments)
        pieces = []
        for rows in rows_of(stratum_of_rows):
            pieces += median_pieces(columns, *moments, plan.max_block, plan.k, rows=rows, n_jobs=n_jobs)
        plan = plan.searching(max(rows.size for rows in pieces))
        done = 0
        lock = threading.Lock()

        def mask(rows: NDArray[np.int64], check: Callable[[], None]) -> Figures:
            nonlocal done
            columns[:, rows], figures = mask_block(plan, moments, np.ascontiguousarray(columns[:, rows]), check)
            with lock:
                done += rows.size
                tell(progress, n + done, 3 * n)
            return figures

        figures = reduce(Figures.join, in_parallel(mask, pieces, n_jobs))
        k_achieved = _write(file, path, plan, columns, unnamed, progress)
    return Outcome(n, len(pieces), plan.grouping.options, k_achieved, figures, totals)


def _scratch_file(folder: str | os.PathLike[str]) -> Any:
    try:
        return tempfile.TemporaryFile(dir=folder)
    except OSError:
        raise InvalidParameter("no file can be made in the folder for scratch. Pass another one as scratch=.") from None


def _ingest(
    file: Batches, plan: Plan, unnamed: Any, progress: Progress | None
) -> tuple[int, NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Copy the columns to mask into the scratch file, (d, n); number the strata and sum the columns exactly."""
    n = file.count()
    if n == 0:
        raise InvalidData("the file has no records. Pass at least k of them.")
    d = len(plan.names)
    _reserve(unnamed, 8 * max(d, 2) * n)  # two, for the digests of what was written
    columns = np.memmap(unnamed, dtype=np.float64, mode="r+", shape=(d, n))
    sums = np.tile(NO_SUM, (d, 1))
    codes = np.zeros(n, dtype=np.int64)
    numbering = frames.Numbering(plan.strata)
    start = 0
    for table in file.tables([*plan.names, *plan.strata]):
        stop = start + table.num_rows
        if table.num_rows == 0:
            continue
        for j, values in enumerate(plan.numbers(table)):
            columns[j, start:stop] = values
            sums[j] += exact_digits(values)
        if plan.strata:
            codes[start:stop] = numbering.codes(table)
        start = stop
        tell(progress, start, 3 * n)
    file.check_unchanged()
    return n, columns, codes, sums


def _reserve(unnamed: Any, size: int) -> None:
    """Take the room on disk at once: a mapped page that finds none would kill the process."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(unnamed.fileno(), 0, size)
        else:
            unnamed.truncate(size)
    except OSError:
        raise InvalidData(
            f"there is no room for {size} bytes of scratch, 8 for each value to mask. Free some, or pass scratch=."
        ) from None


def _moments(columns: NDArray[np.float64], sums: NDArray[np.int64], names: list[str]) -> Moments:
    """Give each column's mean and standard deviation, as protect() has them to the last bit."""
    d, n = columns.shape
    lowest = np.array([min(float(chunk.min()) for chunk in _chunks(column)) for column in columns])
    highest = np.array([max(float(chunk.max()) for chunk in _chunks(column)) for column in columns])
    check_magnitudes(names, lowest, highest)
    means, deviations = np.empty(d), np.zeros(d)
    for j, column in enumerate(columns):
        means[j] = round_digits(sums[j]) / n
        if lowest[j] < highest[j]:
            squares = exact_sum_of_parts((chunk - means[j]) ** 2 for chunk in _chunks(column))
            deviations[j] = np.sqrt(squares / n)
    return Moments(means, deviations)


def _totals(columns: NDArray[np.float64], moments: Moments) -> list[float]:
    """Give each standardised column's sum of squares about its mean."""
    totals = []
    for column, offset, unit in zip(columns, *moments, strict=True):
        if unit == 0:
            totals.append(0.0)
            continue
        mean = exact_sum_of_parts((chunk - offset) / unit for chunk in _chunks(column)) / column.size
        totals.append(exact_sum_of_parts(((chunk - offset) / unit - mean) ** 2 for chunk in _chunks(column)))
    return totals


def _chunks(column: NDArray[np.float64]) -> Iterable[NDArray[np.float64]]:
    for start in range(0, column.size, _CHUNK):
        yield np.asarray(column[start : start + _CHUNK])


def _write(
    file: Batches, path: Path, plan: Plan, columns: NDArray[np.float64], unnamed: Any, progress: Progress | None
) -> int:
    """Write the released columns, part by part, the masked ones from the scratch file, and count what was written."""
    n = columns.shape[1]
    schema, promise = plan.released_schema(file.schema), plan.promise
    fewest = 0

    def count(fresh: Path) -> None:
        nonlocal fewest
        # Digests may lie where the masked columns did: these are in the file.
        room = np.memmap(unnamed, dtype=np.uint64, mode="r+", shape=(2, n))
        tables = read_back(fresh, path, schema, promise.columns, file.dialect_of(path))
        fewest = check_written(
            promise, tables, n, path.name, room=room, tell=lambda read: tell(progress, 2 * n + (n + read) // 2, 3 * n)
        )

    with file.writer(path, schema, count) as write:
        start = 0
        for table in file.tables(plan.schema.released):
            stop = start + table.num_rows
            if stop > n:
                break
            write(plan.released(table, np.asarray(columns[:, start:stop])))
            start = stop
            tell(progress, 2 * n + start // 2, 3 * n)
        file.check_unchanged()
    return fewest
