"""How groups are formed: by which method, on which columns, and in which pieces of the file."""

import copy
import difflib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.groups import number_groups
from microagg.blocking import BLOCKINGS
from microagg.blocking.median import median_pieces
from microagg.checks import EXACT_INTEGERS, check_labels, check_names, check_option, check_whole, nearest, shown_name
from microagg.errors import InputError, InvalidData, InvalidParameter, PromiseBroken, RoleError, TooFewRecords
from microagg.io import frames
from microagg.parallel import in_parallel
from microagg.partition import METHODS, method_named
from microagg.partition.refine import refine
from microagg.prepare.dependence import MEASURES, dependence
from microagg.prepare.selection import Selection, select_columns
from microagg.progress import Progress

Columns = NDArray[np.float64]
Labels = NDArray[np.int64]
Partitioner = Callable[..., Labels]

AUTO_BLOCKS_ABOVE = 200_000
"""Records up to which "auto" groups a stratum as a whole."""

DEFAULT_BLOCK = 50_000
"""The most records of a block, unless another number is asked for."""


def check_rest(rest: Any, quasi: Any) -> None:
    """Refuse what cannot be done with columns that no role names."""
    if rest is None:
        return
    check_option("rest", rest, ("keep", "drop"))
    if quasi is None:
        raise InvalidParameter(
            "rest goes with quasi: without it every other column is masked. Name the columns to mask."
        )


