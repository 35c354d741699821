"""Recoding before masking: classes of numbers and dates, top and bottom codes, joined categories."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from operator import add, or_
from pathlib import Path
from typing import Any, Self

import narwhals as nw
import pyarrow as pa

from microagg.base.frozen import ReadOnly, frozen
from microagg.checks import shown_name
from microagg.columns.recoding.recoded import RecodedArray, is_number, recode_array
from microagg.columns.recoding.rules import RecodingRule, refuse, some
from microagg.errors import InvalidData, InvalidParameter, RoleError, a_type


@frozen()
class RecodingTally(ReadOnly):
    """What recoding did, in a whole file or a part of it; tallies of parts add up. It shows original values.

    Attributes
    ----------
    changed : mapping
        How many cells of each recoded column have another value now; all that are present where labels are released.
    classes : mapping
        The labels of the classes that occur, by number, of each column that is released as labels.
    joined : mapping
        The values to join that occur, of each column whose values are joined.
    """

    changed: Mapping[Any, int] = field(default_factory=dict)
    classes: Mapping[Any, Mapping[int, str]] = field(default_factory=dict)
    joined: Mapping[Any, frozenset[str]] = field(default_factory=dict)

    def __add__(self, other: "RecodingTally") -> "RecodingTally":
        return RecodingTally(
            _by_name(add, 0, self.changed, other.changed),
            _by_name(or_, {}, self.classes, other.classes),
            _by_name(or_, frozenset(), self.joined, other.joined),
        )


def _by_name(join: Callable[[Any, Any], Any], nothing: Any, one: Mapping[Any, Any], other: Mapping[Any, Any]) -> Any:
    """Join what two tallies have of each column."""
    return {name: join(one.get(name, nothing), other.get(name, nothing)) for name in {**one, **other}}


@frozen()
class Recoding(ReadOnly):
    """How columns are recoded before they are masked.

    Every rule looks at one cell at a time, so parts of a file are recoded as the whole is. A missing value stays
    missing, and a code for one what it is. A column keeps its type, unless labels are released or new categories of a
    column of numbers are text: then it becomes text.

    Attributes
    ----------
    rules : mapping
        The rule of each column, by name.

    Examples
    --------
    >>> import microagg as ma
    >>> from microagg.columns.recoding import Recoding
    >>> recoding = Recoding.of({"age": {"width": 5, "top": 80}, "income": {"bottom": 0}})
    >>> recoding.words["age"]
    'at most 80; in classes of 5 from 0, released as the lower bound'
    >>> survey = ma.datasets.survey(5, seed=0)
    >>> survey["age"].to_pylist(), recoding.apply(survey)["age"].to_pylist()
    ([41, 27, 54, 32, 61], [40, 25, 50, 30, 60])
    """

    rules: Mapping[Any, RecodingRule] = field(default_factory=dict)

    @classmethod
    def of(cls, said: Any, folder: Path | None = None) -> Self:
        """Make a recoding of what a recipe says of each column, or refuse it before any data is seen.

        Parameters
        ----------
        said : mapping
            By column, a mapping of these words. ``bottom``, ``top``: values beyond become the limit. ``width``: classes
            of numbers so wide, from ``start`` (0); of dates by "week", "month", "quarter" or "year", or so many days
            from ``start`` (1970-01-01). ``cuts``: the lower bounds of classes, instead. ``as``: what a class releases,
            "lower" (its lower bound; the default), "middle" (of whole numbers and days, the middle one, the lower of
            two) or "label" (text, such as "20-24"). ``join``, alone: new categories, each with the list of values that
            it takes in, or the path of a CSV table with the heads old and new; other values stay. Days are written as
            ISO text. Limits go before classes.
        folder : Path, optional
            Where such a table is looked for; by default the working folder.

        Raises
        ------
        InvalidParameter
            With ``parameter="recode"`` and the column in ``columns``.
        """
        if not isinstance(said, Mapping):
            raise InvalidParameter(
                f"recode is {a_type(said)}. Pass a mapping such as {{'age': {{'width': 5}}}}.",
                parameter="recode",
            )
        return cls({name: RecodingRule.of(name, rule, folder) for name, rule in said.items()})

    def __bool__(self) -> bool:
        return bool(self.rules)

    @property
    def mapping(self) -> dict[Any, dict[str, Any]]:
        """What `of` takes to make this recoding again: dates as ISO text, tables of categories in full."""
        return {name: rule.mapping for name, rule in self.rules.items()}

    @property
    def words(self) -> dict[Any, str]:
        """What is done to each column, in words. They name limits and new categories, and no value that is joined."""
        return {name: rule.words for name, rule in self.rules.items()}

    @property
    def numbers(self) -> list[Any]:
        """The columns that must be numbers, or dates stored as such: a text file's are to be turned before."""
        return [name for name, rule in self.rules.items() if rule.kind.startswith("number")]

    @property
    def text(self) -> list[Any]:
        """The columns that become text, whatever they were: labels of classes, or new categories that are words."""
        return [
            name
            for name, rule in self.rules.items()
            if rule.release == "label" or not all(map(is_number, rule.join or ()))
        ]

    def apply(self, frame: Any, codes: Mapping[Any, Sequence[Any]] | None = None) -> Any:
        """Return a whole frame with its columns recoded; the caller's is not changed.

        Parameters
        ----------
        frame : pandas, polars or PyArrow dataframe, or one held by narwhals
        codes : mapping, optional
            By column, the values that stand for missing ones: they stay unchanged.

        Returns
        -------
        frame
            Of the same kind.

        Raises
        ------
        InvalidParameter
            If a rule does not fit its column, or values to join are not in it.
        InvalidData
            If a column has values that no class can be found for.
        RoleError
            If a column is not there.
        """
        recoded, tally = self.apply_to_part(frame, codes)
        self.check_joined(tally)
        return recoded

    def apply_to_part(self, frame: Any, codes: Mapping[Any, Sequence[Any]] | None = None) -> tuple[Any, RecodingTally]:
        """A part of a file with its columns recoded, and what was done; see `check_joined` after the last one."""
        opened = nw.from_native(frame, eager_only=True)
        fresh, tally = [], RecodingTally()
        for name, rule in self.rules.items():
            if name not in opened.columns:
                raise RoleError(
                    f"column {shown_name(name)} in recode is not in the file. Check its spelling.",
                    parameter="recode",
                    columns=(name,),
                )
            series, found = _recoded_series(rule, opened.get_column(name), name, (codes or {}).get(name, ()))
            fresh.append(series)
            tally += found
        whole = opened.with_columns(*fresh) if fresh else opened
        return (whole if isinstance(frame, nw.DataFrame) else nw.to_native(whole)), tally

    def check_joined(self, tally: RecodingTally) -> None:
        """Refuse values to join that no cell of the file has; `tally` is that of the whole file."""
        for name, rule in self.rules.items():
            groups, found = rule.groups, tally.joined.get(name, frozenset())
            absent = [old for old in groups if old not in found]
            if absent:
                refuse(
                    name,
                    f"{len(absent)} of {len(groups)} values to join are not in the file: {some(absent)}. Check "
                    f"their spelling, or leave them out.",
                )

    def levels(self, tally: RecodingTally) -> dict[Any, tuple[str, ...]]:
        """Return the labels that occur, in their order, of each column that is released as labels: it is ordinal."""
        return {
            name: tuple(tally.classes.get(name, {})[number] for number in sorted(tally.classes.get(name, {})))
            for name, rule in self.rules.items()
            if rule.release == "label"
        }


