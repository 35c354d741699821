"""How a block of a file is masked; and what blocks must agree on, as the categories that tied groups release."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.districts import GroupCorners
from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.diversity.ways import form_diverse
from microagg.algorithms.equivalence import codes_of, first_of_each
from microagg.algorithms.kernels.groups import number_groups
from microagg.algorithms.median_tree import median_pieces
from microagg.algorithms.scores import MovedTotal
from microagg.algorithms.units import Labels, Units
from microagg.columns.coders import CategoryCoder
from microagg.columns.kinds import Cells, Nominal, Rule
from microagg.columns.kinds.nominal import (
    Offers,
    cells_of,
    counts_of_numbers,
    drawn_numbers,
    draws,
    numbers_of,
    offers_of,
)
from microagg.columns.representatives import released_by
from microagg.columns.rounding import off_reserved, round_cells
from microagg.columns.table import Table, ordered_by_value
from microagg.columns.weights import Members, Weights
from microagg.mask.engines.census import units_of
from microagg.mask.engines.figures import Figures
from microagg.mask.engines.plan import Known, Plan
from microagg.mask.pieces import Placed, checked_groups
from microagg.mask.weights import (
    Calibrated,
    Margins,
    RoundedFacts,
    RoundedWeights,
    calibration_of,
    factors_of,
    found_totals,
    released_numbers,
    round_weights,
    wanted_totals,
    weights_of_groups,
)


class Node(NamedTuple):
    """A node of the tree of cuts: its rows among some cells, in their order in the file, the blocks it is to be."""

    rows: Labels
    blocks: int  # 0: of a second layout, whose groups stay
    piece: int  # of the file


Check = Callable[[], None]
"""Ends the work of a thread whose result nobody waits for any more, as of `in_parallel`."""

Done = Callable[[int], None]
"""Called with the number of records that have been grouped or masked."""


def group_block(
    plan: Plan, known: Known, check: Check, cells: Sequence[Cells], units: Units | None, given: Labels | None = None
) -> tuple[Labels, int]:
    """Group the records of a block, of which all stored cells are given; groups are numbered by lowest row.

    The number of moves that were tried to refine them is returned too. Groups that are given are refined once more.
    """
    table, needed = plan.table(cells), known.weighing(plan, cells, units)
    if not plan.refined:
        return _groups_of(plan, known, table, units, needed, check), 0
    order = ordered_by_value(table, plan.weights(cells), units=units)
    table, units = table.take(order.rows), None if order.units is None else order.units.take(order.rows)
    needed = None if needed is None else needed.take(order.rows)
    groups = _groups_of(plan, known, table, units, needed, check) if given is None else given[order.rows]
    if needed is not None and not needed.kept(codes_of(groups)):  # which is refused when all blocks are done
        needed = None
    records = Placed(known.space.place(table).records, units, needed)
    found = records.by(plan.recipe.refine, plan.k, groups, reheat=given is not None, progress=lambda *_: check())
    labels = order.back(found.labels)
    number_groups(labels)
    return labels, found.moves


def _groups_of(
    plan: Plan, known: Known, table: Table, units: Units | None, needed: Demand | None, check: Check
) -> Labels:
    """Group records in the order in which they come, so that groups keep what is needed, if any can."""
    points = known.space.place(table)
    partition = plan.grouping.on(points, plan.names)
    bound = {} if units is None else {"units": units}
    labels = partition(points.records, plan.k, progress=lambda *_: check(), **bound)
    found = checked_groups(labels, points.records.entries, plan.k)
    if needed is None:
        return found
    number_groups(found)
    return form_diverse(points.records, plan.k, found, needed, "merge", units=units)


class Region(NamedTuple):
    """The records that one worker masks at a time: whole nodes of the tree of cuts."""

    cells: list[Cells]  # of all stored columns
    rows: Labels  # of the file
    keys: NDArray[np.uint64] | None  # of units
    nodes: Iterable[Node]
    leads: Labels | None  # in a second layout the lowest row of each record's group, which is refined once more

    def group(
        self, plan: Plan, known: Known, check: Check = lambda: None, done: Done = lambda _: None
    ) -> tuple[Labels, int, GroupCorners]:
        """Cut nodes into blocks and group them; give the groups, the moves that were tried, and where groups lie."""
        entries = known.space.place(plan.table(self.cells)).records.entries
        labels = np.empty(entries.shape[1], dtype=np.int64)
        pieces: list[Labels] = []
        n_groups, moves = 0, 0
        for rows, piece in self._blocks(plan, known, entries):
            own, units = self._taken(plan, rows)
            groups, tried = group_block(plan, known, check, own, units)
            labels[rows] = groups + n_groups
            pieces.append(np.full(int(groups.max()) + 1, piece))
            n_groups, moves = n_groups + pieces[-1].size, moves + tried
            done(rows.size)
        return labels, moves, GroupCorners.of(entries, labels, np.concatenate(pieces))

    def mask(
        self, plan: Plan, known: Known, check: Check = lambda: None, done: Done = lambda _: None
    ) -> tuple[Labels, Figures]:
        """Mask cells in place, block by block, but for columns whose groups choose in turn.

        Returns the groups, numbered over all blocks, and what is known of them.
        """
        labels = np.empty(self.rows.size, dtype=np.int64)
        figures: list[Figures] = []
        n_groups = 0
        for rows, given, stay in self._ungrouped(plan, known) if self.leads is None else self._grouped(self.leads):
            own, units = self._taken(plan, rows)
            groups, moves = (given, 0) if stay else group_block(plan, known, check, own, units, given)
            assert groups is not None
            masked, counted = represent_block(plan, known, own, groups, units)
            for j, fresh in masked.items():
                put(self.cells[j], rows, fresh)
            labels[rows] = groups + n_groups
            n_groups += counted.n_groups
            figures.append(counted._replace(moves=moves))
            done(rows.size)
        return labels, reduce(Figures.join, figures)

    def _taken(self, plan: Plan, rows: Labels) -> tuple[list[Cells], Units | None]:
        return [one.take(rows) for one in self.cells], None if self.keys is None else units_of(plan, self.keys[rows])

    def _blocks(self, plan: Plan, known: Known, entries: NDArray[np.float64]) -> Iterator[tuple[Labels, int]]:
        """Cut nodes into blocks, by the entries of records; give the rows of each, and the piece that it is in."""
        scales, most, k = known.space.cut_scales, plan.max_block, plan.k
        for rows, blocks, piece in self.nodes:
            for block in median_pieces(entries, scales, most, k, rows=rows, blocks=blocks):
                yield block, piece

    def _ungrouped(self, plan: Plan, known: Known) -> Iterator[tuple[Labels, None, bool]]:
        """Yield the rows of each block, which has no groups yet."""
        entries = known.space.place(plan.table(self.cells)).records.entries
        for rows, _ in self._blocks(plan, known, entries):
            yield rows, None, False

    def _grouped(self, leads: Labels) -> Iterator[tuple[Labels, Labels, bool]]:
        """Yield the rows of each node, its groups, and whether these stay."""
        for rows, blocks, _ in self.nodes:
            groups = codes_of(leads[rows])
            number_groups(groups)
            yield rows, groups, blocks == 0


def put(cells: Cells, rows: Labels, fresh: Cells) -> None:
    """Put other cells in the place of some."""
    cells.values[rows] = fresh.values
    if cells.states is not None:
        cells.states[rows] = fresh.all_states


def represent_block(
    plan: Plan, known: Known, cells: Sequence[Cells], labels: Labels, units: Units | None
) -> tuple[dict[int, Cells], Figures]:
    """Return what records release of those stored columns, by number, in which each group stands for itself."""
    table, weights = plan.table(cells), known.representing(plan, cells, units)
    rule = plan.rule if units is None else replace(plan.rule, units=units.codes)
    sizes = np.bincount(labels, None if weights is None else weights.values)
    found: dict[int, Cells] = {}
    moved: dict[int, MovedTotal] = {}
    cut: dict[int, MovedTotal] = {}
    dominated = np.zeros(sizes.size, dtype=bool)
    if weights is not None and plan.by_turns:  # of categories, missing ones too, all members have one
        dominated = Members.of(weights, labels, sizes.size).cut
    for j, (column, power) in enumerate(zip(table, known.powers, strict=True)):
        if j in plan.by_turns:
            continue
        own = released_by(column, labels, sizes.size, rule, weights, known.facts[j])
        of_groups = own.cells
        dominated = dominated | own.cut
        if own.moved is not None:
            cut[j] = own.moved
        if power is not None:
            of_groups, moved[j] = round_cells(column.with_cells(of_groups), power, sizes)
        elif column.reserved:
            of_groups = off_reserved(column.with_cells(of_groups), of_groups)
        found[j] = of_groups.take(labels)
    if plan.weighing.by_group:
        for j, values in enumerate(plan.weights(cells), len(table) + len(plan.weighing.used)):
            found[j] = Cells(weights_of_groups(values, labels))
    held, needed = Counter(np.bincount(labels).tolist()), known.weighing(plan, cells, units)
    light = 0 if needed is None else int(np.count_nonzero(needed.breach(labels)))
    return found, Figures(sizes.size, moved, int(np.count_nonzero(dominated)), cut, held, light=light)


class Turns(NamedTuple):
    """The groups of a block that have a choice of categories: what must be known to let them choose in turn.

    They are named by their lowest rows in the file, which number all groups. `given` counts the records, or what they
    weigh, to which each category goes in the other groups.
    """

    rows: Labels
    sizes: Labels
    widths: Labels  # how many candidates each has
    candidates: Labels
    given: Labels


def turns_of(
    plan: Plan, known: Known, j: int, cells: Cells, labels: Labels, rows: Labels, weights: Weights | None
) -> Turns:
    """Return which groups of a block have a choice in a column, and what they can choose; `rows` are its rows."""
    offers = _offers(plan, known, j, cells, labels, weights)
    n_numbers = counts_of_numbers(known.facts[j]).size
    open_groups = offers.chosen < 0
    lowest = rows[first_of_each(labels)]
    widths = np.diff(offers.starts)
    # Offers of groups without a choice are none.
    return Turns(
        lowest[open_groups],
        offers.sizes[open_groups],
        widths[open_groups],
        offers.candidates.astype(np.int32),
        offers.given(n_numbers),
    )


def _offers(plan: Plan, known: Known, j: int, cells: Cells, labels: Labels, weights: Weights | None) -> Offers:
    kind, facts = plan.columns[j].kind, known.common(plan, j)
    assert isinstance(kind, Nominal)
    kin = kind.kin_of_numbers(facts.counts.size, counts_of_numbers(facts).size)
    n_groups = int(labels.max()) + 1
    rule = _rule(plan, j, labels, n_groups, weights)
    return offers_of(_numbers(plan, known, j, cells), labels, n_groups, rule, facts, kin)


def _numbers(plan: Plan, known: Known, j: int, cells: Cells) -> Labels:
    """Number the categories of cells; those whose code too few have are plainly missing."""
    facts = known.facts[j]
    return numbers_of(cells.with_common_states(facts.rare_states(plan.rule.fewest)), facts.counts.size)


def _rule(plan: Plan, j: int, labels: Labels, n_groups: int, weights: Weights | None) -> Rule:
    """Return the rule by which groups release a column, with what their members weigh in it."""
    members = None if weights is None else Members.of(weights, labels, n_groups)
    return replace(plan.rule.of_column(plan.names[j]), members=members)


def settle_turns(plan: Plan, known: Known, j: int, blocks: Sequence[Any]) -> Iterator[NDArray[Any]]:
    """Let the groups of all blocks choose in the order of their numbers; give what each block's have chosen.

    Where categories are drawn, `blocks` are the lowest rows of their groups, and the draws are given; else `Turns`.
    """
    draw = plan.rule.nominal == "draw"
    rows = np.concatenate([block if draw else block.rows for block in blocks])
    order = np.argsort(rows)
    if draw:
        chosen = np.empty(rows.size)
        chosen[order] = draws(plan.rule.of_column(plan.names[j]), rows.size, known.common(plan, j))
    else:
        owed = known.owed(plan, j) - sum(block.given for block in blocks)
        sizes, widths, candidates = (
            np.concatenate([getattr(block, name) for block in blocks]) for name in ("sizes", "widths", "candidates")
        )
        ends = np.cumsum(widths)
        starts = np.concatenate([[0], np.cumsum(widths[order])])
        places = np.repeat((ends - widths)[order] - starts[:-1], widths[order]) + np.arange(candidates.size)
        offers = Offers(sizes[order], np.full(rows.size, -1), starts, candidates[places].astype(np.int64))
        chosen = np.empty(rows.size, dtype=np.int64)
        chosen[order] = offers.settle(owed)
    yield from np.split(chosen, np.cumsum([(block if draw else block.rows).size for block in blocks])[:-1])


def fill_block(
    plan: Plan, known: Known, j: int, cells: Cells, labels: Labels, choice: NDArray[Any], weights: Weights | None
) -> Cells:
    """Return what records of a block release of a column, by what its groups with a choice chose, or what was drawn."""
    n_codes = known.facts[j].counts.size
    if plan.rule.nominal == "draw":
        rule, numbers = _rule(plan, j, labels, choice.size, weights), _numbers(plan, known, j, cells)
        drawn = drawn_numbers(numbers, labels, choice, known.common(plan, j), rule)
        return cells_of(drawn, n_codes).take(labels)
    of_groups = _offers(plan, known, j, cells, labels, weights).chosen
    of_groups[of_groups < 0] = choice
    return cells_of(of_groups, n_codes).take(labels)


def used_by(plan: Plan, j: int, cells: Cells) -> NDArray[np.bool_]:
    """Return which values and codes of a column's categories are released in some cells."""
    coder = plan.coders[j]
    assert isinstance(coder, CategoryCoder)
    n, states = len(coder.values), cells.states
    used = np.zeros(n + len(coder.codes), dtype=bool)
    used[cells.known.astype(np.int64)] = True
    if states is not None:
        used[n + states[states > 1].astype(np.int64) - 2] = True
    return used


