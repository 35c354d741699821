"""Categories without an order: one-hot coordinates, modes, mismatches."""

from hashlib import sha256
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.kernels.categories import settle_in_turn
from microagg.algorithms.scores import Sums
from microagg.base.frozen import frozen
from microagg.columns.kinds._kind import Block, Cells, Corners, Facts, Kind, Rule, States
from microagg.columns.kinds.number import NumberBlock
from microagg.columns.weights import Labels, Values
from microagg.errors import InvalidData

_RANGE_HEIGHT = float(np.sqrt(0.5))  # by "range" a mismatch has a squared distance of 1


def numbers_of(cells: Cells, n_codes: int) -> Labels:
    """Number what cells hold: a category by its code, below n_codes, and a missing state s as n_codes + s - 1."""
    if cells.states is None:
        return cells.values.astype(np.int64)
    codes = np.where(cells.present, cells.values, 0.0).astype(np.int64)
    return np.where(cells.present, codes, n_codes - 1 + cells.states.astype(np.int64))


def cells_of(numbers: Labels, n_codes: int) -> Cells:
    """Return the cells that `numbers_of` numbers so."""
    missing = numbers >= n_codes
    if not missing.any():
        return Cells(numbers.astype(np.float64))
    states: States = np.where(missing, numbers - n_codes + 1, 0).astype(np.uint8)
    return Cells(np.where(missing, np.nan, numbers), states)


def counts_of_numbers(facts: Facts) -> Labels:
    """Count the cells of each number: those of categories, then those missing in each way."""
    return np.concatenate([facts.counts, facts.states[1:]])


def rare_numbers(facts: Facts, rule: Rule) -> NDArray[np.bool_]:
    """Return which numbers are of categories that too few of the file have to be released; missing is none."""
    return np.concatenate([facts.n_holders < rule.fewest, np.zeros(facts.states.size - 1, dtype=bool)])


def known_numbers(cells: Cells, n_codes: int, n_numbers: int) -> tuple[Labels, NDArray[np.bool_]]:
    """Number cells of another table than that which the numbers are of, and return which ones it lacks (0 here)."""
    numbers = numbers_of(cells, n_codes)
    lacking = (numbers >= n_numbers) | (cells.present & (numbers >= n_codes))
    return np.where(lacking, 0, numbers), lacking


class NominalBlock(Block):
    """One coordinate a category, so high that the block's variance is 1; of two categories one is enough."""

    def __init__(self, facts: Facts, scale: str, importance: float) -> None:
        counts = counts_of_numbers(facts)
        occurring = counts > 0  # a missing state is one more category
        self._places = np.where(occurring, np.cumsum(occurring) - 1, -1)
        self._n_codes = facts.counts.size
        self._two: NumberBlock | None = None
        counts = counts[occurring]
        if counts.size <= 2:
            self._two = NumberBlock(Facts.of_counts(counts), scale, importance)
            self.width = 1
            return
        shares = counts / counts.sum()
        spread = 1.0 - float((shares**2).sum())
        height = np.sqrt(importance) * (1.0 / np.sqrt(spread) if scale == "standard" else _RANGE_HEIGHT)
        self.width = 1
        self.corners = (Corners(counts.size, float(height)),)

    def place(self, cells: Cells, placed: Values) -> None:
        """Write the number or code of some cells into `placed` (1, n); a category that the file lacks is -1."""
        numbers, lacking = known_numbers(cells, self._n_codes, self._places.size)
        places = np.where(lacking, -1, self._places[numbers])
        if self._two is not None:
            self._two.place(Cells(places.astype(np.float64)), placed)
            return
        placed[0] = places


class Offers(NamedTuple):
    """What groups can release, by the numbers of categories.

    `sizes` are the groups' records, or their weights in whole units. `chosen` is -1 for a group that has a choice; the
    candidates of group g, rising, are those from starts[g] to starts[g + 1].
    """

    sizes: Labels
    chosen: Labels
    starts: Labels
    candidates: Labels

    def given(self, n_numbers: int) -> Labels:
        """Count the records, or what they weigh, to which each number goes in the groups that have no choice."""
        clear = self.chosen >= 0
        return np.bincount(self.chosen[clear], weights=self.sizes[clear], minlength=n_numbers).astype(np.int64)

    def settle(self, owed: Labels) -> Labels:
        """Let the groups choose in turn what is owed most, beyond what goes to those without a choice."""
        chosen = self.chosen.copy()
        settle_in_turn(self.starts, self.candidates, self.sizes, owed - self.given(owed.size), chosen)
        return chosen


