"""What the stages give: a table, its groups, the masked table and the recipe; and the promise, counted on it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from microagg.algorithms.diversity.demand import Demand
from microagg.columns import frames
from microagg.columns.coders import Coder
from microagg.columns.finders import written_table
from microagg.columns.roles import Role
from microagg.columns.table import Table, order_of_units
from microagg.columns.weights import weights_like
from microagg.errors import PromiseBroken
from microagg.mask.demands import weighing_demand
from microagg.mask.groups import Groups, Labels
from microagg.mask.open import FileToMask
from microagg.mask.represent import Values
from microagg.mask.weights import settled_weights
from microagg.measures.anonymity import classes_sharing, fewest_sharing, fewest_whole_units
from microagg.recipe import Recipe, Select
from microagg.recipe.data import settled_kinds
from microagg.work import Work


class Masked(NamedTuple):
    """A masked file.

    Attributes
    ----------
    table : Table
        The original records that are released, in the order of the release.
    groups : Groups
    written : Table
        What is released of them, read back; its frame is what is released.
    recipe : Recipe
        Every choice settled.
    """

    table: Table
    groups: Groups
    written: Table
    recipe: Recipe


def masked_by(
    opened: FileToMask, table: Table, groups: Groups, values: Values, like: Any, work: tuple[Work, Work]
) -> Masked:
    """Put what is released in the place of the values, in a frame like the caller's, and read it back."""
    laying, reading = work
    weights = {name: weights_like(opened.numbers.get_column(name), own) for name, own in values.weights.values.items()}
    data = _released(table, table.schema.released, values, opened.coders, weights, laying)
    if groups.shared is not None:  # in an order, and by numbers, that follow from what is released
        assert table.units is not None
        rows, of_units = order_of_units(table.units.codes, frames.row_ranks(frames.open_frame(data)))
        name = table.schema.names(Role.UNIT)[0]
        frame = frames.with_numbers(frames.in_order(table.frame, rows), name, of_units + 1)
        units = table.units._replace(codes=of_units, slots=table.units.take(rows).slots)
        table, groups = replace(table.take(rows), frame=frame, units=units), replace(groups, labels=groups.labels[rows])
        values = values._replace(records=values.records.take(rows))
        weights = {
            name: weights_like(opened.numbers.get_column(name), own[rows])
            for name, own in values.weights.values.items()
        }
        data = _released(table, table.schema.released_with_units, values, opened.coders, weights, reading.unseen)
    data = frames.laid_out_like(like, data)
    written = written_table(frames.open_frame(data), list(opened.coders.values()), reading.progress)
    return Masked(table, groups, replace(written, frame=data), _settled(opened, groups))


def _released(
    table: Table,
    names: list[Any],
    values: Values,
    coders: Mapping[Any, Coder],
    weights: Mapping[Any, Any],
    work: Work,
) -> Any:
    """Return the frame with what each group releases in the place of its members' values, and of their weights."""
    replaced, rounded = dict(weights), values.rounded
    for done, column in enumerate(values.records):
        work.tell(done, len(table))
        power = rounded[column.name].power if column.name in rounded else None
        like = table.frame.get_column(column.name)
        replaced[column.name] = coders[column.name].series(column.cells, like, power)
    return frames.with_columns(table.frame, names, replaced)


def _settled(opened: FileToMask, groups: Groups) -> Recipe:
    """Return the recipe with what every "auto" chose."""
    recipe, table, diverse = opened.recipe, opened.table, groups.diverse
    select = opened.select
    if groups.selection is not None and not isinstance(select.by, str):
        # Columns that somebody named, in the file's order.
        select = Select(columns=tuple(name for name in table.names if name in groups.selection.columns))
    return replace(
        recipe,
        roles=recipe.roles.settled(table.schema),
        kinds=settled_kinds(recipe, opened.coders),
        method=groups.method.settled,
        weights=settled_weights(table.weighed.weighing),
        units=replace(recipe.units, constant=groups.constant),
        diversity=recipe.diversity if diverse is None else replace(recipe.diversity, way=diverse.way),
        select=select,
        blocks=groups.blocks.settled,
    )


def enough_weigh(masked: Masked) -> Demand | None:
    """Return the demand that k of those who share values weigh something; None where all do, or it does not matter."""
    if masked.groups.shared is not None or masked.groups.labels.ndim == 2:
        return None
    return weighing_demand(masked.table, masked.recipe.k)


def _with_weights(written: Table, names: tuple[Any, ...]) -> Table:
    """Return what is released with the weights that are released by group: k holds for both together."""
    if not names:
        return written
    weights = Table.of_numbers(names, frames.to_columns(frames.open_frame(written.frame), names))
    return Table((*written, *weights))


def check_promise(masked: Masked, work: Work) -> tuple[int, Labels]:
    """Count on what is released that k, l, t and weights are as promised, or refuse to release it.

    Returns the fewest records, or units, that share a combination of released values, and which records share one,
    where that had to be found; otherwise the groups.
    """
    table, groups, written, recipe = masked
    counted, units = _with_weights(written, recipe.weights_by_group), table.units
    whole, each = groups.shared is not None, groups.labels.ndim == 2
    if whole:
        assert units is not None
        reached = fewest_whole_units(counted, table.strata, units.codes)
    else:
        together = None if each else groups.labels
        reached = fewest_sharing(counted, table.strata, units=units, groups=together, per_column=each, work=work)
    if reached < recipe.k:
        whose = "record" if units is None else "unit"
        raise PromiseBroken(
            f"only {reached} {whose}(s) would share a combination of released values, but k={recipe.k} is asked for."
        )
    enough = enough_weigh(masked)
    if table.demand is None and enough is None:
        return reached, groups.labels
    classes = classes_sharing(counted, table.strata)
    if enough is not None and not enough.kept(classes):
        raise PromiseBroken(f"fewer than k={recipe.k} records that share released values have a weight above 0.")
    if table.demand is not None and not table.demand.kept(classes):
        raise PromiseBroken(
            "records that look the same would disclose more of a confidential column than l or t allows."
        )
    return reached, classes
