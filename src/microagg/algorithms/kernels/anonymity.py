"""The earth mover's distance between the values of groups and those of the whole file."""

import numpy as np

from microagg.algorithms.kernels._jit import inlined, kernel


@kernel
def farthest_by_earth_movers(starts, values, shares, cumulative):
    """Return the greatest Σ |P_i - Q_i| over the groups, P and Q the cumulative shares of ordered values.

    Group g has the values values[starts[g] : starts[g + 1]], ascending, with those shares; `cumulative` (m,)
    is Q. P is constant between two of its values and Q ascends, so each stretch is summed from running sums
    of Q on either side of where it crosses P.
    """
    m = cumulative.shape[0]
    running = np.zeros(m + 1)
    for i in range(m):
        running[i + 1] = running[i] + cumulative[i]
    farthest = 0.0
    for group in range(starts.shape[0] - 1):
        total, level, begin = 0.0, 0.0, 0
        for at in range(starts[group], starts[group + 1]):
            total += stretch(cumulative, running, begin, values[at], level)
            level += shares[at]
            begin = values[at]
        total += stretch(cumulative, running, begin, m, level)
        farthest = max(farthest, total)
    return farthest


@inlined
def stretch(cumulative, running, begin, end, level):
    """Sum |level - Q_i| for i from begin to end."""
    crossing = begin + np.searchsorted(cumulative[begin:end], level)
    below = level * (crossing - begin) - (running[crossing] - running[begin])
    above = (running[end] - running[crossing]) - level * (end - crossing)
    return below + above