@frozen()
class Nominal(Kind):
    """Categories without an order; a cell is the number of its category, from 0."""

    name: ClassVar[str] = "nominal"
    said: ClassVar[str] = "the commonest category"
    is_ordered: ClassVar[bool] = False
    needs_value: ClassVar[bool] = False

    def counted(self, known: Values) -> Labels:
        """Count the cells of each category."""
        return np.bincount(known.astype(np.int64))

    def count(self, cells: Cells, units: NDArray[Any] | None = None) -> Facts:
        """Return what is known of some cells, and who has each category, by units where these are known."""
        return super().count(cells, units).held(cells.known, cells, units)

    def constants(self, facts: Facts) -> Sums[Facts]:
        """Leave the facts unchanged: categories have no moments."""
        yield from ()
        return facts

    def block(self, facts: Facts, scale: str, importance: float, spike: float) -> Block:  # noqa: ARG002
        """Place a column in space."""
        return NominalBlock(facts, scale, importance)

    def kin_of_numbers(self, n_codes: int, n_numbers: int) -> Labels | None:  # noqa: ARG002
        """Return the ancestors of each number, (levels, numbers), where there is a taxonomy."""
        return None

    def representatives(self, cells: Cells, labels: Labels, n_groups: int, rule: Rule) -> Cells:
        """Return each group's commonest category that is not rare, or missing; of tied ones the one owed most."""
        facts = self.count(cells, rule.units) if rule.facts is None else rule.facts
        n_codes = facts.counts.size
        numbers = numbers_of(cells, n_codes)
        if rule.nominal == "draw":
            drawn = draws(rule, n_groups, facts)
            return cells_of(drawn_numbers(numbers, labels, drawn, facts, rule), n_codes)
        owed = counts_of_numbers(facts)
        if rule.members is not None:
            owed = self.weighed(cells, rule.members.weights.whole, facts)
        kin = self.kin_of_numbers(n_codes, owed.size)
        offers = offers_of(numbers, labels, n_groups, rule, facts, kin)
        return cells_of(offers.settle(owed), n_codes)

    def errors(self, before: Cells, after: Cells, facts: Facts) -> Values:  # noqa: ARG002
        """Return 1 for each mismatch; missing is a category of its own."""
        return np.asarray(before.classes != after.classes, dtype=np.float64)

    def changed(self, before: Cells, after: Cells) -> int:  # noqa: ARG002
        """Return 0: such cells are mismatches already."""
        return 0

    def base(self, facts: Facts) -> Sums[float]:
        """Return the number of mismatches with the commonest category."""
        yield from ()  # the counts say it
        return float(facts.n_records - counts_of_numbers(facts).max())

    def weighed(self, cells: Cells, units: Labels, facts: Facts) -> Labels:
        """Return what the cells of each category weigh, then those missing in each way."""
        numbers, n_numbers = numbers_of(cells, facts.counts.size), counts_of_numbers(facts).size
        return np.bincount(numbers, weights=units, minlength=n_numbers).astype(np.int64)

    def weighted_base(self, facts: Facts, weighed: Labels, power: int) -> Sums[tuple[float, float]]:  # noqa: ARG002
        """Return the weight of mismatches with the category that weighs most, and that of all."""
        yield from ()  # what the categories weigh says it
        total = int(weighed.sum())
        return float(np.ldexp(total - int(weighed.max()), -power)), float(np.ldexp(total, -power))


def draws(rule: Rule, n_groups: int, facts: Facts) -> Values:
    """Draw a number between 0 and 1 for each group, in order of their numbers; `rule` is that of the column.

    What the file holds goes into it too, which is not released, so that trying seeds is not enough to repeat the draw.
    """
    counts = sha256(counts_of_numbers(facts).astype("<i8").tobytes()).digest()
    return np.random.default_rng([rule.seed or 0, int.from_bytes(counts)]).random(n_groups)


