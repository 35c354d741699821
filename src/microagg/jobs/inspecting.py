"""What looking at a file leaves: a recipe, and where it is asked for a private list of the strata with too few records.

What such strata are called are cells of the data: no terminal, report or error shows them.
"""

import csv
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np

from microagg.base.frozen import frozen
from microagg.checks import check_absent, check_k
from microagg.columns import frames
from microagg.columns.roles import Role
from microagg.columns.weights import WeightSeen, weights_in
from microagg.errors import InvalidData, InvalidParameter, MicroaggError, setting
from microagg.files.addresses import check_apart_from
from microagg.files.scratch import private_file
from microagg.jobs.opening import Opened, exposure_by
from microagg.jobs.outputs import lies_in_output
from microagg.study.costs import ColumnCosts, column_costs
from microagg.study.inspection import Exposure, Inspection, inspect_table
from microagg.work import Progress

_WHAT = "the list of small strata"


def check_inspection(
    recipe: Path, address: str, k: int | None, small_strata: Path | None = None, *, overwrite: bool = False
) -> None:
    """Refuse a k, or a place for the recipe or the list of small strata, that cannot be, before any work is done."""
    if k is not None:
        check_k(k)
    if not recipe.resolve().parent.is_dir() or recipe.is_dir():
        raise InvalidParameter(
            f"no recipe can be written to {recipe.name!r}. Name a file in a folder that exists.", parameter="output"
        )
    check_apart_from(recipe, address)
    check_absent(recipe, "the recipe", overwrite=overwrite)
    if small_strata is None:
        return
    check_small_strata(small_strata, address, overwrite=overwrite)
    both_are_there = small_strata.exists() and recipe.exists()
    if small_strata.resolve() == recipe.resolve() or (both_are_there and small_strata.samefile(recipe)):
        raise InvalidParameter(f"{_WHAT} and the recipe have the same name. Name two files.", parameter="small_strata")


@frozen()
class SmallStrata:
    """What a list of small strata holds, in figures that can be shown.

    Attributes
    ----------
    count : int
        Strata with fewer than k records.
    strata : tuple
        The columns that make the strata.
    k : int
    place : str
        The file that lists them.
    """

    count: int
    strata: tuple[Any, ...]
    k: int
    place: str

    def __str__(self) -> str:
        strata = "stratum" if self.count == 1 else "strata"
        return f"{self.count} {strata} with fewer than {self.k} records: written to {self.place} (private)"


def check_small_strata(path: Path, address: str, *, overwrite: bool) -> None:
    """Refuse a place for the list where others might read it; `address` is the source."""
    if str(path) == "-" or (os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode)):
        raise InvalidParameter(
            f"{_WHAT} is private: it is not printed, and not written to a link, a folder or a device. Name a file "
            "for it.",
            parameter="small_strata",
        )
    if not path.resolve().parent.is_dir():
        raise InvalidParameter(
            f"there is no folder for {_WHAT}, {path.name!r}. Create the folder first.", parameter="small_strata"
        )
    if lies_in_output(path):
        raise InvalidParameter(
            f"{_WHAT}, {path.name!r}, would be in an output folder, which others may get. Name a file in another "
            "folder.",
            parameter="small_strata",
        )
    check_apart_from(path, address)
    check_absent(path, _WHAT, overwrite=overwrite)


def write_small_strata(opened: Opened, path: Path, *, overwrite: bool = False) -> SmallStrata:
    """Write the strata that have fewer than k records to a file that only its owner can read.

    Parameters
    ----------
    opened : Opened
        Its recipe names the strata and k, and says what becomes of records that lack a value.
    path : Path
        A CSV file: the values of each stratum and how many records it has, the smallest first. It must not lie in an
        output, nor be a link.
    overwrite : bool

    Returns
    -------
    SmallStrata
        Figures without a cell of the data.
    """
    check_small_strata(path, opened.address, overwrite=overwrite)
    names = opened.recipe.roles.of(Role.STRATUM.value)
    if not names:
        raise InvalidParameter(
            f"no column is a stratum, so there are no small strata to list. Name strata: {setting('strata')}.",
            parameter="strata",
        )
    rows = _small_strata(opened, list(names))
    with private_file(path, _WHAT) as file:
        csv.writer(file, lineterminator="\n").writerows([(*names, "records"), *rows])
    return SmallStrata(len(rows), tuple(names), opened.recipe.k, str(path))


def _small_strata(opened: Opened, names: list[Any]) -> list[tuple[Any, ...]]:
    """Return the values of each stratum with fewer than k records, and how many it has, counted as masking does."""
    recipe, source = opened.recipe, opened.source
    masked = recipe.masked(source.table.column_names)
    frame = frames.open_frame(source.typed_for(recipe.kinds.kinds, masked, recipe.missing_codes.codes))
    if recipe.masking.missing == "drop":
        masks = frames.missing_rows(frame, [*masked, *names, *recipe.roles.of(Role.UNIT.value)])
        if masks:
            frame = frames.keep_rows(frame, ~np.logical_or.reduce(list(masks.values())))
    _, firsts, sizes = np.unique(frames.category_codes(frame, names), return_index=True, return_counts=True)
    small = [place for place in np.argsort(sizes, kind="stable") if sizes[place] < recipe.k]
    values = frame.select(names)[firsts[small].tolist(), :].rows() if small else []
    return [(*row, int(sizes[place])) for row, place in zip(values, small, strict=True)]


def check_weight(opened: Opened) -> None:
    """Refuse a weight that holds no weights; missing ones are left to masking, which counts and refuses them."""
    names = opened.recipe.roles.of(Role.WEIGHT.value)[:1]  # loss and risk are measured by it; masking checks any other
    if opened.recipe.weights.weighted is not False:
        for name in names:
            try:
                values = weights_in(opened.source.typed([name])[name], name)
            except InvalidData as error:
                raise error.at("a weight must be numbers: ") from None
            WeightSeen.of(values)._replace(missing=0).check(name)


def costs_of(opened: Opened, progress: Progress | None = None) -> ColumnCosts | None:
    """Try on a sample what each masked column costs the others; None if that cannot be measured."""
    try:
        return column_costs(opened.source, opened.recipe, progress=progress)
    except MicroaggError:  # the recipe is only a guess: masking will say what is wrong with it
        return None


def looked_at(opened: Opened, progress: Progress | None = None) -> Inspection:
    """Return what each column of a file holds and probably is, also where a recipe says what it is."""
    if opened.inspection is not None:
        return opened.inspection
    labels = opened.source.labels
    return inspect_table(
        opened.source.typed(),
        opened.recipe.k,
        labels.values if labels else None,
        labels.measures if labels else None,
        opened.recipe.roles.unit,
        progress,
    )


def exposure_of(opened: Opened, progress: Progress | None = None) -> Exposure:
    """Count how exposed the records of a file are, by the columns that its recipe masks and its strata."""
    return exposure_by(opened.source, opened.recipe, progress)
