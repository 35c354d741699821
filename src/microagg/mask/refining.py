"""How groups are refined: those of each block by themselves, then those of districts across the borders of blocks."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.districts import GroupCorners, cut_districts, most_of_district, share_of_corners
from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.equivalence import first_of_each, rows_of
from microagg.algorithms.kernels.groups import number_groups
from microagg.algorithms.kernels.records import Records, take
from microagg.algorithms.refine import Refinement, refine
from microagg.algorithms.units import Units
from microagg.recipe import Refine
from microagg.work import Progress, Work, in_parallel

Labels = NDArray[np.int64]


class Placed(NamedTuple):
    """Records where they lie, whose they are, and what is demanded of their groups: all of them, or of one piece."""

    records: Records
    units: Units | None = None
    demand: Demand | None = None

    def take(self, rows: Labels) -> "Placed":
        """Return some of the records."""
        units = None if self.units is None else self.units.take(rows)
        return Placed(take(self.records, rows), units, None if self.demand is None else self.demand.take(rows))

    def by(
        self, how: Refine, k: int, groups: Labels, *, reheat: bool = False, n_jobs: int = 1, progress: Progress | None
    ) -> Refinement:
        """Refine groups of these records; `reheat` where they were refined before, but not across borders."""
        labels = groups.copy()
        number_groups(labels)
        return refine(
            self.records,
            labels,
            k,
            effort=how.effort,
            seed=how.seed,
            reheat=reheat,
            n_jobs=n_jobs,
            progress=progress,
            units=self.units,
            demand=self.demand,
        )


def refine_groups(
    placed: Placed,
    blocks: Sequence[Labels],
    pieces: Labels,
    groups: Labels,
    k: int,
    how: Refine,
    work: Work,
) -> tuple[Labels, int]:
    """Refine the groups of a file; give them, numbered by lowest row, and the moves that were offered.

    `blocks` are the rows of each block, which groups were formed in, and `pieces` (n,) what blocks were cut from, whose
    groups stay apart.
    """
    n_blocks = np.bincount([pieces[rows[0]] for rows in blocks])
    across = bool(n_blocks.max() > 1)
    found, moves = _refined(placed, blocks, groups, k, how, work.stage(0, 1 + across), reheat=False)
    if across:
        most = most_of_district(max(rows.size for rows in blocks))
        districts = _districts(placed.records, found, pieces, n_blocks > 1, k, most)
        found, more = _refined(placed, districts, found, k, how, work.stage(1, 2), reheat=True)
        moves += more
    return found, moves


def _districts(
    records: Records, groups: Labels, pieces: Labels, bordered: NDArray[np.bool_], k: int, most: int
) -> list[Labels]:
    """List the rows of each district of pieces that have borders."""
    corners = GroupCorners.of(records.entries, groups, pieces[first_of_each(groups)])
    share = share_of_corners(groups.size, k)
    districts = cut_districts(corners.drawn(share), bordered, records.cut_scales, most * share)
    own = districts.find(corners)
    sizes = np.bincount(own + 1, corners.sizes, districts.n_districts + 1)[1:]
    own[(own < 0) | np.append(districts.too_large(sizes, most), False)[own]] = districts.n_districts
    return [rows for rows in rows_of(own[groups], districts.n_districts + 1)[:-1] if rows.size]


def _refined(
    placed: Placed,
    parts: Sequence[Labels],
    groups: Labels,
    k: int,
    how: Refine,
    work: Work,
    *,
    reheat: bool,
) -> tuple[Labels, int]:
    """Refine the groups of parts of a file, none of which is in two of them; groups outside of all stay."""
    done, each = np.zeros(len(parts), dtype=np.int64), max(1, work.n_jobs // max(1, len(parts)))
    n = sum(rows.size for rows in parts)

    def refine_part(number: int, check: Callable[[], None]) -> Refinement:
        rows = parts[number]

        def told(steps: int, total: int) -> None:
            check()
            done[number] = rows.size * steps // total
            work.tell(int(done.sum()), n)

        return placed.take(rows).by(how, k, groups[rows], reheat=reheat, n_jobs=each, progress=told)

    refined = in_parallel(refine_part, range(len(parts)), work.n_jobs)
    found, base = groups.copy(), int(groups.max()) + 1
    for rows, own in zip(parts, refined, strict=True):
        found[rows] = own.labels + base
        base += int(own.labels.max()) + 1
    number_groups(found)
    return found, sum(own.moves for own in refined)
