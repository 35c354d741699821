"""The groups, the strata, the records left out, and those that stand alone."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import distinct_of, first_of_each, split_classes
from microagg.algorithms.kernels.alike import digests_of, digests_of_sets
from microagg.algorithms.units import held_by
from microagg.columns import frames
from microagg.columns.kinds import Nominal, Number, Semi
from microagg.columns.roles import Role
from microagg.errors import InvalidData
from microagg.judge.bins import SMALL_CELL
from microagg.judge.parts import Alone, JudgedGroups, LeftOut, MissingValues, SizeCount, Strata, UnitFacts
from microagg.judge.run import JudgedRun, columns_of
from microagg.judge.text import count, counted, percent, shown
from microagg.measures.anonymity import RebuiltUnits
from microagg.work import Progress, part, stage, tell

if TYPE_CHECKING:
    from microagg.release import Release

_MOST_SIZES = 8


def groups_of(release: "Release[Any]", run: JudgedRun, public: bool) -> JudgedGroups:
    """Count the groups, and count k again in the released file."""
    found = release.anonymity
    return JudgedGroups(
        promised=run.k,
        reached=release.k_achieved,
        counted=None if public and run.per_column else found.k,
        unique=None if public else found.n_unique,
        per_column=run.per_column,
        records=release.n_records,
        groups=release.n_groups,
        smallest=release.smallest_group,
        largest=None if public else release.largest_group,
        sizes=() if public or release.groups.ndim == 2 else _sizes(release),
        units=_units(release, public),
    )


def _units(release: "Release[Any]", public: bool) -> UnitFacts | None:
    """Return what is promised of units; None where no unit is named."""
    name, choices = release.recipe.roles.unit, release.recipe.units
    if name is None:
        return None
    found, once = release.anonymity, release.once
    return UnitFacts(
        named=None if public else shown(name),
        different=None if public else found.units,
        share=None if public else found.share,
        in_part=choices.share == "limited",
        whole=choices.release == "pseudonym",
        merged=None if public else _merged(release),
        once=() if once is None else tuple(map(shown, once.columns)),
        loss_by_row=None if once is None or public else once.loss_by_row,
        loss_once=None if once is None or public else once.loss,
        rebuilt=None if public else _rebuilt(release),
        joined=0 if public else release.spellings_joined,
    )


def _rebuilt(release: "Release[Any]") -> RebuiltUnits | None:
    """Count the units that come together again; names as they may be displayed."""
    found = release.rebuilt
    return found and replace(found, by_column={shown(name): units for name, units in found.by_column.items()})


def _merged(release: "Release[Any]") -> tuple[int, float] | None:
    """Find the largest group that holds more than half of its stratum: its rows, and their share in percent.

    One unit with nearly 1/k of the rows, in a place of its own, can bring that about. A stratum that is small anyway
    does not count.
    """
    if release.groups.ndim == 2 or release.recipe.units.release == "pseudonym":
        return None
    strata = frames.category_codes(frames.open_frame(release.data), columns_of(release, Role.STRATUM))
    sizes = np.bincount(release.groups)
    shares = sizes / np.bincount(strata)[strata[first_of_each(release.groups)]]
    found = np.flatnonzero((shares > 0.5) & (sizes >= SMALL_CELL * release.recipe.k))
    if not found.size:
        return None
    worst = found[sizes[found].argmax()]
    return int(sizes[worst]), 100.0 * float(shares[worst])


def _sizes(release: "Release[Any]") -> tuple[SizeCount, ...]:
    """Count groups by size; beyond eight sizes the largest are taken together."""
    n = release.n_records
    if release.whole is None:
        values, counts = np.unique(np.bincount(release.groups), return_counts=True)
        rows = list(zip(values.tolist(), counts.tolist(), strict=True))
    else:
        rows = list(release.whole.group_sizes.items())
    alone = rows if len(rows) <= _MOST_SIZES else rows[: _MOST_SIZES - 1]
    found = [SizeCount(size, size, number, 100.0 * size * number / n, count(size)) for size, number in alone]
    rest = rows[len(alone) :]
    if rest:
        held = sum(size * number for size, number in rest)
        least, most = rest[0][0], rest[-1][0]
        size = count(least) + (f" to {count(most)}" if most > least else "")
        found.append(SizeCount(least, most, sum(number for _, number in rest), 100.0 * held / n, size))
    return tuple(found)


def left_out_of(release: "Release[Any]", run: JudgedRun, public: bool) -> LeftOut:
    """Count the records that were left out; in public not exactly, and not at all where they are few."""
    number = release.n_dropped
    read = number + release.n_records
    share = 100.0 * number / read
    small = SMALL_CELL * run.k
    if not public or not number:
        found = LeftOut(number, None if public else read, share)
    elif number < small:
        found = LeftOut(None, None, None, below=small)
    else:
        found = LeftOut(None, None, float(max(1, round(share))))
    whole = release.recipe.roles.unit is not None and release.recipe.units.release == "pseudonym"
    return replace(found, text=_left_out_words(found, whole, run.k))


def _left_out_words(found: LeftOut, whole: bool, k: int) -> str:
    """Return how many records were left out, and why; `whole` says whether units are released by numbers."""
    if found.records == 0:
        return "No record was left out."
    if found.records is None or found.read is None:
        amount = f"Fewer than {found.below} records were"
        if found.below is None:
            amount = f"About {found.percent:g} % of the records were"
        why = "too few units have the same number of rows, or the same waves" if whole else "a value is missing"
        return f"{amount} left out because {why}."
    why = "had no value in a masked column or a stratum"
    if whole:
        why = f"belonged to units whose number of rows, or whose waves, fewer than {k} units have"
    return (
        f"{counted(found.records, 'record')} of {count(found.read)} ({percent(found.percent)}) {why} and "
        f"{'is' if found.records == 1 else 'are'} not in the release. If such records differ from the others, the "
        f"release no longer represents the file. Loss and linkage compare record by record: they are those of the "
        f"released records. Totals, distributions, correlations and results are compared with the whole original."
    )


def strata_of(release: "Release[Any]", run: JudgedRun, public: bool) -> Strata | None:
    """Count the strata and their records; None where there are none."""
    names = columns_of(release, Role.STRATUM)
    if not names:
        return None
    if release.whole is None:
        sizes = np.bincount(frames.category_codes(frames.open_frame(release.data), names))
    else:
        sizes = np.array(release.whole.strata)
    if public:
        return Strata(int(sizes.size), None, None, None)
    small = int(np.count_nonzero(sizes < SMALL_CELL * run.k))
    return Strata(int(sizes.size), int(sizes.min()), int(sizes.max()), small)


def standing_alone(
    release: "Release[Any]",
    run: JudgedRun,
    repeating: Mapping[Any, NDArray[np.int64]],
    progress: Progress | None = None,
) -> Alone:
    """Count the records with unique values: in what is released unchanged, and in all that is released."""
    frame = frames.open_frame(release.data)
    first, second, third = (stage(progress, number, 3) for number in range(3))
    together = frames.category_codes(frame, columns_of(release, Role.STRATUM), part(first, 0, 0, 1))
    by_column = {}
    unchanged = columns_of(release, *run.as_it_is)
    for done, name in enumerate(unchanged):
        tell(first, done, len(unchanged))
        try:
            codes = frames.category_codes(frame, [name])
        except InvalidData:  # lists and mixed types cannot be counted
            continue
        by_column[shown(name)] = _lone(codes)
        together = split_classes(together, codes, codes)
    names = [*columns_of(release, Role.QUASI), *release.recipe.weights_by_group]
    masked = frames.row_classes(frame, names, second)
    tell(third, 0, 1)
    lone = _lone_in_all(release, split_classes(masked, together, together))
    return Alone(
        by_column=by_column,
        together=_lone(together) if by_column else 0,
        by_all=lone,
        few_units=_few_units(release, run.k, repeating),
        amounts=_lone_amounts(release),
        rare=_rare(release, run.k),
        medians=_own_medians(release) if run.aggregate == "median" else {},
    )


def _lone_in_all(release: "Release[Any]", classes: NDArray[np.int64]) -> int:
    """Count the records that are unique in all that is released; of units whose rows are known to belong together, all.

    Such a unit is unique by its rows taken together, where no other unit has the same rows.
    """
    units = release.pair.units
    if units is None or release.recipe.units.release != "pseudonym":
        return _lone(classes)
    digests = digests_of_sets(digests_of([classes.view(np.uint64)], os.urandom(16)), units.codes)
    _, alike, counts = np.unique(digests, axis=1, return_inverse=True, return_counts=True)
    return int(np.count_nonzero(counts[alike.ravel()][units.codes] == 1))


def _lone_amounts(release: "Release[Any]") -> dict[str, int]:
    """Count, for each column with a spike, the groups whose released mean is that of one's amounts and of spikes."""
    found: dict[str, int] = {}
    for before, after in zip(*release.pair, strict=True):
        if not isinstance(before.kind, Semi) or release.groups.ndim == 2:
            continue
        spike, labels = before.kind.spike, release.groups
        some, n_groups = before.cells.present & (before.values != spike), int(labels.max()) + 1
        off = np.bincount(labels[some], minlength=n_groups)
        if release.pair.units is not None:
            off = held_by(labels[some], release.pair.units.codes[some], n_groups).units
        released = np.zeros(off.size, dtype=bool)
        released[labels[after.cells.present & (after.values != spike)]] = True
        number = int(np.count_nonzero((off == 1) & released))
        found |= {shown(before.name): number} if number else {}
    return found


