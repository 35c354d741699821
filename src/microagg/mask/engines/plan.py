"""What is to be done with a file, and what is known of it: the same whoever does it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.scores import Sums
from microagg.algorithms.units import Units
from microagg.base.frozen import frozen
from microagg.columns import frames
from microagg.columns.coders import CategoryCoder, Coder, chunked_series
from microagg.columns.embedding import Space
from microagg.columns.finders import ColumnChoices, Finder, finder_for, written_table
from microagg.columns.kinds import Cells, Facts, Kind, Nominal, Rule
from microagg.columns.kinds.nominal import counts_of_numbers
from microagg.columns.roles import Role, Schema
from microagg.columns.rounding import Steps, is_rounded, power_asked, spread_of
from microagg.columns.table import Coded, Table
from microagg.columns.weights import Weighing, Weights, WeightScale, in_units
from microagg.files.promise import Promise
from microagg.mask.demands import enough_weighing
from microagg.mask.method import Grouping, check_kinds
from microagg.mask.pieces import room_for_units
from microagg.mask.weights import check_calibrated
from microagg.recipe import Recipe


@frozen()
class Plan:
    """What is to be done, checked: the recipe, settled but for the way to search, and what follows from it.

    `coders` are those of the columns to mask, once the file has been looked at, and `largest_unit` the most rows that a
    unit has in a piece. `joined_spellings` counts the spellings that were taken for the same unit as another.
    """

    recipe: Recipe
    schema: Schema
    grouping: Grouping
    wishes: Mapping[str, ColumnChoices]
    weighing: Weighing = field(default_factory=Weighing)
    coders: tuple[Coder, ...] = ()
    largest_unit: int = 1
    joined_spellings: int = 0

    @property
    def k(self) -> int:
        """The least number of records that share their released values."""
        return self.recipe.k

    @property
    def max_block(self) -> int:
        """The most records of a block."""
        return room_for_units(self.recipe.blocks.max_block or 0, self.k, self.largest_unit)

    @property
    def by_rank(self) -> bool:
        """Whether blocks are cut by rank in the widest column, level by level; other ways cut each piece whole."""
        return self.recipe.blocks.by == "median" and not self.recipe.blocks.columns

    @property
    def names(self) -> list[str]:
        """The columns to mask."""
        return self.schema.names(Role.QUASI)

    @property
    def strata(self) -> list[str]:
        """The columns whose combinations are never mixed."""
        return self.schema.names(Role.STRATUM)

    @property
    def refined(self) -> bool:
        """Whether groups are refined, and records then taken by their values."""
        return self.recipe.refine.effort is not None

    @property
    def unit(self) -> str | None:
        """The column of the unit that a row belongs to."""
        return next(iter(self.schema.names(Role.UNIT)), None)

    @property
    def in_part(self) -> bool:
        """Whether no unit may hold more than 1/k of a group's rows."""
        return bool(self.recipe.units.share == "limited")

    @property
    def read(self) -> list[str]:
        """The columns that are read to form the groups."""
        return [*self.names, *self.strata, *self.weighing.used, *([] if self.unit is None else [self.unit])]

    @property
    def promise(self) -> Promise:
        """What must hold of what is written."""
        return Promise(self.k, (*self.names, *self.recipe.weights_by_group), tuple(self.strata))

    @property
    def rule(self) -> Rule:
        """How groups are represented."""
        masking = self.recipe.masking
        return Rule(self.k, masking.aggregate, masking.nominal, masking.spike_totals, masking.nominal_seed)

    @property
    def by_pattern(self) -> bool:
        """Whether records with values missing in the same columns are grouped among themselves."""
        return bool(self.recipe.masking.missing == "pattern")

    def finders(self, source: pa.Schema) -> dict[str, Finder]:
        """Return what finds out how the columns to mask are coded."""
        empty = nw.from_native(source.empty_table(), eager_only=True)
        return {name: finder_for(empty.get_column(name), name, wish) for name, wish in self.wishes.items()}

    def look(self, finders: Mapping[str, Finder], table: pa.Table) -> None:
        """Look at some records for how their columns are coded."""
        frame = nw.from_native(table, eager_only=True)
        for name in frame.columns:
            finders[name].see(frame.get_column(name))

    def with_coders(self, finders: Mapping[str, Finder]) -> "Plan":
        """Return the plan with the coders that were found, or say what the columns' kinds do not allow."""
        plan = replace(self, coders=tuple(finder.coder() for finder in finders.values()))
        check_kinds(Table(plan.columns), plan.grouping, plan.recipe)
        check_calibrated(plan.weighing, plan.columns)
        return plan

    @cached_property
    def columns(self) -> tuple[Coded, ...]:
        """The columns to mask, without a cell."""
        nothing = Cells(np.empty(0))
        return tuple(Coded(one.name, one.kind, nothing, one.shown, one.importance, one.reserved) for one in self.coders)

    @property
    def n_stored(self) -> int:
        """How many columns scratch has: those to mask, the weights, and what is released in the place of these."""
        n_weights = len(self.weighing.used)
        return len(self.names) + n_weights * (2 if self.weighing.by_group else 1)

    def table(self, cells: Sequence[Cells]) -> Table:
        """Return a table of stored cells of the columns to mask."""
        own = cells[: len(self.names)]
        return Table(tuple(column.with_cells(one) for column, one in zip(self.columns, own, strict=True)))

    def weights(self, cells: Sequence[Cells]) -> list[NDArray[np.float64]]:
        """Return the weights among stored cells, as they are in the file."""
        first = len(self.names)
        return [one.values for one in cells[first : first + len(self.weighing.used)]]

    def released_weights(self, cells: Sequence[Cells]) -> list[NDArray[np.float64]]:
        """Return what is released in the place of the weights, among stored cells; nothing where they stay."""
        return [one.values for one in cells[len(self.names) + len(self.weighing.used) :]]

    @property
    def calibrated(self) -> list[int]:
        """The columns, by number, whose totals calibration keeps."""
        return [self.names.index(name) for name in self.weighing.calibrate]

    def coded(self, table: pa.Table) -> Table:
        """Code the columns to mask of a table."""
        return written_table(nw.from_native(table, eager_only=True), self.coders)

    def with_dictionaries(self, source: pa.Schema) -> list[int]:
        """Return the columns to mask, by number, whose categories the file keeps in dictionaries."""
        kept = {name for name in self.names if pa.types.is_dictionary(source.field(name).type)}
        return [j for j, one in enumerate(self.coders) if isinstance(one, CategoryCoder) and one.name in kept]

    @property
    def by_turns(self) -> list[int]:
        """The columns, by number, whose groups must choose in turn over the whole file."""
        return [j for j, column in enumerate(self.columns) if isinstance(column.kind, Nominal)]


