"""Two files read, the second said to be the first one masked, and their rows set side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microagg.algorithms.equivalence import distinct_of
from microagg.base.frozen import frozen
from microagg.columns import frames
from microagg.columns.finders import MOST_CATEGORIES, open_table
from microagg.columns.roles import Role
from microagg.errors import InvalidData, RoleError, setting
from microagg.files.addresses import is_text_file
from microagg.files.sources import Source, read_source
from microagg.jobs.outputs import ROWS, RowOrigin, origin_of
from microagg.recipe import Recipe
from microagg.recipe.data import asked_of

Codes = NDArray[np.int64]


class BothFiles:
    """An original table and a masked one of as many records, their columns compared by name."""

    def __init__(self, before: pa.Table, after: pa.Table) -> None:
        if before.num_rows != after.num_rows:
            raise InvalidData(
                f"the original file has {before.num_rows} records and the masked one {after.num_rows}. Files are "
                "compared record by record. If a recipe left out records with a missing value, pass it: "
                f"{setting('recipe')}."
            )
        self._before, self._after = before, after
        self.common: list[str] = [name for name in before.column_names if name in after.column_names]
        self._known: dict[str, tuple[Codes, Codes]] = {}

    def check_known(self, names: Sequence[str]) -> None:
        """Refuse names of columns that one of the files does not have."""
        for table, which in ((self._before, "original"), (self._after, "masked")):
            for name in names:
                if name not in table.column_names:
                    raise RoleError(f"column {name!r} is not in the {which} file. Name columns that both have.")

    def is_numeric(self, name: str) -> bool:
        """Return whether a column is numbers in both files."""
        return _is_numeric(self._before[name].type) and _is_numeric(self._after[name].type)

    def can_be_judged(self, name: str) -> bool:
        """Return whether a column is numbers in both files, or categories that repeat in both."""
        if self.is_numeric(name):
            return True
        before, after = self._codes(name)
        return max(distinct_of(before).size, distinct_of(after).size) <= min(MOST_CATEGORIES, before.size // 2)

    def is_same(self, name: str) -> bool:
        """Return whether a column is the same in both files, row by row."""
        before, after = self._codes(name)
        return bool(np.array_equal(before, after))

    def is_witness(self, name: str) -> bool:
        """Return whether a column varies and is the same row by row: the rows belong together."""
        before, _ = self._codes(name)
        return self.is_same(name) and before.size > 0 and bool((before != before[0]).any())

    def is_moved(self, name: str) -> bool:
        """Return whether a column has the same values in another order."""
        before, after = self._codes(name)
        return not self.is_same(name) and bool(np.array_equal(np.sort(before), np.sort(after)))

    def difference(self, name: str) -> str:
        """Say how a column differs that should not, and what to do."""
        before, after = self._codes(name)
        rows = f"{np.count_nonzero(before != after)} of {before.size} rows"
        if self.is_moved(name):
            return (
                f"has the same values in both files, but in {rows} at another place: the rows of the masked file are "
                "in another order (sorted by masking, or from a database) and cannot be compared. Name the file in "
                "the output folder of `mask`, mask in the same order, or sort the rows back."
            )
        return f"differs in {rows}. Name columns that are released unchanged, and check that the files belong together."

    def is_sorted_anew(self) -> bool:
        """Return whether the masked file is in the order of its first column that varies, and the original is not."""
        for name in self._after.column_names:
            if name not in self.common or pa.types.is_nested(self._after[name].type):
                continue
            plain = pa.float64() if self.is_numeric(name) else pa.string()
            before, after = (_plain(table[name], plain).drop_null() for table in (self._before, self._after))
            if len(after.unique()) > 1:
                return _ascends(after) and not _ascends(before)
        return False

    def _codes(self, name: str) -> tuple[Codes, Codes]:
        """Number the values of a column in the same way in both files."""
        if name not in self._known:
            n = self._before.num_rows
            plain = pa.float64() if self.is_numeric(name) else pa.string()
            try:
                both = [_plain(table[name], plain) for table in (self._before, self._after)]
                indices = pa.concat_arrays(both).dictionary_encode().indices.fill_null(-1)
                codes = indices.to_numpy(zero_copy_only=False).astype(np.int64)
            except pa.ArrowException:  # lists and the like: taken to differ everywhere, they bear witness to nothing
                codes = np.arange(2 * n)
            self._known[name] = codes[:n], codes[n:]
        return self._known[name]


def _plain(column: pa.ChunkedArray, type_: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    column = column.cast(type_, safe=False).combine_chunks()
    return pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column


def _ascends(column: pa.Array) -> bool:
    return bool(pc.all(pc.less_equal(column[:-1], column[1:])).as_py())


def _is_numeric(type_: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_))


@frozen()
class Pairing:
    """Two files that were read, the second said to be the first one masked.

    Attributes
    ----------
    before, after : Source
    left_out : int
        Records that masking left out of the original, which are in neither any more.
    whole : Source or None
        The original with these; None where there are none.
    matched : bool
        Whether the output of `mask` says which row is which: rows of both files are then in the order of the original.
    """

    before: Source
    after: Source
    left_out: int = 0
    whole: Source | None = None
    matched: bool = False


def read_pair(original: str, masked: str, recipe: Recipe | None, reading: Mapping[str, Any]) -> Pairing:
    """Read both files, those of them that are text as they are said to be written."""
    if recipe is not None and recipe.join.households is not None:
        raise InvalidData(
            "the recipe joins two files and writes whole households in another order, so that rows cannot be "
            "compared with their originals. Read the report of `mask`."
        )
    how = ({} if recipe is None else recipe.reading.said) | dict(reading)
    texts = [is_text_file(address) for address in (original, masked)]
    if reading and not any(texts):
        texts[0] = True  # whose reader says that options of text files do not go with it
    before, after = (
        read_source(address, **(how if is_text else {}))
        for address, is_text in zip((original, masked), texts, strict=True)
    )
    origin = origin_of(masked, recipe)
    if origin is not None:
        return _matched(before, after, origin)
    if recipe is None or recipe.masking.missing != "drop":
        return Pairing(before, after)
    lacking = _lacking(before, recipe)
    left_out = int(np.count_nonzero(lacking))
    if not left_out:
        return Pairing(before, after)
    return Pairing(replace(before, table=before.table.filter(pa.array(~lacking))), after, left_out, before)


def _matched(before: Source, after: Source, origin: RowOrigin) -> Pairing:
    """Return both files in the order of the original, by what the output says of the masked rows."""
    if before.sha256 != origin.sha256 or before.table.num_rows != origin.records:
        raise InvalidData(
            f"{before.name!r} is not the file that {after.name!r} was made from, or was changed since then: its "
            "checksum differs from the one in the output. Pass the file that was masked."
        )
    order = np.argsort(origin.rows, kind="stable")
    rows = np.sort(origin.rows)
    fits = rows.size == after.table.num_rows and rows[0] >= 0 and rows[-1] < origin.records
    if not fits or (rows[1:] == rows[:-1]).any():
        raise InvalidData(
            f"{ROWS!r}, which says which row of {after.name!r} is which, was changed or belongs to another file. "
            "Mask again with the recipe."
        )
    left_out = before.table.num_rows - rows.size
    whole = before if left_out else None
    return Pairing(before.take(rows), after.take(order), left_out, whole, matched=True)


def check_can_be_matched(files: Pairing, pair: BothFiles, recipe: Recipe | None) -> None:
    """Refuse rows that the recipe writes in another order, where nothing shows which is which."""
    if recipe is None or files.matched or any(pair.is_witness(name) for name in pair.common):
        return
    if recipe.units.release == "drop" and (recipe.output.same_order or not pair.is_sorted_anew()):
        return
    raise InvalidData(
        f"the recipe of {files.after.name!r} sorts its rows, and nothing shows which row is which: the file is not "
        "in an output folder of `mask`, or was changed since then. Name the file in its output folder, or a column "
        f"that identifies each record ({setting('key')}), or mask again and keep the order "
        f"({setting('same_order')}); the values are the same."
    )


def _lacking(source: Source, recipe: Recipe) -> Any:
    """Return which records masking by this recipe leaves out."""
    masked = recipe.masked(source.table.column_names)
    frame = frames.open_frame(source.typed_for(recipe.kinds.kinds, masked))
    table, _ = open_table(frame, asked_of(recipe, masked))
    lacking = np.logical_or.reduce([~column.cells.present for column in table])
    for mask in frames.missing_rows(frame, [*recipe.roles.strata, *recipe.roles.of(Role.UNIT.value)]).values():
        lacking = lacking | mask
    return lacking


def in_the_order_of(before: Source, after: Source, key: str) -> Source:
    """Return a masked file with its rows in the order of the original, by a column that identifies each record."""
    for source, which in ((before, "original"), (after, "masked")):
        if key not in source.table.column_names:
            raise RoleError(
                f"column {key!r} is not in the {which} file. Name a column that both files have.", parameter="key"
            )
    columns = [source.table[key].cast(pa.string()).combine_chunks() for source in (before, after)]
    for column, which in zip(columns, ("original", "masked"), strict=True):
        if len(column.unique()) < len(column) or column.null_count:
            raise InvalidData(
                f"column {key!r} of the {which} file has some values twice, so that rows cannot be matched by it. "
                "Name another column.",
                parameter="key",
                columns=(key,),
            )
    places = pc.index_in(columns[0], value_set=columns[1])
    absent = places.null_count
    if absent or len(columns[0]) != len(columns[1]):
        raise InvalidData(
            f"{absent} of {len(columns[0])} records of the original file are not in the masked one by column {key!r}, "
            f"which has {len(columns[1])}. Compare files of the same records.",
            parameter="key",
            columns=(key,),
        )
    return replace(after, table=after.table.take(places))
