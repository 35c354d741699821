"""What records with the same masked values disclose of confidential columns."""

from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.algorithms.diversity.demand import Confidential, HeldValues, Limits
from microagg.algorithms.diversity.ways import WAYS
from microagg.columns import frames
from microagg.columns.roles import Role
from microagg.columns.weights import Labels
from microagg.judge.names import shown
from microagg.judge.parts import Bar, Demanded, GivenAway, JudgedDemands, WorstGroup, finite
from microagg.judge.run import columns_of
from microagg.measures.diversity import given_away, goals_of

if TYPE_CHECKING:
    from microagg.release import Release


_MOST_BARS = 12


def diversity_of(release: "Release[Any]") -> tuple[GivenAway, ...]:
    """Return l and t of the confidential columns; of those that a demand is about, as the demand counts them."""
    demand = release._demand
    counted: dict[Any, tuple[Confidential, HeldValues]] = {}
    classes = np.empty(0, dtype=np.int64)
    if demand is not None:
        classes = _classes(release)
        figures = zip(demand.columns, demand.figures(classes), strict=True)
        counted = {column.name: (column, own) for column, own in figures}
    sizes = np.bincount(classes)
    found = []
    for name, own in release.anonymity.diversity.items():
        given = GivenAway(
            column=shown(name),
            distinct=own.distinct,
            entropy=float(own.entropy),
            t=float(own.t),
            t_ordered=finite(own.t_ordered),
            uniform_groups=own.uniform_groups,
            uniform_records=own.uniform_records,
        )
        found.append(_as_demanded(given, *counted[name], sizes) if name in counted else given)
    return tuple(found)


def _as_demanded(own: GivenAway, column: Confidential, figures: HeldValues, sizes: Labels) -> GivenAway:
    """Return what is given away of a column by the kind it has: a text file has its numbers as text."""
    uniform, t = figures.distinct <= 1, float(figures.t.max())
    return GivenAway(
        column=own.column,
        distinct=int(figures.distinct.min()),
        entropy=float(figures.entropy.min()),
        t=own.t if column.ordered else t,
        t_ordered=t if column.ordered else None,
        uniform_groups=int(np.count_nonzero(uniform)),
        uniform_records=int(sizes[uniform].sum()),
        by_taxonomy=column.kin is not None,
    )


def kept_of(release: "Release[Any]", public: bool) -> JudgedDemands | None:
    """Return what is demanded of confidential columns, counted again in the released file; None where nothing is.

    In public that is what anybody can count in the release, and neither what it cost nor which group is worst.
    """
    facts, demand = release.diversity, release._demand
    if facts is None or demand is None:
        return None
    classes = _classes(release)
    reached, figures = given_away(demand, classes), demand.figures(classes)
    columns = []
    for column, limits, own in zip(demand.columns, demand.limits, figures, strict=True):
        before = facts.before[column.name]
        columns.append(
            Demanded(
                column=shown(column.name),
                goals=goals_of(limits, reached[column.name]),
                measured="taxonomy" if column.kin is not None else "order" if column.ordered else "values",
                uniform_before=None if public else before.uniform,
                groups_before=None if public else before.groups,
                worst=None if public else _worst(release, column, limits, own, classes),
            )
        )
    return JudgedDemands(
        columns=tuple(columns),
        holds=demand.kept(classes),
        way=facts.way,
        said=WAYS[facts.way],
        loss_before=None if public else finite(facts.loss_before),
        loss_after=None if public else finite(facts.loss_after),
    )


def _classes(release: "Release[Any]") -> Labels:
    """Number records such that those with the same released values have the same number."""
    keys = [*columns_of(release, Role.QUASI, Role.STRATUM), *release.recipe.weights_by_group]
    return frames.category_codes(frames.open_frame(release.data), keys)


def _worst(
    release: "Release[Any]", column: Confidential, limits: Limits, figures: HeldValues, classes: Labels
) -> WorstGroup:
    """Find the group that is farthest from the file, or holds least where t is not demanded; the first of several."""
    badness = figures.t if limits.t is not None else -figures.entropy
    bad = np.flatnonzero(badness >= badness.max() - 1e-9)
    first = np.unique(classes, return_index=True)[1]
    worst = bad[first[bad].argmin()]
    own = column.codes[classes == worst]
    values = frames.open_frame(release.data).get_column(column.name)
    return WorstGroup(int(own.size), int(np.isin(classes, bad).sum()), _bars(column, own, values))


def _bars(column: Confidential, own: Labels, values: Any) -> tuple[Bar, ...]:
    """Return the shares of values in the file and in a group: of the commonest, or of classes of values in order."""
    m = column.n_values
    file, group = column.counts, np.bincount(own, minlength=m + 1)
    where = np.unique(column.codes, return_index=True)  # a record that has each value
    rows = dict(zip(where[0].tolist(), where[1].tolist(), strict=True))

    def called(code: int) -> str:
        return _written(values[rows[code]])

    def bar(of: str, label: str, codes: Any) -> Bar:
        shares = (100.0 * float(counts[codes].sum()) / float(counts.sum()) for counts in (file, group))
        return Bar(of, label, *shares)

    if column.ordered and m > _MOST_BARS:
        runs = _runs(file[:m])
        ends = [(_rounded(called(run[0])), _rounded(called(run[-1]))) for run in runs]
        names = [low if low == high else f"{low} – {high}" for low, high in ends]
        bars = [bar("category", name, run) for name, run in zip(names, runs, strict=True)]
    else:
        order = np.arange(m) if m <= _MOST_BARS and column.ordered else np.argsort(-file[:m], kind="stable")
        bars = [bar("category", called(code), [code]) for code in order[:_MOST_BARS].tolist()]
        if m > _MOST_BARS:
            bars.append(bar("others", str(m - _MOST_BARS), order[_MOST_BARS:]))
    return tuple(bars + ([bar("missing", "", [m])] if file[m] else []))


def _runs(counts: Labels) -> list[Labels]:
    """Cut values in order into at most twelve classes of about as many records each."""
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    classes = np.minimum((middle * _MOST_BARS).astype(np.int64), _MOST_BARS - 1)
    return [np.flatnonzero(classes == number) for number in np.unique(classes)]


def _rounded(written: str) -> str:
    """Write the end of a class of numbers shortly; dates and words stay."""
    try:
        value = float(written)
    except ValueError:
        return written
    return f"{value:.5g}" if abs(value) < 1e5 else f"{value:.0f}" if abs(value) < 1e15 else written


def _written(value: Any) -> str:
    """Write a value as it may be displayed, numbers without needless digits."""
    return f"{value:.10g}" if isinstance(value, (float, np.floating)) else shown(value)
