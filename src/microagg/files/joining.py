"""A file of persons and one of their households: joined, so that every person's row has what the household's says."""

from dataclasses import field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from microagg.base.frozen import frozen
from microagg.checks import nearest
from microagg.columns.labels import Labels
from microagg.columns.numbers import by_value, is_text
from microagg.errors import InvalidData, InvalidParameter, RoleError, setting
from microagg.files.sources import Source


@frozen()
class Joined:
    """What a table was joined from.

    Attributes
    ----------
    persons, households : Source
        As they were read.
    on : str
        The column that both have.
    rows : Array
        For each row of the table, the row of the households' file.
    without_persons : int
        Households that nobody belongs to; they are left out.
    """

    persons: Source
    households: Source
    on: str
    rows: Any = field(repr=False)
    without_persons: int = 0

    @property
    def of_households(self) -> list[str]:
        """The columns that come from the households' file, but for the one that both have."""
        return [name for name in self.households.table.column_names if name != self.on]

    @property
    def names(self) -> list[str]:
        """The columns of the joined table."""
        return [*self.persons.table.column_names, *self.of_households]

    def take(self, rows: Any) -> "Joined":
        """Return what belongs to some of the rows of the joined table."""
        return replace(self, rows=self.rows.take(pa.array(rows)))

    def numbers(self, name: str, *, named: bool) -> Any:
        """Return a column of the households' file as numbers, written in its own ways; None where it is none."""
        column = self.households._numbers(name, named=named)
        return None if column is None else column.take(self.rows)

    def __str__(self) -> str:
        table = self.households.table
        left_out = f"; {self.without_persons} have no persons and are left out" if self.without_persons else ""
        return (
            f"{self.households.name}: {table.num_rows} households, {table.num_columns} columns, joined by "
            f"{self.on!r}{left_out}"
        )


def join(persons: Source, households: Source, on: str | None = None) -> Source:
    """Return a source with a row for each person, and in it what the household's row says.

    Parameters
    ----------
    persons, households : Source
        The second has one row for each household. Both are of one kind: text, Parquet, SPSS and so on.
    on : str, optional
        The column of the household in both; by default the only one that both have.

    Returns
    -------
    Source
        Its `joined` says what it was made from. The order of rows is that of the persons.

    Raises
    ------
    InvalidData
        If a household has several rows or a person's has none, or somebody's household is missing. Numbers of rows are
        named, never values.
    RoleError
        If a file does not have the column, or both have others of one name.
    InvalidParameter
        If the files are of two kinds.

    Examples
    --------
    >>> persons = Source(pa.table({"hid": ["b", "a", "b"], "age": [30, 40, 50]}), "persons.csv", "csv")
    >>> homes = Source(pa.table({"hid": ["a", "b", "c"], "rooms": [2, 3, 4]}), "homes.csv", "csv")
    >>> whole = join(persons, homes)
    >>> whole.table["rooms"].to_pylist(), whole.joined.on, whole.joined.without_persons
    ([3, 2, 3], 'hid', 1)
    """
    if persons.kind != households.kind:
        raise InvalidParameter(
            f"{persons.name!r} is a file of kind {persons.kind} and {households.name!r} is of kind "
            f"{households.kind}. Pass two files of the same kind.",
            parameter="households",
        )
    on = _key(persons, households, on)
    rows, without_persons = _rows(persons, households, on)
    joined = Joined(persons, households, on, rows, without_persons)
    table = persons.table
    for name in joined.of_households:
        table = table.append_column(name, households.table[name].take(rows))
    labels = _labels(persons.labels, households.labels, rows)
    return replace(persons, table=table, labels=labels, joined=joined)


