"""Which records of a file are drawn to judge its release on, where not all of them fit: those of whole groups.

A group is drawn by its lowest row, so that the same are whoever masks the file, and in however many parts.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg.algorithms.kernels.alike import mixed
from microagg.measures.assess import SAMPLE_ERROR

Labels = NDArray[np.int64]

GROUPS = math.ceil((50.0 / SAMPLE_ERROR) ** 2)
"""Groups that are drawn: what a share of records deviates by is half of all at most, which bounds its error."""
RECORDS = 400_000  # that are drawn, at most, about


def share_drawn(n_records: int, n_groups: int) -> float:
    """Return the share of the groups to draw: 1 where less than half would be left out."""
    share = min(GROUPS / n_groups, RECORDS / n_records)
    return share if share < 0.5 else 1.0


def drawn_rows(leads: Labels, share: float) -> Labels:
    """Return the records, by place, whose group is drawn; `leads` are the lowest rows of their groups in the file."""
    if share >= 1.0:
        return np.arange(leads.size)
    return np.flatnonzero(mixed(leads.astype(np.uint64)) < np.uint64(share * 2.0**64))


class Drawn(NamedTuple):
    """Records that were drawn: their rows in the file, the lowest of their groups, what was stored and is released."""

    rows: Labels
    leads: Labels
    before: pa.Table
    after: pa.Table

    @classmethod
    def of(cls, start: int, leads: Labels, share: float, before: pa.Table, after: pa.Table) -> "Drawn":
        """Draw from the records of a table, which begins at a row of the file."""
        own = drawn_rows(leads, share)
        return cls(start + own, leads[own], before.take(own), after.take(own))

    @classmethod
    def joined(cls, parts: Sequence["Drawn"]) -> "Drawn":
        """Return the records of all parts, which are in the order of the file."""
        rows, leads = (np.concatenate([getattr(one, name) for one in parts]) for name in ("rows", "leads"))
        before, after = (
            pa.concat_tables([getattr(one, name) for one in parts]).combine_chunks() for name in ("before", "after")
        )
        return cls(rows, leads, before, after)
