"""protect_file(): mask a file of any size in bounded memory.

The columns to mask are copied to a scratch file that has no name, so that nothing of it outlives the
process, however that ends. Blocks are cut and masked there in place, and the file is then read once more
and written out with the masked values. Groups and figures are those of protect(blocks="median").
"""

import inspect
import os
import tempfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg import __version__
from microagg._kernels.sums import exact_digits, exact_sum_of_parts, round_digits
from microagg.aggregate import AGGREGATES, released_values
from microagg.blocking.median import median_pieces
from microagg.checks import (
    check_enough_records,
    check_jobs,
    check_k,
    check_names,
    check_option,
)
from microagg.errors import InvalidData, InvalidParameter
from microagg.evaluate.loss import InformationLoss, loss_of_sums
from microagg.grouping import (
    DEFAULT_BLOCK,
    check_max_block,
    check_rest,
    check_strata,
    checked_groups,
    resolve_method,
    rows_of,
)
from microagg.io import frames
from microagg.io.batches import Batches, parquet_writer
from microagg.parallel import in_parallel
from microagg.partition import PARTITIONERS, PER_COLUMN, choose_search
from microagg.recipe import Recipe
from microagg.schema import Role, Schema

Progress = Callable[[int, int], None]

_CHUNK = 1 << 20  # values looked at in one go


@dataclass(frozen=True)
class FileRelease:
    """What is known of a masked file.

    Attributes
    ----------
    path : Path
        The masked file.
    n_records, n_groups : int
    k_achieved : int
        The number of records in the smallest group.
    information : InformationLoss
        On the standardised columns, original against released.
    recipe : Recipe
        Everything the run depended on.
    index_dropped : bool
        Whether the file had a pandas index of row labels, which count as an identifier.

    Examples
    --------
    >>> import tempfile, pyarrow.parquet as pq, microagg as ma
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(ma.datasets.survey(3000).select(["age", "income"]), f"{folder}/survey.parquet")
    ...     ma.protect_file(f"{folder}/survey.parquet", f"{folder}/masked.parquet", k=5)
    FileRelease: 3000 records in 600 groups; k=5 asked, 5 reached; information loss 0.33 %
    """

    path: Path
    n_records: int
    n_groups: int
    k_achieved: int
    information: InformationLoss
    recipe: Recipe
    index_dropped: bool = False

    def __repr__(self) -> str:
        return (
            f"FileRelease: {self.n_records} records in {self.n_groups} groups; k={self.recipe.k} asked, "
            f"{self.k_achieved} reached; information loss {self.information.percent:.2f} %"
        )


