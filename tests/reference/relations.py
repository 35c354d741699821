"""Relations kept by what groups release, one group at a time; imports nothing of microagg."""


def keep(rows, originals, groups, relations, steps, passes=4):
    """Give the released rows with relations kept, as a plain loop does it.

    `rows` and `originals` are lists of dictionaries; a relation is (target, sign, other, holds): the column whose value
    may be chosen, "=", "<=" or ">=" as seen from it, a function that gives the other side of a row, and one that tells
    whether a row keeps the relation. `steps` has the step of each target.
    """
    rows = [dict(row) for row in rows]
    for _ in range(passes):
        for target, sign, other, holds in relations:
            for group in set(groups):
                members = [i for i, own in enumerate(groups) if own == group]
                if not all(holds(originals[i]) for i in members) or holds(rows[members[0]]):
                    continue
                wanted = other(rows[members[0]])
                step = steps[target]
                chosen = round(wanted / step) * step
                if sign == "<=" and chosen > wanted:
                    chosen -= step
                if sign == ">=" and chosen < wanted:
                    chosen += step
                trial = rows[members[0]] | {target: chosen}
                if holds(trial):
                    for i in members:
                        rows[i][target] = chosen
    return rows
