"""Two files side by side: which columns are the same row by row, and whether the rows can belong together."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microagg.algorithms.equivalence import distinct_of
from microagg.columns.finders import MOST_CATEGORIES
from microagg.errors import InvalidData, RoleError, setting

Codes = NDArray[np.int64]


class Pair:
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