def _recoded_series(
    rule: RecodingRule, series: nw.Series[Any], name: Any, codes: Sequence[Any]
) -> tuple[nw.Series[Any], RecodingTally]:
    """Recode a column of any library."""
    try:
        stored: Any = series.to_arrow()
        chunks = stored.chunks if isinstance(stored, pa.ChunkedArray) else [stored]
        parts = [recode_array(rule, chunk, name, codes=codes) for chunk in chunks]
        if not parts:
            parts = [recode_array(rule, pa.array([], stored.type), name)]
        fresh = _like(series, stored.type, pa.chunked_array([part.array for part in parts]))
    except (pa.ArrowException, TypeError, OverflowError):  # whose message may show a cell
        raise InvalidData(
            f"column {shown_name(name)} mixes types, or holds values that cannot be recoded. Make it text, numbers or "
            f"dates.",
            parameter="recode",
            columns=(name,),
        ) from None
    return fresh, sum((_tally(rule, name, part) for part in parts), RecodingTally())


def _tally(rule: RecodingRule, name: Any, part: RecodedArray) -> RecodingTally:
    return RecodingTally(
        {name: part.changed},
        {name: part.classes} if rule.release == "label" else {},
        {name: part.joined} if rule.join else {},
    )


def _like(series: nw.Series[Any], stored: Any, column: Any) -> nw.Series[Any]:
    """Make a series of an Arrow column in the library, and where that can be the type, of another series.

    `stored` is the Arrow type of the other: if the column is of another, it has become text.
    """
    native: Any = nw.to_native(series)
    fresh: Any = column
    if series.implementation.is_pandas_like():
        fresh = _pandas_series(native, column, is_same=column.type == stored)
    elif series.implementation.is_polars():
        polars: Any = nw.get_native_namespace(series)
        fresh = polars.Series(series.name, column)
        if series.dtype == nw.Enum:
            categories = list(dict.fromkeys(one for chunk in column.chunks for one in chunk.dictionary.to_pylist()))
            fresh = fresh.cast(polars.Enum(categories))
        elif column.type == stored:
            fresh = fresh.cast(native.dtype)
    made: nw.Series[Any] = nw.from_native(fresh, series_only=True)
    return made.alias(series.name)


def _pandas_series(native: Any, column: Any, *, is_same: bool) -> Any:
    """Make a series with the index of another, and its type where `is_same` says that it can have it."""
    pandas: Any = nw.get_native_namespace(native)
    dtype = native.dtype
    if str(dtype) == "object":
        fresh = column.to_pandas().astype(object).array
    elif hasattr(dtype, "categories") or not (is_same or hasattr(dtype, "pyarrow_dtype")):
        fresh = column.to_pandas().array
    else:  # as pandas would by itself make floats of whole numbers beside missing ones
        fresh = pandas.arrays.ArrowExtensionArray(column)
        fresh = fresh.astype(dtype) if is_same else fresh
    return pandas.Series(fresh, index=native.index, name=native.name)
