"""protect_file(): mask a file of any size in bounded memory.

The columns to mask are copied to a scratch file that has no name, so that nothing of it outlives the
process, however that ends. Blocks are cut and masked there in place, and the file is then read once more
and written out with the masked values. Groups and figures are those of protect(blocks="median").
"""

import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg import __version__
from microagg._kernels.sums import exact_digits, exact_sum_of_parts, round_digits
from microagg.aggregate import AGGREGATES, released_values
from microagg.blocking.median import median_ranges
from microagg.checks import check_enough_records, check_jobs, check_k, check_names, check_option
from microagg.errors import InvalidData, InvalidParameter, PromiseBroken, TooFewRecords
from microagg.evaluate.loss import InformationLoss, loss_of_sums
from microagg.grouping import DEFAULT_BLOCK, resolve_method
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
        Called as progress(records done, records in all), three times over the file.
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
    path = _check_target(target, source, overwrite)
    file = Batches(source)
    schema = Schema.assign(
        file.names,
        quasi=None if quasi is None else check_names(quasi),
        rest=rest,
        identifiers=check_names(identifiers),
        confidential=check_names(confidential),
        weight=[] if weight is None else [weight],
        strata=check_names(strata),
        keep=check_names(keep),
    )
    names = schema.names(Role.QUASI)
    own = ("source", "target", "overwrite", "scratch", "max_block")
    method_name, method_options, partition = resolve_method(method, k, options, names, own)
    if method_name in PER_COLUMN:
        raise InvalidParameter(f"method {method_name!r} groups each column on its own. Use protect() for that.")
    if method_name in PARTITIONERS and "search" in method_options:
        method_options["search"] = choose_search(method_options["search"], max_block, len(names))
        partition = partial(partition, search=method_options["search"])

    with tempfile.TemporaryFile(dir=scratch if scratch is not None else path.parent) as unnamed:
        n, columns, stratum_of_rows, sums = _ingest(file, names, schema.names(Role.STRATUM), unnamed, progress)
        check_enough_records(n, k)
        _check_strata(stratum_of_rows, k)
        offsets, units = _moments(columns, sums, names)
        totals = _totals(columns, offsets, units)
        whole = {name: i for i, name in enumerate(names) if pa.types.is_integer(file.schema.field(name).type)}
        rounded = [whole[name] for name in names if name in whole] if integers == "round" else []
        work = _Blocks(columns, offsets, units, k, partition, aggregate, rounded, n, progress)
        pieces = _pieces(columns, offsets, units, stratum_of_rows, max_block, k, n_jobs)
        found = in_parallel(work.mask, pieces, n_jobs)
        errors = np.sum([digits for _, _, digits in found], axis=0)
        _write(file, path, schema, columns, names, rounded, n, progress)
    return FileRelease(
        path=path,
        n_records=n,
        n_groups=sum(groups for groups, _, _ in found),
        k_achieved=min(smallest for _, smallest, _ in found),
        information=loss_of_sums([round_digits(digits) for digits in errors], totals, names),
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
    )


def _check_target(target: str | os.PathLike[str], source: str | os.PathLike[str], overwrite: bool) -> Path:
    path = Path(target)
    if path.suffix.lower() not in (".parquet", ".pq"):
        raise InvalidParameter(f"the target {path.name!r} is not a .parquet file. Name one.")
    if not path.parent.is_dir():
        raise InvalidParameter(f"there is no folder for the target {path.name!r}. Make it first.")
    if path.exists():
        if Path(source).exists() and path.samefile(source):
            raise InvalidParameter("the target is the source. The original is never overwritten; name another file.")
        if not overwrite:
            raise InvalidParameter(f"the target {path.name!r} exists. Remove it, or pass overwrite=True.")
    return path


def _ingest(
    file: Batches, names: list[str], strata: list[str], unnamed: Any, progress: Progress | None
) -> tuple[int, NDArray[np.float64], NDArray[np.int64] | None, NDArray[np.int64]]:
    """Copy the columns to mask into the scratch file, (d, n); number the strata and sum the columns exactly."""
    n = sum(table.num_rows for table in file.tables(names[:1]))
    if n == 0:
        raise InvalidData("the file has no records. Pass at least k of them.")
    columns = np.memmap(unnamed, dtype=np.float64, mode="w+", shape=(len(names), n))
    sums = np.zeros((len(names), exact_digits(np.zeros(1)).size), dtype=np.int64)
    codes = np.zeros(n, dtype=np.int64) if strata else None
    known: dict[tuple[Any, ...], int] = {}
    start = 0
    for table in file.tables([*names, *strata]):
        stop = start + table.num_rows
        if table.num_rows == 0:
            continue
        opened = frames.open_frame(table)
        frames.check_numeric(opened, names)
        missing = frames.missing_rows(opened, [*names, *strata])
        if missing:
            listed = ", ".join(repr(name) for name in missing)
            raise InvalidData(
                f"missing values in {len(missing)} column(s): {listed}. Impute them or leave those records out."
            )
        for j, values in enumerate(frames.to_columns(opened, names)):
            columns[j, start:stop] = values
            sums[j] += exact_digits(values)
        if codes is not None:
            local = frames.category_codes(opened, strata)
            firsts = np.unique(local, return_index=True)[1]
            numbers = [known.setdefault(frames.row_values(opened, strata, int(row)), len(known)) for row in firsts]
            codes[start:stop] = np.array(numbers)[local]
        start = stop
        _tell(progress, start, 3 * n)
    return n, columns, codes, sums


