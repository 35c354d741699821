"""Columns of a frame as numbers or codes, and back: the same types come out as went in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from microagg.columns.coders import CategoryCoder, Coder
from microagg.columns.finders import MOST_CATEGORIES, Asked, Finder, NominalFinder, described, finder_for
from microagg.columns.kinds import Nominal
from microagg.columns.table import Table
from microagg.errors import InvalidData
from microagg.work import Progress, stage, tell

__all__ = [
    "MOST_CATEGORIES",
    "Asked",
    "CategoryCoder",
    "Coder",
    "Finder",
    "coder_for",
    "finder_for",
    "open_both",
    "open_table",
    "written_table",
]


def open_table(
    frame: nw.DataFrame[Any], asked: Mapping[Any, Asked], progress: Progress | None = None
) -> tuple[Table, dict[Any, "Coder"]]:
    """Return the columns that are asked for, coded, and what codes them."""
    coders = {}
    for name, wish in asked.items():
        coders[name] = coder_for(frame.get_column(name), name, wish)
        tell(stage(progress, 0, 2), len(coders), len(asked))
    return written_table(frame, list(coders.values()), stage(progress, 1, 2)), coders


def coder_for(series: nw.Series[Any], name: Any, asked: Asked) -> Coder:
    """Find out how a column is coded, or say why it cannot be."""
    finder = finder_for(series, name, asked)
    finder.see(series)
    return finder.coder()


def _check_alike(before: nw.Series[Any], after: nw.Series[Any], name: Any) -> None:
    """Refuse a column that is numbers in one file only."""
    for which, one, other in (("original", before, after), ("masked", after, before)):
        if other.dtype.is_numeric() and not one.dtype.is_numeric():
            raise InvalidData(
                f"column {name!r} of the {which} file is {described(one)}, and in the other file it is not. Store "
                "both in the same way, or leave it out with columns=.",
                columns=(name,),
            )


def open_both(before: nw.DataFrame[Any], after: nw.DataFrame[Any], asked: Mapping[Any, Asked]) -> tuple[Table, Table]:
    """Code two files in the same way: by the kinds of the first; the second may hold further categories."""
    coders = []
    for name, wish in asked.items():
        _check_alike(before.get_column(name), after.get_column(name), name)
        coder = coder_for(before.get_column(name), name, wish)
        if isinstance(coder, CategoryCoder) and isinstance(coder.kind, Nominal):
            finder = NominalFinder(after.get_column(name), name, Asked(codes=coder.codes))
            finder.see(after.get_column(name))
            others = finder.in_order()
            try:
                others = others.cast(coder.values.type)
            except pa.ArrowException:
                raise InvalidData(
                    f"column {name!r} is of another type in the masked file ({others.type}). Store both in the same "
                    "way.",
                    columns=(name,),
                ) from None
            fresh = others.filter(pc.invert(pc.is_in(others, value_set=coder.values)))
            coder = replace(coder, values=pa.concat_arrays([coder.values, fresh]))
        coders.append(coder)
    return written_table(before, coders), written_table(after, coders)


def written_table(frame: nw.DataFrame[Any], coders: Sequence[Coder], progress: Progress | None = None) -> Table:
    """Code the columns of a frame that holds values of the coders' columns."""
    columns = []
    for coder in coders:
        columns.append(coder.coded(frame.get_column(coder.name)))
        tell(progress, len(columns), len(coders))
    return Table(tuple(columns))
