"""Giving records to released groups: the nearest pairs first, then exchanges that make sums agree."""

import numpy as np

from microagg.algorithms.kernels._jit import inner, kernel


@kernel
def give_nearest(records, groups, room, given):  # OUT: room, given
    """Return records to groups pair by pair, as they come, where the record has none and the group has room."""
    for pair in range(records.size):
        record, group = records[pair], groups[pair]
        if given[record] < 0 and room[group] > 0:
            given[record] = group
            room[group] -= 1


@kernel
def settle(values, points, centers, targets, slack, starts, members, near, depth, most, taken, settled):
    """Settle groups whose members, `depth` of them exchanged for near records, have the sums that were released.

    Of several exchanges, the one whose records are nearest is taken. Records of settled groups are taken, and a group
    that lost one to another waits.

    `values` are (n, c), `points` (n, D), `centers` (G, D), `targets` and `slack` (G, c); `members` from `starts` on,
    `near` (G, m) with -1 at the end; `most` is the number of exchanges to look at for a group.
    """
    for group in range(centers.shape[0]):
        own = members[starts[group] : starts[group + 1]]  # a view: members that are exchanged are written into it
        if settled[group] or taken[own].any() or own.size < depth:
            continue
        others = _free(near[group], own, taken)
        if others.size < depth or _choices(own.size, depth) * _choices(others.size, depth) > most:
            continue
        if _exchange(values, points, centers[group], targets[group], slack[group], own, others, depth):
            settled[group] = True
            for record in own:
                taken[record] = True


@inner
def _free(near, own, taken):
    """Return near records that no group has for good, and that are not the group's own."""
    found, count = np.empty(near.size, np.int64), 0
    for record in near:
        if record >= 0 and not taken[record] and not (own == record).any():
            found[count] = record
            count += 1
    return found[:count]


@inner
def _choices(of, depth):
    """Count the ways to choose so many of some."""
    ways = 1.0
    for step in range(depth):
        ways = ways * (of - step) / (step + 1)
    return ways


@inner
def _exchange(values, points, center, target, slack, own, others, depth):  # OUT: own
    """Exchange so many of a group's records for others that its sums meet the target; return whether it did."""
    lacking = target.copy()
    for record in own:
        lacking -= values[record]
    best, best_out, best_in = np.inf, np.arange(depth), np.arange(depth)
    out = np.arange(depth)
    wanted = np.empty_like(lacking)
    while True:
        wanted[:] = lacking
        for place in out:
            wanted += values[own[place]]
        into = np.arange(depth)
        while True:
            if _adds_up(values, others, into, wanted, slack):
                cost = _cost(points, center, others, into) - _cost(points, center, own, out)
                if cost < best:
                    best = cost
                    best_out, best_in = out.copy(), into.copy()
            if not _advance(into, others.size):
                break
        if not _advance(out, own.size):
            break
    if best == np.inf:
        return False
    for place in range(depth):
        own[best_out[place]] = others[best_in[place]]
    return True


@inner
def _adds_up(values, others, into, wanted, slack):
    for column in range(wanted.size):
        total = 0.0
        for place in into:
            total += values[others[place], column]
        if abs(total - wanted[column]) > slack[column]:
            return False
    return True


@inner
def _cost(points, center, records, chosen):
    """Add up the squared distances of some records to a center."""
    total = 0.0
    for place in chosen:
        for axis in range(center.size):
            total += (points[records[place], axis] - center[axis]) ** 2
    return total


@inner
def _advance(chosen, of):  # OUT: chosen
    """Go on to the next choice of so many places, in order; return whether there is one."""
    depth = chosen.size
    for place in range(depth - 1, -1, -1):
        if chosen[place] < of - depth + place:
            chosen[place] += 1
            for after in range(place + 1, depth):
                chosen[after] = chosen[after - 1] + 1
            return True
    return False
