"""The loops of the partitioners, which form one group after the other, and the best runs of an ordered file."""

import numpy as np

from microagg.algorithms.kernels import search
from microagg.algorithms.kernels._jit import inner, kernel
from microagg.algorithms.kernels.groups import FINISHED, FREE, REACHED, SIZE, group_around
from microagg.algorithms.kernels.pool import DIFFERENT, NO_GROUP, REMAINING, SPENT
from microagg.algorithms.kernels.records import add_record
from microagg.algorithms.kernels.shell import farthest_from_centroid

# Places in the state beside those of `groups`; each method has a state of its own.
BEST = 2  # pairs: the row with the largest reach in the present scan, -1 if none yet
CANDIDATE = 3  # interacting groups: the row that the growing group would take next
ACCOUNTED = 3  # extended groups: for how many members of the growing group `closest` accounts


@kernel
def groups_from_outside(pool, shell, k, least, paired, repeated, budget, n_groups, labels):  # OUT: pool, shell, labels
    """Form groups around the record farthest from the centroid of the rest, while `least` different ones remain.

    Different are records that have no marks, and otherwise marks. `paired` forms a second group each turn, around the
    record farthest from the first one's; `repeated` stops when no two records have the same mark. Stops
    early when `budget` coordinates have been looked at or the shell must be renewed. Returns the number
    of groups formed so far.
    """
    state = pool.state
    state[SPENT] = 0
    while state[DIFFERENT] >= least and state[SPENT] < budget:
        if repeated and state[REMAINING] == state[DIFFERENT]:
            break
        row = farthest_from_centroid(pool, shell, labels)
        if row < 0:
            break
        for side in range(2 if paired else 1):
            row = group_around(pool, row, k, n_groups, paired and side == 0, labels)
            n_groups += 1
    return n_groups


@kernel
def pairs_of_groups(pool, k, budget, partner, reach, state, labels):  # OUT: pool and all that follow
    """Form two groups a turn while at least 2k different ones remain and the budget lasts.

    `partner` and `reach` keep, for each row, the farthest live record and how far it is. A partner that
    has left makes `reach` an upper bound, so it is searched anew only when that bound could win; start
    them at -1 and infinity. Scanned in row order, the first row with the largest reach is the lower one
    of the most distant pair; `state` holds the row REACHED in the present scan.
    """
    point = np.empty(pool.points.shape[1])
    pool.state[SPENT] = 0
    while pool.state[DIFFERENT] >= 2 * k:
        while state[REACHED] < labels.shape[0]:
            row = state[REACHED]
            if labels[row] == FREE and (state[BEST] < 0 or reach[row] > reach[state[BEST]]):
                if partner[row] < 0 or labels[partner[row]] != FREE:
                    if pool.state[SPENT] >= budget:
                        return
                    search.copy_point(pool, row, point)
                    partner[row], reach[row] = search.farthest(pool, point)
                if state[BEST] < 0 or reach[row] > reach[state[BEST]]:
                    state[BEST] = row
            state[REACHED] += 1
        for side in range(2):
            state[BEST] = group_around(pool, state[BEST], k, state[FINISHED], side == 0, labels)
            state[FINISHED] += 1
        state[REACHED], state[BEST] = 0, -1


