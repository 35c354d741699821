"""Cutting an ordered file into runs of k to 2k - 1 records with the least squared error."""

import numpy as np

from microagg.algorithms.kernels._jit import kernel


@kernel
def best_runs(columns, k, start, stop, least_error, last_run):  # OUT: least_error, last_run
    """Solve the first `start` to `stop` - 1 records, given the answers for fewer.

    `columns` (d, n) is in order. `least_error[i]` is the least error of the first i records in valid
    runs (infinite if there is none) and `last_run[i]` the length of the last run, the shortest on
    ties. A run grows backwards from its last record, its error following it by Welford's recurrence.
    """
    d = columns.shape[0]
    mean = np.empty(d)
    for i in range(start, stop):
        least_error[i] = np.inf
        last_run[i] = 0
        mean[:] = 0.0
        error = 0.0
        for length in range(1, min(2 * k - 1, i) + 1):
            for j in range(d):
                value = columns[j, i - length]
                before = value - mean[j]
                mean[j] += before / length
                error += before * (value - mean[j])
            if length >= k and least_error[i - length] + error < least_error[i]:
                least_error[i] = least_error[i - length] + error
                last_run[i] = length


@kernel
def label_runs(order, last_run, labels):  # OUT: labels
    """Read the runs back from the end and label the rows in them; `order` is the row at each place."""
    end = order.shape[0]
    label = 0
    while end > 0:
        for i in range(end - last_run[end], end):
            labels[order[i]] = label
        end -= last_run[end]
        label += 1
