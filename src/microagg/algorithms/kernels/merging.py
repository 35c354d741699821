"""Merging groups that break a promise, with what is known of each group kept as it grows.

Of each track a group has its runs as a linked list, by ascending value: a record's place in the lists stands for a run
from then on when it is the first with its value. Two lists are merged by linking them anew.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels._jit import inlined, inner, kernel
from microagg.algorithms.kernels.diversity import Tracks, add_track
from microagg.algorithms.kernels.groups import fill_mean
from microagg.algorithms.kernels.records import CHUNK, Records, squared_distances

END = -1  # the end of a list

# The places of the state of merging.
IN_USE = 0  # columns of centroids in use, by live groups and by some that are gone
ALIVE = 1  # live groups


class Merging(NamedTuple):
    """Groups that are being merged; those that are left are in the order of their numbers."""

    state: NDArray[np.int64]  # (IN_USE, ALIVE)
    centroids: NDArray[np.float64]  # (D, groups)
    numbers: NDArray[np.int64]  # (groups,): each one's number
    breaches: NDArray[np.float64]  # (groups,): -1 of a group that is gone
    sizes: NDArray[np.float64]  # (groups,), by number
    into: NDArray[np.int64]  # (groups,), by number: the one that it has joined, or itself
    heads: NDArray[np.int64]  # (tracks, groups), by number: where each list begins
    links: NDArray[np.int64]  # (tracks, n)
    counts: NDArray[np.int64]  # (tracks, n)


def ready_to_merge(records: Records, labels: NDArray[np.int64], n_groups: int, asked: Tracks) -> Merging:
    """Lay out groups; labels run from 0 without gaps."""
    tracks, n = asked.codes.shape
    sizes = np.bincount(labels, minlength=n_groups)
    rows = np.argsort(labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    merging = Merging(
        state=np.array([n_groups, n_groups]),
        centroids=np.empty((int(records.starts[-1]), n_groups)),
        numbers=np.arange(n_groups),
        breaches=np.zeros(n_groups),
        sizes=sizes.astype(np.float64),
        into=np.arange(n_groups),
        heads=np.full((tracks, n_groups), END),
        links=np.full((tracks, n), END),
        counts=np.ones((tracks, n), dtype=np.int64),
    )
    fill_groups(*records, asked, rows, starts, merging)
    return merging


@kernel
def fill_groups(entries, heights, starts, asked, rows, starts_of, merging):  # OUT: merging
    """Find each group's centroid, lists and breach."""
    first, mean = np.empty(starts[-1]), np.empty(starts[-1])
    for g in range(starts_of.shape[0] - 1):
        own = rows[starts_of[g] : starts_of[g + 1]]
        fill_mean(entries, heights, starts, own, first, mean)
        merging.centroids[:, g] = mean
        for track in range(asked.kinds.shape[0]):
            last = END
            for row in own[np.argsort(asked.codes[track, own], kind="mergesort")]:
                if last != END and asked.codes[track, last] == asked.codes[track, row]:
                    merging.counts[track, last] += 1
                    continue
                if last == END:
                    merging.heads[track, g] = row
                else:
                    merging.links[track, last] = row
                last = row
        merging.breaches[g] = breach_of(asked, g, merging)


@inner
def breach_of(asked, g, merging):
    """Return how badly a group, by its number, breaks what is asked."""
    longest = 0
    for track in range(asked.kinds.shape[0]):
        used, at = 0, merging.heads[track, g]
        while at != END:
            used += 1
            at = merging.links[track, at]
        longest = max(longest, used)
    own, counts = np.empty(longest, dtype=np.int64), np.empty(longest, dtype=np.int64)
    worst, distance = 0.0, 0.0
    for track in range(asked.kinds.shape[0]):
        used, at = 0, merging.heads[track, g]
        while at != END:
            own[used], counts[used] = asked.codes[track, at], merging.counts[track, at]
            used += 1
            at = merging.links[track, at]
        breach, distance = add_track(asked, track, own, counts, used, distance)
        worst = max(worst, breach)
    return worst


