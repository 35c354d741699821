"""Pieces of a file, whose records are grouped by themselves: strata, and blocks of them.

Groups are formed in each piece, and refined there; then those of districts, across the borders of blocks.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.blockings import BLOCKINGS
from microagg.algorithms.districts import GroupCorners, cut_districts, most_of_district, share_of_corners
from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.equivalence import first_of_each, rows_of
from microagg.algorithms.kernels.groups import number_groups
from microagg.algorithms.kernels.records import Records, take
from microagg.algorithms.median_tree import median_pieces
from microagg.algorithms.refine import Refinement, refine
from microagg.algorithms.units import Held, Units, held_by
from microagg.checks import EXACT_INTEGERS, Columns, check_labels, check_names, shown_name
from microagg.columns.embedding import Points
from microagg.errors import (
    InputError,
    InvalidParameter,
    PromiseBroken,
    RoleError,
    TooFewRecords,
    a_type,
    setting,
)
from microagg.recipe import BlockChoices, Refine
from microagg.work import Progress, Work, in_parallel

Labels = NDArray[np.int64]
Partitioner = Callable[..., Labels]
Result = TypeVar("Result")

AUTO_BLOCKS_ABOVE = 200_000
"""Records up to which "auto" groups a stratum as a whole."""

DEFAULT_BLOCK = 50_000
"""The most records of a block, unless another number is asked for."""


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
    chosen = cut_by(blocks, points, names)
    # A column of several coordinates is known by its first.
    named = [names[owner] if owner >= 0 else None for owner in points.owners]
    found = []
    for rows in pieces:
        part = columns[:, rows]
        if isinstance(blocks.by, str):
            labels = BLOCKINGS[blocks.by](part[chosen], most, k, n_jobs=work.n_jobs, **blocks.settings)
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
        found += own if units is None else holding_units(own, k, units)
    return found


def cut_by(blocks: BlockChoices, points: Points, names: list[Any]) -> NDArray[np.int64]:
    """Return the coordinates by which blocks are cut: those of the columns that are named, or all."""
    if not blocks.columns:
        return np.arange(points.owners.size)
    refuse_other_columns(blocks, names, "does not form groups")
    return np.flatnonzero(np.isin(points.owners, [names.index(name) for name in blocks.columns]))


def refuse_other_columns(blocks: BlockChoices, names: list[Any], what: str) -> None:
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


def holding_units(blocks: list[NDArray[np.int64]], k: int, units: Units) -> list[NDArray[np.int64]]:
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


class Placed(NamedTuple):
    """Records where they lie, whose they are, and what is demanded of their groups: all of them, or of one piece."""

    records: Records
    units: Units | None = None
    demand: Demand | None = None

    def take(self, rows: Labels) -> "Placed":
        """Return some of the records."""
        units = None if self.units is None else self.units.take(rows)
        return Placed(take(self.records, rows), units, None if self.demand is None else self.demand.take(rows))

    def by(
        self, how: Refine, k: int, groups: Labels, *, reheat: bool = False, n_jobs: int = 1, progress: Progress | None
    ) -> Refinement:
        """Refine groups of these records; `reheat` where they were refined before, but not across borders."""
        return refine(
            self.records,
            numbered(groups.copy()),
            k,
            effort=how.effort,
            seed=how.seed,
            reheat=reheat,
            n_jobs=n_jobs,
            progress=progress,
            units=self.units,
            demand=self.demand,
        )


def in_pieces(pieces: Sequence[Labels], act: Callable[[Labels, Progress], Result], work: Work) -> list[Result]:
    """Return act(rows, progress) for each piece, pieces in parallel; progress counts the records of all of them."""
    reached, n = np.zeros(len(pieces), dtype=np.int64), sum(rows.size for rows in pieces)

    def one_piece(number: int, check: Callable[[], None]) -> Result:
        rows = pieces[number]

        def told(done: int, total: int) -> None:
            check()
            reached[number] = rows.size * done // max(total, 1)
            work.tell(int(reached.sum()), n)

        return act(rows, told)

    return in_parallel(one_piece, range(len(pieces)), work.n_jobs)


def groups_of_all(pieces: Sequence[Labels], found: Sequence[Labels], others: Labels | None = None) -> Labels:
    """Return the groups of a file from those of its pieces, numbered by lowest row; `others` are those of no piece."""
    if others is None:
        labels = np.empty((sum(rows.size for rows in pieces), *found[0].shape[1:]), dtype=np.int64)
        base: Any = 0
    else:
        labels, base = others.copy(), int(others.max()) + 1
    for rows, own in zip(pieces, found, strict=True):
        labels[rows] = own + base
        base = base + own.max(axis=0) + 1
    return numbered(labels)


def numbered(labels: Labels) -> Labels:
    """Number groups by lowest row, in place where there is one label a record, and return them."""
    if labels.ndim == 1:
        number_groups(labels)
        return labels
    return np.stack([numbered(np.ascontiguousarray(own)) for own in labels.T], axis=1)


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
    """Group the records of each piece; number the groups by lowest row."""

    def group_piece(rows: Labels, told: Progress) -> Labels:
        own, units, _ = placed.take(rows)
        bound = {} if units is None else {"units": units}
        return checked_groups(partition(own, k, progress=told, **bound), own.entries, k, per_column=per_column)

    return groups_of_all(pieces, in_pieces(pieces, group_piece, work))


def refine_groups(
    placed: Placed,
    blocks: Sequence[Labels],
    pieces: Labels,
    groups: Labels,
    k: int,
    how: Refine,
    work: Work,
) -> tuple[Labels, int]:
    """Refine the groups of a file; give them, numbered by lowest row, and the moves that were offered.

    `blocks` are the rows of each block, which groups were formed in, and `pieces` (n,) what blocks were cut from, whose
    groups stay apart.
    """
    n_blocks = np.bincount([pieces[rows[0]] for rows in blocks])
    across = bool(n_blocks.max() > 1)
    found, moves = _refined(placed, blocks, groups, k, how, work.stage(0, 1 + across), reheat=False)
    if across:
        most = most_of_district(max(rows.size for rows in blocks))
        districts = _districts(placed.records, found, pieces, n_blocks > 1, k, most)
        found, more = _refined(placed, districts, found, k, how, work.stage(1, 2), reheat=True)
        moves += more
    return found, moves


def _districts(
    records: Records, groups: Labels, pieces: Labels, bordered: NDArray[np.bool_], k: int, most: int
) -> list[Labels]:
    """List the rows of each district of pieces that have borders."""
    corners = GroupCorners.of(records.entries, groups, pieces[first_of_each(groups)])
    share = share_of_corners(groups.size, k)
    districts = cut_districts(corners.drawn(share), bordered, records.cut_scales, most * share)
    own = districts.find(corners)
    sizes = np.bincount(own + 1, corners.sizes, districts.n_districts + 1)[1:]
    own[(own < 0) | np.append(districts.too_large(sizes, most), False)[own]] = districts.n_districts
    return [rows for rows in rows_of(own[groups], districts.n_districts + 1)[:-1] if rows.size]


def _refined(
    placed: Placed, parts: Sequence[Labels], groups: Labels, k: int, how: Refine, work: Work, *, reheat: bool
) -> tuple[Labels, int]:
    """Refine the groups of parts of a file, none of which is in two of them; groups outside of all stay."""
    each = max(1, work.n_jobs // max(1, len(parts)))

    def refine_part(rows: Labels, told: Progress) -> Refinement:
        return placed.take(rows).by(how, k, groups[rows], reheat=reheat, n_jobs=each, progress=told)

    refined = in_pieces(parts, refine_part, work)
    return groups_of_all(parts, [own.labels for own in refined], groups), sum(own.moves for own in refined)
