"""Releases of a file of persons and one of households: taken apart, and written as two files or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.algorithms.equivalence import distinct_of, first_of_each
from microagg.columns import frames
from microagg.errors import InvalidData, InvalidParameter, setting
from microagg.files.addresses import check_apart_from, check_target
from microagg.files.databases import is_database
from microagg.files.joining import Joined
from microagg.files.promise import WrittenFile, check_written_apart
from microagg.files.scratch import private_folder
from microagg.files.sources import Reader, Source, write_target
from microagg.files.stores import is_store
from microagg.release import Release

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
