"""Judge any pair of files, whoever masked them: what was lost, and what an intruder could do."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from narwhals.typing import IntoDataFrame
from numpy.typing import ArrayLike, NDArray

from microagg.algorithms.units import Units
from microagg.checks import (
    check_between,
    check_jobs,
    check_labels,
    check_matrix,
    check_names,
    check_whole,
    shown_name,
)
from microagg.columns import frames
from microagg.columns.finders import ColumnChoices, open_both, open_table
from microagg.columns.table import Table
from microagg.columns.weights import Weights, WeightSeen
from microagg.errors import InvalidData, InvalidParameter, RoleError
from microagg.measures.anonymity import Anonymity, measure_anonymity
from microagg.measures.dominance import Dominance, measure_dominance
from microagg.measures.loss import weighted_loss_of_release
from microagg.measures.pmse import MOST_RECORDS, PMSE, measure_pmse
from microagg.measures.risk import DisclosureRisk, measure_risk
from microagg.measures.utility import LossMeasures, measure_loss
from microagg.recipe import Kinds, Missing
from microagg.recipe.relations import Relation, RelationCounts, count_violations
from microagg.work import Progress, Work, stage, tell

File = IntoDataFrame | ArrayLike
"""A dataframe of any library, or a matrix of records by columns."""

SAMPLE_ERROR = 0.25
"""Percentage points: linkage is estimated on so many records that its standard error is below this, as a rule."""

_FEWEST, _MOST = 2_000, 20_000  # records on which linkage is estimated, where nobody said how many


def loss_measures(
    original: File,
    masked: File,
    *,
    columns: Iterable[Any] | None = None,
    truth: Any = None,
    kinds: Mapping[Any, Any] | None = None,
    missing_codes: Mapping[Any, Any] | None = None,
    weights: ArrayLike | None = None,
    whole: IntoDataFrame | None = None,
) -> LossMeasures:
    """Measure what masking did to a file: the loss of information, M1 to M5, and differences of statistics.

    Parameters
    ----------
    original, masked : dataframes, or arrays of shape (n, d)
        Record against record; columns are matched by name.
    columns : list of names, optional
        The columns to compare; by default all, and both files must have the same.
    truth : array of shape (n,), optional
        The row of `masked` that belongs to each row of `original`, where they are not in the same order.
    kinds : mapping, optional
        Of which kind columns are, where their type does not say it, as `protect` takes them.
    missing_codes : mapping, optional
        Values that stand for a kind of missing value, as `protect` takes them.
    weights : array of shape (n,), optional
        What each record weighs; the loss is then measured with weights too.
    whole : dataframe, optional
        The original with the records that masking left out, where `original` has only the others. Means, deviations,
        quantiles, correlations and M2 to M5 are then compared with those of all its records.

    Returns
    -------
    LossMeasures

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income", "tax"])
    >>> round(ma.loss_measures(survey, ma.protect(survey, k=3).data).percent, 2)
    1.32
    """
    before, after = _matched(original, masked, columns, truth, kinds, missing_codes)
    own = _weights(weights, before.n_records)
    by_weight = None if own is None else weighted_loss_of_release(before, after, Weights.of(own))
    everybody = None
    if whole is not None:
        said, codes = Kinds(kinds or {}).kinds, Missing(missing_codes or {}).codes
        wishes = {name: ColumnChoices(said.get(name), codes.get(name, ())) for name in before.names}
        everybody = open_table(frames.open_frame(whole), wishes)[0]
    return measure_loss(before, after, weighted=by_weight, everybody=everybody)


def disclosure_risk(
    original: File,
    masked: File,
    *,
    keys: Iterable[Any] | None = None,
    columns: Iterable[Any] | None = None,
    strata: Iterable[Any] | None = None,
    unit: Any = None,
    truth: Any = None,
    kinds: Mapping[Any, Any] | None = None,
    missing_codes: Mapping[Any, Any] | None = None,
    sample: int | None = None,
    seed: int = 0,
    weights: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> DisclosureRisk:
    """Measure what an intruder could do: link records by the keys that they know, or bound the values of one.

    Parameters
    ----------
    original, masked : dataframes, or arrays of shape (n, d)
        Record against record; columns are matched by name.
    keys : list of names, optional
        The columns an intruder knows; by default all. Linkage is averaged over every subset of up to
        seven keys; of more, over 127 subsets drawn with a fixed seed.
    columns : list of names, optional
        The masked columns, for intervals and groups; by default all, and both files must have the same. They
        hold the keys.
    strata : list of names, optional
        Columns that are released unchanged and that the intruder knows too: they link within the values of these.
    unit : name, optional
        The column of the original that shows which rows belong to one person or firm: any of its rows will do for a
        link. Rows are linked one by one: if the masked file has a number by which the rows of a unit can be followed,
        an intruder who compares all of them links more. `Release.risk` measures that.
    truth : array of shape (n,), optional
        The row of `masked` that belongs to each row of `original`, where they are not in the same order.
    kinds : mapping, optional
        Of which kind columns are, where their type does not say it, as `protect` takes them.
    missing_codes : mapping, optional
        Values that stand for a kind of missing value, as `protect` takes them.
    sample : int, optional
        How many records, drawn with `seed`, to estimate linkage on; all, if left out or if there are no more.
    seed : int
    weights : array of shape (n,), optional
        How many persons each record represents, where the file is a sample: `expected_links` then shows what remains of
        linkage for an intruder who cannot know who is in it.
    n_jobs : int, optional
        Threads; by default one a core. The result does not depend on it.
    progress : callable, optional
        Called as progress(records linked, records to link), over all sets of keys.

    Returns
    -------
    DisclosureRisk

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income", "tax"])
    >>> masked = ma.protect(survey, k=5).data
    >>> risk = ma.disclosure_risk(survey, masked, keys=["age", "income"])
    >>> len(risk.per_set)
    3
    """
    apart = [] if strata is None else check_names(strata)
    whose = [] if unit is None else [unit]
    before, after = _matched(original, masked, columns, truth, kinds, missing_codes, leave_out=[*apart, *whose])
    names = before.names
    known = names if keys is None else known_names(keys, names, "masked columns")
    if apart:
        before = replace(before, strata=_codes(original, apart))
    if whose:
        before = replace(before, units=Units(_codes(original, whose, _unit_codes)))
    return measure_risk(
        before,
        after,
        known,
        sample=check_sample(sample, before.n_records, seed),
        seed=seed,
        weights=_weights(weights, before.n_records),
        work=Work(check_jobs(n_jobs), progress),
    )


def anonymity(
    frame: IntoDataFrame, keys: Iterable[Any] | None = None, *, confidential: Iterable[Any] = (), unit: Any = None
) -> Anonymity:
    """Count how many records share their keys, and how much those disclose of confidential columns.

    Parameters
    ----------
    frame : dataframe
        Any file, masked or not; keys and confidential columns may be text or numbers.
    keys : list of names, optional
        The columns an intruder knows; by default all that are not confidential.
    confidential : list of names
        The columns that the intruder tries to learn.
    unit : name, optional
        The column that shows which rows belong to one person or firm, if a file that is not released yet still has it:
        k then counts units.

    Returns
    -------
    Anonymity

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(200, seed=0)
    >>> found = ma.anonymity(survey, ["region"], confidential=["income"])
    >>> found.k, found.diversity["income"].distinct
    (11, 10)
    """
    opened = frames.open_frame(frame)
    names = list(opened.columns)
    listed = check_names(confidential)
    secret = known_names(listed, names, "columns of the file") if listed else []
    apart = [] if unit is None else known_names([unit], names, "columns of the file")
    known = [name for name in names if name not in (*secret, *apart)]
    if keys is not None:
        known = known_names(keys, names, "columns of the file")
    both = [name for name in known if name in secret]
    if both or not known:
        raise RoleError(f"column {both[0]!r} is a key and confidential." if both else "no key is left. Name some.")
    units = frames.units_of(opened, apart[0]) if apart else None
    return judged_anonymity(opened, known, secret, units)


def checked_order(truth: Any, records: int) -> NDArray[np.int64]:
    """Return rows that are each once in a list, or refuse them."""
    rows = np.asarray(truth)
    if rows.dtype.kind not in "iu" or rows.ndim != 1 or not np.array_equal(np.sort(rows), np.arange(records)):
        raise InvalidParameter(f"truth must list each row of the masked file, 0 to {records - 1}, once.")
    return rows.astype(np.int64)


def judged_anonymity(
    opened: Any, keys: list[Any], secret: list[Any], units: Units | None, progress: Progress | None = None
) -> Anonymity:
    """Return the anonymity of an open frame, whose units may come from elsewhere."""
    first, second, third = (stage(progress, number, 3) for number in range(3))
    columns = {}
    for name in secret:
        columns[name] = frames.ordered_codes(opened, name)
        tell(first, len(columns), len(secret))
    return measure_anonymity(frames.row_classes(opened, keys, second), columns, units, third)


def pmse(
    original: File,
    masked: File,
    columns: Iterable[Any] | None = None,
    *,
    kinds: Mapping[Any, Any] | None = None,
    missing_codes: Mapping[Any, Any] | None = None,
    seed: int = 0,
) -> PMSE:
    """Return how well a model distinguishes masked records from original ones.

    The model uses values, squares and products of two columns. Categories and ways of being missing are indicators. A
    model has at most 400 terms: where there would be more, rarer categories count as one, and then products of the last
    columns are left out. Of files of more than 100 000 records, so many are drawn.

    Parameters
    ----------
    original, masked : dataframes, or arrays of shape (n, d)
        Record against record; columns are matched by name.
    columns : list of names, optional
        The columns to look at; by default all, and both files must have the same.
    kinds, missing_codes : mappings, optional
        As `protect` takes them.
    seed : int
        By which records are drawn.

    Returns
    -------
    PMSE

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(600, seed=0).select(["age", "income", "tax"])
    >>> close, far = (ma.pmse(survey, ma.protect(survey, k=k).data).value for k in (3, 50))
    >>> close < far < 0.25
    True
    """
    before, after = _matched(original, masked, columns, None, kinds, missing_codes)
    return measure_pmse(before, after, check_sample(MOST_RECORDS, before.n_records, seed))


def relations(
    original: File,
    masked: File,
    relations: Iterable[str | Relation],
    *,
    tolerance: float = 0.0,
    missing_codes: Mapping[Any, Any] | None = None,
) -> tuple[RelationCounts, ...]:
    """Count the records that break relations between columns, before and after masking.

    Parameters
    ----------
    original, masked : dataframes
        Record against record; columns are matched by name.
    relations : list of str
        Such as "income = wage + benefits" or "size >= 2 * adults": sums, differences and products of columns and
        numbers with =, !=, <=, >=, < or > between them. Names that are not one word need quotes.
    tolerance : float
        By how much the two sides of =, <= and >= may differ, such as the step to which released means are rounded; a
        billionth of their size is always allowed. A `Relation` has its own.
    missing_codes : mapping, optional
        Values that stand for a kind of missing value, as `protect` takes them.

    Returns
    -------
    tuple of RelationCounts

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["age", "income", "tax"])
    >>> found = ma.relations(survey, ma.protect(survey, k=3).data, ["tax <= income", "age >= 18"])
    >>> [(one.before, one.after) for one in found]
    [(0, 0), (0, 0)]
    """
    listed = [relations] if isinstance(relations, str | Relation) else list(relations)
    wanted = [one if isinstance(one, Relation) else Relation.of(one, tolerance) for one in listed]
    names = list(dict.fromkeys(name for one in wanted for name in one.columns))
    if not names:
        return ()
    before, after = _matched(original, masked, names, None, dict.fromkeys(names, "number"), missing_codes)
    was, now = ({column.name: column.values for column in table} for table in (before, after))
    return count_violations(wanted, was, now)


def dominance(original: File, labels: ArrayLike, *, p: float = 10.0, weights: ArrayLike | None = None) -> Dominance:
    """Find groups in which one member is most of the total, in columns without negative values.

    Parameters
    ----------
    original : dataframe or array of shape (n, d)
        The values before masking.
    labels : array of shape (n,)
        The group of each record (`release.groups`).
    p : float
        For the p percent rule: a group fails where its members but for the two largest add up to less than
        p percent of the largest.
    weights : array of shape (n,), optional
        What each record weighs: members then add their values times their weights.

    Returns
    -------
    Dominance

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["wage", "business"])
    >>> ma.dominance(survey, ma.protect(survey, k=5).groups).n_groups
    60
    """
    p = check_between("p", p, 0.0, 100.0, "It is a percentage; 10 is usual.")
    names, columns = frames.read_numbers(original)
    groups = check_labels(labels, columns.shape[1], len(names))
    if groups.ndim == 2:
        raise InvalidParameter("labels are given for each column. Pass one label a record.")
    return measure_dominance(columns, groups, names, p, _weights(weights, columns.shape[1]))


def _weights(weights: Any, n: int) -> NDArray[np.float64] | None:
    """Return the weight of each record, or say why it is none."""
    if weights is None:
        return None
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter("weights are no numbers. Pass one number of 0 or more a record.") from None
    if values.shape != (n,):
        raise InvalidParameter(
            f"weights have shape {values.shape}, but there are {n} records. Pass one a record.", parameter="weights"
        )
    WeightSeen.of(values).check("weights")
    return values


def _unit_codes(opened: Any, names: list[Any]) -> NDArray[np.int64]:
    return frames.unit_codes(opened, names[0])


def _codes(file: Any, names: list[Any], number: Callable[..., Any] = frames.category_codes) -> NDArray[np.int64]:
    """Number each record's stratum, or unit."""
    if not frames.is_frame(file):
        raise InvalidParameter("strata and units are columns of a dataframe. Pass both files as frames.")
    opened = frames.open_frame(file)
    return np.asarray(number(opened, known_names(names, list(opened.columns), "columns of the original file")))