def _key(persons: Source, households: Source, on: str | None) -> str:
    """Return the column to join by; refuse one that is not in a file, and others of one name."""
    of_persons, of_households = persons.table.column_names, households.table.column_names
    common = [name for name in of_persons if name in of_households]
    if on is None and len(common) != 1:
        what = "no column with the same name" if not common else f"{len(common)} columns with the same name"
        raise InvalidParameter(
            f"{persons.name!r} and {households.name!r} have {what}. Name the column by which they are joined: "
            f"{setting('on')}.",
            parameter="on",
        )
    key = common[0] if on is None else on
    for source, names in ((persons, of_persons), (households, of_households)):
        if key not in names:
            raise RoleError(
                f"{source.name!r} has no column {key!r} to join by. Name one that both files have: {setting('on')}."
                f"{nearest(key, names)}",
                parameter="on",
                columns=(key,),
            )
    both = [name for name in common if name != key]
    if both:
        listed = ", ".join(map(repr, both[:10])) + (f" and {len(both) - 10} more" if len(both) > 10 else "")
        raise RoleError(
            f"{len(both)} column(s) are in both files, besides the one to join by: {listed}. Rename them, or leave "
            "them out, in one of the files.",
            parameter="households",
            columns=tuple(both),
        )
    return key


def _rows(persons: Source, households: Source, on: str) -> tuple[Any, int]:
    """Return the household's row for each person, and how many households nobody has."""
    keys = [_keys(source, on) for source in (persons, households)]
    if keys[0].type != keys[1].type:
        raise InvalidData(
            f"column {on!r} holds {_said(keys[0].type)} in {persons.name!r} and {_said(keys[1].type)} in "
            f"{households.name!r}. Store it in the same way in both.",
            parameter="on",
            columns=(on,),
        )
    several = len(keys[1]) - len(keys[1].unique())
    if several:
        raise InvalidData(
            f"{several} of {len(keys[1])} rows of {households.name!r} have the same household as another row, in "
            f"column {on!r}, where 1 and 01 are the same. Keep one row for each household, or pass the file of persons "
            "first.",
            parameter="households",
            columns=(on,),
        )
    rows = pc.index_in(keys[0], value_set=keys[1])
    if rows.null_count:
        raise InvalidData(
            f"{rows.null_count} of {len(rows)} persons belong to a household that is not in {households.name!r}, by "
            f"column {on!r}. Correct the number, add a row for the household, or leave those persons out.",
            parameter="households",
            columns=(on,),
        )
    return rows, len(keys[1]) - len(rows.unique())


def _keys(source: Source, on: str) -> Any:
    """Return a column to join by, in a form that can be compared; refuse one that is not complete."""
    column = source.table[on]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_text(column.type):
        column = by_value(column)  # as units are compared
    elif pa.types.is_integer(column.type):
        column = column.cast(pa.int64())
    elif pa.types.is_floating(column.type):
        column = _whole(column.cast(pa.float64()))
    missing = column.null_count + (pc.sum(pc.equal(column, "")).as_py() or 0 if is_text(column.type) else 0)
    if missing:
        raise InvalidData(
            f"{missing} of {len(column)} rows of {source.name!r} have no household, in column {on!r}. Fill it in, or "
            "leave those rows out.",
            parameter="on",
            columns=(on,),
        )
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _whole(column: Any) -> Any:
    """Return numbers without a fraction as whole ones: packages for statistics store all numbers in the same way."""
    column = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column


def _said(kind: pa.DataType) -> str:
    return "text" if is_text(kind) else "whole numbers" if pa.types.is_integer(kind) else str(kind)


def _labels(persons: Labels | None, households: Labels | None, rows: Any) -> Labels | None:
    """Return what two files of one package say of their values, in one."""
    if persons is None or households is None:
        return persons
    tags = {name: tag.take(rows) for name, tag in households.tags.items()}
    of_both = ("columns", "values", "formats", "measures", "widths", "missing")
    both: dict[str, Any] = {name: {**getattr(households, name), **getattr(persons, name)} for name in of_both}
    return replace(persons, **both, tags={**tags, **persons.tags})