def resolve_method(
    method: Any, k: int, options: Mapping[str, Any], quasi: list[Any], own_parameters: Collection[str]
) -> tuple[str, dict[str, Any], Partitioner]:
    """Give a method's name, its options with every default, and the function that groups by it."""
    if isinstance(method, str):
        _check_option_names(options, method, own_parameters)
        chosen, function = method_named(method).bound(options)
        if chosen.get("axis") in quasi and chosen["axis"] in ("pca", "zscores"):
            raise InvalidParameter(f"axis={chosen['axis']!r} is a column and a kind of axis. Rename the column.")
        if chosen.get("axis") in quasi:  # a partitioner sees numbered columns
            function = partial(function, axis=quasi.index(chosen["axis"]))
        return method, chosen, function
    if isinstance(method, type) or not hasattr(method, "fit_predict"):
        raise InvalidParameter(
            f"method is a {type(method).__name__}. Pass a name ({', '.join(METHODS)}) or an object with fit_predict."
        )
    if options:
        raise InvalidParameter(f"options ({', '.join(options)}) go with a method's name. Set them on the estimator.")
    parameters = dict(method.get_params()) if hasattr(method, "get_params") else {}
    if parameters.pop("k", k) != k:
        raise InvalidParameter(f"protect() was asked for k={k}, but its method for k={method.k}. Pass the same.")
    if hasattr(method, "as_named_method"):  # one of ours: the plain function also reports progress
        name, own_options = method.as_named_method()
        return resolve_method(name, k, own_options, quasi, own_parameters)

    def partition(X: Columns, k: int, *, progress: Progress) -> Labels:  # noqa: ARG001
        try:
            return np.asarray(copy.deepcopy(method).fit_predict(X))
        except Exception as error:  # noqa: BLE001 - another library's message may show cells
            name = type(error).__name__
            raise InvalidParameter(
                f"the method failed with {name}. Run it by itself on scaled data to see why."
            ) from None

    return f"{type(method).__module__}.{type(method).__qualname__}", _plain(parameters), partition


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Keep plain settings alone: a parameter may hold data of the file (initial centres, say)."""
    plain = (str, int, float, bool, type(None))
    return {name: value if isinstance(value, plain) else type(value).__name__ for name, value in parameters.items()}


def _check_option_names(options: Mapping[str, Any], method: str, own_parameters: Collection[str]) -> None:
    """Catch a misspelt parameter of protect() before it is taken for an option of the method."""
    for name in options:
        near = difflib.get_close_matches(name, own_parameters, n=1, cutoff=0.8)
        if near:
            raise InvalidParameter(
                f"there is no parameter {name!r}, nor has method {method!r} one. Did you mean {near[0]!r}?"
            )


def check_selection(
    select: Any, count: int | None, measure: str | None, width: Any, bins: int | None, n_columns: int
) -> dict[str, Any]:
    """Give how the columns that form groups are chosen, with every default; empty where all do."""
    by_tree = isinstance(select, str)
    for name, value in (("count", count), ("measure", measure), ("width", width), ("bins", bins)):
        if value is not None and not (by_tree and (name != "count" or select == "emad")):
            goes_with = "select='emad'" if name == "count" else "select='emad' or 'ama'"
            raise InvalidParameter(f"{name} goes with {goes_with}. Leave it out, or select so.")
    if select is None:
        return {}
    if not by_tree:
        if not isinstance(select, (Iterable, Selection)) and not callable(select):
            raise InvalidParameter(f"select is a {type(select).__name__}. Pass 'emad', 'ama', names or a function.")
        return {"by": "selection" if isinstance(select, Selection) else "function" if callable(select) else "names"}
    if select not in ("emad", "ama"):
        hint = nearest(select, ("emad", "ama"))
        raise InvalidParameter(f"select={select!r} is not known.{hint} Pass 'emad', 'ama', or a list of column names.")
    measure = ("emim" if select == "emad" else "vi") if measure is None else measure
    check_option("measure", measure, MEASURES)
    widths = width if width is None or np.ndim(width) == 0 else tuple(width)
    how = {"by": select, "measure": measure, "width": widths, "bins": bins}
    if select == "emad":
        how["count"] = min(3, n_columns) if count is None else check_whole("count", count, 1, n_columns)
    return how


def select_forming(select: Any, how: Mapping[str, Any], frame: Any, names: list[Any], columns: Columns) -> Selection:
    """Choose the columns that form groups."""
    if how["by"] in ("emad", "ama"):
        tree = dependence(columns, how["measure"], how["width"], how["bins"])
        return select_columns(names, tree, "degree" if how["by"] == "emad" else "cover", how.get("count"))
    if isinstance(select, Selection):
        wanted = list(select.columns)
    else:
        wanted = check_names(select(frames.only(frame, names)) if callable(select) else select)
    unknown = [name for name in wanted if name not in names]
    if unknown or not wanted or len(set(wanted)) < len(wanted):
        what = (
            f"{shown_name(unknown[0])}, which is not masked" if unknown else "a column twice" if wanted else "no column"
        )
        raise RoleError(f"select names {what}. Name some of the {len(names)} masked columns.")
    chosen = [name for name in names if name in wanted]
    if all(columns[names.index(name)].min() == columns[names.index(name)].max() for name in chosen):
        raise InvalidData("no selected column varies, so no record is nearer than another. Select one that does.")
    if isinstance(select, Selection):
        return select
    return Selection(tuple(chosen), "as asked", {}, (tuple(chosen),), 1)


def check_strata(codes: Labels, k: int, names: Sequence[Any]) -> None:
    """Refuse a file in which a stratum by the columns `names` has fewer than k records."""
    check_stratum_sizes(np.bincount(codes), k, names)


def check_stratum_sizes(sizes: NDArray[np.int64], k: int, names: Sequence[Any]) -> None:
    """Refuse strata of fewer than k records; what they are called are cells of the data, and not shown."""
    small = np.count_nonzero(sizes < k)
    if small:
        have = "has" if small == 1 else "have"
        raise TooFewRecords(
            f"{small} of {sizes.size} strata by {', '.join(map(shown_name, names))} {have} fewer than k={k} records "
            f"(the smallest has {sizes.min()}). Merge strata or lower k."
        )


def check_max_block(max_block: Any, k: int) -> int:
    """Return the most records of a block, or say what it must be."""
    return min(check_whole("max_block", max_block, 2 * k, None, "A block must hold two groups."), EXACT_INTEGERS)


def resolve_blocks(blocks: Any, max_block: Any, k: int, n: int, *, whole: bool) -> dict[str, Any]:
    """Give how the file is cut into blocks, with what "auto" chose; empty where it is not.

    `n` is the size of the largest stratum; `whole` says that the method cannot do with blocks.
    """
    if isinstance(blocks, str):
        check_option("blocks", blocks, ("auto", "none", *BLOCKINGS))
    elif isinstance(blocks, type) or not hasattr(blocks, "fit_predict"):
        raise InvalidParameter(
            f"blocks is a {type(blocks).__name__}. Pass 'auto', 'none', {', '.join(map(repr, BLOCKINGS))} or an object "
            f"with fit_predict."
        )
    elif max_block is not None:
        raise InvalidParameter("max_block goes with a way of cutting by name. Set it on the object.")
    else:
        parameters = dict(blocks.get_params()) if hasattr(blocks, "get_params") else {}
        if parameters.pop("k", k) != k:
            raise InvalidParameter(f"protect() was asked for k={k}, but its blocks for k={blocks.k}. Pass the same.")
        return {"by": f"{type(blocks).__module__}.{type(blocks).__qualname__}", "options": _plain(parameters)}
    if blocks == "none" and max_block is not None:
        raise InvalidParameter("max_block goes with blocks. Leave it out, or choose a way of cutting.")
    if max_block is not None:
        max_block = check_max_block(max_block, k)
    if blocks == "auto":
        beyond = AUTO_BLOCKS_ABOVE if max_block is None else max_block
        blocks = "median" if n > beyond and not whole else "none"
    if blocks == "none":
        return {}
    if whole:
        raise InvalidParameter("blocks do not go with a method that groups each column on its own. Pass 'none'.")
    return {"by": blocks, "max_block": DEFAULT_BLOCK if max_block is None else max_block}


def _with_numbered_columns(blocks: Any, names: list[Any]) -> Any:
    """Give a copy of an estimator of ours whose columns are numbered: it will see a bare array."""
    parameters = dict(blocks.get_params()) if hasattr(blocks, "get_params") else {}
    changed: dict[str, Any] = {}
    if parameters.get("columns") is not None:
        wanted = check_names(parameters["columns"])
        changed["columns"] = [names.index(column) if column in names else column for column in wanted]
    if parameters.get("column") in names:
        changed["column"] = names.index(parameters["column"])
    return type(blocks)(**(parameters | changed)) if changed else copy.deepcopy(blocks)


def cut_into_pieces(
    columns: Columns,
    names: list[Any],
    strata: Labels,
    blocks: Any,
    how: Mapping[str, Any],
    k: int,
    n_jobs: int,
) -> list[NDArray[np.int64]]:
    """List the rows of each piece that is grouped by itself: a stratum, or a block of one."""
    pieces = rows_of(strata)
    if not how:
        return pieces
    found = []
    for rows in pieces:
        if how["by"] == "median":
            d = columns.shape[0]
            found += median_pieces(columns, np.zeros(d), np.ones(d), how["max_block"], k, rows=rows, n_jobs=n_jobs)
            continue
        part = columns[:, rows]
        if how["by"] in BLOCKINGS:
            labels = BLOCKINGS[how["by"]](part, how["max_block"], k, n_jobs=n_jobs)
        else:
            try:
                labels = _with_numbered_columns(blocks, names).fit_predict(part.T)
            except InputError:
                raise
            except Exception as error:  # noqa: BLE001 - another library's message may show cells
                name = type(error).__name__
                raise InvalidParameter(f"the blocks failed with {name}. Run them by themselves to see why.") from None
            labels = check_labels(labels, rows.size, columns.shape[0])
            smallest = np.bincount(labels).min() if labels.ndim == 1 else 0
            if smallest < k:
                raise PromiseBroken(f"the blocks must have k={k} records each; the smallest has {smallest}.")
        found += [rows[block] for block in rows_of(labels)]
    return found


def rows_of(labels: Labels) -> list[NDArray[np.int64]]:
    """List the rows of each label, in order."""
    if not labels.any():
        return [np.arange(labels.size)]
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels))[:-1])


def checked_groups(labels: Any, columns: Columns, k: int, *, per_column: bool = False) -> Labels:
    """Give a method's labels for `columns` (d, n), numbered from 0, or say why they cannot be used."""
    found = check_labels(labels, columns.shape[1], columns.shape[0])
    if (found.ndim == 2) != per_column:
        raise PromiseBroken(
            "the method gave each record several labels, as one that groups each column on its own does; whole "
            "records may stay unique. Choose a method that gives each record one label."
        )
    for own in np.atleast_2d(found.T):
        smallest = np.bincount(own).min()
        if smallest < k:
            raise PromiseBroken(f"the method made a group of {smallest} records, fewer than k={k}.")
    return found


