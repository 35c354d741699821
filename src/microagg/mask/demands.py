"""What is demanded of confidential columns, as a recipe says it, and groups that keep it."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.diversity.demand import Confidential, Demand, Limits, check_possible
from microagg.algorithms.diversity.ways import fitting, form_diverse
from microagg.algorithms.equivalence import rows_of
from microagg.algorithms.units import Units
from microagg.checks import nearest, shown_name
from microagg.columns.finders import coder_for
from microagg.columns.kinds import Nominal, Taxonomy
from microagg.columns.labels import Labels as FileLabels
from microagg.columns.numbers import MISSING
from microagg.columns.table import Coded, Table
from microagg.errors import InvalidData, InvalidParameter, PromiseBroken, RoleError, setting
from microagg.mask.pieces import Placed, groups_of_all, in_pieces, numbered
from microagg.recipe import Recipe
from microagg.recipe.combine import Combination, refuse
from microagg.recipe.data import asked_of
from microagg.work import Progress, Work

Labels = NDArray[np.int64]
Values = NDArray[np.float64]


class _Weighing(Confidential):
    """Which unit a record is of, missing where it weighs nothing."""

    def take(self, rows: Labels) -> "Confidential":
        """Return some of the records, whose units are numbered anew: there may be as many as records."""
        return type(self).of(self.codes[rows], missing=self.missing[rows])


def enough_weighing(weights: Values, units: Labels | None, k: int) -> Demand:
    """Demand of each group that k records, or units, weigh something: a weighted mean is one of these alone."""
    codes = np.arange(weights.size) if units is None else units
    return Demand((_Weighing.of(codes, missing=weights == 0.0),), (Limits(l=k),))


def weighing_demand(table: Table, k: int) -> Demand | None:
    """Demand that k records, or units, of a group weigh something; None where all do, or it does not matter."""
    weights = table.weighed.representing
    return None if weights is None or weights.values.all() else enough_weighing(weights.values, table.whose, k)


def both_demands(one: Demand | None, other: Demand | None) -> Demand | None:
    """Return what is demanded by both."""
    if one is None or other is None:
        return other if one is None else one
    return Demand((*one.columns, *other.columns), (*one.limits, *other.limits))


def check_weighing(light: int, n_groups: int, k: int, *, of_units: bool, what: str = "groups") -> None:
    """Refuse groups, or strata, in which fewer than k records, or units, weigh something."""
    if light:
        have = "has" if light == 1 else "have"
        raise InvalidData(
            f"{light} of {n_groups} {what} {have} fewer than k={k} {'units' if of_units else 'records'} with a weight "
            f"above 0, so that a weighted mean would be one of fewer. Leave out records of weight 0, merge strata, "
            f"lower k, or do not weight: {setting('weighted', False)}.",
            parameter="weighted",
        )


def check_strata_weigh(light: NDArray[np.bool_], k: int, names: Sequence[Any], of_units: bool) -> None:
    """Refuse strata by the columns `names`, or a file, in which fewer than k records, or units, weigh something."""
    check_weighing(int(light.sum()), light.size, k, of_units=of_units, what="strata" if names else "files")


def demanded_columns(recipe: Recipe, confidential: Sequence[Any]) -> dict[Any, Limits]:
    """Return what a recipe demands of each confidential column that it demands anything of."""
    said = recipe.diversity
    if not said.demanded:
        return {}
    refuse("confidential", Combination(recipe=recipe))
    for keyword in ("l_columns", "t_columns"):
        for name in getattr(said, keyword):
            if name not in confidential:
                raise RoleError(
                    f"column {shown_name(name)} in {setting(keyword)} is not confidential. Give it that role, or "
                    f"leave it out here.{nearest(name, confidential)}",
                    parameter=keyword,
                    columns=(name,),
                )
    found = {}
    for name in confidential:
        limits = said.limits
        if said.l_columns and name not in said.l_columns:
            limits = Limits(t=limits.t)
        if said.t_columns and name not in said.t_columns:
            limits = limits._replace(t=None)
        if limits != Limits():
            found[name] = limits
    return found


def check_demanded(recipe: Recipe, confidential: Sequence[Any]) -> None:
    """Refuse, before any work, what does not go with a demand on confidential columns."""
    demanded_columns(recipe, confidential)
    refuse("demand", Combination(recipe=recipe))


def sensitive_table(columns: Mapping[Any, nw.Series[Any]], recipe: Recipe, labels: FileLabels | None = None) -> Table:
    """Code confidential columns, given by name, of which anything is demanded, by what a recipe says of their kinds.

    Text without a letter counts as missing, and so do NA, NULL and the like, as most readers of a file take them.
    """
    wishes = asked_of(recipe, list(columns), labels)
    filled = {name: _without_empty(series) for name, series in columns.items()}
    return Table(tuple(coder_for(filled[name], name, wish).coded(filled[name]) for name, wish in wishes.items()))


def _without_empty(series: nw.Series[Any]) -> nw.Series[Any]:
    is_category = series.dtype == nw.Categorical or isinstance(series.dtype, nw.Enum)
    if series.dtype != nw.String and not is_category:
        return series
    text = series.cast(nw.String)
    if not text.str.strip_chars().is_in(list(MISSING)).any():
        return series
    content = nw.col(series.name)  # as text an order of categories is lost, and t is only stricter
    known = ~content.str.strip_chars().is_in(list(MISSING))
    return text.to_frame().select(nw.when(known).then(content)).get_column(series.name)


def demand_of(sensitive: Table, limits: Mapping[Any, Limits], strata: Labels) -> Demand | None:
    """Return what is demanded of records, or say why no groups can keep it; None for nothing."""
    if not limits:
        return None
    demand = demand_on(sensitive, limits)
    check_possible(demand, strata)
    return demand


def demand_on(sensitive: Table, limits: Mapping[Any, Limits]) -> Demand:
    """Return what is demanded of records, whether it can be kept or not."""
    return Demand(tuple(map(_confidential, sensitive, limits.values())), tuple(limits.values()))


def _confidential(column: Coded, limits: Limits) -> Confidential:
    cells, kind = column.cells, column.kind
    missing = ~cells.present
    if limits.t is not None and cells.states is not None and np.unique(cells.states[missing]).size > 1:
        raise InvalidData(
            f"column {shown_name(column.name)} has several codes for missing values, which stay different in the "
            "masked file, but t counts all missing values as one. Make them one code, or leave the codes out "
            f"({setting('missing_codes')}), so that each is a value of its own.",
            columns=(column.name,),
        )
    codes = np.zeros(missing.size, dtype=np.int64)
    if isinstance(kind, Nominal):  # codes already, which a taxonomy's ancestors are listed by
        codes[~missing] = cells.known.astype(np.int64)
    else:
        codes[~missing] = np.unique(cells.known, return_inverse=True)[1].ravel()
    kin = np.array(kind.kin, dtype=np.int64) if isinstance(kind, Taxonomy) else None
    return Confidential.of(codes, missing=missing, ordered=not isinstance(kind, Nominal), kin=kin, name=column.name)


def ways_of(n: int, demand: Demand, way: str, units: Units | None = None) -> tuple[str, ...]:
    """Name the ways to try on n records: all that fit for "auto", else the one that is asked for, if it fits."""
    fit = fitting(n, demand, units)
    if way != "auto" and way not in fit:
        raise InvalidParameter(
            f"{setting('diversity', way)} does not fit: {_why_not(way, demand, units)}. Choose one of "
            f"{', '.join(map(repr, ('auto', *fit)))}.",
            parameter="diversity",
        )
    return fit if way == "auto" else (way,)


def _why_not(way: str, demand: Demand, units: Units | None) -> str:
    if units is not None:
        return "it chooses single records, and not units"
    if way == "candidates":
        return "it is for l, which is not asked for"
    if all(limits.t is None for limits in demand.limits):
        return "it is for t, which is not asked for"
    return "no column that t applies to has an order" if way == "closeness" else "there are too many records"


def keep_demand(
    placed: Placed,
    groups: Labels,
    pieces: Sequence[Labels],
    strata: Labels,
    k: int,
    ways: Sequence[str],
    lost: Callable[[Labels], float],
    work: Work,
) -> tuple[Labels, Labels, str, float]:
    """Form groups that keep a demand; of several ways, take the one that loses least.

    Returns the groups, the pieces whose records may still be in one group (they were grouped together), the way, and
    the loss.

    Parameters
    ----------
    placed : Placed
        The records, and what is demanded of them.
    groups : array of shape (n,)
        Any groups of at least k, or of k units.
    pieces : list of arrays
        The rows that were grouped together: parts of a stratum. Those that cannot keep the demand by themselves are
        joined to others of their stratum, whole ones at the latest.
    strata : array of shape (n,)
    ways : sequence of str
        As `ways_of` names them.
    lost : callable
        Gives the information loss of groups.
    """
    demand = placed.demand
    assert demand is not None
    together = _together(pieces, strata, demand)
    tried = [
        _formed(placed, groups, together, k, one, own) for one, own in zip(ways, work.stages(len(ways)), strict=True)
    ]
    kept = [(lost(labels), labels, one) for one, labels in zip(ways, tried, strict=True) if demand.kept(labels)]
    if not kept:
        raise PromiseBroken("groups were formed that do not keep the l or t that was demanded of confidential columns.")
    loss, best, taken = min(kept, key=itemgetter(0))
    joined = np.empty_like(groups)
    for piece, rows in enumerate(together):
        joined[rows] = piece
    return best, joined, taken, loss


def _formed(placed: Placed, groups: Labels, together: Sequence[Labels], k: int, way: str, work: Work) -> Labels:
    """Form the groups of all pieces in one way."""

    def form(rows: Labels, told: Progress) -> Labels:
        own = placed.take(rows)
        assert own.demand is not None
        return form_diverse(own.records, k, numbered(groups[rows]), own.demand, way, units=own.units, progress=told)

    return groups_of_all(together, in_pieces(together, form, work))


def _together(pieces: Sequence[Labels], strata: Labels, demand: Demand) -> list[Labels]:
    """Join pieces that cannot keep a demand as a whole to others of their stratum, in the order in which they come."""
    found: list[Labels] = []
    of_stratum: dict[int, list[Labels]] = {}
    for rows in pieces:
        of_stratum.setdefault(int(strata[rows[0]]), []).append(rows)
    for parts in of_stratum.values():
        joined: list[Labels] = []
        waiting = np.empty(0, dtype=np.int64)
        for rows in parts:
            waiting = np.sort(np.concatenate([waiting, rows]))
            if _keeps(waiting, demand):
                joined.append(waiting)
                waiting = np.empty(0, dtype=np.int64)
        while waiting.size and joined:  # the last ones go back to those before them; the stratum keeps it as a whole
            waiting = np.sort(np.concatenate([joined.pop(), waiting]))
            if _keeps(waiting, demand):
                break
        found += [*joined, *([waiting] if waiting.size else [])]
    return found


def _keeps(rows: Labels, demand: Demand) -> bool:
    return demand.take(rows).kept(np.zeros(rows.size, dtype=np.int64))


def joined_pieces(pieces: Labels, together: Labels) -> Labels:
    """Return the pieces (n,) that remain where those that were grouped `together` (n,) become one."""
    found = pieces.copy()
    for rows in rows_of(together):
        own = np.unique(found[rows])
        if own.size > 1:
            found[np.isin(found, own)] = own[0]
    return np.asarray(np.unique(found, return_inverse=True)[1].ravel())
