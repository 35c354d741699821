"""How groups are formed: by which method, and on which columns."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.emad import places
from microagg.algorithms.kernels.records import Records, coordinates, plain_records, take
from microagg.algorithms.methods import (
    BY_TREE,
    METHODS,
    choose_search,
    groups_each_column,
    is_ours,
    method_named,
    settled_search,
)
from microagg.algorithms.selection import COUNTED, Selection, select_columns
from microagg.algorithms.units import Units, merge_short
from microagg.base.frozen import frozen
from microagg.checks import Columns, check_names, shown_name
from microagg.columns import frames
from microagg.columns.dependence import dependence
from microagg.columns.embedding import Points
from microagg.columns.kinds import Number
from microagg.columns.table import Table
from microagg.errors import (
    InvalidData,
    InvalidParameter,
    RoleError,
    a_type,
    setting,
)
from microagg.mask.pieces import Partitioner, refuse_other_columns
from microagg.recipe import MethodChoices, Recipe, Select
from microagg.recipe._parts import full_name, plain_settings
from microagg.recipe.combine import Combination, refuse
from microagg.work import Progress

Labels = NDArray[np.int64]


@frozen()
class Grouping:
    """A method made ready: its name, its options with every default, and the function that groups by it."""

    name: str
    options: dict[str, Any]
    partition: Partitioner

    def searching(self, largest: int, n_columns: int, n_codes: int = 0) -> "Grouping":
        """Return the method with "auto" settled by the size of the largest piece, as far as that decides."""
        if self.name not in METHODS or "search" not in self.options:
            return self
        return self._by(choose_search(self.options["search"], largest, n_columns, n_codes))

    def searching_in(self, records: Records, pieces: Sequence[Labels], k: int) -> "Grouping":
        """Return the method with "auto" settled by the records of the largest piece, once for all of them."""
        largest, (d, n) = max(pieces, key=len), records.entries.shape
        by_size = self.searching(largest.size, d, records.heights.size)
        if self.name not in METHODS or by_size.options.get("search") != "auto":
            return by_size
        return self._by(settled_search("auto", records if largest.size == n else take(records, largest), k))

    def _by(self, search: str) -> "Grouping":
        return Grouping(self.name, {**self.options, "search": search}, partial(self.partition, search=search))

    def on(self, points: Points, names: list[Any]) -> Partitioner:
        """Return the function that groups records of these points: an axis may be a column.

        Methods that search work on numbers and codes, and obey units; others see all coordinates, numbered, and groups
        of theirs that hold too few units are merged.
        """
        if self.name in METHODS and METHODS[self.name].takes_units:
            return self.partition
        axis, partition = self.options.get("axis"), self.partition
        if axis in names:
            partition = partial(partition, axis=int(np.flatnonzero(points.owners == names.index(axis))[0]))

        def group(records: Records, k: int, *, units: Units | None = None, **options: Any) -> Labels:
            labels = partition(coordinates(records).T, k, **options)
            return labels if units is None else _merged(records, labels, k, units)

        return group

    @property
    def settled(self) -> MethodChoices:
        """The choice as a recipe records it."""
        return MethodChoices(self.name, self.options)


def _merged(records: Records, labels: Labels, k: int, units: Units) -> Labels:
    """Merge groups that hold too few units; where each column has its own, by that column."""
    if np.ndim(labels) == 1:
        return merge_short(records, labels, k, units)
    columns = zip(records.entries, np.asarray(labels).T, strict=True)
    return np.stack([merge_short(plain_records(one[None]), own.copy(), k, units) for one, own in columns], axis=1)


def resolve_method(method: MethodChoices, k: int, quasi: list[Any]) -> Grouping:
    """Make a method ready to group the columns `quasi` of a file."""
    name = method.name
    if isinstance(name, str):
        if name not in METHODS and "." in name:
            raise InvalidParameter(
                f"method {name!r} is your own class, and the recipe holds only its name. Pass the object itself.",
                parameter="method",
            )
        chosen, function = method_named(name).bound(method.options)
        if chosen.get("axis") in quasi and chosen["axis"] in ("pca", "zscores"):
            raise InvalidParameter(
                f"axis={chosen['axis']!r} is both the name of a column and a kind of axis. Rename the column.",
                parameter="axis",
            )
        return Grouping(name, chosen, function)
    if isinstance(name, type) or not hasattr(name, "fit_predict"):
        raise InvalidParameter(
            f"method is {a_type(name)}. Pass a name ({', '.join((*METHODS, *BY_TREE))}) or an object with fit_predict.",
            parameter="method",
        )
    parameters = dict(name.get_params()) if hasattr(name, "get_params") else {}
    if parameters.pop("k", k) != k:
        raise InvalidParameter(
            f"k={k} was asked for, but the method is set to k={name.k}. Use the same k in both.", parameter="method"
        )
    if is_ours(name):  # the plain function also reports progress
        return resolve_method(MethodChoices(*name.as_named_method()), k, quasi)

    def partition(X: Columns, k: int, *, progress: Progress) -> Labels:  # noqa: ARG001
        try:
            return np.asarray(copy.deepcopy(name).fit_predict(X))
        except Exception as error:  # noqa: BLE001 - another library's message may show cells
            raise InvalidParameter(
                f"the method failed with {type(error).__name__}. Run it directly on scaled data to see why.",
                parameter="method",
            ) from None

    return Grouping(full_name(name), plain_settings(parameters), partition)


def check_kinds(table: Table, method: Grouping, recipe: Recipe) -> None:
    """Refuse, before any work, choices that the columns, by their kinds and importance, do not allow."""
    forming = [column for column in table if column.name in (recipe.select.columns or table.names)]
    if forming and not any(column.importance for column in forming):
        raise InvalidParameter(
            f"importance is 0 for every column that forms groups ({len(forming)}), so that no column shows which "
            "records are similar. Leave it out for at least one of them.",
            parameter="importance",
            columns=tuple(column.name for column in forming),
        )
    _check_block_columns(table, recipe)
    steps = recipe.masking.rounding if isinstance(recipe.masking.rounding, Mapping) else {}
    scale, by_columns = recipe.masking.scale, groups_each_column(method.name)
    axis = method.options.get("axis")
    for column in table:
        word, plain = column.kind.name, type(column.kind) is Number
        if by_columns and not (plain and column.cells.states is None):
            what = "missing values" if plain else f"of kind {word!r}"
            raise InvalidParameter(
                f"method {method.name!r} sorts numbers, and column {column.name!r} {'has' if plain else 'is'} {what}. "
                f"Choose another method.",
                parameter="method",
                columns=(column.name,),
            )
        if column.name in steps and not column.kind.is_quantity:
            raise InvalidParameter(
                f"column {column.name!r} is of kind {word!r}, which is not rounded. Leave it out of rounding.",
                parameter="rounding",
                columns=(column.name,),
            )
        if axis == column.name and not column.kind.is_ordered:
            raise InvalidParameter(
                f"axis={axis!r} is a column without an order. Choose a column of numbers, or leave it out.",
                parameter="axis",
                columns=(column.name,),
            )
        if scale == "none" and not column.kind.is_squared:
            raise InvalidParameter(
                f"scale='none' works only with numbers, and column {column.name!r} is of kind {word!r}. Leave it out.",
                parameter="scale",
                columns=(column.name,),
            )


def _check_block_columns(table: Table, recipe: Recipe) -> None:
    """Refuse columns that blocks cannot be cut by as is asked."""
    blocks = recipe.blocks
    refuse_other_columns(blocks, table.names, "is not masked")
    asked = table.named(blocks.columns) if blocks.columns else table.columns
    if blocks.by == "univariate" and not any(column.kind.is_ordered for column in asked):
        names = tuple(column.name for column in asked)
        listed = ", ".join(map(shown_name, names[:10]))
        raise InvalidParameter(
            f"univariate blocks are intervals of a column that has an order, and there is none in {listed}. "
            f"Name another column in block_columns, or choose {setting('blocks', 'median')}.",
            parameter="block_columns" if blocks.columns else "blocks",
            columns=names,
        )
    refuse("blocks of units", Combination(recipe=recipe))


def settle_selection(select: Select, n_columns: int) -> Select:
    """Return how the columns that form groups are chosen, with every default."""
    if not isinstance(select.by, str):
        return select
    way = BY_TREE[select.by]
    settled = replace(select, measure=select.measure or way.measure)
    rule = select.rule or way.rule
    if rule not in COUNTED:
        return settled
    tried = "lowest-loss" if rule == "every" else select.choose
    return replace(settled, count=places(select.count, n_columns), choose=tried)


def select_forming(select: Select, frame: Any, names: list[Any], table: Table) -> Selection:
    """Choose the columns that form groups."""
    if isinstance(select.by, str):
        tree = dependence(table, select.measure or "", select.width, select.bins)
        return select_columns(names, tree, select.rule or BY_TREE[select.by].rule, select.count)
    if isinstance(select.by, Selection):
        wanted = list(select.by.columns)
    else:
        wanted = check_names(select.columns if select.by is None else select.by(frames.only(frame, names)))
    unknown = [name for name in wanted if name not in names]
    if unknown or not wanted or len(set(wanted)) < len(wanted):
        what = (
            f"{shown_name(unknown[0])}, which is not masked" if unknown else "a column twice" if wanted else "no column"
        )
        raise RoleError(f"select names {what}. Name some of the {len(names)} masked columns.", parameter="select")
    chosen = [name for name in names if name in wanted]
    if all(column.is_constant for column in table.named(chosen)):
        raise InvalidData(
            "no selected column varies, so that all records are equally near. Select a column that varies.",
            parameter="select",
        )
    if isinstance(select.by, Selection):
        return select.by
    return Selection(tuple(chosen), "as asked", {}, (tuple(chosen),), 1)
