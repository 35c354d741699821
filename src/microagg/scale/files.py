"""protect_file(): mask a file of any size in bounded memory, on this machine or on many.

The columns to mask are copied to scratch, cut into blocks and masked there; the file is then read once more and
written out with the masked values. Groups and figures are those of protect(blocks="median").
"""

import inspect
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from microagg import __version__
from microagg._kernels.sums import round_digits
from microagg.aggregate import AGGREGATES
from microagg.checks import check_absent, check_jobs, check_k, check_names, check_option, check_whole
from microagg.errors import InvalidData, InvalidParameter
from microagg.evaluate.loss import InformationLoss, loss_of_sums
from microagg.grouping import DEFAULT_BLOCK, check_max_block, check_rest, resolve_method
from microagg.io._kinds import kind_of
from microagg.io.batches import Batches
from microagg.partition import groups_each_column
from microagg.partition.refine import check_effort
from microagg.progress import Progress
from microagg.recipe import Recipe
from microagg.scale import _local
from microagg.scale._plan import Plan, check_replaceable
from microagg.schema import Role, Schema


@dataclass(frozen=True)
class FileRelease:
    """What is known of a masked file.

    Attributes
    ----------
    path : Path
        The masked file.
    n_records, n_groups : int
    k_achieved : int
        The fewest records that share one combination of values in the masked columns and strata that are released, as
        in `Release`; counted on the file, read back before it got its name.
    information : InformationLoss
        On the standardised columns, original against released.
    recipe : Recipe
        Everything the run depended on.
    index_dropped : bool
        Whether the file had a pandas index of row labels, which count as an identifier.
    details : mapping of str to str
        How a text file was read, to show a person: the delimiter, the encoding, the marks of numbers.
    read : mapping of str to str
        The same as `protect_file` takes it, so that the file is read so again; empty of Parquet.

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
    details: Mapping[str, str] = field(default_factory=dict)
    read: Mapping[str, Any] = field(default_factory=dict)

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
    drop: Iterable[Any] = (),
    rest: str | None = None,
    method: Any = "mdav",
    aggregate: str = "mean",
    integers: str = "float",
    max_block: int = DEFAULT_BLOCK,
    refine: str | int | None = None,
    seed: int = 0,
    read: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    scratch: str | os.PathLike[str] | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    partitions: int | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> FileRelease:
    """Mask a Parquet or CSV file of any size, in bounded memory.

    Rows keep their order and, from Parquet, their row groups. The target appears when it is whole, has been read back,
    and has at least k records to each combination of values.

    Parameters
    ----------
    source : path
        A Parquet file, a folder of Parquet files (taken in the order of their names), or a text file, such as CSV,
        whose columns are text but for those to mask, so that what is not masked comes out as it was.
    target : path
        The file to write, Parquet or text; with engine="dask" a folder of Parquet files.
    k, quasi, identifiers, confidential, weight, strata, keep, drop, rest, method, aggregate, integers : see `protect`
        Columns are standardised; missing values are refused.
    max_block : int
        The most records of a block, within which groups are formed.
    refine, seed : optional
        As in `protect`, but within each block: no record crosses the border of one. A number of moves is for each.
    read : mapping, optional
        How a text file is written: any of delimiter, encoding, decimal, thousands and header (whether its first row
        holds names). What is not said is found out; a first row that may be a record is refused.
    overwrite : bool
        Whether a target that exists may be replaced.
    scratch : path, optional
        The folder for scratch, as large as the masked columns in memory (three times that with Dask); by default
        that of the target. It holds original values: in a file without a name, which vanishes with the process, or
        with Dask in a folder that only its owner can open, removed at the end.
    engine : {"local", "dask"}
        Threads of this process, or tasks on a Dask cluster (Parquet only). The result does not depend on it.
    scheduler : str, optional
        The address of a Dask scheduler, such as "tcp://10.0.0.1:8786", whose workers see the source, the target
        and the scratch under the same paths. Without one, a cluster on this machine starts and ends with the call;
        a script that asks for that must keep its code under ``if __name__ == "__main__":``.
    partitions : int, optional
        With Dask, the parts in which the file is read, each of whole row groups; by default about a million
        records each, or four for each worker.
    n_jobs : int, optional
        Threads, or workers of a cluster on this machine; by default one a core. The result does not depend on it.
    progress : callable, optional
        Called as progress(done, in all), where each record counts three times: read, grouped, written and read back.
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
    if refine is not None:
        check_effort(refine, 1)
    seed = check_whole("seed", seed, 0, 2**62)
    partitions = _check_engine(engine, scheduler, partitions)
    file = Batches(source, _check_read(read))
    path = _check_target(target, file, overwrite, folder=engine == "dask")
    if engine == "dask" and not file.is_parquet:
        raise InvalidData(f"{file.path.name!r} is text, which cannot be read in parts. Convert it to Parquet first.")
    named = {
        name for role in (quasi or (), identifiers, confidential, strata, keep, drop) for name in check_names(role)
    }
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
        drop=check_names(drop),
    )
    names = schema.names(Role.QUASI)
    own_parameters = inspect.signature(protect_file).parameters
    method_name, method_options, partition = resolve_method(method, k, options, names, own_parameters)
    if groups_each_column(method_name):
        raise InvalidParameter(f"method {method_name!r} groups each column on its own. Use protect() for that.")
    file.read_as_numbers(names)
    rounded = [j for j, name in enumerate(names) if pa.types.is_integer(file.schema.field(name).type)]
    plan = Plan(
        schema=schema,
        k=k,
        method=method_name,
        options=method_options,
        partition=partition,
        aggregate=aggregate,
        rounded=rounded if integers == "round" else [],
        max_block=max_block,
        refine=refine,
        seed=seed,
    )
    place = path.parent if scratch is None else Path(scratch)
    if engine == "local":
        outcome = _local.run(file, path, plan, place, n_jobs, progress)
    else:
        from microagg.scale import _cluster

        outcome = _cluster.run(file, path, plan, place, scheduler, n_jobs, partitions, overwrite, progress)
    errors = [round_digits(digits) for digits in outcome.figures.errors]
    return FileRelease(
        path=path,
        n_records=outcome.n_records,
        n_groups=outcome.figures.n_groups,
        k_achieved=outcome.k_achieved,
        information=loss_of_sums(errors, outcome.totals, names),
        recipe=Recipe(
            k=k,
            method=method_name,
            options=outcome.options,
            roles={role.value: tuple(schema.names(role)) for role in Role},
            aggregate=aggregate,
            integers=integers,
            blocks={"by": "median", "max_block": max_block, "count": outcome.n_blocks},
            refine={} if refine is None else {"effort": refine, "seed": seed},
            version=__version__,
        ),
        index_dropped=bool(index),
        details=file.details,
        read={} if file.dialect is None else file.dialect.options(),
    )