class Tally(NamedTuple):
    """What is known of a column from a part of the file; what several know can be joined."""

    facts: Facts
    steps: Steps

    def join(self, other: "Tally") -> "Tally":
        """Return what is known from both parts."""
        return Tally(self.facts.join(other.facts), self.steps.join(other.steps))


def constants(kind: Kind, facts: Facts) -> Sums[tuple[Facts, float]]:
    """Complete the facts of a column, and give what one value for all would lose."""
    whole = yield from kind.constants(facts)
    return whole, (yield from kind.base(whole))


@frozen()
class Known:
    """What is known of a whole file.

    Attributes
    ----------
    facts : tuple of Facts
        Of each column to mask.
    bases : tuple of float
        What one value for all would lose.
    powers : tuple
        The power of ten that released values are multiples of; None where they are not rounded.
    space : Space
        Where records lie.
    used : dict
        Of categories and levels, by the column's number, which are released: values first, then codes.
    scales : tuple of WeightScale
        How each weight that is used is counted and released.
    weighed : tuple of tuples of arrays
        Of each of those weights, what the cells of each level or category weigh, column by column.
    weighted_bases : tuple
        By the first weight: what one value for all would lose, and what the cells weigh that are compared.
    """

    facts: tuple[Facts, ...]
    bases: tuple[float, ...]
    powers: tuple[int | None, ...]
    space: Space
    used: Mapping[int, NDArray[np.bool_]] = field(default_factory=dict)
    scales: tuple[WeightScale, ...] = ()
    weighed: tuple[tuple[NDArray[np.int64], ...], ...] = ()
    weighted_bases: tuple[tuple[float, float], ...] = ()

    def weights(self, plan: Plan, cells: Sequence[Cells]) -> list[Weights]:
        """Return the weights among stored cells."""
        return [Weights(own, scale.power) for own, scale in zip(plan.weights(cells), self.scales, strict=True)]

    def representing(self, plan: Plan, cells: Sequence[Cells], units: Units | None) -> Weights | None:
        """Return the weights by which groups are represented; None if all records count the same."""
        if not plan.weighing.weighted:
            return None
        return self.weights(plan, cells)[0]._replace(units=None if units is None else units.codes)

    def weighing(self, plan: Plan, cells: Sequence[Cells], units: Units | None) -> Demand | None:
        """Return that k records, or units, of a group weigh something; None where all do, or it does not matter."""
        if not plan.weighing.weighted or not self.scales[0].zeros:
            return None
        return enough_weighing(plan.weights(cells)[0], None if units is None else units.codes, plan.k)

    def with_weights(
        self, scales: Sequence[WeightScale], weighed: Sequence[Sequence[Any]], bases: Sequence[tuple[float, float]]
    ) -> "Known":
        """Return the same with what is known of weights."""
        whole = tuple(map(tuple, weighed))
        return replace(self, scales=tuple(scales), weighed=whole, weighted_bases=tuple(bases))

    def common(self, plan: Plan, j: int) -> Facts:
        """Return the facts of a column as groups are represented: cells whose code too few have are plainly missing."""
        return self.facts[j].with_common_states(plan.rule.fewest)

    def owed(self, plan: Plan, j: int) -> NDArray[np.int64]:
        """Return how many records have each category of a column, or what they weigh."""
        if not plan.weighing.weighted:
            return counts_of_numbers(self.common(plan, j))
        rare = self.facts[j].rare_states(plan.rule.fewest)[1:]
        known, missing = np.split(self.weighed[0][j], [self.facts[j].counts.size])
        if rare.any():
            missing = np.concatenate([[missing[0] + missing[rare].sum()], np.where(rare, 0, missing)[1:]])
        return np.concatenate([known, missing])

    @classmethod
    def of(cls, plan: Plan, tallies: Sequence[Tally], found: Sequence[tuple[Facts, float]]) -> "Known":
        """Bring together what was counted and what `constants` found."""
        masking = plan.recipe.masking
        powers: list[int | None] = []
        facts = [one for one, _ in found]
        for column, own, one in zip(plan.columns, tallies, facts, strict=True):
            power = power_asked(column.name, masking.rounding)
            if power is None and is_rounded(column, masking.rounding):
                power = own.steps.power(_spread(one))
            powers.append(power if is_rounded(column, masking.rounding) else None)
        space = Space.of(plan.columns, facts, masking.scale, masking.spike)
        return cls(tuple(facts), tuple(base for _, base in found), tuple(powers), space)


