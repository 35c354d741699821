"""What is to be done with a file, and how a block of it is masked: the same whoever does it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg._kernels.sums import exact_digits
from microagg.aggregate import released_values
from microagg.errors import InvalidData, InvalidParameter
from microagg.grouping import Grouping, checked_groups
from microagg.io import frames
from microagg.io._native import numbers_like
from microagg.io.promise import Promise
from microagg.partition.refine import refine
from microagg.recipe import Recipe
from microagg.schema import Role, Schema

NO_SUM = np.zeros(exact_digits(np.zeros(1)).size, dtype=np.int64)
"""The digits of a sum of nothing."""


@dataclass(frozen=True)
class Plan:
    """What is to be done, checked: the recipe, settled but for the way to search, and what follows from it."""

    recipe: Recipe
    schema: Schema
    grouping: Grouping
    rounded: list[int]  # the columns, by number, that are rounded to whole numbers

    @property
    def k(self) -> int:
        """The least number of records that share their released values."""
        return self.recipe.k

    @property
    def max_block(self) -> int:
        """The most records of a block."""
        return self.recipe.blocks.max_block or 0

    @property
    def names(self) -> list[str]:
        """The columns to mask."""
        return self.schema.names(Role.QUASI)

    @property
    def strata(self) -> list[str]:
        """The columns whose combinations are never mixed."""
        return self.schema.names(Role.STRATUM)

    @property
    def promise(self) -> Promise:
        """What must hold of what is written."""
        return Promise(self.k, tuple(self.names), tuple(self.strata))

    def searching(self, largest: int) -> "Plan":
        """Give the plan with the way to search settled by the size of the largest block."""
        return replace(self, grouping=self.grouping.searching(largest, len(self.names)))

    def numbers(self, table: pa.Table) -> list[NDArray[np.float64]]:
        """Give the columns to mask of a table, or say why they cannot be masked."""
        opened = frames.open_frame(table)
        frames.check_numeric(opened, self.names)
        frames.check_complete(opened, [*self.names, *self.strata])
        return list(frames.to_columns(opened, self.names))

    def released(self, table: pa.Table, masked: NDArray[np.float64]) -> pa.Table:
        """Give what is released of a table, the masked columns (d, rows) in their places."""
        frame = nw.from_native(table, eager_only=True)
        replaced = {}
        for j, name in enumerate(self.names):
            values = masked[j].astype(np.int64) if j in self.rounded else masked[j]
            replaced[name] = numbers_like(frame.get_column(name), values)
        return frames.with_columns(frame, self.schema.released, replaced)

    def released_schema(self, source: pa.Schema) -> pa.Schema:
        """Give the columns of what is released and their types."""
        empty = pa.table({name: pa.array([], source.field(name).type) for name in self.schema.released})
        return self.released(empty, np.empty((len(self.names), 0))).schema


class Moments(NamedTuple):
    """Each column's mean and standard deviation, 0 for a constant one."""

    offsets: NDArray[np.float64]
    units: NDArray[np.float64]

    def scores(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Standardise values (d, n)."""
        units = self.units[:, None]
        return np.divide(values - self.offsets[:, None], units, out=np.zeros(values.shape), where=units != 0)


def check_magnitudes(names: list[str], lowest: NDArray[np.float64], highest: NDArray[np.float64]) -> None:
    """Refuse columns whose squares would leave the range of numbers."""
    for name, largest in zip(names, np.maximum(np.abs(lowest), np.abs(highest)), strict=True):
        if not 2.0**-400 < largest < 2.0**400 and largest > 0:
            raise InvalidData(f"column {name!r} has values too large or small to square. Scale it first.")


class Figures(NamedTuple):
    """What is known of masked blocks; those of several can be joined in any order."""

    n_groups: int
    errors: NDArray[np.int64]  # (d, digits): exact sums of squared differences of the scores

    def join(self, other: "Figures") -> "Figures":
        """Give the figures of both."""
        return Figures(self.n_groups + other.n_groups, self.errors + other.errors)


class Outcome(NamedTuple):
    """What is known when a file has been masked."""

    n_records: int
    n_blocks: int
    options: dict[str, Any]  # the method's, with "auto" settled
    k_achieved: int  # counted on what was written
    figures: Figures
    totals: list[float]  # each standardised column's sum of squares about its mean


def mask_block(
    plan: Plan, moments: Moments, original: NDArray[np.float64], check: Callable[[], None]
) -> tuple[NDArray[np.float64], Figures]:
    """Replace a block's values (d, n) by its groups'."""
    scores = moments.scores(original)
    labels = checked_groups(plan.grouping.partition(scores.T, plan.k, progress=lambda *_: check()), scores, plan.k)
    how = plan.recipe.refine
    if how.effort is not None:
        labels = refine(
            scores.T, labels, plan.k, effort=how.effort, seed=how.seed, n_jobs=1, progress=lambda *_: check()
        ).labels
    released = released_values(original, labels, plan.recipe.masking.aggregate)
    released[plan.rounded] = np.rint(released[plan.rounded])
    errors = np.array([exact_digits(column) for column in (scores - moments.scores(released)) ** 2])
    return released, Figures(int(labels.max()) + 1, errors)


def check_replaceable(path: Path) -> None:
    """Refuse to replace a folder that is not a former target."""
    if path.is_dir() and (path.is_symlink() or any(p.suffix != ".parquet" or not p.is_file() for p in path.iterdir())):
        raise InvalidParameter(f"the target {path.name!r} holds more than .parquet files. Name another folder.")