def protect_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    k: int,
    *,
    quasi: Iterable[Any] | None = None,
    identifiers: Iterable[Any] = (),
    confidential: Iterable[Any] = (),
    weight: Any = None,
    strata: Iterable[Any] = (),
    keep: Iterable[Any] = (),
    rest: str | None = None,
    method: Any = "mdav",
    aggregate: str = "mean",
    integers: str = "float",
    max_block: int = DEFAULT_BLOCK,
    overwrite: bool = False,
    scratch: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> FileRelease:
    """Mask a Parquet or CSV file of any size, in bounded memory.

    Rows keep their order and, from Parquet, their row groups. The target appears when it is whole.

    Parameters
    ----------
    source : path
        A Parquet file, a folder of Parquet files (taken in the order of their names), or a CSV file.
    target : path
        The Parquet file to write.
    k, quasi, identifiers, confidential, weight, strata, keep, rest, method, aggregate, integers : see `protect`
        Columns are standardised; missing values are refused.
    max_block : int
        The most records of a block, within which groups are formed.
    overwrite : bool
        Whether a target that exists may be replaced.
    scratch : path, optional
        The folder for scratch, as large as the masked columns in memory; by default that of the target. It
        holds original values in a file without a name, which vanishes with the process.
    n_jobs : int, optional
        Threads; by default one a core. The result does not depend on it.
    progress : callable, optional
        Called as progress(done, in all), where each record counts three times: read, grouped, written.
    **options
        The method's own.

    Returns
    -------
    FileRelease

    Examples
    --------
    >>> import tempfile, pyarrow.parquet as pq, microagg as ma
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(ma.datasets.survey(3000), f"{folder}/survey.parquet")
    ...     release = ma.protect_file(f"{folder}/survey.parquet", f"{folder}/masked.parquet", k=3,
    ...                               identifiers=["person"], weight="weight", strata=["region"])
    ...     pq.read_table(f"{folder}/masked.parquet").num_rows
    3000
    """
    k = check_k(k)
    check_option("aggregate", aggregate, AGGREGATES)
    check_option("integers", integers, ("float", "round"))
    n_jobs = check_jobs(n_jobs)
    max_block = check_max_block(max_block, k)
    check_rest(rest, quasi)
    file = Batches(source)
    path = _check_target(target, file, overwrite)
    named = {name for role in (quasi or (), identifiers, confidential, strata, keep) for name in check_names(role)}
    index = [name for name in file.index_columns if name not in {*named, weight}]  # row labels: they may identify
    schema = Schema.assign(
        file.names,
        quasi=None if quasi is None else check_names(quasi),
        rest=rest,
        identifiers=[*check_names(identifiers), *index],
        confidential=check_names(confidential),
        weight=[] if weight is None else [weight],
        strata=check_names(strata),
        keep=check_names(keep),
    )
    names = schema.names(Role.QUASI)
    own_parameters = inspect.signature(protect_file).parameters
    method_name, method_options, partition = resolve_method(method, k, options, names, own_parameters)
    if method_name in PER_COLUMN:
        raise InvalidParameter(f"method {method_name!r} groups each column on its own. Use protect() for that.")
    with _scratch_file(scratch if scratch is not None else path.parent) as unnamed:
        n, columns, stratum_of_rows, sums = _ingest(file, names, schema.names(Role.STRATUM), unnamed, progress)
        check_enough_records(n, k)
        check_strata(stratum_of_rows, k)
        offsets, units = _moments(columns, sums, names)
        totals = _totals(columns, offsets, units)
        rounded = [j for j, name in enumerate(names) if pa.types.is_integer(file.schema.field(name).type)]
        rounded = rounded if integers == "round" else []
        pieces = []
        for rows in rows_of(stratum_of_rows):
            pieces += median_pieces(columns, offsets, units, max_block, k, rows=rows, n_jobs=n_jobs)
        if method_name in PARTITIONERS and "search" in method_options:
            largest = max(rows.size for rows in pieces)
            method_options["search"] = choose_search(method_options["search"], largest, len(names))
            partition = partial(partition, search=method_options["search"])
        work = _Blocks(columns, offsets, units, k, partition, aggregate, rounded, n, progress)
        found = in_parallel(work.mask, pieces, n_jobs)
        _write(file, path, schema, columns, names, rounded, n, progress)
    return FileRelease(
        path=path,
        n_records=n,
        n_groups=sum(groups for groups, _ in found),
        k_achieved=min(smallest for _, smallest in found),
        information=loss_of_sums([round_digits(digits) for digits in work.errors], totals, names),
        recipe=Recipe(
            k=k,
            method=method_name,
            options=method_options,
            roles={role.value: tuple(schema.names(role)) for role in Role},
            aggregate=aggregate,
            integers=integers,
            blocks={"by": "median", "max_block": max_block, "count": len(pieces)},
            version=__version__,
        ),
        index_dropped=bool(index),
    )


def _check_target(target: Any, file: Batches, overwrite: bool) -> Path:
    if not isinstance(target, (str, os.PathLike)):
        raise InvalidParameter(f"the target is a {type(target).__name__}. Pass the path of the file to write.")
    path = Path(target)
    if path.suffix.lower() not in (".parquet", ".pq") or path.is_dir():
        raise InvalidParameter(f"the target {path.name!r} is not a .parquet file. Name one.")
    if not path.parent.is_dir():
        raise InvalidParameter(f"there is no folder for the target {path.name!r}. Make it first.")
    if file.path.is_dir() and path.parent.samefile(file.path):
        raise InvalidParameter("the target lies in the folder that is read. Write it to another one.")
    if path.exists() and any(path.samefile(part) for part in file.parts):
        raise InvalidParameter("the target is the source. The original is never overwritten; name another file.")
    if (path.exists() or path.is_symlink()) and not overwrite:
        raise InvalidParameter(f"the target {path.name!r} exists. Remove it, or pass overwrite=True.")
    return path


def _scratch_file(folder: str | os.PathLike[str]) -> Any:
    try:
        return tempfile.TemporaryFile(dir=folder)
    except OSError:
        raise InvalidParameter("no file can be made in the folder for scratch. Pass another one as scratch=.") from None