@inlined
def merge_lists(codes, a, b, links, counts):  # OUT: links, counts
    """Merge two lists of runs; return where the merged one begins."""
    head, last = END, END
    while a != END or b != END:
        if b == END or (a != END and codes[a] <= codes[b]):
            taken = a
            a = links[a]
        else:
            taken = b
            b = links[b]
        if last != END and codes[last] == codes[taken]:
            counts[last] += counts[taken]
            continue
        if last == END:
            head = taken
        else:
            links[last] = taken
        last = taken
    if last != END:
        links[last] = END
    return head


@kernel
def merge_some(asked, budget, merging):  # OUT: merging
    """Let the worst group join the one with the nearest centroid, again and again; return whether there is more to do.

    Stops when no group breaks what is asked, when one is left, or when `budget` coordinates have been looked at.
    """
    state = merging.state
    point, buffer = np.empty(merging.centroids.shape[0]), np.empty(CHUNK)
    while state[ALIVE] > 1 and budget > 0:
        worst, most = -1, 0.0
        for i in range(state[IN_USE]):
            if merging.breaches[i] > most:
                worst, most = i, merging.breaches[i]
        if worst < 0:
            return False
        point[:] = merging.centroids[:, worst]
        nearest = nearest_centroid(worst, point, buffer, merging)
        join(asked, min(worst, nearest), max(worst, nearest), merging)
        budget -= state[IN_USE] * point.shape[0]
        if state[ALIVE] * 4 < state[IN_USE] * 3:
            close_up(merging)
    return state[ALIVE] > 1


@inlined
def nearest_centroid(worst, point, buffer, merging):  # OUT: buffer
    """Return the live group, by its place, whose centroid is nearest to that of the worst."""
    nearest, best = -1, np.inf
    for start in range(0, merging.state[IN_USE], CHUNK):
        stop = min(start + CHUNK, merging.state[IN_USE])
        squared_distances(merging.centroids, start, stop, point, buffer)
        for i in range(stop - start):
            if buffer[i] < best and start + i != worst and merging.breaches[start + i] >= 0.0:
                nearest, best = start + i, buffer[i]
    return nearest


@inner
def join(asked, kept, joined, merging):  # OUT: merging
    """Let one group, by its place, join another of a lower number; the centroid is the mean of both, by their sizes."""
    a, b = merging.numbers[kept], merging.numbers[joined]
    size, other = merging.sizes[a], merging.sizes[b]
    for j in range(merging.centroids.shape[0]):
        total = size * merging.centroids[j, kept] + other * merging.centroids[j, joined]
        merging.centroids[j, kept] = total / (size + other)
    merging.sizes[a] = size + other
    merging.into[b] = a
    for track in range(asked.kinds.shape[0]):
        codes, links, counts = asked.codes[track], merging.links[track], merging.counts[track]
        merging.heads[track, a] = merge_lists(codes, merging.heads[track, a], merging.heads[track, b], links, counts)
    merging.breaches[kept] = breach_of(asked, a, merging)
    merging.breaches[joined] = -1.0
    merging.state[ALIVE] -= 1


@inner
def close_up(merging):  # OUT: merging
    """Close up the places of groups that are gone, keeping their order."""
    kept = 0
    for i in range(merging.state[IN_USE]):
        if merging.breaches[i] >= 0.0:
            if kept != i:
                merging.breaches[kept] = merging.breaches[i]
                merging.numbers[kept] = merging.numbers[i]
                for j in range(merging.centroids.shape[0]):
                    merging.centroids[j, kept] = merging.centroids[j, i]
            kept += 1
    merging.state[IN_USE] = kept


@kernel
def follow(into, labels):  # OUT: into, labels
    """Return records the label of the group that theirs has ended in."""
    for g in range(into.shape[0]):
        into[g] = into[into[g]]  # a group joins one of a lower number, which has been followed already
    for row in range(labels.shape[0]):
        labels[row] = into[labels[row]]