def _check_read(read: Any) -> dict[str, Any]:
    known = {"delimiter": str, "encoding": str, "decimal": str, "thousands": str, "header": bool}
    if read is not None and not isinstance(read, Mapping):
        raise InvalidParameter(f"read is a {type(read).__name__}. Pass a mapping, such as {{'delimiter': ';'}}.")
    for name, value in (read or {}).items():
        check_option("a name in read", name, known)
        if not isinstance(value, known[name]):
            wanted = "a string" if known[name] is str else "True or False"
            raise InvalidParameter(f"{name!r} in read is a {type(value).__name__}. Pass {wanted}.")
    return dict(read or {})


def _check_engine(engine: str, scheduler: str | None, partitions: int | None) -> int | None:
    """Return the number of partitions, or say what does not go together."""
    check_option("engine", engine, ("local", "dask"))
    if engine == "local" and (scheduler is not None or partitions is not None):
        raise InvalidParameter("scheduler and partitions go with engine='dask'. Leave them out, or pass that.")
    if scheduler is not None and not isinstance(scheduler, str):
        raise InvalidParameter(f"the scheduler is a {type(scheduler).__name__}. Pass its address, a string.")
    return None if partitions is None else check_whole("partitions", partitions, 1, None, "One or more.")


def _check_target(target: Any, file: Batches, overwrite: bool, *, folder: bool) -> Path:
    if not isinstance(target, (str, os.PathLike)):
        raise InvalidParameter(f"the target is a {type(target).__name__}. Pass the path of the file to write.")
    path = Path(target)
    if folder and path.suffix.lower() not in (".parquet", ".pq", ""):
        raise InvalidParameter(f"the target {path.name!r} is to be a folder of .parquet files. Name it so.")
    if not folder and (path.is_dir() or kind_of(path) not in ("parquet", "csv")):
        raise InvalidParameter(f"the target {path.name!r} is neither a .parquet file nor a .csv. Name one.")
    if not path.parent.is_dir():
        raise InvalidParameter(f"there is no folder for the target {path.name!r}. Make it first.")
    if file.path.is_dir() and path.parent.samefile(file.path):
        raise InvalidParameter("the target lies in the folder that is read. Write it to another one.")
    if path.exists() and any(path.samefile(part) for part in [file.path, *file.parts]):
        raise InvalidParameter("the target is the source. The original is never overwritten; name another file.")
    check_absent(path, "the target", overwrite=overwrite)
    if folder:
        inside = [path.resolve(), path.absolute()]
        if path.resolve() == Path.cwd() or any(
            place in part.resolve().parents for part in file.parts for place in inside
        ):
            raise InvalidParameter(
                f"the target {path.name!r} holds the source or is where you are. Name another folder."
            )
        check_replaceable(path)
    return path