def _rare(release: "Release[Any]", k: int) -> dict[str, int]:
    """Count, for each masked column of categories, those released that fewer than k records, or units, have."""
    found: dict[str, int] = {}
    for before, after in zip(*release.pair, strict=True):
        if isinstance(before.kind, Nominal):
            codes = before.cells.known.astype(np.int64)
            counts = np.bincount(codes) if release.whole is None else release.whole.counts[before.name]
            if release.pair.units is not None:
                counts = held_by(codes, release.pair.units.codes[before.cells.present], counts.size).units
            number = int(np.count_nonzero(counts[np.unique(after.cells.known.astype(np.int64))] < k))
            found |= {shown(before.name): number} if number else {}
    return found


def _own_medians(release: "Release[Any]") -> dict[str, int]:
    """Count, for each column of quantities or dates, the cells whose released median is the record's own value.

    Not where all members have that value, nor at a spike: there a mean would be the same.
    """
    found: dict[str, int] = {}
    for place, (before, after) in enumerate(zip(*release.pair, strict=True)):
        if not isinstance(before.kind, Number):
            continue
        labels = release.groups if release.groups.ndim == 1 else release.groups[:, place]
        known = before.cells.present
        one = np.zeros(int(labels.max()) + 1)
        one[labels[known]] = before.values[known]
        differ = np.zeros(one.size, dtype=bool)
        differ[labels[known & (before.values != one[labels])]] = True
        own = known & after.cells.present & (before.values == after.values) & differ[labels]
        if isinstance(before.kind, Semi):
            own &= before.values != before.kind.spike
        number = int(np.count_nonzero(own))
        found |= {shown(before.name): number} if number else {}
    return found


