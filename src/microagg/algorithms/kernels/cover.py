"""Fractional covers of records by groups: what they share out, and which cuts they break."""

import numpy as np

from microagg.algorithms.kernels._jit import kernel


@kernel
def share_together(members, starts, shares, together):  # OUT: together
    """Add up, for each pair of records, the shares of the groups that hold both; `together` (n, n) comes as zeros."""
    for g in range(shares.shape[0]):
        for a in range(starts[g], starts[g + 1]):
            for b in range(starts[g], starts[g + 1]):
                together[members[a], members[b]] += shares[g]


@kernel
def broken_triples(members, starts, shares, together, least, triples, excesses):  # OUT: triples, excesses
    """List triples of records of which groups with shares of more than 1 + `least` hold two or more.

    In a partition at most one group can. Returns how many there are; as many as there is room for are listed.
    """
    n = together.shape[0]
    near = np.empty(n, dtype=np.int64)
    of_all = np.empty(n)
    found = 0
    for i in range(n):
        count = 0
        for j in range(i + 1, n):
            if 0.0 < together[i, j] < 1.0:
                near[count] = j
                count += 1
        for a in range(count):
            j = near[a]
            for b in range(a + 1, count):
                of_all[near[b]] = 0.0
            for g in range(shares.shape[0]):
                has_i, has_j = False, False
                for m in range(starts[g], starts[g + 1]):
                    has_i |= members[m] == i
                    has_j |= members[m] == j
                if has_i and has_j:
                    for m in range(starts[g], starts[g + 1]):
                        of_all[members[m]] += shares[g]
            for b in range(a + 1, count):
                other = near[b]
                excess = together[i, j] + together[i, other] + together[j, other] - 2.0 * of_all[other] - 1.0
                if together[j, other] > 0.0 and excess > least:
                    if found < excesses.shape[0]:
                        triples[found, 0], triples[found, 1], triples[found, 2] = i, j, other
                        excesses[found] = excess
                    found += 1
    return min(found, excesses.shape[0])
