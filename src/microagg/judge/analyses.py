"""Whether researchers' results survive masking: analyses of any pair of files."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import pyarrow as pa
from narwhals.typing import IntoDataFrame

from microagg.checks import check_between, shown_name
from microagg.columns import frames
from microagg.columns.finders import MOST_CATEGORIES, ColumnChoices, open_both, open_table
from microagg.columns.roles import Role
from microagg.columns.table import Coded, Table
from microagg.errors import InvalidData, MicroaggError, RoleError
from microagg.mask.relations import numbers_of
from microagg.measures.analyses.analysis import Analysis
from microagg.measures.analyses.defaults import guess_analyses
from microagg.measures.analyses.estimate import Utility
from microagg.measures.analyses.judge import Failed, Units, columns_read, measure_utility
from microagg.recipe import Kinds, Missing, Recipe
from microagg.recipe.relations import RelationCounts, count_violations
from microagg.work import Progress, tell

if TYPE_CHECKING:
    from microagg.release import Release

Frame = nw.DataFrame[Any]


def utility(
    original: IntoDataFrame,
    masked: IntoDataFrame,
    analyses: Iterable[Analysis | Mapping[str, Any]] | None = None,
    *,
    weight: Any = None,
    unit: Any = None,
    kinds: Mapping[Any, Any] | None = None,
    missing_codes: Mapping[Any, Any] | None = None,
    level: float = 0.95,
) -> Utility:
    """Do the same analyses on the original and on the masked file, and compare their estimates.

    Records may be in any order, and need not be as many in both. Those that lack a value an analysis needs are left out
    of it and counted. Standard errors are by linearisation, those of regressions by the sandwich; both are clustered by
    unit where an analysis names one and the file has it.

    Parameters
    ----------
    original, masked : dataframes
        Columns are matched by name.
    analyses : list of Analysis, or of mappings that say the same, optional
        By default what `default_analyses` guesses of the columns that both files have.
    weight, unit : name, optional
        Those of the default analyses.
    kinds : mapping, optional
        Of which kind columns are, where their type does not say it, as `protect` takes them: numbers that are codes are
        "nominal".
    missing_codes : mapping, optional
        Values that stand for a kind of missing value, as `protect` takes them.
    level : float
        Of the intervals.

    Returns
    -------
    Utility

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0)
    >>> masked = ma.protect(survey, k=3, quasi=["age", "income"], rest="keep").data
    >>> found = ma.utility(survey, masked, [ma.Analysis("gini", "income")])
    >>> found.estimates[0]
    Gini coefficient of income 41.8 → 41.6: within its interval.
    """
    level = check_level(level)
    before, after = frames.open_frame(original), frames.open_frame(masked)
    both = [name for name in before.columns if name in after.columns]
    said, codes = Kinds(kinds or {}).kinds, Missing(missing_codes or {}).codes
    asked = {name: ColumnChoices(said.get(name), codes.get(name, ())) for name in both}
    if analyses is None:
        if weight is not None and weight not in both:
            raise RoleError(
                f"the weight {shown_name(weight)} is not in both files. Release it, or leave it out.",
                parameter="weight",
                columns=(weight,),
            )
        wanted = guess_analyses(_opened(before, asked, (unit,)), weight=weight, unit=unit)
    else:
        wanted = checked_analyses(analyses)
    names = columns_read(wanted, both)
    tables = open_both(before, after, {name: asked[name] for name in names}) if names else (Table(()), Table(()))
    units = [_units(file, wanted) for file in (before, after)]
    _check_units(wanted, units[0])
    return measure_utility(*tables, wanted, units_before=units[0], units_after=units[1], level=level)


def default_analyses(
    frame: IntoDataFrame,
    *,
    weight: Any = None,
    unit: Any = None,
    masked: Iterable[Any] | None = None,
    kinds: Mapping[Any, Any] | None = None,
    missing_codes: Mapping[Any, Any] | None = None,
) -> tuple[Analysis, ...]:
    """Guess which analyses users of a file would do: at most twelve, in a fixed order.

    Means of amounts by the columns that divide the file most evenly, the share of zeros, inequality and quantiles of
    an amount, a table, and for each amount a regression on age and categories.

    Parameters
    ----------
    frame : dataframe
        The columns that are released.
    weight, unit : name, optional
        As in `Analysis`; the unit need not be a column of the frame.
    masked : list of names, optional
        The columns that were masked: only results about these can change, so they go first.
    kinds, missing_codes : mapping, optional
        As `utility` takes them.

    Returns
    -------
    tuple of Analysis

    Examples
    --------
    >>> import microagg as ma
    >>> for one in ma.default_analyses(ma.datasets.survey(3000, seed=0).select(["age", "income", "region"])):
    ...     print(one)
    Analysis('mean', ['income'], by=['region'])
    Analysis('share', ['income'], value='= 0')
    Analysis('gini', ['income'])
    Analysis('poverty', ['income'])
    Analysis('quantile', ['income'], p=[0.1, 0.5, 0.9])
    Analysis('linear', ['log(income)', 'age', 'age^2', 'region'])
    """
    opened = frames.open_frame(frame)
    said, codes = Kinds(kinds or {}).kinds, Missing(missing_codes or {}).codes
    asked = {name: ColumnChoices(said.get(name), codes.get(name, ())) for name in opened.columns}
    only = None if masked is None else list(masked)
    return guess_analyses(_opened(opened, asked, (unit,)), weight=weight, unit=unit, masked=only)


def utility_of_release(
    release: "Release[Any]",
    analyses: Any,
    *,
    level: float = 0.95,
    failed: Failed | None = None,
    progress: Progress | None = None,
) -> Utility:
    """Compare analyses of the original and of what is released; an analysis that cannot be done goes to `failed`.

    Columns that are not masked are those of the original, but for weights that are released by group. Units are known
    of rows though they are not released. Where records were left out, the original has all of them.
    """
    recipe, unit = release.recipe, release.recipe.roles.unit
    original, written = release.pair
    own_units, weights = release.pair.units, release.pair.weights
    frame = whole = _typed(release, release.data)
    if release.pair.everybody is not None:
        original, weights = release.pair.everybody, release.pair.everybody.weighed.first
        whole = _typed(release, original.frame.to_native())
    units: Units = {} if unit is None or own_units is None else {unit: own_units.codes}
    names = list(frame.columns)
    asked = {name: _asked(recipe, name) for name in names if name not in original.names}
    own = next(iter(units), None)
    weight = next(iter(recipe.roles.of(Role.WEIGHT.value)), None)
    if analyses is None:
        kept = _opened(whole, asked, (own,), progress)
        wanted = guess_analyses(
            Table((*original, *kept)), weight=weight if weight in kept.names else None, unit=own, masked=original.names
        )
    else:
        wanted = checked_analyses(analyses)
        units = {**_units(frame, wanted), **units}
    units_before = units if whole is frame else _units(whole, wanted)
    wanted, was, kept = _readable(wanted, (whole, frame), names, asked, units, failed, progress)
    numbers: dict[Any, Coded] = {}
    if weights is not None and recipe.weights_by_group:
        numbers[weight] = Table.of_numbers([weight], weights.values[None, :]).columns[0]
    return measure_utility(
        Table((*original, *(numbers.get(one.name, one) for one in was))),
        Table((*written, *kept)),
        wanted,
        units_before=units_before,
        units_after=units,
        level=check_level(level),
        failed=failed,
        progress=progress,
    )


def _asked(recipe: Recipe, name: Any) -> ColumnChoices:
    """Return what a recipe says of a column."""
    return ColumnChoices(recipe.kinds.kinds.get(name), recipe.missing_codes.codes.get(name, ()))


def _readable(
    wanted: tuple[Analysis, ...],
    files: tuple[Frame, Frame],
    names: list[Any],
    asked: Mapping[Any, ColumnChoices],
    units: Units,
    failed: Failed | None,
    progress: Progress | None,
) -> tuple[tuple[Analysis, ...], Table, Table]:
    """Open the unmasked columns that analyses read, before and after, beside those whose columns all can be read."""
    opened: dict[Any, tuple[Coded, Coded]] = {}
    fit = []
    for one in wanted:
        tell(progress, 0, 1)
        try:
            _check_units((one,), units)
            for name in columns_read((one,), names):
                if name in asked and name not in opened:
                    opened[name] = _opened_in_both(*files, {name: asked[name]})
        except MicroaggError as error:
            if failed is None:
                raise
            failed.append((one, error))
        else:
            fit.append(one)
    was, now = ([one[side] for one in opened.values()] for side in (0, 1))
    return tuple(fit), Table(tuple(was)), Table(tuple(now))


def _opened_in_both(before: Frame, after: Frame, asked: Mapping[Any, ColumnChoices]) -> tuple[Coded, Coded]:
    """Open one column of both files, which may be the same."""
    tables = open_table(before, asked)[:1] * 2 if before is after else open_both(before, after, asked)
    return tables[0].columns[0], tables[1].columns[0]


def _typed(release: "Release[Any]", table: Any) -> Frame:
    """Open what a release, or its original, holds: of a text file, what is not masked is text still."""
    if release.source is not None:
        stored = frames.open_frame(table)
        others = [name for name in stored.columns if name not in release.pair.original.names]
        text = [name for name in others if stored.get_column(name).dtype == nw.String]
        table = replace(release.source, table=table, joined=None).typed_for(release.recipe.kinds.kinds, text)
    return frames.open_frame(table)


def relations_of_release(release: "Release[Any]") -> tuple[RelationCounts, ...]:
    """Count the records that break the relations of a recipe, before and after; other columns are the same in both."""
    relations = release.recipe.relations.relations
    if not relations:
        return ()
    frame = _typed(release, release.data)
    sides: tuple[dict[Any, Any], dict[Any, Any]] = ({}, {})
    for name in dict.fromkeys(name for relation in relations for name in relation.columns):
        for values, table in zip(sides, release.pair, strict=True):
            own = table if name in table.names else open_table(frame, {name: _asked(release.recipe, name)})[0]
            numbers = numbers_of(own.named([name]).columns[0])
            if numbers is None:
                raise InvalidData(
                    f"column {shown_name(name)} of a relation holds no numbers. Leave the relation out.",
                    parameter="relations",
                    columns=(name,),
                )
            values[name] = numbers
    return count_violations(relations, *sides)


def check_level(level: Any) -> float:
    """Check the level of intervals."""
    return check_between("level", level, 0.5, 0.9999, "0.95 is usual.")


def checked_analyses(analyses: Any) -> tuple[Analysis, ...]:
    """Return analyses as such, each of them said by itself or by a mapping; one need not be in a list."""
    several = isinstance(analyses, Iterable) and not isinstance(analyses, (str, Mapping))
    return tuple(map(Analysis.of, analyses if several else [analyses]))


def _opened(
    frame: Frame, asked: Mapping[Any, ColumnChoices], leave_out: tuple[Any, ...], progress: Progress | None = None
) -> Table:
    """Open the columns that can be analysed: no lists, none without a value, none with as many categories as names."""
    opened: list[Coded] = []
    for name, wish in asked.items():
        tell(progress, 0, 1)
        series = frame.get_column(name)
        nested = isinstance(series.dtype, (nw.List, nw.Struct, nw.Array, nw.Object))
        if name in leave_out or nested or _is_mapping(series) or series.is_null().all():
            continue
        is_text = not (series.dtype.is_numeric() or series.dtype.is_temporal()) or wish.kind == "nominal"
        if not is_text or series.n_unique() <= MOST_CATEGORIES:
            with suppress(MicroaggError):  # an analysis of such a column gets an error that says why it cannot be read
                opened.extend(open_table(frame, {name: wish})[0])
    return Table(tuple(opened))


def _is_mapping(series: Any) -> bool:
    """Return whether a column holds mappings, or else what Arrow nests and narwhals has no word for."""
    native = series.to_native()
    kind = getattr(native, "type", None) or getattr(getattr(native, "dtype", None), "pyarrow_dtype", None)
    return isinstance(kind, pa.DataType) and pa.types.is_nested(kind)


def _units(frame: Frame, analyses: Iterable[Analysis]) -> Units:
    """Number the units of a file, where it has their column."""
    named = {one.unit for one in analyses if one.unit is not None}
    return {name: frames.unit_codes(frame, name) for name in named if name in frame.columns}


def _check_units(analyses: Iterable[Analysis], units: Units) -> None:
    for one in analyses:
        if one.unit is not None and one.unit not in units:
            raise RoleError(
                f"the unit {shown_name(one.unit)} of an analysis is not a column of the original file. Name one that "
                f"it has, or leave it out.",
                parameter="unit",
                columns=(one.unit,),
            )