def _matched(
    original: Any,
    masked: Any,
    columns: Iterable[Any] | None,
    truth: Any,
    kinds: Mapping[Any, Any] | None,
    missing_codes: Mapping[Any, Any] | None,
    leave_out: Sequence[Any] = (),
) -> tuple[Table, Table]:
    """Return the columns to compare of both files, with the same codes, record against record."""
    if frames.is_frame(original) != frames.is_frame(masked):
        raise InvalidData("one file is a dataframe and the other is not. Pass both as frames, or both as arrays.")
    if frames.is_frame(original):
        before, after = frames.open_frame(original), frames.open_frame(masked)
        names: list[Any] = [name for name in before.columns if name not in leave_out]
        if columns is None:
            others = [name for name in after.columns if name not in leave_out]
            lacking = [f"{name!r} (original only)" for name in names if name not in others]
            lacking += [f"{name!r} (masked only)" for name in others if name not in names]
            if lacking:
                more = f" and {len(lacking) - 10} more" if len(lacking) > 10 else ""
                raise RoleError(
                    f"the files do not have the same columns: {', '.join(lacking[:10])}{more}. Name those to compare "
                    f"with columns=."
                )
        else:
            names = known_names(columns, list(before.columns), "columns of the original file")
            known_names(names, list(after.columns), "columns of the masked file")
        sizes = before.shape[0], after.shape[0]
    else:
        left, right = check_matrix(original), check_matrix(masked)
        if left.shape[1] != right.shape[1]:
            raise InvalidData(f"the files have {left.shape[1]} and {right.shape[1]} columns. Pass the same columns.")
        names = list(range(left.shape[1]))
        if columns is not None:
            names = known_names(columns, names, "columns")
        sizes = left.shape[0], right.shape[0]
    if sizes[0] == 0 or sizes[0] != sizes[1]:
        raise InvalidData(
            f"the original file has {sizes[0]} records and the masked one {sizes[1]}. Compare files record by record."
        )
    if frames.is_frame(original):
        said, codes = Kinds(kinds or {}).kinds, Missing(missing_codes or {}).codes
        a, b = open_both(before, after, {name: ColumnChoices(said.get(name), codes.get(name, ())) for name in names})
    else:
        a, b = (Table.of_numbers(names, np.ascontiguousarray(file.T[names])) for file in (left, right))
    if truth is not None:
        b = b.take(checked_order(truth, sizes[0]))
    return a, b