def _ingest(
    file: Batches, names: list[str], strata: list[str], unnamed: Any, progress: Progress | None
) -> tuple[int, NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Copy the columns to mask into the scratch file, (d, n); number the strata and sum the columns exactly."""
    n = file.count()
    if n == 0:
        raise InvalidData("the file has no records. Pass at least k of them.")
    _reserve(unnamed, 8 * len(names) * n)
    columns = np.memmap(unnamed, dtype=np.float64, mode="r+", shape=(len(names), n))
    sums = np.zeros((len(names), exact_digits(np.zeros(1)).size), dtype=np.int64)
    codes = np.zeros(n, dtype=np.int64)
    numbering = frames.Numbering(strata)
    start = 0
    for table in file.tables([*names, *strata]):
        stop = start + table.num_rows
        if table.num_rows == 0:
            continue
        opened = frames.open_frame(table)
        frames.check_numeric(opened, names)
        frames.check_complete(opened, [*names, *strata])
        for j, values in enumerate(frames.to_columns(opened, names)):
            columns[j, start:stop] = values
            sums[j] += exact_digits(values)
        if strata:
            codes[start:stop] = numbering.codes(table)
        start = stop
        _tell(progress, start, 3 * n)
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


def _moments(
    columns: NDArray[np.float64], sums: NDArray[np.int64], names: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give each column's mean and standard deviation, as protect() has them to the last bit."""
    n = columns.shape[1]
    means, deviations = np.empty(len(names)), np.empty(len(names))
    for j, column in enumerate(columns):
        extremes = [(float(chunk.min()), float(chunk.max())) for chunk in _chunks(column)]
        lowest, highest = min(low for low, _ in extremes), max(high for _, high in extremes)
        largest = max(abs(lowest), abs(highest))
        if not 2.0**-400 < largest < 2.0**400 and largest > 0:
            raise InvalidData(f"column {names[j]!r} has values too large or small to square. Scale it first.")
        means[j] = round_digits(sums[j]) / n
        squares = exact_sum_of_parts((chunk - means[j]) ** 2 for chunk in _chunks(column))
        deviations[j] = 0.0 if lowest == highest else float(np.sqrt(squares / n))
    return means, deviations


def _totals(columns: NDArray[np.float64], offsets: NDArray[np.float64], units: NDArray[np.float64]) -> list[float]:
    """Give each standardised column's sum of squares about its mean."""
    totals = []
    for column, offset, unit in zip(columns, offsets, units, strict=True):
        if unit == 0:
            totals.append(0.0)
            continue
        mean = exact_sum_of_parts((chunk - offset) / unit for chunk in _chunks(column)) / column.size
        totals.append(exact_sum_of_parts(((chunk - offset) / unit - mean) ** 2 for chunk in _chunks(column)))
    return totals


def _chunks(column: NDArray[np.float64]) -> Iterable[NDArray[np.float64]]:
    for start in range(0, column.size, _CHUNK):
        yield np.asarray(column[start : start + _CHUNK])


class _Blocks:
    """Masks blocks in place."""

    def __init__(
        self,
        columns: NDArray[np.float64],
        offsets: NDArray[np.float64],
        units: NDArray[np.float64],
        k: int,
        partition: Callable[..., NDArray[np.int64]],
        aggregate: str,
        rounded: list[int],
        n: int,
        progress: Progress | None,
    ) -> None:
        self.columns, self.offsets, self.units = columns, offsets[:, None], units[:, None]
        self.k, self.partition, self.aggregate, self.rounded = k, partition, aggregate, rounded
        self.n, self.progress, self.done = n, progress, 0
        self.errors = np.zeros((len(columns), exact_digits(np.zeros(1)).size), dtype=np.int64)
        self._lock = threading.Lock()

    def mask(self, rows: NDArray[np.int64], check: Callable[[], None]) -> tuple[int, int]:
        """Replace a block's values by its groups'; give the number of groups and the smallest one's size."""
        original = np.ascontiguousarray(self.columns[:, rows])
        scores = self._scores(original)
        labels = checked_groups(self.partition(scores.T, self.k, progress=lambda *_: check()), scores, self.k)
        released = released_values(original, labels, self.aggregate)
        released[self.rounded] = np.rint(released[self.rounded])
        errors = np.array([exact_digits(column) for column in (scores - self._scores(released)) ** 2])
        self.columns[:, rows] = released
        with self._lock:
            self.errors += errors  # digits of exact sums: the order does not matter
            self.done += rows.size
            _tell(self.progress, self.n + self.done, 3 * self.n)
        sizes = np.bincount(labels)
        return sizes.size, int(sizes.min())

    def _scores(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.divide(values - self.offsets, self.units, out=np.zeros(values.shape), where=self.units != 0)


def _write(
    file: Batches,
    path: Path,
    schema: Schema,
    columns: NDArray[np.float64],
    names: list[str],
    rounded: list[int],
    n: int,
    progress: Progress | None,
) -> None:
    """Write the released columns, row group by row group, the masked ones from the scratch file."""

    def released(table: pa.Table, start: int) -> pa.Table:
        replaced: dict[Any, NDArray[Any]] = {}
        for j, name in enumerate(names):
            values = np.asarray(columns[j, start : start + table.num_rows])
            replaced[name] = values.astype(np.int64) if j in rounded else values
        return frames.with_columns(nw.from_native(table, eager_only=True), schema.released, replaced)

    needed = schema.released
    empty = pa.table({name: pa.array([], file.schema.field(name).type) for name in needed})
    with parquet_writer(path, released(empty, 0).schema) as writer:
        start = 0
        for table in file.tables(needed):
            part = released(table, start)
            start += table.num_rows
            if start > n:
                break
            writer.write_table(part, row_group_size=max(1, table.num_rows))
            _tell(progress, 2 * n + start, 3 * n)
        file.check_unchanged()


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
