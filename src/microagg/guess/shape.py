"""How whole numbers lie: as a numbering does, as codes do, or as amounts do.

All functions take the different values in rising order, and most how often each occurs.
"""

import numpy as np

from microagg.guess.facts import Floats, Ints

_LONG = 6  # digits from which numbers of one length are hardly amounts: those differ in length before
_TAIL = 0.12  # share of amounts in the upper quarter of their range; a numbering has a quarter of its own there
_BEYOND = 2.0**63
_SKEW = 4.0  # how much farther the largest is from the middle than the least, where numberings hardly are so


def step_of(values: Floats) -> float:
    """Return the largest whole number that divides every difference; 1 of fewer than two values, and of decimals.

    It is 1 too where a difference is beyond the integers.
    """
    differences = np.diff(values)
    if len(values) < 2 or not differences.max() < _BEYOND:
        return 1.0
    return float(max(1, np.gcd.reduce(differences.astype(np.int64))))


def _round_step(values: Floats) -> float:
    """Return the same where amounts are rounded to it, such as 5, 20 or 1000; else 1, since only codes go by 7."""
    step = step_of(values)
    return step if step / 10 ** np.floor(np.log10(step)) in (1.0, 2.0, 5.0) or step == 25 else 1.0


def is_dense(values: Floats) -> bool:
    """Return whether values lie as densely as a numbering's do."""
    return bool((values[-1] - values[0]) / step_of(values) < 2 * len(values))


def is_consecutive(values: Floats) -> bool:
    """Return whether values follow each other without a gap."""
    return bool((values[-1] - values[0]) / _round_step(values) == len(values) - 1)


def has_gaps(values: Floats, counts: Ints) -> bool:
    """Return whether values are missing between frequent ones, and not only where they become rare."""
    gaps = np.diff(values / _round_step(values)) > 1
    return bool(np.any(np.minimum(counts[1:], counts[:-1])[gaps] >= 5))


def length_of(values: Floats) -> int:
    """Return the number of digits that all values have; 0 where they differ in that."""
    if values[0] <= 0:
        return 0
    shortest, longest = len(f"{values[0]:.0f}"), len(f"{values[-1]:.0f}")
    return shortest if shortest == longest else 0


def sign_of_numbering(values: Floats, rises: bool) -> str:
    """Say what makes values look like a numbering, each counted once; empty where nothing does.

    `rises` says whether they come in rising order in the file, which amounts do only in a file that they sort.
    """
    if is_dense(values):
        return "they are as close together as in a numbering"
    if np.mean(np.diff(values) == step_of(values)) >= 0.3:
        return "many follow the one before by 1"
    if rises and not _is_very_skewed(values, 2 * _SKEW):
        return "they rise from row to row"
    if length_of(values) >= _LONG:
        return f"all have {length_of(values)} digits"
    return ""


def is_composed(values: Floats) -> bool:
    """Return whether digits of their own stand before a serial number, as a year does: 2301234 of 1999 and so on.

    The serial numbers leave the upper half of their digits' range empty after three such beginnings or more; amounts
    go through all of it.
    """
    longest = len(f"{values[-1]:.0f}")
    for digits in range(2, longest):
        starts, rests = np.divmod(values[values >= 10.0**digits], 10.0**digits)
        often = np.unique(starts, return_counts=True)[1] >= 5
        if np.count_nonzero(often) < 3 or len(np.unique(rests)) <= 20:
            continue
        if np.mean(rests < 0.5 * 10.0**digits) >= 0.99:
            return True
    return False


def main_series(values: Floats) -> Floats:
    """Return numbers without a few that stand far above all others, as a second series of a register does."""
    while len(values) >= 20:
        gaps = np.diff(values)
        place = int(gaps.argmax())
        few = len(values) - 1 - place <= _TAIL * len(values)
        if not (few and gaps[place] > 0.5 * (values[-1] - values[0])):
            break
        values = values[: place + 1]
    return values


def sign_of_amounts(values: Floats, counts: Ints) -> str:
    """Say what makes values look like amounts; empty where nothing does."""
    if values[0] < 0:
        return "some are negative"
    if is_heaped(values, counts):
        return "round ones are frequent"
    return "large ones are rare" if _has_tail(values, counts) or _is_very_skewed(values) else ""


def is_bell_shaped(values: Floats, counts: Ints) -> bool:
    """Return whether values become rare towards one end of their range, whichever."""
    return _has_tail(values, counts) or _has_tail(-values[::-1], counts[::-1])


