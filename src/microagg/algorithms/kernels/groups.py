"""Forming a group and placing leftovers: the steps that several partitioners share."""

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels import search
from microagg.algorithms.kernels._jit import inlined, inner, kernel
from microagg.algorithms.kernels.records import add_record
from microagg.algorithms.kernels.sums import group_sizes

FREE = -1  # the label of a record that is in no group yet

# The places of the state that a method keeps from one slice to the next; it may have more of its own.
REACHED = 0  # how far it has gone through the rows
FINISHED = 1  # how many groups it has finished
SIZE = 2  # how many records are in the group that is growing, 0 if none is


def new_state() -> NDArray[np.int64]:
    """Return the state of a method that has done nothing yet."""
    return np.zeros(4, dtype=np.int64)


@inlined
def group_around(pool, row, k, label, opposite, labels):  # OUT: pool, labels
    """Make a group of a record and its k - 1 nearest, with marks one of each.

    With `opposite`, return the remaining record farthest from it.
    """
    point = np.empty(pool.points.shape[1])
    near_rows = np.empty(k, dtype=np.int64)
    near_distances = np.empty(k)
    search.copy_point(pool, row, point)
    near_rows[k - 1] = row
    far_row = -1
    for i in range(-1, k - 1):  # the record itself joins first, and is out of the way of the search
        if i == 0:
            far_row = search.nearest_and_farthest(pool, row, point, label, k - 1, near_rows, near_distances)
        search.join(pool, near_rows[i if i >= 0 else k - 1], label, labels)
    # A tree is not asked for the farthest above; and ties can bring brute force's into the group.
    if opposite and (far_row < 0 or labels[far_row] != FREE):
        far_row, _ = search.farthest(pool, point)
    search.close_up(pool)
    return far_row


@kernel
def group_rest(label, labels):  # OUT: labels
    """Make one group of all records that are still free."""
    for row in range(labels.shape[0]):
        if labels[row] == FREE:
            labels[row] = label


@kernel
def number_groups(labels):  # OUT: labels
    """Number the groups from 0 by their lowest row, leaving free records free; return how many."""
    highest = 0
    for row in range(labels.shape[0]):
        highest = max(highest, labels[row])
    fresh = np.full(highest + 1, FREE, dtype=np.int64)
    n_groups = 0
    for row in range(labels.shape[0]):
        if labels[row] != FREE:
            if fresh[labels[row]] == FREE:
                fresh[labels[row]] = n_groups
                n_groups += 1
            labels[row] = fresh[labels[row]]
    return n_groups


@kernel
def place_each_leftover(entries, heights, starts, labels):  # OUT: labels
    """Put each free record into the group with the nearest centroid, as the groups stood before."""
    free = np.flatnonzero(labels == FREE)
    points = np.zeros((free.shape[0], starts[-1]))
    for i in range(free.shape[0]):
        add_record(entries, heights, starts, free[i], points[i])
    nearest = nearest_groups(entries, heights, starts, points, labels)
    for i in range(free.shape[0]):
        labels[free[i]] = nearest[i]


@kernel
def place_leftovers_together(entries, heights, starts, leftovers_centroid, labels):  # OUT: labels
    """Put all free records into the group whose centroid is nearest to theirs."""
    points = leftovers_centroid.copy().reshape((1, starts[-1]))
    group_rest(nearest_groups(entries, heights, starts, points, labels)[0], labels)


@inner
def nearest_groups(entries, heights, starts, points, labels):  # OUT: labels
    """Number the groups by lowest row; give the one whose centroid is nearest to each point (., D), the lowest on ties.

    One centroid is made after the other: with many categories, all together would need much memory.
    """
    n_groups = number_groups(labels)
    rows, starts_of, ends = rows_by_group(labels, n_groups)
    best, nearest = np.full(points.shape[0], np.inf), np.zeros(points.shape[0], dtype=np.int64)
    centroid, first = np.empty(points.shape[1]), np.empty(points.shape[1])
    for g in range(n_groups):
        fill_mean(entries, heights, starts, rows[starts_of[g] : ends[g]], first, centroid)
        for i in range(points.shape[0]):
            distance = squared_distance(centroid, points[i])
            if distance < best[i]:
                best[i], nearest[i] = distance, g
    return nearest


@kernel
def distances_to_groups(entries, heights, starts, points, labels, n_groups):
    """Return the squared distance of each point (., D) from the centroid of each group, (points, groups)."""
    rows, starts_of, ends = rows_by_group(labels, n_groups)
    distances = np.empty((points.shape[0], n_groups))
    centroid, first = np.empty(points.shape[1]), np.empty(points.shape[1])
    for g in range(n_groups):
        fill_mean(entries, heights, starts, rows[starts_of[g] : ends[g]], first, centroid)
        for i in range(points.shape[0]):
            distances[i, g] = squared_distance(centroid, points[i])
    return distances


@inner
def rows_by_group(labels, n_groups):
    """List the rows that are not free, group by group and in row order in each; give where each begins and ends."""
    grouped = np.flatnonzero(labels != FREE)
    ends = np.cumsum(group_sizes(labels[grouped], n_groups))
    places = ends.copy()
    rows = np.empty(grouped.shape[0], dtype=np.int64)
    for i in range(grouped.shape[0] - 1, -1, -1):
        g = labels[grouped[i]]
        places[g] -= 1
        rows[places[g]] = grouped[i]
    return rows, places, ends


@inlined
def squared_distance(centroid, point):
    """Return the squared distance of a point from a centroid, over all coordinates."""
    distance = 0.0
    for j in range(centroid.shape[0]):
        u = centroid[j] - point[j]
        distance += u * u
    return distance


@inlined
def fill_mean(entries, heights, starts, rows, first, mean):  # OUT: first, mean
    """Return the mean of some records, summed in order as differences from the first, as `sums.group_means` does."""
    first[:] = 0.0
    mean[:] = 0.0
    add_record(entries, heights, starts, rows[0], first)
    for row in rows[1:]:
        for j in range(starts[0]):
            mean[j] += entries[j, row] - first[j]
        for j in range(heights.shape[0]):
            code, code_of_first = entries[starts[0] + j, row], entries[starts[0] + j, rows[0]]
            if code != code_of_first:
                mean[starts[j] + np.int64(code)] += heights[j]
                mean[starts[j] + np.int64(code_of_first)] -= heights[j]
    for j in range(mean.shape[0]):
        mean[j] = first[j] + mean[j] / rows.shape[0]


@kernel
def largest_and_rest(values, labels, n_groups):
    """Return each group's largest value, its second largest, and the sum of the others; 0 where there are none.

    No value is negative.
    """
    largest, second, rest = np.zeros(n_groups), np.zeros(n_groups), np.zeros(n_groups)
    for row in range(values.shape[0]):
        g, value = labels[row], values[row]
        rest[g] += min(value, second[g])
        second[g] = max(second[g], min(value, largest[g]))
        largest[g] = max(largest[g], value)
    return largest, second, rest
