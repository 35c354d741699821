"""Counting categories: how often those of two columns meet, and which one each group releases."""

import numpy as np

from microagg.algorithms.kernels._jit import inlined, kernel

_DENSE = 4  # cells a record: a table with more is sorted instead of being laid out


@kernel
def meetings(codes, sizes, x_log_x, first, second, information, squares):  # OUT: information, squares
    """Compare columns `first` with `second`, pair by pair, by the categories of their records.

    `codes` (d, n) hold each record's category in each column, numbered from 0 without gaps; `sizes` (d,)
    the number of categories. For each pair, `information` becomes the sum of c log c over the counts c of
    records that share both categories (`x_log_x` (n + 1,) lists c log c), and `squares` that of
    c² / (a b), a and b the counts of the two categories.
    """
    n = codes.shape[1]
    most = 1
    for pair in range(first.shape[0]):
        cells = sizes[first[pair]] * sizes[second[pair]]
        if cells <= _DENSE * n:
            most = max(most, cells)
    table = np.zeros(most, dtype=np.int64)
    keys = np.empty(n, dtype=np.int64)
    for pair in range(first.shape[0]):
        i, j = first[pair], second[pair]
        rows, columns = np.zeros(sizes[i]), np.zeros(sizes[j])
        for r in range(n):
            rows[codes[i, r]] += 1.0
            columns[codes[j, r]] += 1.0
        total, square, lost = 0.0, 0.0, 0.0  # squares may be many and large: what each addition loses is kept
        cells = sizes[i] * sizes[j]
        if cells <= _DENSE * n:
            for r in range(n):
                table[codes[i, r] * sizes[j] + codes[j, r]] += 1
            for cell in range(cells):
                count = table[cell]
                table[cell] = 0
                if count > 0:
                    total += x_log_x[count]
                    term = share(count, cell, sizes[j], rows, columns) - lost
                    lost = (square + term - square) - term
                    square += term
        else:
            for r in range(n):
                keys[r] = codes[i, r] * sizes[j] + codes[j, r]
            keys.sort()
            start = 0
            for r in range(1, n + 1):
                if r == n or keys[r] != keys[start]:
                    total += x_log_x[r - start]
                    term = share(r - start, keys[start], sizes[j], rows, columns) - lost
                    lost = (square + term - square) - term
                    square += term
                    start = r
        information[pair] = total
        squares[pair] = square


@inlined
def share(count, cell, width, rows, columns):
    """Return c² / (a b) for one cell of the table."""
    a, b = divmod(cell, width)
    return count / rows[a] * (count / columns[b])


@kernel
def settle_in_turn(starts, candidates, sizes, owed, chosen):  # OUT: owed, chosen
    """Let each group that has not chosen take, in turn, that of its candidates of which most is owed.

    Group g's candidates, rising, are those from starts[g] to starts[g + 1]; of two that are owed equally the lower is
    taken. What a group takes is owed less by its size.
    """
    for group in range(chosen.shape[0]):
        if chosen[group] >= 0:
            continue
        best = candidates[starts[group]]
        for place in range(starts[group] + 1, starts[group + 1]):
            if owed[candidates[place]] > owed[best]:
                best = candidates[place]
        chosen[group] = best
        owed[best] -= sizes[group]