def _few_units(release: "Release[Any]", k: int, repeating: Mapping[Any, NDArray[np.int64]]) -> dict[str, int]:
    """Count, for each column that shows which rows belong together, the groups with fewer than k of its values.

    Such a column shows which rows belong to one person or household, and k counts rows.
    """
    if release.groups.ndim == 2:
        return {}
    found: dict[str, int] = {}
    for name, units in repeating.items():
        n_units = int(units.max()) + 1
        pairs = distinct_of(release.groups * n_units + units)
        few = int(np.count_nonzero(np.bincount(pairs // n_units) < k))
        found |= {shown(name): few} if few else {}
    return found


def _lone(codes: NDArray[np.int64]) -> int:
    return int(np.count_nonzero(np.bincount(codes) == 1))


def missing_of(release: "Release[Any]", run: JudgedRun, public: bool) -> MissingValues:
    """Count the missing cells of the masked columns, and what became of them; in public only whether there are any."""
    whole = release.whole
    cells = sum(column.n_missing for column in release.pair.masked) if whole is None else whole.missing_cells
    if public:
        return MissingValues(any_released=cells > 0)
    found = release.missing
    by_pattern = run.missing == "pattern" and found.patterns > 0
    return MissingValues(
        cells=cells,
        any_released=cells > 0,
        patterns=found.patterns if by_pattern else None,
        moved=found.moved if by_pattern else None,
        filled=sum(found.filled.values()),
        blanked=sum(found.blanked.values()),
    )


def idle_codes_of(release: "Release[Any]") -> dict[str, tuple[str, ...]]:
    """The codes for missing values that did nothing: those no record has, and of unmasked columns none by name."""
    columns, whole = {column.name: column for column in release.pair.original}, release.whole
    found: dict[str, tuple[str, ...]] = {}
    for name, codes in release.recipe.missing_codes.codes.items():
        if name not in columns:
            found |= {} if name in release.recipe.recode.recode else {shown(name): ()}  # there they are left unchanged
            continue
        met = set(np.unique(columns[name].cells.all_states).tolist()) if whole is None else whole.states[name]
        idle = tuple(shown(code) for state, code in enumerate(codes, 2) if state not in met)
        found |= {shown(name): idle} if idle else {}
    return found
