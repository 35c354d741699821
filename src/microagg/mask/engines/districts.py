"""Refining across the borders of blocks: groups of the first layout are laid out anew, by districts, and masked there.

Which districts there are follows from the groups alone, not from how the file is laid out or divided: disk, a cluster
and memory have the same.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.districts import Districts, GroupCorners, cut_districts, most_of_district
from microagg.algorithms.equivalence import codes_of
from microagg.algorithms.kernels.groups import number_groups
from microagg.algorithms.units import Units
from microagg.columns.kinds import Cells
from microagg.mask.engines.blocks import Form, Labels, Node, blocks_of, group_block, mask_parts
from microagg.mask.engines.cuts import Tree
from microagg.mask.engines.figures import Figures
from microagg.mask.engines.plan import Known, Plan
from microagg.mask.engines.units import units_of


class Second(NamedTuple):
    """The nodes of the second layout: districts, then those whose groups stay; and the node of each region's groups."""

    tree: Tree
    nodes: list[Labels]


def group_nodes(
    plan: Plan,
    known: Known,
    cells: Sequence[Cells],
    nodes: Iterable[Node],
    keys: NDArray[np.uint64] | None,
    check: Callable[[], None],
    done: Callable[[int], None],
) -> tuple[Labels, int, GroupCorners]:
    """Cut nodes into blocks and group them; give the groups, the moves that were tried, and where groups lie."""
    entries = known.space.place(plan.table(cells)).records.entries
    labels = np.empty(entries.shape[1], dtype=np.int64)
    pieces: list[Labels] = []
    n_groups, moves = 0, 0
    for rows, piece in blocks_of(plan, known, entries, nodes):
        units = None if keys is None else units_of(plan, keys[rows])
        groups, tried = group_block(plan, known, check, [one.take(rows) for one in cells], units)
        labels[rows] = groups + n_groups
        pieces.append(np.full(int(groups.max()) + 1, piece))
        n_groups, moves = n_groups + pieces[-1].size, moves + tried
        done(rows.size)
    return labels, moves, GroupCorners.of(entries, labels, np.concatenate(pieces))


def districts_by(plan: Plan, known: Known, tree: Tree, drawn: Sequence[GroupCorners], share: float) -> Districts:
    """Cut districts by a share of the groups of all regions."""
    most = most_of_district(tree.largest_block(plan.k, plan.max_block))
    return cut_districts(GroupCorners.joined(drawn), tree.bordered, known.space.cut_scales, most * share)


def second_layout(
    plan: Plan, tree: Tree, districts: Districts, found: Sequence[Labels], sizes: Sequence[Labels]
) -> Second:
    """Return the nodes of a second layout, from the districts and sizes of each region's groups.

    Groups that stay unchanged go to a node for each region, so that none has more records than one of those.
    """
    n, n_regions = districts.n_districts, len(found)
    records = np.zeros(n + n_regions, dtype=np.int64)
    for own, counts in zip(found, sizes, strict=True):
        records[:n] += np.bincount(own + 1, counts, n + 1)[1:].astype(np.int64)
    most = most_of_district(tree.largest_block(plan.k, plan.max_block))
    large = np.append(districts.too_large(records[:n], most), False)
    nodes = [np.where((own < 0) | large[own], n + region, own) for region, own in enumerate(found)]
    records[:] = 0
    for own, counts in zip(nodes, sizes, strict=True):
        records += np.bincount(own, counts, n + n_regions).astype(np.int64)
    used = np.flatnonzero(records)
    number = np.full(records.size, -1)
    number[used] = np.arange(used.size)
    blocks = (used < n).astype(np.int64).tolist()
    second = Tree(records[used].tolist(), blocks, 0, [0] * used.size)
    return Second(second, [number[own] for own in nodes])


def mask_districts(
    plan: Plan,
    known: Known,
    cells: Sequence[Cells],
    nodes: Iterable[Node],
    keys: NDArray[np.uint64] | None,
    leads: Labels,
    check: Callable[[], None],
    done: Callable[[int], None],
) -> tuple[Labels, Figures]:
    """Refine the groups of districts once more, and mask their cells as `mask_parts` does.

    Records of one group have the same of `leads`. Groups of nodes that are to be no block stay.
    """

    def stay(groups: Labels, cells: Sequence[Cells], units: Units | None) -> tuple[Labels, int]:  # noqa: ARG001
        return groups, 0

    def form(node: Node) -> Form:
        groups = codes_of(leads[node.rows])
        number_groups(groups)
        return partial(group_block, plan, known, check, given=groups) if node.blocks else partial(stay, groups)

    return mask_parts(plan, known, cells, ((node.rows, form(node)) for node in nodes), keys, done)
