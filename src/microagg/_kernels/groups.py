"""Forming a group and placing leftovers: the steps that several partitioners share."""

import numpy as np
from numpy.typing import NDArray

from microagg._kernels import search
from microagg._kernels._jit import inlined, kernel
from microagg._kernels.brute import squared_distances
from microagg._kernels.sums import group_means

FREE = -1  # the label of a record that is in no group yet

# The places of the state that a method keeps from one slice to the next; it may have more of its own.
REACHED = 0  # how far it has gone through the rows
FINISHED = 1  # how many groups it has finished
SIZE = 2  # how many records are in the group that is growing, 0 if none is


def new_state() -> NDArray[np.int64]:
    """Give the state of a method that has done nothing yet."""
    return np.zeros(4, dtype=np.int64)


@inlined
def group_around(pool, row, k, label, opposite, labels):  # OUT: pool, labels
    """Make a group of a record and its k - 1 nearest.

    With `opposite`, return the remaining record farthest from it.
    """
    point = np.empty(pool.sums.shape[0])
    near_rows = np.empty(k, dtype=np.int64)
    near_distances = np.empty(k)
    search.copy_point(pool, row, point)
    near_rows[k - 1] = row
    far_row = -1
    for i in range(-1, k - 1):  # the record itself joins first, and is out of the way of the search
        if i == 0:
            far_row = search.nearest_and_farthest(pool, row, point, k - 1, near_rows, near_distances)
        member = near_rows[i if i >= 0 else k - 1]
        search.remove(pool, member)
        labels[member] = label
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


@inlined
def nearest_group(centroids, point):
    """Give the group whose centroid is nearest to a point, the lowest number on ties."""
    buffer = np.empty(centroids.shape[1])
    squared_distances(centroids, 0, centroids.shape[1], point, buffer)
    return np.argmin(buffer)


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


@inlined
def grouped_centroids(columns, labels):  # OUT: labels
    """Number the groups by lowest row and give the centroids (d, groups) of the records in them."""
    n_groups = number_groups(labels)
    members = np.flatnonzero(labels != FREE)
    return group_means(columns[:, members], labels[members], n_groups)


@kernel
def place_each_leftover(columns, labels):  # OUT: labels
    """Put each free record into the group with the nearest centroid, as the groups stood before."""
    centroids = grouped_centroids(columns, labels)
    for row in np.flatnonzero(labels == FREE):
        labels[row] = nearest_group(centroids, columns[:, row].copy())


@kernel
def place_leftovers_together(columns, leftovers_centroid, labels):  # OUT: labels
    """Put all free records into the group whose centroid is nearest to theirs."""
    group_rest(nearest_group(grouped_centroids(columns, labels), leftovers_centroid), labels)


@kernel
def largest_and_rest(values, labels, n_groups):
    """Give each group's largest value, its second largest, and the sum of the others; 0 where there are none.

    No value is negative.
    """
    largest, second, rest = np.zeros(n_groups), np.zeros(n_groups), np.zeros(n_groups)
    for row in range(values.shape[0]):
        g, value = labels[row], values[row]
        rest[g] += min(value, second[g])
        second[g] = max(second[g], min(value, largest[g]))
        largest[g] = max(largest[g], value)
    return largest, second, rest