def _spread(facts: Facts) -> Callable[[], float]:
    return lambda: spread_of(*facts.moments)


def added(one: Any, other: Any) -> Any:
    """Add arrays, or lists of such, one by one."""
    return [added(*pair) for pair in zip(one, other, strict=True)] if isinstance(one, list) else one + other


def weighed_by(
    plan: Plan, facts: Sequence[Facts], scales: Sequence[WeightScale], cells: Sequence[Cells]
) -> list[list[NDArray[np.int64]]]:
    """Return, for each weight, what the stored cells of each level or category weigh; parts of a file can be added."""
    columns = list(zip(plan.table(cells), facts, strict=True))
    return [
        [column.kind.weighed(column.cells, in_units(values, scale.power), one) for column, one in columns]
        for values, scale in zip(plan.weights(cells), scales, strict=True)
    ]


def released(plan: Plan, known: Known, table: pa.Table, cells: Sequence[Cells]) -> pa.Table:
    """Return what is released of a table, what is stored of the masked columns, and of weights, in their places."""
    frame = nw.from_native(table, eager_only=True)
    masked, weights = plan.table(cells), zip(plan.weighing.used, plan.released_weights(cells), strict=False)
    replaced = {name: chunked_series(pa.array(values), name) for name, values in weights}
    for column, coder, power in zip(masked, plan.coders, known.powers, strict=True):
        replaced[column.name] = coder.series(column.cells, frame.get_column(column.name), power)
    fresh = frames.with_columns(frame, plan.schema.released, replaced)
    for j, used in known.used.items():
        coder, place = plan.coders[j], fresh.column_names.index(plan.names[j])
        kind = fresh.schema.field(place).type
        if isinstance(coder, CategoryCoder) and pa.types.is_dictionary(kind):
            # One dictionary for all parts: its order may mean something.
            fresh = fresh.set_column(place, plan.names[j], coder.array(masked.columns[j].cells, kind, used))
    return fresh


def released_schema(plan: Plan, known: Known, source: pa.Schema) -> pa.Schema:
    """Return the columns of what is released and their types."""
    empty = source.empty_table().select(list(plan.schema.released))
    return released(plan, known, empty, [Cells(np.empty(0))] * plan.n_stored).schema
