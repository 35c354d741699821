"""Several releases of one file, judged together."""

from collections.abc import Iterable, Sequence
from typing import Any

from narwhals.typing import IntoDataFrame

from microagg.assess import checked_order, known_names
from microagg.errors import InvalidData, InvalidParameter
from microagg.evaluate.joint import JointDisclosure, measure_joint
from microagg.io import frames
from microagg.progress import Progress


def joint_disclosure(
    original: IntoDataFrame,
    releases: Sequence[IntoDataFrame],
    *,
    columns: Iterable[Any] | None = None,
    truth: Sequence[Any] | None = None,
    progress: Progress | None = None,
) -> JointDisclosure:
    """Measure what several releases of one file give away together, though each keeps its own promise.

    The intruder is the worst one: he knows which rows of the releases are the same record's, as where they are in the
    order of the original. He then knows the groups of everybody, and the mean and the size of each.

    Parameters
    ----------
    original : dataframe
    releases : sequence of dataframes
        Record against record. Rows of a release that are alike in its masked columns are a group.
    columns : list of names, optional
        The masked columns; by default those of each release in which it differs from the original.
    truth : sequence, optional
        For each release, the row of it that belongs to each row of the original, or None where they are in the same
        order.
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
    orders = [None] * len(releases) if truth is None else list(truth)
    if not releases or len(orders) != len(releases):
        raise InvalidParameter(
            f"there are {len(releases)} releases and {len(orders)} of truth. Pass one of truth for each, and at least "
            f"one release.",
            parameter="releases",
        )
    labels = []
    for number, (release, order) in enumerate(zip(releases, orders, strict=True)):
        after = frames.open_frame(release)
        if before.shape[0] == 0 or after.shape[0] != before.shape[0]:
            raise InvalidData(
                f"the original file has {before.shape[0]} records and release {number} has {after.shape[0]}. Compare "
                f"files record by record."
            )
        if order is not None:
            after = frames.in_order(after, checked_order(order, before.shape[0]))
        both = [name for name in before.columns if name in after.columns]
        if columns is None:
            masked = [name for name in both if frames.differ(before, after, name)]
        else:
            masked = [name for name in known_names(columns, list(before.columns), "columns") if name in both]
        if not masked:  # all its records would be one group, though nothing hides them
            raise InvalidData(
                f"release {number} has none of the masked columns, or is the original as it was. Leave it out, or name "
                f"the columns that are masked in it."
            )
        labels.append(frames.category_codes(after, masked))
    return measure_joint(labels, progress)