def drawn_numbers(numbers: Labels, labels: Labels, drawn: Values, facts: Facts, rule: Rule) -> Labels:
    """Return one number of each group, each with a chance that is its share of the members, or of their weight.

    Members are taken in the order of their numbers, not of their rows: what is drawn discloses no row.
    """
    may = ~rare_numbers(facts, rule)[numbers]
    numbers, labels = numbers[may], labels[may]
    weights = np.ones(labels.size, dtype=np.int64) if rule.members is None else rule.members.whole[may]
    _check_some(np.bincount(labels, minlength=drawn.size), facts, rule)
    order = np.lexsort((numbers, labels))
    totals = np.bincount(labels, weights=weights, minlength=drawn.size).astype(np.int64)
    weights = np.where(totals[labels] > 0, weights, 1)  # what may be released may weigh nothing
    totals = np.bincount(labels, weights=weights, minlength=drawn.size).astype(np.int64)
    places = np.cumsum(totals) - totals + np.minimum((drawn * totals).astype(np.int64), totals - 1)
    return np.asarray(numbers[order[np.searchsorted(np.cumsum(weights[order]), places, "right")]])


def _check_some(candidates: Labels, facts: Facts, rule: Rule) -> None:
    """Refuse a column in which a group, by the number of its candidates, has no category that it may release."""
    if (candidates == 0).any():
        whose = "records" if facts.holders is None else "units"
        raise InvalidData(
            f"column {rule.column!r} holds categories that fewer than {rule.fewest} {whose} have, as names do, and "
            f"some groups have no other to release. Drop it, or join its rare categories with others by recoding.",
            columns=(rule.column,),
        )


def offers_of(
    numbers: Labels,
    labels: Labels,
    n_groups: int,
    rule: Rule,
    facts: Facts,
    kin: Labels | None = None,
) -> Offers:
    """Find out what each group can release.

    "mode": groups without a tie have no choice; then the tied ones, in order of their number, take that of their tied
    categories of which most is still owed: as many records as have it in the file, less those that got it so far.
    "balanced": every group takes in turn that of its categories of which most is owed.

    With `kin` (levels, numbers), the ancestors of each category, what counts for the mode is how many members
    share them, over all levels: the category nearest to all members by the tree. By a rule that knows what members
    weigh, a record counts as much as it weighs.

    A category that too few records, or units, of the file have is no candidate: it would show who they are.
    """
    n_numbers = int(numbers.max()) + 1
    if rule.members is None:
        sizes = np.bincount(labels, minlength=n_groups)
        pairs, counts = np.unique(labels * n_numbers + numbers, return_counts=True)
    else:
        sizes = np.bincount(labels, weights=rule.members.weights.whole, minlength=n_groups).astype(np.int64)
        pairs, own = np.unique(labels * n_numbers + numbers, return_inverse=True)
        counts = np.bincount(own.ravel(), weights=rule.members.whole).astype(np.int64)
    owners, found = pairs // n_numbers, pairs % n_numbers
    scores = counts if kin is None else counts + _shared_by_kin(owners, found, counts, kin)
    may = ~rare_numbers(facts, rule)[found]
    owners, found, scores = owners[may], found[may], scores[may]
    starts = np.searchsorted(owners, np.arange(n_groups + 1))
    _check_some(np.diff(starts), facts, rule)
    chosen = np.full(n_groups, -1, dtype=np.int64)
    if rule.nominal == "balanced":
        return Offers(sizes, chosen, starts, found)
    tied = scores == np.maximum.reduceat(scores, starts[:-1])[owners]
    clear = np.add.reduceat(tied.astype(np.int64), starts[:-1]) == 1
    winners = tied & clear[owners]
    chosen[owners[winners]] = found[winners]
    rivals = tied & ~clear[owners]
    return Offers(sizes, chosen, np.searchsorted(owners[rivals], np.arange(n_groups + 1)), found[rivals])


def _shared_by_kin(owners: Labels, found: Labels, counts: Labels, kin: Labels) -> Labels:
    """Return, for each category of a group, how many members share its ancestors, added over the levels."""
    shared = np.zeros_like(counts)
    for ancestors in kin:
        _, family = np.unique(owners * (int(ancestors.max()) + 1) + ancestors[found], return_inverse=True)
        shared += np.bincount(family, weights=counts).astype(np.int64)[family]
    return shared
