"""Tables in and out for Python: `microagg.read` and `microagg.write`."""

import os
from typing import Any

import pyarrow as pa

from microagg.columns.traces import without_views
from microagg.errors import InvalidParameter, a_type
from microagg.files.sources import Source, write_target
from microagg.jobs._order import Order, written_order
from microagg.jobs.opening import read_file
from microagg.jobs.two_files import is_of_two, write_apart
from microagg.mask.digits import refuse_undoable
from microagg.recipe import Recipe
from microagg.release import Release


def read(address: str | os.PathLike[str], *, recipe: Recipe | None = None, **reading: Any) -> Source:
    r"""Read any file that the command line reads: text, Parquet, Feather, Excel, SPSS, Stata, SAS, a database's table.

    Parameters
    ----------
    address : str or path
    recipe : Recipe, optional
        What it says of how a text file is written.
    **reading
        delimiter, encoding, decimal, thousands, header: how a text file is written, where it should not be found out;
        sheet: which sheet of an Excel file to read, by default the first;
        households, on: a second file, with one row for each household, to join by a column.

    Returns
    -------
    Source
        What `protect` and `compare` take as a frame: of a text file, the columns to mask are read as numbers, and all
        others stay the text they are. ``source.table`` has the columns as stored, ``source.typed()`` numbers where
        they are numbers.

    Examples
    --------
    >>> import tempfile, pathlib, microagg as ma
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "pay.csv"
    ...     _ = path.write_text("code;wage\n007;1,5\n010;2,25\n011;2,5\n")
    ...     release = ma.protect(ma.read(path), k=3, quasi=["wage"], keep=["code"])
    ...     ma.write(release, path.with_name("masked.csv"))
    ...     path.with_name("masked.csv").read_text().split()
    ['code;wage', '007;2,08', '010;2,08', '011;2,08']
    """
    return read_file(os.fspath(address), recipe, **reading)


def write(
    what: Release[Any] | Any,
    address: str | os.PathLike[str],
    *,
    households: str | os.PathLike[str] | None = None,
    like: Source | None = None,
    overwrite: bool = False,
) -> None:
    """Write a release, or a table, to a file of any kind or a database, whole or not at all.

    A release is written in the manner of the source it was made from, as its recipe's [output] says: rows are sorted
    by their released values unless that says same_order. k is counted on what was written before it takes its name.

    Parameters
    ----------
    what : Release[Any] or pyarrow.Table
    address : str or path
        The name says which kind of file it is.
    households : str or path, optional
        Where a release of two files was joined (`households` of `read`): the file of households. Both are written, or
        neither.
    like : Source, optional
        Whose manner to keep: delimiter, encoding, labels. By default that of the release's own source.
    overwrite : bool
        Whether something that is there may be replaced; the source never is.

    Examples
    --------
    >>> import tempfile, microagg as ma
    >>> release = ma.protect(ma.datasets.survey(60).select(["age", "tax"]), k=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ma.write(release, f"{folder}/masked.parquet")
    ...     ma.read(f"{folder}/masked.parquet").table.num_rows
    60
    """
    if isinstance(what, Release):
        write_release(what, address, like or what.source, households=households, overwrite=overwrite)
        return
    if households is not None:
        raise InvalidParameter(
            "a table has no separate households to write. Leave households out, or pass a Release.",
            parameter="households",
        )
    if not isinstance(what, pa.Table):
        raise InvalidParameter(f"{a_type(what)} cannot be written. Pass a Release or an Arrow table.")
    write_target(what, address, like or Source(what, "a table", "parquet"), overwrite=overwrite)


def write_release(
    release: Release[Any],
    address: Any,
    like: Source | None,
    *,
    households: Any = None,
    order: Order | None = None,
    overwrite: bool,
) -> None:
    """Write a release as its recipe says, and count its promise on what was written.

    `order` is that of `rows_written`, where it is known already. Digits by which members can be computed are refused.
    """
    refuse_undoable(release.recipe, release._undoable)
    if is_of_two(release, households):
        write_apart(release, address, households, overwrite=overwrite)
        return
    table = without_views(_as_arrow(release.data))
    order = written_order(release, table) if order is None else order
    own = like is not None and like is release.source
    write_target(
        table.take(pa.array(order)),
        address,
        Source(table, "a frame", "parquet") if like is None else like.tagged(release.rows[order] if own else None),
        masked=release.masked.tagged(order),
        overwrite=overwrite,
        excel_safe=release.recipe.output.excel_safe,
        promise=release.promise.sorted_by(order),
    )


def rows_written(release: Release[Any]) -> Order:
    """Return which row of `release.data` each row of its file is; of two files, of that of persons."""
    return written_order(release, _as_arrow(release.data))


def _as_arrow(data: Any) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if hasattr(data, "to_arrow"):
        return pa.table(data.to_arrow())
    return pa.Table.from_pandas(data, preserve_index=False)
