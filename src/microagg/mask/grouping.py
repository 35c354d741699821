"""How groups are formed: by which method, on which columns, and in which pieces of the file."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.blockings import BLOCKINGS
from microagg.algorithms.dependence import dependence
from microagg.algorithms.emad import places
from microagg.algorithms.equivalence import rows_of
from microagg.algorithms.kernels.groups import number_groups
from microagg.algorithms.kernels.records import Records, coordinates, plain_records, take
from microagg.algorithms.median_tree import median_pieces
from microagg.algorithms.merging import merge_short
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
from microagg.algorithms.units import Held, Units, held_by
from microagg.base.frozen import frozen
from microagg.checks import EXACT_INTEGERS, Columns, check_labels, check_names, shown_name
from microagg.columns import frames
from microagg.columns.embedding import Points
from microagg.columns.kinds import Number
from microagg.columns.table import Table
from microagg.errors import (
    InputError,
    InvalidData,
    InvalidParameter,
    PromiseBroken,
    RoleError,
    TooFewRecords,
    a_type,
    setting,
)
from microagg.mask.refining import Placed
from microagg.recipe import BlockChoices, MethodChoices, Recipe, Select
from microagg.recipe._parts import full_name, plain_settings
from microagg.recipe.combine import Combination, refuse
from microagg.work import Progress, Work, in_parallel

Labels = NDArray[np.int64]
Partitioner = Callable[..., Labels]

AUTO_BLOCKS_ABOVE = 200_000
"""Records up to which "auto" groups a stratum as a whole."""

DEFAULT_BLOCK = 50_000
"""The most records of a block, unless another number is asked for."""


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
    _refuse_others(blocks, table.names, "is not masked")
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


def check_strata(codes: Labels, k: int, names: Sequence[Any], units: Units | None = None) -> None:
    """Refuse a file in which a stratum by the columns `names` has fewer than k records, or cannot hold k units."""
    sizes = np.bincount(codes)
    check_stratum_sizes(sizes, k, names)
    if units is not None:
        check_stratum_units(held_by(codes, units.codes, sizes.size), k, names, units.in_part)


def check_stratum_units(held: Held, k: int, names: Sequence[Any], in_part: bool) -> None:
    """Refuse strata that cannot hold k units."""
    of_what = f"{held.rows.size} strata by {', '.join(map(shown_name, names))}" if names else "the file"
    few = np.count_nonzero(held.units < k)
    most = int((np.minimum(held.units, held.rows // np.maximum(held.largest, 1)) if in_part else held.units).min())
    lower = f"{'Merge strata or lower k' if names else 'Lower k'}{_down_to(most)}"
    if few:
        listed = f"{few} of {of_what} hold" if names else "the file holds"
        raise TooFewRecords(
            f"{listed} fewer than k={k} different units (the fewest: {held.units.min()}). {lower}.",
            parameter="unit",
        )
    large = np.flatnonzero(held.short(k, in_part))
    if large.size:
        worst = large[np.argmax(held.largest[large] / held.rows[large])]
        where = f"in {large.size} of {of_what} one unit" if names else "one unit"
        raise TooFewRecords(
            f"{where} has more than 1/{k} of the rows ({held.largest[worst]} of {held.rows[worst]}), so that it "
            f"would have more than its share of a group. {lower}, or accept groups of {k} different units of which one "
            f"has most of the rows: {setting('unit_share', 'any')}.",
            parameter="unit_share",
        )


def check_stratum_sizes(sizes: NDArray[np.int64], k: int, names: Sequence[Any]) -> None:
    """Refuse strata of fewer than k records; what they are called are cells of the data, and not shown."""
    small = np.count_nonzero(sizes < k)
    if small:
        have = "has" if small == 1 else "have"
        raise TooFewRecords(
            f"{small} of {sizes.size} strata by {', '.join(map(shown_name, names))} {have} fewer than k={k} records "
            f"(the smallest has {sizes.min()}). Merge strata or lower k{_down_to(int(sizes.min()))}."
        )


def _down_to(k: int) -> str:
    """Name the k that would do, if there is one."""
    return f" ({setting('k', k)})" if k >= 2 else ""


def settle_blocks(blocks: BlockChoices, k: int, n: int, *, whole: bool) -> BlockChoices:
    """Return how the file is cut into blocks, with what "auto" chose.

    `n` is the size of the largest stratum; `whole` says that the method cannot do with blocks.
    """
    by, most = blocks.by, blocks.max_block
    if not isinstance(by, str):
        if isinstance(by, type) or not hasattr(by, "fit_predict"):
            raise InvalidParameter(
                f"blocks is {a_type(by)}. Pass 'auto', 'none', {', '.join(map(repr, BLOCKINGS))} or an object "
                f"with fit_predict.",
                parameter="blocks",
            )
        own_k = by.get_params().get("k", k) if hasattr(by, "get_params") else k
        if own_k != k:
            raise InvalidParameter(
                f"k={k} was asked for, but the blocks are set to k={own_k}. Use the same k in both.", parameter="blocks"
            )
        return blocks
    if by == "auto":
        beyond = AUTO_BLOCKS_ABOVE if most is None else most
        by = "median" if n > beyond and not whole else "none"
    elif by not in ("none", *BLOCKINGS):
        raise InvalidParameter(
            f"blocks {by!r} are your own class, and the recipe holds only its name. Pass the object.",
            parameter="blocks",
        )
    if by == "none":
        return BlockChoices("none")
    return replace(blocks, by=by, max_block=DEFAULT_BLOCK if most is None else most)


def _with_numbered_columns(blocks: Any, names: list[Any]) -> Any:
    """Return a copy of an estimator of ours whose columns are numbered: it will see a bare array."""
    parameters = dict(blocks.get_params()) if hasattr(blocks, "get_params") else {}
    changed: dict[str, Any] = {}
    if parameters.get("columns") is not None:
        wanted = check_names(parameters["columns"])
        changed["columns"] = [names.index(column) if column in names else column for column in wanted]
    if parameters.get("column") in names:
        changed["column"] = names.index(parameters["column"])
    return type(blocks)(**(parameters | changed)) if changed else copy.deepcopy(blocks)


def cut_into_pieces(
    points: Points,
    names: list[Any],
    strata: Labels,
    blocks: BlockChoices,
    k: int,
    work: Work,
    units: Units | None = None,
) -> list[NDArray[np.int64]]:
    """List the rows of each piece that is grouped by itself: a stratum, or a block of one."""
    pieces = rows_of(strata)
    if blocks.by == "none":
        return pieces
    most = min(blocks.max_block or 0, EXACT_INTEGERS)
    if units is not None:
        largest = int(held_by(strata, units.codes, len(pieces)).largest.max())
        most = room_for_units(most, k, largest)
    if blocks.by == "median" and not blocks.columns:
        return _median_pieces(points, pieces, most, k, work)
    columns = points.coordinates
    cut_by = _cut_by(blocks, points, names)
    # A column of several coordinates is known by its first.
    named = [names[owner] if owner >= 0 else None for owner in points.owners]
    found = []
    for rows in pieces:
        part = columns[:, rows]
        if isinstance(blocks.by, str):
            labels = BLOCKINGS[blocks.by](part[cut_by], most, k, n_jobs=work.n_jobs, **blocks.settings)
        else:
            try:
                labels = _with_numbered_columns(blocks.by, named).fit_predict(part.T)
            except InputError:
                raise
            except Exception as error:  # noqa: BLE001 - another library's message may show cells
                name = type(error).__name__
                raise InvalidParameter(
                    f"the blocks failed with {name}. Run them directly to see why.", parameter="blocks"
                ) from None
            labels = check_labels(labels, rows.size, columns.shape[0])
            smallest = np.bincount(labels).min() if labels.ndim == 1 else 0
            if smallest < k:
                raise PromiseBroken(f"the blocks must have k={k} records each; the smallest has {smallest}.")
        own = [rows[block] for block in rows_of(labels)]
        found += own if units is None else _holding_units(own, k, units)
    return found


def _cut_by(blocks: BlockChoices, points: Points, names: list[Any]) -> NDArray[np.int64]:
    """Return the coordinates by which blocks are cut: those of the columns that are named, or all."""
    if not blocks.columns:
        return np.arange(points.owners.size)
    _refuse_others(blocks, names, "does not form groups")
    return np.flatnonzero(np.isin(points.owners, [names.index(name) for name in blocks.columns]))


def _refuse_others(blocks: BlockChoices, names: list[Any], what: str) -> None:
    """Refuse columns to cut blocks by that are not among these."""
    for name in blocks.columns or ():
        if name not in names:
            raise RoleError(
                f"block_columns names {shown_name(name)}, which {what}. Name some of the {len(names)} columns that "
                f"form groups: {', '.join(map(shown_name, names[:10]))}{', ...' if len(names) > 10 else ''}.",
                parameter="block_columns",
                columns=(name,),
            )


def room_for_units(max_block: int, k: int, largest: int) -> int:
    """Return how many records a block may have, so that each can hold k units, of which one has `largest` rows at most.

    Blocks are nearly equal, so that none has less than half, but for k records.
    """
    return max_block if largest <= 1 else max(max_block, 4 * k * largest)


def _holding_units(blocks: list[NDArray[np.int64]], k: int, units: Units) -> list[NDArray[np.int64]]:
    """Join blocks that cannot hold k units with the next, the last one with the one before."""
    found: list[NDArray[np.int64]] = []
    waiting = np.empty(0, dtype=np.int64)
    for block in blocks:
        waiting = np.concatenate([waiting, block])
        if not held_by(np.zeros_like(waiting), units.codes[waiting], 1).short(k, units.in_part)[0]:
            found.append(np.sort(waiting))
            waiting = waiting[:0]
    if waiting.size:
        found[-1:] = [np.sort(np.concatenate([*found[-1:], waiting]))]
    return found


def _median_pieces(
    points: Points, pieces: list[NDArray[np.int64]], max_block: int, k: int, work: Work
) -> list[NDArray[np.int64]]:
    """List the rows of each block of some pieces, cut by rank in the widest column."""
    entries, scales = points.records.entries, points.records.cut_scales
    found = []
    for rows in pieces:
        found += median_pieces(entries, scales, max_block, k, rows=rows, n_jobs=work.n_jobs, progress=work.progress)
    return found


def checked_groups(labels: Any, columns: Columns, k: int, *, per_column: bool = False) -> Labels:
    """Return a method's labels for `columns` (d, n), numbered from 0, or say why they cannot be used."""
    found = check_labels(labels, columns.shape[1], columns.shape[0])
    if (found.ndim == 2) != per_column:
        raise PromiseBroken(
            "the method gave each record several labels, as a method that groups each column by itself does; whole "
            "records may stay unique. Choose a method that gives each record one label."
        )
    for own in np.atleast_2d(found.T):
        smallest = np.bincount(own).min()
        if smallest < k:
            raise PromiseBroken(f"the method made a group of {smallest} records, fewer than k={k}.")
    return found


