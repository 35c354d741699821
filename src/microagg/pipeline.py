"""protect(): the only place that joins the stages."""

import inspect
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg import __version__
from microagg.aggregate import AGGREGATES, released_values
from microagg.checks import check_enough_records, check_jobs, check_k, check_names, check_option
from microagg.errors import InvalidData, InvalidParameter, PromiseBroken
from microagg.evaluate.anonymity import fewest_sharing
from microagg.evaluate.loss import loss_of_release
from microagg.grouping import (
    Labels,
    check_rest,
    check_selection,
    check_strata,
    cut_into_pieces,
    form_groups,
    refine_groups,
    resolve_blocks,
    resolve_method,
    select_forming,
)
from microagg.io import frames
from microagg.partition import METHODS, choose_search, groups_each_column
from microagg.partition.refine import check_effort
from microagg.prepare.scaling import SCALES, scale_columns
from microagg.progress import Progress
from microagg.recipe import Recipe
from microagg.release import Release
from microagg.schema import Role, Schema


def protect(
    frame: Any,
    k: int,
    *,
    quasi: Iterable[Any] | None = None,
    identifiers: Iterable[Any] = (),
    confidential: Iterable[Any] = (),
    weight: Any = None,
    strata: Iterable[Any] = (),
    unit: Any = None,
    keep: Iterable[Any] = (),
    drop: Iterable[Any] = (),
    rest: str | None = None,
    missing: str = "error",
    method: Any = "mdav",
    scale: str = "standard",
    aggregate: str = "mean",
    integers: str = "float",
    per_column: bool = False,
    select: Any = None,
    count: int | None = None,
    measure: str | None = None,
    width: Any = None,
    bins: int | None = None,
    blocks: Any = "auto",
    max_block: int | None = None,
    refine: str | int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Release:
    """Mask a dataframe so that every record shares its released values with at least k - 1 others.

    Parameters
    ----------
    frame : pandas, polars or PyArrow dataframe
        One row a record. It is not changed.
    k : int
        The least number of records that may share one combination of released values.
    quasi : list of names, optional
        The columns to mask; by default every column that has no other role.
    identifiers : list of names
        Columns that name a person by themselves. They are dropped, and so is a pandas index other
        than 0, 1, 2, ...
    confidential : list of names
        Sensitive columns that an intruder does not know: released as they are.
    weight : name, optional
        A sampling weight: released as it is, never grouped on.
    strata : list of names
        Groups never cross the values of these columns, which are released as they are.
    unit : name, optional
        The person or firm a row belongs to. Every group must hold k different ones, or the release is
        refused. The column is dropped: it would link a person's rows across groups.
    keep : list of names
        Harmless columns, released as they are.
    drop : list of names
        Columns to leave out of the release.
    rest : {"keep", "drop"}, optional
        What to do with columns that no role names; without it they are an error.
    missing : {"error", "drop"}
        What to do with records that lack a value in a masked, stratum or unit column.
    method : str or estimator
        "mdav", "cbfs", "vmdav", "iamat", "maximum-distance", "projection", "univariate", "ranking", or
        an object with `fit_predict`. A name's options may be added: `method="vmdav", gamma=1.1`.
        "ama" is approximate microaggregation whole: `method="mdav", tail="2k", select="ama"`.
    scale : {"standard", "range", "none"}
        How columns are made comparable before groups are formed.
    aggregate : {"mean", "median"}
        What a group releases.
    integers : {"float", "round"}
        Whether integer columns are released as floats, or rounded.
    per_column : bool
        Must be true to use a method that groups each column on its own ("univariate" or "ranking" on
        several columns): k then holds for each column, and not for whole records.
    select : {"emad", "ama"}, list of names, or callable, optional
        Which masked columns form the groups; all, unless this is given. All are masked and judged either
        way. "emad" takes the `count` columns that have most edges in the dependence tree, "ama" the fewest
        whose edges add up to the number of columns. A callable gets a frame of the masked columns as they
        are and returns names.
    count : int, optional
        How many columns "emad" takes; 3 by default.
    measure : {"emim", "chi2", "normal", "vi"}, optional
        The measure of dependence (see `DependenceTree`); "emim" for "emad" and "vi" for "ama" by default.
    width, bins : optional
        How columns are cut into categories for that (see `DependenceTree`); by rule where left out.
    blocks : {"auto", "none", "median", "orthants", "univariate"} or estimator
        How a large file, or stratum, is cut into blocks that are grouped each by itself: time then grows
        with the number of records and not with its square, and some information is lost. "auto" cuts
        beyond 200 000 records, by "median". What was done stands in the recipe.
    max_block : int, optional
        The most records of a block; 50 000 by default.
    refine : {"fast", "thorough"} or int, optional
        Lower the loss of the groups by moving records between neighbouring ones, also across the borders of blocks
        (see `microagg.refine`).
    seed : int
        Of that.
    n_jobs : int, optional
        Threads for strata and blocks; by default one a core. The result does not depend on it.
    progress : callable, optional
        Called as progress(records done, records in all).

    Returns
    -------
    Release

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(2000, seed=0)
    >>> release = ma.protect(survey, k=5, quasi=["age", "income", "tax"], strata=["region"],
    ...                      identifiers=["person"], weight="weight", rest="drop")
    >>> release.k_achieved
    5
    >>> release.data.column_names
    ['region', 'weight', 'age', 'income', 'tax']
    """
    k = check_k(k)
    check_option("missing", missing, ("error", "drop"))
    check_option("scale", scale, SCALES)
    check_option("aggregate", aggregate, AGGREGATES)
    check_option("integers", integers, ("float", "round"))
    n_jobs = check_jobs(n_jobs)
    check_rest(rest, quasi)
    if refine is not None:
        check_effort(refine, 1)
    opened = frames.open_frame(frame)
    schema = Schema.assign(
        opened.columns,
        quasi=None if quasi is None else check_names(quasi),
        rest=rest,
        identifiers=check_names(identifiers),
        confidential=check_names(confidential),
        weight=[] if weight is None else [weight],
        strata=check_names(strata),
        unit=[] if unit is None else [unit],
        keep=check_names(keep),
        drop=check_names(drop),
    )
    quasi_names = schema.names(Role.QUASI)
    if isinstance(method, str) and method == "ama":
        if select is not None or "tail" in options:
            raise InvalidParameter("method='ama' is mdav with tail='2k' and select='ama'. Leave those two out.")
        method, select, options = "mdav", "ama", {"tail": "2k", **options}
    how = check_selection(select, count, measure, width, bins, len(quasi_names))
    method_name, method_options, partition = resolve_method(
        method, k, options, quasi_names, inspect.signature(protect).parameters
    )
    if how and (groups_each_column(method_name) or method_options.get("axis", "pca") not in ("pca", "zscores")):
        raise InvalidParameter(f"select does not go with method {method_name!r} by single columns. Leave it out.")
    _check_promise_possible(method_name, per_column, len(quasi_names))
    frames.check_numeric(opened, quasi_names)
    complete = _without_missing(opened, [*quasi_names, *schema.names(Role.STRATUM, Role.UNIT)], missing)
    n_dropped = opened.shape[0] - complete.shape[0]
    check_enough_records(complete.shape[0], k)

    original = frames.to_columns(complete, quasi_names)
    strata_of_rows = _strata(complete, schema.names(Role.STRATUM), k)
    selection = select_forming(select, how, complete, quasi_names, original) if how else None
    chosen = quasi_names if selection is None else selection.columns
    forming = [j for j, name in enumerate(quasi_names) if name in chosen]  # in file order, whatever the choice's
    scaled = scale_columns(original if len(forming) == len(original) else original[forming], scale, n_jobs)
    largest = int(np.bincount(strata_of_rows).max())
    cutting = resolve_blocks(blocks, max_block, k, largest, whole=groups_each_column(method_name))
    pieces = cut_into_pieces(scaled, [quasi_names[j] for j in forming], strata_of_rows, blocks, cutting, k, n_jobs)
    # "auto" is decided once, for the largest piece, and recorded.
    if method_name in METHODS and "search" in method_options:
        largest = max(rows.size for rows in pieces)
        method_options["search"] = choose_search(method_options["search"], largest, len(forming))
        partition = partial(partition, search=method_options["search"])
    groups = form_groups(partition, scaled, pieces, k, per_column, n_jobs, progress)
    refined: dict[str, Any] = {}
    if refine is not None:
        if per_column or groups.ndim == 2:
            raise InvalidParameter("refine goes with groups of whole records. Leave it or per_column out.")
        groups, moves = refine_groups(scaled, strata_of_rows, groups, k, refine, seed, n_jobs, progress)
        refined = {"effort": refine, "seed": seed, "moves": moves}
    _check_units(complete, schema.names(Role.UNIT), groups, k)

    released = released_values(original, groups, aggregate, n_jobs)
    replaced: dict[Any, NDArray[Any]] = {}
    for name, values in zip(quasi_names, released, strict=True):
        if integers == "round" and frames.is_integer(complete, name):
            np.rint(values, out=values)
            replaced[name] = values.astype(np.int64)
        else:
            replaced[name] = values
    data = frames.with_columns(complete, schema.released, replaced)

    written = frames.to_columns(frames.open_frame(data), quasi_names)
    k_achieved = fewest_sharing(written, strata_of_rows, per_column=groups.ndim == 2, n_jobs=n_jobs)
    if k_achieved < k:
        raise PromiseBroken(f"only {k_achieved} records would share a released combination of values; k={k} was asked.")
    return Release(
        data=data,
        groups=groups,
        information=loss_of_release(original, written, quasi_names, n_jobs),
        k_achieved=k_achieved,
        recipe=Recipe(
            k=k,
            method=method_name,
            options=method_options,
            roles={role.value: tuple(schema.names(role)) for role in Role},
            scale=scale,
            aggregate=aggregate,
            integers=integers,
            missing=missing,
            per_column=per_column,
            select={**how, "columns": selection.columns} if selection else {},
            blocks=cutting | {"count": len(pieces)} if cutting else {},
            refine=refined,
            version=__version__,
        ),
        selection=selection,
        n_dropped=n_dropped,
        index_dropped=frames.has_own_index(frame),
        _original=original,
        _written=written,
    )


def _check_promise_possible(method: str, per_column: bool, n_columns: int) -> None:
    each_apart = groups_each_column(method) and n_columns > 1
    if each_apart and not per_column:
        raise InvalidParameter(
            f"method {method!r} groups each of {n_columns} columns on its own, so whole records may stay unique. "
            f"Choose another method, or accept k for each column only with per_column=True."
        )
    if per_column and not each_apart:
        apart = [name for name in METHODS if groups_each_column(name)]
        raise InvalidParameter(
            f"per_column=True goes with {' or '.join(apart)} on several columns, not with {method!r} on {n_columns}."
        )


def _without_missing(frame: Any, names: list[Any], missing: str) -> Any:
    """Refuse or leave out the records that lack a value in one of these columns."""
    if missing == "error":
        frames.check_complete(frame, names, remedy="Impute them, or pass missing='drop' to leave those records out.")
        return frame
    masks = frames.missing_rows(frame, names)
    if not masks:
        return frame
    complete = ~np.logical_or.reduce(list(masks.values()))
    if not complete.any():
        raise InvalidData("every record lacks a value, so missing='drop' leaves none. Impute or drop columns instead.")
    return frames.keep_rows(frame, complete)


def _strata(frame: Any, names: list[Any], k: int) -> Labels:
    """Number each record's stratum, refusing a file in which one has fewer than k."""
    codes = frames.category_codes(frame, names)
    check_strata(codes, k, names)
    return codes


def _check_units(frame: Any, names: list[Any], groups: Labels, k: int) -> None:
    """Refuse groups that hold fewer than k different persons or firms."""
    if not names:
        return
    units = frames.category_codes(frame, names)
    for labels in np.atleast_2d(groups.T):
        pairs = np.unique(labels * (units.max() + 1) + units)
        distinct = np.bincount(pairs // (units.max() + 1))
        short = np.count_nonzero(distinct < k)
        if short:
            raise PromiseBroken(
                f"{short} of {distinct.size} groups hold fewer than k={k} different units (the fewest: "
                f"{distinct.min()}). Combine the rows of each unit into one, or lower k."
            )
