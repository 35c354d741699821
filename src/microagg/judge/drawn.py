"""The masked columns for the pictures: bins of quantities and dates, bars of categories, what stands apart."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from microagg.checks import check_jobs
from microagg.columns import frames
from microagg.columns.kinds import Date, Semi
from microagg.columns.table import Coded
from microagg.errors import InvalidData
from microagg.judge.bins import SMALL_CELL, BinCut, before_and_after, cut_of_dates, cut_of_numbers, masked_only
from microagg.judge.parts import Bar, Distribution, finite
from microagg.judge.run import JudgedRun
from microagg.judge.text import percent, shown
from microagg.work import Progress, in_parallel

if TYPE_CHECKING:
    from microagg.release import Release

MOST_DRAWN = 30
_MOST_CATEGORIES = 12
_UNDRAWN = {
    "": "",
    "constant": "all records have one value",
    "nearly constant": "nearly all records have one value",
    "few": "too few records to show in bins",
}


def distributions_of(
    release: "Release[Any]", run: JudgedRun, public: bool, progress: Progress | None = None
) -> tuple[tuple[Distribution, ...], tuple[str, ...]]:
    """Return the masked columns for the pictures, at most 30; and the names of the others."""
    original, written = release.pair
    whole = original if release.pair.everybody is None else release.pair.everybody
    both = list(zip(whole, written, strict=True))
    # Where there are too many, those that lost most are worth seeing; in public that would show which did.
    lost = [release.information.per_column[before.name] for before, _ in both]
    order = list(range(len(both)))
    if not public and len(both) > MOST_DRAWN:
        order.sort(key=lambda j: -lost[j])
    places = order[:MOST_DRAWN]

    def one(j: int, _: Callable[[], None]) -> Distribution:
        before, after = both[j]
        cut = _cut_of(release, after)
        if public:
            drawn = _for_public(after, run.k, cut)
        else:
            drawn = replace(_for_internal(before, after, cut), lost_percent=finite(lost[j]), lost=percent(lost[j]))
        return replace(drawn, note=_UNDRAWN[drawn.undrawn])

    found = in_parallel(one, places, check_jobs(None), progress)
    return tuple(found), tuple(shown(before.name) for j, (before, _) in enumerate(both) if j not in places)


def _cut_of(release: "Release[Any]", column: Coded) -> BinCut:
    """Return how the axis of a column is cut: at round numbers, or at dates."""
    if isinstance(column.kind, Date):
        try:
            return cut_of_dates(frames.open_frame(release.data).get_column(column.name), column.name)
        except InvalidData:  # nothing is released of it, so it is not known how it was written
            pass
    return cut_of_numbers


def _for_internal(before: Coded, after: Coded, cut: BinCut) -> Distribution:
    """Draw a column before and after masking."""
    name, n = shown(before.name), (before.values.size, after.values.size)
    if before.shown:
        found = Distribution(name, (), (), (), None, bars=_categories(before, after))
    else:
        values, released = (_off_spike(column) for column in (before, after))
        found = before_and_after(name, values, released, cut, n)
        bars = [*_spike(before, after), *_missing(before, after)]
        found = replace(found, bars=tuple(bars), undrawn="" if bars else found.undrawn)
    return replace(found, kind=before.kind.name)


def _off_spike(column: Coded) -> NDArray[np.float64]:
    """Return the values that are present, without the spike where there is one."""
    known = column.cells.known
    return known[known != column.kind.spike] if isinstance(column.kind, Semi) else known


def _percent(where: NDArray[np.bool_]) -> float:
    return 100.0 * np.count_nonzero(where) / where.size


def _spike(before: Coded, after: Coded) -> list[Bar]:
    if not isinstance(before.kind, Semi):
        return []
    spike = before.kind.spike
    return [Bar("spike", f"{spike:g}", _percent(before.values == spike), _percent(after.values == spike))]


def _missing(before: Coded, after: Coded) -> list[Bar]:
    shares = [_percent(~column.cells.present) for column in (before, after)]
    return [Bar("missing", "", *shares)] if any(shares) else []


def _categories(before: Coded, after: Coded) -> tuple[Bar, ...]:
    """Return the commonest categories: those without an order by their share, levels in their order; then the rest."""
    was, now = (_counts(column, len(before.shown)) for column in (before, after))
    chosen = [int(code) for code in np.argsort(-was, kind="stable")[:_MOST_CATEGORIES] if was[code] or now[code]]
    if before.kind.is_ordered:
        chosen.sort()
    n, m = before.values.size, after.values.size
    bars = [Bar("category", shown(before.shown[j]), 100.0 * was[j] / n, 100.0 * now[j] / m) for j in chosen]
    others = [j for j in range(was.size) if j not in chosen and (was[j] or now[j])]
    if others:
        bars.append(Bar("others", str(len(others)), 100.0 * was[others].sum() / n, 100.0 * now[others].sum() / m))
    return (*bars, *_missing(before, after))


def _counts(column: Coded, n_categories: int) -> NDArray[np.int64]:
    return np.bincount(column.cells.known.astype(np.int64), minlength=n_categories)


def _for_public(after: Coded, k: int, cut: BinCut) -> Distribution:
    """Draw a masked column: whole percent, and nothing of few records."""
    name, n, least = shown(after.name), after.values.size, SMALL_CELL * k
    missing = after.values.size - after.cells.known.size
    apart: list[tuple[str, str, int]] = [("missing", "", missing)] if missing >= least else []
    if after.shown:
        bars = _public_bars(after, apart, least)
        found = Distribution(name, (), (), (), None, "" if bars else "few", bars=bars)
    else:
        values = _off_spike(after)
        if isinstance(after.kind, Semi):
            at_spike = after.cells.known.size - values.size
            apart = [("spike", f"{after.kind.spike:g}", at_spike), *apart] if at_spike >= least else apart
        found = masked_only(name, values, k, cut, n)
        if found.edges:  # what stands apart would else follow from what is not drawn
            found = replace(found, bars=tuple(_whole(*one, n) for one in apart))
    return replace(found, kind=after.kind.name)


def _public_bars(after: Coded, apart: Sequence[tuple[str, str, int]], least: int) -> tuple[Bar, ...]:
    """Return the categories of many records; those of few, and the commonest where the few are too few, as others."""
    counts, n = _counts(after, len(after.shown)), after.values.size
    order = [int(code) for code in np.argsort(-counts, kind="stable")]
    named = [code for code in order if counts[code] >= least][:_MOST_CATEGORIES]
    rest = n - int(counts[named].sum()) - sum(number for _, _, number in apart)
    while 0 < rest < least and named:
        rest += int(counts[named.pop()])
    if not named or 0 < rest < least:
        return ()
    if after.kind.is_ordered:
        named.sort()
    bars = [_whole("category", shown(after.shown[code]), int(counts[code]), n) for code in named]
    return tuple(bars + [_whole("others", "", rest, n)] * bool(rest) + [_whole(*one, n) for one in apart])


def _whole(of: str, label: str, number: int, n: int) -> Bar:
    return Bar(of, label, None, float(round(100.0 * number / n)))