def group_pieces(
    partition: Partitioner, placed: Placed, pieces: list[NDArray[np.int64]], k: int, per_column: bool, work: Work
) -> Labels:
    """Group the records of each piece, pieces in parallel; number the groups by lowest row."""
    n = placed.records.entries.shape[1]
    done = np.zeros(len(pieces), dtype=np.int64)

    def group_piece(number: int, check: Callable[[], None]) -> Labels:
        rows = pieces[number]

        def told(records: int, total: int) -> None:  # noqa: ARG001
            check()
            done[number] = records
            work.tell(int(done.sum()), n)

        own, units, _ = placed.take(rows)
        bound = {} if units is None else {"units": units}
        return checked_groups(partition(own, k, progress=told, **bound), own.entries, k, per_column=per_column)

    found = in_parallel(group_piece, range(len(pieces)), work.n_jobs)
    groups = np.empty((n, *found[0].shape[1:]), dtype=np.int64)
    base = np.zeros(found[0].shape[1:], dtype=np.int64)
    for rows, labels in zip(pieces, found, strict=True):
        groups[rows] = labels + base
        base = base + labels.max(axis=0) + 1
    if groups.ndim == 1:
        number_groups(groups)
        return groups
    renumbered = [np.ascontiguousarray(column) for column in groups.T]
    for column in renumbered:
        number_groups(column)
    return np.stack(renumbered, axis=1)