def refine_groups(
    columns: Columns,
    strata: Labels,
    groups: Labels,
    k: int,
    effort: str | int,
    seed: int,
    n_jobs: int,
    progress: Progress | None,
) -> tuple[Labels, int]:
    """Refine the groups of each stratum; give them, numbered by lowest row, and the moves that were offered."""
    found = np.empty_like(groups)
    base, moves = 0, 0
    for rows in rows_of(strata):
        part = refine(columns[:, rows].T, groups[rows], k, effort=effort, seed=seed, n_jobs=n_jobs, progress=progress)
        found[rows] = part.labels + base
        base += int(part.labels.max()) + 1
        moves += part.moves
    number_groups(found)
    return found, moves


def form_groups(
    partition: Partitioner,
    columns: Columns,
    pieces: list[NDArray[np.int64]],
    k: int,
    per_column: bool,
    n_jobs: int,
    progress: Progress | None,
) -> Labels:
    """Group the records of each piece, pieces in parallel; number the groups by lowest row."""
    n = columns.shape[1]
    done = np.zeros(len(pieces), dtype=np.int64)

    def group_piece(number: int, check: Callable[[], None]) -> Labels:
        rows = pieces[number]

        def tell(records: int, total: int) -> None:  # noqa: ARG001
            check()
            done[number] = records
            if progress is not None:
                progress(int(done.sum()), n)

        part = columns[:, rows]
        return checked_groups(partition(part.T, k, progress=tell), part, k, per_column=per_column)

    found = in_parallel(group_piece, range(len(pieces)), n_jobs)
    groups = np.empty((n, *found[0].shape[1:]), dtype=np.int64)
    base = np.zeros(found[0].shape[1:], dtype=np.int64)
    for rows, labels in zip(pieces, found, strict=True):
        groups[rows] = labels + base
        base = base + labels.max(axis=0) + 1
    if groups.ndim == 1:
        number_groups(groups)
        return groups
    renumbered = [np.ascontiguousarray(column) for column in groups.T]
    for column in renumbered:
        number_groups(column)
    return np.stack(renumbered, axis=1)