def totals_found(plan: Plan, known: Known, cells: Sequence[Cells]) -> list[Labels]:
    """Return, for each weight, what stored records weigh that are released with two categories; parts can be added."""
    after, sizes = _calibrated_numbers(plan, known, cells)
    return [found_totals(after, sizes, own.whole) for own in known.weights(plan, cells)]


def margins_of(plan: Plan, known: Known, found: Sequence[Labels]) -> list[Margins]:
    """Return what calibration starts from, for each weight."""
    return [
        Margins(wanted_totals([weighed[j] for j in plan.calibrated]), own)
        for weighed, own in zip(known.weighed, found, strict=True)
    ]


Finished = tuple[list[Calibrated], RoundedWeights]
"""What was done last to the weights of groups in a part: by calibration, for each of them, and by rounding."""


def finish_weights(
    plan: Plan, known: Known, cells: Sequence[Cells], margins: Sequence[Margins]
) -> tuple[list[NDArray[np.float64]], Finished]:
    """Return what stored records release in the place of weights: calibrated where there are margins, and rounded."""
    after, sizes = _calibrated_numbers(plan, known, cells)
    values, done = plan.released_weights(cells), []
    for number, own in enumerate(margins):
        factors = factors_of(own.effects, after, sizes)
        done.append(Calibrated.of(factors, own.missed))
        values[number] = values[number] * factors
    found, rounded = round_weights(values, known.scales, plan.table(cells), after, sizes)
    return found, (done, rounded)


def finished_by(plan: Plan, known: Known, parts: Sequence[Finished]) -> tuple[Calibrated | None, RoundedFacts]:
    """Return what was done last to all weights, or refuse it."""
    calibrated, rounded = zip(*parts, strict=True)
    facts = reduce(RoundedWeights.join, rounded).facts(plan.weighing, known.scales, plan.columns)
    return calibration_of(plan.weighing, calibrated) if plan.weighing.calibrate else None, facts


def _calibrated_numbers(plan: Plan, known: Known, cells: Sequence[Cells]) -> tuple[list[Labels], list[int]]:
    facts = [known.facts[j] for j in plan.calibrated]
    columns = [plan.columns[j].with_cells(cells[j]) for j in plan.calibrated]
    return released_numbers(columns, facts), [counts_of_numbers(one).size for one in facts]
