"""Tables in and out: `microagg.read` and `microagg.write`, the order of rows, and releases that are two files.

A release of a file of persons and one of households is taken apart, and written as two files or not at all.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microagg.algorithms.equivalence import distinct_of, first_of_each
from microagg.columns import frames
from microagg.columns.traces import sortable, without_views
from microagg.errors import InvalidData, InvalidParameter, a_type, setting
from microagg.files.addresses import check_apart_from, check_target
from microagg.files.databases import is_database
from microagg.files.joining import Joined
from microagg.files.promise import WrittenFile, check_written_apart
from microagg.files.scratch import private_folder
from microagg.files.sources import Reader, Source, write_target
from microagg.files.stores import is_store
from microagg.jobs.opening import read_file
from microagg.mask.digits import refuse_undoable
from microagg.recipe import Recipe
from microagg.release import Release

Order = NDArray[np.int64]


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


def written_order(release: Release[Any], table: pa.Table) -> Order:
    """Return which row of a release's table each row of its file is.

    Whole units are in the order of their numbers, which follows from what is released, and stay together.
    """
    if release.recipe.output.same_order or release.recipe.units.release == "pseudonym":
        return np.arange(table.num_rows)
    return sorted_order(table, _tags_shown(release, table))


def _tags_shown(release: Release[Any], table: pa.Table) -> list[pa.Array]:
    """Return which of Stata's .a to .z the file shows, which are no values of a table; by others nothing is sorted."""
    masked = release.masked
    if release.source is None or release.source.labels is None:
        return list(masked.tags.values())
    kept = release.source.labels.tagged(release.rows).tags
    shown = [name for name in table.column_names if name not in masked.names and name not in masked.untold]
    return [*masked.tags.values(), *(kept[name] for name in shown if name in kept)]


def sorted_order(table: pa.Table, more: Sequence[pa.Array] = ()) -> Order:
    """Return the order of rows by all released columns: one that anybody could make, and that discloses nothing.

    `more` is what else a file shows of the rows.
    """
    keys = {}
    for number, column in enumerate([*without_views(table).columns, *map(pa.chunked_array, ([one] for one in more))]):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        keys[str(number)] = sortable(column)  # Arrow takes a name with a point for a path
    order = pc.sort_indices(pa.table(keys), [(name, "ascending") for name in keys])
    return np.asarray(order.to_numpy(), dtype=np.int64)


_PERSONS, _HOUSEHOLDS = "the persons' file", "the households' file"


def is_of_two(release: Release[Any], households: Any) -> bool:
    """Return whether a release is written as two files; refuse a place for the second one where there is none."""
    joins = release.recipe.join.households is not None
    if joins and households is None:
        raise InvalidParameter(
            "the release is of two files, and is written as two. Name a place for the second: "
            f"{setting('households')}.",
            parameter="households",
        )
    if households is not None and not joins:
        raise InvalidParameter(
            "the release is of one file, so that there is no file of households to write. Leave "
            f"{setting('households')} out.",
            parameter="households",
        )
    return joins


def apart(release: Release[Any]) -> tuple[pa.Table, pa.Table]:
    """Return the persons and the households of a release that joins two files, each with its own columns.

    Both have the pseudonym of the household. The second has one row for each.
    """
    persons, households, first = _apart(release)
    return persons, households.take(pa.array(first))


def _apart(release: Release[Any]) -> tuple[pa.Table, pa.Table, NDArray[np.int64]]:
    """Return what each file has of all rows, and the first row of each household."""
    joined = _joined(release)
    data, on = release.data, joined.on
    persons, households = (
        data.select([name for name in source.table.column_names if name in data.column_names])
        for source in (joined.persons, joined.households)
    )
    numbers = data[on].to_numpy() - 1
    first = first_of_each(numbers)
    for name in households.column_names:
        codes = frames.category_codes(frames.open_frame(households), [name])
        differing = distinct_of(numbers[codes != codes[first][numbers]]).size
        if differing:
            raise InvalidData(
                f"column {name!r} of {joined.households.name!r} would be released with several values in {differing} "
                "households, which have one row each. Leave out what makes the rows of a household differ, such as "
                f"{setting('calibrate')}, or drop the column.",
                columns=(name,),
            )
    return persons, households, first


def _joined(release: Release[Any]) -> Joined:
    if release.source is None or release.source.joined is None:
        raise InvalidData(
            "a stored release does not know which column belongs to which file. Mask both files again with its recipe."
        )
    return release.source.joined


def write_apart(release: Release[Any], persons: Any, households: Any, *, overwrite: bool) -> None:
    """Write both files of a release, or neither; k is counted on both together before they get their names."""
    joined = _joined(release)
    places = {_PERSONS: persons, _HOUSEHOLDS: households}
    _check_places(joined, places, overwrite)
    of_persons, of_all, first = _apart(release)
    tables = {_PERSONS: of_persons, _HOUSEHOLDS: of_all.take(pa.array(first))}
    rows = {_PERSONS: np.arange(of_persons.num_rows), _HOUSEHOLDS: first}
    labels = None if release.source is None else release.source.labels  # of both
    how: dict[str, Any] = {"overwrite": overwrite, "excel_safe": release.recipe.output.excel_safe}

    def told(which: str, read: Reader) -> WrittenFile:
        table = tables[which]
        return WrittenFile(read, table.column_names, table.num_rows, Path(places[which]).name)

    def write(which: str, like: Source, then: Any) -> None:
        own = replace(like, labels=labels and labels.tagged(release.rows[rows[which]]))
        masked = release.masked.tagged(rows[which])
        write_target(tables[which], places[which], own, masked=masked, **how, then=lambda read: then(told(which, read)))

    # The persons' file waits for its name until the households' file has got its own.
    with _as_it_was(Path(households)):
        write(
            _PERSONS,
            joined.persons,
            lambda first: write(
                _HOUSEHOLDS, joined.households, lambda second: check_written_apart(release.promise, first, second)
            ),
        )


def _check_places(joined: Joined, places: dict[str, Any], overwrite: bool) -> None:
    """Refuse places that are one, a database's, or a source's."""
    for place in places.values():
        if is_database(place) or is_store(place):
            raise InvalidParameter(
                "a release of two files is written to this machine, both files or none, and not to a database or a "
                "store. Name two files."
            )
        check_target(place, joined.persons.address, overwrite=overwrite)
        if joined.households.address is not None:
            check_apart_from(Path(place), joined.households.address)
    one, other = (Path(place) for place in places.values())
    if one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other)):
        raise InvalidParameter(
            f"{_PERSONS} and {_HOUSEHOLDS} have the same name. Name two: {setting('households')}.",
            parameter="households",
        )


@contextmanager
def _as_it_was(path: Path) -> Iterator[None]:
    """Bring a file back as it was, or none where there was none, if what comes after it goes wrong."""
    place = path.resolve()
    with private_folder(place.parent, _HOUSEHOLDS) as folder:
        former = folder / "former"
        if place.exists():
            try:
                os.link(place, former)
            except OSError:  # a file of somebody else, or a file system without links
                shutil.copy2(place, former)
        try:
            yield
        except BaseException:
            if former.exists():
                former.replace(place)
            else:
                place.unlink(missing_ok=True)
            raise