def is_surely_amounts(values: Floats, counts: Ints) -> bool:
    """Return whether values are amounts although they go with the rows as a numbering does."""
    return (
        values[0] < 0 or is_heaped(values, counts) or (_has_tail(values, counts) and _is_very_skewed(values, 2 * _SKEW))
    )


def is_heaped(values: Floats, counts: Ints) -> bool:
    """Return whether people rounded: round values are more frequent than others, or there are more of them than chance.

    Those are hundreds, or tens of numbers below 100. Codes that are all tens have no more hundreds among them than
    chance gives, and no single frequent value decides.
    """
    values = np.abs(values) / (step_of(values) if np.all(values % step_of(values) == 0) else 1.0)
    by = 100 if np.count_nonzero(values >= 100) >= 20 else 10
    large = values >= by
    values, counts = values[large], counts[large]
    tens, round_ones = values % (by // 10) == 0, values % by == 0
    if not 5 <= np.count_nonzero(round_ones) < len(values) or counts.sum() < 20:
        return False
    if by == 100 and np.mean(tens) >= 0.2 and np.count_nonzero(round_ones) >= 0.2 * np.count_nonzero(tens):
        return True
    excess = _more_frequent(counts[round_ones], counts[~round_ones]) - 0.5
    return bool(excess * np.sqrt(12 * np.count_nonzero(round_ones)) >= 3)  # in standard errors


def _more_frequent(some: Ints, others: Ints) -> float:
    """Return the probability that one of some counts is larger than one of the others, half where they are equal."""
    others = np.sort(others)
    below, upto = np.searchsorted(others, some, "left"), np.searchsorted(others, some, "right")
    return float(np.mean(below + upto) / (2 * len(others)))


def is_broken(values: Floats, counts: Ints) -> bool:
    """Return whether frequent values have none beside them, as codes do, while quantities fade out.

    Where few values occur often: whether more records share their value than have a neighbour within 3.
    """
    values = values / _round_step(values)
    gaps = np.diff(values)
    before, after = np.append(np.inf, gaps), np.append(gaps, np.inf)
    inner = (before < np.inf) & (after < np.inf)
    often = counts >= 5
    alone = often & inner & ((before > 1) | (after > 1))
    if counts[often].sum() >= 0.5 * counts.sum() and np.count_nonzero(alone) >= 3:
        return bool(counts[alone].sum() >= 0.15 * counts[often].sum())
    shared = counts[counts > 1].sum() / counts.sum()
    near = counts[np.minimum(before, after) <= 3].sum() / counts.sum()
    return bool(shared > near + 0.1)


def stand_alone(values: Floats, counts: Ints) -> bool:
    """Return whether values stand alone as codes do, and not as rounded amounts, or profits and losses."""
    return bool(values[0] >= 0) and not is_heaped(values, counts) and is_broken(values, counts)


def is_rough(values: Floats, counts: Ints) -> bool:
    """Return whether frequencies jump from each value to the next, as those of codes do."""
    return _jump(values, counts) > 0.4


def fades(values: Floats, counts: Ints) -> bool:
    """Return whether frequencies change little from value to value, and fall far, as those of things counted do."""
    if len(counts) <= 12 or (values[-1] - values[0]) / _round_step(values) > 1.5 * len(counts):
        return False
    last = counts[-max(1, len(counts) // 5) :]
    return 0.0 <= _jump(values, counts) <= 0.3 and bool(last.mean() <= 0.2 * counts.max())


def _jump(values: Floats, counts: Ints) -> float:
    """Return the median change of frequencies from value to the next, as a share; -1 where too few are frequent."""
    larger = np.maximum(counts[1:], counts[:-1])
    often = (larger >= 10) & (np.diff(values) == _round_step(values))
    if np.count_nonzero(often) < 5 or counts[counts >= 10].sum() < 0.6 * counts.sum():
        return -1.0
    return float(np.median(np.abs(np.diff(counts))[often] / larger[often]))


def are_even(counts: Ints) -> bool:
    """Return whether values occur about equally often, and not often, as persons, households and firms do."""
    return bool(counts.mean() <= 20 and counts.std() <= counts.mean())


def _has_tail(values: Floats, counts: Ints) -> bool:
    limit = _TAIL if len(values) >= 40 else 0.05
    upper = values > values[0] + 0.75 * (values[-1] - values[0])
    return bool(counts[upper].sum() <= limit * counts.sum())


def _is_very_skewed(values: Floats, times: float = _SKEW) -> bool:
    middle = float(np.median(values))
    return len(values) >= 10 and bool(values[-1] - middle >= times * (middle - values[0]))
