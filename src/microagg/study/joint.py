"""Several releases of one file, judged together."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.typing import IntoDataFrame
from numpy.typing import NDArray

from microagg.checks import check_option
from microagg.columns import frames
from microagg.columns.kinds import Cells, Number
from microagg.columns.table import Coded, Table
from microagg.errors import InvalidData, InvalidParameter
from microagg.measures.assess import checked_order, known_names
from microagg.measures.constants import Seen, measure_constants
from microagg.measures.joint import JointDisclosure, measure_joint
from microagg.measures.matching import Matching
from microagg.study.matching import nearest, stands_beside
from microagg.work import Progress, part

MATCHES = ("auto", "position", "nearest")


def joint_disclosure(
    original: IntoDataFrame,
    releases: Sequence[IntoDataFrame],
    *,
    columns: Iterable[Any] | None = None,
    truth: Sequence[Any] | None = None,
    match: str = "auto",
    unit: Any = None,
    progress: Progress | None = None,
) -> JointDisclosure:
    """Measure what several releases of one file disclose together, though each keeps its own promise.

    The intruder is the worst one: they know which rows of the releases are the same record's, as where they are in the
    order of the original. They then know the groups of everybody, and the mean and the size of each. Rows in another
    order hide that from them less than it seems: nearest values and means give it back.

    Parameters
    ----------
    original : dataframe
    releases : sequence of dataframes
        Record against record. Rows of a release that are identical in its masked columns are a group.
    columns : list of names, optional
        The masked columns; by default those of each release in which it differs from the original.
    truth : sequence, optional
        For each release, the row of it that belongs to each row of the original, or None where they are in the same
        order.
    match : {"auto", "position", "nearest"}
        How rows are matched to records if `truth` does not say it. "position": they are in the same order. "nearest":
        each record goes to the nearest group, each group having as many as it has rows, and groups are mended until
        their means are the released ones; the figures are estimates then. "auto": by position, unless the means of
        groups are not the released ones and other rows are far nearer. The result says how many (`nearest`).
    unit : name, optional
        The column of the original that says which rows belong to one unit (a person, household or firm). What all rows
        of a unit have in common is then one unknown (`solved_units`), which a single release may already disclose.
    progress : callable, optional
        Called as progress(done, in all).

    Returns
    -------
    JointDisclosure

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income", "hours"])
    >>> found = ma.joint_disclosure(survey, [ma.protect(survey, k=k).data for k in (3, 4, 5)])
    >>> found.releases, found.fewest
    (3, 1)
    """
    before = frames.open_frame(original)
    check_option("match", match, MATCHES)
    orders = [None] * len(releases) if truth is None else list(truth)
    if not releases or len(orders) != len(releases):
        raise InvalidParameter(
            f"there are {len(releases)} releases and {len(orders)} lists of truth. Pass one list for each release, "
            "and at least one release.",
            parameter="releases",
        )
    named = None if columns is None else known_names(columns, list(before.columns), "columns")
    labels, agree, seen = [], [], []
    numbers = list(before.columns) if named is None else named
    units = None if unit is None else frames.unit_codes(before, *known_names([unit], list(before.columns), "unit"))
    for number, (release, order) in enumerate(zip(releases, orders, strict=True)):
        after = frames.open_frame(release)
        if before.shape[0] == 0 or after.shape[0] != before.shape[0]:
            raise InvalidData(
                f"the original file has {before.shape[0]} records and release {number} has {after.shape[0]}. Compare "
                f"files record by record."
            )
        if order is not None:
            after = frames.in_order(after, checked_order(order, before.shape[0]))
        told = part(progress, number, number + 1, len(releases) + 1)
        own, found = _groups(before, after, number, named, match if order is None else "position", told)
        labels.append(own)
        seen.append(Seen(_numbers_of(after, numbers), own))
        agree += [] if found is None else [found.agree]
    joint = measure_joint(labels, part(progress, len(releases), len(releases) + 1, len(releases) + 1))
    if units is not None:
        found_units = measure_constants(_numbers_of(before, numbers), seen, units)
        joint = replace(joint, n_units=found_units.n_units, solved_units=found_units.solved)
    return replace(joint, nearest=len(agree), consistent=100.0 * float(np.concatenate(agree).mean()) if agree else None)


def _numbers_of(frame: nw.DataFrame[Any], names: list[Any]) -> Table:
    """Return those of the columns that a frame has and that are numbers in it."""
    columns = []
    for name in names:
        if name in frame.columns and (series := frame.get_column(name)).dtype.is_numeric():
            values = frames.floats_of(series)
            missing = np.isnan(values)
            columns.append(Coded(name, Number(), Cells(values, missing.astype(np.uint8) if missing.any() else None)))
    return Table(tuple(columns))


def _groups(
    before: nw.DataFrame[Any],
    after: nw.DataFrame[Any],
    number: int,
    named: list[Any] | None,
    match: str,
    progress: Progress | None,
) -> tuple[NDArray[np.int64], Matching | None]:
    """Return the group of each record in a release, and how its rows were matched, if not by position."""
    both = [name for name in before.columns if name in after.columns]
    if named is None:
        masked = [name for name in both if frames.differ(before, after, name)]
    else:
        masked = [name for name in named if name in both]
    if not masked:  # all its records would be one group, though nothing hides them
        raise InvalidData(
            f"release {number} has none of the masked columns, or is identical to the original. Leave it out, or "
            "name the columns that are masked in it."
        )
    if match == "nearest" or (match == "auto" and not stands_beside(before, after, masked)):
        found = nearest(before, after, None if named is None else masked, match == "nearest", progress)
        if found is not None:
            return found.groups, found
    return frames.category_codes(after, masked), None
