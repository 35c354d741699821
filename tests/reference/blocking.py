"""Blocks, spelt out: the 2^d-tree, cuts by rank, intervals, and joining what is too small."""

import math
from fractions import Fraction

from tests.reference.common import group_centroid, labels_of, squared_distance


def orthants(records, most):
    """Leaves as lists of rows; midpoints are exact."""
    d = len(records[0])
    box = [(Fraction(min(column)), Fraction(max(column))) for column in zip(*records, strict=True)]
    leaves, nodes = [], [(list(range(len(records))), box)]
    while nodes:
        rows, box = nodes.pop()
        if len(rows) <= most or all(records[row] == records[rows[0]] for row in rows):
            leaves.append(rows)
            continue
        cuts = [(low + high) / 2 for low, high in box]
        parts = {}
        for row in rows:
            up = tuple(box[j][0] < box[j][1] and records[row][j] >= cuts[j] for j in range(d))
            parts.setdefault(up, []).append(row)
        for up, part in parts.items():
            halves = [
                (low, high) if low == high else (cut, high) if above else (low, cut)
                for (low, high), cut, above in zip(box, cuts, up, strict=True)
            ]
            nodes.append((part, halves))
    return leaves


def by_rank(records, most, k):
    """Blocks by cuts in the widest column; equal values by row.

    A column is passed over, if another will do, where more than half of the records are at one of its ends.
    """
    most -= most % k

    def cut(rows, blocks):
        if blocks == 1:
            return [rows]
        n, left = len(rows), blocks // 2
        right = blocks - left
        ideal = (n * left // blocks + k // 2) // k * k
        allowed = [
            size
            for size in range(0, n + 1, k)
            if k * left <= size <= left * most and k * right <= n - size <= right * most
        ]
        size = min(allowed, key=lambda size: (abs(size - ideal), size))
        columns = [[records[r][j] for r in rows] for j in range(len(records[0]))]
        spans = [max(column) - min(column) for column in columns]
        crowded = [2 * max(column.count(min(column)), column.count(max(column))) > n for column in columns]
        widest = min(range(len(columns)), key=lambda j: (crowded[j], -spans[j], j))
        ordered = sorted(rows, key=lambda row: (records[row][widest], row))
        return cut(ordered[:size], left) + cut(ordered[size:], right)

    return cut(list(range(len(records))), math.ceil(len(records) / most))


def join_small(records, blocks, k):
    """Rounds in which every small block picks the nearest other, and what is connected becomes one."""
    while True:
        blocks = sorted((sorted(block) for block in blocks), key=min)
        small = [i for i, block in enumerate(blocks) if len(block) < k]
        if not small or len(blocks) == 1:
            return blocks
        centroids = [group_centroid(records, block) for block in blocks]
        owner = list(range(len(blocks)))
        for i in small:
            others = [j for j in range(len(blocks)) if j != i]
            picked = min(others, key=lambda j, i=i: (squared_distance(centroids[j], centroids[i]), j))
            old, new = owner[i], owner[picked]
            owner = [new if o == old else o for o in owner]
        joined = {}
        for i, block in enumerate(blocks):
            joined.setdefault(owner[i], []).extend(block)
        blocks = list(joined.values())


def join_limited(records, blocks, k, most):
    """One small block at a time, the one of the lowest row first; it joins the nearest with room, or takes records.

    A block keeps the lowest row that it was founded on as its number, whatever it gives away.
    """
    blocks = {min(block): sorted(block) for block in blocks}
    while len(blocks) > 1:
        small = [number for number in sorted(blocks) if len(blocks[number]) < k]
        if not small:
            break
        one = small[0]
        centroids = {number: group_centroid(records, block) for number, block in blocks.items()}

        def gap(number, centroids=centroids, one=one):
            return squared_distance(centroids[number], centroids[one]), number

        others = [number for number in blocks if number != one]
        roomy = [number for number in others if len(blocks[number]) + len(blocks[one]) <= most]
        nearest = min(roomy or others, key=gap)
        if roomy:
            both = sorted(blocks.pop(one) + blocks.pop(nearest))
            blocks[min(one, nearest)] = both
        else:
            near = sorted(blocks[nearest], key=lambda row: (squared_distance(records[row], centroids[one]), row))
            lacking = k - len(blocks[one])
            blocks[one] = sorted(blocks[one] + near[:lacking])
            blocks[nearest] = sorted(near[lacking:])
    return sorted(blocks.values(), key=min)


def labels(blocks):
    return labels_of(blocks, sum(map(len, blocks)))