@kernel
def extended_groups(pool, order, k, gamma, budget, state, members, closest, labels):  # OUT: pool and all from state
    """Form groups of k to 2k - 1 records while k different ones remain or one is unfinished, and the budget lasts.

    With marks, a group is extended by a mark that it does not hold, and a record finds no company in its own mark.
    `order` lists the rows, farthest from the whole file's centroid first, and `state` holds the place
    REACHED in it; `members` (2k, d) are the entries of the group that is growing.
    """
    near_rows = np.empty(max(k - 1, 2), dtype=np.int64)
    near_distances = np.empty(max(k - 1, 2))
    pool.state[SPENT] = 0
    while (state[SIZE] > 0 or pool.state[DIFFERENT] >= k) and pool.state[SPENT] < budget:
        size, group = state[SIZE], state[FINISHED]
        if size == 0:
            while labels[order[state[REACHED]]] != FREE:
                state[REACHED] += 1
            row = order[state[REACHED]]
            search.copy_point(pool, row, members[0])
            search.join(pool, row, group, labels)
            search.nearest(pool, row, members[0], group, k - 1, near_rows, near_distances)
            for i in range(1, k):
                row = near_rows[i - 1]
                search.copy_point(pool, row, members[i])
                search.join(pool, row, group, labels)
            size = k
            state[SIZE], state[ACCOUNTED] = k, 0
        joins = False
        candidate, inward = -1, np.inf
        if size < 2 * k - 1 and pool.state[DIFFERENT] >= 2:
            until = search.members_at_once(pool, state[ACCOUNTED], size)
            candidate, inward = search.nearest_to_any(pool, members, state[ACCOUNTED], until, group, closest)
            state[ACCOUNTED] = until
            if until < size:
                continue
        if candidate >= 0:
            search.copy_point(pool, candidate, members[size])
            # The nearest to the candidate is itself, at distance 0; the second is its own company.
            search.nearest(pool, candidate, members[size], NO_GROUP, 2, near_rows, near_distances)
            joins = np.sqrt(inward) < gamma * np.sqrt(near_distances[1])
        if joins:
            search.join(pool, candidate, group, labels)
            state[SIZE] += 1
        else:
            search.close_up(pool)
            state[FINISHED] += 1
            state[SIZE] = 0


@kernel
def interacting_groups(pool, shell, order, k, variable, budget, state, members, totals, labels):  # OUT: all but order
    """Form groups as IAMAT does: while at least k different ones remain or one is unfinished, and the budget lasts.

    `order` lists the rows, farthest from the whole file's centroid first; where it is empty, the
    centroid moves with the records that remain. With marks, a group takes none that it holds. `state`
    holds the place REACHED in `order` and the CANDIDATE, the record nearest to all members; `members`
    (2k, d) and `totals` (n,) hold what else is known of the group that is growing.
    """
    pool.state[SPENT] = 0
    while (state[SIZE] > 0 or pool.state[DIFFERENT] >= k) and pool.state[SPENT] < budget:
        size, row = state[SIZE], state[CANDIDATE]
        if size == 0:
            if order.shape[0] > 0:
                while labels[order[state[REACHED]]] != FREE:
                    state[REACHED] += 1
                row = order[state[REACHED]]
            else:
                row = farthest_from_centroid(pool, shell, labels)
                if row < 0:  # the shell must be renewed
                    return
        room = variable and size < 2 * k - 1 and pool.state[DIFFERENT] >= k and row >= 0
        if size < k or (room and belongs(pool, row, members, size, k)):
            search.copy_point(pool, row, members[size])
            search.join(pool, row, state[FINISHED], labels)
            size += 1
            state[SIZE] = size
            if pool.state[REMAINING] > 0 and (size < k or variable):
                state[CANDIDATE] = search.nearest_to_all(pool, members, size, state[FINISHED], totals)
        else:
            search.close_up(pool)
            state[FINISHED] += 1
            state[SIZE] = 0


@inner
def belongs(pool, row, members, size, k):
    """Return whether a free record adds less error to this group than to one it would found itself.

    Joining `size` members raises their squared error by size/(size+1) times the squared distance to
    their centroid. In a group of its own, with its k - 1 nearest free records, the record accounts
    for k/(k-1) times its squared distance to that group's centroid.
    """
    heights, starts = pool.heights, pool.starts
    rows = np.empty(k, dtype=np.int64)
    distances = np.empty(k)
    point = np.empty(members.shape[1])
    search.copy_point(pool, row, point)
    search.nearest(pool, row, point, NO_GROUP, k, rows, distances)  # the record itself is among them, at distance 0
    member_sums = np.zeros(starts[-1])
    for i in range(size):
        add_record(members.T, heights, starts, i, member_sums)
    own_sums = np.zeros(starts[-1])
    width = pool.points.shape[2]
    for i in range(k):
        block, at = divmod(pool.place[rows[i]], width)
        add_record(pool.points[block], heights, starts, at, own_sums)
    own = np.zeros(starts[-1])
    block, at = divmod(pool.place[row], width)
    add_record(pool.points[block], heights, starts, at, own)
    here = 0.0
    there = 0.0
    for j in range(own.shape[0]):
        u = own[j] - member_sums[j] / size
        v = own[j] - own_sums[j] / k
        here += u * u
        there += v * v
    return size / (size + 1) * here < k / (k - 1) * there


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
