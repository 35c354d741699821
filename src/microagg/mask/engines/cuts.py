"""The tree of cuts by which a file becomes blocks: grown level by level, whoever looks at the records.

To refine groups across the borders of blocks, they are laid out a second time, by districts. Which districts there are
follows from the groups alone, not from how the file is laid out or divided: disk, a cluster and memory have the same.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.districts import Districts, GroupCorners, cut_districts, most_of_district
from microagg.algorithms.kernels.blocking import lower_part, widest_to_cut
from microagg.algorithms.median_tree import blocks_needed
from microagg.algorithms.units import Labels
from microagg.mask.engines.plan import Known, Plan


class Extremes(NamedTuple):
    """The least and the greatest entries (d, slots) of nodes that are to be cut, and how many records have them."""

    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]
    at_lowest: Labels
    at_highest: Labels

    @classmethod
    def none(cls, n_entries: int, n_slots: int) -> "Extremes":
        """Return those of no record."""
        shape = n_entries, n_slots
        counts = np.zeros((2, *shape), dtype=np.int64)
        return cls(np.full(shape, np.inf), np.full(shape, -np.inf), *counts)

    @classmethod
    def joined(cls, parts: Sequence["Extremes"]) -> "Extremes":
        """Return those of all parts of the records."""
        low, high = np.min([one.lowest for one in parts], axis=0), np.max([one.highest for one in parts], axis=0)
        at_low = np.sum([np.where(one.lowest == low, one.at_lowest, 0) for one in parts], axis=0)
        at_high = np.sum([np.where(one.highest == high, one.at_highest, 0) for one in parts], axis=0)
        return cls(low, high, at_low, at_high)


class LevelCuts(NamedTuple):
    """How the nodes of a level are cut: by slots, which those have that are cut."""

    slots: Labels  # of each node; -1: it stays
    sizes: Labels  # how many records each has
    columns: Labels  # the entry by which each is cut
    lower: Labels  # how many records go to the lower part, which keeps the node's number
    uppers: NDArray[np.int32]  # the number of the upper part


class CutTree(NamedTuple):
    """The nodes of a file when the cuts are done: how many records each has, and how many blocks it is to be."""

    sizes: list[int]
    blocks: list[int]
    level: int  # on which they are all there
    pieces: list[int]  # that nodes were cut from

    @property
    def bordered(self) -> NDArray[np.bool_]:
        """Which pieces are cut into several blocks."""
        return np.bincount(self.pieces, self.blocks) > 1

    def largest_block(self, k: int, max_block: int) -> int:
        """Return the size of the largest block; it does not depend on the data."""
        nodes = set(zip(self.sizes, self.blocks, strict=True))
        return max(_largest_block(*node, k, max_block) for node in nodes)

    def regions(self, most: int) -> list[int]:
        """Bring nodes that follow each other together, up to so many records; give the first of each, and the end."""
        bounds, held = [0], 0
        for node, size in enumerate(self.sizes):
            if held and held + size > most:
                bounds.append(node)
                held = 0
            held += size
        return [*bounds, len(self.sizes)]


def _largest_block(n: int, blocks: int, k: int, max_block: int) -> int:
    if blocks == 1:
        return n
    size = lower_part.py_func(n, blocks, k, max_block - max_block % k)
    lower, upper = (size, blocks // 2), (n - size, blocks - blocks // 2)
    return max(_largest_block(*part, k, max_block) for part in {lower, upper})


def grow(
    plan: Plan,
    known: Known,
    sizes: Sequence[int],
    most: int,
    look: Callable[[int, Labels], Extremes | None],
    cut: Callable[[int, LevelCuts], None],
) -> CutTree:
    """Cut nodes of these sizes until none that is to be several blocks has more than `most` records.

    Parameters
    ----------
    look : callable
        Given a level and the slots of its nodes, finds the extremes of those that have one; None where none has.
    cut : callable
        Cuts the nodes of a level.
    """
    sizes, k = list(sizes), plan.k
    max_block = plan.max_block - plan.max_block % k
    blocks = [blocks_needed(size, max_block, k) for size in sizes]
    pieces, level = list(range(len(sizes))), 0
    while True:
        opened = [node for node, size in enumerate(sizes) if blocks[node] > 1 and size > most]
        slots = np.full(len(sizes), -1)
        slots[opened] = np.arange(len(opened))
        found = look(level, slots)
        if not opened or found is None:
            return CutTree(sizes, blocks, level, pieces)
        at_ends = np.maximum(found.at_lowest, found.at_highest)
        own = np.array([sizes[node] for node in opened])
        columns = widest_to_cut(found.highest - found.lowest, known.space.cut_scales, at_ends, own)
        lower = [lower_part.py_func(sizes[node], blocks[node], k, max_block) for node in opened]
        uppers = len(sizes) + np.arange(len(opened), dtype=np.int32)
        cut(level, LevelCuts(slots, own, columns, np.array(lower), uppers))
        level += 1
        for node, size in zip(opened, lower, strict=True):
            sizes.append(sizes[node] - size)
            blocks.append(blocks[node] - blocks[node] // 2)
            sizes[node], blocks[node] = size, blocks[node] // 2
            pieces.append(pieces[node])


def districts_by(plan: Plan, known: Known, tree: CutTree, drawn: Sequence[GroupCorners], share: float) -> Districts:
    """Cut districts by a share of the groups of all regions."""
    most = most_of_district(tree.largest_block(plan.k, plan.max_block))
    return cut_districts(GroupCorners.joined(drawn), tree.bordered, known.space.cut_scales, most * share)


def second_layout(
    plan: Plan, tree: CutTree, districts: Districts, found: Sequence[Labels], sizes: Sequence[Labels]
) -> tuple[CutTree, list[Labels]]:
    """Return the nodes of a second layout, from the districts and sizes of each region's groups; and those of groups.

    Groups that stay unchanged go to a node for each region, so that none has more records than one of those. Their
    nodes come after the districts, and are to be no block.
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
    second = CutTree(records[used].tolist(), blocks, 0, [0] * used.size)
    return second, [number[own] for own in nodes]
