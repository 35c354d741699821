"""How a block of a file is masked; and what blocks must agree on, as the categories that tied groups release."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.beyond._figures import Figures
from microagg.beyond._plan import Known, Plan
from microagg.equivalence import first_of_each
from microagg.grouping import checked_groups
from microagg.io.coding import CategoryCoder
from microagg.kinds import Cells, Nominal
from microagg.kinds.nominal import Offers, cells_of, counts_of_numbers, drawn_numbers, draws, numbers_of, offers_of
from microagg.partition.refine import refine
from microagg.rounding import Moved, off_reserved, round_cells
from microagg.table import Table

Labels = NDArray[np.int64]


def group_block(plan: Plan, known: Known, table: Table, check: Callable[[], None]) -> Labels:
    """Group the records of a block; groups are numbered by lowest row."""
    points = known.space.place(table)
    partition = plan.grouping.on(points, plan.names)
    labels = partition(points.records, plan.k, progress=lambda *_: check())
    labels = checked_groups(labels, points.records.entries, plan.k)
    how = plan.recipe.refine
    if how.effort is not None:
        labels = refine(
            points.records, labels, plan.k, effort=how.effort, seed=how.seed, n_jobs=1, progress=lambda *_: check()
        ).labels
    return labels


def represent_block(plan: Plan, known: Known, table: Table, labels: Labels) -> tuple[dict[int, Cells], Figures]:
    """Give what records release of those columns, by number, in which each group stands for itself."""
    sizes = np.bincount(labels)
    found: dict[int, Cells] = {}
    moved: dict[int, Moved] = {}
    for j, (column, power) in enumerate(zip(table, known.powers, strict=True)):
        if j in plan.by_turns:
            continue
        of_groups = column.kind.representatives(column.cells, labels, sizes.size, plan.rule)
        if power is not None:
            of_groups, moved[j] = round_cells(column.with_cells(of_groups), power, sizes)
        elif column.reserved:
            of_groups = off_reserved(column.with_cells(of_groups), of_groups)
        found[j] = of_groups.take(labels)
    return found, Figures(sizes.size, moved)


class Turns(NamedTuple):
    """The groups of a block that have a choice of categories: what must be known to let them choose in turn.

    They are told by their lowest rows in the file, which number all groups. `given` counts the records to which each
    category goes in the other groups.
    """

    rows: Labels
    sizes: Labels
    widths: Labels  # how many candidates each has
    candidates: Labels
    given: Labels


def turns_of(plan: Plan, known: Known, j: int, cells: Cells, labels: Labels, rows: Labels) -> Turns:
    """Tell which groups of a block have a choice in a column, and what they can choose; `rows` are its rows."""
    offers = _offers(plan, known, j, cells, labels)
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


def _offers(plan: Plan, known: Known, j: int, cells: Cells, labels: Labels) -> Offers:
    kind, n_codes = plan.columns[j].kind, known.facts[j].counts.size
    assert isinstance(kind, Nominal)
    kin = kind.kin_of_numbers(n_codes, counts_of_numbers(known.facts[j]).size)
    rule = plan.rule.of_column(plan.names[j])
    return offers_of(numbers_of(cells, n_codes), labels, int(labels.max()) + 1, rule, known.facts[j], kin)


def settle_turns(known: Known, j: int, blocks: Sequence[Turns]) -> Iterator[Labels]:
    """Let the groups of all blocks choose in the order of their numbers; give what each block's have chosen."""
    owed = counts_of_numbers(known.facts[j]) - sum(block.given for block in blocks)
    rows, sizes, widths, candidates = (
        np.concatenate([getattr(block, name) for block in blocks]) for name in ("rows", "sizes", "widths", "candidates")
    )
    order = np.argsort(rows)
    ends = np.cumsum(widths)
    starts = np.concatenate([[0], np.cumsum(widths[order])])
    places = np.repeat((ends - widths)[order] - starts[:-1], widths[order]) + np.arange(candidates.size)
    offers = Offers(sizes[order], np.full(rows.size, -1), starts, candidates[places].astype(np.int64))
    chosen = np.empty(rows.size, dtype=np.int64)
    chosen[order] = offers.settle(owed)
    yield from np.split(chosen, np.cumsum([block.rows.size for block in blocks])[:-1])


def fill_block(plan: Plan, known: Known, j: int, cells: Cells, labels: Labels, choice: NDArray[Any]) -> Cells:
    """Give what records of a block release of a column, by what its groups with a choice chose, or what was drawn."""
    n_codes = known.facts[j].counts.size
    if plan.rule.nominal == "draw":
        rule, numbers = plan.rule.of_column(plan.names[j]), numbers_of(cells, n_codes)
        return cells_of(drawn_numbers(numbers, labels, choice, known.facts[j], rule), n_codes).take(labels)
    of_groups = _offers(plan, known, j, cells, labels).chosen
    of_groups[of_groups < 0] = choice
    return cells_of(of_groups, n_codes).take(labels)


def used_by(plan: Plan, j: int, cells: Cells) -> NDArray[np.bool_]:
    """Tell which values and codes of a column's categories are released in some cells."""
    coder = plan.coders[j]
    assert isinstance(coder, CategoryCoder)
    n, states = len(coder.values), cells.states
    used = np.zeros(n + len(coder.codes), dtype=bool)
    used[cells.known.astype(np.int64)] = True
    if states is not None:
        used[n + states[states > 1].astype(np.int64) - 2] = True
    return used


def draws_of_blocks(plan: Plan, known: Known, j: int, lowest: Sequence[Labels]) -> Iterator[NDArray[np.float64]]:
    """Draw for all groups, which are told block by block by their lowest rows, in a column; give each block's."""
    rows = np.concatenate(lowest)
    drawn = np.empty(rows.size)
    drawn[np.argsort(rows)] = draws(plan.rule.of_column(plan.names[j]), rows.size, known.facts[j])
    yield from np.split(drawn, np.cumsum([own.size for own in lowest])[:-1])
