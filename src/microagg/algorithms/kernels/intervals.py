"""How near, by rank, the masked values lie to the original ones."""

from microagg.algorithms.kernels._jit import inlined, kernel


@kernel
def count_rank_misses(ordered, values, widths, by_row, tied):  # OUT: by_row, tied
    """Count, for each value, the widths of ranks around its masked value within which it does not lie.

    `ordered` (n,) are the masked values from the lowest to the highest, `values` the originals in that order, and
    `widths` grow. Equal masked values are ranked as they stand for `by_row` and share the mean of their ranks for
    `tied`.
    """
    n = ordered.shape[0]
    first = 0
    while first < n:
        last = first
        while last + 1 < n and ordered[last + 1] == ordered[first]:
            last += 1
        for i in range(first, last + 1):
            by_row[i] = misses(ordered, values[i], i, i, widths)
            tied[i] = misses(ordered, values[i], (first + last) // 2, (first + last + 1) // 2, widths)
        first = last + 1


@inlined
def misses(ordered, value, low, high, widths):
    """Count the widths that miss a value: a wider interval holds the narrower, so those before the first that does."""
    for count in range(widths.shape[0]):
        below = ordered[max(low - widths[count], 0)]
        above = ordered[min(high + widths[count], ordered.shape[0] - 1)]
        if below <= value and value <= above:
            return count
    return widths.shape[0]
