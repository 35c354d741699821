"""Which category each group releases, where several would do."""

from microagg.algorithms.kernels._jit import kernel


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