def usual_sample(n: int, highest: float = 1.0) -> int | None:
    """Return how many of n records to estimate linkage on where nobody said; None: all.

    Nobody is linked with a chance above `highest`, so that chances deviate from their mean by half of it at most: by
    that the error of their mean is bounded before any is known. Of a small file fewer are needed, as those that are
    not drawn are fewer too. Less than half of a file is worth drawing.
    """
    of_many = (100.0 * highest / 2.0 / SAMPLE_ERROR) ** 2
    enough = math.ceil(of_many / (1.0 + of_many / n))
    enough = min(max(enough, _FEWEST), _MOST)
    return enough if n > 2 * enough else None


def check_sample(sample: Any, n: int, seed: int) -> NDArray[np.int64] | None:
    """Draw the rows to estimate on, or None: all are used."""
    if sample is None:
        return None
    sample = check_whole("sample", sample, 2, None, "Leave it out to use all records.")
    if sample >= n:
        return None
    seed = check_whole("seed", seed, 0)
    return np.sort(np.random.default_rng(seed).choice(n, sample, replace=False))


def known_names(wanted: Any, names: Sequence[Any], what: str) -> list[Any]:
    """Return a list of column names that are known and named once."""
    chosen = check_names(wanted)
    for name in chosen:
        if name not in names:
            raise RoleError(
                f"column {shown_name(name)} is not among the {what}. Name some of the {len(names)} there are."
            )
    if not chosen or len(set(chosen)) < len(chosen):
        raise RoleError(f"the list of {what} is empty or names a column twice.")
    return chosen
