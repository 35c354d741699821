"""The groups, the strata, the records left out, and those that stand alone."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from microagg.equivalence import split_classes
from microagg.errors import InvalidData
from microagg.io import frames
from microagg.judgement.bins import SMALL_CELL
from microagg.judgement.names import shown
from microagg.judgement.parts import Alone, DiversityFacts, Groups, LeftOut, MissingValues, SizeCount, Strata, finite
from microagg.judgement.run import Run, columns_of
from microagg.schema import Role

if TYPE_CHECKING:
    from microagg.release import Release

_MOST_SIZES = 8


def groups_of(release: "Release[Any]", run: Run, public: bool) -> Groups:
    """Count the groups, and count k again in the released file as it is."""
    found = release.anonymity
    return Groups(
        promised=run.k,
        reached=release.k_achieved,
        counted=None if public and run.per_column else found.k,
        unique=None if public else found.n_unique,
        per_column=run.per_column,
        records=found.n_records,
        groups=release.n_groups,
        smallest=release.smallest_group,
        largest=None if public else release.largest_group,
        sizes=() if public or release.groups.ndim == 2 else _sizes(np.bincount(release.groups)),
    )


def _sizes(sizes: NDArray[np.int64]) -> tuple[SizeCount, ...]:
    """Count groups by size; beyond eight sizes the largest are taken together."""
    n = int(sizes.sum())
    values, counts = np.unique(sizes, return_counts=True)
    rows = list(zip(values.tolist(), counts.tolist(), strict=True))
    alone = rows if len(rows) <= _MOST_SIZES else rows[: _MOST_SIZES - 1]
    found = [SizeCount(size, size, number, 100.0 * size * number / n) for size, number in alone]
    rest = rows[len(alone) :]
    if rest:
        held = sum(size * number for size, number in rest)
        found.append(SizeCount(rest[0][0], rest[-1][0], sum(number for _, number in rest), 100.0 * held / n))
    return tuple(found)


def left_out_of(release: "Release[Any]", run: Run, public: bool) -> LeftOut:
    """Count the records that were left out; in public not exactly, and not at all where they are few."""
    number = release.n_dropped
    read = number + len(release.groups)
    percent = 100.0 * number / read
    if not public or not number:
        return LeftOut(number, None if public else read, percent)
    small = SMALL_CELL * run.k
    if number < small:
        return LeftOut(None, None, None, below=small)
    return LeftOut(None, None, float(max(1, round(percent))))


def strata_of(release: "Release[Any]", run: Run, public: bool) -> Strata | None:
    """Count the strata and their records; None where there are none."""
    names = columns_of(release, Role.STRATUM)
    if not names:
        return None
    sizes = np.bincount(frames.category_codes(frames.open_frame(release.data), names))
    if public:
        return Strata(int(sizes.size), None, None, None)
    small = int(np.count_nonzero(sizes < SMALL_CELL * run.k))
    return Strata(int(sizes.size), int(sizes.min()), int(sizes.max()), small)


def standing_alone(release: "Release[Any]", run: Run) -> Alone:
    """Count the records whose values nobody else has: in what is released as it is, and in all that is released."""
    frame = frames.open_frame(release.data)
    together = frames.category_codes(frame, columns_of(release, Role.STRATUM))
    by_column = {}
    for name in columns_of(release, *run.as_it_is):
        try:
            codes = frames.category_codes(frame, [name])
        except InvalidData:  # lists and mixed types cannot be counted
            continue
        by_column[shown(name)] = _lone(codes)
        together = split_classes(together, codes, codes)
    masked = frames.category_codes(frame, [*columns_of(release, Role.QUASI), *release.recipe.weights_by_group])
    lone = _lone(split_classes(masked, together, together))
    return Alone(by_column, _lone(together) if by_column else 0, lone, _few_units(release, run.k))


def _few_units(release: "Release[Any]", k: int) -> dict[str, int]:
    """Count, for each dropped identifier that several rows share, the groups with fewer than k different ones.

    Such a column tells which rows belong to one person or household, and k counts rows. It is known of what was read
    from a file, all of whose rows are released.
    """
    if release.source is None or release.n_dropped or release.groups.ndim == 2:
        return {}
    frame = frames.open_frame(release.source.table)
    found: dict[str, int] = {}
    for name in columns_of(release, Role.IDENTIFIER):
        units = frames.category_codes(frame, [name])
        n_units = int(units.max()) + 1
        if n_units < units.size:
            pairs = np.unique(release.groups * n_units + units)
            few = int(np.count_nonzero(np.bincount(pairs // n_units) < k))
            found |= {shown(name): few} if few else {}
    return found


def _lone(codes: NDArray[np.int64]) -> int:
    return int(np.count_nonzero(np.bincount(codes) == 1))


def missing_of(release: "Release[Any]", run: Run, public: bool) -> MissingValues:
    """Count the missing cells of the masked columns, and what became of them; in public only whether there are any."""
    cells = sum(column.n_missing for column in release._both()[1])
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


def diversity_of(release: "Release[Any]") -> tuple[DiversityFacts, ...]:
    """Give l and t of the confidential columns."""
    return tuple(
        DiversityFacts(
            column=shown(name),
            distinct=own.distinct,
            entropy=float(own.entropy),
            t=float(own.t),
            t_ordered=finite(own.t_ordered),
            uniform_groups=own.uniform_groups,
            uniform_records=own.uniform_records,
        )
        for name, own in release.anonymity.diversity.items()
    )
