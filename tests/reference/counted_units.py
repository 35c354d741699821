"""Units, slowly: who is counted, who is linked, whose rows are alike."""

from collections import Counter, defaultdict


def fewest_units(rows, units, in_part=True):
    """Give the fewest units that share a row: as often as the one with most rows goes into all, or different ones."""
    sharing = defaultdict(Counter)
    for row, unit in zip(rows, units, strict=True):
        sharing[row][unit] += 1
    if in_part:
        return min(sum(own.values()) // max(own.values()) for own in sharing.values())
    return min(len(own) for own in sharing.values())


def fewest_whole_units(rows, units):
    """Give the fewest units that have the same rows, in whatever order."""
    owned = defaultdict(list)
    for row, unit in zip(rows, units, strict=True):
        owned[unit].append(row)
    return min(Counter(tuple(sorted(own)) for own in owned.values()).values())


def chances_of_links(original, masked, units, strata):
    """Give, for each original point, the chance that a nearest masked row of its stratum is its unit's."""
    chances = []
    for i, point in enumerate(original):
        distances = {
            j: sum((a - b) ** 2 for a, b in zip(point, other, strict=True))
            for j, other in enumerate(masked)
            if strata[j] == strata[i]
        }
        least = min(distances.values())
        nearest = [j for j, distance in distances.items() if distance == least]
        chances.append(sum(units[j] == units[i] for j in nearest) / len(nearest))
    return chances


def chances_of_whole_links(original, masked, units, slots, strata):
    """Give, for each unit in order, the chance that a nearest masked unit with the same slots and stratum is its own.

    Units are compared by the mean squared distance of their rows, slot by slot.
    """
    rows = defaultdict(dict)
    for row, (unit, slot) in enumerate(zip(units, slots, strict=True)):
        rows[unit][slot] = row
    shapes = {unit: (strata[min(own.values())], frozenset(own)) for unit, own in rows.items()}
    chances = []
    for unit in sorted(rows):
        distances = {
            other: sum(
                (a - b) ** 2
                for slot, row in rows[unit].items()
                for a, b in zip(original[row], masked[rows[other][slot]], strict=True)
            )
            / len(rows[unit])
            for other in rows
            if shapes[other] == shapes[unit]
        }
        least = min(distances.values())
        nearest = [other for other, distance in distances.items() if distance <= least * (1 + 1e-9) + 1e-12]
        chances.append((unit in nearest) / len(nearest))
    return chances


def can_hold(units, k, in_part=True):
    """Tell whether rows of these units can be a group of k units."""
    counts = Counter(units)
    return max(counts.values()) * k <= len(units) if in_part else len(counts) >= k


def fewest_whole_units_apart(rows, units, household_rows, households):
    """Give the fewest units that have the same rows in one file and the same single row in another."""
    owned = defaultdict(list)
    for row, unit in zip(rows, units, strict=True):
        owned[unit].append(row)
    single = dict(zip(households, household_rows, strict=True))
    assert len(single) == len(households)
    assert single.keys() == owned.keys()
    return min(Counter((tuple(sorted(own)), single[unit]) for unit, own in owned.items()).values())


def waves_that_stay(waves, strata, k):
    """Give, for each unit, the waves it keeps: the largest of its own sets that k units of its stratum have.

    Of sets of one size the one of more units comes first, then that of the earlier unit.
    """
    counts = Counter(zip(map(frozenset, waves), strata, strict=True))
    kept = []
    for own, stratum in zip(waves, strata, strict=True):
        best, best_key = frozenset(), (0, 0)
        for other, there in zip(map(frozenset, waves), strata, strict=True):
            key = (len(other), counts[other, there])
            if there == stratum and other <= set(own) and key[1] >= k and key > best_key:
                best, best_key = other, key
        kept.append(best)
    return kept
