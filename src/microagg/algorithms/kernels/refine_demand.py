"""Which moves `refine` may make where each group keeps a demand on the values that its members hold."""

import numpy as np

from microagg.algorithms.kernels._jit import inner
from microagg.algorithms.kernels.diversity import add_track, runs_of

NOBODY = -1  # no record leaves, or comes


@inner
def keeps(asked, g, leaving, coming, groups):
    """Return whether a group keeps what is asked when one record leaves it and another comes."""
    size = groups.sizes[g]
    own, counts = np.empty(size + 1, dtype=np.int64), np.empty(size + 1, dtype=np.int64)
    distance = 0.0
    for track in range(asked.kinds.shape[0]):
        codes = asked.codes[track]
        held = 0
        for i in range(size):
            row = groups.members[g, i]
            if row != leaving:
                own[held] = codes[row]
                held += 1
        if coming != NOBODY:
            own[held] = codes[coming]
            held += 1
        breach, distance = add_track(asked, track, own, counts, runs_of(held, own, counts), distance)
        if breach > 0.0:
            return False
    return True


@inner
def may_change_places(asked, row, other, groups):
    """Return whether the groups of two records keep what is asked when those change places."""
    same = True
    for track in range(asked.kinds.shape[0]):
        same &= asked.codes[track, row] == asked.codes[track, other]
    a, b = groups.labels[row], groups.labels[other]
    return same or (keeps(asked, a, row, other, groups) and keeps(asked, b, other, row, groups))
