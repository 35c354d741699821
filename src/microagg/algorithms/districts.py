"""Districts: groups of a file that was cut into blocks, brought together across the borders of these.

Groups were formed and refined block by block. To move records across the borders too, groups are cut a second time,
elsewhere, and those of each district are refined together. A group is known by its corner, the least entry of its
members in each column, and all groups with one corner go to one side of a cut. So neither the order of records nor
where they lie plays a part: memory, disk and a cluster find the same districts.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.alike import float_bits, mixed
from microagg.algorithms.units import Labels

CORNERS = 1 << 20
"""Groups by which districts are cut; of more, about so many are drawn."""

DISTRICT = 50_000
"""The most records of a district, unless blocks are larger: refining takes no longer a record than in small ones."""

# Blocks are cut at halves, thirds and other simple fractions, of which the golden section keeps away the furthest.
_GOLDEN = (5**0.5 - 1) / 2
_LOWER_NODE, _UPPER_NODE = 2, 3  # where the parts of a node stand while it is made
_TOO_LARGE = 2  # times the wanted size: of groups that lie in one place, or were drawn too rarely


class GroupCorners(NamedTuple):
    """Groups as points: the least entries (d, groups) of their members, their sizes, and the pieces they are in."""

    entries: NDArray[np.float64]
    sizes: Labels
    pieces: Labels

    @classmethod
    def of(cls, entries: NDArray[np.float64], labels: Labels, pieces: Labels) -> "GroupCorners":
        """Return those of the groups of records, whose `entries` (d, n) are given; `pieces` are those of the groups."""
        sizes = np.bincount(labels)
        starts = np.cumsum(sizes) - sizes
        ordered = np.argsort(labels, kind="stable")
        least = np.array([np.minimum.reduceat(column[ordered], starts) for column in entries])
        return cls(least, sizes, pieces)

    @classmethod
    def joined(cls, parts: Sequence["GroupCorners"]) -> "GroupCorners":
        """Return the groups of all parts."""
        entries, sizes, pieces = zip(*parts, strict=True)
        return cls(np.concatenate(entries, axis=1), np.concatenate(sizes), np.concatenate(pieces))

    def take(self, groups: Labels) -> "GroupCorners":
        """Return some of the groups."""
        return GroupCorners(self.entries[:, groups], self.sizes[groups], self.pieces[groups])

    def drawn(self, share: float) -> "GroupCorners":
        """Return about a share of the groups; which ones follows from their corners alone."""
        if share >= 1.0:
            return self
        spread = np.zeros(self.sizes.size, dtype=np.uint64)
        for column in self.entries:
            spread = mixed(spread ^ float_bits(column))
        return self.take(np.flatnonzero(spread < np.uint64(share * 2.0**64)))


def share_of_corners(n_records: int, k: int) -> float:
    """Return the share of the groups of a file by which its districts are cut."""
    return min(1.0, CORNERS / max(1, n_records // k))


def most_of_district(largest_block: int) -> int:
    """Return the most records of a district, by the size of the largest block."""
    return max(largest_block, DISTRICT)


class Districts(NamedTuple):
    """The cuts by which groups come into districts: a tree for each piece, its nodes in arrays.

    `roots` has the node of each piece, -1 where it has no borders. Of a node that is cut, groups whose corner is at
    most `values` in the column go to the node `lower`, all others to `upper`; of a district, the column is -1 and
    `lower` its number.
    """

    roots: Labels
    columns: Labels
    values: NDArray[np.float64]
    lower: Labels
    upper: Labels

    @property
    def n_districts(self) -> int:
        """How many districts there are."""
        return int(np.count_nonzero(self.columns < 0))

    def too_large(self, sizes: Labels, most: int) -> NDArray[np.bool_]:
        """Which districts have so many records, by their sizes, that their groups should better stay unchanged."""
        return sizes > _TOO_LARGE * most

    def find(self, corners: GroupCorners) -> Labels:
        """Return the district of each group, -1 where its piece has none."""
        found = self.roots[corners.pieces]
        moving = np.flatnonzero(found >= 0)
        while moving.size:
            nodes = found[moving]
            columns = self.columns[nodes]
            ended = columns < 0
            found[moving[ended]] = self.lower[nodes[ended]]
            moving, nodes, columns = moving[~ended], nodes[~ended], columns[~ended]
            below = corners.entries[columns, moving] <= self.values[nodes]
            found[moving] = np.where(below, self.lower[nodes], self.upper[nodes])
        return found


def cut_districts(
    corners: GroupCorners, bordered: NDArray[np.bool_], scales: NDArray[np.float64], most: float
) -> Districts:
    """Cut the groups of pieces that have borders into districts of at most `most` records, where they can be cut.

    A column is as wide as its range times its scale. The widest is cut, at the golden section of the records.
    """
    roots = np.full(bordered.size, -1)
    nodes: list[list[Any]] = []
    n_districts = 0
    by_piece = np.argsort(corners.pieces, kind="stable")
    ends = np.searchsorted(corners.pieces[by_piece], np.arange(bordered.size + 1))
    for piece in np.flatnonzero(bordered):
        roots[piece] = len(nodes)
        waiting = [(by_piece[ends[piece] : ends[piece + 1]], -1, 0)]
        while waiting:
            groups, above, side = waiting.pop()
            if above >= 0:
                nodes[above][side] = len(nodes)
            column, value = _cut(corners.take(groups), scales, most)
            nodes.append([column, value, n_districts, -1])
            if column < 0:
                n_districts += 1
                continue
            below = corners.entries[column, groups] <= value
            node = len(nodes) - 1
            waiting += [(groups[~below], node, _UPPER_NODE), (groups[below], node, _LOWER_NODE)]
    columns, values, lower, upper = map(np.array, zip(*nodes, strict=True))
    return Districts(roots, columns, values, lower, upper)


def _cut(corners: GroupCorners, scales: NDArray[np.float64], most: float) -> tuple[int, float]:
    """Return the column by which groups are cut, and the greatest value of the lower part; -1 where they stay."""
    entries, sizes, _ = corners
    if sizes.sum() <= most:
        return -1, 0.0
    spans = np.ptp(entries, axis=1) * scales
    column = int(np.argmax(spans))
    if spans[column] <= 0.0:
        return -1, 0.0
    keys = entries[column]
    order = np.argsort(keys, kind="stable")
    reached = np.cumsum(sizes[order])
    value = keys[order[np.searchsorted(reached, _GOLDEN * reached[-1])]]
    highest = keys[order[-1]]
    if value == highest:  # the upper part has them, and the lower one whatever is below
        value = keys[keys < highest].max()
    return column, float(value)