def _check_strata(strata: NDArray[np.int64] | None, k: int) -> None:
    if strata is None:
        return
    sizes = np.bincount(strata)
    if sizes.min() < k:
        raise TooFewRecords(
            f"{np.count_nonzero(sizes < k)} of {sizes.size} strata have fewer than k={k} records (the smallest has "
            f"{sizes.min()}). Merge strata or lower k."
        )


def _moments(
    columns: NDArray[np.float64], sums: NDArray[np.int64], names: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give each column's mean and standard deviation, as protect() has them to the last bit."""
    n = columns.shape[1]
    means, deviations = np.empty(len(names)), np.empty(len(names))
    for j, column in enumerate(columns):
        largest = max(float(np.abs(chunk).max()) for chunk in _chunks(column))
        if not 2.0**-400 < largest < 2.0**400 and largest > 0:
            raise InvalidData(f"column {names[j]!r} has values too large or small to square. Scale it first.")
        means[j] = round_digits(sums[j]) / n
        lowest = min(float(chunk.min()) for chunk in _chunks(column))
        highest = max(float(chunk.max()) for chunk in _chunks(column))
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


def _pieces(
    columns: NDArray[np.float64],
    offsets: NDArray[np.float64],
    units: NDArray[np.float64],
    strata: NDArray[np.int64] | None,
    most: int,
    k: int,
    n_jobs: int,
) -> list[NDArray[np.int64]]:
    """List the rows of each block, in order."""
    pieces = []
    groups = (
        [None] if strata is None else np.split(np.argsort(strata, kind="stable"), np.cumsum(np.bincount(strata))[:-1])
    )
    for rows in groups:
        order, ends = median_ranges(columns, offsets, units, most, k, rows=rows, n_jobs=n_jobs)
        pieces += np.split(order, np.flatnonzero(ends)[:-1] + 1)
    return pieces


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

    def mask(self, rows: NDArray[np.int64], check: Callable[[], None]) -> tuple[int, int, NDArray[np.int64]]:
        """Replace a block's values by its groups'; give groups, the smallest one's size, and exact squared errors."""
        rows = np.sort(rows)
        original = np.ascontiguousarray(self.columns[:, rows])
        scores = self._scores(original)
        labels = self.partition(scores.T, self.k, progress=lambda *_: check())
        smallest = int(np.bincount(labels).min())
        if smallest < self.k:
            raise PromiseBroken(f"the method made a group of {smallest} records, fewer than k={self.k}.")
        released = released_values(original, labels, self.aggregate)
        released[self.rounded] = np.rint(released[self.rounded])
        errors = np.array([exact_digits(column) for column in (scores - self._scores(released)) ** 2])
        self.columns[:, rows] = released
        self.done += rows.size
        _tell(self.progress, self.n + self.done, 3 * self.n)
        return int(labels.max()) + 1, smallest, errors

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
    kinds = {name: pa.int64() if j in rounded else pa.float64() for j, name in enumerate(names)}
    fields = [pa.field(name, kinds.get(name, file.schema.field(name).type)) for name in schema.released]
    others = [name for name in schema.released if name not in kinds]
    with parquet_writer(path, pa.schema(fields)) as writer:
        start = 0
        for table in file.tables([*others, names[0]]):
            stop = start + table.num_rows
            arrays = []
            for field in fields:
                if field.name in kinds:
                    values = np.asarray(columns[names.index(field.name), start:stop])
                    arrays.append(pa.array(values.astype(np.int64) if pa.types.is_integer(field.type) else values))
                else:
                    arrays.append(table[field.name].cast(field.type))
            if stop > start:
                writer.write_table(pa.table(arrays, schema=pa.schema(fields)), row_group_size=stop - start)
            start = stop
            _tell(progress, 2 * n + start, 3 * n)


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
