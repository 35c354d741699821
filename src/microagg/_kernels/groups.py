"""Forming a group and placing leftovers: the steps that several partitioners share."""

import numpy as np

from microagg._kernels import brute
from microagg._kernels._jit import kernel
from microagg._kernels.pool import close_up, copy_point, remove
from microagg._kernels.sums import group_means

FREE = -1  # the label of a record that is in no group yet


@kernel
def join(pool, row, label, labels):  # OUT: labels
    """Move a record from the pool into a group."""
    remove(pool, row)
    labels[row] = label


@kernel
def group_around(pool, row, k, label, labels):  # OUT: labels
    """Make a group of a record and its k - 1 nearest; return the remaining record farthest from it.

    Returns -1 when nothing remains.
    """
    point = np.empty(pool.columns.shape[0])
    near_rows = np.empty(k - 1, dtype=np.int64)
    near_distances = np.empty(k - 1)
    copy_point(pool, row, point)
    join(pool, row, label, labels)
    farthest_row = brute.around(pool, point, k - 1, near_rows, near_distances)
    for i in range(k - 1):
        join(pool, near_rows[i], label, labels)
    if farthest_row >= 0 and labels[farthest_row] != FREE:  # only ties bring the farthest into the group
        farthest_row = brute.farthest(pool, point)
    close_up(pool)
    return farthest_row


@kernel
def group_rest(label, labels):  # OUT: labels
    """Make one group of all records that are still free."""
    for row in range(labels.shape[0]):
        if labels[row] == FREE:
            labels[row] = label


@kernel
def nearest_group(centroids, point):
    """Give the group whose centroid is nearest to a point, the lowest number on ties."""
    buffer = np.empty(centroids.shape[1])
    brute.squared_distances(centroids, 0, centroids.shape[1], point, buffer)
    return np.argmin(buffer)


@kernel
def number_groups(labels):  # OUT: labels
    """Number the groups from 0 by their lowest row, leaving free records free; return how many."""
    fresh = np.full(labels.max() + 1, FREE, dtype=np.int64)
    n_groups = 0
    for row in range(labels.shape[0]):
        if labels[row] != FREE:
            if fresh[labels[row]] == FREE:
                fresh[labels[row]] = n_groups
                n_groups += 1
            labels[row] = fresh[labels[row]]
    return n_groups


@kernel
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
